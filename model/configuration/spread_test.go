package configuration_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/configuration"
)

// hard configures a default constraint that has to be satisfied, and one that only scores.
const hard = `{"profiles": [{"pluginConfig": [{"name": "PodTopologySpread", "args": {"defaultingType": "List", "defaultConstraints": [
	{"maxSkew": 2, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "minDomains": 3}, {"maxSkew": 1, "topologyKey": "disk", "whenUnsatisfiable": "ScheduleAnyway"}]}}]}]}`

func meta(name string, uid types.UID) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: "default", Name: name, UID: uid}
}

func service(namespace, app string) *v1.Service {
	s := &v1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "s-" + app}}
	if app != "" {
		s.Spec.Selector = map[string]string{"app": app}
	}
	return s
}

func replicaSet(selector *metav1.LabelSelector) *appsv1.ReplicaSet {
	return &appsv1.ReplicaSet{ObjectMeta: meta("w", "u"), Spec: appsv1.ReplicaSetSpec{Selector: selector}}
}

func owned(apiVersion, kind string, uid types.UID, controls bool) func(*v1.Pod) {
	return func(p *v1.Pod) {
		p.OwnerReferences = append(p.OwnerReferences, metav1.OwnerReference{APIVersion: apiVersion, Kind: kind, Name: "w", UID: uid, Controller: &controls})
	}
}

