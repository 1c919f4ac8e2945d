package model

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// Release is a release of Kubernetes, v1.Minor.Patch. It has a dialect: what of
// today's algorithm it documents already, and what in its place.
type Release struct{ Minor, Patch int }

// Linked is the release whose algorithm Documented is.
var Linked = Release{37, 1}

// Releases are those whose sources the dialects were read from, the oldest first.
func Releases() []Release {
	return []Release{{13, 0}, {16, 15}, {19, 16}, {22, 17}, {25, 16}, {27, 16}, {29, 6}, {30, 14},
		{31, 0}, {31, 14}, {32, 13}, {33, 13}, {34, 4}, {35, 4}, {36, 3}, Linked}
}

// ParseRelease reads "v1.31.0".
func ParseRelease(s string) (Release, error) {
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

// Releasing is in which releases something is, as a list of the first ones, the
// oldest first: of its minor release each, and the last one also of all that
// follow. A minor release that is not listed is without, if there is a later one
// that is.
//
// "v1.30.14 v1.31.3 v1.32.0" is what came with 1.32 and was backported. A release
// in brackets is the first one without, again: "v1.18.0 (v1.19.0) v1.37.0".
type Releasing string

// Has tells whether it is in r.
func (in Releasing) Has(r Release) bool {
	has := false
	words := strings.Fields(string(in))
	for i, word := range words {
		name, without := strings.CutPrefix(word, "(")
		from, err := ParseRelease(strings.TrimSuffix(name, ")"))
		if err != nil {
			panic("model: " + err.Error())
		}
		// A backport is for the rest of its minor release only.
		backport := from.Patch > 0 && i+1 < len(words)
		if r.Compare(from) >= 0 && (!backport || r.Minor == from.Minor) {
			has = !without
		}
	}
	return has
}

// Rules is the algorithm that the release documents.
func (r Release) Rules() *Rules {
	rules := Documented()
	rules.Release = r.String()
	for _, f := range Flags() {
		if !f.In.Has(r) {
			f.without(rules)
		}
	}
	return rules
}
