package redact_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/corpus/prune"
	"github.com/preemptcheck/preemptcheck/corpus/redact"
	"github.com/preemptcheck/preemptcheck/generators"
	"github.com/preemptcheck/preemptcheck/internal/apiserver"
	"github.com/preemptcheck/preemptcheck/internal/checktest"
	"github.com/preemptcheck/preemptcheck/internal/testsize"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/configuration"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/model/release/vocabulary"
	"github.com/preemptcheck/preemptcheck/reference"
)

// decision is everything that the model allows for a cluster, in values that compare.
type decision struct {
	Unmodelled []string // where something is not modelled, and nothing else
	Unknown    []string // to a release
	Errors     int
	Verdicts   map[string]model.Verdict
	Search     bool
	Fits       []string
	Eligible   *bool
	Potential  []string
	Enough     int
	Exact      bool
	DryRuns    map[string][]Outcome
	Failed     map[string]model.Verdict
	Candidates []string
	Choices    []Choice
}

type Outcome struct {
	Victims, Reprieved []string
	Violations         int
	Violates           map[string]string
}

type Choice struct {
	Node string
	Outcome
	DecidedBy string
	Actuation model.Actuation
}

// decideAs is what the algorithm of a release allows, and what of the cluster it does not know.
func decideAs(t *testing.T, r release.Release, c *model.Cluster) decision {
	d := decide(t, c, r.Rules())
	for _, f := range vocabulary.Unknown(r, c) {
		kind, _, _ := strings.Cut(f.Object, " ")
		d.Unknown = append(d.Unknown, kind+" "+f.Field)
	}
	slices.Sort(d.Unknown)
	return d
}

func decide(t *testing.T, c *model.Cluster, rules *answers.Rules) (d decision) {
	if c.PreemptorGroup != "" {
		return d // what is allowed follows from what is observed
	}
	s, err := answers.Decide(c, rules)
	if u := (model.Unmodelled)(nil); errors.As(err, &u) {
		for _, f := range u {
			kind, _, _ := strings.Cut(f.Object, " ")
			d.Unmodelled = append(d.Unmodelled, fmt.Sprint(kind, f.By, f.Chance, f.Seen))
		}
		slices.Sort(d.Unmodelled)
		return d
	}
	require.NoError(t, err)
	d.Errors, d.Search, d.Fits, d.Potential, d.Enough = len(s.Errors), s.Search != nil, s.Fits, s.PotentialNodes, s.NumCandidates
	verdict := func(v *model.Verdict) model.Verdict {
		return model.Verdict{Plugin: v.Plugin, Unresolvable: v.Unresolvable, Error: strings.Repeat("e", min(1, len(v.Error))), Reasons: make([]string, len(v.Reasons))}
	}
	d.Verdicts, d.Failed, d.DryRuns = map[string]model.Verdict{}, map[string]model.Verdict{}, map[string][]Outcome{}
	for node, v := range s.Verdicts {
		d.Verdicts[node] = verdict(v)
	}
	if s.Eligible != nil {
		d.Eligible = &s.Eligible.OK
	}
	of := func(o *model.Outcome) Outcome {
		out := Outcome{Victims: o.Victims, Reprieved: o.Reprieved, Violations: o.Violations, Violates: map[string]string{}}
		for pod, budget := range o.Violates {
			out.Violates[pod] = "budget " + budget
		}
		return out
	}
	for _, node := range s.PotentialNodes {
		outcomes, failed := s.DryRunOn(node)
		if failed != nil {
			d.Failed[node] = verdict(failed)
		}
		for _, o := range outcomes {
			d.DryRuns[node] = append(d.DryRuns[node], of(o))
		}
	}
	d.Exact, _ = s.Exact()
	d.Candidates = s.Candidates()
	for _, c := range s.Choices() {
		d.Choices = append(d.Choices, Choice{c.Node, of(c.Outcome), c.DecidedBy, *s.Preempts(c)})
	}
	return d
}

// observe is what the scheduler does, without what is for people.
func observe(t *testing.T, system reference.System, c *model.Cluster) *model.Observation {
	o, err := system.Observe(t.Context(), c)
	require.NoError(t, err)
	slices.Sort(o.Candidates) // their order follows from nothing
	return o
}

