package generators

import (
	"math"
	"slices"

	"github.com/preemptcheck/preemptcheck/generators/draw"
	"github.com/preemptcheck/preemptcheck/generators/volumes"
)

func (g *generator) drawNodes(count int) {
	if g.volumes {
		g.mounts = volumes.Draw(g.Source, volumes.Options{
			Lack: lacks[g.bottleneck], Provision: g.bottleneck < byPodCount, OtherNamespace: otherNamespace, InOther: g.namespaces,
			NodeName: NodeName, Deleted: epoch.AddDate(1, 0, 0)})
	}
	room := 2 + g.Intn(5)
	g.need = g.drawNeed(room)
	g.left = maxPods
	for i := range count {
		if g.twins && i > 0 && g.Chance(80) {
			if twin := g.nodes[g.Intn(i)]; len(twin.pods) <= g.left {
				g.nodes = append(g.nodes, g.vary(twin))
				continue
			}
		}
		n := g.drawNode(room)
		g.left -= len(n.pods)
		g.nodes = append(g.nodes, n)
	}
	if g.bottleneck == byClaim && !(g.slack && g.Chance(30)) {
		g.useClaim()
	}
	if count > 0 && g.Chance(90) { // someone has left a node for it
		g.home = g.Intn(count)
		n := &g.nodes[g.home]
		n.taints, n.level, n.cordoned = nil, 0, false
		if g.volumes {
			if n.zone == 2 && g.Chance(70) { // most volumes that are in a zone are in the first
				n.zone = 1
			}
			g.mounts.BringTo(&n.csi, g.home)
		}
	}
	if g.bottleneck == bySpread && count > 1 && g.Chance(60) {
		// A node without pods makes others hold too many; if it were good for the
		// preemptor, that would go there.
		last := &g.nodes[count-1]
		last.pods, last.cordoned, last.zone = nil, true, 1+g.Intn(2)
	}
}

// lacks are the bottlenecks that are a matter of volumes.
var lacks = map[bottleneck]volumes.Lack{byClaim: volumes.Claim, byVolumeLimit: volumes.Limit, byDisk: volumes.Disk, byVolume: volumes.Reach}

// mounts are the volumes of the node's pods.
func (n *node) mounts() (pods []volumes.Pod) {
	for i := range n.pods {
		pods = append(pods, volumes.Pod{Other: n.pods[i].otherSpace, Volumes: n.pods[i].volumes})
	}
	return pods
}

// useClaim makes a pod, or rarely two, use the claim that the preemptor wants for
// itself.
func (g *generator) useClaim() {
	second := 12
	if g.namespaces {
		second = 45
	}
	for n := range 1 + draw.Weighted(g.Source, 100-second, second) {
		var users []*pod
		for i := range g.nodes {
			for j := range g.nodes[i].pods {
				users = append(users, &g.nodes[i].pods[j])
			}
		}
		if len(users) == 0 {
			return
		}
		user := users[g.Intn(min(len(users), draw.MaxIntn))]
		switch {
		case n > 0 && g.namespaces && g.Chance(60): // with a claim of the same name
			user.otherSpace = true
		case g.Chance(70):
			user.otherSpace = false
		}
		user.volumes = volumes.AddFirst(user.volumes)
	}
}

// drawNeed draws what the preemptor requests of nodes with room units.
func (g *generator) drawNeed(room int) sizes {
	var need sizes
	most := 1 + g.Intn(room)
	if g.Chance(50) || g.extended { // more victims, which differ in more ways
		most = max(most, 1+g.Intn(room))
	}
	if main, ok := g.mainResource(); ok {
		need[main] = most
	} else if g.Chance(70) {
		need[cpu] = 1
	}
	for r := range need {
		if need[r] == 0 && g.tight[r] {
			need[r] = 1 + g.Intn(2)
		}
	}
	if g.small && g.Chance(20) {
		need[cpu] = room + 3 // no node will do
	}
	return need
}

