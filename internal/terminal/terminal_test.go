package terminal_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/internal/terminal"
)

// onTerminal is what write shows on a terminal.
func onTerminal(t *testing.T, write func(w *os.File)) string {
	user, program, err := pty.Open()
	require.NoError(t, err)
	shown := make(chan string)
	go func() {
		all, _ := io.ReadAll(user) // it fails once the other end is closed
		shown <- string(all)
	}()
	write(program)
	require.NoError(t, program.Close())
	text := <-shown
	require.NoError(t, user.Close())
	return text
}

func TestProgressOnATerminal(t *testing.T) {
	shown := onTerminal(t, func(w *os.File) {
		p := terminal.NewProgress(w)
		defer p.Finish()
		p.Show(0.1, func() string { t.Error("too early"); return "" })
		time.Sleep(2100 * time.Millisecond)
		p.Show(0.25, func() string { return "25 of 100 clusters, 3 found" })
		p.Show(0.26, func() string { t.Error("too often"); return "" })
	})
	require.Contains(t, shown, "25 of 100 clusters, 3 found, 6s left")
	require.Contains(t, shown, " 25% ")
	require.True(t, strings.HasSuffix(shown, "\r") || strings.HasSuffix(shown, "\x1b[2K\r") || strings.HasSuffix(shown, "\x1b[K"), "%q does not end with a clear line", shown)
}

func TestWatchOnATerminal(t *testing.T) {
	shown := onTerminal(t, func(w *os.File) {
		p := terminal.NewProgress(w)
		defer p.Watch("reading cluster.yaml")()
		time.Sleep(2500 * time.Millisecond)
		io.WriteString(p.Above(w), "half of it\n")
	})
	require.Contains(t, shown, "reading cluster.yaml, 2s")
	require.Regexp(t, `\x1b\[2?K[^\n]*half of it\r?\n`, shown)
}

// Whoever reads a file wants nothing but the answer.
func TestNothingIsShownElsewhere(t *testing.T) {
	var out bytes.Buffer
	p := terminal.NewProgress(&out)
	stop := terminal.NewProgress(&out).Watch("reading")
	time.Sleep(2200 * time.Millisecond)
	p.Show(0.5, func() string { t.Error("nobody sees it"); return "" })
	p.Finish()
	stop()
	require.Empty(t, out.String())
	require.Equal(t, "agrees", terminal.Paint(&out, terminal.Good, "agrees"))
}

func TestColours(t *testing.T) {
	t.Setenv("TERM", "xterm")
	t.Setenv("NO_COLOR", "")
	write := func(w *os.File) {
		require.NoError(t, terminal.Text.Print(w, nil, func(w io.Writer) { io.WriteString(w, terminal.Paint(w, terminal.Bad, "finding")) }))
	}
	require.Contains(t, onTerminal(t, write), "\x1b[31;1mfinding\x1b[")
	t.Setenv("NO_COLOR", "1")
	require.Equal(t, "finding", onTerminal(t, write))
	t.Setenv("NO_COLOR", "")
	t.Setenv("TERM", "dumb")
	require.Equal(t, "finding", onTerminal(t, write))
}

func TestQuiet(t *testing.T) {
	var out bytes.Buffer
	w := terminal.Quiet(&out)
	terminal.Note(w, "of no interest")
	terminal.PrintErrors(w, errors.Join(errors.New("one"), errors.New("two\nlines")))
	require.Equal(t, "error: one\nerror: two\n  lines\n", out.String())
}

func TestConclude(t *testing.T) {
	var out, errOut bytes.Buffer
	cmd := &cobra.Command{}
	cmd.SetOut(&out)
	cmd.SetErr(&errOut)
	asText := func(w io.Writer) { io.WriteString(w, "as text\n") }
	require.NoError(t, terminal.Text.Conclude(cmd, nil, asText, false, false))
	require.Equal(t, terminal.Exit(terminal.Found), terminal.Text.Conclude(cmd, nil, asText, true, true))
	require.Equal(t, terminal.Exit(terminal.CouldNot), terminal.YAML.Conclude(cmd, map[string]int{"a": 1}, asText, false, false, nil, errors.New("a bad file")))
	require.Equal(t, "as text\nas text\na: 1\n", out.String())
	require.Equal(t, "error: a bad file\n", errOut.String())
}
