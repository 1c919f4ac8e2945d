package generators

import "github.com/preemptcheck/preemptcheck/model"

// FromBytes returns the cluster that the bytes spell, one for each choice, for
// fuzzers that change bytes and see what comes of it. All bytes spell a cluster:
// where they end, the rest is as plain as can be.
func FromBytes(data []byte) *model.Cluster {
	return generate(&byteSource{data})
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
