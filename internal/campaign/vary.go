package campaign

import (
	"bytes"
	"cmp"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"slices"
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

// Besides clusters and timelines that are drawn, a campaign looks at the cases of the corpus, and at such as are nearly like one: each
// was hard once, or is about a rule where it matters.

// clustersToVaried and timelinesToVaried are how many clusters, and timelines, there are to one that is a case with a few changes.
const clustersToVaried, timelinesToVaried = 5, 3

// attempts is how often a case is changed anew where the API server would not have taken what came of it.
const attempts = 4

// ofCorpus is cluster number n of a seed as a case, or as one with a few changes as the API server would have it; nil if that
// cluster is drawn. With feature gates it is of a case that says nothing else of them.
func ofCorpus(seed, n uint64, gates record.Gates) *model.Cluster {
	if c, look := asIs(seed, n, "cases/", gates); c != nil {
		cluster := c.Cluster.DeepCopy()
		pin(cluster, gates)
		if look == withDecoys {
			if decoyed := vary.Decoyed(cluster); apiserver.Admit(decoyed) == nil {
				return decoyed
			}
		}
		return cluster
	}
	return change(seed, n, clustersToVaried, casesOf("cases/", gates), func(s draw.Source, base, donor *corpus.Case) (*model.Cluster, error) {
		c := vary.Cluster(s, base.Cluster, donor.Cluster)
		pin(c, gates)
		return c, apiserver.Admit(c)
	})
}

// timelineOfCorpus is timeline number n of a seed, likewise.
func timelineOfCorpus(seed, n uint64, gates record.Gates) *timeline.Timeline {
	if c, _ := asIs(seed, n, "timelines/", gates); c != nil {
		if t, err := readAgain(c.Timeline); err == nil { // a copy
			pin(t.Cluster, gates)
			return t
		}
	}
	return change(seed, ^n, timelinesToVaried, casesOf("timelines/", gates), func(s draw.Source, base, donor *corpus.Case) (*timeline.Timeline, error) {
		t := vary.Timeline(s, base.Timeline, donor.Timeline)
		pin(t.Cluster, gates)
		return readAgain(t)
	})
}

// change is what comes of a case and another one, by a number of a seed; nil for all but one of so many numbers, and if it is nothing
// that the API server takes.
func change[T any](seed, n, every uint64, cases []candidate, of func(s draw.Source, base, donor *corpus.Case) (*T, error)) *T {
	random := rand.NewPCG(seed^0x7a41ed, n)
	if random.Uint64()%every != 0 || len(cases) == 0 {
		return nil
	}
	s, base := draw.FromSeed(random.Uint64()), pick(cases, random.Uint64())
	for range attempts {
		if changed, err := of(s, base, pick(cases, random.Uint64())); err == nil {
			return changed
		}
	}
	return nil
}

// candidate is a case that may be changed. id is made of its name.
type candidate struct {
	*corpus.Case
	id uint64
}

// pick is one of the cases, by a random number. A further case leaves nearly all that is picked as it was: it is itself picked as often
// as any other one, and changes nothing else (rendezvous hashing, Thaler and Ravishankar, 1998).
func pick(cases []candidate, random uint64) *corpus.Case {
	return slices.MinFunc(cases, func(a, b candidate) int { return cmp.Compare(a.rank(random), b.rank(random)) }).Case
}

func (c candidate) rank(random uint64) uint64 { return rand.NewPCG(random, c.id).Uint64() }

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
func casesOf(folder string, gates record.Gates) (fitting []candidate) {
	key := folder + string(gates)
	if known, is := read.Load(key); is {
		return known.([]candidate)
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
			id := fnv.New64a()
			io.WriteString(id, name)
			fitting = append(fitting, candidate{c, id.Sum64()})
		}
	}
	read.Store(key, fitting)
	return fitting
}
