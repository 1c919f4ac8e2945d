package terminal

import (
	"io"
	"os"

	"github.com/fatih/color"
	"golang.org/x/term"
)

// Style is why something stands out.
type Style int

// The styles of what is as it should be, of what needs a look, of what is known, and of what
// counts less.
const (
	Plain Style = iota
	Good
	Bad
	Known
	Dim
)

var attributes = map[Style][]color.Attribute{
	Good:  {color.FgGreen},
	Bad:   {color.FgRed, color.Bold},
	Known: {color.FgYellow},
	Dim:   {color.Faint},
}

// Colours is a writer to which colours mean something.
type Colours struct{ io.Writer }

// Coloured makes a writer take colours if it is a terminal that has some, and nobody asked for
// none: https://no-color.org.
func Coloured(w io.Writer) io.Writer {
	if IsTerminal(w) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" {
		return Colours{w}
	}
	return w
}

// Paint is the text in a style, if w takes colours or would.
func Paint(w io.Writer, style Style, text string) string {
	if _, ok := w.(Colours); !ok {
		if _, ok = Coloured(w).(Colours); !ok {
			return text
		}
	}
	if attributes[style] == nil {
		return text
	}
	painted := color.New(attributes[style]...)
	painted.EnableColor() // the package itself looks at standard output only
	return painted.Sprint(text)
}

// quiet is a writer that keeps everything from people but errors.
type quiet struct{ w io.Writer }

func (quiet) Write(data []byte) (int, error) { return len(data), nil }

// Quiet makes a writer take errors only, by PrintErrors.
func Quiet(w io.Writer) io.Writer { return quiet{w} }

// IsTerminal tells whether what is written is seen by somebody at once.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
