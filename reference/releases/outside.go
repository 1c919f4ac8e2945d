package releases

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os/exec"
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

// OldestCalls is the first minor release whose plugins can be asked one by one.
const OldestCalls = 34

// callsEdits are those of lifeEdits for the packages that ask plugins one by one.
var callsEdits = []edit{
	{36, "reference/contract/scheduler.go", "func(string) events.EventRecorderLogger {", "func(string) events.EventRecorder {"},
	{37, "reference/contract/session.go", "		info, ok := popped.(*framework.QueuedPodInfo)\n		if !ok {\n			return false, fmt.Errorf(\"the queue gives out a %T\", popped)\n		}\n", "		info := popped\n"},
	{37, "reference/contract/session.go", "queue.AddUnschedulablePodIfNotPresent(", "queue.AddUnschedulableIfNotPresent("},
	{36, "reference/contract/session.go", "queue.Add(x.ctx, &pod)", "queue.Add(linked.Discard, &pod)"},
	{37, "reference/contract/session.go", "x.sched.SchedulingQueue.Delete(linked.Discard, x.parked)", "x.sched.SchedulingQueue.Delete(x.parked)"},
	{37, "reference/contract/world.go", "x.sched.SchedulingQueue.Delete(linked.Discard, x.preemptor)", "x.sched.SchedulingQueue.Delete(x.preemptor)"},
}

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
	return walkEdited(minor, left, f,
		sourceTree{"model", model.LifeSources}, sourceTree{"reference", reference.LifeSources}, sourceTree{"reference", reference.CallsSources})
}

// AddEdits writes what the sources of drivers are edited by.
func AddEdits(w io.Writer) error {
	_, err := fmt.Fprint(w, lifeEdits, callsEdits, preemptFunc)
	return err
}
