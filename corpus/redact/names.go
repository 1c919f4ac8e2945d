package redact

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/preemptcheck/preemptcheck/corpus/prune"
)

// names gives each name of a kind a pseudonym: what kind it is, and the place of the name
// among all of its kind in their order. So names that decide ties decide them in the same way,
// and nothing else of a name shows.
type names struct {
	found  map[string]map[string]bool   // by kind
	given  map[string]map[string]string // by kind
	counts map[string]bool              // kinds whose names may be integers that are compared
	back   map[string]map[string]string // by kind: the name of each pseudonym
}

func newNames() *names {
	return &names{found: map[string]map[string]bool{}, counts: map[string]bool{}}
}

// of is the pseudonym of a name once all have one, and the name itself before, when it only
// notes it.
func (n *names) of(kind, name string) string {
	if name == "" || Stays(kind, name) {
		return name
	}
	if n.given != nil {
		return n.given[kind][name]
	}
	if n.found[kind] == nil {
		n.found[kind] = map[string]bool{}
	}
	n.found[kind][name] = true
	return name
}

// settle gives all names that were noted their pseudonyms.
func (n *names) settle() {
	n.given, n.back = map[string]map[string]string{}, map[string]map[string]string{}
	// Values of labels are called after the keys, which have their pseudonyms first.
	kinds := slices.SortedFunc(maps.Keys(n.found), func(a, b string) int {
		isValue := func(kind string) int { return min(len(kind)-len(strings.TrimPrefix(kind, ValueOf)), 1) }
		return cmp.Or(isValue(a)-isValue(b), strings.Compare(a, b))
	})
	for _, kind := range kinds {
		// Names that cannot be come last, so that a pseudonym of one stays what it is.
		sorted := slices.SortedFunc(maps.Keys(n.found[kind]), func(a, b string) int {
			switch cannot := cannotBe(kind, a); {
			case cannot == cannotBe(kind, b):
				return strings.Compare(a, b)
			case cannot:
				return 1
			}
			return -1
		})
		given := make(map[string]string, len(sorted))
		if n.counts[kind] {
			sorted = numbers(sorted, given)
		}
		width := len(strconv.Itoa(len(sorted)))
		for i, name := range sorted {
			given[name] = pseudonym(kind, name, fmt.Sprintf("%0*d", width, i+1))
			if cannotBe(kind, name) {
				given[name] = "!" + given[name]
			}
		}
		if kind == zone {
			inRegions(sorted, given)
		}
		n.given[kind] = given
		title := kind
		if key, is := strings.CutPrefix(kind, ValueOf); is {
			title = ValueOf + cmp.Or(n.given[keyOf(key)][trimKey(key)], trimKey(key))
		}
		n.back[title] = make(map[string]string, len(given))
		for name, p := range given {
			n.back[title][p] = name
		}
	}
}

// cannotBe tells whether a name cannot be that of a label, or its value. A stored selector may
// have such, and nobody can read it: that has to stay so.
func cannotBe(kind, name string) bool {
	switch {
	case kind == labelKey || kind == taintKey:
		return len(validation.IsQualifiedName(name)) > 0
	case kind == zone || kind == region || strings.HasPrefix(kind, ValueOf):
		return len(validation.IsValidLabelValue(name)) > 0
	case kind == "Node" || kind == prune.Namespace: // which may be longer
		return len(validation.IsDNS1123Subdomain(name)) > 0 && len(validation.IsValidLabelValue(name)) > 0
	}
	return false
}

// inRegions gives zones whose names have three parts others of three parts: of a disk in several
// zones of one plugin, the first two are the region (csi-translation-lib, plugins/gce_pd.go).
func inRegions(sorted []string, given map[string]string) {
	var regions []string
	for _, name := range sorted {
		if parts := strings.Split(name, "-"); len(parts) == 3 {
			region := parts[0] + "-" + parts[1]
			if !slices.Contains(regions, region) {
				regions = append(regions, region)
			}
			given[name] = strings.Replace(given[name], "zone-", fmt.Sprintf("zone-%d-", slices.Index(regions, region)+1), 1)
		}
	}
}

// numbers gives those names that are integers the numbers from 1 on, in the order of their
// values, and answers with the others. A number that is written in another way than the usual one
// keeps to such: it gets zeros in front. Some rules read it, for others it is no number.
func numbers(sorted []string, given map[string]string) (others []string) {
	written := map[int64][]string{}
	for _, name := range sorted {
		if value, err := strconv.ParseInt(name, 10, 64); err == nil {
			written[value] = append(written[value], name)
		} else {
			others = append(others, name)
		}
	}
	for i, value := range slices.Sorted(maps.Keys(written)) {
		zeros := 0
		for _, name := range written[value] {
			given[name] = strconv.Itoa(i + 1)
			if name != strconv.FormatInt(value, 10) {
				zeros++
				given[name] = strings.Repeat("0", zeros) + given[name]
			}
		}
	}
	return others
}

// Names maps each kind of names to its pseudonyms, and those to what they stand for. The values
// of each label, and of each taint, are a kind that begins with ValueOf.
type Names map[string]map[string]string
