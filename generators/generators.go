// Package generators makes clusters for the scheduler and the model to disagree
// about: small, valid, and leaning to where decisions about preemption are hard.
// Nodes are just full, and often near twins of one another, so that the choice
// between them is close.
//
// Every cluster first draws the few features that it has, and then uses them
// much, so that rare features meet each other.
//
// The objects are as the API server would store them: admitting them again
// changes nothing.
package generators

import (
	"math/rand/v2"

	"pgregory.net/rapid"

	"github.com/preemptcheck/preemptcheck/model"
)

// Cluster generates clusters. They shrink to fewer nodes, fewer pods and plainer
// features.
func Cluster() *rapid.Generator[*model.Cluster] {
	return rapid.Custom(func(t *rapid.T) *model.Cluster {
		return generate(rapidSource{t})
	})
}

// FromSeed returns the cluster of that number: the same on every machine, and
// much cheaper than drawing from Cluster.
func FromSeed(seed uint64) *model.Cluster {
	return generate(randomSource{rand.New(rand.NewPCG(seed, 0x9E3779B97F4A7C15))})
}

// source is what a generator draws its choices from. The plainest choice is
// always 0 or false.
type source interface {
	// intn returns one of 0 … n-1, about equally likely.
	intn(n int) int
	// chance is true in the given percentage of cases.
	chance(percent int) bool
}

type randomSource struct{ *rand.Rand }

func (s randomSource) intn(n int) int          { return s.IntN(n) }
func (s randomSource) chance(percent int) bool { return s.IntN(100) < percent }

// rapidSource draws from rapid, which records the draws to shrink them.
type rapidSource struct{ t *rapid.T }

var (
	coin = rapid.Bool()
	dice = func() (d [33]*rapid.Generator[int]) {
		for n := 1; n < len(d); n++ {
			d[n] = rapid.IntRange(0, n-1)
		}
		return d
	}()
)

func (s rapidSource) intn(n int) int { return dice[n].Draw(s.t, "") }

// chance compares a number made of fair coins. (All numbers that rapid itself
// draws are biased to small ones, which would nearly switch rare features off.)
// It always takes as many, so that shrinking one leaves later draws in place.
func (s rapidSource) chance(percent int) bool {
	const coins = 7
	drawn := 0
	for range coins {
		drawn *= 2
		if coin.Draw(s.t, "") {
			drawn++
		}
	}
	return drawn*100 >= (100-percent)<<coins
}

// pick returns one of the values, the first being the plainest.
func pick[T any](s source, values ...T) T {
	return values[s.intn(len(values))]
}

// weighted returns an index of weights, drawn in proportion to them.
func weighted(s source, weights ...int) int {
	total := 0
	for _, w := range weights {
		total += w
	}
	for i, w := range weights[:len(weights)-1] {
		if !s.chance(100 - 100*w/total) {
			return i
		}
		total -= w
	}
	return len(weights) - 1
}
