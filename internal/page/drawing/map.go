package drawing

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/preemptcheck/preemptcheck/internal/words"
	"github.com/preemptcheck/preemptcheck/model"
)

// Limit is how many nodes are drawn one by one. When there are more, those that are alike are one box.
const Limit = 200

// levels is how many colours there are for priorities.
const levels = 6

var one = resource.MustParse("1")

// mapView is what the template draws.
type mapView struct {
	Label     string
	Density   string // roomy, normal or dense
	Legend    []legend
	Resources []resourceView
	Nodes     []nodeView
	Total     int
	Grouped   bool
	PerNode   bool // bars are not to one scale
}

type resourceView struct {
	Index int
	Name  string
	Shown bool
}

type legend struct {
	Level int // of a priority; -1 if it is a mark
	Role  string
	Sign  string
	Text  string
}

type nodeView struct {
	ID, Name, Class string
	Count           int
	Names           []string
	Tags            []tag
	Rows            []row
	Notes           []Note
}

// tag is a word about a node; At are the stages at which it is shown, "" is all.
type tag struct{ Class, Text, At string }

type row struct {
	Index      int
	Name, Sum  string
	Hidden     bool
	Room       string // percent
	Now, After []block
	HasAfter   bool
	NowText    string
	AfterText  string
}

type block struct {
	X, W       string
	Class      string
	Level      int
	Sign, Name string
	Title      string
	Key        int  // of the pod, among those of its node
	Lead       bool // it can be walked to with keys, and has the title
	Named      bool // there is room for a name
}

// pod is a pod with what is asked of it often.
type pod struct {
	*v1.Pod
	key      string
	priority int32
	level    int
	requests map[v1.ResourceName]float64
}

func newPod(p *v1.Pod, priority int32) *pod {
	out := &pod{Pod: p, key: model.Key(p), priority: priority, requests: map[v1.ResourceName]float64{}}
	for name, q := range requests(p) {
		out.requests[name] = q.AsApproximateFloat64()
	}
	return out
}

// asks says what a pod requests.
func (p *pod) asks() string {
	list := requests(p.Pod)
	delete(list, v1.ResourcePods)
	return "requests " + cmp.Or(words.Resources(list), "nothing")
}

// mapper makes a map.
type mapper struct {
	facts      *Facts
	preemptors []*pod
	on         map[string][]*pod // by node: those that run there, and those nominated to it
	resources  []v1.ResourceName
	shown      map[v1.ResourceName]bool
	scale      map[v1.ResourceName]float64 // what 100 percent are; 0 is that each node has its own
	priorities []int32
	named      bool // blocks have names
	crowded    bool // there are many pods
}

func newMap(c *model.Cluster, facts *Facts) *mapView {
	m := &mapper{facts: facts, on: map[string][]*pod{}, scale: map[v1.ResourceName]float64{}}
	groups := c.Groups()
	var all []*pod
	add := func(p *v1.Pod) *pod {
		shown := newPod(p, groups.Priority(p, model.Priority(p)))
		all = append(all, shown)
		return shown
	}
	for _, p := range facts.Preemptors {
		m.preemptors = append(m.preemptors, add(p))
	}
	for _, p := range c.Pods {
		if slices.Contains(facts.Preemptors, p) {
			continue
		}
		switch node := cmp.Or(p.Spec.NodeName, p.Status.NominatedNodeName); {
		case node == "":
		case facts.Only == nil, slices.Contains(facts.Only, node):
			m.on[node] = append(m.on[node], add(p))
		}
	}
	for _, pods := range m.on {
		slices.SortStableFunc(pods, func(a, b *pod) int {
			f := facts.Node(cmp.Or(a.Spec.NodeName, a.Status.NominatedNodeName))
			return cmp.Or(waiting(a)-waiting(b), cmp.Compare(b.priority, a.priority), fate(a, f)-fate(b, f))
		})
	}
	for _, p := range c.Pods {
		if p.Spec.NodeName != "" {
			m.priorities = append(m.priorities, groups.Priority(p, model.Priority(p)))
		}
	}
	m.colour(all)
	m.resources, m.shown = resources(all, m.preemptors)
	nodes := c.Nodes
	if facts.Only != nil {
		nodes = nil
		for _, name := range facts.Only {
			if i := slices.IndexFunc(c.Nodes, func(n *v1.Node) bool { return n.Name == name }); i >= 0 {
				nodes = append(nodes, c.Nodes[i])
			}
		}
	}
	if len(nodes) > maxUnsorted {
		nodes = slices.Clone(nodes)
		slices.SortStableFunc(nodes, func(a, b *v1.Node) int { return facts.rank(a.Name) - facts.rank(b.Name) })
	}
	view := &mapView{Total: len(nodes), PerNode: m.measure(nodes)}
	boxes := m.boxes(nodes)
	view.Grouped = len(boxes) < len(nodes)
	drawn := 0
	for _, b := range boxes {
		drawn += len(m.on[b.Name])
	}
	m.crowded = drawn > maxBlocks
	view.Density = density(len(boxes))
	m.named = view.Density != "dense"
	if !m.named { // there is no room to choose more
		m.resources = slices.DeleteFunc(m.resources, func(name v1.ResourceName) bool { return !m.shown[name] })
	}
	for i, name := range m.resources {
		view.Resources = append(view.Resources, resourceView{i, string(name), m.shown[name]})
	}
	for i, b := range boxes {
		view.Nodes = append(view.Nodes, m.node(i, b))
	}
	view.Legend = m.legend(view.Nodes)
	return view
}

