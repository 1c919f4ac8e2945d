package plant

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"strconv"
	"strings"
)

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
