// Package drawing draws nodes and their pods: a box for each node, a bar for each resource, a block for
// each pod, as long as what it requests.
package drawing

import (
	_ "embed"
	"html/template"
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"
	resourcehelper "k8s.io/component-helpers/resource"

	"github.com/preemptcheck/preemptcheck/internal/page"
	"github.com/preemptcheck/preemptcheck/model"
)

// Facts are what is known of a cluster besides its objects.
type Facts struct {
	// Preemptors are those who need room.
	Preemptors []*v1.Pod
	Nodes      map[string]*Node
	// Only draws these nodes, all if it is nil.
	Only []string
}

// Node is what is known of a node.
type Node struct {
	// States are classes of the style: see states.
	States []State
	// Notes say what is to be said at which stage.
	Notes []Note
	// Victims and Reprieved say why, by pod.
	Victims, Reprieved map[string]string
	// Gets are the preemptors that go there; After draws the node as it is then.
	Gets  []*v1.Pod
	After bool
	// Alike tells nodes apart that are drawn as one when there are many: see Limit.
	Alike string
	// Alone: the node is drawn by itself in any case.
	Alone bool
}

// Note is what is to be said of a node at a stage.
type Note struct {
	Stage string // as the id of the stage on the page
	Text  string
}

// State is how a node stands.
type State string

// The states. A node may be in several.
const (
	Fits      State = "fits"
	Fails     State = "fails"     // preemption could help
	Hopeless  State = "hopeless"  // it cannot
	Potential State = "potential" // preemption is tried
	Helps     State = "helps"     // and helps
	NoHelp    State = "nohelp"    // and does not
	Candidate State = "candidate"
	Allowed   State = "allowed"  // may be picked
	Members   State = "members"  // members of a group are nominated to it
	Touched   State = "touched"  // preempting the group takes pods of it away, or gives them back
	Picked    State = "picked"   // by the scheduler
	Unjudged  State = "unjudged" // not known: the preemptor is drawn beside the others
)

// Node returns what is known of a node, to be added to.
func (f *Facts) Node(name string) *Node {
	if f.Nodes == nil {
		f.Nodes = map[string]*Node{}
	}
	n := f.Nodes[name]
	if n == nil {
		n = &Node{Victims: map[string]string{}, Reprieved: map[string]string{}}
		f.Nodes[name] = n
	}
	return n
}

// Add adds a state, once.
func (n *Node) Add(states ...State) {
	for _, s := range states {
		if !slices.Contains(n.States, s) {
			n.States = append(n.States, s)
		}
	}
}

// Say adds a note.
func (n *Node) Say(stage, text string) { n.Notes = append(n.Notes, Note{stage, text}) }

//go:embed drawing.html
var source string

var drawingTemplate = template.Must(template.New("drawing").Parse(source))

// Draw is the map of a cluster.
func Draw(c *model.Cluster, facts *Facts) (template.HTML, error) {
	return page.Render(drawingTemplate, "map", newMap(c, facts))
}

// Boxes are the boxes of the nodes alone, without legend and controls, of a label.
func Boxes(c *model.Cluster, facts *Facts, label string) (template.HTML, error) {
	m := newMap(c, facts)
	m.Label = label
	return page.Render(drawingTemplate, "boxes", m)
}

// requests are what a pod asks for.
func requests(p *v1.Pod) v1.ResourceList {
	r := resourcehelper.PodRequests(p, resourcehelper.PodResourcesOptions{UseStatusResources: p.Spec.NodeName != "", InPlacePodLevelResourcesVerticalScalingEnabled: true})
	r[v1.ResourcePods] = one
	return r
}

// resources are the bars of a drawing: what the preemptors ask for is shown, of the others as many as
// there is room for are there to be chosen.
func resources(pods []*pod, preemptors []*pod) (all []v1.ResourceName, shown map[v1.ResourceName]bool) {
	shown = map[v1.ResourceName]bool{}
	used := map[v1.ResourceName]bool{v1.ResourcePods: true}
	for _, p := range preemptors {
		for name, value := range p.requests {
			if value > 0 && name != v1.ResourcePods {
				used[name], shown[name] = true, true
			}
		}
	}
	rest := map[v1.ResourceName]bool{}
	for _, p := range pods {
		for name, value := range p.requests {
			if value > 0 && !used[name] {
				rest[name] = true
			}
		}
	}
	all = slices.SortedFunc(maps.Keys(used), byName)
	for _, name := range slices.SortedFunc(maps.Keys(rest), byName) {
		if len(all) < maxResources {
			all = append(all, name)
		}
	}
	slices.SortFunc(all, byName)
	if len(all) > maxResources {
		all = all[:maxResources]
	}
	if len(pods) == 0 { // there is nothing but nodes
		all, shown[v1.ResourceCPU] = append([]v1.ResourceName{v1.ResourceCPU}, all...), true
	}
	for _, p := range pods { // who asks for nothing of what is shown is seen among the pods
		if !slices.ContainsFunc(all, func(name v1.ResourceName) bool { return shown[name] && p.requests[name] > 0 }) {
			shown[v1.ResourcePods] = true
			break
		}
	}
	return all, shown
}

// maxResources is how many bars a node has at most.
const maxResources = 6

// byName sorts resources: cpu and memory first, the number of pods last.
func byName(a, b v1.ResourceName) int {
	rank := func(name v1.ResourceName) int {
		switch name {
		case v1.ResourceCPU:
			return 0
		case v1.ResourceMemory:
			return 1
		case v1.ResourcePods:
			return 3
		}
		return 2
	}
	if d := rank(a) - rank(b); d != 0 {
		return d
	}
	if a < b {
		return -1
	}
	if a > b {
		return 1
	}
	return 0
}