// waiting is 1 for a pod that is only nominated to its node: it comes last.
func waiting(p *pod) int {
	if p.Spec.NodeName == "" {
		return 1
	}
	return 0
}

// fate puts pods of one priority with the same fate side by side: those that stay come first.
func fate(p *pod, f *Node) (n int) {
	if _, ok := f.Victims[p.key]; ok {
		n += 2
	}
	if _, ok := f.Reprieved[p.key]; ok {
		n++
	}
	return n
}

// maxUnsorted is how many nodes are found at a glance: of more, those that matter come first.
const maxUnsorted = 12

// rank is how much a node matters, 0 the most.
func (f *Facts) rank(node string) int {
	order := []State{Picked, Allowed, Members, Fits, Candidate, NoHelp, Fails}
	n := f.Node(node)
	for i, s := range order {
		if slices.Contains(n.States, s) {
			return i
		}
	}
	return len(order)
}

func density(boxes int) string {
	switch {
	case boxes <= 12:
		return "roomy"
	case boxes <= 60:
		return "normal"
	}
	return "dense"
}

// colour gives each priority one of a few levels, the same number of priorities to each.
func (m *mapper) colour(pods []*pod) {
	for _, p := range pods {
		m.priorities = append(m.priorities, p.priority)
	}
	slices.Sort(m.priorities)
	m.priorities = slices.Compact(m.priorities)
	for _, p := range pods {
		p.level = m.level(p.priority)
	}
}

func (m *mapper) level(priority int32) int {
	i, _ := slices.BinarySearch(m.priorities, priority)
	n := len(m.priorities)
	if n <= 1 {
		return levels / 2
	}
	if n <= levels {
		return i * (levels - 1) / (n - 1)
	}
	return i * levels / n
}

// measure says how long bars are: to one scale, if the largest node has not too much more than the smallest.
func (m *mapper) measure(nodes []*v1.Node) (perNode bool) {
	for _, name := range m.resources {
		smallest, largest, longest := math.Inf(1), 0.0, 0.0
		for _, n := range nodes {
			room := allocatable(n, name)
			longest = max(longest, m.need(n, name))
			if room > 0 {
				smallest, largest = min(smallest, room), max(largest, room)
			}
		}
		switch {
		case name == v1.ResourcePods: // rarely what matters: the room is far more than there are
			m.scale[name] = 1
			for _, pods := range m.on {
				m.scale[name] = max(m.scale[name], float64(len(pods)+len(m.preemptors)))
			}
		case largest <= 4*smallest:
			m.scale[name] = longest
		default:
			perNode = true
		}
	}
	return perNode
}

func allocatable(n *v1.Node, name v1.ResourceName) float64 {
	q := n.Status.Allocatable[name]
	return q.AsApproximateFloat64()
}

// need is what a bar has to have room for: the node, or all that are to be on it.
func (m *mapper) need(n *v1.Node, name v1.ResourceName) float64 {
	sum := 0.0
	for _, p := range m.on[n.Name] {
		sum += p.requests[name]
	}
	if len(m.preemptors) > 0 {
		sum += m.preemptors[0].requests[name]
	}
	return max(sum, allocatable(n, name))
}

// box is a node to draw, which stands for others if there are names.
type box struct {
	*v1.Node
	names []string
}