// Default constraints have the selector that follows from what a pod of the app a belongs to. What documents leave open is not modelled.
func TestDefaultConstraints(t *testing.T) {
	own := []v1.TopologySpreadConstraint{{MaxSkew: 5, TopologyKey: "rack", WhenUnsatisfiable: v1.ScheduleAnyway}}
	labelled := func(p *v1.Pod) { p.Labels = map[string]string{"app": "a", "hash": "1"} }
	hashed := &metav1.LabelSelector{MatchLabels: map[string]string{"app": "a", "hash": "1"}}
	ofHash := &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "hash", Operator: metav1.LabelSelectorOpIn, Values: []string{"1"}}}}
	external, kubernetes := service("default", "a"), service("default", "")
	external.Spec.Type = v1.ServiceTypeExternalName
	controller := &v1.ReplicationController{ObjectMeta: meta("w", "u"), Spec: v1.ReplicationControllerSpec{Selector: map[string]string{"app": "a"}}}
	stateful := &appsv1.StatefulSet{ObjectMeta: meta("w", "u"), Spec: appsv1.StatefulSetSpec{Selector: mk.ForApp("a")}}
	const several = "a pod that belongs to several, which select different pods"
	for name, tt := range map[string]struct {
		pod     []func(*v1.Pod)
		objects []runtime.Object
		pods    []*v1.Pod
		want    *metav1.LabelSelector
		open    string
	}{
		"a service":                             {nil, []runtime.Object{service("default", "a")}, nil, mk.ForApp("a"), ""},
		"a service of others":                   {nil, []runtime.Object{service("default", "b")}, nil, nil, ""},
		"a service of another namespace":        {nil, []runtime.Object{service("other", "a")}, nil, nil, ""},
		"a service without a selector":          {nil, []runtime.Object{kubernetes}, nil, nil, ""},
		"a service of an external name":         {nil, []runtime.Object{external}, nil, nil, "a Service of the type ExternalName that selects the pod"},
		"no services are known":                 {nil, nil, nil, nil, "which Services there are"},
		"a replica set":                         {[]func(*v1.Pod){labelled, owned("apps/v1", "ReplicaSet", "u", true)}, []runtime.Object{kubernetes, replicaSet(ofHash)}, nil, ofHash, ""},
		"a replication controller":              {[]func(*v1.Pod){owned("v1", "ReplicationController", "u", true)}, []runtime.Object{kubernetes, controller}, nil, mk.ForApp("a"), ""},
		"a stateful set":                        {[]func(*v1.Pod){owned("apps/v1", "StatefulSet", "u", true)}, []runtime.Object{kubernetes, stateful}, nil, mk.ForApp("a"), ""},
		"a job":                                 {[]func(*v1.Pod){owned("batch/v1", "Job", "u", true)}, []runtime.Object{kubernetes, replicaSet(mk.ForApp("a"))}, nil, nil, ""},
		"a stateful set of another API":         {[]func(*v1.Pod){owned("apps.kruise.io/v1", "StatefulSet", "u", true)}, []runtime.Object{kubernetes, stateful}, nil, nil, ""},
		"a replica set of an older API":         {[]func(*v1.Pod){owned("extensions/v1beta1", "ReplicaSet", "u", true)}, []runtime.Object{kubernetes, replicaSet(mk.ForApp("a"))}, nil, nil, "a pod of a ReplicaSet that is not there"},
		"a replica set that is gone":            {[]func(*v1.Pod){owned("apps/v1", "ReplicaSet", "u", true)}, []runtime.Object{service("default", "a")}, nil, nil, "a pod of a ReplicaSet that is not there"},
		"a replica set of another UID":          {[]func(*v1.Pod){owned("apps/v1", "ReplicaSet", "x", true)}, []runtime.Object{kubernetes, replicaSet(mk.ForApp("a"))}, nil, nil, "a pod of a ReplicaSet that is not there"},
		"a replica set that does not control":   {[]func(*v1.Pod){owned("apps/v1", "ReplicaSet", "u", false)}, []runtime.Object{kubernetes, replicaSet(mk.ForApp("a"))}, nil, nil, "a pod of a ReplicaSet that does not control it"},
		"a replica set that does not select":    {[]func(*v1.Pod){owned("apps/v1", "ReplicaSet", "u", true)}, []runtime.Object{kubernetes, replicaSet(mk.ForApp("b"))}, nil, nil, "a pod of a ReplicaSet that does not select it"},
		"a replica set that would adopt":        {nil, []runtime.Object{kubernetes, replicaSet(mk.ForApp("a"))}, nil, nil, "a pod that a workload selects, and none controls"},
		"both select the same pods":             {[]func(*v1.Pod){labelled, owned("apps/v1", "ReplicaSet", "u", true)}, []runtime.Object{service("default", "a"), replicaSet(hashed)}, []*v1.Pod{mk.Pod("x", 1, labelled), mk.Pod("y", 1, mk.App("b"))}, mk.ForApp("a"), ""},
		"they differ in another namespace":      {[]func(*v1.Pod){labelled, owned("apps/v1", "ReplicaSet", "u", true)}, []runtime.Object{service("default", "a"), replicaSet(hashed)}, []*v1.Pod{mk.Pod("x", 1, mk.App("a"), mk.In("other"))}, mk.ForApp("a"), ""},
		"one selects a pod, the other does not": {[]func(*v1.Pod){labelled, owned("apps/v1", "ReplicaSet", "u", true)}, []runtime.Object{service("default", "a"), replicaSet(hashed)}, []*v1.Pod{mk.Pod("x", 1, mk.App("a"))}, nil, several},
	} {
		t.Run(name, func(t *testing.T) {
			c := mk.Cluster(mk.Pod("p", 9, append([]func(*v1.Pod){mk.App("a")}, tt.pod...)...), model.Settings{Configuration: []byte(hard)})
			c.Extra, c.Pods = tt.objects, tt.pods
			var want []v1.TopologySpreadConstraint
			if tt.want != nil {
				want = []v1.TopologySpreadConstraint{{MaxSkew: 2, TopologyKey: "zone", WhenUnsatisfiable: v1.DoNotSchedule, MinDomains: new(int32(3)), LabelSelector: tt.want}}
			}
			assert.Equal(t, want, configuration.Defaults(c, c.Preemptor))
			open := ""
			for _, f := range configuration.Of(c.Settings, model.DefaultSchedulerName).Unmodelled(c, c.Preemptor, model.DefaultPlugins()) {
				open += f.Field + ": " + f.Why
			}
			if tt.open != "" {
				tt.open = "configuration.profiles[0].pluginConfig[PodTopologySpread].args.defaultConstraints[0]: constraints that pods have by default: " + tt.open
			}
			assert.Equal(t, tt.open, open)

			c.Preemptor.Spec.TopologySpreadConstraints = own
			assert.Equal(t, own, configuration.Spread(c.Settings, c.Preemptor), "of its own")
			assert.False(t, configuration.MaySpread(c.Settings, c.Preemptor), "it only scores")
		})
	}
	assert.True(t, configuration.SpreadsByDefault(model.Settings{Configuration: []byte(hard)}))
	assert.True(t, configuration.MaySpread(model.Settings{Configuration: []byte(hard)}, mk.Pod("p", 9)))
	assert.False(t, configuration.MaySpread(model.Settings{Configuration: []byte(hard)}, mk.Pod("p", 9, func(p *v1.Pod) { p.Spec.SchedulerName = "other" })))
	assert.False(t, configuration.SpreadsByDefault(model.Settings{}))
}
