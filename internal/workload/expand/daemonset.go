package expand

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
)

// tolerations are those that the DaemonSet controller adds to its pods (docs:
// concepts/workloads/controllers/daemonset, "Taints and tolerations"); the last one only to pods in
// the network of the host.
var tolerations = []v1.Toleration{
	{Key: v1.TaintNodeNotReady, Operator: v1.TolerationOpExists, Effect: v1.TaintEffectNoExecute},
	{Key: v1.TaintNodeUnreachable, Operator: v1.TolerationOpExists, Effect: v1.TaintEffectNoExecute},
	{Key: v1.TaintNodeDiskPressure, Operator: v1.TolerationOpExists, Effect: v1.TaintEffectNoSchedule},
	{Key: v1.TaintNodeMemoryPressure, Operator: v1.TolerationOpExists, Effect: v1.TaintEffectNoSchedule},
	{Key: v1.TaintNodePIDPressure, Operator: v1.TolerationOpExists, Effect: v1.TaintEffectNoSchedule},
	{Key: v1.TaintNodeUnschedulable, Operator: v1.TolerationOpExists, Effect: v1.TaintEffectNoSchedule},
	{Key: v1.TaintNodeNetworkUnavailable, Operator: v1.TolerationOpExists, Effect: v1.TaintEffectNoSchedule},
}

// ofDaemonSet makes a pod for each node that the template's node selector and required node affinity
// match, and whose taints it tolerates. The pod is tied to that node by the field metadata.name, in place of
// the affinity that the template has (docs: concepts/workloads/controllers/daemonset, "How Daemon Pods are
// scheduled").
func ofDaemonSet(o *appsv1.DaemonSet, nodes []*v1.Node) (*Workload, *field.Error) {
	m, _, err := newMaker("DaemonSet", "apps/v1", &o.ObjectMeta, nil, "replicas", o.Spec.Selector, &o.Spec.Template)
	if err != nil {
		return nil, err
	}
	added := tolerations
	if !o.Spec.Template.Spec.HostNetwork {
		added = added[:len(added)-1]
	}
	asks := &v1.Pod{Spec: *o.Spec.Template.Spec.DeepCopy()}
	asks.Spec.Tolerations = append(asks.Spec.Tolerations, added...)
	affinity := nodeaffinity.GetRequiredNodeAffinity(asks)
	for _, n := range nodes {
		matches, err := affinity.Match(n)
		if err != nil {
			return nil, field.Invalid(field.NewPath("spec", "template", "spec", "affinity", "nodeAffinity"), "", err.Error())
		}
		if !matches || !tolerates(asks, n) {
			continue
		}
		m.pod(fmt.Sprintf("%s-%s", o.Name, n.Name), func(p *v1.Pod) {
			p.Spec.Tolerations = append(p.Spec.Tolerations, added...)
			if p.Spec.Affinity == nil {
				p.Spec.Affinity = &v1.Affinity{}
			}
			if p.Spec.Affinity.NodeAffinity == nil {
				p.Spec.Affinity.NodeAffinity = &v1.NodeAffinity{}
			}
			p.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{{
				MatchFields: []v1.NodeSelectorRequirement{{Key: metav1.ObjectNameField, Operator: v1.NodeSelectorOpIn, Values: []string{n.Name}}}}}}
		})
	}
	return m.Workload, nil
}

// tolerates tells whether no taint of a node keeps the pod away.
func tolerates(p *v1.Pod, n *v1.Node) bool {
	for i := range n.Spec.Taints {
		t := &n.Spec.Taints[i]
		if t.Effect != v1.TaintEffectNoSchedule && t.Effect != v1.TaintEffectNoExecute {
			continue
		}
		tolerated := false
		for j := range p.Spec.Tolerations {
			tolerated = tolerated || toleratesTaint(&p.Spec.Tolerations[j], t)
		}
		if !tolerated {
			return false
		}
	}
	return true
}

// toleratesTaint is the rule of the API reference, Toleration: an empty key with Exists matches all
// taints, an empty effect all effects.
func toleratesTaint(t *v1.Toleration, taint *v1.Taint) bool {
	switch {
	case t.Effect != "" && t.Effect != taint.Effect, t.Key != "" && t.Key != taint.Key:
		return false
	case t.Operator == v1.TolerationOpExists:
		return true
	case t.Operator == "" || t.Operator == v1.TolerationOpEqual:
		return t.Key != "" && t.Value == taint.Value
	}
	return false // Gt and Lt need a feature gate that is off by default
}

// uid stands for the UID of an object that does not exist yet.
func uid(kind, namespace, name string) types.UID {
	return types.UID(fmt.Sprintf("%s %s/%s", kind, namespace, name))
}
