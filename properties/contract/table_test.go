package contract_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/generators"
	"github.com/preemptcheck/preemptcheck/internal/campaign/record"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/properties/contract"
	"github.com/preemptcheck/preemptcheck/properties/ledger"
	"github.com/preemptcheck/preemptcheck/properties/probe"
	"github.com/preemptcheck/preemptcheck/reference/inprocess"
	"github.com/preemptcheck/preemptcheck/reference/systems"
)

var update = flag.Bool("update", false, "write the table of docs/plugins.md anew")

// page holds the table, between two marks.
const (
	page  = "../../docs/plugins.md"
	begin = "<!-- The table. To write it anew: make golden -->\n"
	end   = "<!-- The end of the table. -->\n"
)

// generated is how many clusters the table is about, besides those of the known findings.
const generated = 100

// some are the clusters of the known findings, and generated ones.
func some(t testing.TB, witnesses bool, n uint64) (all []*model.Cluster) {
	if witnesses {
		for _, e := range ledger.Linked() {
			c, err := corpus.Witness(e.Witness)
			require.NoError(t, err)
			if c.Timeline == nil && c.Cluster.Preemptor != nil {
				all = append(all, c.Cluster)
			}
		}
	}
	for seed := range n {
		if c := generators.OfAnyPreemptor(seed, nil); c.Preemptor != nil {
			all = append(all, c)
		}
	}
	return all
}

// TestTable: the table of the page is what the plugins of the linked scheduler come to, and nothing is new.
func TestTable(t *testing.T) {
	system, err := systems.NewPool(inprocess.Version, 1)
	require.NoError(t, err)
	defer system.Close()
	var stats probe.Stats
	for _, c := range some(t, true, generated) {
		s := &properties.Subject{Context: context.Background(), Cluster: c, System: system, Release: release.Linked}
		r := &properties.Result{Cluster: c}
		for _, p := range contract.All() {
			findings, err := p.Findings(s)
			require.NoError(t, err)
			r.Findings = append(r.Findings, findings...)
		}
		require.Empty(t, r.Unexplained())
		r.Plugins = s.Counted()
		stats.Add(r)
	}
	var table strings.Builder
	row := func(cells ...string) { fmt.Fprintf(&table, "| %s |\n", strings.Join(cells, " | ")) }
	record.WritePlugins(stats.Plugins, row, func(titles ...string) {
		row(titles...)
		fmt.Fprintf(&table, "|%s\n", strings.Repeat("---|", len(titles)))
	})
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	before, rest, ok := strings.Cut(string(text), begin)
	require.True(t, ok, "%s has no table", page)
	old, after, ok := strings.Cut(rest, end)
	require.True(t, ok, "the table of %s has no end", page)
	if *update {
		require.NoError(t, os.WriteFile(page, []byte(before+begin+table.String()+end+after), 0o644))
		return
	}
	require.Equal(t, old, table.String(), "make golden writes it anew")
}

// BenchmarkPlugins is what all clauses cost for one cluster and one plugin, and how many bare cycles of the scheduler that is.
func BenchmarkPlugins(b *testing.B) {
	system, err := systems.NewPool(inprocess.Version, 1)
	require.NoError(b, err)
	defer system.Close()
	clusters := some(b, false, 40)
	bare := func() time.Duration {
		start := time.Now()
		for _, c := range clusters {
			_, err := system.Observe(context.Background(), c)
			require.NoError(b, err)
		}
		return time.Since(start) / time.Duration(len(clusters))
	}
	bare()
	cycle := bare()
	for _, plugin := range []string{"", "DynamicResources", "InterPodAffinity", "NodeAffinity", "NodeDeclaredFeatures", "NodeName", "NodePorts", "NodeResourcesFit",
		"NodeUnschedulable", "NodeVolumeLimits", "PodTopologySpread", "TaintToleration", "VolumeBinding", "VolumeRestrictions", "VolumeZone"} {
		name, of := plugin, []string{plugin}
		if plugin == "" {
			name, of = "all", nil
		}
		b.Run(name, func(b *testing.B) {
			i := 0
			for b.Loop() {
				s := &properties.Subject{Context: context.Background(), Cluster: clusters[i%len(clusters)], System: system, Release: release.Linked}
				for _, p := range contract.All(of...) {
					_, err := p.Check(s)
					require.NoError(b, err)
				}
				i++
			}
			b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(cycle), "cycles/cluster")
		})
	}
}
