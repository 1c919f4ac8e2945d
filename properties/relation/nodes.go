package relation

import (
	"math/rand/v2"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/device"
	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/properties"
)

// judgedLate tells whether a filter after NodeResourcesFit may fail the pod. Such a
// failure shows only where there is room. So with more room, or less, a node may
// fail for another reason, for good or not. A configuration may put any filter there.
func judgedLate(c *model.Cluster) bool {
	return len(c.Settings.Configuration) > 0 || len(filter.NeededFeatures(c.Preemptor)) > 0 || usesDevices(c)
}

// usesDevices tells whether the preemptor uses devices, by resource claims or by
// resources that devices back. Claims name pods and nodes, slices name nodes, and which
// devices are free depends on all of them.
func usesDevices(c *model.Cluster) bool {
	return device.Uses(c.Extra, c.Preemptor)
}

// addingUselessNode: the new node has no labels, so it is in no domain to spread
// over. The search may end after another number of nodes, because that is a
// percentage. Where it ended before all nodes were tried, only nodes that were tried
// both times are compared.
var addingUselessNode = relation{
	name: "adding-a-useless-node",
	// Before, a nomination was cleared only if there was no node to try.
	releases:  ">=1.24.0",
	promise:   "A node that the pod cannot run on, whatever is preempted there, changes nothing: it is not picked, and all else stays as it was.",
	source:    "docs: concepts/scheduling-eviction/pod-priority-preemption, \"Preemption\"",
	lies:      []string{"nodes are counted", "empty nodes have room", "empty nodes are picked"},
	extenders: true,
	vary: func(s *properties.Subject, random *rand.Rand) *variation {
		if len(s.Cluster.Nodes) == 0 {
			return nil // without any node there is no scheduling at all
		}
		// No room for a single pod, and none to remove. In two of three cases it
		// also has what most pods do not tolerate.
		useless := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: unused(s.Cluster, "a-useless-node")}}
		useless.Status.Allocatable = v1.ResourceList{v1.ResourcePods: resource.Quantity{}}
		switch random.IntN(3) {
		case 0:
			useless.Spec.Unschedulable = true
		case 1:
			useless.Spec.Taints = []v1.Taint{{Key: "useless", Effect: v1.TaintEffectNoSchedule}}
		}
		out := *s.Cluster
		out.Nodes = slices.Insert(slices.Clone(out.Nodes), random.IntN(len(out.Nodes)+1), useless)
		return &variation{cluster: &out, node: names{useless.Name: ""}}
	},
}

// uselessNodes are nodes that cannot be picked: the pod fails there for good, or
// preemption was tried and did not help. Where the pod fits or may not preempt, they
// are all nodes that it does not fit on.
func uselessNodes(s *properties.Subject) []string {
	o := s.Observation
	tries := o.Eligible != nil && o.Eligible.OK
	var names []string
	for _, n := range s.Cluster.Nodes {
		verdict, failed := o.Filters[n.Name]
		if failed && (!tries || verdict.Unresolvable || o.DryRuns[n.Name].Failed != nil) {
			names = append(names, n.Name)
		}
	}
	return names
}

// addingImportantPod: the new pod has no volumes, because another node could need
// them. It has no host ports: NodePorts comes before NodeResourcesFit, so a port
// could turn a failure for good into one that preemption may resolve. The relation
// says nothing where a later filter could do the same, or where pods of other nodes
// matter.
var addingImportantPod = relation{
	name: "adding-an-important-pod",
	// Before, the first filter to reject a node could be one that other pods change.
	releases: ">=1.20.0",
	promise: "A pod of equal or higher priority cannot be preempted, so that one more of them on a node that is no candidate changes nothing, " +
		"also if budgets protect it.",
	source: "docs: concepts/scheduling-eviction/pod-priority-preemption, \"Preemption\"",
	lies:   []string{"pods are counted", "important pods are counted"},
	vary: func(s *properties.Subject, random *rand.Rand) *variation {
		useless := uselessNodes(s)
		if len(useless) == 0 || s.OtherNodesMatter() || judgedLate(s.Cluster) {
			return nil
		}
		like := s.Cluster.Preemptor
		if n := len(s.Cluster.Pods); n > 0 {
			like = s.Cluster.Pods[random.IntN(n)]
		}
		priority := max(model.Priority(like), model.Priority(s.Cluster.Preemptor))
		if s.Assumes("quantities-wrap-around") && requestsHuge(like) {
			return nil // with it, the sum of its node may pass 64 bits
		}
		added := like.DeepCopy()
		added.Name, added.UID = unused(s.Cluster, "important"), ""
		added.DeletionTimestamp = nil
		added.Spec.NodeName, added.Spec.Priority = useless[random.IntN(len(useless))], &priority
		added.Status = v1.PodStatus{Phase: v1.PodRunning, StartTime: like.Status.StartTime}
		for _, list := range [][]v1.Container{added.Spec.Containers, added.Spec.InitContainers} {
			for i := range list {
				list[i].Ports, list[i].VolumeMounts, list[i].VolumeDevices = nil, nil, nil
			}
		}
		added.Spec.Volumes = nil
		out := *s.Cluster
		out.Pods = slices.Insert(slices.Clone(out.Pods), random.IntN(len(out.Pods)+1), added)
		return &variation{cluster: &out, fuller: map[string]bool{added.Spec.NodeName: true}}
	},
}

