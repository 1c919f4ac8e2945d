package diff

import (
	"cmp"
	"slices"

	"github.com/preemptcheck/preemptcheck/corpus/minimize"
	"github.com/preemptcheck/preemptcheck/properties/releasediff"
)

// Report is what is different between releases.
type Report struct {
	From string `json:"from"`
	To   string `json:"to"`
	// Command is the command line, as far as it matters.
	Command string `json:"command"`
	// Generated says that the clusters were, from Seed.
	Generated bool   `json:"generated"`
	Seed      uint64 `json:"seed,omitempty"`
	// Comparisons are of each release with the next one.
	Comparisons []*Pair `json:"comparisons"`
	Interrupted bool    `json:"interrupted,omitempty"`
}

// Pair is what is different between two releases.
type Pair struct {
	From string `json:"from"`
	To   string `json:"to"`
	// Clusters is how many there were, Verdicts what became of them, and Why counts
	// the reasons why some could not be compared.
	Clusters uint64                         `json:"clusters"`
	Verdicts map[releasediff.Verdict]uint64 `json:"verdicts"`
	Why      map[string]uint64              `json:"why,omitempty"`
	// Cases are what became of each, if they were not generated.
	Cases []*Case `json:"cases,omitempty"`
	Ways  []*Way  `json:"ways"`
	// Timelines are what is different in timelines; nil if there were none.
	Timelines *Timelines `json:"timelines,omitempty"`
}

// Case is what the two releases do with one case.
type Case struct {
	Name     string   `json:"name"`
	File     string   `json:"file,omitempty"`
	Verdict  string   `json:"verdict"`
	Why      string   `json:"why,omitempty"`
	Object   string   `json:"object,omitempty"` // to blame for that
	FromDoes string   `json:"fromDoes,omitempty"`
	ToDoes   string   `json:"toDoes,omitempty"`
	Because  []string `json:"because,omitempty"`
}

// Way is all that is different by one change; none if nothing explains it.
type Way struct {
	Change   *releasediff.Change `json:"change,omitempty"`
	Clusters int                 `json:"clusters"`
	Kinds    []*Difference       `json:"kinds"`
}

// Difference is one kind of what a change makes different, with the smallest
// cluster found.
type Difference struct {
	Kind      string `json:"kind"`
	Clusters  int    `json:"clusters"`
	Reproduce string `json:"reproduce"`
	FromDoes  string `json:"fromDoes"`
	ToDoes    string `json:"toDoes"`
	// Besides are further changes that it takes on the cluster.
	Besides []string      `json:"besides,omitempty"`
	Size    minimize.Size `json:"size"`
	// NotMinimal says why the cluster may not be the smallest.
	NotMinimal string `json:"notMinimal,omitempty"`
	// Cluster is a line for each object, Case all of it.
	Cluster string `json:"cluster"`
	Case    string `json:"case"`
	Saved   string `json:"saved,omitempty"`

	shown *releasediff.Comparison
}

// compare is negative if the cluster of d is the smaller one.
func (d *Difference) compare(other *Difference) int {
	return cmp.Or(
		cmp.Compare(min(1, len(d.NotMinimal)), min(1, len(other.NotMinimal))),
		cmp.Compare(len(d.Besides), len(other.Besides)),
		cmp.Compare(d.Size.Objects(), other.Size.Objects()),
		cmp.Compare(len(d.Cluster), len(other.Cluster)))
}

// Differs tells whether anything is different.
func (r *Report) Differs() bool {
	return slices.ContainsFunc(r.Comparisons, func(c *Pair) bool {
		return len(c.Ways) > 0 || c.Timelines != nil && c.Timelines.Different > 0
	})
}

// IsIncomplete tells whether something that should be compared was not: any case that
// was given, all clusters that were generated, or a timeline that both releases run.
func (r *Report) IsIncomplete() bool {
	return slices.ContainsFunc(r.Comparisons, func(c *Pair) bool {
		t := c.Timelines
		if t != nil && (len(t.Why) > 0 || !r.Generated && t.Compared < t.Timelines) {
			return true
		}
		return !r.Generated && c.done() < c.Clusters || c.done() == 0 && !c.onlyTimelines() || c.Verdicts[releasediff.Failed] > 0
	})
}

// onlyTimelines tells whether nothing but timelines was to be compared.
func (c *Pair) onlyTimelines() bool {
	return c.Clusters == 0 && c.Timelines != nil && c.Timelines.Timelines > 0
}

// done is how many clusters were compared in the end.
func (c *Pair) done() uint64 {
	return c.Verdicts[releasediff.Same] + c.Verdicts[releasediff.Different] + c.Verdicts[releasediff.Unexplained]
}

func (c *Pair) differ() uint64 {
	return c.Verdicts[releasediff.Different] + c.Verdicts[releasediff.Unexplained]
}

func (w *Way) title() string {
	if w.Change == nil {
		return "NOT EXPLAINED"
	}
	return w.Change.Title
}
