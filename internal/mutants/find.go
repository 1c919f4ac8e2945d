package mutants

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"strconv"
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
		f.statement(stmts[i], results, inLoop)
	}
}

// isLocked tells whether a lock is taken by one statement, and the next one defers its release.
func (f *file) isLocked(lock, release ast.Stmt) bool {
	e, ok := lock.(*ast.ExprStmt)
	if !ok {
		return false
	}
	d, ok := release.(*ast.DeferStmt)
	if !ok {
		return false
	}
	taken, released := f.text(e.X), f.text(d.Call)
	for _, pair := range [][2]string{{".Lock()", ".Unlock()"}, {".RLock()", ".RUnlock()"}} {
		if on, ok := strings.CutSuffix(taken, pair[0]); ok && released == on+pair[1] {
			return true
		}
	}
	return false
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
		f.boolean(s.Cond)
		f.expr(s.Cond)
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
	f.sites[len(f.sites)-1].Source = oneLine(string(f.source[f.offset(loop.Pos()):f.offset(body.Lbrace)]))
	f.insert(site, f.offset(body.Rbrace), fmt.Sprintf("; if %s.On(%d) { break }", alias, site))
}

// returned has a result be nil.
func (f *file) returned(s *ast.ReturnStmt, results *types.Tuple) {
	if results == nil || len(s.Results) != results.Len() {
		return
	}
	for i, e := range s.Results {
		tv := f.info.Types[e]
		switch results.At(i).Type().Underlying().(type) {
		case *types.Pointer, *types.Slice, *types.Map, *types.Interface, *types.Signature:
		default:
			continue
		}
		if tv.IsNil() || f.isTypeParam(results.At(i).Type()) {
			continue
		}
		var all []string
		for j, other := range s.Results {
			if j == i {
				all = append(all, "nil")
			} else {
				all = append(all, f.text(other))
			}
		}
		site := f.site(s, Return, "return "+strings.Join(all, ", "))
		f.sites[len(f.sites)-1].Column += i // each has a name of its own
		f.wrap(site, s, fmt.Sprintf("if %s.On(%d) { return %s }; ", alias, site, strings.Join(all, ", ")), "")
	}
}

func (f *file) isTypeParam(t types.Type) bool {
	_, is := types.Unalias(t).(*types.TypeParam)
	return is
}

// boolean negates an expression that is a condition, or what that is made of.
func (f *file) boolean(e ast.Expr) {
	switch e := e.(type) {
	case *ast.ParenExpr:
		f.boolean(e.X)
		return
	case *ast.UnaryExpr:
		if e.Op == token.NOT {
			f.boolean(e.X)
			return
		}
	case *ast.BinaryExpr:
		if e.Op == token.LAND || e.Op == token.LOR {
			f.boolean(e.X)
			f.boolean(e.Y)
			return
		}
	}
	tv := f.info.Types[e]
	if basic, ok := tv.Type.Underlying().(*types.Basic); !ok || basic.Info()&types.IsBoolean == 0 || tv.Value != nil {
		return
	}
	site := f.site(e, Negate, "!("+f.text(e)+")")
	f.wrap(site, e, fmt.Sprintf("%s.Not(%d, ", alias, site), ")")
}

// expr looks through an expression.
func (f *file) expr(e ast.Expr) {
	switch e := e.(type) {
	case nil:
	case *ast.ParenExpr:
		f.expr(e.X)
	case *ast.UnaryExpr:
		f.expr(e.X)
	case *ast.StarExpr:
		f.expr(e.X)
	case *ast.SelectorExpr:
		f.expr(e.X)
	case *ast.TypeAssertExpr:
		f.expr(e.X)
	case *ast.KeyValueExpr:
		f.expr(e.Value)
	case *ast.SliceExpr:
		f.expr(e.X)
		for _, i := range []ast.Expr{e.Low, e.High, e.Max} {
			f.expr(i)
		}
	case *ast.IndexExpr:
		f.index(e)
		f.expr(e.X)
		f.expr(e.Index)
	case *ast.CompositeLit:
		_, isArray := f.info.Types[e].Type.Underlying().(*types.Array)
		for _, x := range e.Elts {
			if !isArray {
				f.expr(x)
			}
		}
	case *ast.FuncLit:
		f.block(e.Body, f.info.Types[e].Type.(*types.Signature).Results(), false)
	case *ast.BinaryExpr:
		f.binary(e)
		f.expr(e.X)
		f.expr(e.Y)
	case *ast.CallExpr:
		f.call(e)
	case *ast.BasicLit:
		f.literal(e)
	case *ast.Ident:
		if c, ok := f.info.Uses[e].(*types.Const); ok && c.Pkg() == nil && (e.Name == "true" || e.Name == "false") {
			site := f.site(e, Bool, map[string]string{"true": "false", "false": "true"}[e.Name])
			f.wrap(site, e, fmt.Sprintf("%s.Not(%d, ", alias, site), ")")
		}
	}
}

// index asks a map for another key.
func (f *file) index(e *ast.IndexExpr) {
	m, ok := f.info.Types[e.X].Type.Underlying().(*types.Map)
	key := f.info.Types[e.Index]
	if !ok || key.Value != nil || !types.Identical(m.Key(), key.Type) {
		return
	}
	site := f.site(e, Key, f.text(e.X)+"[zero]")
	f.wrap(site, e.Index, fmt.Sprintf("%s.Key(%d, ", alias, site), ")")
}

