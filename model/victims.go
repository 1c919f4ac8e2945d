package model

import (
	"cmp"
	"slices"
)

// Outcome is one way in which preemption on a node may turn out.
type Outcome struct {
	// Victims have to go, most important first.
	Victims []string
	// Violations counts the victims whose eviction violates a budget.
	Violations int
	// Violates names the budget that a victim's eviction violates.
	Violates map[string]string
	// Reprieved could have been victims, but may stay: in the order in which
	// they were considered.
	Reprieved []string

	victims []*pod
	ranks   []int // of victims: the position of a victim's group of equally important pods
}

// maxOrders bounds how many orders of equally important, distinguishable pods
// are tried on a node: those of 7 such pods, for example.
const maxOrders = 5040

// dryRun is what preemption on one node comes to.
type dryRun struct {
	node *node
	// failed says why preemption does not help; its Plugin is "" if the node
	// has no pod of lower priority.
	failed *Verdict
	// exact is false when there are more orders of equally important pods than
	// maxOrders: outcomes then holds only that of the listed order.
	exact    bool
	outcomes []*Outcome

	groups     [][]*pod // the possible victims, by importance; a group is equally important
	staying    []*pod
	listed     *Outcome // the outcome of the order in which the cluster lists the pods
	enumerated bool
}

// dryRunOn works out which pods of n would have to go. All pods that may be
// preempted are taken away; if the preemptor fits then, as many as possible are
// given back (reprieved): first those whose eviction violates a budget, then the
// others, each from the most important one down
// (docs: concepts/scheduling-eviction/pod-priority-preemption, "Preemption" and
// "PodDisruptionBudget is supported, but not guaranteed";
// default_preemption.go:286@v1.37.1, SelectVictimsOnNode).
func (q *question) dryRunOn(n *node, order []int) *dryRun {
	d := &dryRun{node: n, exact: true}
	var possible []*pod
	for _, p := range n.pods {
		if q.preemptable(p) {
			possible = append(possible, p)
		} else {
			d.staying = append(d.staying, p)
		}
	}
	if len(possible) == 0 && q.rules.noVictimsAtOnce {
		d.failed = unresolvable("No preemption victims found for incoming pod")
		return d
	}
	if q.pre.stopped { // by a quirk
		d.failed = &Verdict{Error: "a plugin has no state, as it was not asked before any node was looked at"}
		return d
	}
	if d.failed = q.verdict(n, q.without(n, d.staying, possible)); d.failed != nil {
		return d
	}
	slices.SortStableFunc(possible, q.rules.importance)
	for i, p := range possible {
		if i == 0 || q.rules.importance(possible[i-1], p) != 0 {
			d.groups = append(d.groups, nil)
		}
		last := len(d.groups) - 1
		d.groups[last] = append(d.groups[last], p)
	}
	d.listed = q.reprieve(d, possible, order)
	if len(d.listed.victims) == 0 && q.rejected[n.Name] && !q.rules.extenders.rejectionIsError {
		// Nobody is in the way: it is the extender that rejects the node, and what
		// it would say with other pods there is not asked.
		d.failed = &Verdict{Plugin: ExtenderName, Reasons: []string{"the extender rejects the node, not the pods on it"}}
		return d
	}
	d.outcomes = []*Outcome{d.listed}
	return d
}

func (d *dryRun) isCandidate() bool { return d.failed == nil && len(d.listed.victims) > 0 }

// enumerate fills in the outcomes of every other order of equally important
// pods. Pods that can stand in for each other are not told apart.
func (q *question) enumerate(d *dryRun, order []int) {
	if d.enumerated || d.failed != nil {
		return
	}
	d.enumerated = true
	orders := 1
	kinds := make([][]int, len(d.groups))
	for g, group := range d.groups {
		kinds[g] = kindsOf(group)
		if orders = multiply(orders, arrangements(kinds[g]), maxOrders); orders > maxOrders {
			d.exact = false
			return
		}
	}
	if orders == 1 {
		return
	}
	var sequence []*pod
	var next func(g int)
	next = func(g int) {
		if g == len(d.groups) {
			same := (*Outcome).same
			if q.extendersPreempt() { // which see the victims in their order
				same = (*Outcome).equal
			}
			if o := q.reprieve(d, sequence, order); !slices.ContainsFunc(d.outcomes, func(other *Outcome) bool { return same(o, other) }) {
				d.outcomes = append(d.outcomes, o)
			}
			return
		}
		arrange(d.groups[g], kinds[g], func(arranged []*pod) {
			sequence = append(sequence, arranged...)
			next(g + 1)
			sequence = sequence[:len(sequence)-len(arranged)]
		})
	}
	next(0)
}

