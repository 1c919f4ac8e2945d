package prune

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
)

// Part and whole stand for types of the API.
type part struct {
	Kept string `json:"kept"`
	New  string `json:"new"`
}

type everything struct {
	part  `json:",inline"`
	List  []part                       `json:"list"`
	Map   map[string]part              `json:"map"`
	To    *part                        `json:"to"`
	Words []string                     `json:"words"`
	Left  string                       `json:"left"`
	Size  *resource.Quantity           `json:"size"`
	Sizes map[string]resource.Quantity `json:"sizes"`
}

func TestOnlyWhatIsListedIsCopied(t *testing.T) {
	n, err := compile(reflect.TypeFor[everything](), []Field{{"kept", of(UID)}, {"list[].kept", of(UID)}, {"map{}.kept", of(UID)}, {"to.{kept}", of(UID)}, {"words", of(UID)},
		{"size", Text{}}, {"sizes", Text{}}})
	require.NoError(t, err)
	one := resource.MustParse("1")
	from := everything{part{"a", "x"}, []part{{"b", "x"}}, map[string]part{"k": {"c", "x"}}, &part{"d", "x"}, []string{"e"}, "x", &one, map[string]resource.Quantity{"s": one}}
	var to everything
	n.copy(reflect.ValueOf(&to).Elem(), reflect.ValueOf(&from).Elem())
	require.Equal(t, everything{part{"a", ""}, []part{{"b", ""}}, map[string]part{"k": {"c", ""}}, &part{"d", ""}, []string{"e"}, "", &one, map[string]resource.Quantity{"s": one}}, to)
	to.List[0].Kept, to.To.Kept, to.Words[0] = "z", "z", "z"
	delete(to.Map, "k")
	delete(to.Sizes, "s")
	require.Equal(t, "b", from.List[0].Kept)
	require.Equal(t, "d", from.To.Kept)
	require.Equal(t, "e", from.Words[0])
	require.Len(t, from.Map, 1)
	require.Len(t, from.Sizes, 1)

	var empty everything
	n.copy(reflect.ValueOf(&empty).Elem(), reflect.ValueOf(&everything{List: []part{}, Map: map[string]part{}, To: &part{}}).Elem())
	require.Equal(t, everything{List: []part{}, Map: map[string]part{}, To: &part{}}, empty, "what is empty is not nil")
}

// A struct is never kept as a whole: a field that it gets one day would get in.
func TestStructsAreNotKeptAsAWhole(t *testing.T) {
	for path, message := range map[string]string{
		"to":          "is kept as a whole",
		"list":        "is kept as a whole",
		"map":         "is kept as a whole",
		"gone":        "has no field gone",
		"list.kept":   "has no fields",
		"left.kept":   "has no fields",
		"to.{kept,x}": "has no field x",
	} {
		_, err := compile(reflect.TypeFor[everything](), []Field{{path, Text{}}})
		require.ErrorContains(t, err, message, path)
	}
}