// call looks through one, and swaps its first two arguments that have the same type.
func (f *file) call(e *ast.CallExpr) {
	if f.isTold(e) {
		return
	}
	if tv := f.info.Types[e.Fun]; tv.IsType() || tv.IsBuiltin() {
		for i, a := range e.Args {
			if !tv.IsBuiltin() || i > 0 || !f.info.Types[a].IsType() {
				f.expr(a)
			}
		}
		return
	}
	for i := 0; i+1 < len(e.Args); i++ {
		a, b := e.Args[i], e.Args[i+1]
		ta, tb := f.info.Types[a], f.info.Types[b]
		if isPlain(a) && isPlain(b) && ta.Value == nil && tb.Value == nil && !ta.IsNil() && !tb.IsNil() && types.Identical(ta.Type, tb.Type) && f.text(a) != f.text(b) {
			site := f.site(e, Swap, strings.Join([]string{f.text(b), f.text(a)}, ", "))
			for _, two := range [][2]ast.Expr{{a, b}, {b, a}} {
				f.wrap(site, two[0], fmt.Sprintf("%s.Swap(%d, ", alias, site), ", "+f.text(two[1])+")")
			}
			for j, other := range e.Args {
				if j != i && j != i+1 {
					f.expr(other)
				}
			}
			f.expr(e.Fun)
			return
		}
	}
	f.expr(e.Fun)
	for _, a := range e.Args {
		f.expr(a)
	}
}

// isPlain: an expression can be evaluated twice.
func isPlain(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return true
	case *ast.SelectorExpr:
		return isPlain(e.X)
	}
	return false
}

// binary mutates what has two operands.
func (f *file) binary(e *ast.BinaryExpr) {
	if f.info.Types[e].Value != nil {
		return
	}
	x, y := f.text(e.X), f.text(e.Y)
	switch e.Op {
	case token.LSS, token.GTR:
		site := f.site(e, Shift, x+" "+e.Op.String()+"= "+y)
		f.wrap(site, e, "(", fmt.Sprintf(" || %s.On(%d) && %s == %s)", alias, site, x, y))
	case token.LEQ, token.GEQ:
		site := f.site(e, Shift, x+" "+strings.TrimSuffix(e.Op.String(), "=")+" "+y)
		f.wrap(site, e, "(", fmt.Sprintf(" && !(%s.On(%d) && %s == %s))", alias, site, x, y))
	case token.LAND, token.LOR:
		other := map[token.Token]string{token.LAND: "||", token.LOR: "&&"}[e.Op]
		is := fmt.Sprintf("(%s) %s (%s)", x, other, y)
		site := f.site(e, Junction, is)
		f.wrap(site, e, fmt.Sprintf("(%s.On(%d) && (%s) || !%s.On(%d) && (", alias, site, is, alias, site), "))")
	case token.ADD, token.SUB, token.MUL, token.QUO:
		if basic, ok := f.info.Types[e].Type.Underlying().(*types.Basic); !ok || basic.Info()&types.IsNumeric == 0 {
			return
		}
		name, is := "", ""
		switch e.Op {
		case token.ADD:
			name, is = "Add", x+" - "+y
		case token.SUB:
			name, is = "Sub", y+" - "+x
		case token.MUL:
			name, is = "Mul", x+" / "+y
		case token.QUO:
			name, is = "Quo", x+" * "+y
		}
		site := f.site(e, Arith, is)
		f.wrap(site, e, fmt.Sprintf("%s.%s(%d, ", alias, name, site), ")")
		at := f.offset(e.OpPos)
		f.edits = append(f.edits, edit{at: at, length: len(e.Op.String()), text: ",", start: at, end: at, site: site})
	}
}

// literal has an integer be one more.
func (f *file) literal(e *ast.BasicLit) {
	tv := f.info.Types[e]
	if e.Kind != token.INT || tv.Value == nil || tv.Value.Kind() != constant.Int {
		return
	}
	basic, ok := tv.Type.Underlying().(*types.Basic)
	if !ok || basic.Info()&types.IsInteger == 0 || basic.Info()&types.IsUntyped != 0 {
		return
	}
	name, ok := f.typeName(tv.Type)
	if !ok {
		return
	}
	is := e.Value + " + 1"
	if n, err := strconv.ParseInt(e.Value, 0, 64); err == nil {
		is = strconv.FormatInt(n+1, 10)
	}
	site := f.site(e, Constant, is)
	f.wrap(site, e, "(", fmt.Sprintf(" + %s.One[%s](%d))", alias, name, site))
}

// typeName is how a type is called in the file.
func (f *file) typeName(t types.Type) (string, bool) {
	ok := true
	name := types.TypeString(t, func(p *types.Package) string {
		if p == f.pkg {
			return ""
		}
		for _, spec := range f.syntax.Imports {
			path, _ := strconv.Unquote(spec.Path.Value)
			if path == p.Path() {
				if spec.Name != nil {
					return spec.Name.Name
				}
				return p.Name()
			}
		}
		ok = false
		return ""
	})
	return name, ok && !strings.HasPrefix(name, ".")
}

// isTold tells whether a call writes a log, or counts for metrics: nobody promises what is told there.
func (f *file) isTold(e ast.Expr) bool {
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return false
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

func oneLine(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > 120 {
		return string(runes[:119]) + "…"
	}
	return text
}