// reprieve gives back as many of the possible victims as it can, which are
// listed by importance, and returns the rest.
func (q *question) reprieve(d *dryRun, possible []*pod, order []int) *Outcome {
	violates := q.split(possible, order)
	queue := make([]int, 0, len(possible)) // indices into possible
	violating := func(i int) bool { return violates[i] >= 0 }
	for _, wanted := range []bool{q.rules.reprieveViolatingFirst, !q.rules.reprieveViolatingFirst} {
		for i := range possible {
			if violating(i) == wanted {
				queue = append(queue, i)
			}
		}
	}

	o := &Outcome{}
	present := slices.Clone(d.staying)
	var evicted []int
	var gone []*pod
	for at, i := range queue {
		present = append(present, possible[i])
		v := q.view(d, present, possible, queue[:at+1], gone)
		if q.rules.reprieve && q.verdict(d.node, v) == nil {
			o.Reprieved = append(o.Reprieved, possible[i].key)
			continue
		}
		present = present[:len(present)-1]
		evicted = append(evicted, i)
		gone = append(gone, possible[i])
		if violating(i) {
			o.Violations++
			if o.Violates == nil {
				o.Violates = map[string]string{}
			}
			o.Violates[possible[i].key] = Key(q.budgets[violates[i]])
		}
	}
	if q.rules.resort {
		slices.Sort(evicted)
	}
	o.Victims = make([]string, len(evicted))
	o.victims = make([]*pod, len(evicted))
	o.ranks = make([]int, len(evicted))
	for at, i := range evicted {
		o.victims[at], o.Victims[at], o.ranks[at] = possible[i], possible[i].key, d.rankOf(possible[i])
	}
	return o
}

// rankOf is the position of p's group of equally important pods, or -1.
func (d *dryRun) rankOf(p *pod) int {
	return slices.IndexFunc(d.groups, func(group []*pod) bool { return slices.Contains(group, p) })
}

// same tells whether two outcomes are alike but for pods that can stand in for
// each other.
func (o *Outcome) same(other *Outcome) bool {
	return o.Violations == other.Violations && slices.Equal(o.ranks, other.ranks) && o.sameKinds(other)
}

// equal is same, with the pods in the same order.
func (o *Outcome) equal(other *Outcome) bool {
	return o.same(other) && slices.EqualFunc(o.victims, other.victims, func(a, b *pod) bool { return a == b || interchangeable(a, b) })
}

// sameKinds tells whether the victims of both can be paired so that each pair is
// equally important and interchangeable.
func (o *Outcome) sameKinds(other *Outcome) bool {
	if len(o.victims) != len(other.victims) {
		return false
	}
	paired := make([]bool, len(other.victims))
next:
	for i, p := range o.victims {
		for j, theirs := range other.victims {
			if !paired[j] && (p == theirs || o.ranks[i] == other.ranks[j] && interchangeable(p, theirs)) {
				paired[j] = true
				continue next
			}
		}
		return false
	}
	return true
}

// moreImportant: the higher priority is more important, then the pod that has
// run longer (preemption/util.go:65@v1.37.1, MoreImportantVictim).
func moreImportant(a, b *pod) int {
	if c := cmp.Compare(b.priority, a.priority); c != 0 {
		return c
	}
	return a.start.Compare(b.start)
}

// higherPriority: nothing but the priority makes a pod more important.
func higherPriority(a, b *pod) int { return cmp.Compare(b.priority, a.priority) }

// kindsOf numbers the pods of a group so that just interchangeable ones share a
// number.
func kindsOf(group []*pod) []int {
	kinds := make([]int, len(group))
	for i, p := range group {
		kinds[i] = i
		if first := slices.IndexFunc(group[:i], func(q *pod) bool { return interchangeable(p, q) }); first >= 0 {
			kinds[i] = kinds[first]
		}
	}
	return kinds
}

// arrangements counts the distinguishable orders of a group, or more than
// maxOrders if it is more than that.
func arrangements(kinds []int) int {
	seen := map[int]int{}
	count := 1
	for i, k := range kinds {
		seen[k]++
		// Multiplying by i+1 and dividing by the multiplicity keeps count a
		// multinomial coefficient, so the division is exact.
		count = count * (i + 1) / seen[k]
		if count > maxOrders*len(kinds) {
			return count
		}
	}
	return count
}

func multiply(a, b, limit int) int {
	if b > limit {
		return b
	}
	return a * b
}

// arrange calls visit with each distinguishable order of group.
func arrange(group []*pod, kinds []int, visit func([]*pod)) {
	used := make([]bool, len(group))
	arranged := make([]*pod, 0, len(group))
	var extend func()
	extend = func() {
		if len(arranged) == len(group) {
			visit(arranged)
			return
		}
		var tried []int
		for i := range group {
			if used[i] || slices.Contains(tried, kinds[i]) {
				continue
			}
			tried = append(tried, kinds[i])
			used[i] = true
			arranged = append(arranged, group[i])
			extend()
			arranged = arranged[:len(arranged)-1]
			used[i] = false
		}
	}
	extend()
}
