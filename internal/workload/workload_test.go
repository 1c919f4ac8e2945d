package workload_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/internal/workload"
)

func owned(kind, name, label, hash string) *v1.Pod {
	yes := true
	p := mk.Pod("p", 0, mk.In("shop"), mk.On("node-1"))
	p.OwnerReferences = []metav1.OwnerReference{{Kind: "Backup", Name: "not-the-controller"}, {Kind: kind, Name: name, Controller: &yes}}
	if label != "" {
		p.Labels = map[string]string{label: hash}
	}
	return p
}

func TestOf(t *testing.T) {
	mirror := owned("Node", "node-1", "", "")
	mirror.Annotations = map[string]string{v1.MirrorPodAnnotationKey: "x"}
	for want, p := range map[string]*v1.Pod{
		"Deployment shop/web":         owned("ReplicaSet", "web-6d4b75cb6d", "pod-template-hash", "6d4b75cb6d"),
		"Deployment shop/web-blue":    owned("ReplicaSet", "web-blue-6d4b", "pod-template-hash", "6d4b"),
		"ReplicaSet shop/web-6d4b":    owned("ReplicaSet", "web-6d4b", "pod-template-hash", "another"),
		"ReplicaSet shop/web-7777":    owned("ReplicaSet", "web-7777", "", ""),
		"Rollout shop/api":            owned("ReplicaSet", "api-6d4b", "rollouts-pod-template-hash", "6d4b"),
		"StatefulSet shop/db":         owned("StatefulSet", "db", "pod-template-hash", "db"),
		"CronJob shop/report":         owned("Job", "report-29318880", "", ""),
		"Job shop/import-20260401":    owned("Job", "import-20260401", "", ""),
		"Job shop/import":             owned("Job", "import", "", ""),
		"Pod shop/bare":               mk.Pod("bare", 0, mk.In("shop")),
		"Node node-1":                 mirror,
		"MPIJob shop/training":        owned("MPIJob", "training", "", ""),
		"ReplicaSet shop/-6d4b":       owned("ReplicaSet", "-6d4b", "pod-template-hash", "6d4b"),
		"CronJob shop/a-report-daily": owned("Job", "a-report-daily-29318881", "", ""),
	} {
		require.Equal(t, want, workload.Of(p).String())
	}
	require.False(t, workload.IsControlled(mirror))
	require.False(t, workload.IsControlled(owned("DaemonSet", "logs", "", "")))
	require.False(t, workload.IsControlled(mk.Pod("bare", 0)))
	require.True(t, workload.IsControlled(owned("Job", "import", "", "")))
}

func TestPaths(t *testing.T) {
	for _, r := range []workload.Ref{{"deployment", "shop", "web"}, {Kind: "node", Name: "node-1"}} {
		again, err := workload.Parse(r.Path())
		require.NoError(t, err)
		require.Equal(t, r, again)
	}
	upper, err := workload.Parse("Deployment/shop/web")
	require.NoError(t, err)
	require.Equal(t, "deployment/shop/web", upper.Path())
	for _, bad := range []string{"", "web", "shop/web", "deployment/shop/", "/shop/web", "a/b/c/d", "node/"} {
		_, err := workload.Parse(bad)
		require.EqualError(t, err, fmt.Sprintf("%q is no workload: want kind/namespace/name, such as deployment/shop/web", bad))
	}
}

func FuzzParse(f *testing.F) {
	f.Add("deployment/shop/web")
	f.Add("node/node-1")
	f.Fuzz(func(t *testing.T, path string) {
		r, err := workload.Parse(path)
		if err != nil {
			return
		}
		again, err := workload.Parse(r.Path())
		require.NoError(t, err)
		require.Equal(t, r, again)
	})
}
