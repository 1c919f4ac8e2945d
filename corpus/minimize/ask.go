package minimize

import (
	"cmp"
	"context"
	"iter"
	"strings"

	"github.com/preemptcheck/preemptcheck/corpus/fingerprint"
	"github.com/preemptcheck/preemptcheck/internal/words"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/properties/explanation"
)

// answer is what became of a cluster.
type answer struct {
	becomes string
	// finding is the one that is wanted, if it is kept.
	finding properties.Finding
	checks  int
}

// kept is what a cluster becomes that still has the finding.
const kept = ""

// Agrees is what becomes of a cluster on which nothing is found any more.
const Agrees = "agrees"

// gone is what becomes of a finding when there is no time to look for others.
const gone = "gone"

// inOrder asks about clusters, several at once, and hands the answers to use in
// the order of the clusters, until use says that it needs no more: so what comes
// of it does not depend on the number of workers. A cluster that is nil has no
// answer. When the time is up, use gets no more.
func inOrder[T any](m *minimiser, clusters iter.Seq2[T, func() *model.Cluster], ask func(context.Context, *model.Cluster) answer,
	use func(about T, c *model.Cluster, a answer) (more bool)) {
	type trial struct {
		about   T
		cluster *model.Cluster
		answer  answer
		done    chan struct{}
	}
	ctx, cancel := context.WithCancel(m.ctx)
	defer cancel()
	next, stop := iter.Pull2(clusters)
	defer stop()
	// While the first of them takes long, the other workers go ahead, but not far:
	// it may make the others void.
	ahead := 2*cap(m.slots) - 1
	var running []*trial
	for asked := false; !m.stopped(); {
		var slot chan<- struct{}
		if !asked && len(running) < ahead {
			slot = m.slots
		}
		var first chan struct{}
		if len(running) > 0 {
			first = running[0].done
			select {
			case <-first: // before anything else is begun
				slot = nil
			default:
			}
		} else if asked {
			return
		}
		select {
		case slot <- struct{}{}:
			about, cluster, ok := next()
			if !ok {
				<-m.slots
				asked = true
				continue
			}
			t := &trial{about: about, done: make(chan struct{})}
			running = append(running, t)
			m.trials.Go(func() {
				defer func() { <-m.slots }()
				defer close(t.done)
				if t.cluster = cluster(); t.cluster != nil && ctx.Err() == nil {
					t.answer = ask(ctx, t.cluster)
				}
			})
		case <-first:
			t := running[0]
			running = running[1:]
			if t.cluster == nil || m.stopped() {
				continue
			}
			m.result.Checks += t.answer.checks
			more := use(t.about, t.cluster, t.answer)
			if m.options.Progress != nil {
				m.options.Progress(Progress{m.c, m.result.Checks, m.searching})
			}
			if !more {
				return
			}
		}
	}
}

// again is how often a cluster is checked on which the scheduler throws a dice.
const again = 5

// ask says what becomes of the property in question.
func (m *minimiser) ask(ctx context.Context, c *model.Cluster) (a answer) {
	for range again {
		r, err := m.narrow.Check(ctx, c)
		a.checks++
		if a.becomes, a.finding = m.judge(r, err); a.becomes != kept {
			return a
		}
		if err != nil || !explanation.IsLeftToChance(r) {
			break
		}
	}
	return a
}

// isLessPlain corrects an answer that keeps the finding, but in a form that is
// less plain than the one reached: forms only become plainer.
func (m *minimiser) isLessPlain(a *answer) {
	if reached, now := fingerprint.OfFinding(&m.result.Finding), fingerprint.OfFinding(&a.finding); a.becomes == kept && m.want.Kind != "" && !reached.Covers(now) {
		a.becomes = now.String()
	}
}

// everything says what the whole checker finds.
func (m *minimiser) everything(ctx context.Context, c *model.Cluster) answer {
	becomes, finding := m.judge(m.full.Check(ctx, c))
	return answer{cmp.Or(becomes, m.want.String()), finding, 1}
}

func (m *minimiser) judge(r *properties.Result, err error) (becomes string, finding properties.Finding) {
	if err != nil {
		f := properties.Finding{Property: fingerprint.Failed, Detail: err.Error()}
		if m.want.Covers(fingerprint.OfFinding(&f)) {
			return kept, f
		}
		return "error: " + words.FirstLine(err.Error()), f // without the stack of a panic
	}
	for _, f := range r.Findings {
		if m.want.Covers(fingerprint.OfFinding(&f)) {
			return kept, f
		}
	}
	if r.Unmodelled != nil && len(r.Findings) == 0 {
		return "not modelled", finding
	}
	if len(r.Findings) == 0 && r.Undecided != "" {
		return "undecided", finding
	}
	var others []string
	for _, f := range fingerprint.Of(r) {
		others = append(others, f.String())
	}
	return cmp.Or(strings.Join(others, ", "), Agrees), finding
}
