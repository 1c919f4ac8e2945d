package share

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/corpus/prune"
	"github.com/preemptcheck/preemptcheck/corpus/redact"
	"github.com/preemptcheck/preemptcheck/internal/apiserver"
)

// WriteCase writes a case as Write does a dump: with what is expected of it, and the findings that it
// witnesses. Of a redacted one, the name, the description, the origin and how it was found are left out.
func WriteCase(w io.Writer, c *corpus.Case, o Options) (*Report, error) {
	switch {
	case c.Timeline != nil:
		return nil, fmt.Errorf("case %s: it is a timeline: only clusters can be pruned and redacted", c.Name)
	case o.Redact && len(c.Cluster.Settings.Configuration) > 0:
		return nil, fmt.Errorf("case %s: scheduler.configuration: it cannot be redacted; take it out of the case, and name it by --config", c.Name)
	case o.JSON:
		return nil, errors.New("a case is written in YAML only")
	}
	r := &Report{Redacted: o.Redact, IsCase: true}
	out := *c
	out.Cluster, r.Counts = prune.Cluster(c.Cluster)
	var names redact.Names
	if o.Redact {
		var err error
		if out.Cluster, names, err = redact.Cluster(out.Cluster); err != nil {
			return nil, fmt.Errorf("cannot be redacted: %w", err)
		}
		out.Name, out.Description, out.Origin = "redacted", "", ""
		out.Expect = expected(c.Expect, names)
		if c.Finding != nil {
			finding := *c.Finding
			finding.Found = ""
			out.Finding = &finding
		}
		r.Replaced = counted(names)
	}
	if err := apiserver.Admit(out.Cluster); err != nil {
		return nil, invalid(err)
	}
	var text strings.Builder
	if err := out.Write(&text); err != nil {
		return nil, err
	}
	if err := r.save(o.Map, names); err != nil {
		return nil, err
	}
	_, err := io.WriteString(w, text.String())
	return r, err
}

// expected is what is expected, with pseudonyms.
func expected(list []corpus.Expectation, names redact.Names) (out []corpus.Expectation) {
	of := func(kind string) func(name string) string {
		to := map[string]string{}
		for pseudonym, name := range names[kind] {
			to[name] = pseudonym
		}
		return func(name string) string {
			if redact.Stays(kind, name) {
				return name
			}
			return to[name]
		}
	}
	node, namespace, name := of("Node"), of(prune.Namespace), of("Pod")
	pod := func(key string) string {
		in, of, _ := strings.Cut(key, "/")
		return namespace(in) + "/" + name(of)
	}
	pods := func(keys []string) []string {
		if keys == nil {
			return nil
		}
		to := make([]string, len(keys))
		for i, key := range keys {
			to[i] = pod(key)
		}
		return to
	}
	for _, e := range list {
		e.Clears = pods(e.Clears)
		nominations := e.Nominations
		e.Nominations = nil
		for _, n := range nominations {
			n.Node, n.Victims = node(n.Node), pods(n.Victims)
			members := n.Members
			n.Members = nil
			for member, at := range members {
				if n.Members == nil {
					n.Members = map[string]string{}
				}
				n.Members[pod(member)] = node(at)
			}
			e.Nominations = append(e.Nominations, n)
		}
		out = append(out, e)
	}
	return out
}
