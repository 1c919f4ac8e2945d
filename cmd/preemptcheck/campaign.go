package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/corpus/fingerprint"
	"github.com/preemptcheck/preemptcheck/corpus/minimize"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/properties"
)

// campaign checks the generated clusters of a seed one after the other.
type campaign struct {
	checker *properties.Checker
	seed    uint64
	dir     string
	summary summary
	// minimised counts, by property and stage, how many findings were minimised
	// to see if they are new.
	minimised map[string]int
}

// maxMinimised bounds the effort for the findings of one property and stage: after
// so many, the likes of them are only counted.
const maxMinimised = 200

// run checks the first count clusters, or all until the context is done if count
// is 0. An error means that a finding could not be saved.
func (c *campaign) run(ctx context.Context, count uint64, progress *progress) error {
	start, cpu := time.Now(), cpuTime()
	stats := &c.summary.Stats
	defer func() {
		progress.finish()
		c.summary.Seconds, c.summary.CPUSeconds = time.Since(start).Seconds(), (cpuTime() - cpu).Seconds()
	}()
	for n := uint64(0); (count == 0 || n < count) && ctx.Err() == nil; n++ {
		cluster := generated(c.seed, n)
		r, err := checkCluster(ctx, c.checker, cluster)
		if err != nil && ctx.Err() != nil {
			break
		}
		if r != nil {
			stats.Add(r)
		} else {
			c.summary.Errors++
		}
		if all := suspects(r, err); len(all) > 0 {
			if err := c.save(cluster, n, &all[0]); err != nil {
				return err
			}
		}
		progress.show(stats, time.Since(start), len(c.summary.New))
	}
	return nil
}

// suspects are what deserves a look in the result of a check: the findings that
// are not known, or that the check itself failed.
func suspects(r *properties.Result, err error) []properties.Finding {
	if err != nil {
		return []properties.Finding{{Property: failed, Detail: err.Error()}}
	}
	return r.Unexplained()
}

// maxMinimising bounds the time for one finding. Most take less than a second.
const maxMinimising = time.Minute

// save minimises the cluster and writes it as a case, unless its like was saved.
func (c *campaign) save(cluster *model.Cluster, n uint64, suspect *properties.Finding) error {
	kind := suspect.Property + " " + string(suspect.Stage)
	if c.minimised == nil {
		c.minimised = map[string]int{}
	}
	if c.minimised[kind]++; c.minimised[kind] > maxMinimised {
		return nil
	}
	// Minimising goes on when the campaign's time is up: it is short, and what
	// was found is worth it.
	ctx, cancel := context.WithTimeout(context.Background(), maxMinimising)
	defer cancel()
	thorough := *c.checker // which relations a campaign looks at depends on the cluster
	thorough.Relations = len(properties.Relations())
	switch small, err := minimize.Minimise(ctx, &thorough, cluster, fingerprint.OfFinding(suspect)); {
	case err == nil:
		cluster, suspect = small.Cluster, &small.Finding
	case errors.Is(err, minimize.ErrNotFound), ctx.Err() != nil: // saved as it is
	default:
		return fmt.Errorf("minimising %s, which is %q: %w", kind, generateLine(c.seed, n), err)
	}
	shape := strings.Join(fingerprint.Shape(cluster), ", ")
	for i := range c.summary.New {
		if f := &c.summary.New[i]; f.Property == suspect.Property && f.Stage == suspect.Stage && f.Shape == shape {
			f.Count++
			return nil
		}
	}
	path, err := corpus.Save(c.dir, &corpus.Case{
		Name:        slug(suspect.Property, string(suspect.Stage)),
		Description: firstLine(suspect.String()),
		Origin:      fmt.Sprintf("preemptcheck fuzz --seed %d, cluster %d; before minimising: %s", c.seed, n, generateLine(c.seed, n)),
		Cluster:     cluster,
	})
	if err != nil {
		return fmt.Errorf("saving %s, which is %q: %w", kind, generateLine(c.seed, n), err)
	}
	c.summary.New = append(c.summary.New, newFinding{
		Property: suspect.Property, Stage: suspect.Stage, Shape: shape, Count: 1,
		Detail: firstLine(suspect.String()), File: path, Reproduce: "preemptcheck check " + path,
	})
	return nil
}

// slug makes a name of words.
func slug(words ...string) string {
	var parts []string
	for _, w := range words {
		if w != "" {
			parts = append(parts, strings.ReplaceAll(w, " ", "-"))
		}
	}
	return cmp.Or(strings.Join(parts, "-"), "finding")
}

// firstLine leaves out the stack of a panic.
func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return strings.TrimSpace(line)
}
