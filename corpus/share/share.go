// Package share writes a cluster so that it can be kept, or shown to others: what decisions
// about preemption depend on, and with names or with pseudonyms. It tells what it kept.
package share

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/corpus/manifest"
	"github.com/preemptcheck/preemptcheck/corpus/prune"
	"github.com/preemptcheck/preemptcheck/corpus/redact"
	"github.com/preemptcheck/preemptcheck/internal/apiserver"
	"github.com/preemptcheck/preemptcheck/internal/table"
	"github.com/preemptcheck/preemptcheck/internal/words"
	"github.com/preemptcheck/preemptcheck/model"
)

// Options say how a cluster is written.
type Options struct {
	// Redact replaces names by pseudonyms.
	Redact bool
	// JSON writes a List of JSON in place of documents of YAML.
	JSON bool
	// Map, if it is not "", is the file that gets what the pseudonyms stand for. It must not exist.
	Map string
}

// Report tells what was kept of a cluster.
type Report struct {
	Counts   []prune.Count
	Redacted bool
	IsCase   bool // and no dump
	// Replaced are how many names of each kind have a pseudonym.
	Replaced []Replaced
	// Map is the file with what the pseudonyms stand for, or "".
	Map string
}

// Replaced is how many names of a kind have a pseudonym.
type Replaced struct {
	Kind  string
	Names int
}

// Write writes the dump that a stream holds, which stays as it is. Nothing is written if what
// is left is no cluster that could be read again.
func Write(w io.Writer, s *corpus.Stream, o Options) (*Report, error) {
	if o.Map != "" && !o.Redact {
		return nil, errors.New("a map of names is of a redacted dump")
	}
	r := &Report{Redacted: o.Redact}
	about := s.About
	var c *model.Cluster
	c, r.Counts = prune.Cluster(s.Dump)
	if o.Redact {
		redacted, names, err := redact.Cluster(c)
		if err != nil {
			return nil, fmt.Errorf("cannot be redacted: %w", err)
		}
		c, about = redacted, corpus.AboutDump{Redacted: true, Given: withoutReasons(about.Given)}
		r.Replaced = counted(names)
		if err := readable(c); err != nil {
			return nil, err
		}
		if err := r.save(o.Map, names); err != nil {
			return nil, err
		}
	} else if err := readable(c); err != nil {
		return nil, err
	}
	buffered := bufio.NewWriterSize(w, 1<<16)
	var out corpus.ObjectWriter = manifest.NewFastWriter(buffered)
	if o.JSON {
		out = manifest.NewJSONWriter(buffered)
	}
	return r, errors.Join(corpus.WriteDump(out, c, about), buffered.Flush())
}

// readable tells why a cluster would not be read again, if so.
func readable(c *model.Cluster) error {
	if err := apiserver.Objects(c.DeepCopy()); err != nil {
		return invalid(err)
	}
	return nil
}

func invalid(err error) error {
	return fmt.Errorf("what is left of the cluster is not valid, please report it: %w", err)
}

// withoutReasons leaves out why a kind is not given: that names users.
func withoutReasons(given corpus.Given) corpus.Given {
	if given == nil {
		return nil
	}
	out := corpus.Given{}
	for kind, why := range given {
		if out[kind] = ""; why != "" {
			out[kind] = "the cluster did not tell"
		}
	}
	return out
}

// save writes what pseudonyms stand for to a file that only its owner reads, if there is to be one.
func (r *Report) save(file string, names redact.Names) error {
	if file == "" {
		return nil
	}
	r.Map = file
	text, err := yaml.Marshal(names)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString("# What the pseudonyms of a redacted dump stand for. Keep it to yourself.\n" + string(text))
	return errors.Join(err, f.Sync(), f.Close())
}

// counted are the kinds of names, those of values of labels and taints together.
func counted(names redact.Names) (list []Replaced) {
	counts := map[string]int{}
	for kind, of := range names {
		if strings.HasPrefix(kind, redact.ValueOf) {
			kind = "label or taint value"
		}
		counts[kind] += len(of)
	}
	for kind, n := range counts {
		list = append(list, Replaced{kind, n})
	}
	slices.SortFunc(list, func(a, b Replaced) int { return cmp.Or(b.Names-a.Names, strings.Compare(a.Kind, b.Kind)) })
	return list
}

// WriteText tells people what is in the dump.
func (r *Report) WriteText(w io.Writer) {
	t := table.New("  ", "KIND", "KEPT", "LEFT OUT")
	for _, c := range r.Counts {
		left := "-"
		if n := c.Before - c.Kept; n > 0 {
			left = fmt.Sprint(n)
		}
		t.Row(c.Kind, fmt.Sprint(c.Kept), left)
	}
	if t.Empty() {
		fmt.Fprintln(w, "The cluster is empty.")
	} else {
		what := "dump"
		if r.IsCase {
			what = "case"
		}
		fmt.Fprintf(w, "The %s holds what decisions about preemption depend on:\n", what)
		fmt.Fprintln(w)
		t.WriteText(w)
		fmt.Fprintln(w)
	}
	say := func(text string) { words.WriteWrapped(w, "", text) }
	say("Left out of all: environment, commands, probes, mounts, volumes that no rule is about, images but those of waiting pods, annotations " +
		"but a few of storage and devices, addresses, versions, messages, and who manages which field.")
	if !r.Redacted {
		say("Names, labels and taints are as they are: --redact replaces them.")
		return
	}
	all := make([]string, len(r.Replaced))
	for i, of := range r.Replaced {
		all[i] = title(of)
	}
	say("Replaced by pseudonyms: " + cmp.Or(strings.Join(all, ", "), "nothing") + ".")
	say("Labels that nothing selects are left out. Amounts, priorities, times, and which pod is on which node stay: docs/dump.md tells what follows from these.")
	if r.Map != "" {
		say(fmt.Sprintf("What the pseudonyms stand for is in %s. Keep it to yourself.", r.Map))
	}
}

func title(r Replaced) string {
	if of := strings.TrimSuffix(r.Kind, "ss"); of != r.Kind && r.Names != 1 {
		return fmt.Sprintf("%d %ses", r.Names, r.Kind)
	}
	return words.Plural(r.Names, r.Kind)
}