// requestsHuge tells whether a hundred of such pods request more than 64 bits can count.
func requestsHuge(p *v1.Pod) bool {
	requests := []v1.ResourceList{p.Spec.Overhead}
	if p.Spec.Resources != nil {
		requests = append(requests, p.Spec.Resources.Requests)
	}
	for _, c := range slices.Concat(p.Spec.Containers, p.Spec.InitContainers) {
		requests = append(requests, c.Resources.Requests)
	}
	for _, list := range requests {
		for _, q := range list {
			if q.CmpInt64(resource.MaxMilliValue/100) > 0 {
				return true
			}
		}
	}
	return false
}

// removingUselessNode: not the preemptor's nominated node, on which it depends
// whether the pod waits for its victims; and not if pods of other nodes matter.
var removingUselessNode = relation{
	name:    "removing-a-useless-node",
	promise: "A node that is no candidate can go, with its pods, and all else stays as it was.",
	source:  "docs: concepts/scheduling-eviction/pod-priority-preemption, \"Preemption\"",
	lies:    []string{"nodes are counted"},
	vary: func(s *properties.Subject, random *rand.Rand) *variation {
		useless := slices.DeleteFunc(uselessNodes(s), func(name string) bool { return name == s.Cluster.Preemptor.Status.NominatedNodeName })
		if len(useless) == 0 || len(s.Cluster.Nodes) < 2 || s.OtherNodesMatter() {
			return nil
		}
		removed := useless[random.IntN(len(useless))]
		if s.Assumes("missing-node-is-error") && namedNodes(s.Cluster.Preemptor)[removed] {
			return nil
		}
		out := *s.Cluster
		out.Nodes = slices.DeleteFunc(slices.Clone(out.Nodes), func(n *v1.Node) bool { return n.Name == removed })
		out.Pods = slices.DeleteFunc(slices.Clone(out.Pods), func(p *v1.Pod) bool {
			return p.Spec.NodeName == removed || p.Status.NominatedNodeName == removed
		})
		return &variation{cluster: &out}
	},
}

// duplicatingNode: the copied pods have the labels of the originals, and budgets
// allow no more than before: each node is tried by itself, with all that the budgets
// allow. The preemptor's nominated node is not copied, because it is treated
// differently from others, nor is a node that its affinity names. The relation says
// nothing where pods of other nodes matter.
var duplicatingNode = relation{
	name: "duplicating-a-node",
	promise: "Each node is judged by itself: a copy of a node, with copies of its pods and of the pods nominated to it, comes to the same as the original, " +
		"and changes nothing on the other nodes. Another node is picked only if it is the copy of the pick, or ties.",
	source: "docs: concepts/scheduling-eviction/pod-priority-preemption, \"Preemption\"; DryRunPreemption (preemption.go:430@v1.37.1)",
	lies:   []string{"pods of other nodes count", "of two like nodes the second is worse", "the last node fails"},
	vary:   duplicateNode,
}

// namedNodes are those that the node affinity of a pod names.
func namedNodes(p *v1.Pod) map[string]bool {
	named := map[string]bool{}
	for _, t := range properties.NodeTerms(p) {
		for _, r := range t.MatchFields {
			for _, name := range r.Values {
				named[name] = true
			}
		}
	}
	return named
}

func duplicateNode(s *properties.Subject, random *rand.Rand) *variation {
	c := s.Cluster
	if s.OtherNodesMatter() {
		return nil
	}
	named := namedNodes(c.Preemptor)
	named[c.Preemptor.Status.NominatedNodeName] = true
	nodes := slices.DeleteFunc(slices.Clone(c.Nodes), func(n *v1.Node) bool { return named[n.Name] })
	if len(nodes) == 0 || usesDevices(c) {
		return nil
	}
	original := nodes[random.IntN(len(nodes))]
	node := *original
	node.Name = unused(c, original.Name+"-copy")

	out := *c
	out.Nodes = append(slices.Clone(c.Nodes), &node)
	out.Pods = slices.Clone(c.Pods)
	suffix := "-copy"
	for slices.ContainsFunc(c.Pods, func(p *v1.Pod) bool { return strings.HasSuffix(p.Name, suffix) }) {
		suffix += "-x"
	}
	copied := names{} // keys of copies
	for _, p := range c.Pods {
		if p.Spec.NodeName != original.Name && (p.Spec.NodeName != "" || p.Status.NominatedNodeName != original.Name) {
			continue
		}
		twin := *p
		twin.Name, twin.UID = p.Name+suffix, ""
		if p.Spec.NodeName != "" {
			twin.Spec.NodeName = node.Name
		}
		if p.Status.NominatedNodeName == original.Name {
			twin.Status.NominatedNodeName = node.Name
		}
		out.Pods = append(out.Pods, &twin)
		copied[model.Key(&twin)] = model.Key(p)
	}
	out.PodDisruptionBudgets = make([]*policyv1.PodDisruptionBudget, len(c.PodDisruptionBudgets))
	for i, b := range c.PodDisruptionBudgets {
		out.PodDisruptionBudgets[i] = b.DeepCopy()
		for name, at := range b.Status.DisruptedPods {
			out.PodDisruptionBudgets[i].Status.DisruptedPods[name+suffix] = at
		}
	}
	return &variation{cluster: &out, node: names{node.Name: original.Name}, pod: copied}
}
