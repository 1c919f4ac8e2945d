// Package plant plants small bugs in Go source by rule, all at once: each is a switch that is read at run time, so that thousands of
// mutants cost one build. This is known as mutant schemata (Untch, Offutt, Harrold: Mutation analysis using mutant schemata, 1993).
package plant

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// Operator is a rule by which mutants are made.
type Operator string

// The operators.
const (
	Negate    Operator = "negate"    // a condition is negated
	Shift     Operator = "shift"     // a comparison is true, or false, for equal operands, too
	Junction  Operator = "junction"  // && is ||, and the other way round
	Arith     Operator = "arith"     // + is -, - has its operands swapped, * is /, / is *
	Swap      Operator = "swap"      // two arguments of the same type are swapped
	Drop      Operator = "drop"      // a statement is left out: a call, an assignment
	DropDefer Operator = "dropdefer" // a deferred call is left out
	DropLock  Operator = "droplock"  // a lock is neither taken nor released
	Constant  Operator = "constant"  // an integer is one more
	Bool      Operator = "bool"      // true is false, and the other way round
	Return    Operator = "return"    // a result is nil, zero or empty
	EndLoop   Operator = "endloop"   // a loop ends after its first round, or where it goes on
	GoOn      Operator = "goon"      // a loop goes on where it ends
	Key       Operator = "key"       // a map is asked for the zero value of its keys
)

// Site is one mutant: where it is, and what it does.
type Site struct {
	ID       int      `json:"id"` // 1 and up
	File     string   `json:"file"`
	Line     int      `json:"line"`
	Column   int      `json:"column"`
	Func     string   `json:"func"`
	Operator Operator `json:"operator"`
	// Source is what stands there, on one line, and Is what the mutant has in its place.
	Source string `json:"source"`
	Is     string `json:"is"`
	// Guards tells whether it is about a condition on which a lock is taken.
	Guards bool `json:"guards,omitempty"`
}

// Name names a mutant for as long as its file stays as it is.
func (s *Site) Name() string { return fmt.Sprintf("%s:%d:%d:%s", s.File, s.Line, s.Column, s.Operator) }

// OfModel tells whether it is a mutant of the model, and not of upstream.
func (s *Site) OfModel() bool { return strings.HasPrefix(s.File, "model/") }

// edit puts text in the place of a part of a file, which may be empty. Whatever it belongs to covers from start to end: what covers more
// opens earlier, and closes later.
type edit struct {
	at, length int
	text       string
	start, end int
	closes     bool
	site       int
}

// file is one that is looked through.
type file struct {
	name   string // in its tree
	source []byte
	fset   *token.FileSet
	syntax *ast.File
	info   *types.Info
	pkg    *types.Package
	edits  []edit
	sites  []*Site
	next   *int
	fn     string
}

func (f *file) offset(p token.Pos) int { return f.fset.Position(p).Offset }

// text is the source of a node.
func (f *file) text(n ast.Node) string { return string(f.source[f.offset(n.Pos()):f.offset(n.End())]) }

// place is where a mutant of a node is: of what begins at one place, each has another one.
func place(n ast.Node, op Operator) token.Pos {
	if op == Negate {
		return n.Pos()
	}
	switch n := n.(type) {
	case *ast.BinaryExpr:
		return n.OpPos
	case *ast.IndexExpr:
		return n.Lbrack
	case *ast.CallExpr:
		return n.Lparen
	}
	return n.Pos()
}

// site notes a mutant at a node.
func (f *file) site(n ast.Node, op Operator, is string) int {
	*f.next++
	p := f.fset.Position(place(n, op))
	f.sites = append(f.sites, &Site{ID: *f.next, File: f.name, Line: p.Line, Column: p.Column, Func: f.fn, Operator: op, Source: OneLine(f.text(n)), Is: OneLine(is)})
	return *f.next
}

// wrap puts text before and behind a node.
func (f *file) wrap(site int, n ast.Node, before, behind string) {
	start, end := f.offset(n.Pos()), f.offset(n.End())
	f.edits = append(f.edits, edit{at: start, text: before, start: start, end: end, site: site})
	if behind != "" {
		f.edits = append(f.edits, edit{at: end, text: behind, start: start, end: end, closes: true, site: site})
	}
}

// insert puts text at an offset.
func (f *file) insert(site, at int, text string) {
	f.edits = append(f.edits, edit{at: at, text: text, start: at, end: at, site: site})
}

// span is where text of a mutant stands in a file with all of them, or what it encloses.
type span struct {
	start, end, site int
	isText           bool
}

// rewritten is the source with all mutants but those that are left out, and where they stand. Each line stays the line that it is, but for
// conditions of several lines.
func (f *file) rewritten(without map[int]bool, switchesPath string) (out []byte, spans []span) {
	edits := slices.DeleteFunc(slices.Clone(f.edits), func(e edit) bool { return without[e.site] })
	if len(edits) == 0 {
		return f.source, nil
	}
	order := map[*edit]int{}
	var sorted []*edit
	for i := range edits {
		order[&edits[i]] = i
		sorted = append(sorted, &edits[i])
	}
	slices.SortFunc(sorted, func(a, b *edit) int {
		switch {
		case a.at != b.at:
			return a.at - b.at
		case a.closes != b.closes:
			return map[bool]int{true: -1, false: 1}[a.closes]
		case a.closes: // the smaller one first, and of two alike the inner one
			return cmp.Or(b.start-a.start, order[b]-order[a])
		default:
			return cmp.Or(b.end-a.end, order[a]-order[b])
		}
	})
	at := f.offset(f.syntax.Name.End())
	out = append(out, f.source[:at]...)
	out = append(out, fmt.Sprintf("; import %s %q", alias, switchesPath)...)
	last, opened := at, map[int]int{}
	for _, e := range sorted {
		out = append(out, f.source[last:e.at]...)
		start := len(out)
		out = append(out, e.text...)
		spans = append(spans, span{start: start, end: len(out), site: e.site, isText: true})
		if e.closes {
			spans = append(spans, span{start: opened[e.site], end: len(out), site: e.site})
		} else {
			opened[e.site] = start
		}
		last = e.at + e.length
	}
	return append(out, f.source[last:]...), spans
}

// culprit is the mutant to which an error at an offset belongs: that whose text stands there, or else the smallest one around it.
func culprit(spans []span, at int) (site int, ok bool) {
	smallest := 0
	for _, s := range spans {
		if at < s.start || at >= s.end {
			continue
		}
		if s.isText {
			return s.site, true
		}
		if !ok || s.end-s.start < smallest {
			site, smallest, ok = s.site, s.end-s.start, true
		}
	}
	return site, ok
}

// OneLine is a text on one line of at most 120 characters.
func OneLine(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > 120 {
		return string(runes[:119]) + "…"
	}
	return text
}
