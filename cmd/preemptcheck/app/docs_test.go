package app

import (
	"bytes"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/internal/golden"
)

// pages are the pages for people, from the root of the repository.
func pages(t *testing.T) (names []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(".", func(file string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (slices.Contains([]string{"testdata", ".git", "bin", "dist"}, entry.Name())):
			return fs.SkipDir
		case filepath.Ext(file) == ".md":
			names = append(names, file)
		}
		return nil
	}))
	require.Contains(t, names, "README.md")
	return names
}

func readPage(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	return string(text)
}

var (
	// fence is a code block: what it is said to hold, and its text.
	fence = regexp.MustCompile("(?ms)^```([a-z]*)\n(.*?)^```$")
	// inline is code in a sentence or a table.
	inline = regexp.MustCompile("`([^`\n]+)`")
	link   = regexp.MustCompile(`\]\(([^)#:\s]+)(?:#[^)]*)?\)`)
)

// TestDocsShowWhatCommandsPrint: a block of the kind console is a command, after
// "$ ", and what it prints. -update writes the latter anew.
func TestDocsShowWhatCommandsPrint(t *testing.T) {
	t.Chdir("../../..")
	examples := 0
	for _, name := range pages(t) {
		page := readPage(t, name)
		got := fence.ReplaceAllStringFunc(page, func(block string) string {
			m := fence.FindStringSubmatch(block)
			command, _, _ := strings.Cut(m[2], "\n")
			args, isExample := strings.CutPrefix(command, "$ preemptcheck ")
			if m[1] != "console" {
				return block
			}
			require.True(t, isExample, "%s: %q is no command of this program", name, command)
			examples++
			_, out, _ := preemptcheck(t, "", strings.Fields(args)...)
			return "```console\n" + command + "\n" + out + "```"
		})
		if *golden.Update && got != page {
			require.NoError(t, os.WriteFile(name, []byte(got), 0o644))
			continue
		}
		if diff := cmp.Diff(page, got); diff != "" {
			t.Errorf("%s (-page +what the commands print; go test -update writes it anew):\n%s", name, diff)
		}
	}
	require.NotZero(t, examples)
}

// TestDocsNameCommandsThatExist: the program accepts each command line of its own,
// the Makefile has each target, and each package that go is told of is there.
func TestDocsNameCommandsThatExist(t *testing.T) {
	t.Chdir("../../..")
	makefile := readPage(t, "Makefile")
	accepted := map[string]bool{}
	for _, name := range pages(t) {
		for _, line := range commandLines(readPage(t, name)) {
			what, err := accepts(makefile, line)
			require.NoError(t, err, "%s: %s", name, line)
			accepted[what] = true
		}
	}
	for _, what := range []string{"preemptcheck", "make", "go"} {
		require.True(t, accepted[what], "no page has a command line of %s", what)
	}
}

// commandLines are the lines that a page tells readers to type, and those that it
// names in sentences.
func commandLines(page string) (lines []string) {
	for _, m := range fence.FindAllStringSubmatch(page, -1) {
		for line := range strings.Lines(m[2]) {
			line = strings.TrimSpace(line)
			if command, isCommand := strings.CutPrefix(line, "$ "); isCommand || m[1] == "sh" {
				lines = append(lines, command)
			}
		}
	}
	for _, m := range inline.FindAllStringSubmatch(fence.ReplaceAllString(page, ""), -1) {
		lines = append(lines, m[1])
	}
	return lines
}

// accepts tells which program a line calls that can be checked, if any, and what
// is wrong with its arguments.
func accepts(makefile, line string) (program string, err error) {
	line = line[strings.LastIndex(line, "| ")+1:]
	words := strings.Fields(line)
	for len(words) > 0 && strings.Contains(words[0], "=") { // variables of the environment
		words = words[1:]
	}
	if end := slices.IndexFunc(words, func(w string) bool { return strings.HasPrefix(w, ">") || w == "||" || w == "#" }); end >= 0 {
		words = words[:end]
	}
	if len(words) < 2 {
		return "", nil
	}
	switch filepath.Base(words[0]) {
	case "preemptcheck":
		return "preemptcheck", acceptsArgs(words[1:])
	case "make":
		if !regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(words[1]) + `:`).MatchString(makefile) {
			err = fmt.Errorf("the Makefile has no target %s", words[1])
		}
		return "make", err
	case "go":
		for i, word := range words[1:] {
			dir, isPackage := strings.CutPrefix(word, "./")
			if !isPackage {
				continue
			}
			if _, err := os.Stat(strings.TrimSuffix(dir, "...")); err != nil && dir != "..." {
				return "go", err
			}
			if words[1] == "run" && dir == "cmd/preemptcheck" {
				return "go", acceptsArgs(words[i+2:])
			}
		}
		return "go", nil
	}
	return "", nil
}

// acceptsArgs tells what is wrong with a command line, and does not run it.
func acceptsArgs(args []string) error {
	root := newRoot()
	cmd, rest, err := root.Find(args)
	if err != nil {
		return err
	}
	cmd.InitDefaultHelpFlag()
	if err := cmd.ParseFlags(rest); err != nil {
		return err
	}
	if err := cmd.ValidateRequiredFlags(); err != nil {
		return err
	}
	return cmd.ValidateArgs(cmd.Flags().Args())
}

