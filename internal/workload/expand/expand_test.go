package expand_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/internal/workload"
	"github.com/preemptcheck/preemptcheck/internal/workload/expand"
)

func parse[T any](t testing.TB, text string) *T {
	o := new(T)
	require.NoError(t, yaml.UnmarshalStrict([]byte(text), o))
	return o
}

const template = `
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c}]}
`

func meta(kind string) string {
	return fmt.Sprintf("kind: %s\nmetadata: {name: web, namespace: shop}\nspec:", kind)
}

func names(w *expand.Workload) (all []string) {
	for _, p := range w.Pods {
		all = append(all, p.Name)
	}
	return all
}

func TestDeployment(t *testing.T) {
	d := parse[appsv1.Deployment](t, meta("Deployment")+"\n  replicas: 2"+template)
	w, err := expand.Of(d, nil)
	require.Nil(t, err)
	require.Equal(t, "Deployment shop/web", w.Ref.String())
	require.Len(t, w.Pods, 2)
	for i, p := range w.Pods {
		hash := p.Labels["pod-template-hash"]
		require.Equal(t, fmt.Sprintf("web-%s-%d", hash, i+1), p.Name)
		require.Equal(t, "web", p.Labels["app"])
		require.Equal(t, "web-"+hash, p.OwnerReferences[0].Name)
		require.Equal(t, w.Ref, workload.Of(p), "the pods are known by their workload")
	}
	require.Len(t, d.Spec.Template.Labels, 1, "the manifest stays as it is")
	again, _ := expand.Of(d, nil)
	require.Equal(t, w, again)
	other := d.DeepCopy()
	other.Spec.Template.Spec.Containers[0].Image = "web:2"
	changed, _ := expand.Of(other, nil)
	require.NotEqual(t, names(w), names(changed), "another template is another ReplicaSet")
}

func TestReplicasDefaultToOne(t *testing.T) {
	for _, o := range []runtime.Object{parse[appsv1.Deployment](t, meta("Deployment")+template), parse[appsv1.ReplicaSet](t, meta("ReplicaSet")+template), parse[appsv1.StatefulSet](t, meta("StatefulSet")+template)} {
		w, err := expand.Of(o, nil)
		require.Nil(t, err)
		require.Len(t, w.Pods, 1)
		require.Equal(t, w.Ref, workload.Of(w.Pods[0]))
	}
}

func TestStatefulSet(t *testing.T) {
	s := parse[appsv1.StatefulSet](t, meta("StatefulSet")+`
  replicas: 2
  ordinals: {start: 3}
  volumeClaimTemplates: [{metadata: {name: data, labels: {a: b}}, spec: {accessModes: [ReadWriteOnce]}}]`+template)
	w, err := expand.Of(s, nil)
	require.Nil(t, err)
	require.True(t, w.InTurn)
	require.Equal(t, []string{"web-3", "web-4"}, names(w))
	require.Equal(t, "4", w.Pods[1].Labels["apps.kubernetes.io/pod-index"])
	require.Equal(t, "web-4", w.Pods[1].Labels["statefulset.kubernetes.io/pod-name"])
	require.Len(t, w.Claims, 2)
	require.Equal(t, "data-web-4", w.Claims[1].Name)
	require.Equal(t, "shop", w.Claims[1].Namespace)
	require.Equal(t, map[string]string{"a": "b"}, w.Claims[1].Labels)
	require.Equal(t, "data-web-4", w.Pods[1].Spec.Volumes[0].PersistentVolumeClaim.ClaimName)

	s.Spec.PodManagementPolicy = appsv1.ParallelPodManagement
	w, err = expand.Of(s, nil)
	require.Nil(t, err)
	require.False(t, w.InTurn)
}

// A DaemonSet runs on the nodes that its selector matches and whose taints it tolerates; the controller adds
// tolerations for the taints of troubled nodes.
func TestDaemonSet(t *testing.T) {
	tainted := func(key string, effect v1.TaintEffect) func(*v1.Node) {
		return func(n *v1.Node) { n.Spec.Taints = []v1.Taint{{Key: key, Effect: effect}} }
	}
	linux := func(n *v1.Node) { n.Labels = map[string]string{"os": "linux"} }
	nodes := []*v1.Node{
		mk.Node("plain", "1", linux),
		mk.Node("other-os", "1"),
		mk.Node("cordoned", "1", linux, tainted("node.kubernetes.io/unschedulable", "NoSchedule")),
		mk.Node("gpu", "1", linux, tainted("gpu", "NoSchedule")),
		mk.Node("soft", "1", linux, tainted("gpu", "PreferNoSchedule")),
		mk.Node("no-network", "1", linux, tainted("node.kubernetes.io/network-unavailable", "NoSchedule")),
		mk.Node("unreachable", "1", linux, tainted("node.kubernetes.io/unreachable", "NoExecute")),
	}
	d := parse[appsv1.DaemonSet](t, meta("DaemonSet")+template)
	d.Spec.Template.Spec.NodeSelector = map[string]string{"os": "linux"}
	w, err := expand.Of(d, nodes)
	require.Nil(t, err)
	require.Equal(t, []string{"web-plain", "web-cordoned", "web-soft", "web-unreachable"}, names(w))
	p := w.Pods[1]
	require.Equal(t, "cordoned", p.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[0].MatchFields[0].Values[0])
	require.Len(t, p.Spec.Tolerations, 6)

	d.Spec.Template.Spec.HostNetwork = true
	w, err = expand.Of(d, nodes)
	require.Nil(t, err)
	require.Contains(t, names(w), "web-no-network")
}

