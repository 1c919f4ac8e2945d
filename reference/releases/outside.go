package releases

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os/exec"
	"slices"
	"strings"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/calls"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/reference"
)

// OldestEvaluator is the first minor release whose preemption has an Evaluator.
const OldestEvaluator = 25

// WalkOutside calls f with the files of a driver of plugins that are not Kubernetes' own, but for those which name
// them, and for go.mod.
func WalkOutside(f func(name string, content []byte) error) error {
	if err := walkDriver("evaluator", f); err != nil {
		return err
	}
	if err := walkDir("_driver/outsidecycles", f); err != nil {
		return err
	}
	return walkPackage(f)
}

// walkPackage calls f with the files of package outside, which both drivers have.
func walkPackage(f func(name string, content []byte) error) error {
	return walkDir("_driver/outside", func(name string, content []byte) error { return f("outside/"+name, content) })
}

func walkDir(dir string, f func(name string, content []byte) error) error {
	files, err := fs.ReadDir(sources, dir)
	if err != nil {
		return err
	}
	for _, file := range files {
		content, err := fs.ReadFile(sources, dir+"/"+file.Name())
		if err != nil {
			return err
		}
		if err := f(file.Name(), content); err != nil {
			return err
		}
	}
	return nil
}

// Tags are the build tags of a driver for a minor release.
func Tags(minor int) string {
	_, tags := driverOf(release.Release{Minor: minor})
	return strings.Join(tags, ",")
}

// The edit of the sources of Evaluator by which the recorder comes between any plugin and its Evaluator.
const (
	// EvaluatorFile is the file of k8s.io/kubernetes.
	EvaluatorFile = "pkg/scheduler/framework/preemption/preemption.go"
	preemptFunc   = "\nfunc (ev *Evaluator) Preempt("
)

// WithHook has Evaluator.Preempt call a function of the driver first.
func WithHook(source string) (string, error) {
	before, after, found := strings.Cut(source, preemptFunc)
	signature, body, open := strings.Cut(after, "{\n")
	if !found || !open {
		return "", fmt.Errorf("%s has no Evaluator.Preempt", EvaluatorFile)
	}
	return before + "\n// Hook is told of each Evaluator that is used.\nvar Hook = func(*Evaluator) {}\n" + preemptFunc + signature + "{\n\tHook(ev)\n" + body, nil
}

// Driver is a driver of plugins that are not Kubernetes' own, as a System.
type Driver struct {
	System
	name string
}

// NewDriver returns the System of that name which a command drives: a scheduler of a release.
func NewDriver(name, release string, command func() *exec.Cmd) *Driver {
	return &Driver{System{release: release, command: command, timeout: driverTimeout}, name}
}

// Name implements reference.System.
func (d *Driver) Name() string { return d.name }

// Observe implements reference.System. The scheduler is told of priority classes, too: plugins may look at them.
func (d *Driver) Observe(ctx context.Context, c *model.Cluster) (*model.Observation, error) {
	return d.System.Observe(ctx, WithPriorityClasses(c))
}

// WithPriorityClasses is a cluster whose priority classes are among what a scheduler is told of.
func WithPriorityClasses(c *model.Cluster) *model.Cluster {
	told := *c
	told.Extra = append(model.ObjectsOf(c.PriorityClasses), c.Extra...)
	return &told
}

var _ reference.System = (*Driver)(nil)

