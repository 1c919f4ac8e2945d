package plant

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// alias is the name by which the switches are imported.
const alias = "preemptcheckmutants"

// function looks for mutants in a function.
func (f *file) function(fn *ast.FuncDecl) {
	f.fn = fn.Name.Name
	if fn.Recv != nil && len(fn.Recv.List) == 1 {
		f.fn = strings.TrimLeft(f.text(fn.Recv.List[0].Type), "*") + "." + f.fn
	}
	f.block(fn.Body, results(f.info.Defs[fn.Name].Type()), false)
}

func results(t types.Type) *types.Tuple { return t.Underlying().(*types.Signature).Results() }

// block looks through statements; in a loop, break and continue are about that.
func (f *file) block(b *ast.BlockStmt, results *types.Tuple, inLoop bool) {
	if b != nil {
		f.list(b.List, results, inLoop)
	}
}

func (f *file) list(stmts []ast.Stmt, results *types.Tuple, inLoop bool) {
	for i := 0; i < len(stmts); i++ {
		if i+1 < len(stmts) && f.isLocked(stmts[i], stmts[i+1]) {
			site := f.site(stmts[i], DropLock, "nothing")
			for _, s := range stmts[i : i+2] {
				f.wrap(site, s, fmt.Sprintf("if !%s.On(%d) { ", alias, site), " }")
			}
			i++
			continue
		}
		f.unlocked(stmts[i:])
		f.statement(stmts[i], results, inLoop)
	}
}

// isLocked tells whether a lock is taken by one statement, and the next one defers its release.
func (f *file) isLocked(lock, release ast.Stmt) bool {
	d, ok := release.(*ast.DeferStmt)
	return ok && f.releaseOf(lock) == f.text(d.Call)
}

// releaseOf is the call that releases the lock that a statement takes; "" if it takes none.
func (f *file) releaseOf(s ast.Stmt) string {
	if e, ok := s.(*ast.ExprStmt); ok {
		for _, pair := range [][2]string{{".Lock()", ".Unlock()"}, {".RLock()", ".RUnlock()"}} {
			if on, ok := strings.CutSuffix(f.text(e.X), pair[0]); ok {
				return on + pair[1]
			}
		}
	}
	return ""
}

// unlocked leaves out a lock that the first of some statements takes, with all calls that release it, of which one is among them.
func (f *file) unlocked(stmts []ast.Stmt) {
	release := f.releaseOf(stmts[0])
	if release == "" {
		return
	}
	all := []ast.Stmt{stmts[0]}
	for _, s := range stmts[1:] {
		ast.Inspect(s, func(n ast.Node) bool {
			if e, ok := n.(*ast.ExprStmt); ok && f.text(e.X) == release {
				all = append(all, e)
			}
			_, isFunc := n.(*ast.FuncLit)
			return !isFunc
		})
		if all[len(all)-1] == s {
			site := f.site(stmts[0], DropLock, "nothing")
			for _, s := range all {
				f.wrap(site, s, fmt.Sprintf("if !%s.On(%d) { ", alias, site), " }")
			}
			return
		}
	}
}

// droppable wraps a statement so that it can be left out.
func (f *file) drop(s ast.Stmt, op Operator) {
	site := f.site(s, op, "nothing")
	f.wrap(site, s, fmt.Sprintf("if !%s.On(%d) { ", alias, site), " }")
}

func (f *file) statement(s ast.Stmt, results *types.Tuple, inLoop bool) {
	switch s := s.(type) {
	case *ast.ExprStmt:
		if f.isTold(s.X) {
			return
		}
		if call, ok := s.X.(*ast.CallExpr); ok && f.text(call.Fun) != "panic" {
			f.drop(s, Drop)
		}
		f.expr(s.X)
	case *ast.AssignStmt:
		if len(s.Rhs) == 1 && f.isTold(s.Rhs[0]) {
			return
		}
		if s.Tok != token.DEFINE && !f.onlyBlank(s.Lhs) {
			f.drop(s, Drop)
		}
		for _, e := range s.Lhs {
			if s.Tok != token.DEFINE {
				f.expr(e)
			}
		}
		for _, e := range s.Rhs {
			f.expr(e)
		}
	case *ast.IncDecStmt:
		f.drop(s, Drop)
	case *ast.SendStmt:
		f.drop(s, Drop)
		f.expr(s.Value)
	case *ast.DeferStmt:
		if f.isTold(s.Call) {
			return
		}
		f.drop(s, DropDefer)
		f.expr(s.Call)
	case *ast.GoStmt:
		f.drop(s, Drop)
		f.expr(s.Call)
	case *ast.ReturnStmt:
		f.returned(s, results)
		for _, e := range s.Results {
			f.boolean(e)
			f.expr(e)
		}
	case *ast.BranchStmt:
		if s.Label != nil || !inLoop {
			return
		}
		switch s.Tok {
		case token.CONTINUE:
			site := f.site(s, EndLoop, "break")
			f.wrap(site, s, fmt.Sprintf("if %s.On(%d) { break }; ", alias, site), "")
		case token.BREAK:
			site := f.site(s, GoOn, "continue")
			f.wrap(site, s, fmt.Sprintf("if %s.On(%d) { continue }; ", alias, site), "")
		}
	case *ast.IfStmt:
		if f.isAboutTelling(s.Cond) {
			return
		}
		f.simple(s.Init)
		if s.Else == nil && f.onlyTells(s.Body) {
			return
		}
		first := len(f.sites)
		f.boolean(s.Cond)
		f.expr(s.Cond)
		if list := s.Body.List; len(list) > 1 && f.isLocked(list[0], list[1]) {
			for _, site := range f.sites[first:] {
				site.Guards = true
			}
		}
		f.block(s.Body, results, inLoop)
		if s.Else != nil {
			f.statement(s.Else, results, inLoop)
		}
	case *ast.ForStmt:
		f.simple(s.Init)
		if s.Cond != nil {
			f.boolean(s.Cond)
			f.expr(s.Cond)
		}
		f.endAfterFirst(s, s.Body)
		f.block(s.Body, results, true)
	case *ast.RangeStmt:
		f.expr(s.X)
		f.endAfterFirst(s, s.Body)
		f.block(s.Body, results, true)
	case *ast.BlockStmt:
		f.block(s, results, inLoop)
	case *ast.SwitchStmt:
		f.simple(s.Init)
		f.expr(s.Tag)
		f.clauses(s.Body, results, s.Tag == nil)
	case *ast.TypeSwitchStmt:
		f.simple(s.Init)
		f.clauses(s.Body, results, false)
	case *ast.SelectStmt:
		f.clauses(s.Body, results, false)
	case *ast.LabeledStmt:
		f.statement(s.Stmt, results, inLoop)
	case *ast.DeclStmt:
		if d, ok := s.Decl.(*ast.GenDecl); ok && d.Tok == token.VAR {
			for _, spec := range d.Specs {
				for _, e := range spec.(*ast.ValueSpec).Values {
					f.expr(e)
				}
			}
		}
	}
}

