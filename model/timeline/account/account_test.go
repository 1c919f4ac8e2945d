package account_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/model/timeline/account"
)

// pod is a pending pod that is nominated to a node.
func pod(name, nominated string) *v1.Pod {
	p := mk.Pod(name, 5, mk.CPU("1"))
	p.UID, p.ResourceVersion, p.Status.NominatedNodeName = types.UID(name), "1", nominated
	p.Spec.SchedulerName = model.DefaultSchedulerName
	return p
}

// told is that an event is stored, and handled.
func told(was, is *v1.Pod) []timeline.Entry {
	e := timeline.Entry{What: timeline.Stored}
	if was != nil {
		e.Was, e.Object = was, "Pod "+model.Key(was)
	}
	if is != nil {
		e.Is, e.Object = is, "Pod "+model.Key(is)
	}
	handled := e
	handled.What = timeline.Handled
	return []timeline.Entry{e, handled}
}

func entry(what timeline.What, p *v1.Pod) timeline.Entry {
	return timeline.Entry{What: what, Object: "Pod " + model.Key(p), Is: p}
}

func fits(p *v1.Pod, node string) []timeline.Entry {
	e := entry(timeline.Fits, p)
	e.Node = node
	return []timeline.Entry{entry(timeline.Popped, p), e}
}

// preempts is a cycle that nominates a pod, or, if the node is "", takes its nomination away.
func preempts(p *v1.Pod, node string) []timeline.Entry {
	e := entry(timeline.Decided, p)
	e.Node, e.Nomination = node, model.NominationCleared
	if node != "" {
		e.Nomination = model.NominationSet
	}
	return []timeline.Entry{entry(timeline.Popped, p), entry(timeline.Unfit, p), e, entry(timeline.Requeued, p)}
}

// states are, for each state of the last cycle of some entries, where the other pods are: on a
// node, or nominated to one.
func states(t *testing.T, known []runtime.Object, parts ...[]timeline.Entry) (all []map[string]string) {
	return statesWith(t, account.Bugs{}, known, parts...)
}

// statesWith are the states of a scheduler with bugs.
func statesWith(t *testing.T, bugs account.Bugs, known []runtime.Object, parts ...[]timeline.Entry) (all []map[string]string) {
	trace := &timeline.Trace{Startups: []timeline.Startup{{Objects: known}}}
	for _, part := range parts {
		trace.Entries = append(trace.Entries, part...)
	}
	cycles := account.Cycles(&timeline.Timeline{Cluster: &model.Cluster{}}, trace)
	require.NotEmpty(t, cycles)
	require.True(t, cycles[len(cycles)-1].States(bugs, func(s *account.State) bool {
		where := map[string]string{}
		for _, p := range s.Pods {
			where[p.Name] = p.Spec.NodeName
			if p.Spec.NodeName == "" {
				where[p.Name] = "nominated " + p.Status.NominatedNodeName
			}
		}
		all = append(all, where)
		return true
	}))
	return all
}

