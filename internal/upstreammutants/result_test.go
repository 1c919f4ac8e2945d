package main

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/corpus/minimize"
	"github.com/preemptcheck/preemptcheck/internal/campaign/record"
)

// found is a mutant that was found after so many seconds and is that small.
func found(name string, after float64, nodes, pods int, minimising float64) *result {
	return &result{Mutant: &Mutant{Name: name}, building: 9 * time.Second, after: after, ReportedFinding: &record.ReportedFinding{
		Identity: "differential", Clusters: 100,
		Minimised: record.Minimised{To: minimize.Size{Nodes: nodes, Pods: pods}, Seconds: minimising},
	}}
}

func TestJudge(t *testing.T) {
	good := found("good", 1, 3, 5, 30)
	for _, test := range []struct {
		name    string
		results []*result
		want    string
	}{
		{"good", []*result{good}, ""},
		{"not found", []*result{good, good, {Mutant: &Mutant{Name: "m"}}}, "m was not found within 1m0s"},
		{"property", []*result{{Mutant: &Mutant{Name: "m", Property: "p"}, ReportedFinding: &record.ReportedFinding{Property: "q"}}}, "m was found by q, not by p"},
		{"nodes", []*result{found("m", 1, 4, 5, 1)}, "m was minimised to 4 nodes and 5 pods: more than 3 and 5"},
		{"pods", []*result{found("m", 1, 3, 6, 1)}, "m was minimised to 3 nodes and 6 pods: more than 3 and 5"},
		{"minimising", []*result{found("m", 1, 1, 1, 31)}, "minimising m took 31 s: more than 30s"},
		{"one slow", []*result{good, good, found("m", 59, 1, 1, 1)}, ""},
		{"half are slow", []*result{good, found("m", 40, 1, 1, 1)}, "the median time to a finding is 20.5 s: more than 20s"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if err := judge(test.results); test.want == "" {
				require.NoError(t, err)
			} else {
				require.EqualError(t, err, test.want)
			}
		})
	}
}

func TestTable(t *testing.T) {
	var out bytes.Buffer
	writeTable(&out, []*result{found("a", 0.5, 1, 2, 3), {Mutant: &Mutant{Name: "b"}}})
	require.Equal(t, `MUTANT   BUILD S   FOUND AFTER S   CLUSTERS   NODES, PODS LEFT   MINIMISING S   FINDING
a        9.0       0.5             100        1, 2               3.0            differential
b        0.0       not found       -          -                  -              -

median time to a finding: 30.2 s
`, out.String())
}
