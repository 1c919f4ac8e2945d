package apiserver

import (
	"context"
	"fmt"
	"strings"

	v1 "k8s.io/api/core/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/apis/scheduling"
	schedulingvalidation "k8s.io/kubernetes/pkg/apis/scheduling/validation"
	"k8s.io/kubernetes/pkg/features"

	"github.com/preemptcheck/preemptcheck/model"
)

// noWorkload stands for the Workload of a group that is in a composite group, or is one, and
// names none. The API server wants one, and the scheduler does not read it.
const noWorkload = "none"

// podGroup admits a PodGroup. What is behind feature gates counts as stored while they were on.
//
// A preemption policy that neither the group nor its class has stays away, which means
// PreemptLowerPriority: defaulting fills it in only with the gate PodGroupPreemptionPolicy, which
// is one of the process and not of the cluster here.
func (a *admitter) podGroup(o *schedulingv1beta1.PodGroup) {
	setNamespace(o)
	spec := &o.Spec
	if spec.ParentCompositePodGroupName != nil && spec.WorkloadRef == nil {
		spec.WorkloadRef = &schedulingv1beta1.WorkloadReference{WorkloadName: noWorkload, TemplateName: noWorkload}
	}
	prioritise(a, o, &spec.PriorityClassName, &spec.Priority, &spec.PreemptionPolicy)
	policy := spec.PreemptionPolicy
	check(a, o, func(in *scheduling.PodGroup) field.ErrorList {
		updated := *in
		updated.ResourceVersion = "1" // an update must have one
		return append(schedulingvalidation.ValidatePodGroup(in), aboutStatus(schedulingvalidation.ValidatePodGroupStatusUpdate(&updated, &updated))...)
	})
	spec.PreemptionPolicy = policy
	a.declared(o)
}

// compositePodGroup admits a CompositePodGroup as podGroup does a PodGroup.
func (a *admitter) compositePodGroup(o *schedulingv1alpha3.CompositePodGroup) {
	setNamespace(o)
	spec := &o.Spec
	if spec.WorkloadRef == nil {
		spec.WorkloadRef = &schedulingv1alpha3.WorkloadReference{WorkloadName: noWorkload, TemplateName: noWorkload}
	}
	prioritise(a, o, &spec.PriorityClassName, &spec.Priority, &spec.PreemptionPolicy)
	policy := spec.PreemptionPolicy
	check(a, o, func(in *scheduling.CompositePodGroup) field.ErrorList {
		updated := *in
		updated.ResourceVersion = "1" // an update must have one
		return append(schedulingvalidation.ValidateCompositePodGroup(in), aboutStatus(schedulingvalidation.ValidateCompositePodGroupStatusUpdate(&updated, &updated))...)
	})
	spec.PreemptionPolicy = policy
	a.declared(o)
}

// prioritise does to a group what the Priority admission does to pods: classes.resolve
// (priority/admission.go:203@v1.37.1, admitPodGroup).
func prioritise[Policy ~string](a *admitter, group runtime.Object, class *string, priority **int32, policy **Policy) {
	like := &v1.Pod{Spec: v1.PodSpec{PriorityClassName: *class, Priority: *priority}}
	if err := a.classes.resolve(like); err != nil {
		a.fail(NameOf(group), err)
	}
	*class, *priority = like.Spec.PriorityClassName, like.Spec.Priority
	if *policy == nil && like.Spec.PreemptionPolicy != nil {
		resolved := Policy(*like.Spec.PreemptionPolicy)
		*policy = &resolved
	}
}

// aboutStatus are the errors about a status: metadata is validated elsewhere.
func aboutStatus(all field.ErrorList) (errs field.ErrorList) {
	for _, err := range all {
		if strings.HasPrefix(err.Field, "status") {
			errs = append(errs, err)
		}
	}
	return errs
}

// declared validates an object by the rules that its type declares. Each gate that they
// depend on is on.
func (a *admitter) declared(object runtime.Object) {
	gates := map[string]bool{}
	for _, gate := range []string{string(features.TopologyAwareWorkloadScheduling), string(features.DRAWorkloadResourceClaims),
		string(features.PodGroupPreemptionPolicy), string(features.CompositePodGroup)} {
		gates[gate] = true
	}
	a.fail(NameOf(object), legacyscheme.Scheme.Validate(context.Background(), gates, object)...)
}

// preemptorGroup checks that a pod group is one that the cluster's scheduler schedules as a whole:
// that the feature gates are on, that it is in no other group, and that a member of it is one that Preemptor lets
// pass.
func (a *admitter) preemptorGroup(c *model.Cluster) {
	preemptor := field.NewPath("preemptor")
	title := model.GroupTitle(c.PreemptorGroup)
	group := c.Group(c.PreemptorGroup)
	if c.Preemptor != nil {
		a.fail("Cluster", field.Forbidden(preemptor, fmt.Sprintf("both %s and %s", NameOf(c.Preemptor), title)))
		return
	}
	if group == nil {
		a.fail("Cluster", field.NotFound(preemptor, title))
		return
	}
	gates := []string{model.GateWorkload}
	if _, is := group.(*schedulingv1alpha3.CompositePodGroup); is {
		gates = append(gates, model.GateComposite)
	}
	for _, gate := range gates {
		if !c.Settings.FeatureGates[gate] {
			a.fail(title, field.Forbidden(preemptor, "no scheduler schedules it as a whole unless the feature gate "+gate+" is on"))
			return
		}
	}
	members := c.Preemptors()
	if len(members) == 0 {
		a.fail(title, field.Invalid(preemptor, c.PreemptorGroup, a.noMember(c)))
		return
	}
	var errs []error
	for _, p := range members {
		err := Preemptor(&model.Cluster{Preemptor: p, Settings: c.Settings})
		if err == nil {
			return
		}
		errs = append(errs, err)
	}
	a.errs = append(a.errs, errs...)
}

// noMember says why a group has no member that waits.
func (a *admitter) noMember(c *model.Cluster) string {
	var parent *string
	switch o := c.Group(c.PreemptorGroup).(type) {
	case *schedulingv1beta1.PodGroup:
		parent = o.Spec.ParentCompositePodGroupName
	case *schedulingv1alpha3.CompositePodGroup:
		parent = o.Spec.ParentCompositePodGroupName
	}
	if parent != nil && c.Settings.FeatureGates[model.GateComposite] {
		return fmt.Sprintf("it is scheduled with the CompositePodGroup %q that it is in", *parent)
	}
	return "no pod of it waits to be scheduled"
}