// TestStates: what a scheduler knows follows from what it is told, and from what it does; and
// where that is open there are several states.
func TestStates(t *testing.T) {
	known := []runtime.Object{mk.Node("a", "1"), mk.Node("b", "1")}
	p, q := pod("p", ""), pod("q", "")
	dying := pod("p", "a")
	dying.DeletionTimestamp = &metav1.Time{}
	both := [][]timeline.Entry{told(nil, p), told(nil, q)}
	tries := fits(q, "b")
	ends := func(text string, cycle int) timeline.Entry {
		return timeline.Entry{What: timeline.Ends, Object: "Pod " + model.Key(p), Text: text, Cycle: cycle}
	}
	inCycle := preempts(p, "a")
	inCycle = slices.Insert(inCycle, len(inCycle)-1, ends("error", 0))
	bindFails := timeline.Entry{What: timeline.Called, Call: timeline.Bind, Object: "Pod " + model.Key(p), UID: p.UID, Error: "conflict"}
	is := func(where string) map[string]string {
		if where == "" {
			return map[string]string{}
		}
		return map[string]string{"p": where}
	}
	for name, c := range map[string]struct {
		between [][]timeline.Entry
		want    []map[string]string
	}{
		"an assumed pod is there":       {[][]timeline.Entry{fits(p, "a")}, []map[string]string{is("a")}},
		"until its binding has failed":  {[][]timeline.Entry{fits(p, "a"), {bindFails, entry(timeline.Requeued, p)}}, []map[string]string{is("")}},
		"meanwhile that is open":        {[][]timeline.Entry{fits(p, "a"), {bindFails}}, []map[string]string{is("a"), is("")}},
		"or until it is gone":           {[][]timeline.Entry{fits(p, "a"), told(p, nil)}, []map[string]string{is("")}},
		"a pod is nominated as decided": {[][]timeline.Entry{preempts(p, "a")}, []map[string]string{is("nominated a")}},
		"an update without it, of an older pod, does not matter": {
			[][]timeline.Entry{preempts(p, "a"), told(p, pod("p", ""))}, []map[string]string{is("nominated a")},
		},
		"an update that takes it away counts": {
			[][]timeline.Entry{preempts(p, "a"), told(p, pod("p", "a")), told(pod("p", "a"), p)}, []map[string]string{is("")},
		},
		"it is withdrawn in memory at once": {
			[][]timeline.Entry{preempts(p, "a"), told(p, pod("p", "a")), preempts(pod("p", "a"), "")}, []map[string]string{is("")},
		},
		"an update that may be older than what was decided leaves it open": {
			[][]timeline.Entry{preempts(p, "a"), preempts(p, ""), told(p, pod("p", "a"))}, []map[string]string{is("nominated a"), is("")},
		},
		"of a pod that terminates by what listers show it is open": {
			[][]timeline.Entry{preempts(p, "a"), told(p, dying)[:1]}, []map[string]string{is("nominated a"), is("")},
		},
		"a preemption that has failed leaves it open":    {[][]timeline.Entry{preempts(p, "a"), {ends("error", 0)}}, []map[string]string{is("nominated a"), is("")}},
		"and if it has failed before the cycle was over": {[][]timeline.Entry{inCycle}, []map[string]string{is("nominated a"), is("")}},
		"not one that has not failed":                    {[][]timeline.Entry{preempts(p, "a"), {ends("success", 0)}}, []map[string]string{is("nominated a")}},
		"nor that of an earlier decision":                {[][]timeline.Entry{preempts(p, "a"), {ends("error", 7)}}, []map[string]string{is("nominated a")}},
		"it ends when the pod goes to a node":            {[][]timeline.Entry{preempts(p, "a"), fits(p, "b")}, []map[string]string{is("b")}},
		"it is kept by no pod that is gone":              {[][]timeline.Entry{preempts(p, "a"), told(p, nil)}, []map[string]string{is("")}},
	} {
		got := states(t, known, append(append(both[:2:2], c.between...), tries)...)
		require.Equal(t, c.want, got, name)
	}
	// What comes during a cycle counts already, or does not.
	during := append(append([]timeline.Entry{tries[0]}, told(pod("p", "a"), nil)...), tries[1])
	require.ElementsMatch(t, []map[string]string{is("nominated a"), is("")}, states(t, known, told(nil, pod("p", "a")), told(nil, q), during))
}

// TestRejectedInPermit: a victim that waits for permission is rejected without a call, and before 1.36 the
// event does not say so.
func TestRejectedInPermit(t *testing.T) {
	p, q := pod("p", ""), pod("q", "")
	on, off := map[string]string{"p": "n"}, map[string]string{}
	held := []timeline.Entry{{What: timeline.Holding, Object: "permit"}}
	decides := preempts(q, "n")
	decides[2].Victims = []string{model.Key(p)}
	says := timeline.Entry{What: timeline.Told, Object: "Pod " + model.Key(p), UID: p.UID, Text: "Preempted: Preempted by pod q on node n"}
	evicts := timeline.Entry{What: timeline.Called, Call: timeline.Evict, By: model.Key(q), Object: "Pod " + model.Key(p)}
	after := func(between ...timeline.Entry) []map[string]string {
		return states(t, nil, held, told(nil, p), told(nil, q), fits(p, "n"), decides, between, fits(q, "m"))
	}
	require.NotContains(t, after(), off)
	require.Contains(t, after(says), on)
	require.Contains(t, after(says), off)
	require.NotContains(t, after(evicts, says), off)
	require.NotContains(t, after(says, entry(timeline.Requeued, p)), on)
}

