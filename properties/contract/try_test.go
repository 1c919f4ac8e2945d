package contract_test

import (
	"context"
	"os"
	"sort"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/generators"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/properties/contract"
	"github.com/preemptcheck/preemptcheck/reference/systems"
)

func TestTry(t *testing.T) {
	system, err := systems.NewPool("v1.37.1", 1)
	require.NoError(t, err)
	defer system.Close()
	var took [20]time.Duration
	kinds, first, tally := map[string]int{}, map[string]string{}, map[string]int{}
	from, _ := strconv.ParseUint(os.Getenv("FROM"), 10, 64)
	n, _ := strconv.ParseUint(os.Getenv("N"), 10, 64)
	for seed := from; seed < from+n; seed++ {
		c := generators.OfAnyPreemptor(seed, nil)
		if c.Preemptor == nil {
			continue
		}
		var s *properties.Subject
		for i, p := range append(contract.All(), contract.Monotone()) {
			start := time.Now()
			if i == 0 {
				s = &properties.Subject{Context: context.Background(), Cluster: c, System: system, Release: release.Linked}
			}
			findings, err := p.Findings(s)
			if err != nil {
				t.Log(seed, p.Name, err)
				continue
			}
			took[i] += time.Since(start)
			for _, f := range findings {
				if len(f.Known) > 0 {
					continue
				}
				k := p.Name + " | " + f.Kind
				kinds[k]++
				if first[k] == "" {
					first[k] = strconv.Itoa(int(seed)) + " " + f.Detail
				}
			}
		}
		for plugin, whats := range s.Counted() {
			for what, n := range whats {
				tally[what+": "+plugin] += n
			}
		}
	}
	var all []string
	for k, n := range kinds {
		all = append(all, strconv.Itoa(n)+" "+k+"\n      "+first[k])
	}
	sort.Strings(all)
	t.Log("\n" + strings.Join(all, "\n"))
	all = nil
	for k, n := range tally {
		all = append(all, k+" "+strconv.Itoa(n))
	}
	sort.Strings(all)
	if os.Getenv("TALLY") != "" {
		t.Log("\n" + strings.Join(all, "\n"))
	}
	t.Log(took)
}
