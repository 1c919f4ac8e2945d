// Package ledger holds the known findings: the ways in which schedulers break what their documentation
// promises.
package ledger

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/preemptcheck/preemptcheck/model/release"
)

// Entry is a known finding: a way in which a scheduler breaks what its
// documentation promises. It stays until upstream changes the scheduler or the
// documentation.
type Entry struct {
	// ID names the finding, in the corpus and on the command line.
	ID    string `json:"id"`
	Title string `json:"title"`
	// Class is how sure it is that the scheduler, not the reader, is wrong.
	Class Class `json:"class"`
	// Promise is what the documentation says, Source where it says so.
	Promise string `json:"promise"`
	Source  string `json:"source"`
	// Happens is what the scheduler does instead, Where in its source.
	Happens string `json:"happens"`
	Where   string `json:"where"`
	// Consequence is what it costs a user, in one sentence.
	Consequence string `json:"consequence"`
	// Plugin is the one that has it, if that is not Kubernetes' own. Where is then a place in its source.
	Plugin string `json:"plugin,omitempty"`
	// Releases is the range of those that have it (release.Release.In); of a Plugin, those that it was seen with.
	Releases string `json:"releases"`
	// Upstream is the issue it was reported as; "unreported", if an entry says
	// nothing.
	Upstream string `json:"upstream"`
	// Quirk makes the model do the same. It is the one that has the ID for its name,
	// if there is one.
	Quirk release.Quirk `json:"quirk,omitempty"`
	// Routine says that it shows whenever pods are preempted. It is then told of all
	// clusters together, not of each.
	Routine bool `json:"routine,omitempty"`
	// Properties are the names of the invariants and relations that it breaks
	// too. They ask Subject.Assumes for its ID at the place where it breaks them.
	Properties []string `json:"properties,omitempty"`
	// Witness is the case of the corpus on which it has to occur: finding-ID.
	Witness string `json:"witness"`
}

// Sections of the documentation that several entries quote.
const (
	docsPreemption = "docs: concepts/scheduling-eviction/pod-priority-preemption, \"Preemption\""
	docsBudgets    = "docs: concepts/scheduling-eviction/pod-priority-preemption, \"PodDisruptionBudget is supported, but not guaranteed\""
)

// KeptBack tells whether nothing is published of a finding yet that lets others end
// the scheduler: neither an issue nor a mended release tells of it.
func (e Entry) KeptBack() bool {
	return e.Class == Crash && e.Upstream != "fixed" && !strings.Contains(e.Upstream, "#")
}

// Public is what may be told to everybody: of a finding that is kept back, that there
// is one, and where it goes.
func (e Entry) Public() Entry {
	if !e.KeptBack() {
		return e
	}
	return Entry{
		ID: e.ID, Class: e.Class, Releases: e.Releases, Upstream: e.Upstream,
		Title: "Kept back: it goes to the Kubernetes security contact before it is published",
	}
}

// Class is how sure it is that a finding is the scheduler's fault.
type Class string

const (
	// Crash lets whoever may create objects end or starve the scheduler. It is told to
	// the Kubernetes security contact before it is published.
	Crash Class = "crash"
	// Defect contradicts a written promise on a cluster that the API server admits.
	Defect Class = "defect"
	// Inconsistency is that two paths of the scheduler disagree with each other.
	Inconsistency Class = "inconsistency"
	// Debatable is a promise that can be read both ways, or one that speaks of
	// something else, such as eviction, or a limit of the greedy algorithm.
	Debatable Class = "debatable"
	// Unreachable needs a state that no API server or kubelet lets arise.
	Unreachable Class = "unreachable"
)

// Classes are all classes, the surest first.
func Classes() []Class { return []Class{Crash, Defect, Inconsistency, Debatable, Unreachable} }

// Disagrees tells whether a scheduler with such a finding is said to disagree with
// its documentation. Findings of the other classes are a remark.
func (c Class) Disagrees() bool { return c == Crash || c == Defect || c == Inconsistency }

