//go:build realcluster

package realtest

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/yaml"

	"github.com/preemptcheck/preemptcheck/internal/controlplane"
	"github.com/preemptcheck/preemptcheck/internal/live"
	"github.com/preemptcheck/preemptcheck/internal/realcluster"
	"github.com/preemptcheck/preemptcheck/internal/testsize"
)

// classes are the priority classes of the pods that are drawn.
var classes = map[string]int32{"batch": 10, "middle": 20, "service": 30, "urgent": 1000}

// contextArgs choose the cluster, as a user with the role of "preemptcheck rbac".
func contextArgs(t *testing.T) []string {
	t.Helper()
	ctx := t.Context()
	_, err := cluster.Client.RbacV1().ClusterRoles().Create(ctx, live.Role(), metav1.CreateOptions{})
	require.True(t, err == nil || apierrors.IsAlreadyExists(err), err)
	_, err = cluster.Client.RbacV1().ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: reader},
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: live.RoleName},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: reader}}}, metav1.CreateOptions{})
	require.True(t, err == nil || apierrors.IsAlreadyExists(err), err)
	file, err := cluster.Kubeconfig(reader)
	require.NoError(t, err)
	return []string{"--kubeconfig", file, "--context", reader}
}

// pod is one of the class, which asks for CPU and waits until it is told to end.
func pod(namespace, name, class string, milli int64) *v1.Pod {
	second := int64(1)
	return &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{"app": name}}, Spec: v1.PodSpec{
		PriorityClassName: class, HostNetwork: true, TerminationGracePeriodSeconds: &second,
		Containers: []v1.Container{{Name: "main", Image: realcluster.PauseImage, ImagePullPolicy: v1.PullNever,
			Resources: v1.ResourceRequirements{Requests: v1.ResourceList{v1.ResourceCPU: *resource.NewMilliQuantity(milli, resource.DecimalSI)}}}}}}
}

// namespace is a new one with the classes, whose pods are gone when the test ends.
func namespace(t *testing.T, name string) string {
	t.Helper()
	ctx := t.Context()
	for class, value := range classes {
		_, err := cluster.Client.SchedulingV1().PriorityClasses().Create(ctx, &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: class}, Value: value}, metav1.CreateOptions{})
		require.True(t, err == nil || apierrors.IsAlreadyExists(err), err)
	}
	_, err := cluster.Client.CoreV1().Namespaces().Create(ctx, &v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	require.NoError(t, err)
	require.Eventually(t, func() bool { // pods need one
		_, err := cluster.Client.CoreV1().ServiceAccounts(name).Get(ctx, "default", metav1.GetOptions{})
		return err == nil
	}, 30*time.Second, 50*time.Millisecond)
	t.Cleanup(func() {
		ctx := context.Background()
		require.NoError(t, cluster.Client.CoreV1().Namespaces().Delete(ctx, name, metav1.DeleteOptions{}))
		require.Eventually(t, func() bool {
			_, err := cluster.Client.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{})
			return apierrors.IsNotFound(err)
		}, time.Minute, 100*time.Millisecond)
	})
	return name
}

// create creates a pod, and does not wait for it.
func create(t *testing.T, p *v1.Pod) {
	t.Helper()
	_, err := cluster.Client.CoreV1().Pods(p.Namespace).Create(t.Context(), p, metav1.CreateOptions{})
	require.NoError(t, err)
}

// awaitReady waits until the pods of a namespace are ready, and the budgets count them.
func awaitReady(t *testing.T, namespace string) {
	t.Helper()
	var last string
	ready := func() bool {
		pods, err := cluster.Client.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		for _, p := range pods.Items {
			if !slices.ContainsFunc(p.Status.Conditions, func(c v1.PodCondition) bool { return c.Type == v1.PodReady && c.Status == v1.ConditionTrue }) {
				last = fmt.Sprintf("%s: %+v", p.Name, p.Status)
				return false
			}
		}
		budgets, err := cluster.Client.PolicyV1().PodDisruptionBudgets(namespace).List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		for _, b := range budgets.Items {
			if b.Status.ObservedGeneration != b.Generation || b.Status.CurrentHealthy != b.Status.ExpectedPods || b.Status.ExpectedPods == 0 {
				last = fmt.Sprintf("%s: %+v", b.Name, b.Status)
				return false
			}
		}
		return true
	}
	for end := time.Now().Add(time.Minute); !ready(); time.Sleep(100 * time.Millisecond) {
		require.True(t, time.Now().Before(end), "not ready: %s", last)
	}
}

