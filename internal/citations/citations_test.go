// Package citations checks what the repository says of upstream's source. A rule
// names its source as path/file.go:LINE@VERSION, where path/file.go is the end of a
// path in k8s.io/kubernetes or one of its staging modules. A name of what is declared
// there may come after it (", Symbol" or ", doc comment of Symbol") or before it, with
// the citation in brackets. Citations of versions that go.mod does not require are
// passed over: their source need not be on this machine.
package citations

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	root = "../.."
	near = 5 // lines between a declaration and a line cited for it, at most
)

// A citation is one place of upstream that a text of ours names.
type citation struct {
	at      string // ours: path:line
	text    string // as it stands there, without the symbol
	path    string
	line    int // 0: the file as a whole
	version string
	doc     bool     // the doc comment of a symbol is meant
	symbols []string // what is declared there: one of these
}

var (
	cited  = regexp.MustCompile(`([\w./-]*\w\.go)(?::(\d+))?@(v\d+\.\d+\.\d+)`)
	wrap   = regexp.MustCompile(`\s*\n\s*(//)?\s*`)
	after  = regexp.MustCompile(`^, (doc comment of )?([A-Za-z_]\w*(?:\.\w+)?)(\W|$)`)
	before = regexp.MustCompile(`(doc comments? of )?(?:([\w.]+) and )?([\w.]+) \($`)
	camel  = regexp.MustCompile(`[a-z][A-Z]|\w\.\w`)
	upper  = regexp.MustCompile(`[A-Z]`)
)

// find returns the citations in the text of a file.
func find(file, text string) []citation {
	var all []citation
	text = strings.ReplaceAll(text, `\_`, "_") // as Markdown has it
	for _, m := range cited.FindAllStringSubmatchIndex(text, -1) {
		c := citation{
			at:   fmt.Sprintf("%s:%d", file, 1+strings.Count(text[:m[0]], "\n")),
			text: text[m[0]:m[1]], path: text[m[2]:m[3]], version: text[m[6]:m[7]],
		}
		if m[4] >= 0 {
			fmt.Sscan(text[m[4]:m[5]], &c.line)
		}
		next := wrap.ReplaceAllString(text[m[1]:min(len(text), m[1]+160)], " ")
		last := wrap.ReplaceAllString(text[max(0, m[0]-160):m[0]], " ")
		if s := after.FindStringSubmatch(next); s != nil && isSymbol(s[2], s[3]) {
			c.doc, c.symbols = s[1] != "", []string{s[2]}
		} else if s := before.FindStringSubmatch(last); s != nil && (camel.MatchString(s[3]) || s[1] != "" && upper.MatchString(s[3])) {
			c.doc, c.symbols = s[1] != "", []string{s[3]}
			if s[2] != "" {
				c.symbols = append(c.symbols, s[2])
			}
		}
		all = append(all, c)
	}
	return all
}

// isSymbol tells a name from a word of the sentence or the file of another citation.
func isSymbol(name, next string) bool {
	if strings.HasSuffix(name, ".go") || strings.ContainsAny(next, "/-_") {
		return false
	}
	return upper.MatchString(name) || next == "" || strings.Contains(`);,."|`, next)
}

// A source is one Go file of upstream.
type source struct {
	lines    []string
	imports  span
	declared map[string][]declaration
}

type span struct{ from, to int }

func (s span) has(line, margin int) bool { return s.from-margin <= line && line <= s.to+margin }

type declaration struct{ doc, all span }

// read parses a Go file. A method, a field and a method of an interface go by their
// own name, and by that of the type before it.
func read(name string, text []byte) (*source, error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	s := &source{lines: strings.Split(strings.TrimSuffix(string(text), "\n"), "\n"), declared: map[string][]declaration{}}
	line := func(p token.Pos) int { return files.Position(p).Line }
	add := func(owner, name string, node ast.Node, doc *ast.CommentGroup) {
		d := declaration{all: span{line(node.Pos()), line(node.End())}}
		if doc != nil {
			d.all.from = line(doc.Pos())
		}
		d.doc = span{d.all.from, line(node.Pos())}
		s.declared[name] = append(s.declared[name], d)
		if owner != "" {
			s.declared[owner+"."+name] = append(s.declared[owner+"."+name], d)
		}
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			add(receiver(d), d.Name.Name, d, d.Doc)
		case *ast.GenDecl:
			if d.Tok == token.IMPORT {
				s.imports = span{line(d.Pos()), line(d.End())}
			}
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					doc := spec.Doc
					if doc == nil {
						doc = d.Doc
					}
					add("", spec.Name.Name, spec, doc)
					for _, f := range members(spec.Type) {
						for _, n := range f.Names {
							add(spec.Name.Name, n.Name, f, f.Doc)
						}
						if f.Tag != nil {
							if m := inJSON.FindStringSubmatch(f.Tag.Value); m != nil {
								add(spec.Name.Name, m[1], f, f.Doc)
							}
						}
					}
				case *ast.ValueSpec:
					doc := spec.Doc
					if doc == nil {
						doc = d.Doc
					}
					for _, n := range spec.Names {
						add("", n.Name, spec, doc)
					}
				}
			}
		}
	}
	return s, nil
}

