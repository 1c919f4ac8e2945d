package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/preemptcheck/preemptcheck/internal/table"
)

// timelines is where the witnesses are, below the directory of this module.
const timelines = "corpus/timelines"

// runWitnesses shows that the witnesses pass without their mutants, and fail with them.
func runWitnesses(ctx context.Context, out, log io.Writer, mutants []Mutant) error {
	_, r, err := newRunner(ctx, log)
	if err != nil {
		return err
	}
	if err := r.build(ctx); err != nil {
		return err
	}
	var errs []error
	for _, m := range mutants {
		for _, w := range m.Witnesses {
			passed, text, err := r.check(ctx, w)
			if err != nil {
				return err
			}
			if !passed {
				errs = append(errs, fmt.Errorf("without a mutant %s fails: %s", w, text))
			}
		}
	}
	os.Remove(r.binary)
	t := table.New("", "TIMELINE", "FAILS WITH", "AS")
	for _, m := range mutants {
		if err := r.witnesses(ctx, &m, func(name string, passed bool, text string) {
			if passed {
				errs = append(errs, fmt.Errorf("%s passes with %s", name, m.Name))
				return
			}
			fmt.Fprintf(log, "%s fails with %s: %s\n", name, m.Name, text)
			t.Row(name, m.Name, text)
		}); err != nil {
			return fmt.Errorf("%s: %w", m.Name, err)
		}
	}
	t.WriteText(out)
	return errors.Join(errs...)
}

// witnesses checks the witnesses of a mutant with it.
func (r *runner) witnesses(ctx context.Context, m *Mutant, each func(name string, passed bool, text string)) (err error) {
	defer func() { err = errors.Join(err, r.write(m, false)) }()
	if err := r.write(m, true); err != nil {
		return err
	}
	if err := r.build(ctx); err != nil {
		return err
	}
	defer os.Remove(r.binary) // nobody asks for it again
	for _, w := range m.Witnesses {
		passed, text, err := r.check(ctx, w)
		if err != nil {
			return err
		}
		each(w, passed, text)
	}
	return nil
}

// check tells whether a timeline passes, else the first thing that is said against it.
func (r *runner) check(ctx context.Context, name string) (passed bool, text string, err error) {
	cmd := exec.CommandContext(ctx, r.binary, "check", filepath.Join(timelines, name+".yaml"))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return false, "", ctx.Err()
	}
	return verdict(string(out), name, fmt.Errorf("%w: %s", err, stderr.Bytes()))
}

// verdict reads what "preemptcheck check" prints of one timeline. Where that is no verdict, it
// returns failed.
func verdict(out, name string, failed error) (passed bool, text string, err error) {
	switch {
	case strings.Contains(out, "\n1 passed, 0 failed\n"), strings.Contains(out, "\n1 passed (1 with known findings"):
		return true, "", nil
	case !strings.Contains(out, "\n0 passed, 1 failed\n"):
		return false, "", fmt.Errorf("checking %s gave no verdict: %w", name, failed)
	}
	_, text, _ = strings.Cut(out, "\n"+name+": ")
	_, text, _ = strings.Cut(text, "\n")
	text, _, _ = strings.Cut(text, "\n")
	return false, strings.TrimSpace(text), nil
}
