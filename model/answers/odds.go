package answers

import (
	"math/big"
	"slices"
)

// Likelihood says how likely it is that one of several nodes is picked. Nodes are
// equally good, by name: which of those that are on the shortlist is taken, nobody
// promises. Probability is exact.
type Likelihood struct {
	Nodes       []string
	Probability *big.Rat
}

// Odds say how likely each pick is where not all candidates are compared, the most
// likely first. Together they are 1, and their nodes are those of Choices.
//
// The search for candidates starts at a node that is drawn
// (default_preemption.go:265@v1.37.1, GetOffsetAndNumCandidates), and goes on in an
// order that nobody promises. Each order of the nodes is taken as equally likely. The
// nodes are tried one after another.
//
// There are none if something else decides that has no probability; why says what.
func (s *Set) Odds() (odds []Likelihood, why string) {
	if len(s.worlds) == 0 || s.NumCandidates == 0 {
		return nil, ""
	}
	if s.Cycle.ExtendersPreempt() {
		return nil, "extenders may change the candidates"
	}
	ranked, why := s.ranked()
	if len(ranked) == 0 {
		return nil, why
	}
	n, clean := len(ranked), 0
	for i, c := range ranked {
		switch {
		case c.mayViolate():
		case clean < i:
			return nil, "violations do not count most"
		default:
			clean++
		}
	}
	want := min(s.NumCandidates, n)
	// The first so many candidates are a random part of all. If none of them is without
	// violations, although some candidate is, the first such one that comes is picked.
	all := new(big.Int).Binomial(int64(n), int64(want))
	nothingClean := new(big.Int).Binomial(int64(n-clean), int64(want))
	without := new(big.Int).Set(all) // parts without the candidates before i
	last := n
	if clean > 0 {
		last = clean
	}
	for i := 0; i < last; {
		l := Likelihood{Probability: new(big.Rat)}
		hit := new(big.Int).Set(without)
		for first := ranked[i]; i < last && s.tie(first, ranked[i]); i++ {
			l.Nodes = append(l.Nodes, ranked[i].node)
			fewer(without, n-i, want)
		}
		slices.Sort(l.Nodes)
		l.Probability.SetFrac(hit.Sub(hit, without), all)
		if clean > 0 {
			late := new(big.Rat).SetFrac(new(big.Int).Mul(nothingClean, big.NewInt(int64(len(l.Nodes)))), new(big.Int).Mul(all, big.NewInt(int64(clean))))
			l.Probability.Add(l.Probability, late)
		}
		if l.Probability.Sign() > 0 {
			odds = append(odds, l)
		}
	}
	slices.SortStableFunc(odds, func(a, b Likelihood) int { return b.Probability.Cmp(a.Probability) })
	return odds, ""
}

// fewer turns the number of ways to take k of m into that of m-1.
func fewer(ways *big.Int, m, k int) {
	ways.Mul(ways, big.NewInt(int64(m-k)))
	ways.Quo(ways, big.NewInt(int64(m)))
}

// ranked are the candidates, best first. There are none if the order of budgets, or
// of equally important pods, decides how good one is.
func (s *Set) ranked() (ranked []*candidate, why string) {
	if exact, why := s.Exact(); !exact {
		return nil, why
	}
	for i, w := range s.allWorlds() {
		candidates := s.candidatesIn(w)
		if i == 0 {
			ranked = candidates
		}
		for j, c := range candidates {
			if len(candidates) != len(ranked) || ranked[j].node != c.node {
				return nil, "which nodes are candidates depends on the order of budgets"
			}
			like := ranked[j].ways[0]
			if slices.ContainsFunc(c.ways, func(w way) bool {
				differs, _ := s.Cycle.Compare(like.after, w.after)
				return differs != 0 || like.violates() != w.violates()
			}) {
				return nil, "how good node " + c.node + " is depends on the order of budgets, or of equally important pods"
			}
		}
	}
	slices.SortStableFunc(ranked, func(a, b *candidate) int {
		c, _ := s.Cycle.Compare(a.ways[0].after, b.ways[0].after)
		return c
	})
	return ranked, ""
}
