package model_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
)

// A pod is scheduled with all groups that hold one another, as far as they are there.
func TestGroupsOf(t *testing.T) {
	p := mk.Pod("p", 1, mk.Member("g"))
	pair, inner, outer := mk.Group("g", 1, mk.PartOf("inner")), mk.Composite("inner", "outer", 1, false), mk.Composite("outer", "", 1, false)
	keys := []string{model.PodGroupKey("default", "g"), model.CompositePodGroupKey("default", "inner"), model.CompositePodGroupKey("default", "outer")}
	for name, tt := range map[string]struct {
		parts []any
		want  []string
	}{
		"all are there":            {[]any{pair, inner, outer}, keys},
		"one alone":                {[]any{mk.Group("g", 1)}, keys[:1]},
		"the outermost is missing": {[]any{pair, inner}, nil},
		"its own is missing":       {[]any{inner, outer}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			c := mk.Cluster(nil, append(tt.parts, mk.WithGroups(), p, mk.Group("other", 1), mk.Pod("q", 1, mk.Member("other")))...)
			assert.Equal(t, tt.want, c.GroupsOf(p))
			root := ""
			if tt.want != nil {
				root = tt.want[len(tt.want)-1]
			}
			assert.Equal(t, root, c.RootOf(p))
			if root != "" {
				c.PreemptorGroup = root
				assert.ElementsMatch(t, tt.want, slices.Collect(maps.Keys(c.GroupsOfPreemptor())))
				assert.Equal(t, []*v1.Pod{p}, c.Members())
			}
		})
	}
}
