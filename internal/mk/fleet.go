package mk

import (
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	v1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// fleetClasses are the priority classes of a Fleet, and which share of its workloads has each.
var fleetClasses = []struct {
	name    string
	value   int32
	percent int
	policy  v1.PreemptionPolicy
}{
	{"batch", -100, 20, v1.PreemptNever},
	{"standard", 1_000, 50, v1.PreemptLowerPriority},
	{"customer-facing", 100_000, 22, v1.PreemptLowerPriority},
	{"platform", 1_000_000, 8, v1.PreemptLowerPriority},
}

// fleetNodes are its kinds of nodes: CPUs and GiB.
var fleetNodes = []struct{ cpu, memory int }{{8, 32}, {8, 64}, {16, 64}}

// Fleet calls add with the objects of a cluster as teams share one: Deployments, StatefulSets and
// Jobs of four priority classes in 25 namespaces, two DaemonSets, budgets for most Deployments, and
// nodes of three sizes in three zones, which are fairly full. Of its pods that wait, some fit
// nowhere without preemption. It is the same each time.
func Fleet(size Size, add func(runtime.Object)) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, c := range fleetClasses {
		add(&schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: c.name}, Value: c.value, PreemptionPolicy: &c.policy})
	}
	f := &fleet{r: r, add: add}
	for i := range size.Nodes {
		f.addNode(i)
	}
	for _, name := range []string{"node-agent", "log-shipper"} {
		for i := range f.nodes {
			f.addPod("kube-system", "DaemonSet", name, fmt.Sprintf("%s-%05d", name, i), "system-node-critical", 2_000_001_000, 100, 256, i)
		}
	}
	workloads := 0
	for f.pods < size.Bound {
		f.addWorkload(workloads, size.Bound-f.pods)
		workloads++
	}
	for i := range size.Pending {
		c := fleetClasses[1+i%3]
		f.addPod("team-00", "ReplicaSet", fmt.Sprintf("waiting-%d-5f6d7c8b9", i%4), fmt.Sprintf("waiting-%d-5f6d7c8b9-%05d", i%4, i), c.name, c.value, 6_000+1_000*(i%4/2), 8_192, -1)
	}
}

type fleet struct {
	r     *rand.Rand
	add   func(runtime.Object)
	nodes [][2]int // milliCPU and MiB left
	pods  int
}

func (f *fleet) addNode(i int) {
	kind := fleetNodes[i%len(fleetNodes)]
	name := fmt.Sprintf("node-%04d", i)
	f.nodes = append(f.nodes, [2]int{kind.cpu*1000 - 110, kind.memory*1024 - 2048})
	f.add(Node(name, "0", func(n *v1.Node) {
		n.Labels = map[string]string{v1.LabelHostname: name, v1.LabelTopologyZone: fmt.Sprintf("zone-%c", 'a'+i/3%3), v1.LabelOSStable: "linux",
			v1.LabelInstanceTypeStable: fmt.Sprintf("c%d-m%d", kind.cpu, kind.memory)}
		n.Status.Allocatable = Resources("cpu", fmt.Sprintf("%dm", f.nodes[i][0]), "memory", fmt.Sprintf("%dMi", f.nodes[i][1]), "pods", "110", "ephemeral-storage", "47093746742")
		n.Status.Capacity = Resources("cpu", fmt.Sprint(kind.cpu), "memory", fmt.Sprintf("%dGi", kind.memory), "pods", "110", "ephemeral-storage", "50620216Ki")
	}))
}