// choice is an answer that is allowed, as "explain -o json" tells it.
type choice struct {
	Node    string
	Victims []string
}

func sameNames(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// kinds tells by the name of a pod what the algorithm can tell it by: its priority, when it started, what it asks for, and the budgets
// that select it. Which of two pods that are alike goes, nothing promises: explain names one of them.
type kinds map[string]string

func kindsOf(t *testing.T, namespace string) kinds {
	t.Helper()
	pods, err := cluster.Client.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	budgets, err := cluster.Client.PolicyV1().PodDisruptionBudgets(namespace).List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	k := kinds{}
	for _, p := range pods.Items {
		kind := fmt.Sprint(*p.Spec.Priority, p.Status.StartTime, p.Spec.Containers[0].Resources.Requests.Cpu())
		for _, b := range budgets.Items {
			selector, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
			require.NoError(t, err)
			if selector.Matches(labels.Set(p.Labels)) {
				kind += " " + b.Name
			}
		}
		k[p.Namespace+"/"+p.Name] = kind
	}
	return k
}

// of are those of some pods, in their order.
func (k kinds) of(pods []string) (all []string) {
	for _, p := range pods {
		all = append(all, k[p])
	}
	slices.Sort(all)
	return all
}

// arrival is what "explain -f -o json" tells of a pod that comes.
type arrival struct {
	Pod, Node string
	Preempts  []string
	Allowed   int
	Why       string
}

func unmarshal[T any](t *testing.T, text string) (v T) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(text), &v), text)
	return v
}

// happened is what the scheduler and the kubelets did to a pod, and to others because of it.
type happened struct {
	Nominated, Node string
	Victims         []string // in the order of their names
}

// watchPods notes what happens until a pod runs.
func watchPods(t *testing.T, w watch.Interface, namespace, name string) (h happened) {
	t.Helper()
	timeout := time.After(time.Minute)
	for {
		select {
		case <-timeout:
			t.Fatalf("%s/%s does not run after a minute: %+v", namespace, name, h)
		case event, ok := <-w.ResultChan():
			require.True(t, ok, "the watch has ended")
			p, ok := event.Object.(*v1.Pod)
			if !ok {
				continue
			}
			key := p.Namespace + "/" + p.Name
			for _, c := range p.Status.Conditions {
				if c.Type == v1.DisruptionTarget && c.Status == v1.ConditionTrue && c.Reason == v1.PodReasonPreemptionByScheduler && !slices.Contains(h.Victims, key) {
					h.Victims = append(h.Victims, key)
					slices.Sort(h.Victims)
				}
			}
			if key != namespace+"/"+name {
				continue
			}
			if p.Status.NominatedNodeName != "" {
				h.Nominated = p.Status.NominatedNodeName
			}
			if h.Node = p.Spec.NodeName; p.Status.Phase == v1.PodRunning {
				return h
			}
		}
	}
}

