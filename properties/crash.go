package properties

import (
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/model"
)

// GetsThrough is the promise that a cycle ends, whatever the cluster is. A Checker checks
// it of each cluster, and nothing else where it is broken.
func GetsThrough() Property {
	return Property{
		Name:    "gets-through",
		Of:      OfAny,
		Promise: "If none of the nodes are suitable, the pod remains unscheduled until the scheduler is able to place it.",
		Source:  "docs: concepts/scheduling-eviction/kube-scheduler; a process that ends, or waits for ever, places no pod at all",
		Lies: []string{
			"a plugin panics", "a deletion never returns", "another panic where one is known",
			"it hangs where it is known to panic", "the known panic on another cluster",
		},
		Check: func(s *Subject) ([]Finding, error) {
			c := s.Observation.Crash
			if c == nil {
				return nil, nil
			}
			if slices.ContainsFunc(KnownCrashes(s.Cluster, c), s.Assumes) {
				return nil, nil
			}
			return []Finding{broken(s.Observation)}, nil
		},
	}
}

// broken is the finding that a system breaks down.
func broken(o *model.Observation) Finding {
	return Finding{Stage: CrashedAt(o), Kind: CrashKind(o.Crash), Detail: o.Crash.String(), Stack: o.Crash.Frames()}
}

// CrashKind is the kind of the finding that is a crash: what it is, and where. In which state
// a goroutine hangs is chance.
func CrashKind(c *model.Crash) string {
	where := c.Where
	if c.Kind == model.Hang {
		where, _, _ = strings.Cut(where, " (")
	}
	return string(c.Kind) + " in " + where
}

// IsHang tells whether a kind of finding is that of a scheduler that comes to a standstill.
func IsHang(kind string) bool { return strings.HasPrefix(kind, string(model.Hang)+" in ") }

// Breaks tells whether the system breaks down in another observation, which is of the cluster c,
// and what that is a finding of. It is of nothing where it is known to break down.
func Breaks(c *model.Cluster, o *model.Observation) (breaks bool, _ []Finding) {
	crash := o.Crash
	if crash == nil || len(KnownCrashes(c, crash)) > 0 {
		return crash != nil, nil
	}
	return true, []Finding{broken(o)}
}

// nilPointer is in the message of all panics that are known.
const nilPointer = "invalid memory address or nil pointer dereference"

// knownCrashes are the functions in which the scheduler is known to break, with what
// is in each cluster on which it does: a function may break in more ways than one.
var knownCrashes = []struct {
	id, function string
	needs        func(runtime.Object) bool
}{
	{"class-annotation-crashes-score", "volumebinding.(*VolumeBinding).Score ", func(o runtime.Object) bool {
		claim, ok := o.(*v1.PersistentVolumeClaim)
		return ok && claim.Spec.StorageClassName == nil && claim.Annotations[v1.BetaStorageClassAnnotation] != ""
	}},
	{"unknown-capacity-crashes-score", "volumebinding.(*VolumeBinding).Score ", func(o runtime.Object) bool {
		capacity, ok := o.(*storagev1.CSIStorageCapacity)
		return ok && capacity.Capacity == nil && capacity.MaximumVolumeSize != nil
	}},
}

// KnownCrashes are the entries of the ledger that a crash on a cluster may be due to.
func KnownCrashes(cluster *model.Cluster, c *model.Crash) (ids []string) {
	for _, known := range knownCrashes {
		if c.Kind != model.Hang && strings.Contains(c.Message, nilPointer) && strings.Contains(c.Where, known.function) && slices.ContainsFunc(cluster.Extra, known.needs) {
			ids = append(ids, known.id)
		}
	}
	return ids
}

// CrashedAt is the last stage that the observation of a crash shows, or its stack, if
// that shows more; "" if it hangs.
func CrashedAt(o *model.Observation) model.Stage {
	switch {
	case o.Crash.Kind == model.Hang: // how far the cycle came beside the goroutine that hangs is chance
		return ""
	case o.Pick != nil:
		return model.StageActuate
	case len(o.Candidates) > 0:
		return model.StageCandidates
	case len(o.DryRuns) > 0:
		return model.StageDryRun
	case o.PotentialNodes != nil:
		return model.StagePotential
	case o.Eligible != nil:
		return model.StageEligible
	}
	// The goroutine that died comes first. If it is all there is, its first line may lack.
	stack := o.Crash.Stack
	if _, goroutines, ok := strings.Cut("\n"+stack, "\ngoroutine "); ok {
		stack, _, _ = strings.Cut(goroutines, "\ngoroutine ")
	}
	for _, s := range stages {
		if strings.Contains(stack, s.function) {
			return s.Stage
		}
	}
	return model.StageFilter
}

// stages are upstream's functions that stages consist of, those first that others call
// (runtime/framework.go:1152@v1.37.1 and on).
var stages = []struct {
	function string
	model.Stage
}{
	{").prepareCandidate", model.StageActuate},
	{".pickOneNodeForPreemption(", model.StagePick},
	{").callExtenders(", model.StageExtenders},
	{").DryRunPreemption", model.StageDryRun},
	{").NodesForStatusCode(", model.StagePotential},
	{").PodEligibleToPreemptOthers(", model.StageEligible},
	{").RunPostFilterPlugins", model.StagePostFilter},
	{").RunPreScorePlugins", model.StagePreScore},
	{").RunScorePlugins", model.StageScore},
	{").RunReservePlugins", model.StageReserve},
	{").RunPermitPlugins", model.StagePermit},
	{").WaitOnPermit", model.StagePermit},
	{").RunPreBindP", model.StagePreBind}, // RunPreBindPlugins and RunPreBindPreFlights
	{").RunBindPlugins", model.StageBind},
	{").RunPostBindPlugins", model.StagePostBind},
}
