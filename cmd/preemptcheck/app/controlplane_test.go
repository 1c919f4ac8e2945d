//go:build controlplane

package app

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/yaml"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/internal/controlplane"
	"github.com/preemptcheck/preemptcheck/internal/live"
	"github.com/preemptcheck/preemptcheck/internal/terminal"
)

// The users of the control plane, besides the one who may do everything: one with the role that
// "preemptcheck rbac" prints, one who may not list budgets, and one who may do nothing.
const (
	reader = "reader"
	blind  = "blind"
	nobody = "nobody"
)

// plane is a control plane that holds the objects, and the roles of the users.
func plane(t *testing.T, objects []kruntime.Object) *controlplane.Plane {
	binaries, err := controlplane.Build(t.Context(), os.Stderr)
	require.NoError(t, err)
	p, err := controlplane.Start(t.Context(), binaries, t.TempDir(), reader, blind, nobody)
	require.NoError(t, err)
	t.Cleanup(p.Stop)
	status, printed, errOut := preemptcheck(t, "", "rbac")
	require.Zero(t, status, errOut)
	var roles []kruntime.Object
	for _, document := range strings.Split(printed, "\n---\n") {
		var role rbacv1.ClusterRole
		if strings.Contains(document, "kind: ClusterRole\n") && !strings.Contains(document, "subjects:") {
			require.NoError(t, yaml.UnmarshalStrict([]byte(document), &role))
			roles = append(roles, &role)
			less := role.DeepCopy()
			less.Name = blind
			less.Rules = slices.DeleteFunc(less.Rules, func(r rbacv1.PolicyRule) bool { return r.APIGroups[0] == "policy" })
			roles = append(roles, less)
		}
	}
	require.Len(t, roles, 2)
	for user, role := range map[string]string{reader: live.RoleName, blind: blind} {
		roles = append(roles, &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: user}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
			Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: user}}})
	}
	require.NoError(t, p.Load(t.Context(), append(roles, objects...)))
	return p
}

func kubeconfig(t *testing.T, p *controlplane.Plane, user string) string {
	file, err := p.Kubeconfig(user)
	require.NoError(t, err)
	return file
}

// A live cluster is explained as the file is from which it was made.
func TestLiveClusterIsExplainedAsItsFile(t *testing.T) {
	for _, test := range []struct{ file, pod string }{
		{"../../../corpus/cases/budget-is-spent-by-a-reprieved-pod.yaml", "default/p"},
		{"../../../corpus/testdata/storage-dump.yaml", "shop/db-0"},
		{"testdata/cases/dump.yaml", "shop/web"},
	} {
		t.Run(test.pod, func(t *testing.T) {
			s, err := corpus.Load(test.file)
			require.NoError(t, err)
			p := plane(t, s.Cases[0].Cluster.Objects())
			args := []string{"explain", test.file, "--reference", "v1.37.1"}
			if s.Dump != nil {
				args = append(args, "--pod", test.pod)
			}
			status, want, errOut := preemptcheck(t, "", args...)
			require.Zero(t, status, errOut)
			status, got, errOut := preemptcheck(t, "", "explain", "--kubeconfig", kubeconfig(t, p, reader), "--pod", test.pod)
			require.Zero(t, status, errOut)
			require.Equal(t, want, got)
			require.Equal(t, "note: the server is v1.37.1; held against v1.37.1, the same release\n", errOut)
		})
	}
}

// request is a line of the audit log.
type request struct {
	Verb       string
	RequestURI string
	User       struct{ Username string }
	ObjectRef  *struct{ Resource, APIGroup, Subresource string }
}

// requestsOf are what a user asked for, by the log of the API server.
func requestsOf(t *testing.T, p *controlplane.Plane, user string) (all []request) {
	f, err := os.Open(p.AuditLog)
	require.NoError(t, err)
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var r request
		require.NoError(t, json.Unmarshal(lines.Bytes(), &r))
		if r.User.Username == user {
			all = append(all, r)
		}
	}
	return all
}