// mainResource is the resource that the nodes run out of, if it is one.
func (g *generator) mainResource() (resource, bool) {
	return resource(g.bottleneck), g.bottleneck < byPodCount
}

func (g *generator) drawNode(room int) node {
	n := node{maxPods: mostPods}
	for r := range n.room {
		switch {
		case g.tight[r]:
			n.room[r] = room
		case resource(r) != gpu:
			n.room[r] = plenty
		}
	}
	if main, ok := g.mainResource(); ok {
		n.room[main] = room
		if g.Chance(25) {
			n.room[main] = max(1, room-1+g.Intn(3))
		}
		if g.small && g.Chance(40) {
			n.room[main] = max(0, g.need[main]-1)
		}
	}
	if g.taints && g.Chance(50) {
		n.taints = []int{g.Intn(len(taints))}
		if second := g.Intn(len(taints)); g.Chance(30) && !sameTaint(second, n.taints[0]) {
			n.taints = append(n.taints, second)
		}
	}
	if g.compared && g.Chance(60) {
		n.level = 1 + g.Intn(len(levels))
	}
	if g.nodeLabels || g.spread || g.claims || g.volumes {
		n.zone, n.disk, n.generation = g.Intn(3), g.Intn(3), g.Intn(4)
	}
	if g.podAffinity && !g.nodeLabels && !g.spread {
		n.zone = g.Intn(3)
	}
	if (g.spread || g.bottleneck == byVolume) && n.zone == 0 && g.Chance(70) { // few nodes are in no domain
		n.zone = 1 + g.Intn(2)
	}
	n.cordoned = g.cordoned && g.Chance(40)
	if g.declared {
		n.declares = g.Intn(len(declaredFeatures))
	}
	g.fill(&n)
	if g.volumes {
		n.csi = g.mounts.DrawNode(n.mounts())
	}
	if main, ok := g.mainResource(); ok && (g.roomy || g.mounts.Provisions) {
		n.room[main] = plenty
	}
	return n
}

// fill binds pods to the node, mostly until it is just full for the preemptor.
func (g *generator) fill(n *node) {
	free := n.room
	full := func() bool {
		for r, need := range g.need {
			if need > free[r] {
				return true
			}
		}
		return false
	}
	if g.slack && g.Chance(40) {
		full = func() bool { return true }
	}
	count := 1 + g.Intn(4)
	switch g.bottleneck {
	case byVolume:
		if !g.tight[cpu] {
			full = func() bool { return len(n.pods) >= count }
		}
	case byPodCount:
		n.maxPods = count
		full = func() bool { return len(n.pods) >= n.maxPods }
	case byHostPort, bySpread, byClaim, byVolumeLimit, byDisk:
		if g.bottleneck == bySpread && g.Chance(8) {
			return
		}
		full = func() bool { return len(n.pods) >= count }
	}
	for len(n.pods) < g.left && len(n.pods) < 8 && (!full() || g.Chance(20)) {
		p := g.drawPod()
		if main, ok := g.mainResource(); ok {
			if g.left-len(n.pods) < 4 { // the last pods have to fill the node
				p.size[main] = free[main]
			}
			if p.size[main] > free[main] {
				p.size[main] = free[main]
			}
			if p.size[main] == 0 && !g.Chance(30) {
				break
			}
		}
		for r := range p.size {
			p.size[r] = min(p.size[r], free[r])
			free[r] -= p.size[r]
		}
		if len(n.pods) == n.maxPods {
			break
		}
		n.pods = append(n.pods, p)
	}
	if g.bottleneck == byHostPort && len(n.pods) > 0 && !(g.slack && g.Chance(40)) {
		n.pods[g.Intn(len(n.pods))].hostPorts = []int{0}
	}
}

