// A driver that asks plugins one by one does to its own release of kube-scheduler what package contract does to the
// one linked into preemptcheck.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"reflect"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/calls"
	"github.com/preemptcheck/preemptcheck/outside"
	"github.com/preemptcheck/preemptcheck/reference"
	"github.com/preemptcheck/preemptcheck/reference/contract"
	"github.com/preemptcheck/preemptcheck/reference/linked"
	"github.com/preemptcheck/preemptcheck/reference/patience"
	"github.com/preemptcheck/preemptcheck/reference/releases/wire"
)

// release is set by the linker.
var release string

func main() {
	text := os.Args[1]
	os.Args = os.Args[:1]
	testing.Init() // for bubbles
	flag.Parse()
	if err := run(text); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(text string) error {
	setup, err := outside.Read(text)
	if err != nil {
		return err
	}
	for _, p := range setup.Plugins {
		p.New = keeping(p.New)
		linked.Register(linked.Plugin(p))
	}
	linked.WatchedToo = []runtime.Object{&schedulingv1.PriorityClass{}}
	linked.NewForeign = func() linked.Foreign { return outside.NewAPI(setup.Kinds) }
	return serve(os.Stdin, os.Stdout, contract.New())
}

// kept are all plugins that were made. What is not used any more may have a finalizer, which runs outside of the bubble that
// the plugin was made in, and must not send on its channels. The process is begun anew now and then.
var kept []any

// keeping is a factory of plugins that are kept. Its type depends on the release.
func keeping(factory frameworkruntime.PluginFactory) frameworkruntime.PluginFactory {
	make := reflect.ValueOf(factory)
	return reflect.MakeFunc(make.Type(), func(in []reflect.Value) []reflect.Value {
		out := make.Call(in)
		kept = append(kept, out[0].Interface())
		return out
	}).Interface().(frameworkruntime.PluginFactory)
}

// request is what package releases asks of a scheduler in a process of its own.
type request struct {
	Nodes     []*v1.Node
	Pods      []*v1.Pod
	Budgets   []*policyv1.PodDisruptionBudget
	Preemptor *v1.Pod
	Extra     []wire.Object
	Settings  model.Settings
	Script    []calls.Call
	Patience  time.Duration
}

type answer struct {
	Answers []calls.Answer `json:",omitempty"`
	Stuck   *model.Crash   `json:",omitempty"`
	Error   string         `json:",omitempty"`
}

func serve(in io.Reader, out io.Writer, system *contract.System) error {
	w := bufio.NewWriterSize(out, 1<<16)
	send, receive := json.NewEncoder(w), json.NewDecoder(bufio.NewReaderSize(in, 1<<16))
	var next any = wire.Hello{Release: release}
	for {
		if err := errors.Join(send.Encode(next), w.Flush()); err != nil {
			return err
		}
		var r request
		if err := receive.Decode(&r); err == io.EOF {
			return nil
		} else if err != nil {
			return fmt.Errorf("reading a request: %w", err)
		}
		var a answer
		var err error
		if a.Answers, err = ask(system, &r); err != nil {
			if stuck := (*reference.Standstill)(nil); errors.As(err, &stuck) {
				a.Stuck = stuck.Crash
			} else {
				a.Error = err.Error()
			}
		}
		next = a
	}
}

func ask(system *contract.System, r *request) ([]calls.Answer, error) {
	c := &model.Cluster{Nodes: r.Nodes, Pods: r.Pods, PodDisruptionBudgets: r.Budgets, Preemptor: r.Preemptor, Settings: r.Settings}
	for _, o := range r.Extra {
		obj, err := scheme.Scheme.New(schema.FromAPIVersionAndKind(o.APIVersion, o.Kind))
		if err != nil {
			obj = &unstructured.Unstructured{}
		}
		if err := json.Unmarshal(o.Object, obj); err != nil {
			return nil, err
		}
		c.Extra = append(c.Extra, obj)
	}
	return system.Ask(patience.With(context.Background(), r.Patience), c, r.Script)
}
