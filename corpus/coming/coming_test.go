package coming_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/corpus/coming"
	"github.com/preemptcheck/preemptcheck/internal/apiserver"
	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/arrival"
)

const (
	head       = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n"
	template   = "  selector: {matchLabels: {app: web}}\n  template:\n    metadata: {labels: {app: web}}\n    spec: {priorityClassName: %s, containers: [{name: c, image: i, resources: {requests: {cpu: %s}}}]}\n"
	deployment = head + template
)

func cluster(t testing.TB, parts ...any) *model.Cluster {
	c := mk.Cluster(nil, append(parts, mk.Node("n1", "2"), mk.Node("n2", "2"))...)
	c.PriorityClasses = []*schedulingv1.PriorityClass{{ObjectMeta: metav1.ObjectMeta{Name: "high"}, Value: 100}}
	require.NoError(t, apiserver.Objects(c))
	return c
}

func read(t testing.TB, c *model.Cluster, text string) (*arrival.Coming, *coming.Manifests, error) {
	m := &coming.Manifests{}
	if err := m.Add([]byte(text), "web.yaml"); err != nil {
		return nil, m, err
	}
	comes, err := m.For(c)
	return comes, m, err
}

func TestPodsAreAdmitted(t *testing.T) {
	c := cluster(t)
	before := c.DeepCopy()
	comes, m, err := read(t, c, fmt.Sprintf(deployment, "high", "1"))
	require.NoError(t, err)
	require.Empty(t, m.Notes)
	p := comes.Workloads[0].Pods[0]
	require.Equal(t, int32(100), *p.Spec.Priority)
	require.Equal(t, v1.DefaultSchedulerName, p.Spec.SchedulerName)
	require.Equal(t, "default", p.Namespace)
	require.Equal(t, before, c)
}

func TestClassMayComeAlong(t *testing.T) {
	comes, _, err := read(t, cluster(t), "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: top}\nvalue: 7\n---\n"+fmt.Sprintf(deployment, "top", "1"))
	require.NoError(t, err)
	require.Equal(t, int32(7), *comes.Workloads[0].Pods[0].Spec.Priority)
	require.Len(t, comes.Objects, 1)
}

// Errors name the file, the document, the object, and the field as it is in the manifest.
func TestErrors(t *testing.T) {
	running := mk.Pod("web-1", 0, mk.CPU("1"), mk.On("n1"), func(p *v1.Pod) {
		yes := true
		p.Labels = map[string]string{"pod-template-hash": "5"}
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web-5", UID: "u", Controller: &yes}}
	})
	for _, test := range []struct{ text, want string }{
		{fmt.Sprintf(deployment, "none", "1"), `web.yaml: document 1, line 8: Deployment default/web: spec.template.spec.priorityClassName: `},
		{fmt.Sprintf(deployment, "high", "-1"), `web.yaml: document 1, line 8: Deployment default/web: spec.template.spec.containers[0].resources.requests[cpu]: Invalid value: "-1"`},
		{head + "  replicas: -2\n" + fmt.Sprintf(template, "high", "1"), `web.yaml: document 1, line 5: Deployment default/web: spec.replicas: Invalid value: -2`},
		{head + "  replica: 2\n" + fmt.Sprintf(template, "high", "1"), `web.yaml: document 1, line 5: Deployment default/web: spec.replica: unknown field`},
		{fmt.Sprintf(deployment, "high", "1") + "---\n" + fmt.Sprintf(deployment, "high", "1"), `web.yaml: document 2, line 12: Deployment default/web: metadata.name: there are two of this name`},
		{"apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {nodeName: n1, containers: [{name: c, image: i}]}", `web.yaml: document 1, line 4: Pod default/p: spec.nodeName: Invalid value: "n1": is bound already`},
		{"apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {resourceClaims: [{name: r, resourceClaimName: x}], containers: [{name: c, image: i}]}", `spec.resourceClaims: claims of devices that come are not followed yet`},
		{"apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: high}\nvalue: 7\n", `web.yaml: document 1, line 4: PriorityClass high: value: is 100 in the cluster already`},
		{"apiVersion: v1\nkind: Pod\nmetadata: {name: web-1}\nspec: {containers: [{name: c, image: i}]}", `Pod default/web-1: metadata.name: pod default/web-1 is in the cluster already`},
		{fmt.Sprintf(deployment, "high", "1"), `Deployment default/web: is in the cluster already, with 1 pods`},
		{"# nothing\n", `web.yaml: there is no object in it`},
	} {
		c := cluster(t)
		if strings.Contains(test.want, "in the cluster already") {
			c = cluster(t, running)
		}
		_, _, err := read(t, c, test.text)
		require.ErrorContains(t, err, test.want)
		require.NotContains(t, err.Error(), "\n", "one line each")
		var input *corpus.InputError
		require.True(t, errors.As(err, &input))
	}
}