// drawPod draws a pod without saying where it is.
func (g *generator) drawPod() pod {
	p := pod{
		priority: g.ranks[g.Intn(len(g.ranks))],
		start:    g.Intn(4),
	}
	if main, ok := g.mainResource(); ok {
		p.size[main] = draw.Pick(g.Source, 1, 1, 2, 1, 2, 3)
	}
	for r := range p.size {
		if p.size[r] == 0 && g.tight[r] {
			p.size[r] = g.Intn(3)
		}
	}
	if g.forms && g.Chance(40) {
		p.form = form(g.Intn(int(formCount)))
	}
	if g.missingStart && g.Chance(30) {
		p.start = -1
	}
	if g.budgets || g.nominated || g.spread || g.podAffinity {
		p.labels = g.Intn(len(podLabels))
		if g.bottleneck == bySpread && g.Chance(65) {
			p.labels = 1
		}
	}
	p.noPriority = g.noPriority && p.priority == 0 && g.Chance(50)
	p.otherSpace = g.namespaces && g.Chance(40)
	if g.hostPorts && g.Chance(35) {
		p.hostPorts = []int{g.Intn(len(ports))}
	}
	if g.volumes {
		p.volumes = g.mounts.OfPod()
	}
	switch {
	case g.terminating && g.Chance(20):
		p.end = draw.Pick(g.Source, terminating, preempted)
	case g.marked && g.Chance(25):
		p.end = marked
	}
	p.shuns = g.podAffinity && g.Chance(20)
	if g.roomy {
		p.shuns = g.Chance(60)
	}
	p.unready = g.unready && g.Chance(50)
	if g.resized && g.Chance(40) {
		p.resize = draw.Pick(g.Source, shrinking, growing, actuating, infeasible, deferred)
	}
	return p
}

// vary returns a copy of the node that differs in a thing or two, or in none.
// What differs decides which criterion chooses between the two.
func (g *generator) vary(n node) node {
	n.pods = append(make([]pod, 0, len(n.pods)+2), n.pods...)
	for range draw.Weighted(g.Source, 15, 55, 30) {
		g.change(&n)
	}
	g.left -= len(n.pods)
	return n
}

// change changes one thing about the node's pods.
func (g *generator) change(n *node) {
	if len(n.pods) == 0 {
		return
	}
	i, j := g.Intn(len(n.pods)), g.Intn(len(n.pods))
	p := &n.pods[i]
	if g.lowestRank() == math.MinInt32 && g.Chance(30) {
		g.split(n, i)
		return
	}
	switch g.Intn(8) {
	case 0:
		p.start = g.Intn(4)
	case 1, 2:
		p.priority, p.noPriority = g.ranks[g.Intn(len(g.ranks))], false
	case 3:
		g.split(n, i)
	case 4:
		p.labels = g.Intn(len(podLabels))
	case 5: // the order of pods that may be equally important
		n.pods[i], n.pods[j] = n.pods[j], n.pods[i]
	case 6:
		p.size, n.pods[j].size = n.pods[j].size, p.size
	case 7: // all but what it requests
		redrawn := g.drawPod()
		redrawn.size, redrawn.hostPorts, redrawn.volumes = p.size, p.hostPorts, p.volumes
		*p = redrawn
	}
}

func (g *generator) lowestRank() int32 { return slices.Min(g.ranks) }

// split makes two pods of pod i; the second has the lowest priority around.
// Where that is MinInt32, the sum of the victims' priorities stays the same.
func (g *generator) split(n *node, i int) {
	if len(n.pods) >= min(g.left, n.maxPods) {
		return
	}
	second := n.pods[i]
	for r, size := range second.size {
		n.pods[i].size[r], second.size[r] = size-size/2, size/2
	}
	second.priority = g.lowestRank()
	second.noPriority = second.noPriority && second.priority == 0
	second.hostPorts = nil
	n.pods = append(n.pods, second)
}

// someNode is a node's name; rarely that of a node that does not exist.
func (g *generator) someNode() string {
	if len(g.nodes) == 0 || g.Chance(7) {
		return missingNode
	}
	return NodeName(g.Intn(len(g.nodes)))
}
