// Package releasediff tells what the schedulers of two releases decide differently,
// and by which change between the two.
//
// A decision is what users see of a scheduling cycle (answers.Set.AdmitsVisible),
// and each release allows a set of them: ties are broken by chance. So the releases
// differ on a cluster if what one of them did is none of the answers that the other
// one's dialect allows; which changes that takes is found by leaving changes out.
package releasediff

import (
	"slices"
	"strings"

	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/properties/ledger"
)

// Change is something that is so in one of two releases only: part of the
// algorithm, or a known bug.
type Change struct {
	// Title says in a line what has changed, and names the change.
	Title string `json:"title"`
	// Known is the id of the known finding that came or went; "" for a change of
	// the algorithm.
	Known string `json:"known,omitempty"`
	// Before and After are what the two releases do.
	Before string `json:"before"`
	After  string `json:"after"`
	// Source is where it says so, Upstream the issue, if there is one.
	Source   string `json:"source"`
	Upstream string `json:"upstream,omitempty"`
	// Releases are those that have the flag or the bug (release.Release.In).
	Releases string `json:"releases"`

	flag  string
	quirk release.Quirk
	// begins: the later one has it.
	begins bool
}

// Where is the issue, if there is one, and where the source says so.
func (c *Change) Where() string {
	if c.Upstream == "" {
		return c.Source
	}
	return c.Upstream + "; " + c.Source
}

// Story is what the two releases do, "before" and "after", without what the title
// says already.
func (c *Change) Story() [][2]string {
	before, after := [2]string{"before", c.Before}, [2]string{"after", c.After}
	switch {
	case c.Before == c.After:
		return nil // it is kept back
	case c.flag == "":
		return [][2]string{before, after}
	case c.begins:
		return [][2]string{before}
	}
	return [][2]string{after}
}

// Changes are all that a model knows to have changed between two releases: what of
// the algorithm (release.Flags) in their order, then the known findings.
func Changes(from, to release.Release) []Change {
	var changes []Change
	for _, f := range release.Flags() {
		before, after := from.In(f.In), to.In(f.In)
		if before == after {
			continue
		}
		c := Change{Title: f.Name, Before: f.Instead, After: f.Name, Source: f.Source, Releases: f.In, flag: f.Name, begins: after}
		if before {
			c.Title, c.Before, c.After = "no longer: "+f.Name, f.Name, f.Instead
		}
		changes = append(changes, c)
	}
	for _, e := range known(from, to) {
		quirk := e.Quirk
		e = e.Public()
		c := Change{
			Title: "new: " + e.Title, Known: e.ID, Before: e.Promise, After: e.Happens, Source: e.Where, Releases: e.Releases,
			quirk: quirk, begins: to.In(e.Releases),
		}
		if !c.begins {
			c.Title, c.Before, c.After = "fixed: "+e.Title, e.Happens, e.Promise
		}
		if strings.HasPrefix(e.Upstream, "kubernetes#") {
			c.Upstream = e.Upstream
		}
		changes = append(changes, c)
	}
	return changes
}

// known are the findings that just one of two releases has, as far as the model
// can do the same.
func known(from, to release.Release) []ledger.Entry {
	all := ledger.Of(from)
	for _, e := range ledger.Of(to) {
		if !from.In(e.Releases) {
			all = append(all, e)
		}
	}
	return slices.DeleteFunc(all, func(e ledger.Entry) bool {
		return e.Quirk == "" || from.In(e.Releases) == to.In(e.Releases)
	})
}

// rules are those of the release from, with its known findings, after some of the
// changes to another one; after all of them they are those of the other.
func rules(from release.Release, changes []Change) *answers.Rules {
	changed := func(is func(c *Change) bool) bool {
		return slices.ContainsFunc(changes, func(c Change) bool { return is(&c) })
	}
	r := release.Algorithm(func(f release.Flag) bool {
		return from.In(f.In) != changed(func(c *Change) bool { return c.flag == f.Name })
	})
	has := map[release.Quirk]bool{}
	for _, e := range ledger.Of(from) {
		has[e.Quirk] = true
	}
	for _, c := range changes {
		has[c.quirk] = c.begins
	}
	// In one order, whichever release they came from.
	return release.With(r, slices.DeleteFunc(release.Quirks(), func(q release.Quirk) bool { return !has[q] })...)
}
