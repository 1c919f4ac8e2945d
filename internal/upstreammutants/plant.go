package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
)

// Plant makes the change in the source of m.File. It fails unless m.Func is there
// once and holds m.Find once: upstream has changed, and the mutant has to.
func (m *Mutant) Plant(source []byte) ([]byte, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, m.File, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var found []*ast.FuncDecl
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Name.Name == m.Func {
			found = append(found, f)
		}
	}
	if len(found) != 1 {
		return nil, fmt.Errorf("%s: %s has %d functions %s, want 1", m.Name, m.File, len(found), m.Func)
	}
	start, end := fset.Position(found[0].Pos()).Offset, fset.Position(found[0].End()).Offset
	body := string(source[start:end])
	if n := strings.Count(body, m.Find); n != 1 {
		return nil, fmt.Errorf("%s: %s has %q %d times, want once", m.Name, m.Func, m.Find, n)
	}
	changed := string(source[:start]) + strings.Replace(body, m.Find, m.Replace, 1) + string(source[end:])
	return []byte(changed), nil
}