// TestDeletedOnItsWay: a pod that is deleted on its way to a node takes no room, unless for a scheduler
// that is known not to notice, until its binding has failed.
func TestDeletedOnItsWay(t *testing.T) {
	p, q := pod("p", ""), pod("q", "")
	on, off := map[string]string{"p": "n"}, map[string]string{}
	trace := [][]timeline.Entry{told(nil, p), told(nil, q), fits(p, "n"), told(p, nil), preempts(q, "")}
	require.Equal(t, []map[string]string{off}, states(t, nil, trace...))
	require.Equal(t, []map[string]string{on, off}, statesWith(t, account.Bugs{DeletedStay: true}, nil, trace...))
	failed := append(trace[:4:4], []timeline.Entry{entry(timeline.Requeued, p)}, preempts(q, ""))
	require.Equal(t, []map[string]string{off}, statesWith(t, account.Bugs{DeletedStay: true}, nil, failed...))
	again := append(trace[:4:4], told(nil, p), fits(p, "m"), preempts(q, ""))
	require.Equal(t, []map[string]string{{"p": "m"}}, statesWith(t, account.Bugs{DeletedStay: true}, nil, again...))
}

// TestNominatedAsPutBack: a nominated pod counts as it was put back, which is as listers show it, until a later
// version is told.
func TestNominatedAsPutBack(t *testing.T) {
	q := pod("q", "")
	p := func(version, nominated string) *v1.Pod {
		p := pod("p", nominated)
		p.ResourceVersion, p.Labels = version, map[string]string{"version": version}
		return p
	}
	cycle := fits(q, "b")
	seen := func(parts ...[]timeline.Entry) (all []string) {
		trace := &timeline.Trace{Startups: []timeline.Startup{{}}}
		for _, part := range append(append([][]timeline.Entry{told(nil, q)}, parts...), cycle) {
			trace.Entries = append(trace.Entries, part...)
		}
		cycles := account.Cycles(&timeline.Timeline{Cluster: &model.Cluster{}}, trace)
		require.True(t, cycles[len(cycles)-1].States(account.Bugs{}, func(s *account.State) bool {
			require.Len(t, s.Pods, 1)
			all = append(all, s.Pods[0].Labels["version"])
			return true
		}))
		return all
	}
	require.Equal(t, []string{"1"}, seen(told(nil, p("1", "a")), told(p("1", "a"), p("2", "a"))[:1]), "it was not put back")
	putBack := [][]timeline.Entry{told(nil, p("1", "")), told(p("1", ""), p("3", ""))[:1], preempts(p("1", ""), "a")}
	require.Equal(t, []string{"3"}, seen(putBack...))
	require.Equal(t, []string{"3", "2"}, seen(append(putBack[:3:3], told(p("1", ""), p("2", ""))[1:])...), "an older one is told")
	require.Equal(t, []string{"4"}, seen(append(putBack[:3:3], told(p("3", ""), p("4", "")))...))
	cycle = slices.Insert(cycle, 1, told(p("3", ""), p("4", ""))...)
	require.ElementsMatch(t, []string{"3", "4"}, seen(putBack...), "told during the cycle")
}

// TestNamesakePreempts: a pod that is gone does not preempt as the one that listers show under its name, unless for
// a scheduler that is known to do so.
func TestNamesakePreempts(t *testing.T) {
	p, another := pod("p", ""), pod("p", "")
	another.UID = "another"
	trace := &timeline.Trace{Startups: []timeline.Startup{{}}}
	for _, part := range [][]timeline.Entry{told(nil, p), told(p, nil)[:1], told(nil, another)[:1], preempts(p, "a")} {
		trace.Entries = append(trace.Entries, part...)
	}
	preemptors := func(bugs account.Bugs) (all []types.UID) {
		cycles := account.Cycles(&timeline.Timeline{Cluster: &model.Cluster{}}, trace)
		require.Len(t, cycles, 1)
		cycles[0].States(bugs, func(s *account.State) bool {
			all = append(all, s.Preemptor.UID)
			return true
		})
		return all
	}
	require.Equal(t, []types.UID{"p"}, preemptors(account.Bugs{}))
	require.Equal(t, []types.UID{"p", "another"}, preemptors(account.Bugs{NamesakePreempts: true}))
}

