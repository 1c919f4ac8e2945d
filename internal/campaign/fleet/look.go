package fleet

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/preemptcheck/preemptcheck/internal/campaign/record"
	"github.com/preemptcheck/preemptcheck/internal/table"
	"github.com/preemptcheck/preemptcheck/internal/words"
)

// Status is a look at a fleet, also while it works.
type Status struct {
	Address string `json:"address"`
	Plan    Plan   `json:"plan"`
	// Clusters is how many have a result, PerSecond how many get one per second from those that are at work, and CPUSeconds what
	// all took.
	Clusters   int     `json:"clusters"`
	PerSecond  float64 `json:"perSecond"`
	CPUSeconds float64 `json:"cpuSeconds"`
	// Working, Silent and Ended count the workers. Those that are silent may be lost: others take over what they have claimed.
	Working int `json:"working"`
	Silent  int `json:"silent"`
	Ended   int `json:"ended"`
	// TakenOver and Lost count blocks, as in Worker.
	TakenOver int `json:"takenOver"`
	Lost      int `json:"lost"`
	// Suspicions are what workers came upon, the most frequent first. Several may have one cause.
	Suspicions []Suspected `json:"suspicions"`
	// Workers are all of them, by index.
	Workers []Seen `json:"workers"`
}

// Suspected is a suspicion, and which cluster shows it first.
type Suspected struct {
	Kind string `json:"kind"`
	Suspicion
}

// Seen is a worker, and how long ago it said something by the clock of the store, in seconds.
type Seen struct {
	Worker
	State string  `json:"state"` // working, silent, ended or failed
	Ago   float64 `json:"agoSeconds"`
}

// Look looks at the fleet of a bucket.
func Look(ctx context.Context, s Bucket, silence time.Duration) (*Status, error) {
	plan, err := Load(ctx, s)
	if err != nil {
		return nil, err
	}
	now, err := clock(ctx, s)
	if err != nil {
		return nil, err
	}
	all, err := readAll(ctx, s, "")
	if err != nil {
		return nil, err
	}
	st := &Status{Address: s.Name(), Plan: *plan, Suspicions: []Suspected{}}
	suspected := map[string]*Suspicion{}
	for _, w := range all {
		seen := Seen{w.Worker, "working", now.Sub(w.Last).Seconds()}
		switch {
		case w.Why != "":
			seen.State = "failed"
			st.Ended++
		case w.Ended:
			seen.State = "ended"
			st.Ended++
		case now.Sub(w.Last) > silence:
			seen.State = "silent"
			st.Silent++
		default:
			st.Working++
			if w.Seconds > 0 {
				st.PerSecond += float64(w.Clusters) / w.Seconds
			}
		}
		st.Clusters += w.Clusters
		st.CPUSeconds += w.CPUSeconds
		st.TakenOver += w.TakenOver
		st.Lost += w.Lost
		for kind, more := range w.Suspicions {
			if s := suspected[kind]; s == nil {
				suspected[kind] = more
			} else {
				if more.First < s.First {
					s.First, s.Detail = more.First, more.Detail
				}
				s.Count += more.Count
			}
		}
		st.Workers = append(st.Workers, seen)
	}
	for _, kind := range slices.Sorted(maps.Keys(suspected)) {
		st.Suspicions = append(st.Suspicions, Suspected{kind, *suspected[kind]})
	}
	slices.SortStableFunc(st.Suspicions, func(a, b Suspected) int { return cmp.Compare(b.Count, a.Count) })
	slices.SortStableFunc(st.Workers, func(a, b Seen) int {
		return cmp.Or(cmp.Compare(len(a.Index), len(b.Index)), cmp.Compare(a.Index, b.Index), a.Started.Compare(b.Started))
	})
	return st, nil
}

// Public is the status for those who read public logs: of what goes to the Kubernetes security contact first it tells only
// that there is something.
func (s *Status) Public() *Status {
	public := *s
	public.Suspicions = slices.Clone(s.Suspicions)
	for i, x := range public.Suspicions {
		if x.ToContact {
			public.Suspicions[i] = Suspected{Kind: record.KeptBack, Suspicion: Suspicion{Count: x.Count, Detail: record.KeptBack, ToContact: true}}
		}
	}
	public.Workers = slices.Clone(s.Workers)
	for i := range public.Workers {
		public.Workers[i].Suspicions = nil
		if public.Workers[i].Why != "" {
			public.Workers[i].Why = "see its own log"
		}
	}
	return &public
}

// shownSuspicions is how many suspicions are told, the most frequent first.
const shownSuspicions = 10

// WriteText prints the status.
func (s *Status) WriteText(w io.Writer) {
	of := ""
	if s.Plan.Cases > 0 {
		of = fmt.Sprintf(" of %d", s.Plan.Cases)
	}
	fmt.Fprintf(w, "%s: seed %d, %d%s clusters", s.Address, s.Plan.Config.Seed, s.Clusters, of)
	if s.Working > 0 {
		fmt.Fprintf(w, ", %.0f per second", s.PerSecond)
	}
	fmt.Fprintf(w, ".\n%s at work, %d silent, %d ended", words.Plural(s.Working, "worker"), s.Silent, s.Ended)
	if s.TakenOver > 0 {
		fmt.Fprintf(w, "; %s taken over", words.Plural(s.TakenOver, "block"))
	}
	fmt.Fprint(w, ".\n")
	if len(s.Suspicions) > 0 {
		fmt.Fprintln(w, "\nNot explained by known findings, not minimised yet:")
	}
	for i, x := range s.Suspicions {
		if i == shownSuspicions {
			fmt.Fprintf(w, "  … and %d more, see -o json\n", len(s.Suspicions)-i)
			break
		}
		text := fmt.Sprintf("%s: %s", x.Detail, words.Plural(x.Count, "cluster"))
		if x.Detail != record.KeptBack {
			text += fmt.Sprintf(", the first number %d", x.First)
		}
		words.WriteWrapped(w, "  ", text)
	}
	t := table.New("", "WORKER", "STATE", "CLUSTERS", "BLOCKS", "TAKEN OVER", "HEARD OF", "WHY")
	rows := 0
	for _, x := range s.Workers {
		if x.State != "silent" && x.State != "failed" {
			continue
		}
		rows++
		t.Row(strings.TrimPrefix(x.Index+" "+x.Host, " "), x.State, fmt.Sprint(x.Clusters), fmt.Sprint(x.Blocks), fmt.Sprint(x.TakenOver), fmt.Sprintf("%.0f s ago", x.Ago), words.FirstLine(x.Why))
	}
	if rows > 0 {
		fmt.Fprintln(w)
		t.WriteText(w)
	}
}

// IndexesDone counts the indexes of which a worker has ended by itself.
func (s *Status) IndexesDone() int {
	done := map[string]bool{}
	for _, w := range s.Workers {
		if w.State == "ended" {
			done[w.Index] = true
		}
	}
	return len(done)
}
