// Package propertiesdoc writes docs/properties.md: a table of all properties.
package propertiesdoc

import (
	"fmt"
	"strings"

	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/properties/aftermath"
	"github.com/preemptcheck/preemptcheck/properties/contract"
	"github.com/preemptcheck/preemptcheck/properties/groups"
	"github.com/preemptcheck/preemptcheck/properties/invariant"
	"github.com/preemptcheck/preemptcheck/properties/lifetime"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/variation"
	"github.com/preemptcheck/preemptcheck/properties/relation"
)

const introduction = `# Properties

<!-- Generated from properties/. To write it anew: make golden -->

What must hold of any scheduler's answer to any cluster. There are these kinds:

- **differential**: the answer is compared with the model's, as a whole or filter by filter;
- **invariant**: a promise about one answer to one cluster, which does not depend on how the model chooses victims;
- **relation**: a promise about the answers to two clusters, of which one is a variation of the other. It needs no model;
- **contract**: a promise of a plugin to the scheduling framework, which is asked by itself (see [plugins](plugins.md)). It needs no model;
- **pod group**: a promise about the scheduling cycle of a pod group, where the others are about that of a pod;
- **lifetime**: a promise about a [timeline](timelines.md), what happens to a cluster step by step. It needs no model;
- **variation**: a promise about two timelines, of which one is a variation of the other.

Where the model does not cover a cluster, those are asked that do not need it. If nothing but devices is not modelled, the scheduler is believed
which nodes lack devices, and all are asked. Where chance decides, those that compare with another answer are not asked.

A property that cannot fail says nothing. The last column names what a lying scheduler does in the tests, which show that the property notices.

| name | promise | source | kind | lies that it catches |
|---|---|---|---|---|
`

// Render writes the document.
func Render() []byte {
	var out strings.Builder
	out.WriteString(introduction)
	for _, room := range []struct {
		kind       string
		properties []properties.Property
	}{
		{"differential", properties.Differentials()},
		{"invariant", append([]properties.Property{properties.GetsThrough()}, invariant.All()...)},
		{"aftermath", append(aftermath.All(), aftermath.Costly()...)},
		{"relation", append(relation.All(), relation.Circumstances()...)},
		{"pod group", append(groups.All(), groups.Costly()...)},
		{"contract", contract.All()},
	} {
		for _, p := range room.properties {
			fmt.Fprintf(&out, "| `%s` | %s%s | %s | %s | %s |\n", p.Name, cell(p.Promise), releases(p.Releases), cell(p.Source), room.kind+needs(p), cell(strings.Join(p.Lies, "; ")))
		}
	}
	for _, p := range lifetime.All() {
		fmt.Fprintf(&out, "| `%s` | %s%s | %s | lifetime | %s |\n", p.Name, cell(p.Promise), ofMembers(p), cell(p.Source), cell(strings.Join(p.Lies, "; ")))
	}
	for _, r := range variation.All() {
		fmt.Fprintf(&out, "| `%s` | %s | %s | variation | %s |\n", r.Name, cell(r.Promise), cell(r.Source), cell(strings.Join(r.Lies, "; ")))
	}
	return []byte(out.String())
}

// ofMembers says how far a promise about timelines is asked of pods that are scheduled with a group.
func ofMembers(p lifetime.Property) string {
	if p.Groups == "" {
		return ""
	}
	return " (Of pods that are scheduled with a group: " + cell(p.Groups) + ")"
}

func needs(p properties.Property) (text string) {
	if p.Needs == properties.NeedsModel { // all relations need another answer
		text = ", needs " + string(p.Needs)
	}
	switch {
	case p.Ungrouped:
		text += ", not with pods of groups"
	case p.PodByPod:
		text += ", not with pods that go together"
	}
	return text
}

func releases(limited string) string {
	if limited == "" {
		return ""
	}
	return " (releases " + cell(limited) + ")"
}

// cell writes a text so that Markdown shows it as it is in a table.
var cell = strings.NewReplacer("|", `\|`, "<", "&lt;", ">", "&gt;", "\n", " ").Replace
