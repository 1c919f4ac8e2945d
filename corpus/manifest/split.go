// Package manifest reads and writes streams of Kubernetes objects in YAML or JSON, as
// kubectl prints and takes them.
//
// Reading is strict: what has two readings is refused, and each error says in which
// document, item, line and field it is. A stream is cut into its objects before it
// is parsed, so that a List of a whole cluster takes little memory.
package manifest

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"
)

// Limits of what is read. They are far above any cluster that Kubernetes
// supports and keep the cost of garbage bounded.
const (
	// MaxStream is the size of a stream in bytes.
	MaxStream = 1 << 30
	// MaxObject is the size of one object in bytes. What etcd stores of an object
	// is at most 1.5 MiB.
	MaxObject = 4 << 20
	// MaxObjects is the number of objects in a stream.
	MaxObjects = 500_000
)

// chunk is the text of one object, or of a List that could not be split.
type chunk struct {
	data           []byte
	document, item int
	line           int  // of the first byte
	json           bool // as against YAML
	// defaults are what an item of a PodList and the like leaves out.
	defaults typeMeta
}

type typeMeta struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
}

func (c chunk) err(format string, args ...any) *InputError {
	return &InputError{Document: c.document, Item: c.item, Line: c.line, Err: fmt.Errorf(format, args...)}
}

// ReadAll reads a stream, of at most MaxStream bytes. The memory for a file it gets at
// once, and reads it on all processors.
func ReadAll(r io.Reader) ([]byte, error) {
	var buf bytes.Buffer
	switch r := r.(type) {
	case interface{ Len() int }:
		buf.Grow(min(r.Len(), MaxStream) + 2*bytes.MinRead)
	case *os.File:
		buf = *bytes.NewBuffer(readFile(r))
	}
	if _, err := buf.ReadFrom(io.LimitReader(r, int64(MaxStream+1-buf.Len()))); err != nil {
		return nil, err
	}
	if buf.Len() > MaxStream {
		return nil, &InputError{Err: fmt.Errorf("more than %d MiB", MaxStream>>20)}
	}
	return buf.Bytes(), nil
}

// readFile reads what a regular file holds from where it is to its end, or the beginning of
// that: what is left is to be read one after the other. The result has room for the end.
func readFile(f *os.File) []byte {
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	from, err := f.Seek(0, io.SeekCurrent)
	if err != nil {
		return nil
	}
	size := int(max(0, min(info.Size()-from, MaxStream)))
	data := make([]byte, size, size+2*bytes.MinRead)
	var read atomic.Int64
	inPieces(size, func(start, end int) {
		n, _ := f.ReadAt(data[start:end], from+int64(start))
		read.Add(int64(n))
	})
	if int(read.Load()) < size { // it has become shorter, or cannot be read
		return nil
	}
	if _, err := f.Seek(from+int64(size), io.SeekStart); err != nil {
		return nil
	}
	return data
}

// piece is how many bytes one processor looks at. They fit into its cache.
const piece = 1 << 20

// inPieces calls do for all pieces of so many bytes, on all processors.
func inPieces(size int, do func(start, end int)) {
	pieces := (size + piece - 1) / piece
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(pieces, runtime.GOMAXPROCS(0)) {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < pieces; i = int(next.Add(1)) - 1 {
				do(i*piece, min((i+1)*piece, size))
			}
		})
	}
	workers.Wait()
}

// checkText refuses what is no text, and drops a byte order mark. It tells whether there may be
// a marker in it that is not at its beginning.
func checkText(data []byte) (_ []byte, marked bool, _ *InputError) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	var wrong, marks atomic.Bool
	// A piece begins and ends with a whole rune, if all are.
	rune := func(i int) int {
		for i < len(data) && !utf8.RuneStart(data[i]) {
			i++
		}
		return i
	}
	inPieces(len(data), func(start, end int) {
		text := data[rune(start):rune(end)]
		if bytes.IndexByte(text, 0) >= 0 || !utf8.Valid(text) {
			wrong.Store(true)
		}
		for i := start; i < end && !marks.Load(); {
			if i = nextLine(data[:end], i); isMarker(data[i:]) {
				marks.Store(true)
			}
		}
	})
	if !wrong.Load() {
		return data, marks.Load(), nil
	}
	bad := bytes.IndexByte(data, 0)
	if bad < 0 {
		for bad = 0; ; {
			r, n := utf8.DecodeRune(data[bad:])
			if r == utf8.RuneError && n == 1 {
				break
			}
			bad += n
		}
	}
	return nil, false, &InputError{Line: 1 + bytes.Count(data[:bad], newline),
		Err: fmt.Errorf("this is no text: byte %#02x at offset %d", data[bad], bad)}
}

var newline = []byte("\n")

// nextLine is the end of the line that begins at i, its line break included.
func nextLine(data []byte, i int) int {
	if n := bytes.IndexByte(data[i:], '\n'); n >= 0 {
		return i + n + 1
	}
	return len(data)
}

