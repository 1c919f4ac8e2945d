// Package release knows what depends on the release of Kubernetes: in which the
// documented algorithm was another (flags), which bugs each is known to have
// (quirks), and what of a cluster it cannot express. All of it is built around the
// algorithm of package model, which knows nothing of it.
package release

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/blang/semver/v4"

	"github.com/preemptcheck/preemptcheck/model/answers"
)

// Release is a release of Kubernetes, v1.Minor.Patch. It has a dialect: what of
// today's algorithm it documents already, and what in its place.
type Release struct{ Minor, Patch int }

// Linked is the release whose algorithm model.Documented is.
var Linked = Release{37, 1}

// Releases are those whose sources the dialects were read from, the oldest first.
func Releases() []Release {
	return []Release{{13, 0}, {16, 15}, {19, 16}, {22, 17}, {25, 16}, {27, 16}, {29, 6}, {30, 14},
		{31, 0}, {31, 14}, {32, 13}, {33, 13}, {34, 4}, {35, 4}, {36, 3}, {37, 0}, Linked}
}

// Parse reads "v1.31.0".
func Parse(s string) (Release, error) {
	var r Release
	rest, ok := strings.CutPrefix(s, "v1.")
	minor, patch, dotted := strings.Cut(rest, ".")
	var err, errPatch error
	r.Minor, err = strconv.Atoi(minor)
	r.Patch, errPatch = strconv.Atoi(patch)
	if !ok || !dotted || cmp.Or(err, errPatch) != nil || r.String() != s {
		return Release{}, fmt.Errorf("%q is no release: want v1.31.0, for example", s)
	}
	return r, nil
}

func (r Release) String() string { return fmt.Sprintf("v1.%d.%d", r.Minor, r.Patch) }

// Compare is negative if r is older than other.
func (r Release) Compare(other Release) int {
	return cmp.Or(cmp.Compare(r.Minor, other.Minor), cmp.Compare(r.Patch, other.Patch))
}

// In tells whether r is in a range of releases, such as ">=1.31.3 || >=1.30.14 <1.31.0"
// (github.com/blang/semver).
func (r Release) In(releases string) bool {
	in, known := ranges.Load(releases)
	if !known {
		in, _ = ranges.LoadOrStore(releases, semver.MustParseRange(releases))
	}
	return in.(semver.Range)(semver.Version{Major: 1, Minor: uint64(r.Minor), Patch: uint64(r.Patch)})
}

var ranges sync.Map // those that were ever asked for, by their text

// Rules is the algorithm that the release documents. All callers share it.
func (r Release) Rules() *answers.Rules {
	if rules, known := dialects.Load(r); known {
		return rules.(*answers.Rules)
	}
	rules := Algorithm(func(f Flag) bool { return r.In(f.In) })
	rules.Release = r.String()
	shared, _ := dialects.LoadOrStore(r, rules)
	return shared.(*answers.Rules)
}

var dialects sync.Map // *answers.Rules by Release

// Algorithm is that of the linked release without the flags that has denies: that
// of an older release, or of none, such as one on the way between two.
func Algorithm(has func(Flag) bool) *answers.Rules {
	rules := answers.Documented()
	for _, f := range Flags() {
		if !has(f) {
			f.without(rules)
		}
	}
	return rules
}