// Name is how a finding is named to people: its id and its class.
func Name(id string) string {
	if e, ok := LookUp(id); ok {
		return fmt.Sprintf("%s (%s)", id, e.Class)
	}
	return id
}

// Named gives what counts findings, by their ids, their names.
func Named(counts iter.Seq2[string, int]) iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		for id, count := range counts {
			if !yield(Name(id), count) {
				return
			}
		}
	}
}

// Disagree tells whether one of the known findings is more than a remark.
func Disagree(ids []string) bool {
	return slices.ContainsFunc(ids, func(id string) bool {
		e, ok := LookUp(id)
		return !ok || e.Class.Disagrees()
	})
}

// OfClass are those of the known findings that have one of the classes, all if there
// are no classes.
func OfClass(ids []string, classes []Class) []string {
	if len(classes) == 0 {
		return ids
	}
	var some []string
	for _, id := range ids {
		if e, ok := LookUp(id); ok && slices.Contains(classes, e.Class) {
			some = append(some, id)
		}
	}
	return some
}

// Linked is the list of all findings of single clusters that are known of the linked release.
func Linked() []Entry { return Of(release.Linked) }

// Of is the list of all findings of single clusters that are known of a release.
func Of(version release.Release) []Entry {
	return slices.DeleteFunc(All(), func(e Entry) bool { return !version.In(e.Releases) })
}

// All is the list of all findings of single clusters that are known of any release, those
// that the linked one has first.
func All() []Entry { return slices.Clone(all) }

var all = func() []Entry {
	all := slices.Concat(openBudgets, openFilters, openStorage, openCycle, openGroups, openPlugins, fixedFindings)
	for i := range all {
		e := &all[i]
		e.Upstream = cmp.Or(e.Upstream, "unreported")
		e.Witness = "finding-" + e.ID
		if quirk := release.Quirk(e.ID); slices.Contains(release.Quirks(), quirk) {
			e.Quirk = quirk
		}
	}
	return all
}()

// QuirksOf are the quirks of all findings that are known of a release. Callers share them.
func QuirksOf(version release.Release) []release.Quirk { return known(version).quirks }

// Breaking are the ids of the findings that are known of a release and that break a
// property. Callers share them.
func Breaking(version release.Release, property string) []string {
	return known(version).breaking[property]
}

// ofRelease is what is asked of a release for each cluster.
type ofRelease struct {
	quirks   []release.Quirk
	breaking map[string][]string
}

var releases sync.Map // *ofRelease by Release

// ofReasons is the property that each quirk may break: where it changes nothing else, it may change the reasons of a verdict.
const ofReasons = "reasons-are-told"

func known(version release.Release) *ofRelease {
	if o, ok := releases.Load(version); ok {
		return o.(*ofRelease)
	}
	o := &ofRelease{breaking: map[string][]string{}}
	for _, e := range append(Of(version), Timelines()...) {
		if !version.In(e.Releases) {
			continue
		}
		if e.Quirk != "" {
			o.quirks = append(o.quirks, e.Quirk)
			o.breaking[ofReasons] = append(o.breaking[ofReasons], e.ID)
		}
		for _, property := range e.Properties {
			o.breaking[property] = append(o.breaking[property], e.ID)
		}
	}
	o.quirks = slices.Clip(o.quirks) // whoever appends gets a copy
	shared, _ := releases.LoadOrStore(version, o)
	return shared.(*ofRelease)
}

// IsRoutine tells whether a known finding shows whenever pods are preempted.
func IsRoutine(id string) bool {
	e, ok := LookUp(id)
	return ok && e.Routine
}

// LookUp finds the entry with the given id.
func LookUp(id string) (Entry, bool) {
	for _, e := range slices.Concat(all, Timelines(), outsideFindings) {
		if e.ID == id {
			return e, true
		}
	}
	return Entry{}, false
}