// TestAcceptsRefuses: a page with such a line would not pass.
func TestAcceptsRefuses(t *testing.T) {
	t.Chdir("../../..")
	for line, want := range map[string]string{
		"kubectl get pods | preemptcheck chek -":    "unknown command",
		"bin/preemptcheck findings a b":             "accepts at most 1 arg",
		"preemptcheck merge a b":                    "required flag",
		"preemptcheck fuzz --fro 1m":                "unknown flag",
		"preemptcheck check -o xml corpus/cases":    "text, json, yaml, wide",
		"go run ./cmd/preemptcheck check --no-flag": "unknown flag",
		"A=1 go test ./no/such/folder -run X":       "no such file",
		"make no-such-target":                       "no target",
	} {
		_, err := accepts("check: ## check\n", line)
		require.ErrorContains(t, err, want, line)
	}
}

// TestDocsShowCasesThatHold: a block with a case can be saved as a file as it is.
func TestDocsShowCasesThatHold(t *testing.T) {
	t.Chdir("../../..")
	cases := 0
	for _, name := range pages(t) {
		for _, m := range fence.FindAllStringSubmatch(readPage(t, name), -1) {
			if m[1] == "yaml" && strings.HasPrefix(m[2], "apiVersion: preemptcheck/") {
				cases++
				status, out, errOut := preemptcheck(t, m[2], "check", "-")
				require.Zero(t, status, "%s: %s%s", name, out, errOut)
			}
		}
	}
	require.NotZero(t, cases)
}

func TestDocsLinkToWhatExists(t *testing.T) {
	t.Chdir("../../..")
	for _, name := range pages(t) {
		for _, m := range link.FindAllStringSubmatch(fence.ReplaceAllString(readPage(t, name), ""), -1) {
			_, err := os.Stat(filepath.Join(filepath.Dir(name), m[1]))
			require.NoError(t, err, name)
		}
	}
}

// TestREADME: it can be read at once, and its table has each command.
func TestREADME(t *testing.T) {
	readme := readPage(t, "../../../README.md")
	require.LessOrEqual(t, bytes.Count([]byte(readme), []byte("\n")), 120)
	var want, got []string
	for _, c := range newRoot().Commands() {
		if !c.Hidden && c.Name() != "help" && c.Name() != "completion" {
			want = append(want, c.Name())
		}
	}
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z]+)[^`]*` \\|").FindAllStringSubmatch(readme, -1) {
		got = append(got, m[1])
	}
	require.ElementsMatch(t, want, got)
}

// TestArchitectureIsAsThePageSays: each folder in the table of packages is there,
// each package belongs to a row, and imports only its row and those above it.
func TestArchitectureIsAsThePageSays(t *testing.T) {
	t.Chdir("../../..")
	_, section, found := strings.Cut(readPage(t, "docs/architecture.md"), "## The packages")
	require.True(t, found)
	rowOf := map[string]int{} // by folder
	for i, row := range regexp.MustCompile("(?m)^\\| (`[^|]*`) \\|").FindAllStringSubmatch(section, -1) {
		for _, m := range inline.FindAllStringSubmatch(row[1], -1) {
			require.DirExists(t, m[1])
			rowOf[strings.TrimSuffix(m[1], "/")] = i
		}
	}
	row := func(dir string) (int, bool) {
		for ; dir != "."; dir = path.Dir(dir) {
			if i, known := rowOf[dir]; known {
				return i, true
			}
		}
		return 0, false
	}
	const module = "github.com/preemptcheck/preemptcheck/"
	imports := 0
	require.NoError(t, filepath.WalkDir(".", func(file string, entry fs.DirEntry, err error) error {
		switch name := entry.Name(); {
		case err != nil:
			return err
		case entry.IsDir() && (name == "testdata" || len(name) > 1 && strings.ContainsAny(name[:1], "._")):
			return fs.SkipDir
		case entry.IsDir() || filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		own, known := row(path.Dir(filepath.ToSlash(file)))
		require.True(t, known, "%s belongs to no row", file)
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		require.NoError(t, err)
		for _, i := range parsed.Imports {
			if dir, isOurs := strings.CutPrefix(strings.Trim(i.Path.Value, `"`), module); isOurs {
				imports++
				its, _ := row(dir)
				require.LessOrEqual(t, its, own, "%s imports %s, which is in a row below", file, dir)
			}
		}
		return nil
	}))
	require.NotZero(t, imports)
}

// The files for CI systems are command lines that this program accepts.
func TestFilesForCI(t *testing.T) {
	files, err := filepath.Glob("../../../docs/ci/*")
	require.NoError(t, err)
	require.Len(t, files, 3)
	for _, file := range files {
		lines := 0
		for line := range strings.Lines(readPage(t, file)) {
			fields := strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "- "))
			if len(fields) > 1 && fields[0] == "run:" {
				fields = fields[1:]
			}
			if len(fields) < 2 || filepath.Base(fields[0]) != "preemptcheck" {
				continue
			}
			lines++
			root := newRoot()
			cmd, args, err := root.Find(fields[1:])
			require.NoError(t, err, line)
			for _, word := range args {
				if name, is := strings.CutPrefix(word, "--"); is {
					name, _, _ = strings.Cut(name, "=")
					require.True(t, cmd.Flags().Lookup(name) != nil || cmd.InheritedFlags().Lookup(name) != nil, "%s: %s", file, word)
				}
			}
		}
		require.Positive(t, lines, file)
	}
}
