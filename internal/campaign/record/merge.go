package record

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Merge unites campaigns, each of which load finds by its name, in a new directory. They must have checked different
// clusters, with the same program. A finding of several of them becomes one, with
// the case of the first.
func Merge(into string, names []string, load func(name string) (*State, error)) (*State, error) {
	if len(names) == 0 {
		return nil, errors.New("which campaigns?")
	}
	if _, err := os.Stat(into); !errors.Is(err, fs.ErrNotExist) {
		if err == nil {
			err = fmt.Errorf("%s is there already", into)
		}
		return nil, err
	}
	all := &State{Causes: Causes{Findings: []*Finding{}}}
	for _, name := range names {
		s, err := load(name)
		if err != nil {
			return nil, err
		}
		if err := all.add(name, s); err != nil {
			return nil, err
		}
	}
	// The directory gets its name when it is complete.
	parent := filepath.Dir(filepath.Clean(into))
	if err := os.MkdirAll(parent, 0o777); err != nil {
		return nil, err
	}
	temp, err := os.MkdirTemp(parent, ".merging-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temp)
	if err := errors.Join(os.Chmod(temp, 0o755), SaveCases(temp, all.Findings), all.Save(temp)); err != nil {
		return nil, err
	}
	return all, os.Rename(temp, into)
}

// add unites what was done in dir with s.
func (s *State) add(dir string, other *State) error {
	parts := other.Parts
	if len(parts) == 0 {
		parts = []Part{{Dir: dir, Seed: other.Config.Seed, Shard: other.Config.Shard, Next: other.Next, Clusters: other.Stats.Clusters}}
	}
	for _, p := range parts {
		for _, q := range s.Parts {
			if p.overlaps(q) {
				return fmt.Errorf("%s and %s checked some of the same clusters: %s and %s", q.Dir, p.Dir, q, p)
			}
		}
	}
	// A merged campaign has no seed or shard of its own.
	config := other.Config
	config.Seed, config.Shard = 0, Shard{}
	if len(s.Parts) > 0 && !s.Config.Same(config) {
		return fmt.Errorf("%s and %s were not checked by the same program:\nthere: %+v\nhere:  %+v", s.Parts[0].Dir, dir, s.Config, config)
	}
	s.Config = config
	s.Parts = append(s.Parts, parts...)
	s.Next += other.Next
	s.Stats.Merge(other.Stats)
	s.Errors += other.Errors
	s.Deaths += other.Deaths
	s.Sessions = append(s.Sessions, other.Sessions...)
	s.Causes.add(other.Causes)
	s.Canary.Lies += other.Canary.Lies
	s.Canary.Caught += other.Canary.Caught
	s.Canary.Causes.add(other.Canary.Causes)
	s.Canary.Lives.Add(other.Canary.Lives)
	return nil
}

func (p Part) String() string { return fmt.Sprintf("seed %d, shard %s", p.Seed, p.Shard) }

// overlaps tells whether two parts have blocks in common.
func (p Part) overlaps(q Part) bool {
	if p.Seed != q.Seed {
		return false
	}
	end := min(p.end(), q.end())
	block := uint64(p.Shard.Index - 1)
	for range q.Shard.Of { // then it repeats
		if block < end && block%uint64(q.Shard.Of) == uint64(q.Shard.Index-1) {
			return true
		}
		block += uint64(p.Shard.Of)
	}
	return false
}

// end is the first block of the seed that the part did not get to.
func (p Part) end() uint64 {
	if p.Next == 0 {
		return 0
	}
	return p.Shard.Number(p.Next-1)/BlockSize + 1
}

// add unites what was found elsewhere with f, so far as a campaign needs it that
// does not go on.
func (f *Causes) add(other Causes) {
	for _, more := range other.Findings {
		i := slices.IndexFunc(f.Findings, more.IsSame)
		if i >= 0 {
			f.Findings[i].Count += more.Count
			continue
		}
		more.File = "" // it is saved again
		f.Findings = append(f.Findings, more)
	}
	for name, more := range other.Kinds {
		k := entry(&f.Kinds, name)
		k.Count += more.Count
		k.Minimised += more.Minimised
	}
}
