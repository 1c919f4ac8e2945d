package plant

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// switches is the source of the package of switches.
//
//go:embed switches.go.txt
var switches []byte

// The environment of the switches: the number of the mutant that is on, and the file in which each that is come by leaves a byte.
const (
	ActiveVariable  = "PREEMPTCHECK_MUTANT"
	ReachedVariable = "PREEMPTCHECK_REACHED"
)

// Planted is source with mutants.
type Planted struct {
	// Sites are all mutants, by number: that of the first is 1.
	Sites []*Site
	// Files are the files that change, and those that are new, by their path below the root of the module.
	Files map[string][]byte
}

// Plant plants mutants in packages of a module. The directory is one in which the go command knows the module; at is the directory below the
// root of the module that the package of switches gets. A mutant that does not compile is no mutant.
func Plant(ctx context.Context, dir, module, at string, scopes []Scope) (*Planted, error) {
	var patterns []string
	for _, s := range scopes {
		patterns = append(patterns, s.Package)
	}
	loaded, err := packages.Load(&packages.Config{Context: ctx, Dir: dir, Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedSyntax | packages.NeedTypes |
		packages.NeedTypesInfo | packages.NeedImports}, patterns...)
	if err != nil {
		return nil, err
	}
	planted := &Planted{Files: map[string][]byte{path.Join(at, "switches.go"): switches}}
	switchesPath := path.Join(module, at)
	next := 0
	for _, s := range scopes {
		i := slices.IndexFunc(loaded, func(p *packages.Package) bool { return p.PkgPath == s.Package })
		if i < 0 {
			return nil, fmt.Errorf("%s: no such package", s.Package)
		}
		p := loaded[i]
		if len(p.Errors) > 0 {
			return nil, fmt.Errorf("%s: %w", s.Package, p.Errors[0])
		}
		files, err := s.look(p, module, &next)
		if err != nil {
			return nil, err
		}
		sources, err := compiling(p, files, switchesPath)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.Package, err)
		}
		for _, f := range files {
			planted.Sites = append(planted.Sites, f.sites...)
			planted.Files[f.name] = sources[f.name]
		}
	}
	return planted, nil
}

// look finds the mutants of a scope.
func (s *Scope) look(p *packages.Package, module string, next *int) (files []*file, err error) {
	taken := s.functions(p.Syntax, p.TypesInfo)
	for i, syntax := range p.Syntax {
		base := filepath.Base(p.CompiledGoFiles[i])
		if !s.takes(base) {
			continue
		}
		f := &file{fset: p.Fset, syntax: syntax, info: p.TypesInfo, pkg: p.Types, next: next,
			name: strings.TrimPrefix(path.Join(p.PkgPath, base), module+"/")}
		if f.source, err = os.ReadFile(p.CompiledGoFiles[i]); err != nil {
			return nil, err
		}
		for _, d := range syntax.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && taken[fn] {
				f.function(fn)
			}
		}
		if len(f.sites) > 0 {
			files = append(files, f)
		}
	}
	return files, nil
}

// compiling is the source of files with all mutants that compile. The others are no sites any more.
func compiling(p *packages.Package, files []*file, switchesPath string) (map[string][]byte, error) {
	without := map[int]bool{}
	for range 20 {
		sources, bad, err := check(p, files, switchesPath, without)
		if err != nil {
			return nil, err
		}
		if len(bad) == 0 {
			for _, f := range files {
				f.sites = slices.DeleteFunc(f.sites, func(s *Site) bool { return without[s.ID] })
			}
			return sources, nil
		}
		for _, site := range bad {
			without[site] = true
		}
	}
	return nil, errors.New("there is no end to mutants that do not compile")
}

// check compiles a package with mutants, and names those at which there are errors.
func check(p *packages.Package, files []*file, switchesPath string, without map[int]bool) (sources map[string][]byte, bad []int, err error) {
	sources = map[string][]byte{}
	fset := token.NewFileSet()
	var parsed []*ast.File
	spans := map[string][]span{}
	for i := range p.Syntax {
		base := filepath.Base(p.CompiledGoFiles[i])
		j := slices.IndexFunc(files, func(f *file) bool { return path.Base(f.name) == base })
		var source []byte
		if j < 0 {
			if source, err = os.ReadFile(p.CompiledGoFiles[i]); err != nil {
				return nil, nil, err
			}
		} else {
			f := files[j]
			source, spans[base] = f.rewritten(without, switchesPath)
			sources[f.name] = source
		}
		f, err := parser.ParseFile(fset, base, source, parser.SkipObjectResolution)
		if err != nil {
			return nil, nil, fmt.Errorf("%s with mutants: %w", base, err)
		}
		parsed = append(parsed, f)
	}
	own, err := parser.ParseFile(fset, "switches.go", switches, parser.SkipObjectResolution)
	if err != nil {
		return nil, nil, err
	}
	imports := importer{path: switchesPath, all: map[string]*types.Package{}}
	collect(p, imports.all)
	ownConfig := types.Config{Importer: imports, FakeImportC: true, Error: func(error) {}}
	imports.own, _ = ownConfig.Check(switchesPath, fset, []*ast.File{own}, nil)
	var unplaced error
	config := types.Config{Importer: imports, Error: func(err error) {
		var e types.Error
		if !errors.As(err, &e) {
			unplaced = err
			return
		}
		at := fset.Position(e.Pos)
		if site, ok := culprit(spans[at.Filename], at.Offset); ok {
			bad = append(bad, site)
		} else {
			unplaced = err
		}
	}}
	_, _ = config.Check(p.PkgPath, fset, parsed, nil)
	if len(bad) == 0 && unplaced != nil {
		return nil, nil, unplaced
	}
	return sources, bad, nil
}

// importer knows the packages that another one imports, as they were loaded with it.
type importer struct {
	path string
	own  *types.Package
	all  map[string]*types.Package
}

func (i importer) Import(path string) (*types.Package, error) {
	if path == i.path {
		return i.own, nil
	}
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	if p := i.all[path]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("%s was not loaded", path)
}

// collect finds all packages that one imports, and those that they import.
func collect(p *packages.Package, all map[string]*types.Package) {
	var add func(t *types.Package)
	add = func(t *types.Package) {
		if all[t.Path()] != nil {
			return
		}
		all[t.Path()] = t
		for _, i := range t.Imports() {
			add(i)
		}
	}
	for _, t := range p.Types.Imports() {
		add(t)
	}
}