// renamed puts other names in the place of whole texts in a copy of a value, and leaves out
// what is for people: reasons, messages, and the texts of errors but for whether there is one.
func renamed(v reflect.Value, to map[string]string) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			out.Set(reflect.New(v.Type().Elem()))
			out.Elem().Set(renamed(v.Elem(), to))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			switch name := v.Type().Field(i).Name; name {
			case "Reasons", "Reason", "Message", "PostFilterMessage", "Note", "Stack", "Aftermath":
			case "Deallocated":
				for _, claim := range v.Field(i).Interface().([]string) {
					out.Field(i).Set(reflect.Append(out.Field(i), renamed(reflect.ValueOf("claim "+claim), to)))
				}
			case "Other": // sentences: what is done to which kind
				for _, sentence := range v.Field(i).Interface().([]string) {
					words := strings.Fields(sentence)
					out.Field(i).Set(reflect.Append(out.Field(i), reflect.ValueOf(strings.Join(words[:min(2, len(words))], " "))))
				}
			case "Domains", "Within":
				for level := range v.Field(i).Len() {
					out.Field(i).Set(reflect.Append(out.Field(i), domain(level, v.Field(i).Index(level), to)))
				}
			case "Devices": // that of a member: claims with what they get, which has many names
				devices, is := v.Field(i).Interface().(map[string]string)
				if !is {
					out.Field(i).Set(renamed(v.Field(i), to))
					continue
				}
				claims := map[string]string{}
				for key := range devices {
					if name, is := to["claim "+key]; is {
						key = strings.TrimPrefix(name, "claim ")
					}
					claims[key] = ""
				}
				out.Field(i).Set(reflect.ValueOf(claims))
			case "Domain":
				out.Field(i).Set(domain(v.FieldByName("Within").Len(), v.Field(i), to))
			case "Error", "CycleError":
				out.Field(i).SetString(strings.Repeat("e", min(1, v.Field(i).Len())))
			default:
				out.Field(i).Set(renamed(v.Field(i), to))
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			out = reflect.Append(out, renamed(v.Index(i), to))
		}
	case reflect.Map:
		out = reflect.MakeMap(v.Type())
		for _, key := range v.MapKeys() {
			out.SetMapIndex(renamed(key, to), renamed(v.MapIndex(key), to))
		}
	case reflect.String:
		out.Set(v)
		if name, is := to[v.String()]; is {
			out.SetString(name)
		}
	default:
		out.Set(v)
	}
	return out
}

// domain is what takes the place of a topology domain: which of those on its level it is.
func domain(level int, v reflect.Value, to map[string]string) reflect.Value {
	key := fmt.Sprintf("domain %d %s", level, v)
	if to[key] == "" {
		n := 0
		for other := range to {
			if strings.HasPrefix(other, "domain ") {
				n++
			}
		}
		to[key] = fmt.Sprintf("domain %d", n)
	}
	return reflect.ValueOf(to[key])
}

func withNames[T any](v T, to map[string]string) T {
	to = maps.Clone(to)
	for key := range to {
		if strings.HasPrefix(key, "domain ") {
			delete(to, key)
		}
	}
	return renamed(reflect.ValueOf(&v).Elem(), to).Interface().(T)
}

// pseudonyms is what names of objects in a cluster became in its redacted copy.
func pseudonyms(c, out *model.Cluster, names redact.Names) map[string]string {
	to := map[string]string{}
	for i, n := range c.Nodes {
		to[n.Name] = out.Nodes[i].Name
	}
	for i, p := range c.Pods {
		to[model.Key(p)] = model.Key(out.Pods[i])
	}
	for i, b := range c.PodDisruptionBudgets {
		to["budget "+model.Key(b)] = "budget " + model.Key(out.PodDisruptionBudgets[i])
	}
	if c.Preemptor != nil {
		to[model.Key(c.Preemptor)] = model.Key(out.Preemptor)
	}
	namespaces := names["Namespace"]
	for _, kind := range []string{"ResourceClaim", "PodGroup", "CompositePodGroup"} {
		for to1, from := range names[kind] {
			for ns1, ns := range namespaces {
				switch kind {
				case "PodGroup":
					to[model.PodGroupKey(ns, from)] = model.PodGroupKey(ns1, to1)
				case "CompositePodGroup":
					to[model.CompositePodGroupKey(ns, from)] = model.CompositePodGroupKey(ns1, to1)
				}
				to["claim "+ns+"/"+from] = "claim " + ns1 + "/" + to1
			}
		}
	}
	for e1, e := range names["extender"] {
		to[e] = e1
	}
	return to
}

// again is a cluster written, and read.
func again(t *testing.T, c *model.Cluster) *model.Cluster {
	require.NoError(t, apiserver.Admit(c))
	var b bytes.Buffer
	err := (&corpus.Case{Name: "redacted", Cluster: c}).Write(&b)
	require.NoError(t, err)
	s, err := corpus.Read(&b, "redacted")
	require.NoError(t, err)
	require.Empty(t, s.Notes)
	return s.Cases[0].Cluster
}

var none = map[string]string{}

// tally is for the figures.
type tally struct{ clusters, modelled, preempted, groups, volumes, devices, asked, older int }

// differs compares what is seen of a changed cluster with what is seen of the original. A few
// are seen in several ways, where volumes are equally good, or a map is ranged over: asked again, the
// scheduler has to come to the same of both once.
func (f *tally) differs(t *testing.T, system reference.System, c *model.Cluster, to map[string]string, changed *model.Cluster) (diff string) {
	for range 50 {
		if diff = cmp.Diff(withNames(observe(t, system, c), to), withNames(observe(t, system, changed), none), cmpopts.EquateEmpty()); diff == "" {
			return ""
		}
		f.asked++
	}
	return diff
}

