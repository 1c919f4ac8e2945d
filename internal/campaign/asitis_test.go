package campaign

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/corpus/fingerprint"
	"github.com/preemptcheck/preemptcheck/internal/campaign/record"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/properties/all"
	"github.com/preemptcheck/preemptcheck/properties/ledger"
	"github.com/preemptcheck/preemptcheck/reference"
	"github.com/preemptcheck/preemptcheck/reference/inprocess"
	"github.com/preemptcheck/preemptcheck/reference/systems"
)

// shardAt is a shard whose first clusters are the block of them that a number is in.
func shardAt(n uint64) record.Shard {
	nth := int(n/record.BlockSize) + 1
	return record.Shard{Index: nth, Of: nth}
}

// lastLooks is the number from which on cases are looked at for the last time.
func lastLooks() uint64 { return firstAsIs + uint64(len(corpus.Names())) }

// A case whose known finding no longer occurs is a finding, which is saved as the case; so is a timeline.
func TestCasesAreHeld(t *testing.T) {
	for folder, first := range map[string]uint64{"cases/": lastLooks() + record.BlockSize, "timelines/": lastLooks() - record.BlockSize} {
		o := liveOptions(t, t.TempDir())
		o.Cases, o.Workers = record.BlockSize, 1
		o.Launch = inProcess(func() (*properties.Checker, error) { // no property is asked, and so none is found broken
			return &properties.Checker{System: liveLiar{inprocess.New()}, Release: release.Linked, HoldsCases: true}, nil
		})
		o.Checker.Release, o.Checker.HoldsCases = release.Linked, true
		s := run(t, record.Config{Seed: 3, Command: "preemptcheck", Timelines: 1, Shard: shardAt(first)}, o)
		found := 0
		for _, f := range s.Findings {
			if f.Identity.Property != fingerprint.Unmet {
				continue
			}
			found++
			require.Equal(t, folder == "timelines/", f.Timeline)
			c, _ := asIs(3, f.Number, folder, "")
			require.Contains(t, f.Detail, "case "+c.Name+" of the corpus: ")
			require.Contains(t, f.Detail, " no longer occurs")
			require.Contains(t, f.Minimised.Why, "it is a case of the corpus")
			stream, err := corpus.Load(filepath.Join(o.Dir, f.File))
			require.NoError(t, err)
			saved := *stream.Cases[0]
			require.Contains(t, saved.Description, "Not as it says: case "+c.Name)
			require.Equal(t, c.Findings, saved.Findings)
			require.Empty(t, cmp.Diff(c.Cluster, saved.Cluster))
		}
		require.Positive(t, found, folder)
	}
}

// Cases about findings that are kept back are not held, as nobody is to read of them.
func TestKeptBackIsNotHeld(t *testing.T) {
	checker, held, passed := &properties.Checker{Release: release.Linked, HoldsCases: true}, 0, 0
	for n := range uint64(2000) {
		for _, folder := range []string{"cases/", "timelines/"} {
			c, look := asIs(3, n, folder, "")
			if c == nil {
				continue
			}
			if look != lastLook {
				require.Nil(t, saying(checker, request{Seed: 3}, n, folder), c.Name)
				continue
			}
			if slices.ContainsFunc(c.Findings, func(id string) bool { e, _ := ledger.LookUp(id); return e.KeptBack() }) {
				passed++
				require.Nil(t, saying(checker, request{Seed: 3}, n, folder), c.Name)
			} else {
				held++
				require.Same(t, c, saying(checker, request{Seed: 3}, n, folder))
			}
		}
	}
	require.Equal(t, len(corpus.Names()), held+passed)
	require.Positive(t, passed)
}