// TestLateStay: what is preempted for a pod that was deleted in the cycle of its group is that pod, unless for a scheduler that is known
// to take the rest of the group for it where that goes whole.
func TestLateStay(t *testing.T) {
	member := func(name string) *v1.Pod {
		p := pod(name, "")
		p.Spec.SchedulingGroup = &v1.PodSchedulingGroup{PodGroupName: new("g")}
		p.Namespace = metav1.NamespaceDefault
		return p
	}
	inGroup := func(entries []timeline.Entry) []timeline.Entry {
		for i := range entries {
			entries[i].Group = model.PodGroupKey(metav1.NamespaceDefault, "g")
		}
		return entries
	}
	m, n, p := member("m"), member("n"), pod("p", "")
	// onA are the pods of each unit on node a, in each state, if m and n go to their nodes.
	onA := func(bugs account.Bugs, whole bool, nodeOfN string, late ...*v1.Pod) (all [][]string) {
		group := &schedulingv1beta1.PodGroup{ObjectMeta: metav1.ObjectMeta{Namespace: m.Namespace, Name: "g"}}
		if whole {
			group.Spec.DisruptionMode = &schedulingv1beta1.DisruptionMode{All: &schedulingv1beta1.AllDisruptionMode{}}
		}
		trace := &timeline.Trace{Startups: []timeline.Startup{{Objects: []runtime.Object{group, mk.Node("a", "1"), mk.Node("b", "1")}}}}
		parts := [][]timeline.Entry{told(nil, m), told(nil, n), told(nil, p)}
		first, second := inGroup(fits(m, "a")), inGroup(fits(n, nodeOfN))
		parts = append(parts, first[:1], second[:1])
		for _, gone := range late {
			parts = append(parts, told(gone, nil))
		}
		for _, part := range append(parts, first[1:], second[1:], preempts(p, "a")) {
			trace.Entries = append(trace.Entries, part...)
		}
		tl := &timeline.Timeline{Cluster: &model.Cluster{Settings: model.Settings{FeatureGates: map[string]bool{model.GateWorkload: true}}}}
		cycles := account.Cycles(tl, trace)
		require.Len(t, cycles, 1)
		require.True(t, cycles[0].States(bugs, func(s *account.State) bool {
			algorithm := model.Documented()
			if s.Units != nil {
				algorithm.Units = s.Units
			}
			cy := algorithm.NewCycle(s.Cluster)
			units := []string{}
			for _, u := range cy.Units.On(cy.Node("a")) {
				var names []string
				for _, p := range u.Pods {
					names = append(names, p.Name)
				}
				units = append(units, strings.Join(names, "+"))
			}
			all = append(all, units)
			return true
		}))
		return all
	}
	known := account.Bugs{LateStay: true}
	require.Equal(t, [][]string{{"m"}}, onA(account.Bugs{}, true, "b", m))
	require.Equal(t, [][]string{{"n"}}, onA(known, true, "b", m), "the rest of the group")
	require.Equal(t, [][]string{{"n"}}, onA(known, true, "a", m), "the rest is on the same node")
	require.Equal(t, [][]string{{"m"}}, onA(known, false, "b", m), "its group does not go whole")
	require.Equal(t, [][]string{{"m+n"}}, onA(known, true, "b"), "none is deleted")
	require.Equal(t, [][]string{{"m"}}, onA(known, true, "b", m, n), "there is no rest, and each node is looked at by itself")
	require.Equal(t, [][]string{{"m"}, {"n"}}, onA(known, true, "a", m, n), "the first of two, whichever that is")
}

