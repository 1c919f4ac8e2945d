package campaign

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"sync"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/generators/draw"
	"github.com/preemptcheck/preemptcheck/generators/groups"
	"github.com/preemptcheck/preemptcheck/generators/vary"
	"github.com/preemptcheck/preemptcheck/internal/apiserver"
	"github.com/preemptcheck/preemptcheck/internal/campaign/record"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
)

// Besides clusters and timelines that are drawn, a campaign looks at such as are nearly like a case of the corpus: each
// was hard once, or is about a rule where it matters.

// clustersToVaried and timelinesToVaried are how many clusters, and timelines, there are to one that is a case with a few changes.
const clustersToVaried, timelinesToVaried = 5, 3

// attempts is how often a case is changed anew where the API server would not have taken what came of it.
const attempts = 4

// varied is cluster number n of a seed as a case with a few changes, as the API server would have it; nil if that
// cluster is drawn. With feature gates it is of a case that says nothing else of them. Each case has its turn before any
// has another one.
func varied(seed, n uint64, gates record.Gates) *model.Cluster {
	cases := casesOf("cases/", gates)
	if n%clustersToVaried != 0 || len(cases) == 0 {
		return nil
	}
	turn := int(n / clustersToVaried)
	order := rand.New(rand.NewPCG(seed^0x7a41ed, uint64(turn/len(cases)))).Perm(len(cases))
	return change(rand.NewPCG(seed^0x7a41ed, n), cases[order[turn%len(cases)]], cases, func(s draw.Source, base, donor *corpus.Case) (*model.Cluster, error) {
		c := vary.Cluster(s, base.Cluster, donor.Cluster)
		pin(c, gates)
		return c, apiserver.Admit(c)
	})
}

// variedTimeline is timeline number n of a seed, likewise, but of any case.
func variedTimeline(seed, n uint64, gates record.Gates) *timeline.Timeline {
	cases, random := casesOf("timelines/", gates), rand.NewPCG(seed^0x7a41ed1, n)
	if random.Uint64()%timelinesToVaried != 0 || len(cases) == 0 {
		return nil
	}
	return change(random, one(random, cases), cases, func(s draw.Source, base, donor *corpus.Case) (*timeline.Timeline, error) {
		t := vary.Timeline(s, base.Timeline, donor.Timeline)
		pin(t.Cluster, gates)
		return readAgain(t)
	})
}

// readAgain is a timeline as it is once it was written and read. What cannot be written could not be told to anybody.
func readAgain(t *timeline.Timeline) (*timeline.Timeline, error) {
	var text bytes.Buffer
	c := &corpus.Case{Name: "varied", Cluster: t.Cluster, Timeline: t}
	if err := c.Write(&text); err != nil {
		return nil, err
	}
	stream, err := corpus.Read(&text, c.Name)
	if err != nil {
		return nil, err
	}
	return stream.Cases[0].Timeline, nil
}

// change is what comes of one case and another one; nil if that is nothing that the API server takes.
func change[T any](random *rand.PCG, base *corpus.Case, cases []*corpus.Case, of func(s draw.Source, base, donor *corpus.Case) (*T, error)) *T {
	s := draw.FromSeed(random.Uint64())
	for range attempts {
		if changed, err := of(s, base, one(random, cases)); err == nil {
			return changed
		}
	}
	return nil
}

func one(random *rand.PCG, cases []*corpus.Case) *corpus.Case {
	return cases[random.Uint64()%uint64(len(cases))]
}

// pin has the scheduler of a cluster have some feature gates.
func pin(c *model.Cluster, gates record.Gates) {
	for gate, on := range gates.Map() {
		groups.Set(c, gate, on)
	}
}

// fits tells whether a cluster is one of a campaign with some feature gates: it has pod groups, and composite ones, as
// they say, and nothing else that is not as they say, or that schedulers without groups may not know.
func fits(c *model.Cluster, gates map[string]bool) bool {
	if len(gates) == 0 {
		return true
	}
	has, grouped := c.Settings.FeatureGates, gates[model.GateWorkload]
	if len(c.Settings.Configuration) > 0 || has[model.GateWorkload] != grouped || gates[model.GateComposite] && !has[model.GateComposite] {
		return false
	}
	for gate, on := range has {
		if pinned, is := gates[gate]; is && pinned != on || !is && !grouped {
			return false
		}
	}
	return true
}

// read are the cases of the corpus, by folder and gates.
var read sync.Map

// casesOf are the cases of a folder of the corpus that fit campaigns with some feature gates. They are not to be
// changed.
func casesOf(folder string, gates record.Gates) (fitting []*corpus.Case) {
	key := folder + string(gates)
	if known, is := read.Load(key); is {
		return known.([]*corpus.Case)
	}
	for _, name := range corpus.Names() {
		if !strings.HasPrefix(name, folder) {
			continue
		}
		c, err := corpus.Embedded(name)
		if err != nil {
			panic(err) // they are part of the program
		}
		if fits(c.Cluster, gates.Map()) {
			fitting = append(fitting, c)
		}
	}
	read.Store(key, fitting)
	return fitting
}
