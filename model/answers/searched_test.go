package answers

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
)

// A search goes round the nodes until two of them pass the filter plugins: of b it may not show whether it came there, and it comes to a
// nominated node before.
func TestAdmitsSearch(t *testing.T) {
	for _, tt := range []struct {
		name, found, omitted, nominated string
		pinned                          bool
		kind                            string
	}{
		{"the first two", "ab", "", "", true, ""},
		{"the last and the first", "da", "", "", true, ""},
		{"one", "a", "", "", true, kindFewFound},
		{"three", "abc", "", "", true, kindManyFound},
		{"one is leapt over", "ac", "", "", true, kindLeaps},
		{"side by side", "ac", "", "", false, ""},
		{"one, and perhaps b", "a", "b", "", true, ""},
		{"two beside b", "ac", "b", "", true, ""},
		{"three beside b", "acd", "b", "", true, kindManyFound},
		{"one beside the nominated", "ba", "", "b", true, ""},
		{"two beside the nominated", "bac", "", "b", true, ""},
		{"none beside the nominated", "b", "", "b", true, kindFewFound},
		{"not the nominated", "ac", "", "b", true, ""},
		{"another than the nominated", "a", "", "gone", true, kindFewFound},
	} {
		found, omitted := map[string]bool{}, map[string]bool{}
		for _, r := range tt.found {
			found[string(r)] = true
		}
		for _, r := range tt.omitted {
			omitted[string(r)] = true
		}
		algorithm := model.Documented()
		algorithm.Found = found
		cy := algorithm.NewCycle(mk.Cluster(mk.Pod("p", 9, mk.Nominated(tt.nominated)), mk.Node("a", "1"), mk.Node("b", "1"), mk.Node("c", "1"), mk.Node("d", "1")))
		s := &Set{Decision: &model.Decision{Cycle: cy, Search: &model.Search{Enough: 2, Passing: []string{"a", "b", "c", "d"}, Omitted: omitted}}}
		dis := s.admitsSearch(&model.Observation{PinnedDryRuns: tt.pinned})
		if tt.kind == "" {
			require.Nil(t, dis, tt.name)
			continue
		}
		require.NotNil(t, dis, tt.name)
		require.Equal(t, tt.kind, dis.Kind, tt.name)
	}
}

// What a search came to is known of a cycle whose pod fits nowhere.
func TestSearched(t *testing.T) {
	filters := map[string]model.Verdict{"a": {}, "b": {}}
	for _, tt := range []struct {
		name string
		o    model.Observation
		want map[string]bool
	}{
		{"b was not looked at", model.Observation{Filters: filters, Absent: []string{"b"}}, map[string]bool{"a": true, "b": false}},
		{"all were", model.Observation{Filters: filters, Absent: []string{}}, map[string]bool{"a": true, "b": true}},
		{"it does not show", model.Observation{Filters: filters}, nil},
		{"it fits", model.Observation{Filters: filters, Absent: []string{"b"}, ScheduledTo: "c"}, nil},
		{"an error", model.Observation{Filters: filters, Absent: []string{"b"}, CycleError: "oops"}, nil},
		{"a crash", model.Observation{Filters: filters, Absent: []string{"b"}, Crash: &model.Crash{}}, nil},
	} {
		rules := Documented()
		got := Searched(rules, &tt.o)
		require.Equal(t, tt.want, got.Found, tt.name)
		require.True(t, got.searched, tt.name)
		require.False(t, rules.searched, "they are copied")
	}
}
