// Package draw is what generated clusters draw their choices from: a seed, rapid, or
// bytes.
package draw

import (
	"math/rand/v2"

	"pgregory.net/rapid"
)

// Source is what a generator draws its choices from. The plainest choice is
// always 0 or false.
type Source interface {
	// Intn returns one of 0 … n-1, about equally likely.
	Intn(n int) int
	// Chance is true in the given percentage of cases.
	Chance(percent int) bool
}

// FromSeed draws at random: the same from the same seed on every machine.
func FromSeed(seed uint64) Source {
	return randomSource{rand.New(rand.NewPCG(seed, 0x9E3779B97F4A7C15)), seed}
}

type randomSource struct {
	*rand.Rand
	seed uint64
}

// Apart is a source for what was added later, and is drawn last: what is drawn of it does not change
// what comes of a seed elsewhere. Each number, from 0 to 7, is a source of its own. Sources other than
// those of a seed are returned as they are: there it is enough to draw last.
func Apart(s Source, number int) Source {
	if s, random := s.(randomSource); random {
		return randomSource{rand.New(rand.NewPCG(s.seed, streams[number])), s.seed}
	}
	return s
}

var streams = [...]uint64{0x6A09E667F3BCC909, 0xBB67AE8584CAA73B, 0x3C6EF372FE94F82B, 0xA54FF53A5F1D36F1, 0x510E527FADE682D1, 0x9B05688C2B3E6C1F, 0x1F83D9ABFB41BD6B, 0x5BE0CD19137E2179}

func (s randomSource) Intn(n int) int          { return s.IntN(n) }
func (s randomSource) Chance(percent int) bool { return s.IntN(100) < percent }

// FromRapid draws from rapid, which records the draws to shrink them.
func FromRapid(t *rapid.T) Source { return rapidSource{t} }

type rapidSource struct{ t *rapid.T }

// MaxIntn is up to which n a Source has to draw one of 0 … n-1.
const MaxIntn = 32

var coin = rapid.Bool()

// number is made of fair coins. (All numbers that rapid itself draws are biased to small ones,
// which would nearly switch rare features off, and take more or fewer bits as they come: where
// one is gone, those after it have other values.)
func (s rapidSource) number(coins int) (drawn int) {
	for range coins {
		drawn *= 2
		if coin.Draw(s.t, "") {
			drawn++
		}
	}
	return drawn
}

func (s rapidSource) Intn(n int) int {
	const coins = 8
	return s.number(coins) * n >> coins
}

func (s rapidSource) Chance(percent int) bool {
	const coins = 7
	return s.number(coins)*100 >= (100-percent)<<coins
}

// Pick returns one of the values, the first being the plainest.
func Pick[T any](s Source, values ...T) T {
	return values[s.Intn(len(values))]
}

// Weighted returns an index of weights, drawn in proportion to them.
func Weighted(s Source, weights ...int) int {
	total := 0
	for _, w := range weights {
		total += w
	}
	for i, w := range weights[:len(weights)-1] {
		if !s.Chance(100 - 100*w/total) {
			return i
		}
		total -= w
	}
	return len(weights) - 1
}

// FromBytes draws what the bytes spell. Where they end, the rest is as plain as can be.
func FromBytes(data []byte) Source { return &byteSource{data} }

type byteSource struct{ left []byte }

func (s *byteSource) next() int {
	if len(s.left) == 0 {
		return 0
	}
	b := s.left[0]
	s.left = s.left[1:]
	return int(b)
}

func (s *byteSource) Intn(n int) int          { return s.next() % n }
func (s *byteSource) Chance(percent int) bool { return s.next()*100 >= (100-percent)<<8 }

// Most clusters have few features, at fixed chances, so that what is common in
// practice is common here. Of 25 features each on in one cluster of ten, two
// meet in one of a hundred, and then the rest is off. A share of the clusters is
// therefore drawn as in swarm testing: for each feature a chance of its own,
// from never to nearly always, and for all that is drawn after them odds that are far
// from the usual.

// Swarm draws whether features are on.
type Swarm struct {
	Source
	// Wild: each feature has a chance of its own.
	Wild bool
}

// NewSwarm draws whether the features are wild.
func NewSwarm(s Source) Swarm { return Swarm{s, s.Chance(12)} }

// Chance is the usual one, or in a wild cluster any.
func (s Swarm) Chance(percent int) bool {
	if s.Wild {
		percent = Pick(s.Source, 0, 10, 50, 90, 25)
	}
	return s.Source.Chance(percent)
}

// skewed makes rare things common, or common things rarer.
type skewed struct {
	Source
	times, over int
}

func (s skewed) Chance(percent int) bool {
	if percent <= 0 || percent >= 100 {
		return s.Source.Chance(percent)
	}
	return s.Source.Chance(min(max(percent*s.times/s.over, 1), 97))
}

// Skewed gives a wild cluster its odds.
func Skewed(s Source) Source {
	switch Weighted(s, 50, 20, 30) {
	case 1:
		return skewed{s, 5, 2}
	case 2:
		return skewed{s, 2, 5}
	default:
		return s
	}
}