// Each verb and kind of the role is used, and nothing else is: the API server's audit log proves it.
func TestRoleIsWhatIsUsed(t *testing.T) {
	s, err := corpus.Load("testdata/cases/dump.yaml")
	require.NoError(t, err)
	p := plane(t, s.Cases[0].Cluster.Objects())
	config := kubeconfig(t, p, reader)
	for _, args := range [][]string{
		{"check"}, {"explain", "--pod", "shop/web"}, {"dump"}, {"dump", "--redact"}, {"exposure"}, {"diff", "--to", "v1.37.1", "--from", "v1.37.0"},
		{"__complete", "explain", "--kubeconfig", config, "--pod", ""}, {"__complete", "explain", "--kubeconfig", config, "--namespace", ""},
	} {
		preemptcheck(t, "", append(args, "--kubeconfig", config)...)
	}
	used := map[string]bool{}
	for _, r := range requestsOf(t, p, reader) {
		if r.ObjectRef == nil {
			require.Equal(t, "get", r.Verb)
			require.True(t, r.RequestURI == "/version" || strings.HasPrefix(r.RequestURI, "/apis/"), r.RequestURI)
			continue
		}
		require.Empty(t, r.ObjectRef.Subresource)
		used[r.Verb+" "+r.ObjectRef.Resource+"."+r.ObjectRef.APIGroup] = true
	}
	allowed := map[string]bool{}
	for _, rule := range live.Role().Rules {
		for _, name := range rule.Resources {
			for _, verb := range rule.Verbs {
				allowed[verb+" "+name+"."+rule.APIGroups[0]] = true
			}
		}
	}
	require.Equal(t, allowed, used)
}

// What a user may not list is named, with what cannot be said without it.
func TestForbiddenOnALiveCluster(t *testing.T) {
	s, err := corpus.Load("testdata/cases/dump.yaml")
	require.NoError(t, err)
	p := plane(t, s.Cases[0].Cluster.Objects())
	status, out, errOut := preemptcheck(t, "", "explain", "--kubeconfig", kubeconfig(t, p, blind), "--pod", "shop/web")
	require.Equal(t, terminal.CouldNot, status)
	require.Contains(t, errOut, `note: poddisruptionbudgets: forbidden: User "blind" cannot list resource "poddisruptionbudgets" in API group "policy" at the cluster scope; without them it cannot be said which budgets a preemption violates`)
	require.Contains(t, out+errOut, "poddisruptionbudgets are not known")

	status, out, errOut = preemptcheck(t, "", "check", "--kubeconfig", kubeconfig(t, p, nobody))
	require.Equal(t, terminal.CouldNot, status)
	require.Empty(t, out)
	require.Contains(t, errOut, `nodes: forbidden: User "nobody" cannot list resource "nodes" in API group "" at the cluster scope; "preemptcheck rbac" prints the role that it takes`)
}

// Pods that are pending in the cluster complete, and so do its namespaces.
func TestCompletionOnALiveCluster(t *testing.T) {
	s, err := corpus.Load("testdata/cases/dump.yaml")
	require.NoError(t, err)
	p := plane(t, s.Cases[0].Cluster.Objects())
	config := kubeconfig(t, p, reader)
	_, out, _ := preemptcheck(t, "", "__complete", "explain", "--kubeconfig", config, "--pod", "")
	require.Contains(t, strings.Split(out, "\n"), "shop/web")
	_, out, _ = preemptcheck(t, "", "__complete", "explain", "--kubeconfig", config, "--namespace", "sh")
	require.Contains(t, strings.Split(out, "\n"), "shop")
	_, out, _ = preemptcheck(t, "", "__complete", "explain", "--kubeconfig", config, "--context", "")
	require.Contains(t, strings.Split(out, "\n"), reader)
}