func TestPodDetails(t *testing.T) {
	waits := mk.Pod("p", 5, func(p *v1.Pod) {
		p.Annotations = map[string]string{"a": "b", v1.MirrorPodAnnotationKey: "x"}
		p.Spec.Containers = []v1.Container{mk.Container()}
		c := &p.Spec.Containers[0]
		c.Image, c.Env = "registry.example.com/web", []v1.EnvVar{{Name: "PASSWORD", Value: "x"}}
		c.Resources.Limits = mk.Resources("cpu", "9", "example.com/gpu", "1")
		c.Resources.Requests = mk.Resources("cpu", "1", "example.com/gpu", "1")
		c.Ports = []v1.ContainerPort{{ContainerPort: 80}, {ContainerPort: 81, HostPort: 81}}
		c.VolumeMounts = []v1.VolumeMount{{Name: "config", MountPath: "/secret", BindMountOptions: []string{"noexec"}}, {Name: "data", MountPath: "/data"}}
		p.Spec.Volumes = []v1.Volume{
			{Name: "config", VolumeSource: v1.VolumeSource{Secret: &v1.SecretVolumeSource{SecretName: "s"}}},
			{Name: "other", VolumeSource: v1.VolumeSource{ConfigMap: &v1.ConfigMapVolumeSource{}}},
			{Name: "data", VolumeSource: v1.VolumeSource{PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}},
		}
		p.Status.ContainerStatuses = []v1.ContainerStatus{{Name: c.Name, Ready: true, Image: "x"}}
		p.Status.Conditions = []v1.PodCondition{{Type: "Initialized"}, {Type: v1.PodReady, Status: v1.ConditionFalse, Reason: "own", Message: "secret"}}
	})
	bound := waits.DeepCopy()
	bound.Name, bound.Spec.NodeName = "b", "n"
	n := mk.Node("n", "9", func(n *v1.Node) {
		n.Status.Images = []v1.ContainerImage{{Names: []string{"registry.example.com/web:latest", "registry.example.com/web@sha256:1"}, SizeBytes: 3}, {Names: []string{"other:1"}, SizeBytes: 4}}
	})
	c := mk.Cluster(waits, n, bound)
	before := c.DeepCopy()
	out, counts := Cluster(c)
	require.Equal(t, before, c, "it is not written to")
	require.Equal(t, []Count{{"Node", 1, 1}, {"Pod", 2, 2}}, counts)

	p := out.Preemptor
	require.Equal(t, map[string]string{v1.MirrorPodAnnotationKey: "x"}, p.Annotations)
	require.Equal(t, "registry.example.com/web", p.Spec.Containers[0].Image)
	require.Empty(t, out.Pods[0].Spec.Containers[0].Image)
	require.Equal(t, []v1.ContainerImage{{Names: []string{"registry.example.com/web:latest"}, SizeBytes: 3}}, out.Nodes[0].Status.Images)
	require.Empty(t, p.Spec.Containers[0].Env)
	require.Equal(t, mk.Resources("example.com/gpu", "1"), p.Spec.Containers[0].Resources.Limits)
	require.Equal(t, []v1.ContainerPort{{ContainerPort: 81, HostPort: 81}}, p.Spec.Containers[0].Ports)
	require.Equal(t, []v1.VolumeMount{{Name: "config", MountPath: "/pruned", BindMountOptions: []string{"noexec"}}}, p.Spec.Containers[0].VolumeMounts)
	require.Equal(t, []string{"config", "data"}, []string{p.Spec.Volumes[0].Name, p.Spec.Volumes[1].Name})
	require.NotNil(t, p.Spec.Volumes[0].EmptyDir)
	require.Nil(t, p.Spec.Volumes[0].Secret)
	require.Empty(t, p.Status.ContainerStatuses)
	require.Equal(t, []v1.PodCondition{{Type: v1.PodReady, Status: v1.ConditionFalse}}, p.Status.Conditions)
}

// Where a resize is under way, a status counts also if it tells nothing.
func TestStatusesOfAResize(t *testing.T) {
	p := mk.Pod("p", 5, mk.On("n"), func(p *v1.Pod) {
		p.Status.ContainerStatuses = []v1.ContainerStatus{{Name: "a"}}
		p.Status.Conditions = []v1.PodCondition{{Type: v1.PodResizePending, Status: v1.ConditionTrue, Reason: v1.PodReasonInfeasible}}
	})
	require.Len(t, Object(p, false).(*v1.Pod).Status.ContainerStatuses, 1)
}

// What only ranks nodes is kept for pod groups.
func TestWhatRanksIsForGroups(t *testing.T) {
	service := &v1.Service{Spec: v1.ServiceSpec{Selector: map[string]string{"a": "b"}, ClusterIP: "10.0.0.1"}}
	for _, with := range []bool{false, true} {
		c := mk.Cluster(mk.Pod("p", 9), mk.Node("n", "1"))
		c.Extra = []runtime.Object{service, &v1.Secret{}}
		if with {
			c.Extra = append(c.Extra, mk.Group("g", 1))
		}
		out, counts := Cluster(c)
		kept := map[string]int{}
		for _, of := range counts {
			kept[of.Kind] = of.Kept
		}
		require.Zero(t, kept["Secret"])
		require.Equal(t, with, kept["Service"] == 1)
		if with {
			require.Equal(t, &v1.Service{Spec: v1.ServiceSpec{Selector: map[string]string{"a": "b"}}}, out.Extra[0])
		}
	}
}

// It is kept where pods are spread by default, too.
func TestWhatSpreadsByDefaultIsKept(t *testing.T) {
	c := mk.Cluster(mk.Pod("p", 9), mk.Node("n", "1"))
	c.Extra = []runtime.Object{&v1.Service{Spec: v1.ServiceSpec{Type: v1.ServiceTypeExternalName, ExternalName: "example.com"}}}
	for configuration, kept := range map[string]int{
		`{"profiles": [{"pluginConfig": [{"name": "PodTopologySpread", "args": {"defaultConstraints": [{"whenUnsatisfiable": "DoNotSchedule"}]}}]}]}`:  1,
		`{"profiles": [{"pluginConfig": [{"name": "PodTopologySpread", "args": {"defaultConstraints": [{"whenUnsatisfiable": "ScheduleAnyway"}]}}]}]}`: 0,
	} {
		c.Settings = model.Settings{Configuration: []byte(configuration)}
		out, _ := Cluster(c)
		require.Len(t, out.Extra, kept)
		if kept > 0 {
			require.Equal(t, &v1.Service{Spec: v1.ServiceSpec{Type: v1.ServiceTypeExternalName}}, out.Extra[0])
		}
	}
}
