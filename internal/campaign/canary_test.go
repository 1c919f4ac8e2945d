package campaign

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/reference/inprocess"
)

// The lie about each cluster that is fit for it is found in one way, whatever else is known of that cluster: a campaign takes it for broken if its
// lies are minimised to several findings.
func TestLiesAreAlike(t *testing.T) {
	s, err := corpus.Load("../../corpus/cases")
	require.NoError(t, err)
	system := inprocess.New()
	defer system.Close()
	honest := &properties.Checker{System: system}
	lied := 0
	for i := range s.Cases {
		c := s.Cases[i].Cluster
		if s.Cases[i].Timeline != nil || c == nil || c.Preemptor == nil {
			continue
		}
		r, err := honest.Check(t.Context(), c)
		require.NoError(t, err)
		if !fitForCanary(nil, r) {
			continue
		}
		r, err = lying(honest).Check(t.Context(), c)
		require.NoError(t, err)
		require.NotEmpty(t, r.Findings, s.Cases[i].Name)
		require.Equal(t, "chooses victims otherwise: more violations", r.Findings[0].Kind, s.Cases[i].Name)
		lied++
	}
	require.Greater(t, lied, 50)
}
