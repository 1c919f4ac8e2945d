package apiserver

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/internal/mk"
)

// running are pods as a cluster that has run for a while has them.
func running() (pods []*v1.Pod) {
	mk.Large(mk.Size{Nodes: 5, Bound: 60, Pending: 4}, func(o runtime.Object) {
		if pod, ok := o.(*v1.Pod); ok {
			pods = append(pods, pod)
		}
	})
	for i, p := range pods {
		token := fmt.Sprintf("kube-api-access-%05d", i)
		p.Spec.Volumes = append(p.Spec.Volumes, v1.Volume{Name: token, VolumeSource: v1.VolumeSource{EmptyDir: &v1.EmptyDirVolumeSource{}}})
		c := &p.Spec.Containers[0]
		c.VolumeMounts = append(c.VolumeMounts, v1.VolumeMount{Name: token, MountPath: "/var/run/secrets/kubernetes.io/serviceaccount"})
		ip := fmt.Sprintf("10.0.0.%d", i)
		s := &p.Status
		s.PodIP, s.PodIPs, s.HostIP, s.HostIPs = ip, []v1.PodIP{{IP: ip}}, ip, []v1.HostIP{{IP: ip}}
		at := metav1.NewTime(time.Date(2024, 1, 1, 0, i, 0, 0, time.UTC))
		s.ContainerStatuses = []v1.ContainerStatus{{Name: "web", ContainerID: "containerd://" + p.Name, State: v1.ContainerState{Running: &v1.ContainerStateRunning{StartedAt: at}}}}
		s.Conditions[0].LastTransitionTime = at
		c.Resources.Requests[v1.ResourceCPU] = mk.Resources("cpu", "1")["cpu"]
		p.Labels, p.Spec.Containers[0].VolumeMounts[0].MountPath = map[string]string{"app": "web"}, "/etc/web"
	}
	return pods
}

func remembers() *alike { return &alike{valid: &validPods{}} }

func admitted(pod *v1.Pod, known *alike) (*v1.Pod, []error) {
	pod = pod.DeepCopy()
	a := admitter{alike: known}
	a.admit(pod)
	return pod, a.errs
}

func TestAlikePodsAreValidatedOnce(t *testing.T) {
	known := remembers()
	for i, other := range running() {
		p := running()[10]
		p.Name, p.UID, p.ResourceVersion, p.Spec.NodeName = other.Name, other.UID, fmt.Sprint(i), fmt.Sprintf("node-%d", i)
		other.Status.Phase = p.Status.Phase // that of a pending pod differs
		p.Status = other.Status
		token := len(p.Spec.Volumes) - 1
		p.Spec.Volumes[token], p.Spec.Containers[0].VolumeMounts[token] = other.Spec.Volumes[token], other.Spec.Containers[0].VolumeMounts[token]
		_, errs := admitted(p, known)
		require.Empty(t, errs)
	}
	require.Len(t, known.valid.keys, 1)
}

// A pod gets the same errors, and the same defaults, whatever was admitted before it. One
// value of a valid pod is changed, or left out.
func TestAlikeHidesNoError(t *testing.T) {
	known := remembers()
	r := rand.New(rand.NewPCG(3, 4))
	pods := running()
	for _, p := range pods {
		admitted(p, known)
	}
	values := []any{"N!", "", "a", "node-1", -1.0, 0.0, 1.0, true, "10.0.0.7", "10.0.0.07", "::", "kube-api-access-*****", "kube-api-access-00001", "kube-api-access-A0001", "config", "web",
		"2024-01-01T00:00:00Z", []any{}, map[string]any{}, "-1", nil}
	valid, wrong := 0, 0
	for range 6_000 {
		p := pods[r.IntN(len(pods))]
		text, err := json.Marshal(p)
		require.NoError(t, err)
		var whole any
		require.NoError(t, json.Unmarshal(text, &whole))
		change(r, whole, values[r.IntN(len(values))])
		text, err = json.Marshal(whole)
		require.NoError(t, err)
		changed := &v1.Pod{}
		if json.Unmarshal(text, changed) != nil {
			continue
		}
		want, errs := admitted(changed, nil)
		got, same := admitted(changed, known)
		require.Equal(t, fmt.Sprint(errs), fmt.Sprint(same), "%s", text)
		require.Equal(t, want, got)
		if len(errs) == 0 {
			valid++
		} else {
			wrong++
		}
	}
	require.Greater(t, valid, 500)
	require.Greater(t, wrong, 500)
}

// change changes one value below v.
func change(r *rand.Rand, v, to any) {
	switch v := v.(type) {
	case map[string]any:
		keys := slices.Sorted(maps.Keys(v))
		if len(keys) == 0 {
			return
		}
		key := keys[r.IntN(len(keys))]
		switch v[key].(type) {
		case map[string]any, []any:
			if r.IntN(5) > 0 {
				change(r, v[key], to)
				return
			}
		}
		v[key] = to
	case []any:
		if len(v) == 0 {
			return
		}
		i := r.IntN(len(v))
		switch v[i].(type) {
		case map[string]any, []any:
			change(r, v[i], to)
		default:
			v[i] = to
		}
	}
}