// What is not followed is told.
func TestNotes(t *testing.T) {
	for text, want := range map[string]string{
		"apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: web}\nspec: {maxReplicas: 3, scaleTargetRef: {kind: Deployment, name: web}}": "HorizontalPodAutoscaler default/web is not followed",
		"apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: q}":                                                                    "ResourceQuota default/q is not followed",
		"apiVersion: example.com/v1\nkind: Database\nmetadata: {name: d}":                                                             "web.yaml: a Database of example.com/v1 is not followed",
		"apiVersion: v1\nkind: Service\nmetadata: {name: s}":                                                                          "no pod comes of what is given",
		"apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: high}\nvalue: 100":                                   "PriorityClass high is in the cluster already",
		"apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {schedulerName: mine, containers: [{name: c, image: i}]}":              `Pod default/p: 1 of its pods are not followed: spec.schedulerName: Unsupported value: "mine"`,
		"apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {schedulingGates: [{name: a.b/c}], containers: [{name: c, image: i}]}": "Pod default/p: 1 of its pods are not followed: spec.schedulingGates",
	} {
		_, m, err := read(t, cluster(t), text)
		require.NoError(t, err)
		require.Contains(t, strings.Join(m.Notes, "\n"), want)
	}
}

func TestClaimsGetTheDefaultClass(t *testing.T) {
	c := cluster(t)
	c.Extra = append(c.Extra, &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "fast", Annotations: map[string]string{"storageclass.kubernetes.io/is-default-class": "true"}}, Provisioner: "example.com/disk"},
		&v1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "data-db-0", Namespace: "default"}})
	comes, _, err := read(t, c, `apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  replicas: 2
  selector: {matchLabels: {app: db}}
  template: {metadata: {labels: {app: db}}, spec: {containers: [{name: c, image: i}]}}
  volumeClaimTemplates: [{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}]
`)
	require.NoError(t, err)
	claims := comes.Workloads[0].Claims
	require.Len(t, claims, 1, "db-0 has its claim from before")
	require.Equal(t, "data-db-1", claims[0].Name)
	require.Equal(t, "fast", *claims[0].Spec.StorageClassName)
}

func TestIsCluster(t *testing.T) {
	for text, want := range map[string]bool{
		"apiVersion: v1\nkind: Node\nmetadata: {name: n1}":       true,
		"apiVersion: preemptcheck/v1alpha1\nkind: Case\nname: a": true,
		fmt.Sprintf(deployment, "high", "1"):                     false,
		"apiVersion: v1\nkind: Pod\nmetadata: {name: p}":         false,
		"{": false,
		"apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: Node, metadata: {name: n1}}]": true,
	} {
		require.Equal(t, want, coming.IsCluster([]byte(text)), text)
	}
}

// FuzzFor: whatever the manifests are, either there is an error, or the pods that come are whole, at most one of a name,
// and admitting them again changes nothing.
func FuzzFor(f *testing.F) {
	f.Add([]byte(fmt.Sprintf(deployment, "high", "1")))
	for _, name := range []string{"web", "several", "gang"} {
		text, err := os.ReadFile("../../cmd/preemptcheck/app/testdata/arrivals/" + name + ".yaml")
		require.NoError(f, err)
		f.Add(text)
	}
	c := cluster(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > 1<<16 || coming.IsCluster(text) {
			return
		}
		comes, _, err := read(t, c, string(text))
		if err != nil {
			require.NotEmpty(t, err.Error())
			return
		}
		names := map[string]bool{}
		for _, w := range comes.Workloads {
			for _, p := range w.Pods {
				require.False(t, names[model.Key(p)], "two pods of a name")
				names[model.Key(p)] = true
				require.Empty(t, p.Spec.NodeName)
				require.NotNil(t, p.Spec.SchedulerName)
			}
		}
	})
}
