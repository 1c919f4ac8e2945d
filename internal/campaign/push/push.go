// Package push makes the cases of a campaign a branch of a git repository.
package push

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/preemptcheck/preemptcheck/internal/campaign/record"
	"github.com/preemptcheck/preemptcheck/internal/words"
)

// Target is where cases go. Who may push is git's business.
type Target struct {
	// Repository is what git clones, Branch what it pushes ("" is preemptcheck/seed-SEED), and Dir where in it the cases go.
	Repository, Branch, Dir string
}

// Cases pushes the cases of a campaign that may be published, and says in a few words what it did.
func (t *Target) Cases(ctx context.Context, s *record.State) (done string, err error) {
	if !filepath.IsLocal(t.Dir) {
		return "", fmt.Errorf("%q is not within the repository", t.Dir)
	}
	var found []*record.Finding
	kept := 0
	for _, f := range s.Findings {
		if f.GoesToContact() {
			kept++
		} else if f.File != "" {
			found = append(found, f)
		}
	}
	defer func() {
		if err == nil && kept > 0 {
			done += "; " + words.Plural(kept, "finding") + " left out: they go to the Kubernetes security contact first"
		}
	}()
	if len(found) == 0 {
		return "nothing to push", nil
	}
	dir, err := os.MkdirTemp("", "push-*")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	git := gitIn(ctx, dir)
	branch := t.Branch
	if branch == "" {
		branch = "preemptcheck/seed-" + seedOf(s)
	}
	if err := git("clone", "--quiet", "--depth", "1", "--", t.Repository, "."); err != nil {
		return "", err
	}
	if err := git("checkout", "--quiet", "-B", branch); err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Join(dir, t.Dir), 0o777); err != nil {
		return "", err
	}
	for _, f := range found {
		file := filepath.Join(t.Dir, f.File)
		if err := os.WriteFile(filepath.Join(dir, file), []byte(f.Case), 0o666); err != nil {
			return "", err
		}
		if err := git("add", "--", file); err != nil {
			return "", err
		}
	}
	if git("diff", "--cached", "--quiet") == nil {
		return "nothing to push: the cases are there already", nil
	}
	commit := []string{"commit", "--quiet", "-m", message(found, s)}
	if git("config", "user.email") != nil { // nobody has said who commits here
		commit = append([]string{"-c", "user.name=preemptcheck", "-c", "user.email=preemptcheck@localhost"}, commit...)
	}
	if err := git(commit...); err != nil {
		return "", err
	}
	if err := git("push", "--quiet", "origin", "HEAD:refs/heads/"+branch); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s pushed as branch %s", words.Plural(len(found), "case"), branch), nil
}

// gitIn runs git in a directory. It asks nobody for a password.
func gitIn(ctx context.Context, dir string) func(args ...string) error {
	return func(args ...string) error {
		c := exec.CommandContext(ctx, "git", args...)
		c.Dir, c.Env = dir, append(os.Environ(), "GIT_TERMINAL_PROMPT=0")
		out, err := c.CombinedOutput()
		if errors.Is(err, exec.ErrNotFound) {
			return fmt.Errorf("git is not installed: %w", err)
		}
		if err != nil {
			return fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(string(out)))
		}
		return nil
	}
}

// message says what was found.
func message(found []*record.Finding, s *record.State) string {
	text := &strings.Builder{}
	fmt.Fprintf(text, "Add %s that preemptcheck found\n\nSeed %s, %s, %s.\n", words.Plural(len(found), "case"), seedOf(s), words.Plural(s.Stats.Clusters, "cluster"), s.Config.Version)
	for _, f := range found {
		fmt.Fprintf(text, "\n%s:\n", f.File)
		words.WriteWrapped(text, "  ", f.Explanation)
	}
	return text.String()
}

// seedOf is the seed of a campaign, or those of what it was merged from.
func seedOf(s *record.State) string {
	if len(s.Parts) == 0 {
		return fmt.Sprint(s.Config.Seed)
	}
	seeds := []string{}
	for _, p := range s.Parts {
		if seed := fmt.Sprint(p.Seed); len(seeds) == 0 || seeds[len(seeds)-1] != seed {
			seeds = append(seeds, seed)
		}
	}
	return strings.Join(seeds, "-")
}