// split cuts a stream into its objects, without parsing it, and hands them to
// emit until that answers false. A large List is cut into its items: parsed as
// one document it would take many times its size of memory.
//
// The cuts are where YAML allows nothing else: a line that begins with "---" or
// "..." always ends a document, and what belongs to a node is indented more than
// the node, except inside quotes and brackets; a cut through those leaves them
// open, which is an error and never another meaning.
//
// marked tells whether there may be such lines, but the first.
func split(data []byte, marked bool, emit func(chunk) bool) *InputError {
	c := chunk{line: 1}
	for start := 0; start < len(data); {
		end := len(data)
		if marked {
			end = nextLine(data, start) // a marker at the start opens this document
			for end < len(data) && !isMarker(data[end:]) {
				end = nextLine(data, end)
			}
		}
		doc := c
		if doc.data = skipMarker(data[start:end]); !isBlank(doc.data) {
			c.document++
			doc.document++
			if first := doc.data[:nextLine(doc.data, 0)]; isBlank(first) {
				doc.data, doc.line = doc.data[len(first):], doc.line+1
			}
			more, err := doc.split(emit)
			if err != nil || !more {
				return err
			}
		}
		if end < len(data) {
			c.line += bytes.Count(data[start:end], newline)
		}
		start = end
	}
	return nil
}

func isMarker(line []byte) bool {
	if !bytes.HasPrefix(line, []byte("---")) && !bytes.HasPrefix(line, []byte("...")) {
		return false
	}
	return len(line) == 3 || strings.IndexByte(" \t\r\n", line[3]) >= 0
}

// skipMarker drops the marker that a document begins with, not its line break.
func skipMarker(doc []byte) []byte {
	if isMarker(doc) {
		return doc[3:]
	}
	return doc
}

// isBlank tells whether a text has nothing but comments.
func isBlank(text []byte) bool {
	i := skipSpace(text, 0)
	for i < len(text) && text[i] == '#' {
		i = skipSpace(text, nextLine(text, i))
	}
	return i == len(text)
}

// split hands on the objects of one document.
func (c chunk) split(emit func(chunk) bool) (more bool, _ *InputError) {
	if b := bytes.TrimLeft(c.data, " \t\r\n"); b[0] == '{' {
		return c.splitJSON(emit)
	}
	list, ok := findItems(c.data)
	if !ok {
		return c.emit(emit)
	}
	head := c
	head.data = append(bytes.Clone(c.data[:list.key]), c.data[list.end:]...)
	if len(head.data) > MaxObject || isBlank(head.data) {
		return c.emit(emit)
	}
	meta, err := listHead(head)
	if err != nil {
		return false, err
	}
	c.defaults = meta
	c.line += bytes.Count(c.data[:list.start], newline)
	for start := list.start; start < list.end; {
		end := nextLine(c.data, start)
		for end < list.end && !isItem(c.data[end:], list.indent) {
			end = nextLine(c.data, end)
		}
		item := c
		item.item++
		item.data = c.data[start:end]
		if more, err := item.emit(emit); err != nil || !more {
			return false, err
		}
		c.item, c.line = item.item, c.line+bytes.Count(item.data, newline)
		start = end
	}
	return true, nil
}

func (c chunk) emit(emit func(chunk) bool) (more bool, _ *InputError) {
	if len(c.data) > MaxObject {
		return false, c.err("%d bytes without an end of the object: one object may have %d", len(c.data), MaxObject)
	}
	return emit(c), nil
}

// blockList is where the items of a List in block style are in its document.
type blockList struct {
	key        int // the line "items:"
	start, end int // the items
	indent     int // of their dashes
}

func findItems(doc []byte) (l blockList, ok bool) {
	for l.key = 0; l.key < len(doc); l.key = nextLine(doc, l.key) {
		if rest, found := bytes.CutPrefix(doc[l.key:], []byte("items:")); found && isBlank(rest[:nextLine(rest, 0)]) {
			break
		}
	}
	if l.key == len(doc) {
		return l, false
	}
	l.start = nextLine(doc, l.key)
	for l.start < len(doc) && isBlank(doc[l.start:nextLine(doc, l.start)]) {
		l.start = nextLine(doc, l.start)
	}
	l.indent = indent(doc[l.start:])
	if !isItem(doc[l.start:], l.indent) {
		return l, false
	}
	for l.end = l.start; l.end < len(doc); l.end = nextLine(doc, l.end) {
		line := doc[l.end:]
		if indent(line) <= l.indent && !isItem(line, l.indent) && !isBlank(line[:nextLine(line, 0)]) {
			break
		}
	}
	return l, true
}

// indent counts the blanks that a line begins with.
func indent(line []byte) int {
	return len(line) - len(bytes.TrimLeft(line, " "))
}

// isItem tells whether a line begins with the dash of an item, indented so much.
func isItem(line []byte, n int) bool {
	if indent(line) != n || n == len(line) || line[n] != '-' {
		return false
	}
	return n+1 == len(line) || strings.IndexByte(" \r\n", line[n+1]) >= 0
}