func TestJob(t *testing.T) {
	for _, test := range []struct {
		spec  string
		pods  int
		notes int
	}{
		{"", 1, 0},
		{"\n  parallelism: 3", 3, 0},
		{"\n  completions: 5", 1, 1},
		{"\n  parallelism: 3\n  completions: 2", 2, 0},
		{"\n  parallelism: 3\n  completions: 7", 3, 1},
		{"\n  parallelism: 0", 0, 0},
		{"\n  parallelism: 3\n  suspend: true", 0, 1},
		{"\n  parallelism: 2\n  completions: 2\n  completionMode: Indexed", 2, 0},
	} {
		j := parse[batchv1.Job](t, meta("Job")+test.spec+"\n  template: {spec: {restartPolicy: Never, containers: [{name: c}]}}")
		w, err := expand.Of(j, nil)
		require.Nil(t, err, test.spec)
		require.Len(t, w.Pods, test.pods, test.spec)
		require.Len(t, w.Notes, test.notes, test.spec)
		for i, p := range w.Pods {
			require.Equal(t, fmt.Sprintf("web-%d", i), p.Name)
			require.Equal(t, "web", p.Labels["batch.kubernetes.io/job-name"])
			if j.Spec.CompletionMode != nil {
				require.Equal(t, fmt.Sprint(i), p.Annotations["batch.kubernetes.io/job-completion-index"])
			}
		}
	}
}

func TestErrorsNameTheField(t *testing.T) {
	for _, test := range []struct {
		object runtime.Object
		field  string
	}{
		{parse[appsv1.Deployment](t, meta("Deployment")+"\n  replicas: -1"+template), "spec.replicas"},
		{parse[appsv1.Deployment](t, meta("Deployment")+"\n  replicas: 10001"+template), "spec.replicas"},
		{parse[appsv1.Deployment](t, meta("Deployment")+"\n  selector: {matchLabels: {app: db}}\n  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c}]}}"), "spec.template.metadata.labels"},
		{parse[appsv1.ReplicaSet](t, meta("ReplicaSet")+"\n  template: {spec: {containers: [{name: c}]}}"), "spec.selector"},
		{parse[appsv1.ReplicaSet](t, meta("ReplicaSet")+"\n  selector: {matchLabels: {app: web}}\n  template: {metadata: {labels: {app: web}}}"), "spec.template.spec.containers"},
		{parse[appsv1.StatefulSet](t, meta("StatefulSet")+"\n  ordinals: {start: -1}"+template), "spec.ordinals.start"},
		{parse[appsv1.StatefulSet](t, meta("StatefulSet")+"\n  podManagementPolicy: Sometimes"+template), "spec.podManagementPolicy"},
		{parse[batchv1.Job](t, meta("Job")+"\n  template: {spec: {containers: [{name: c}]}}"), "spec.template.spec.restartPolicy"},
		{parse[batchv1.Job](t, meta("Job")+"\n  completionMode: Indexed\n  template: {spec: {restartPolicy: Never, containers: [{name: c}]}}"), "spec.completions"},
		{parse[batchv1.Job](t, meta("Job")+"\n  completions: -1\n  template: {spec: {restartPolicy: Never, containers: [{name: c}]}}"), "spec.completions"},
		{mk.Pod("p", 0, mk.On("n")), "spec.nodeName"},
		{&v1.ReplicationController{}, "spec.template"},
	} {
		_, err := expand.Of(test.object, nil)
		require.NotNil(t, err, test.field)
		require.Equal(t, test.field, err.Field)
	}
}

func TestEphemeralVolumesComeWithClaims(t *testing.T) {
	p := parse[v1.Pod](t, `{metadata: {name: p, namespace: shop}, spec: {containers: [{name: c}], volumes: [{name: tmp, ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce]}}}}]}}`)
	w, err := expand.Of(p, nil)
	require.Nil(t, err)
	require.Len(t, w.Claims, 1)
	require.Equal(t, "p-tmp", w.Claims[0].Name)
	require.True(t, metav1.IsControlledBy(w.Claims[0], w.Pods[0]))
}

func TestReplace(t *testing.T) {
	owned := func(kind string) *v1.Pod {
		yes := true
		return mk.Pod("p", 7, mk.On("n"), mk.Started(1), func(p *v1.Pod) {
			p.Labels = map[string]string{"app": "a"}
			p.OwnerReferences = []metav1.OwnerReference{{Kind: kind, Name: "o", Controller: &yes}}
		})
	}
	for kind, name := range map[string]string{"ReplicaSet": "p-again-4", "Job": "p-again-4", "Experiment": "p-again-4", "DaemonSet": "p-again-4", "StatefulSet": "p"} {
		next := expand.Replace(owned(kind), 4)
		require.Equal(t, name, next.Name, kind)
		require.Empty(t, next.Spec.NodeName)
		require.Nil(t, next.Status.StartTime)
		require.Equal(t, int32(7), *next.Spec.Priority)
		require.Equal(t, "a", next.Labels["app"])
	}
	again := expand.Replace(expand.Replace(owned("ReplicaSet"), 4), 5)
	require.Equal(t, "p-again-5", again.Name)
	require.Nil(t, expand.Replace(owned("Node"), 1), "a static pod")
	require.Nil(t, expand.Replace(mk.Pod("bare", 0, mk.On("n")), 1), "a pod without a controller is gone for good")
}