// TestLateBesideNamesake: a pod that was deleted in the cycle of its group counts on its node until it has waited there for too long,
// whatever becomes of the pod that was created under its name since.
func TestLateBesideNamesake(t *testing.T) {
	m, again, p := pod("m", ""), pod("m", ""), pod("p", "")
	again.UID = "again"
	inGroup := func(entries []timeline.Entry) []timeline.Entry {
		for i := range entries {
			entries[i].Group = model.PodGroupKey(metav1.NamespaceDefault, "g")
		}
		return entries
	}
	late, next := inGroup(fits(m, "a")), inGroup(fits(again, "b"))
	about := func(e timeline.Entry) timeline.Entry {
		e.Object, e.UID = "Pod "+model.Key(again), again.UID
		return e
	}
	bind := timeline.Entry{What: timeline.Called, Call: timeline.Bind}
	fails := bind
	fails.Error = "conflict"
	preempted := timeline.Entry{What: timeline.Told, Text: "Preempted: Preempted in kube-scheduler memory"}
	on, off := map[string]string{"m": "a"}, map[string]string{}
	for name, comes := range map[string][]timeline.Entry{
		"it is bound, and gone":      slices.Concat(next, []timeline.Entry{about(bind)}, told(again, nil)),
		"its binding fails":          slices.Concat(next, []timeline.Entry{about(fails), entry(timeline.Requeued, again)}),
		"it is preempted on its way": slices.Concat(next, []timeline.Entry{about(preempted), entry(timeline.Requeued, again)}),
		"it is gone before its turn": told(again, nil),
	} {
		states := func(at time.Duration) []map[string]string {
			tries := fits(p, "b")
			for i := range tries {
				tries[i].At = at
			}
			return states(t, nil, told(nil, m), told(nil, p), late[:1], told(m, nil), told(nil, again), late[1:], comes, tries)
		}
		require.Equal(t, []map[string]string{on}, states(time.Minute), name)
		require.Equal(t, []map[string]string{on, off}, states(6*time.Minute), name)
	}
}

// TestNamesakeOfMember: a nomination is that of the pod which has it, and not of a member of its name that is in its group's cycle.
func TestNamesakeOfMember(t *testing.T) {
	m, again, nominated := pod("m", ""), pod("m", ""), pod("m", "a")
	again.UID, nominated.UID = "again", "again"
	group := model.PodGroupKey(metav1.NamespaceDefault, "g")
	in := func(what timeline.What) timeline.Entry {
		e := entry(what, m)
		e.Group = group
		return e
	}
	seen := func(named *v1.Pod, now *v1.Pod) (all []string) {
		trace := &timeline.Trace{Startups: []timeline.Startup{{}}, Courses: []timeline.Course{{Entry: 2, GroupCycle: &model.GroupCycle{}}}}
		trace.Entries = slices.Concat(told(nil, m), []timeline.Entry{{What: timeline.Popped, Object: "PodGroup default/g"}, in(timeline.Popped)},
			told(named, now), []timeline.Entry{in(timeline.Unfit), in(timeline.Requeued)})
		cycles := account.GroupCycles(&timeline.Timeline{Cluster: &model.Cluster{}}, trace)
		require.Len(t, cycles, 1)
		require.True(t, cycles[0].States(account.Bugs{}, func(s *account.State) bool {
			for _, p := range s.Pods {
				if p.Status.NominatedNodeName != "" {
					all = append(all, string(p.UID)+" to "+p.Status.NominatedNodeName)
				}
			}
			return true
		}))
		return all
	}
	require.Equal(t, []string{"again to a"}, seen(again, nominated))
	require.Equal(t, []string{"m to a"}, seen(m, pod("m", "a")))
	require.Empty(t, seen(nil, again))
}