// The real scheduler preempts on real nodes whom "explain" said before, and nobody else, and the pod runs
// where it said. "exposure" has told before that they could be preempted, and "dump" holds what it takes
// to say so.
func TestPreemptionIsExplainedBefore(t *testing.T) {
	args := contextArgs(t)
	nodes, err := cluster.Client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	preempted, byName, decided := 0, 0, map[string]int{}
	for i := range testsize.Times(5) {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, uint64(i)))
			ns := namespace(t, fmt.Sprintf("preempt-%d", i))
			least := int64(0)
			for n, node := range nodes.Items {
				cpu := node.Status.Allocatable.Cpu().MilliValue()
				if least == 0 || cpu < least {
					least = cpu
				}
				for k, left := 0, cpu; left > cpu/5; k++ {
					asks := min(left, cpu/10*(2+r.Int64N(3)))
					p := pod(ns, fmt.Sprintf("p%d-%d", n, k), []string{"batch", "middle", "service"}[r.IntN(3)], asks)
					p.Spec.NodeSelector = map[string]string{v1.LabelHostname: node.Name}
					p.Labels["tier"] = []string{"a", "b", "c"}[r.IntN(3)]
					create(t, p)
					left -= asks
				}
			}
			awaitReady(t, ns)
			for _, tier := range []string{"a", "b"}[:r.IntN(3)] {
				pods, err := cluster.Client.CoreV1().Pods(ns).List(t.Context(), metav1.ListOptions{LabelSelector: "tier=" + tier})
				require.NoError(t, err)
				if len(pods.Items) == 0 {
					continue
				}
				// Of pods without a controller, only a number that has to be available can be told.
				least := intstr.FromInt32(int32(1 + r.IntN(len(pods.Items))))
				budget := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: tier}, Spec: policyv1.PodDisruptionBudgetSpec{
					MinAvailable: &least, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"tier": tier}}}}
				_, err = cluster.Client.PolicyV1().PodDisruptionBudgets(ns).Create(t.Context(), budget, metav1.CreateOptions{})
				require.NoError(t, err)
			}
			awaitReady(t, ns)

			// What is said before.
			urgent := pod(ns, "urgent", "urgent", least/10*(4+r.Int64N(5)))
			urgent.APIVersion, urgent.Kind = "v1", "Pod"
			manifest, err := yaml.Marshal(urgent)
			require.NoError(t, err)
			file := filepath.Join(t.TempDir(), "urgent.yaml")
			require.NoError(t, os.WriteFile(file, manifest, 0o600))
			status, out, errOut := own.run(t, append([]string{"explain", "-f", file, "-o", "json"}, args...)...)
			require.Zero(t, status, "%s%s", out, errOut)
			require.Contains(t, errOut, "note: the server is "+controlplane.Version)
			said := unmarshal[struct{ Arrivals []arrival }](t, out).Arrivals
			require.Len(t, said, 1)

			status, dump, errOut := own.run(t, append([]string{"dump"}, args...)...)
			require.Zero(t, status, errOut)
			admitted, err := cluster.Client.CoreV1().Pods(ns).Create(t.Context(), urgent, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
			require.NoError(t, err)
			admitted.APIVersion, admitted.Kind = "v1", "Pod"
			pending, err := yaml.Marshal(admitted)
			require.NoError(t, err)
			file = filepath.Join(t.TempDir(), "dump.yaml")
			require.NoError(t, os.WriteFile(file, []byte(dump+"---\n"+string(pending)), 0o600))
			status, out, errOut = own.run(t, "explain", file, "--pod", ns+"/urgent", "-o", "json")
			require.Zero(t, status, "%s%s", out, errOut)
			choices := unmarshal[struct{ Choices []choice }](t, out).Choices

			status, out, errOut = own.run(t, append([]string{"exposure", "-o", "json"}, args...)...)
			require.Zero(t, status, "%s%s", out, errOut)
			type threat struct {
				Class  string
				AtOnce int
			}
			exposed := map[string]int{}
			for _, w := range unmarshal[struct {
				Workloads []struct {
					Name    string
					Threats []threat
				}
			}](t, out).Workloads {
				for _, threat := range w.Threats {
					if threat.Class == "urgent" {
						exposed[w.Name] = threat.AtOnce
					}
				}
			}

			t.Cleanup(func() {
				if t.Failed() {
					t.Logf("the cluster before, and the pod:\n%s---\n%s", dump, pending)
					log, _ := os.ReadFile(filepath.Join(realcluster.Root, "kube-scheduler.log"))
					for line := range strings.Lines(string(log)) {
						if strings.Contains(line, ns+"/") {
							t.Log(strings.TrimSpace(line))
						}
					}
				}
			})

			before := kindsOf(t, ns)

			// What happens.
			w, err := cluster.Client.CoreV1().Pods("").Watch(t.Context(), metav1.ListOptions{})
			require.NoError(t, err)
			defer w.Stop()
			create(t, urgent)
			h := watchPods(t, w, ns, "urgent")
			t.Logf("said: %+v; allowed: %+v; happened: %+v", said[0], choices, h)
			if len(choices) == 0 {
				require.Empty(t, said[0].Preempts)
				require.Empty(t, h.Victims)
				return
			}
			preempted++
			decided[said[0].Why]++
			require.Equal(t, h.Nominated, h.Node)
			require.True(t, slices.ContainsFunc(choices, func(c choice) bool { return c.Node == said[0].Node && sameNames(c.Victims, said[0].Preempts) }))
			require.True(t, slices.ContainsFunc(choices, func(c choice) bool {
				return c.Node == h.Node && slices.Equal(before.of(c.Victims), before.of(h.Victims))
			}))
			if sameNames(said[0].Preempts, h.Victims) {
				byName++
			}
			if said[0].Allowed == 1 {
				require.Equal(t, said[0].Node, h.Node)
				require.Equal(t, before.of(said[0].Preempts), before.of(h.Victims))
			}
			for _, victim := range h.Victims {
				require.Equal(t, 1, exposed["pod/"+victim], "%v", exposed)
			}
		})
	}
	require.Positive(t, preempted, "pods that preempted")
	t.Logf("%d preemptions as explained before, of %d of them by name, of the others up to pods that are alike; decided by %v", preempted, byName, decided)
}

