package generators

import (
	"math/rand/v2"

	"pgregory.net/rapid"
)

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

type byteSource struct{ left []byte }

func (s *byteSource) next() int {
	if len(s.left) == 0 {
		return 0
	}
	b := s.left[0]
	s.left = s.left[1:]
	return int(b)
}

func (s *byteSource) intn(n int) int          { return s.next() % n }
func (s *byteSource) chance(percent int) bool { return s.next()*100 >= (100-percent)<<8 }

// Most clusters have few features, at fixed chances, so that what is common in
// practice is common here. Of 25 features each on in one cluster of ten, two
// meet in one of a hundred, and then the rest is off. A share of the clusters is
// therefore drawn as in swarm testing: for each feature a chance of its own,
// from never to nearly always, and for all that is drawn after them odds that are far
// from the usual.

// flags draws whether features are on.
type flags struct {
	source
	wild bool
}

// chance is the usual one, or in a wild cluster any.
func (f flags) chance(percent int) bool {
	if !f.wild {
		return f.source.chance(percent)
	}
	return f.source.chance(pick(f.source, 0, 10, 50, 90, 25))
}

// skewed makes rare things common, or common things rarer.
type skewed struct {
	source
	times, over int
}

func (s skewed) chance(percent int) bool {
	if percent <= 0 || percent >= 100 {
		return s.source.chance(percent)
	}
	return s.source.chance(min(max(percent*s.times/s.over, 1), 97))
}

// skew gives a wild cluster its odds.
func skew(s source) source {
	switch weighted(s, 50, 20, 30) {
	case 1:
		return skewed{s, 5, 2}
	case 2:
		return skewed{s, 2, 5}
	default:
		return s
	}
}
