package model_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
)

// Dry runs begin at the offset, and go on until one candidate is enough and violates no budget; extenders may leave none of them.
func TestPreempt(t *testing.T) {
	nothing, broken := model.ExtenderPreempt{Nothing: true}, model.ExtenderPreempt{Fails: model.PreemptError}
	type pod struct {
		priority int32
		guarded  bool
	}
	low, guarded, high := pod{0, false}, pod{0, true}, pod{10, false}
	for _, tt := range []struct {
		name             string
		offset           int32
		extender         *model.ExtenderPreempt
		pods             []pod // on a, b and c
		tried, shortlist []string
		node, by         string
		nomination       model.NominationMode
	}{
		{"the first", 0, nil, []pod{low, low, low}, []string{"a"}, []string{"a"}, "a", model.OnlyCandidate, model.NominationSet},
		{"from the second on", 1, nil, []pod{low, low, low}, []string{"b"}, []string{"b"}, "b", model.OnlyCandidate, model.NominationSet},
		{"once round", 4, nil, []pod{low, low, low}, []string{"b"}, []string{"b"}, "b", model.OnlyCandidate, model.NominationSet},
		{"round the end", 2, nil, []pod{low, low, high}, []string{"a", "c"}, []string{"a"}, "a", model.OnlyCandidate, model.NominationSet},
		{"one that violates", 0, nil, []pod{guarded, low, low}, []string{"a", "b"}, []string{"a", "b"}, "b", "fewest budget violations", model.NominationSet},
		{"two that violate", 0, nil, []pod{guarded, guarded, low}, []string{"a", "b", "c"}, []string{"a", "c"}, "c", "fewest budget violations", model.NominationSet},
		{"none helps", 0, nil, []pod{high, high}, []string{"a", "b"}, nil, "", "", model.NominationCleared},
		{"the second helps", 0, nil, []pod{high, low, low}, []string{"a", "b"}, []string{"b"}, "b", model.OnlyCandidate, model.NominationSet},
		{"an extender leaves none", 0, &nothing, []pod{low, low}, []string{"a"}, nil, "", "", model.NominationCleared},
		{"an extender fails", 0, &broken, []pod{low, low}, []string{"a"}, nil, "", "", model.NominationKept},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := mk.Cluster(mk.Pod("p", 9, mk.CPU("1")), mk.Budget("g", 0, mk.ForApp("guarded")),
				model.Settings{MinCandidateNodesAbsolute: new(int32(1)), MinCandidateNodesPercentage: new(int32(0)), DryRunOffset: &tt.offset})
			if tt.extender != nil {
				c.Settings.Extenders = []model.Extender{{Name: "e", Preempt: tt.extender}}
			}
			for i, is := range tt.pods {
				node := string(rune('a' + i))
				p := mk.Pod("on-"+node, is.priority, mk.CPU("1"), mk.On(node))
				if is.guarded {
					mk.App("guarded")(p)
				}
				c.Nodes, c.Pods = append(c.Nodes, mk.Node(node, "1")), append(c.Pods, p)
			}
			r := model.Documented().Decide(c).Preempt()
			assert.Equal(t, tt.tried, slices.Sorted(maps.Keys(r.DryRuns)))
			assert.Equal(t, tt.shortlist, slices.Sorted(maps.Keys(r.Candidates)))
			assert.Equal(t, []string{tt.node, tt.by}, []string{r.Node, r.DecidedBy})
			assert.Equal(t, tt.nomination, r.Nomination)
			assert.Equal(t, tt.node, r.NominatedNode)
		})
	}
}