func (f *fleet) addWorkload(i, most int) {
	namespace := fmt.Sprintf("team-%02d", i%25)
	class, drawn := fleetClasses[0], f.r.IntN(100)
	for _, c := range fleetClasses {
		if class = c; drawn < c.percent {
			break
		}
		drawn -= c.percent
	}
	kind, name := "ReplicaSet", fmt.Sprintf("svc-%03d", i)
	owner := name + "-6d4b75cb6d"
	switch {
	case class.name == "batch":
		kind, owner = "Job", fmt.Sprintf("%s-%d", name, 29_318_880+i)
	case i%6 == 0:
		kind, owner = "StatefulSet", name
	}
	replicas := min(most, []int{1, 2, 3, 3, 5, 8, 12, 20, 40, 90}[f.r.IntN(10)])
	cpu, memory := []int{1000, 2000, 2000, 3000, 4000}[f.r.IntN(5)], []int{512, 1024, 2048, 4096, 8192}[f.r.IntN(5)]
	start := f.r.IntN(len(f.nodes))
	for j := range replicas {
		on := -1
		for try := 0; on < 0 && cpu > 0; try++ { // a pod that fits nowhere waits
			n := (start + j/2 + try*7) % len(f.nodes)
			if f.nodes[n][0] >= cpu && f.nodes[n][1] >= memory {
				on = n
			}
			if try > len(f.nodes) { // there is room for smaller ones only
				cpu, memory, try = cpu/2, max(memory/2, 16), 0
			}
		}
		f.addPod(namespace, kind, owner, fmt.Sprintf("%s-%05d", owner, j), class.name, class.value, cpu, memory, on)
	}
	if kind == "ReplicaSet" && i%4 != 0 {
		b := Budget(name, int32(max(replicas/4, i%2)), ForApp(owner))
		b.Namespace, b.Generation, b.Status.ObservedGeneration = namespace, 1, 1
		unavailable := intstr.FromString("25%")
		b.Spec.MaxUnavailable = &unavailable
		if i%20 == 1 {
			b.Spec.Selector = &metav1.LabelSelector{}
		}
		f.add(b)
	}
}

func (f *fleet) addPod(namespace, kind, owner, name, class string, priority int32, cpu, memory, on int) {
	f.pods++
	f.add(Pod(name, priority, In(namespace), App(owner), func(p *v1.Pod) {
		yes, policy := true, v1.PreemptLowerPriority
		if priority < 0 {
			policy = v1.PreemptNever
		}
		p.UID = types.UID(fmt.Sprintf("8c0e2c54-0000-4000-8000-%012d", f.pods))
		p.CreationTimestamp = metav1.NewTime(time.Date(2026, 1, 1+f.r.IntN(300), f.r.IntN(24), f.r.IntN(60), f.r.IntN(60), 0, time.UTC))
		apiVersion := "apps/v1"
		switch kind {
		case "ReplicaSet":
			p.Labels["pod-template-hash"] = owner[len(owner)-10:]
			if owner[0] == 'w' {
				p.Labels["pod-template-hash"] = owner[len(owner)-9:]
			}
		case "Job":
			apiVersion = "batch/v1"
		}
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: apiVersion, Kind: kind, Name: owner, UID: types.UID(namespace + owner), Controller: &yes}}
		p.Spec.PriorityClassName, p.Spec.PreemptionPolicy = class, &policy
		p.Spec.Containers = []v1.Container{Container("cpu", fmt.Sprintf("%dm", cpu), "memory", fmt.Sprintf("%dMi", memory))}
		p.Spec.Containers[0].Image = "registry.example.com/app:v1"
		if f.pods%10 == 0 && kind == "ReplicaSet" {
			spread(p)
		}
		if p.Status.Phase = v1.PodPending; on >= 0 {
			f.nodes[on][0] -= cpu
			f.nodes[on][1] -= memory
			p.Spec.NodeName, p.Status.Phase, p.Status.StartTime = fmt.Sprintf("node-%04d", on), v1.PodRunning, &p.CreationTimestamp
			p.Status.Conditions = []v1.PodCondition{{Type: v1.PodReady, Status: v1.ConditionTrue, LastTransitionTime: p.CreationTimestamp}}
		}
	}))
}

// WriteFleet writes a Fleet as WriteLarge writes a Large cluster.
func WriteFleet(w io.Writer, size Size) error { return writeList(w, size, Fleet) }
