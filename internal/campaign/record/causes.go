package record

import (
	"fmt"
	"math/bits"
	"path/filepath"
	"strings"

	"github.com/preemptcheck/preemptcheck/corpus"
)

// Kind is what counts the suspects of a kind.
func (f *Causes) Kind(name string) *Kind { return entry(&f.Kinds, name) }

// Repeated is what counts the suspects with a fingerprint.
func (f *Causes) Repeated(cause string) *Repeats { return entry(&f.Repeats, cause) }

// entry is what a map has for a key: it is added if there is none.
func entry[T any](of *map[string]*T, key string) *T {
	if *of == nil {
		*of = map[string]*T{}
	}
	if (*of)[key] == nil {
		(*of)[key] = new(T)
	}
	return (*of)[key]
}

// IsWorthALook tells whether to minimise one more suspect of the kind: the first,
// the 4th, the 16th and so on, as two causes may look alike at first.
func (k *Kind) IsWorthALook() bool {
	n := uint(k.Count + 1)
	return bits.OnesCount(n) == 1 && bits.TrailingZeros(n)%2 == 0
}

// MaxRepeats is how many suspects with one fingerprint are minimised without
// finding anything new before only some are.
const MaxRepeats = 10

// IsWorthALook tells whether to minimise one more suspect with the fingerprint.
func (b *Repeats) IsWorthALook() bool {
	if b.Looks < MaxRepeats {
		return true
	}
	b.Passed++
	return bits.OnesCount(uint(b.Passed)) == 1
}

// IsSame tells whether two findings are one: what shows in clusters and what shows in
// timelines are counted apart.
func (f *Finding) IsSame(other *Finding) bool {
	return f.Identity == other.Identity && f.Timeline == other.Timeline
}

// SaveCases writes the cases that are not in files yet.
func SaveCases(dir string, findings []*Finding) error {
	for _, f := range findings {
		if f.File != "" {
			continue
		}
		s, err := corpus.Read(strings.NewReader(f.Case), f.Identity.Name())
		if err != nil {
			return fmt.Errorf("a case in %s cannot be read: %w", StateFile, err)
		}
		path, err := corpus.Save(dir, s.Cases[0])
		if err != nil {
			return err
		}
		f.File = filepath.Base(path)
	}
	return nil
}
