package app

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/preemptcheck/preemptcheck/internal/campaign/record"
	"github.com/preemptcheck/preemptcheck/internal/terminal"
	"github.com/preemptcheck/preemptcheck/internal/words"
)

// push is where new cases go: a branch of a git repository.
type push struct{ repository, branch, dir string }

// cases pushes the cases of a campaign that may be published. Who may push is git's business.
func (p *push) cases(cmd *cobra.Command, from string, s *record.State) error {
	if p.repository == "" {
		return nil
	}
	if !filepath.IsLocal(p.dir) {
		return fmt.Errorf("--push-dir: %q is not within the repository", p.dir)
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
	if kept > 0 {
		terminal.Note(cmd.ErrOrStderr(), words.Plural(kept, "finding")+" not pushed: they go to the Kubernetes security contact first")
	}
	if len(found) == 0 {
		terminal.Note(cmd.ErrOrStderr(), "nothing to push")
		return nil
	}
	temp, err := os.MkdirTemp("", "push-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	branch := p.branch
	if branch == "" {
		branch = "preemptcheck/seed-" + seedOf(s)
	}
	git := func(args ...string) error {
		c := exec.CommandContext(cmd.Context(), "git", args...)
		c.Dir, c.Env = temp, append(os.Environ(), "GIT_TERMINAL_PROMPT=0")
		out, err := c.CombinedOutput()
		if errors.Is(err, exec.ErrNotFound) {
			return fmt.Errorf("git is not installed: %w", err)
		}
		if err != nil {
			return fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(string(out)))
		}
		return nil
	}
	if err := git("clone", "--quiet", "--depth", "1", "--", p.repository, "."); err != nil {
		return err
	}
	if err := git("checkout", "--quiet", "-B", branch); err != nil {
		return err
	}
	into := filepath.Join(temp, p.dir)
	if err := os.MkdirAll(into, 0o777); err != nil {
		return err
	}
	add := []string{"add", "--"}
	for _, f := range found {
		if err := os.WriteFile(filepath.Join(into, f.File), []byte(f.Case), 0o666); err != nil {
			return err
		}
		add = append(add, filepath.Join(p.dir, f.File))
	}
	if err := git(add...); err != nil {
		return err
	}
	if git("diff", "--cached", "--quiet") == nil {
		terminal.Note(cmd.ErrOrStderr(), "nothing to push: the cases are there already")
		return nil
	}
	who := []string{"-c", "user.name=preemptcheck", "-c", "user.email=preemptcheck@localhost"}
	if git("config", "user.email") == nil {
		who = nil
	}
	if err := git(append(who, "commit", "--quiet", "-m", p.message(found, s))...); err != nil {
		return err
	}
	if err := git("push", "--quiet", "origin", "HEAD:refs/heads/"+branch); err != nil {
		return err
	}
	terminal.Note(cmd.ErrOrStderr(), fmt.Sprintf("%s pushed as branch %s", words.Plural(len(found), "case"), branch))
	return nil
}

// message says what was found.
func (p *push) message(found []*record.Finding, s *record.State) string {
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