var inJSON = regexp.MustCompile(`json:"(\w+)`)

func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return ""
	}
	t := d.Recv.List[0].Type
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	if name, ok := t.(*ast.Ident); ok {
		return name.Name
	}
	return ""
}

func members(t ast.Expr) []*ast.Field {
	switch t := t.(type) {
	case *ast.StructType:
		return t.Fields.List
	case *ast.InterfaceType:
		return t.Methods.List
	}
	return nil
}

var says = regexp.MustCompile(`\w`)

// wrong says why c does not cite a place of s; it is "" if it does.
func wrong(c citation, s *source) string {
	if c.line > 0 {
		switch {
		case c.line > len(s.lines):
			return fmt.Sprintf("the file ends at line %d", len(s.lines))
		case !says.MatchString(s.lines[c.line-1]):
			return fmt.Sprintf("there is nothing but %q", s.lines[c.line-1])
		case s.imports.has(c.line, 0):
			return "there are its imports"
		}
	}
	if len(c.symbols) == 0 {
		return ""
	}
	var places []string
	for _, symbol := range c.symbols {
		for _, d := range s.declared[symbol] {
			where := d.all
			if c.doc {
				where = d.doc
			}
			if c.line == 0 || where.has(c.line, near) {
				return ""
			}
			places = append(places, fmt.Sprintf("%d-%d", where.from, where.to))
		}
	}
	name := strings.Join(c.symbols, " or ")
	if places == nil {
		return name + " is not declared in this file"
	}
	return fmt.Sprintf("%s is at %s; there is %q", name, strings.Join(places, ", "), strings.TrimSpace(s.lines[c.line-1]))
}

// An upstream is the source of the Kubernetes modules of one release.
type upstream struct {
	files   map[string][]string // path below k8s.io/…, by version and base name
	where   map[string]string   // on disk
	sources map[string]*source
}

var required = regexp.MustCompile(`(?m)^\s+(k8s\.io/\S+) (v[01]\.\d+\.\d+)( // indirect)?$`)

// load lists the Go files of k8s.io/kubernetes and of its staging modules.
func load(t *testing.T) (*upstream, []string) {
	gomod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	require.NoError(t, err)
	released := regexp.MustCompile(`k8s\.io/kubernetes v1(\.\d+\.\d+)`).FindSubmatch(gomod)
	require.NotNil(t, released, "go.mod requires k8s.io/kubernetes")
	versions := []string{"v1" + string(released[1]), "v0" + string(released[1])}
	command := exec.Command("go", "list", "-m", "-f", "{{.Path}} {{.Version}} {{.Dir}}")
	for _, m := range required.FindAllSubmatch(gomod, -1) {
		if slices.Contains(versions, string(m[2])) {
			command.Args = append(command.Args, string(m[1]))
		}
	}
	command.Dir = root
	out, err := command.Output()
	require.NoError(t, err)

	u := &upstream{map[string][]string{}, map[string]string{}, map[string]*source{}}
	for _, module := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		name, rest, _ := strings.Cut(module, " ")
		version, dir, _ := strings.Cut(rest, " ")
		if dir == "" {
			continue // nothing of it is compiled in, so it was never downloaded
		}
		require.NoError(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err == nil && !e.IsDir() && strings.HasSuffix(path, ".go") {
				full := filepath.ToSlash(name + strings.TrimPrefix(path, dir))
				key := version + " " + e.Name()
				u.files[key] = append(u.files[key], full)
				u.where[full] = path
			}
			return err
		}))
	}
	return u, versions
}

// check says why c is wrong, or "". A path that ends several files of upstream's may
// mean any of them, but the scheduler's if there are such.
func (u *upstream) check(t *testing.T, c citation) string {
	var candidates, scheduler []string
	for _, full := range u.files[c.version+" "+filepath.Base(c.path)] {
		if strings.HasSuffix(full, "/"+c.path) {
			candidates = append(candidates, full)
			if strings.Contains(full, "/pkg/scheduler/") {
				scheduler = append(scheduler, full)
			}
		}
	}
	if scheduler != nil {
		candidates = scheduler
	}
	if candidates == nil {
		return "there is no such file"
	}
	var reasons []string
	for _, full := range candidates {
		s, ok := u.sources[full]
		if !ok {
			text, err := os.ReadFile(u.where[full])
			require.NoError(t, err)
			s, err = read(full, text)
			require.NoError(t, err)
			u.sources[full] = s
		}
		why := wrong(c, s)
		if why == "" {
			return ""
		}
		reasons = append(reasons, full+": "+why)
	}
	return strings.Join(reasons, "; ")
}