// What a worker says of a case is looked at once more.
func TestCaseIsLookedAtAgain(t *testing.T) {
	o := options(t, t.TempDir(), honest)
	o.Checker.Release, o.Checker.HoldsCases = release.Linked, true
	o.Cases, o.Workers = record.BlockSize, 1
	o.Launch = acting(func(r request) *answer {
		a := &answer{CPUSeconds: 1}
		a.Stats.Clusters = r.Count
		for n := r.First; n < r.First+uint64(r.Count); n++ {
			if c, look := asIs(r.Seed, n, "cases/", ""); c != nil && look == lastLook && len(c.Findings) == 0 && len(a.Suspects) == 0 {
				a.unmet(suspect{Number: n}, c, []string{"a lie"})
			}
		}
		return a
	})
	s := run(t, record.Config{Seed: 3, Command: "preemptcheck", Shard: shardAt(lastLooks() + record.BlockSize)}, o)
	require.NotEmpty(t, s.Findings)
	for _, f := range s.Findings {
		require.Equal(t, "it did not occur again", f.Minimised.Why)
	}
}

// The scheduler does what cases say of it. Where a campaign has feature gates or a configuration, or leaves something out, they are not held
// against what they say.
func TestCasesAreAsTheySay(t *testing.T) {
	system, err := systems.NewPool(inprocess.Version, 1)
	require.NoError(t, err)
	defer system.Close()
	shares := all.Shares{Relations: 2, Filters: 128, Contracts: 64, Repeating: all.RepeatingOneIn}
	whole := &properties.Checker{System: system, Release: release.Linked, Properties: all.Cheap(), Sample: all.Sample(shares), Looks: all.Looks(shares), HoldsCases: true}
	require.Implements(t, (*reference.LifeSystem)(nil), system)
	requested := request{Seed: 3, First: lastLooks() - 30, Count: 120, Timelines: 1}
	a, err := work(t.Context(), whole, requested)
	require.NoError(t, err)
	require.Empty(t, a.Suspects)

	nothing := &properties.Checker{System: system, Release: release.Linked, HoldsCases: true}
	unmet := func(change func(r *request)) (all string) {
		r := requested
		change(&r)
		a, err := work(t.Context(), nothing, r)
		require.NoError(t, err)
		for _, s := range a.Suspects {
			if s.Fingerprint.Property == fingerprint.Unmet {
				all += s.Detail
			}
		}
		return all
	}
	as := func(*request) {}
	require.NotEmpty(t, unmet(as))
	require.Empty(t, unmet(func(r *request) { r.FeatureGates = "GenericWorkload=true" }))
	require.Empty(t, unmet(func(r *request) { r.Configuration = `{"parallelism": 4}` }))
	nothing.HoldsCases = false
	require.Empty(t, unmet(as))
}

// A case that is not modelled, and that names a known finding for which no model is needed, is held against that.
func TestUnmodelledCasesAreHeld(t *testing.T) {
	const seed, name = 3, "finding-growing-pool-is-error"
	n := lastLooks()
	for {
		if c, look := asIs(seed, n, "cases/", ""); c != nil && look == lastLook && c.Name == name {
			break
		}
		n++
		require.Less(t, n, lastLooks()+2*uint64(len(corpus.Names())))
	}
	system, err := systems.NewPool(inprocess.Version, 1)
	require.NoError(t, err)
	defer system.Close()
	unmet := func(checker *properties.Checker) (names []string) {
		checker.System, checker.Release, checker.HoldsCases = system, release.Linked, true
		a, err := work(t.Context(), checker, request{Seed: seed, First: n, Count: 1})
		require.NoError(t, err)
		for _, s := range a.Suspects {
			names = append(names, s.Fingerprint.Kind)
		}
		return names
	}
	shares := all.Shares{Relations: 2, Filters: 128, Contracts: 64, Repeating: all.RepeatingOneIn}
	require.Empty(t, unmet(&properties.Checker{Properties: all.Cheap(), Sample: all.Sample(shares), Looks: all.Looks(shares)}))
	require.Equal(t, []string{name}, unmet(&properties.Checker{}))
}
