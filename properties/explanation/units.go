package explanation

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/preemptcheck/preemptcheck/internal/words"
	"github.com/preemptcheck/preemptcheck/model"
)

// Unit is a group whose pods are preempted together or not at all.
type Unit struct {
	Group    string `json:"group"` // as "PodGroup default/train"
	Priority int32  `json:"priority"`
	Started  string `json:"started"` // the first of its pods; "unknown" counts as now
	// Pods are all that are on nodes, in the cluster's order, and Nodes those, by name.
	Pods  []string `json:"pods"`
	Nodes []string `json:"nodes"`
}

// unitsOf are the groups of a cluster whose pods are preempted together, of which the candidates name
// a pod, in the order in which they do.
func unitsOf(c *model.Cluster, candidates []Candidate) (units []*Unit) {
	groups := c.Groups()
	if !groups.AnyWhole() {
		return nil
	}
	of, all := map[string]*Unit{}, map[string]*Unit{}
	for _, p := range c.Pods {
		g := groups.Whole(p)
		if g == nil || p.Spec.NodeName == "" {
			continue
		}
		u := all[g.String()]
		if u == nil {
			u = &Unit{Group: g.String(), Priority: groups.Priority(p, model.Priority(p)), Started: "unknown"}
			all[g.String()] = u
		}
		if t := p.Status.StartTime; t != nil {
			if started := t.UTC().Format(time.RFC3339); u.Started == "unknown" || started < u.Started {
				u.Started = started
			}
		}
		of[model.Key(p)] = u
		u.Pods = append(u.Pods, model.Key(p))
		if i, found := slices.BinarySearch(u.Nodes, p.Spec.NodeName); !found {
			u.Nodes = slices.Insert(u.Nodes, i, p.Spec.NodeName)
		}
	}
	for _, c := range candidates {
		for _, p := range slices.Concat(c.Victims, c.Reprieved) {
			if u := of[p.Pod]; u != nil && !slices.Contains(units, u) {
				units = append(units, u)
			}
		}
	}
	return units
}

// unit is the one of which a pod is a part; nil if the pod is preempted by itself.
func (e *Explanation) unit(pod string) *Unit {
	for _, u := range e.Units {
		if slices.Contains(u.Pods, pod) {
			return u
		}
	}
	return nil
}

// whole is "PodGroup default/train, 64 pods".
func (u *Unit) whole() string {
	return fmt.Sprintf("%s, %s", u.Group, words.Plural(len(u.Pods), "pod"))
}

// together names pods, and those of a unit at once.
func (e *Explanation) together(pods []string) (names []string) {
	for _, p := range pods {
		name := p
		if u := e.unit(p); u != nil {
			n := 0
			for _, q := range pods {
				if slices.Contains(u.Pods, q) {
					n++
				}
			}
			name = fmt.Sprintf("%s of %s", words.Plural(n, "pod"), u.Group)
			if n == len(u.Pods) && n > 1 {
				name = "all " + name
			}
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// areOrIs is the verb for one of the names of together.
func areOrIs(name string) string {
	if strings.Contains(name, " pods of ") {
		return "are"
	}
	return "is"
}

// victimRows are the rows of a table for the victims on a node: one for each pod that is preempted by itself, and
// one for each unit.
func (e *Explanation) victimRows(victims []Pod) (rows [][]string) {
	seen := map[*Unit]bool{}
	for _, v := range victims {
		u := e.unit(v.Pod)
		if u == nil {
			name := v.Pod
			if v.Terminating {
				name += " (terminating)"
			}
			rows = append(rows, []string{name, fmt.Sprint(v.Priority), v.Started, v.Violates})
			continue
		}
		if seen[u] {
			continue
		}
		seen[u] = true
		terminating, violates := 0, []string(nil)
		for _, other := range victims {
			if !slices.Contains(u.Pods, other.Pod) {
				continue
			}
			if other.Terminating {
				terminating++
			}
			if other.Violates != "" && !slices.Contains(violates, other.Violates) {
				violates = append(violates, other.Violates)
			}
		}
		name := u.whole()
		if terminating > 0 {
			name += fmt.Sprintf(" (%d terminating)", terminating)
		}
		rows = append(rows, []string{name, fmt.Sprint(u.Priority), u.Started, strings.Join(violates, ", ")})
	}
	return rows
}

// unitsText says what is preempted as a whole.
func (e *Explanation) unitsText(w io.Writer) {
	if len(e.Units) > 0 {
		fmt.Fprintln(w)
	}
	for _, u := range e.Units {
		u.writeText(w)
	}
}

func (u *Unit) writeText(w io.Writer) {
	fmt.Fprintf(w, "  The pods of %s are preempted together or not at all: %s on %s (%s).\n",
		u.Group, words.Plural(len(u.Pods), "pod"), words.Plural(len(u.Nodes), "node"), words.Some(u.Nodes, shownNodes))
}