// The control plane listens on loopback only, and leaves nothing behind.
func TestControlPlaneIsOnLoopback(t *testing.T) {
	p := plane(t, nil)
	ids := p.Processes()
	require.Len(t, ids, 2)
	out, err := exec.Command("ss", "-ltnpH").Output()
	require.NoError(t, err)
	listening := 0
	for line := range strings.Lines(string(out)) {
		for _, id := range ids {
			if strings.Contains(line, fmt.Sprintf("pid=%d,", id)) {
				host, _, err := net.SplitHostPort(strings.Fields(line)[3])
				require.NoError(t, err)
				require.True(t, net.ParseIP(strings.Split(host, "%")[0]).IsLoopback(), line)
				listening++
			}
		}
	}
	require.Equal(t, 3, listening)
	p.Stop()
	for _, id := range ids {
		require.ErrorIs(t, syscall.Kill(id, 0), syscall.ESRCH)
	}
}

// large is a cluster of so many nodes, with ten pods each, and one pending pod that has to preempt.
func large(nodes int) (objects []kruntime.Object) {
	priority := func(n int32) *int32 { return &n }
	pod := func(name, node string, its *int32, cpu string, app string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, Labels: map[string]string{"app": app}}, Spec: corev1.PodSpec{
			NodeName: node, Priority: its, SchedulerName: "default-scheduler",
			Containers: []corev1.Container{{Name: "main", Image: "registry.example.com/shop/" + app + ":1.0", Env: []corev1.EnvVar{{Name: "A_VARIABLE", Value: strings.Repeat("x", 200)}},
				Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse("256Mi")}}}}}}
	}
	for n := range nodes {
		name := fmt.Sprintf("node-%05d", n)
		room := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4"), corev1.ResourceMemory: resource.MustParse("16Gi"), corev1.ResourcePods: resource.MustParse("110")}
		objects = append(objects, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": fmt.Sprint("zone-", n%3)}},
			Status: corev1.NodeStatus{Capacity: room, Allocatable: room}})
		for i := range 10 {
			objects = append(objects, pod(fmt.Sprintf("app-%d-%05d", i, n), name, priority(int32(i*100)), "400m", fmt.Sprint("app-", i)))
		}
	}
	one := intstr.FromInt32(1)
	objects = append(objects, &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "urgent"}, Value: 100000},
		&policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "app-0"}, Spec: policyv1.PodDisruptionBudgetSpec{MaxUnavailable: &one,
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "app-0"}}}, Status: policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: 1}},
		pod("urgent", "", priority(100000), "1", "urgent"))
	return objects
}

// A cluster of 5,000 nodes and 50,000 pods is read page by page, and the question is answered.
func TestLargeLiveCluster(t *testing.T) {
	const nodes = 5000
	p := plane(t, nil)
	start := time.Now()
	require.NoError(t, p.Load(t.Context(), large(nodes)))
	t.Logf("loaded in %s", time.Since(start).Round(time.Second))

	binary := filepath.Join(t.TempDir(), "preemptcheck")
	out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput()
	require.NoError(t, err, "%s", out)
	cmd := exec.Command(binary, "explain", "--kubeconfig", kubeconfig(t, p, reader), "--pod", "shop/urgent", "-o", "json")
	var errOut strings.Builder
	cmd.Stderr = &errOut
	start = time.Now()
	out, err = cmd.Output()
	require.NoError(t, err, errOut.String())
	usage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	t.Logf("explained in %s, %s of CPU, %d MiB at most", time.Since(start).Round(time.Second/10), time.Duration(usage.Utime.Nano()).Round(time.Second/10), usage.Maxrss/1024)
	var answer struct {
		Nodes, PotentialNodes int
		Reference             struct{ Agrees bool }
	}
	require.NoError(t, json.Unmarshal(out, &answer))
	require.Equal(t, nodes, answer.Nodes)
	require.Equal(t, nodes, answer.PotentialNodes)
	require.True(t, answer.Reference.Agrees)
	pages := map[string]int{}
	for _, r := range requestsOf(t, p, reader) {
		if r.ObjectRef != nil {
			require.Contains(t, r.RequestURI, "limit=500")
			pages[r.ObjectRef.Resource]++
		}
	}
	require.Equal(t, nodes/500, pages["nodes"])
	require.Equal(t, nodes*10/500+1, pages["pods"])
}