// TestUpstreamIsWhereTheRepositorySays looks up each citation in the Go files and the
// documentation; the ledger of findings is among the Go files.
func TestUpstreamIsWhereTheRepositorySays(t *testing.T) {
	u, versions := load(t)
	seen := map[string]int{}
	require.NoError(t, filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir():
			if e.Name() == ".git" {
				return filepath.SkipDir
			}
			return nil
		case filepath.Ext(path) != ".go" && filepath.Ext(path) != ".md":
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		ours, err := filepath.Rel(root, path)
		for _, c := range find(ours, string(text)) {
			if !slices.Contains(versions, c.version) {
				continue
			}
			seen[c.version]++
			if why := u.check(t, c); why != "" {
				t.Errorf("%s cites %s %v: %s", c.at, c.text, c.symbols, why)
			}
		}
		return err
	}))
	for _, version := range versions {
		require.NotZero(t, seen[version], "citations of "+version)
	}
}

// TestWrong: each rule is broken by one citation of a made-up file.
func TestWrong(t *testing.T) {
	s, err := read("made/up.go", []byte(`package up

import (
	"fmt"
)

// Pick takes the first
// of all.
func (p *Picker) Pick(all []string) string {
	if len(all) == 0 {
		return ""
	}

	fmt.Println(
		"a",
		"b",
	)
	return all[0]
}

// A Picker picks.
type Picker struct {
	// Most is how many.
	Most int `+"`json:\"most\"`"+`
}

// Limit is the most there can be.
const Limit = 3
`))
	require.NoError(t, err)
	for text, want := range map[string]string{
		"// at up.go:7@v9.9.9, doc comment of Pick.":             "",
		"// at up.go:10@v9.9.9.":                                 "",
		"// at up.go:18@v9.9.9, Picker.Pick.":                    "",
		"// (up.go:18@v9.9.9,\n// Pick), which":                  "",
		"Picker.most (up.go:24@v9.9.9)":                          "",
		"the doc comment of\n// Limit (up.go:7@v9.9.9)":          `Limit is at 27-28; there is "// Pick takes the first"`,
		"// at up.go:28@v9.9.9, Limit; and more":                 "",
		"// at up.go@v9.9.9, Picker":                             "",
		"// at up.go:10@v9.9.9, and line 11":                     "",
		"// at up.go:10@v9.9.9, other.go:11@v9.9.8":              "",
		"doc comments of Picker.Pick and Limit (up.go:7@v9.9.9)": "",
		"// at up.go:29@v9.9.9":                                  "the file ends at line 28",
		"// at up.go:13@v9.9.9":                                  `there is nothing but ""`,
		"// at up.go:12@v9.9.9":                                  `there is nothing but "\t}"`,
		"// at up.go:4@v9.9.9":                                   "there are its imports",
		"// at up.go:7@v9.9.9, Limit":                            `Limit is at 27-28; there is "// Pick takes the first"`,
		"// (up.go:7@v9.9.9,\n// Limit)":                         `Limit is at 27-28; there is "// Pick takes the first"`,
		"// at up.go:18@v9.9.9, doc comment of Pick":             `Pick is at 7-9; there is "return all[0]"`,
		"Picker.most (up.go:7@v9.9.9)":                           `Picker.most is at 23-24; there is "// Pick takes the first"`,
		"// at up.go@v9.9.9, Chooser":                            "Chooser is not declared in this file",
		"// at up.go:7@v9.9.9, chooser)":                         "chooser is not declared in this file",
	} {
		found := find("ours.go", text)
		require.NotEmpty(t, found, text)
		require.Equal(t, want, wrong(found[0], s), text)
	}
}

// TestCheck: of several files that a path may mean the scheduler's counts, and any
// of the others where it has none.
func TestCheck(t *testing.T) {
	dir := t.TempDir()
	u := &upstream{map[string][]string{}, map[string]string{}, map[string]*source{}}
	for full, text := range map[string]string{
		"k8s.io/made/pkg/scheduler/a/util.go": "package a\n",
		"k8s.io/made/pkg/b/a/util.go":         "package a\n\nvar B int\n",
		"k8s.io/made/pkg/c/x.go":              "package c\n",
		"k8s.io/made/pkg/d/x.go":              "package d\n\nvar D int\n",
	} {
		base := filepath.Base(full)
		u.files["v9.9.9 "+base] = append(u.files["v9.9.9 "+base], full)
		u.where[full] = filepath.Join(dir, strings.ReplaceAll(full, "/", "-"))
		require.NoError(t, os.WriteFile(u.where[full], []byte(text), 0o600))
	}
	for text, want := range map[string]string{
		"a/util.go:1@v9.9.9":    "",
		"x.go:3@v9.9.9, D":      "",
		"a/util.go:3@v9.9.9, B": "k8s.io/made/pkg/scheduler/a/util.go: the file ends at line 1",
		"b/x.go:1@v9.9.9":       "there is no such file",
		"x.go:1@v9.9.8":         "there is no such file",
	} {
		require.Equal(t, want, u.check(t, find("ours.go", text)[0]), text)
	}
}