// A pod that stays pending is explained as the scheduler says it, while it does.
func TestPendingPodIsExplained(t *testing.T) {
	args := contextArgs(t)
	ns := namespace(t, "pending")
	nodes, err := cluster.Client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	for n, node := range nodes.Items {
		p := pod(ns, fmt.Sprint("full-", n), "service", node.Status.Allocatable.Cpu().MilliValue()/10*8)
		p.Spec.NodeSelector = map[string]string{v1.LabelHostname: node.Name}
		create(t, p)
	}
	awaitReady(t, ns)
	create(t, pod(ns, "low", "batch", nodes.Items[0].Status.Allocatable.Cpu().MilliValue()/2))
	var message string
	require.Eventually(t, func() bool {
		p, err := cluster.Client.CoreV1().Pods(ns).Get(t.Context(), "low", metav1.GetOptions{})
		require.NoError(t, err)
		for _, c := range p.Status.Conditions {
			if c.Type == v1.PodScheduled && c.Reason == v1.PodReasonUnschedulable {
				message = c.Message
			}
		}
		return message != ""
	}, 30*time.Second, 100*time.Millisecond)
	status, out, errOut := own.run(t, append([]string{"explain", "--pod", ns + "/low"}, args...)...)
	require.Zero(t, status, "%s%s", out, errOut)
	t.Logf("scheduler: %s\n%s", message, out)
	require.Contains(t, message, fmt.Sprintf("0/%d nodes are available: %d Insufficient cpu.", len(nodes.Items), len(nodes.Items)))
	require.Contains(t, out, "Insufficient cpu")
	require.Contains(t, message, "No preemption victims found")
	require.NotContains(t, out, "would be deleted")
	// A dump of the same instant says the same.
	status, dump, errOut := own.run(t, append([]string{"dump"}, args...)...)
	require.Zero(t, status, errOut)
	file := filepath.Join(t.TempDir(), "dump.yaml")
	require.NoError(t, os.WriteFile(file, []byte(dump), 0o600))
	status, again, errOut := own.run(t, "explain", "--pod", ns+"/low", file)
	require.Zero(t, status, "%s%s", again, errOut)
	_, live, _ := strings.Cut(out, "\n")
	_, dumped, _ := strings.Cut(again, "\n")
	require.Equal(t, live, dumped)
}