// boxes are the nodes, or groups of those that are alike.
func (m *mapper) boxes(nodes []*v1.Node) (boxes []box) {
	if len(nodes) <= Limit {
		for _, n := range nodes {
			boxes = append(boxes, box{n, nil})
		}
		return boxes
	}
	for _, coarse := range []func(n *v1.Node, facts *Node) string{
		func(n *v1.Node, f *Node) string {
			return fmt.Sprint(words.Resources(n.Status.Allocatable), f.States, f.Alike)
		},
		func(n *v1.Node, f *Node) string { return fmt.Sprint(f.States, f.Alike) },
		func(n *v1.Node, f *Node) string { return fmt.Sprint(f.States) },
	} {
		at := map[string]int{}
		boxes = nil
		alone := 0
		for _, n := range nodes {
			f := m.facts.Node(n.Name)
			if f.Alone && alone < maxAlone {
				boxes, alone = append(boxes, box{n, nil}), alone+1
				continue
			}
			key := coarse(n, f)
			i, ok := at[key]
			if !ok {
				i, at[key] = len(boxes), len(boxes)
				boxes = append(boxes, box{Node: n})
			}
			boxes[i].names = append(boxes[i].names, n.Name)
		}
		if len(boxes) <= Limit {
			break
		}
	}
	slices.SortStableFunc(boxes, func(a, b box) int {
		return cmp.Or(min(len(a.names), 1)-min(len(b.names), 1), len(b.names)-len(a.names))
	})
	return boxes
}

// maxAlone is how many nodes are drawn by themselves among groups.
const maxAlone = 24

// stages are those of a cycle, by their ids, and which states are told from each on, the strongest first; the last one is the
// end, of a drawing that is not walked through.
var stages = []struct {
	id   string
	more []State
}{
	{"filter", []State{Hopeless, Fits, Fails}}, {"eligible", nil}, {"potential", []State{Potential}}, {"dryrun", []State{Helps, NoHelp}},
	{"candidates", []State{Candidate}}, {"extenders", nil}, {"pick", []State{Picked, Allowed, Members}}, {"actuate", nil}, {"end", nil},
}

// stateWords say how a node stands.
var stateWords = map[State]string{
	Picked: "picked", Members: "gets members", Allowed: "may be picked", Candidate: "candidate", Helps: "helps", NoHelp: "no help", Potential: "tried", Hopeless: "cannot help", Fits: "fits", Fails: "does not fit",
}

// tagsOf say in a word how a node stands at each stage.
func tagsOf(states []State) (all []tag) {
	var known []State
	for _, stage := range stages {
		known = append(slices.Clone(stage.more), known...)
		i := slices.IndexFunc(known, func(s State) bool { return slices.Contains(states, s) })
		if i < 0 {
			continue
		}
		if last := len(all) - 1; last >= 0 && all[last].Class == string(known[i]) {
			all[last].At += " " + stage.id
			continue
		}
		all = append(all, tag{string(known[i]), stateWords[known[i]], stage.id})
	}
	return all
}

// node draws a box.
func (m *mapper) node(i int, b box) nodeView {
	f := m.facts.Node(b.Name)
	v := nodeView{ID: fmt.Sprintf("n%d", i), Name: b.Name, Class: "node", Count: len(b.names), Names: b.names, Notes: f.Notes}
	for _, s := range f.States {
		v.Class += " " + string(s)
	}
	v.Tags = tagsOf(f.States)
	if b.Spec.Unschedulable {
		v.Tags = append(v.Tags, tag{"plain", "cordoned", ""})
	}
	if n := len(b.Spec.Taints); n > 0 {
		v.Tags = append(v.Tags, tag{"plain", words.Plural(n, "taint"), ""})
	}
	lead, titled := true, map[int]bool{}
	for i, name := range m.resources {
		r := m.row(b.Node, f, i, name, lead, titled)
		lead = lead && !(m.shown[name])
		v.Rows = append(v.Rows, r)
	}
	return v
}

// legend explains the colours and signs that there are.
func (m *mapper) legend(nodes []nodeView) (all []legend) {
	for level := range levels {
		low, high, any := int32(0), int32(0), false
		for _, p := range m.priorities {
			if m.level(p) != level {
				continue
			}
			if !any {
				low, any = p, true
			}
			high = p
		}
		switch {
		case any && low == high:
			all = append(all, legend{Level: level, Text: fmt.Sprint(low)})
		case any:
			all = append(all, legend{Level: level, Text: fmt.Sprintf("%d … %d", low, high)})
		}
	}
	seen := map[string]bool{}
	for _, n := range nodes {
		for _, r := range n.Rows {
			for _, b := range slices.Concat(r.Now, r.After) {
				for _, class := range strings.Fields(b.Class) {
					seen[class] = true
				}
			}
		}
	}
	for _, mark := range []legend{
		{-1, "preemptor", "★", "preemptor"}, {-1, "need", "★", "preemptor, beside the others"}, {-1, "victim", "✕", "victim"}, {-1, "reprieved", "↩", "reprieved"},
		{-1, "terminating", "†", "terminating"}, {-1, "nominated", "◇", "nominated"},
	} {
		if seen[mark.Role] {
			all = append(all, mark)
		}
	}
	return all
}
