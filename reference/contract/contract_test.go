package contract

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/generators"
	"github.com/preemptcheck/preemptcheck/model/calls"
)

func TestTry(t *testing.T) {
	s := New()
	defer s.Close()
	var total time.Duration
	for seed := range uint64(30) {
		c := generators.OfAnyPreemptor(seed, nil)
		if c.Preemptor == nil {
			continue
		}
		start := time.Now()
		a, err := s.Ask(context.Background(), c, []calls.Call{{Op: calls.List}})
		require.NoError(t, err)
		if seed == 0 {
			for _, p := range a[0].Plugins {
				t.Log(p)
			}
		}
		script := []calls.Call{{Op: calls.Digest}}
		for _, p := range a[0].Plugins {
			if p.At("PreFilter", "Filter") {
				script = append(script, calls.Call{Op: calls.Says, Plugin: p.Name})
			}
		}
		b, err := s.Ask(context.Background(), c, script)
		require.NoError(t, err)
		total += time.Since(start)
		if seed < 3 {
			for i, call := range script {
				t.Log(call, b[i].Verdict, b[i].Nodes)
			}
		}
	}
	t.Log(total)
}