// TestNominationOutlives: a pod of a group that was created again in the group's cycle is not nominated as the one before it was,
// unless for a scheduler that is known to do so.
func TestNominationOutlives(t *testing.T) {
	m, again, p := pod("m", "a"), pod("m", ""), pod("p", "")
	again.UID = "again"
	begins := []timeline.Entry{{What: timeline.Popped, Object: "PodGroup default/g"}}
	in := func(what timeline.What, of *v1.Pod) []timeline.Entry {
		e := entry(what, of)
		e.Group = model.PodGroupKey(metav1.NamespaceDefault, "g")
		return []timeline.Entry{e}
	}
	tried := func(node string, second bool) []timeline.Entry {
		e := in(timeline.Tried, m)
		e[0].Is, e[0].Node, e[0].Second = nil, node, second
		return e
	}
	recreated := slices.Concat(told(m, nil), told(nil, again))
	ends := slices.Concat(in(timeline.Unfit, m), in(timeline.Requeued, m))
	// after is a cycle of the group in which m, as it was popped, goes through something, and then one of p.
	after := func(bugs account.Bugs, m *v1.Pod, course ...[]timeline.Entry) []map[string]string {
		trace := [][]timeline.Entry{told(nil, m), told(nil, p), begins, in(timeline.Popped, m)}
		return statesWith(t, bugs, nil, append(append(trace, course...), preempts(p, "b"))...)
	}
	known := account.Bugs{NominationOutlives: true}
	kept, none := []map[string]string{{"m": "nominated a"}}, []map[string]string{{}}
	require.Equal(t, none, after(account.Bugs{}, m, recreated, tried("a", false), ends))
	require.Equal(t, kept, after(known, m, recreated, tried("a", false), ends))
	nominated := pod("m", "c")
	nominated.UID = again.UID
	require.Equal(t, []map[string]string{{"m": "nominated c"}}, after(account.Bugs{}, m, recreated, tried("a", false), ends, told(again, nominated)))
	require.Equal(t, []map[string]string{{"m": "nominated c", "m-before": "nominated a"}}, after(known, m, recreated, tried("a", false), ends, told(again, nominated)), "it is nominated itself, too")
	require.Equal(t, kept, after(known, m, tried("a", false), recreated, tried("", true), ends), "taken back when it is gone")
	require.Equal(t, kept, after(known, m, tried("", false), recreated, tried("a", true), ends), "placed without the potential victims")
	require.Equal(t, none, after(known, m, recreated, tried("", false), tried("", true), ends), "it was not placed")
	require.Equal(t, none, after(known, m, tried("a", false), tried("", true), recreated, ends), "taken back while it was there")
	require.Equal(t, none, after(known, m, told(m, nil), tried("a", false), ends, told(nil, again)), "created after the cycle")
	ends[0].Is, ends[1].Is = pod("m", ""), pod("m", "")
	require.Equal(t, none, after(known, pod("m", ""), recreated, tried("a", false), ends), "it was not nominated")

	// within is what the pod that was created again may be nominated to, later in the same cycle.
	within := func(bugs account.Bugs, m *v1.Pod, course ...[]timeline.Entry) (to []string) {
		trace := &timeline.Trace{Startups: []timeline.Startup{{}}, Courses: []timeline.Course{{Entry: 4, GroupCycle: &model.GroupCycle{}}}}
		trace.Entries = slices.Concat(append([][]timeline.Entry{told(nil, m), told(nil, p), begins, in(timeline.Popped, m)}, append(course, ends)...)...)
		cycles := account.GroupCycles(&timeline.Timeline{Cluster: &model.Cluster{}}, trace)
		require.Len(t, cycles, 1)
		require.True(t, cycles[0].States(bugs, func(s *account.State) bool {
			i := slices.IndexFunc(s.Pods, func(p *v1.Pod) bool { return p.UID == again.UID })
			if i < 0 {
				to = append(to, "")
			} else {
				to = append(to, s.Pods[i].Status.NominatedNodeName)
			}
			return true
		}))
		slices.Sort(to)
		return slices.Compact(to)
	}
	may, not := []string{"", "a"}, []string{""}
	require.Equal(t, may, within(known, m, recreated, tried("a", false), tried("", true)))
	require.Equal(t, not, within(account.Bugs{}, m, recreated, tried("a", false), tried("", true)))
	require.Equal(t, not, within(known, m, recreated, tried("", false), tried("", true)), "it was not placed")
	require.Equal(t, not, within(known, pod("m", ""), recreated, tried("a", false), tried("", true)), "it was not nominated")
	other := pod("o", "")
	other.UID = again.UID
	require.Equal(t, not, within(known, m, told(m, nil), told(nil, other), tried("a", false), tried("", true)), "it has another name")
}

// TestConfirmed: a pod that is assumed on a node is not there yet, and one that is said to be bound is.
func TestConfirmed(t *testing.T) {
	p, q, bound := pod("p", ""), pod("q", ""), pod("p", "")
	bound.Spec.NodeName = "a"
	where := func(parts ...[]timeline.Entry) (all []string) {
		trace := &timeline.Trace{Startups: []timeline.Startup{{Objects: []runtime.Object{mk.Node("a", "1")}}}}
		for _, part := range append([][]timeline.Entry{told(nil, p), told(nil, q), fits(p, "a")}, parts...) {
			trace.Entries = append(trace.Entries, part...)
		}
		account.Follow(&timeline.Timeline{Cluster: &model.Cluster{}}, trace, func(i int, k account.Known) {
			if i < len(trace.Entries) {
				return
			}
			k.Cycle(q.Namespace+"/q", false).Confirmed().States(account.Bugs{}, func(s *account.State) bool {
				for _, p := range s.Pods {
					all = append(all, p.Name+" on "+p.Spec.NodeName)
				}
				return true
			})
		})
		return all
	}
	require.Empty(t, where())
	require.Equal(t, []string{"p on a"}, where(told(p, bound)))
}
