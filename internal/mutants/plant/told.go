package plant

import (
	"go/ast"
	"go/types"
	"strings"
)

// isTold tells whether a call writes a log, or counts for metrics: nobody promises what is told there. A function literal that is called is told
// if it does nothing else. An event is not, whoever is to log that it cannot be sent.
func (f *file) isTold(e ast.Expr) bool {
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return false
	}
	switch fun := call.Fun.(type) {
	case *ast.FuncLit:
		return f.onlyTells(fun.Body)
	case *ast.SelectorExpr:
		if fun.Sel.Name == "Eventf" {
			return false
		}
	}
	told := false
	ast.Inspect(call.Fun, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			switch o := f.info.Uses[id].(type) {
			case *types.PkgName:
				path := o.Imported().Path()
				told = told || strings.HasSuffix(path, "klog/v2") || strings.HasSuffix(path, "/metrics") || strings.HasSuffix(path, "util/runtime") || strings.Contains(path, "otel")
			case *types.Var:
				told = told || strings.HasSuffix(types.Unalias(o.Type()).String(), "logr.Logger")
			}
		}
		return !told
	})
	return told
}

// onlyTells tells whether all statements write logs, or count.
func (f *file) onlyTells(b *ast.BlockStmt) bool {
	for _, s := range b.List {
		if e, ok := s.(*ast.ExprStmt); !ok || !f.isTold(e.X) {
			return false
		}
	}
	return true
}

// isAboutTelling tells whether a condition asks whether a log is written.
func (f *file) isAboutTelling(e ast.Expr) bool {
	return strings.HasSuffix(f.text(e), ".Enabled()") && strings.Contains(strings.ToLower(f.text(e)), "log")
}