func (f *tally) alike(t *testing.T, system reference.System, c *model.Cluster, title string) {
	f.clusters++
	one := *c
	spreads := configuration.SpreadsByDefault(c.Settings)
	one.Settings = c.Settings.DeepCopy()
	one.Settings.Configuration = nil // which names what is in the cluster, and is refused
	one.Settings.Parallelism = nil   // with several workers it depends on their pace what is seen
	c = &one
	pruned, counts := prune.Cluster(c)
	out, names, err := redact.Cluster(c)
	require.NoError(t, err, title)
	for _, count := range counts {
		if spreads && slices.Contains([]string{"Service", "ReplicaSet"}, count.Kind) {
			continue // they only rank nodes without the configuration
		}
		require.Equal(t, count.Before, count.Kept, "%s: %s", title, count.Kind)
	}
	want, seen := decide(t, c, answers.Documented()), observe(t, system, c)
	require.Empty(t, cmp.Diff(want, decide(t, pruned, answers.Documented()), cmpopts.EquateEmpty()), "%s: pruned", title)
	require.Empty(t, f.differs(t, system, c, none, pruned), "%s: pruned", title)
	if f.clusters%5 == 0 {
		again(t, pruned)
	}

	out = again(t, out)
	to := pseudonyms(c, out, names)
	if diff := cmp.Diff(withNames(want, to), withNames(decide(t, out, answers.Documented()), none), cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("%s: %s\n%v", title, diff, names)
	}
	older := release.Releases()[f.clusters%len(release.Releases())]
	before := decideAs(t, older, c)
	require.Empty(t, cmp.Diff(before, decideAs(t, older, pruned), cmpopts.EquateEmpty()), "%s: pruned, as %s", title, older)
	if diff := cmp.Diff(withNames(before, to), withNames(decideAs(t, older, out), none), cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("%s: as %s: %s\n%v", title, older, diff, names)
	}
	if before.Unmodelled == nil && before.Unknown == nil {
		f.older++
	}
	if diff := f.differs(t, system, c, to, out); diff != "" {
		t.Fatalf("%s: %s\n%v", title, diff, names)
	}
	if want.Unmodelled == nil {
		f.modelled++
	}
	if seen.Pick != nil || seen.Group != nil && len(seen.Group.Victims) > 0 {
		f.preempted++
	}
	if c.PreemptorGroup != "" {
		f.groups++
	}
	kinds := map[string]bool{}
	for _, o := range c.Extra {
		kinds[reflect.TypeOf(o).Elem().Name()] = true
	}
	if kinds["PersistentVolumeClaim"] {
		f.volumes++
	}
	if kinds["ResourceClaim"] || kinds["ResourceSlice"] {
		f.devices++
	}
}

func TestCasesDecideAlike(t *testing.T) {
	s, err := corpus.Load("../cases")
	require.NoError(t, err)
	system := checktest.System(t)
	var f tally
	for _, c := range s.Cases {
		f.alike(t, system, c.Cluster, c.File)
	}
	t.Logf("%+v", f)
	require.Greater(t, f.clusters, 200)
}

func TestGeneratedClustersDecideAlike(t *testing.T) {
	system := checktest.System(t)
	var f tally
	for seed := range uint64(testsize.Times(400)) {
		f.alike(t, system, generators.OfAnyPreemptor(seed, nil), fmt.Sprintf("seed %d", seed))
	}
	t.Logf("%+v", f)
}

// Any text, wherever an API server admits it, leaves the decisions alike.
func TestAnyTextDecidesAlike(t *testing.T) {
	system := checktest.System(t)
	r := rand.New(rand.NewPCG(5, 6))
	words := []string{"", "a", "A", "z", "0", "-1", "007", "x/y", "a__b", "a-b-c", "a-b-d__a-b-c", "::1", "::ffff:1.2.3.4", "1.2.3.4", "hugepages-2Mi", "example.com/gpu", "kubernetes.io/x", "Gt", "Lt", "Exists", "50%",
		"default", "node-1", "pod-1", "aws://a/vol-1", "zone", "kubernetes.io/hostname", "topology.kubernetes.io/zone", "node.kubernetes.io/unschedulable", "default-scheduler", "linux", "disk.example.com", "true"}
	var f tally
	for n := range testsize.Times(400) {
		c := generators.OfAnyPreemptor(r.Uint64(), nil).DeepCopy()
		var fields []reflect.Value
		for _, o := range c.Objects() {
			fields = texts(reflect.ValueOf(o).Elem(), fields)
		}
		for range 1 + r.IntN(3) {
			text := words[r.IntN(len(words))]
			if r.IntN(3) == 0 { // what another field has
				text = fields[r.IntN(len(fields))].String()
			}
			fields[r.IntN(len(fields))].SetString(text)
		}
		if apiserver.Admit(c) != nil || (&corpus.Case{Name: "any", Cluster: c}).Write(io.Discard) != nil {
			continue
		}
		if _, err := system.Observe(t.Context(), c); err != nil {
			continue // no scheduler would try it
		}
		f.alike(t, system, c, fmt.Sprintf("number %d", n))
	}
	t.Logf("%+v", f)
	require.Greater(t, f.clusters, testsize.Times(400)/10)
}
