// Package contract holds the promises of a plugin to the scheduling framework: what the doc comments of the extension
// points say, and what preemption rests on. Each plugin is asked by itself, without a model of it.
package contract

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/calls"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/reference"
)

// maxPairs is the size of clusters, in pods times nodes, beyond which plugins are not asked one by one.
const maxPairs = 2000

// All are the clauses of the contract, for the plugins of those names; none means all of the profile.
func All(plugins ...string) []properties.Property {
	return []properties.Property{Incremental(plugins...), Pure(plugins...), Skips(plugins...), LeavesOut(plugins...), Unresolvable(plugins...), Hints(plugins...), NoErrors(plugins...), Reasons(plugins...), Undone(plugins...), Kept(plugins...), measured(plugins...)}
}

// Is tells whether a property of that name is a clause of the contract.
func Is(property string) bool { return strings.HasPrefix(property, "contract-") }

// clause makes a property of a clause. check is given the plugins that it is about, and what each says of the cluster as it is.
func clause(p properties.Property, plugins []string, points []string, check func(*interview) error) properties.Property {
	p.Applies = func(s *properties.Subject) bool {
		// A plugin that draws lots may answer otherwise the next time. What extenders leave to chance is no plugin's.
		drawsLots := slices.ContainsFunc(s.Unmodelled, func(f model.UnmodelledField) bool { return f.Chance && !f.Seen })
		return s.Cluster.Preemptor != nil && !drawsLots && len(s.Cluster.Nodes)*(len(s.Cluster.Pods)+1) <= maxPairs
	}
	p.Check = func(s *properties.Subject) ([]properties.Finding, error) {
		x, err := newInterview(s, plugins, points)
		x.clause = p.Name
		if err == nil && len(x.plugins) > 0 {
			err = check(x)
		}
		if stuck := (*reference.Standstill)(nil); errors.As(err, &stuck) {
			return []properties.Finding{properties.FoundOfPlugin("a plugin does not come back", stuck.Error())}, nil
		}
		if errors.Is(err, errors.ErrUnsupported) {
			return nil, nil
		}
		x.once()
		return x.findings, err
	}
	return p
}

// interview is about the plugins of a cluster.
type interview struct {
	*properties.Subject
	plugins []string
	// filtering are all plugins of the profile that decide where pods may be.
	filtering []string
	clause    string
	says      map[string]calls.Answer // of the cluster as it is
	findings  []properties.Finding
}

// newInterview asks each of the plugins that are enabled at one of the points what it says of the cluster.
func newInterview(s *properties.Subject, plugins, points []string) (*interview, error) {
	x := &interview{Subject: s, says: map[string]calls.Answer{}}
	listed, err := s.Ask([]calls.Call{{Op: calls.List}})
	if err != nil {
		return x, err
	}
	var script []calls.Call
	var all []string
	for _, p := range listed[0].Plugins {
		if p.At(filtering...) {
			x.filtering = append(x.filtering, p.Name)
		}
		if len(plugins) > 0 && !slices.Contains(plugins, p.Name) || len(plugins) == 0 && !s.AskedOf(p.Name) {
			continue
		}
		if p.At(filtering...) {
			all = append(all, p.Name)
			script = append(script, calls.Call{Op: calls.Says, Plugin: p.Name})
		}
		if p.At(points...) {
			x.plugins = append(x.plugins, p.Name)
		}
	}
	answers, err := s.Ask(script)
	if err != nil {
		return x, err
	}
	for i, plugin := range all {
		x.says[plugin] = answers[i]
	}
	return x, nil
}

// filtering are the extension points that decide whether a pod may be on a node, keeping are those that keep a place for it.
var (
	filtering = []string{"PreEnqueue", "PreFilter", "Filter"}
	keeping   = []string{"Reserve", "PreBind"}
)

// ask makes the calls of a script. A plugin that panics in one of them breaks the clause, and nothing is asked after it. Where
// one panics as soon as it is asked, NoErrors alone says so.
func (x *interview) ask(s script) ([]calls.Answer, error) {
	answers, err := x.Ask(s)
	if err != nil {
		return nil, err
	}
	for i, call := range s {
		v := answers[i].Verdict
		for _, of := range answers[i].Nodes {
			if of.Code == calls.Panics {
				v = of
			}
		}
		plugin := s.pluginOf(i)
		if v.Code != calls.Panics || x.clause != NoErrors().Name && panics(x.says[plugin]) {
			continue
		}
		detail := fmt.Sprintf("panics, which ends the scheduler, when it is asked to %s: %s", call.Op, v.Reason)
		if event := s.changeBefore(i); event != "" {
			detail += " (after " + event + ")"
		}
		x.foundBreach(breach{plugin: plugin, reasons: v.Reason}, fmt.Sprintf("panics: %s", call.Op), detail)
	}
	return answers, nil
}

