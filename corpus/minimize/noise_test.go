package minimize

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/internal/apiserver"
	"github.com/preemptcheck/preemptcheck/model"
)

// inNoise hides a small cluster in a large one, as an admitted dump would hold
// it: with odd names and numbers, and among nodes that are full of more important
// pods, so that nothing happens there.
func inNoise(t *testing.T, small *model.Cluster, nodes int) *model.Cluster {
	t.Helper()
	c := small.DeepCopy()
	require.NoError(t, apiserver.Admit(c))
	oddly(c)
	owned := pods(c)
	var bound []*v1.Pod
	for i := range nodes {
		name := fmt.Sprintf("ip-10-0-%d.internal", i)
		c.Nodes = slices.Insert(c.Nodes, i%(len(c.Nodes)+1), &v1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{v1.LabelHostname: name, "zone": fmt.Sprint("z", i%3)}},
			Spec:       v1.NodeSpec{Taints: []v1.Taint{{Key: "maintenance", Effect: v1.TaintEffectPreferNoSchedule}}[:i%2]},
			Status:     v1.NodeStatus{Allocatable: v1.ResourceList{v1.ResourceCPU: resource.MustParse("4700m"), v1.ResourceMemory: resource.MustParse("15Gi"), v1.ResourcePods: resource.MustParse("20")}},
		})
		for j := range 20 {
			bound = append(bound, noisePod(fmt.Sprintf("worker-%d-%d", i, j), name, 2_000_000+int32(j)))
		}
	}
	for i := range nodes / 2 {
		bound = append(bound, noisePod(fmt.Sprintf("waiting-%d", i), "", int32(i)))
		c.PodDisruptionBudgets = slices.Insert(c.PodDisruptionBudgets, len(c.PodDisruptionBudgets)/2, &policyv1.PodDisruptionBudget{
			ObjectMeta: metav1.ObjectMeta{Namespace: "jobs", Name: fmt.Sprint("pdb-", i)},
			Spec:       policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"run": fmt.Sprint(i)}}},
			Status:     policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: int32(i)},
		})
	}
	half := len(bound) / 2
	c.Pods = slices.Concat(bound[:half], c.Pods, bound[half:])
	c.PriorityClasses = append(c.PriorityClasses, &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "batch"}, Value: 7})
	for i, p := range owned {
		p.UID = types.UID(fmt.Sprint("uid-", i))
		p.Annotations = map[string]string{"checksum": "f00"}
		p.CreationTimestamp = *minute(epoch.Unix() - 77)
		p.Spec.Tolerations = []v1.Toleration{{Key: "maintenance", Operator: v1.TolerationOpExists}}
		p.Spec.Containers[0].Env = []v1.EnvVar{{Name: "DEBUG", Value: "1"}}
	}
	require.NoError(t, apiserver.Admit(c))
	return c
}

func noisePod(name, node string, priority int32) *v1.Pod {
	phase := v1.PodRunning
	if node == "" {
		phase = v1.PodPending
	}
	p := &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "jobs", Name: name, Labels: map[string]string{"run": name}},
		Spec: v1.PodSpec{NodeName: node, Priority: &priority, Containers: []v1.Container{{
			Resources: v1.ResourceRequirements{Requests: v1.ResourceList{v1.ResourceCPU: resource.MustParse("230m"), v1.ResourceMemory: resource.MustParse("700Mi")}},
		}}},
		Status: v1.PodStatus{Phase: phase},
	}
	if node != "" {
		p.Status.StartTime = minute(epoch.Unix() + 1000 + int64(priority)%13)
	}
	return p
}

// oddly gives a cluster the names and numbers of a real one.
func oddly(c *model.Cluster) {
	rename := map[string]string{"": ""}
	for i, n := range c.Nodes {
		rename[n.Name] = fmt.Sprintf("gke-pool-%x.internal", 77-i)
		n.Name = rename[n.Name]
		if n.Labels == nil {
			n.Labels = map[string]string{}
		}
		n.Labels[v1.LabelHostname] = n.Name
	}
	for i, p := range pods(c) {
		p.Namespace, p.Name = "shop", fmt.Sprintf("%s-7f9c-%d", p.Name, 9-i)
		p.Spec.NodeName, p.Status.NominatedNodeName = rename[p.Spec.NodeName], rename[p.Status.NominatedNodeName]
		priority := model.Priority(p)*1000 + 17
		p.Spec.Priority = &priority
		if p.Status.StartTime != nil {
			p.Status.StartTime = minute(p.Status.StartTime.Unix()*3/2 + 11)
		}
	}
	for i, b := range c.PodDisruptionBudgets {
		b.Namespace, b.Name = "shop", fmt.Sprintf("guard-%x", 99-i)
	}
	for _, o := range c.Objects() {
		for _, list := range resourceLists(o) {
			for name, q := range list {
				if name != v1.ResourcePods {
					list[name] = quantity(name, inUnits(name, q)*7)
				}
			}
		}
	}
	for _, n := range c.Nodes {
		n.Status.Capacity = maps.Clone(n.Status.Allocatable)
	}
}

// form is all there is in a small cluster, one line for each object and for the
// settings, but for what is the same in all: the namespace default, one plain
// container, and the plainest start time.
func form(t *testing.T, c *model.Cluster) []string {
	t.Helper()
	var text bytes.Buffer
	require.NoError(t, (&corpus.Case{Name: "form", Cluster: c}).Write(&text))
	var lines []string
	for _, document := range strings.Split(text.String(), "\n---\n") {
		var object map[string]any
		require.NoError(t, yaml.Unmarshal([]byte(document), &object))
		var parts []string
		flatten(object, "", &parts)
		name, kind := "", ""
		parts = slices.DeleteFunc(parts, func(part string) bool {
			key, value, _ := strings.Cut(part, "=")
			switch key {
			case "name":
				name = value
			case "kind":
				kind = value
			case "apiVersion", "preemptor":
			default:
				return slices.Contains([]string{"namespace=default", "containers[0]={}", "startTime=2024-01-01T00:00:00Z"}, part)
			}
			return true
		})
		if kind == corpus.Kind {
			name = ""
		}
		if line := strings.Join(append(strings.Fields(kind+" "+name), parts...), " "); line != corpus.Kind {
			lines = append(lines, line)
		}
	}
	return lines
}

func flatten(v any, path string, parts *[]string) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			inner := path + "." + key
			if path == "" && slices.Contains([]string{"metadata", "spec", "status", "scheduler"}, key) {
				inner = ""
			}
			flatten(v[key], inner, parts)
		}
		if len(v) == 0 {
			*parts = append(*parts, strings.TrimPrefix(path, ".")+"={}")
		}
	case []any:
		for i := range v {
			flatten(v[i], fmt.Sprintf("%s[%d]", path, i), parts)
		}
	default:
		*parts = append(*parts, fmt.Sprintf("%s=%v", strings.TrimPrefix(path, "."), v))
	}
}
