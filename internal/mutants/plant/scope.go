package plant

import (
	"go/ast"
	"go/types"
	"path"
	"slices"
)

// Scope is a part of a package in which mutants are planted.
type Scope struct {
	// Package is its import path.
	Package string
	// Files are the base names of those that are looked through; all if there are none. Not are those that are not.
	Files, Not []string
	// Roots are the functions, or methods of any type, from which those are reached that are looked through, by way of the package; all
	// functions if there are none.
	Roots []string
}

const scheduler = "k8s.io/kubernetes/pkg/scheduler"

// ofFilter are the methods of a filter plugin that a decision, and what follows events, takes.
var ofFilter = []string{"PreFilter", "AddPod", "RemovePod", "Filter", "EventsToRegister"}

// Upstream is what preemption takes of kube-scheduler: framework and plugin of preemption with the executor, the filter plugins with their
// queueing hints, the nominator, and the handler of failures.
func Upstream() []Scope {
	scopes := []Scope{
		{Package: scheduler + "/framework/preemption"},
		{Package: scheduler + "/framework/plugins/defaultpreemption"},
		{Package: scheduler + "/backend/queue", Files: []string{"nominator.go"}},
		{Package: scheduler, Files: []string{"schedule_one.go"}, Roots: []string{"handleSchedulingFailure"}},
	}
	for _, plugin := range []string{"nodename", "nodeports", "noderesources", "nodeaffinity", "nodeunschedulable", "tainttoleration", "interpodaffinity", "podtopologyspread",
		"volumebinding", "volumerestrictions", "volumezone", "nodevolumelimits", "dynamicresources", "nodedeclaredfeatures"} {
		scopes = append(scopes, Scope{Package: path.Join(scheduler, "framework/plugins", plugin), Roots: ofFilter, Not: []string{"fake_binder.go", "test_utils.go"}})
	}
	return scopes
}

// Ours is the module of this program.
const Ours = "github.com/preemptcheck/preemptcheck"

// Specification is the model of what preemption decides.
func Specification() (scopes []Scope) {
	for _, p := range []string{"model", "model/filter", "model/device", "model/volume", "model/podgroup"} {
		scopes = append(scopes, Scope{Package: path.Join(Ours, p), Not: []string{"deepcopy.go", "sources.go"}})
	}
	return scopes
}

// takes tells whether a file is looked through.
func (s *Scope) takes(base string) bool {
	return (s.Files == nil || slices.Contains(s.Files, base)) && !slices.Contains(s.Not, base)
}

// functions are those of a package that the scope takes in.
func (s *Scope) functions(files []*ast.File, info *types.Info) map[*ast.FuncDecl]bool {
	declared := map[types.Object]*ast.FuncDecl{}
	methods := map[string][]*ast.FuncDecl{}
	taken := map[*ast.FuncDecl]bool{}
	var todo []*ast.FuncDecl
	for _, f := range files {
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil {
				continue
			}
			declared[info.Defs[fn.Name]] = fn
			if fn.Recv != nil {
				methods[fn.Name.Name] = append(methods[fn.Name.Name], fn)
			}
			if s.Roots == nil || slices.Contains(s.Roots, fn.Name.Name) {
				taken[fn] = true
				todo = append(todo, fn)
			}
		}
	}
	for len(todo) > 0 {
		fn := todo[0]
		todo = todo[1:]
		ast.Inspect(fn.Body, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok {
				return true
			}
			o, ok := info.Uses[id].(*types.Func)
			if !ok {
				return true
			}
			called := []*ast.FuncDecl{declared[o.Origin()]}
			if recv := o.Signature().Recv(); recv != nil && types.IsInterface(recv.Type()) && o.Pkg() == info.Defs[fn.Name].Pkg() {
				called = methods[o.Name()] // of whatever implements it here
			}
			for _, c := range called {
				if c != nil && !taken[c] {
					taken[c] = true
					todo = append(todo, c)
				}
			}
			return true
		})
	}
	return taken
}
