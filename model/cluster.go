// Package model is an executable specification of pod preemption in
// kube-scheduler: given a cluster, Decide answers which decisions the
// documented algorithm allows, stage by stage and with reasons.
//
// It is written from the documentation, the KEPs and the doc comments of
// k8s.io/kubernetes, and it rebuilds the state of a node from scratch for every
// question it asks. It shares no bookkeeping, and no code, with the scheduler.
package model

import (
	"time"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Cluster is one question to a scheduler: here is everything it knows, and
// Preemptor is the pod it is about to try.
//
// The order of the lists is part of the question only where upstream's answer
// depends on it (the order of the budgets, and of equally important pods).
type Cluster struct {
	Nodes []*v1.Node
	// Pods are all pods except Preemptor: bound ones (spec.nodeName),
	// nominated ones (status.nominatedNodeName) and others that wait.
	Pods []*v1.Pod
	// PodDisruptionBudgets, in the order in which the scheduler lists them.
	PodDisruptionBudgets []*policyv1.PodDisruptionBudget
	PriorityClasses      []*schedulingv1.PriorityClass
	// Extra holds every other object of the cluster (claims, volumes,
	// namespaces, …). Decide reports what in it could matter as Unmodelled.
	Extra []runtime.Object
	// NotGiven is what Preemptor depends on and whoever described the cluster left
	// out: all of it is Unmodelled.
	NotGiven []UnmodelledField
	// Preemptor is the pending pod whose scheduling cycle is asked about.
	Preemptor *v1.Pod
	Settings  Settings
}

// Settings are the parts of the scheduler's configuration that preemption
// depends on.
type Settings struct {
	// MinCandidateNodesPercentage and MinCandidateNodesAbsolute are
	// DefaultPreemptionArgs. nil means the default: 10 percent, 100 nodes.
	MinCandidateNodesPercentage *int32
	MinCandidateNodesAbsolute   *int32
	// SecondProfile is a profile besides the default one, with the default plugins;
	// nil if there is none.
	SecondProfile *Profile
	// Parallelism is how many nodes the scheduler looks at side by side. nil means
	// any number; the scheduler's default is 16.
	Parallelism *int32
	// PercentageOfNodesToScore is after which share of the cluster's nodes that fit
	// the scheduler looks no further, in clusters of 100 nodes or more. nil and 0
	// mean the default, which depends on the size of the cluster.
	PercentageOfNodesToScore *int32
	// DryRunOffset is at which of the potential nodes, in order of their names, dry
	// runs begin (modulo how many there are). It is no setting: a real scheduler
	// draws it each time, and takes the nodes in any order. nil means any.
	DryRunOffset *int32
	// FeatureGates holds the gates that differ from the release's defaults.
	FeatureGates map[string]bool
	// Extenders are asked in this order, those that are ignorable last.
	Extenders []Extender
}

// Profile is a profile of the scheduler.
type Profile struct {
	// SchedulerName is that of the pods which the profile is for.
	SchedulerName string
	// MinCandidateNodesPercentage and MinCandidateNodesAbsolute are its
	// DefaultPreemptionArgs, as in Settings.
	MinCandidateNodesPercentage *int32
	MinCandidateNodesAbsolute   *int32
}

// Schedules tells whether the scheduler has a profile for the pods of that
// schedulerName.
func (s Settings) Schedules(schedulerName string) bool {
	return schedulerName == DefaultSchedulerName || s.SecondProfile != nil && schedulerName == s.SecondProfile.SchedulerName
}

// profile is the profile for the pods of a schedulerName.
func (s Settings) profile(schedulerName string) Profile {
	if schedulerName != DefaultSchedulerName && s.Schedules(schedulerName) {
		return *s.SecondProfile
	}
	return Profile{DefaultSchedulerName, s.MinCandidateNodesPercentage, s.MinCandidateNodesAbsolute}
}

func (s Settings) offset() int {
	if s.DryRunOffset == nil {
		return 0
	}
	return int(*s.DryRunOffset)
}

// Defaults of DefaultPreemptionArgs
// (apis/config/v1/defaults.go:32@v1.37.1, SetDefaults_DefaultPreemptionArgs).
const (
	DefaultMinCandidateNodesPercentage int32 = 10
	DefaultMinCandidateNodesAbsolute   int32 = 100
)

// GateAsyncPreemption names the gate that moves the API calls of a preemption
// out of the scheduling cycle (KEP-4832); on by default at v1.37.1.
const GateAsyncPreemption = "SchedulerAsyncPreemption"

// AsyncPreemption tells whether the cluster's scheduler preempts asynchronously.
func (s Settings) AsyncPreemption() bool {
	on, set := s.FeatureGates[GateAsyncPreemption]
	return on || !set
}

// Key names a namespaced object as "namespace/name".
func Key(o interface {
	GetNamespace() string
	GetName() string
}) string {
	return o.GetNamespace() + "/" + o.GetName()
}

// Priority is the pod's priority; a pod without one has priority 0
// (component-helpers/scheduling/corev1/helpers.go:23@v0.37.1).
func Priority(p *v1.Pod) int32 {
	if p.Spec.Priority == nil {
		return 0
	}
	return *p.Spec.Priority
}

// startTime is when the pod started; a pod without a start time counts as
// starting now (util/utils.go:51@v1.37.1, GetPodStartTime).
func startTime(p *v1.Pod, now time.Time) time.Time {
	if p.Status.StartTime == nil {
		return now
	}
	return p.Status.StartTime.Time
}
