package record

import "fmt"

// Shard is one of several parts into which the clusters of a seed are divided.
// The zero value is all of them.
type Shard struct {
	Index int `json:"index"` // from 1
	Of    int `json:"of"`
}

// ParseShard reads "2/4"; "" is all.
func ParseShard(text string) (Shard, error) {
	if text == "" {
		return Shard{1, 1}, nil
	}
	var s Shard
	var rest string
	if n, _ := fmt.Sscanf(text, "%d/%d%s", &s.Index, &s.Of, &rest); n != 2 || s.Index < 1 || s.Index > s.Of {
		return Shard{}, fmt.Errorf("%q is no shard: write 2/4 for the second of four", text)
	}
	return s, nil
}

func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.Index, s.Of) }

// BlockSize is how many clusters are checked at once: a fraction of a second.
const BlockSize = 64

// CanaryEvery is how many blocks there are to a lie of the canary: one in 1,024 clusters.
const CanaryEvery = 1024 / BlockSize

// Number is the number within the seed of cluster n of the shard. Shards take
// blocks in turn, so those of one division have none in common, and together
// have all.
func (s Shard) Number(n uint64) uint64 {
	block, of := n/BlockSize, uint64(max(s.Of, 1))
	return (block*of+uint64(max(s.Index, 1)-1))*BlockSize + n%BlockSize
}
