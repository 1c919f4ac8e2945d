package share

import (
	"fmt"
	"io"
	"strings"

	"github.com/preemptcheck/preemptcheck/corpus/prune"
)

// WritePage writes the page of all fields that are kept, as Markdown.
func WritePage(w io.Writer) {
	fmt.Fprint(w, `# The fields of a dump

<!-- Written by "make golden" from corpus/prune. -->

What [`+"`preemptcheck dump`"+`](dump.md) keeps of each object. A field that is not here is left out, and so is each kind that is not here. The second column tells what
`+"`--redact`"+` makes of it. apiVersion and kind stay.
`)
	for _, kept := range prune.All() {
		fmt.Fprintf(w, "\n## %s\n\n| field | in a redacted dump |\n|---|---|\n", kept.Kind)
		for _, f := range kept.Fields {
			fmt.Fprintf(w, "| `%s` | %s |\n", f.Path, becomes(f.Text))
		}
	}
}

// becomes tells what redaction makes of a text.
func becomes(t prune.Text) string {
	switch t.Rule {
	case prune.Plain:
		return "as it is"
	case prune.Word:
		var words []string
		for _, word := range t.Words {
			if word != "" {
				words = append(words, "`"+word+"`")
			}
		}
		return "as it is, if it is " + strings.Join(words, ", ")
	case prune.Name:
		return "a pseudonym: " + t.Kind
	}
	return sorts[t.Rule]
}

// sorts are what becomes of text that is neither a word nor a name.
var sorts = map[prune.Rule]string{
	prune.UID:         "a pseudonym: UID",
	prune.Owner:       "a pseudonym: owner; its kind, if everybody knows it",
	prune.Labelled:    "pseudonyms; labels that nothing selects are left out",
	prune.Labels:      "pseudonyms; operators stay",
	prune.LabelKey:    "a pseudonym: label key",
	prune.NodeField:   "a pseudonym: Node; operators stay",
	prune.Taint:       "pseudonyms; operators and effects stay",
	prune.Resources:   "as it is, under pseudonyms of resources",
	prune.Resource:    "a pseudonym: resource",
	prune.Image:       "a pseudonym: image; none of a pod that is bound",
	prune.Annotations: "those that rules read: a pseudonym, or that it is there",
	prune.IP:          "a pseudonym: address",
	prune.Disk:        "a pseudonym: disk",
	prune.Request:     "a pseudonym: request",
	prune.Expression:  "`device.driver` with a pseudonym, or a condition of which each device tells whether it holds",
	prune.Attributes:  "those that constraints are about: pseudonyms; numbers stay",
	prune.Attribute:   "a pseudonym: attribute",
	prune.Capacities:  "as it is, under pseudonyms of attributes",
	prune.Container:   "the place of the container: `container-0`",
	prune.Message:     "that the scheduler wrote it, under its pseudonym; others are left out",
	prune.Percentage:  "as it is",
	prune.Fixed:       "`/pruned`",
}
