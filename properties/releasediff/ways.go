package releasediff

import (
	"cmp"
	"slices"
)

// Way is one of the distinct ways in which two releases decide differently: all
// that is due to one change.
type Way struct {
	// Change is the reason; nil if there is none that the model knows.
	Change *Change
	// Clusters counts those that are decided differently by it, alone or together
	// with others.
	Clusters int
	// Kinds are in what it shows, the most frequent first.
	Kinds []*Kind
}

// Kind is one of the differences that a change makes.
type Kind struct {
	Kind     string
	Clusters int
	// Witnesses are the plainest of the clusters: of those with the fewest reasons
	// the smallest, and of these the first.
	Witnesses []*Witness
}

// Witness is a cluster on which an effect shows.
type Witness struct {
	*Comparison
	Effect Effect
	// Number is that of the cluster among those compared, from 0 on.
	Number uint64
}

// Ways collects what is different on many clusters. They may be added in any order.
type Ways struct {
	Compared uint64
	// Of Compared, how many came to which verdict, and why those were not compared
	// that were not.
	Verdicts map[Verdict]uint64
	Why      map[string]uint64

	ways []*Way
}

// Add counts a comparison, which is of the cluster of that number.
func (w *Ways) Add(r *Comparison, number uint64) {
	if w.Verdicts == nil {
		w.Verdicts, w.Why = map[Verdict]uint64{}, map[string]uint64{}
	}
	w.Compared++
	w.Verdicts[r.Verdict]++
	if r.Why != "" {
		w.Why[r.Why]++
	}
	for _, e := range r.Effects {
		way := w.of(e)
		way.Clusters++
		way.add(&Witness{r, e, number})
	}
}

func (w *Ways) of(e Effect) *Way {
	i := slices.IndexFunc(w.ways, func(way *Way) bool {
		if e.Change == nil || way.Change == nil {
			return e.Change == way.Change
		}
		return e.Change.Title == way.Change.Title
	})
	if i < 0 {
		i = len(w.ways)
		w.ways = append(w.ways, &Way{Change: e.Change})
	}
	return w.ways[i]
}

func (w *Way) add(witness *Witness) {
	i := slices.IndexFunc(w.Kinds, func(k *Kind) bool { return k.Kind == witness.Effect.Kind })
	if i < 0 {
		i = len(w.Kinds)
		w.Kinds = append(w.Kinds, &Kind{Kind: witness.Effect.Kind})
	}
	k := w.Kinds[i]
	k.Clusters++
	at, _ := slices.BinarySearchFunc(k.Witnesses, witness, (*Witness).compare)
	k.Witnesses = slices.Insert(k.Witnesses, at, witness)
	k.Witnesses = k.Witnesses[:min(len(k.Witnesses), maxWitnesses)]
}

// maxWitnesses is how many clusters are kept of each kind: made small, they are not
// equally small.
const maxWitnesses = 5

func (w *Witness) compare(other *Witness) int {
	size := func(w *Witness) int {
		return len(w.Cluster.Nodes) + len(w.Cluster.Pods) + len(w.Cluster.PodDisruptionBudgets)
	}
	return cmp.Or(
		cmp.Compare(len(w.Effects), len(other.Effects)),
		cmp.Compare(size(w), size(other)),
		cmp.Compare(w.Number, other.Number))
}

// List is what was found: the unexplained first, then by number of clusters.
func (w *Ways) List() []*Way {
	for _, way := range w.ways {
		slices.SortFunc(way.Kinds, func(a, b *Kind) int {
			return cmp.Or(cmp.Compare(b.Clusters, a.Clusters), cmp.Compare(a.Kind, b.Kind))
		})
	}
	slices.SortFunc(w.ways, func(a, b *Way) int {
		if a.Change == nil || b.Change == nil {
			return map[bool]int{true: -1, false: 1}[a.Change == nil]
		}
		return cmp.Or(cmp.Compare(b.Clusters, a.Clusters), cmp.Compare(a.Change.Title, b.Change.Title))
	})
	return w.ways
}