// callsEdits are those of lifeEdits for the packages that ask plugins one by one.
var callsEdits = []edit{
	{36, "reference/contract/upstream.go", "events.EventRecorderLogger { return quiet{} }", "events.EventRecorder { return quiet{} }"},
	{37, "reference/contract/upstream.go", "	popped, err := s.sched", "	info, err := s.sched"},
	{37, "reference/contract/upstream.go", "	info, ok := popped.(*framework.QueuedPodInfo)\n	if !ok {\n		return nil, fmt.Errorf(\"the queue gives out a %T\", popped)\n	}\n", ""},
	{37, "reference/contract/upstream.go", "	\"fmt\"\n", ""},
	{37, "reference/contract/upstream.go", ".AddUnschedulablePodIfNotPresent(", ".AddUnschedulableIfNotPresent("},
	{36, "reference/contract/upstream.go", ".Add(s.ctx, p)", ".Add(linked.Discard, p)"},
	{37, "reference/contract/upstream.go", ".Delete(linked.Discard, p)", ".Delete(p)"},

	// Kinds and functions of Kubernetes that came later.
	{34, "reference/contract/client.go", "	resourcev1 \"k8s.io/api/resource/v1\"\n", ""},
	{34, "reference/contract/client.go", "\"resourceclaims\": reflect.TypeFor[*resourcev1.ResourceClaim](), ", ""},
	{34, "reference/linked/kinds.go", "	resourcev1 \"k8s.io/api/resource/v1\"\n", ""},
	{34, "reference/linked/kinds.go", "		&resourcev1.ResourceClaim{}, &resourcev1.ResourceSlice{}, &resourcev1.DeviceClass{},\n", ""},
	{34, "reference/linked/gates.go", "featuregate.MutableVersionedFeatureGate", "featuregate.MutableFeatureGate"},
	{34, "reference/linked/gates.go", "gate.ResetFeatureValueToDefault(featuregate.Feature(name))", "gate.SetFromMap(map[string]bool{name: gate.GetAll()[featuregate.Feature(name)].Default})"},
	{33, "reference/linked/informers.go", "// AddEventHandlerWithOptions implements" + cut + "// HasSynced is true", ""},
	{31, "reference/linked/setup.go", "[]func(context.Context, any){panicked}", "[]func(any){func(p any) { panicked(context.Background(), p) }}"},
	{27, "reference/linked/informers.go", "h.OnAdd(obj, false)", "h.OnAdd(obj)"},
	{26, "reference/linked/informers.go", "func (i *Informer) AddEventHandler(h cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {", "func (i *Informer) AddEventHandler(h cache.ResourceEventHandler) {"},
	{26, "reference/linked/informers.go", "	return i.SharedIndexInformer.AddEventHandler(h)", "	i.SharedIndexInformer.AddEventHandler(h)"},
	{26, "reference/linked/informers.go", "_ time.Duration) (cache.ResourceEventHandlerRegistration, error) {\n	return ", "_ time.Duration) {\n	"},
	{26, "reference/linked/profiles.go", "cfg.PercentageOfNodesToScore = p", "cfg.PercentageOfNodesToScore = *p"},
}

// oldestCallsLikeLinked is the first minor release whose plugins are asked by the code of package contract for the linked one.
// In older ones, another file calls the scheduler.
const oldestCallsLikeLinked = 34

// WalkCalls is WalkOutside of the driver that asks plugins one by one.
func WalkCalls(minor int, f func(name string, content []byte) error) error {
	if err := walkDir("_driver/outsidecalls", f); err != nil {
		return err
	}
	if err := walkPackage(f); err != nil {
		return err
	}
	wire, err := fs.ReadFile(sources, "wire/wire.go")
	if err != nil {
		return err
	}
	if err := f("reference/releases/wire/wire.go", wire); err != nil {
		return err
	}
	if err := f("model/calls/calls.go", calls.Source); err != nil {
		return err
	}
	left := func(path string) bool { return strings.HasPrefix(path, "life/") }
	if minor < oldestCallsLikeLinked {
		if err := walkOlderCalls(f); err != nil {
			return err
		}
		left = func(path string) bool {
			return strings.HasPrefix(path, "life/") || path == "contract/upstream.go" ||
				slices.Contains([]string{"linked/budgets.go", "linked/extenders.go", "linked/preemption.go", "linked/watch.go"}, path) // nobody needs them there
		}
	}
	return walkEdited(minor, left, f,
		sourceTree{"model", model.LifeSources}, sourceTree{"reference", reference.LifeSources}, sourceTree{"reference", reference.CallsSources})
}

// walkOlderCalls calls f with the files that package contract has in older releases.
func walkOlderCalls(f func(name string, content []byte) error) error {
	if err := walkDir("_driver/contract", func(name string, content []byte) error { return f("reference/contract/"+name, content) }); err != nil {
		return err
	}
	call, err := fs.ReadFile(sources, "_driver/shared/call.go")
	if err != nil {
		return err
	}
	return f("reference/contract/call.go", bytes.Replace(call, []byte("package main\n"), []byte("package contract\n"), 1))
}

// AddEdits writes what the sources of drivers are edited by.
func AddEdits(w io.Writer) error {
	if _, err := fmt.Fprint(w, lifeEdits, callsEdits, preemptFunc); err != nil {
		return err
	}
	return walkOlderCalls(func(name string, content []byte) error {
		_, err := fmt.Fprintf(w, "%s %d\n%s", name, len(content), content)
		return err
	})
}