// panics tells whether a plugin does on some node, or before.
func panics(a calls.Answer) bool {
	return a.Verdict.Code == calls.Panics || slices.ContainsFunc(slices.Collect(maps.Values(a.Nodes)), func(v calls.Verdict) bool { return v.Code == calls.Panics })
}

// found notes that a plugin broke a clause.
func (x *interview) found(plugin, kind, detail string) {
	x.foundBreach(breach{plugin: plugin}, kind, detail)
}

// foundBreach notes that a plugin broke a clause, unless that is known, and assumed.
func (x *interview) foundBreach(b breach, kind, detail string) {
	if b.interview = x; !b.isKnown() {
		x.findings = append(x.findings, properties.FoundOfPlugin(b.plugin+": "+kind, b.plugin+" "+detail))
	}
}

// once leaves one finding of each kind, the first one: it is explained if all of its kind are.
func (x *interview) once() {
	var kinds []string
	x.findings = slices.DeleteFunc(x.findings, func(f properties.Finding) bool {
		again := slices.Contains(kinds, f.Kind)
		kinds = append(kinds, f.Kind)
		return again
	})
}

// running are the pods of each node, those of nodes that exist.
func (x *interview) running() map[string][]*v1.Pod {
	all := map[string][]*v1.Pod{}
	for _, n := range x.Cluster.Nodes {
		all[n.Name] = nil
	}
	for _, p := range x.Cluster.Pods {
		if _, ok := all[p.Spec.NodeName]; ok && p.Status.Phase != v1.PodSucceeded && p.Status.Phase != v1.PodFailed {
			all[p.Spec.NodeName] = append(all[p.Spec.NodeName], p)
		}
	}
	return all
}

// script is a list of calls that is being written.
type script []calls.Call

// add appends a call, and is its index.
func (s *script) add(c calls.Call) int {
	*s = append(*s, c)
	return len(*s) - 1
}

// pluginOf is the plugin that a call is about: that of its state, or the one that was named last.
func (s script) pluginOf(i int) string {
	for i >= 0 && s[i].Plugin == "" {
		if s[i].Op.IsOfState() {
			i = s[i].State
		} else {
			i--
		}
	}
	if i < 0 {
		return ""
	}
	return s[i].Plugin
}

// changeBefore is the last change of the cluster up to a call that was not taken back; "" if there is none.
func (s script) changeBefore(i int) string {
	for ; i >= 0; i-- {
		switch s[i].Op {
		case calls.Restore:
			return ""
		case calls.Set, calls.Delete, calls.Bind:
			return s[i].String()
		}
	}
	return ""
}

// podObject is a pod as the object of a call that deletes it.
func podObject(p *v1.Pod) *calls.Object {
	return &calls.Object{APIVersion: "v1", Kind: "Pod", Namespace: p.Namespace, Name: p.Name}
}

func keys(pods []*v1.Pod) (all []string) {
	for _, p := range pods {
		all = append(all, model.Key(p))
	}
	return all
}

// differ is the first node of which two answers are not the same, and how. Answers that broke are left to NoErrors, nodes that are left
// out to LeavesOut.
func differ(got, want map[string]calls.Verdict, nodes []*v1.Node, except func(node string) bool) (node, kind, detail string) {
	for _, n := range nodes {
		g, ok := got[n.Name]
		w, also := want[n.Name]
		if !ok || !also || g.Broke() || w.Broke() || g.LeftOut || except != nil && except(n.Name) {
			continue
		}
		if g.Code != w.Code && !(g.Passes() && w.Passes()) {
			return n.Name, fmt.Sprintf("says %s, should say %s", code(g), code(w)), fmt.Sprintf("says %s, and should say %s", g, w)
		}
	}
	return "", "", ""
}

// code is what of a verdict does not depend on the cluster.
func code(v calls.Verdict) string {
	switch {
	case v.LeftOut:
		return string(calls.Unresolvable)
	case v.Passes():
		return string(calls.Success)
	}
	return string(v.Code)
}