// clauses looks through those of a switch. What is compared with no tag is a condition.
func (f *file) clauses(b *ast.BlockStmt, results *types.Tuple, conditions bool) {
	for _, c := range b.List {
		switch c := c.(type) {
		case *ast.CaseClause:
			for _, e := range c.List {
				if conditions {
					f.boolean(e)
					f.expr(e)
				}
			}
			f.list(c.Body, results, false)
		case *ast.CommClause:
			f.list(c.Body, results, false)
		}
	}
}

// simple looks through a statement that cannot be left out where it stands.
func (f *file) simple(s ast.Stmt) {
	switch s := s.(type) {
	case *ast.AssignStmt:
		for _, e := range s.Rhs {
			f.expr(e)
		}
	case *ast.ExprStmt:
		f.expr(s.X)
	}
}

func (f *file) onlyBlank(lhs []ast.Expr) bool {
	for _, e := range lhs {
		if id, ok := e.(*ast.Ident); !ok || id.Name != "_" {
			return false
		}
	}
	return true
}

// endAfterFirst ends a loop after its first round.
func (f *file) endAfterFirst(loop ast.Stmt, body *ast.BlockStmt) {
	if len(body.List) == 0 {
		return
	}
	site := f.site(loop, EndLoop, "ends after its first round")
	f.sites[len(f.sites)-1].Source = OneLine(string(f.source[f.offset(loop.Pos()):f.offset(body.Lbrace)]))
	f.insert(site, f.offset(body.Rbrace), fmt.Sprintf("; if %s.On(%d) { break }", alias, site))
}

// returned has a result be nil, zero or empty. What is returned beside an error nobody reads.
func (f *file) returned(s *ast.ReturnStmt, results *types.Tuple) {
	if results == nil || len(s.Results) != results.Len() {
		return
	}
	fails := slices.ContainsFunc(s.Results, func(e ast.Expr) bool {
		tv := f.info.Types[e]
		return !tv.IsNil() && types.Implements(tv.Type, errorType)
	})
	for i, e := range s.Results {
		zero := zeroOf(results.At(i).Type())
		if zero == "" || f.info.Types[e].IsNil() || f.isTypeParam(results.At(i).Type()) {
			continue
		}
		if value := f.info.Types[e].Value; zero != "nil" && (fails || value != nil && (value.ExactString() == zero)) {
			continue
		}
		var all []string
		for j, other := range s.Results {
			if j == i {
				all = append(all, zero)
			} else {
				all = append(all, f.text(other))
			}
		}
		site := f.site(s, Return, "return "+strings.Join(all, ", "))
		f.sites[len(f.sites)-1].Column += i // each has a name of its own
		f.wrap(site, s, fmt.Sprintf("if %s.On(%d) { return %s }; ", alias, site, strings.Join(all, ", ")), "")
	}
}

var errorType = types.Universe.Lookup("error").Type().Underlying().(*types.Interface)

// zeroOf is how the zero value of a type is written; "" if that is not one of a few ways, or bool, whose values are negated.
func zeroOf(t types.Type) string {
	switch t := t.Underlying().(type) {
	case *types.Pointer, *types.Slice, *types.Map, *types.Interface, *types.Signature:
		return "nil"
	case *types.Basic:
		switch {
		case t.Info()&types.IsNumeric != 0:
			return "0"
		case t.Info()&types.IsString != 0:
			return `""`
		}
	}
	return ""
}

func (f *file) isTypeParam(t types.Type) bool {
	_, is := types.Unalias(t).(*types.TypeParam)
	return is
}
