// Package corpus reads and writes regression cases and cluster dumps.
//
// A case is one YAML stream: a Case document, which names the preemptor and says
// what is expected of which releases, and then plain Kubernetes manifests. A
// stream without a Case document is a dump, as "kubectl get
// nodes,pods,pdb,priorityclasses -A -o yaml" prints it: each of its pending pods
// is a case of its own. A case is read strictly; from a dump, what this version
// of Kubernetes does not know is left out and counted.
package corpus

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/blang/semver/v4"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/reference/linked"
)

// APIVersion and Kind identify the document that makes a stream a case.
const (
	APIVersion = "preemptcheck/v1alpha1"
	Kind       = "Case"
)

// Case is one cluster, one pod or pod group that is to be scheduled in it, and what
// should come of that.
type Case struct {
	// Name is a DNS label (lower case letters, digits, '-'); in a dump it is the
	// pending pod's namespace/name, or the pod group's podgroup/namespace/name.
	Name        string
	Description string
	// Origin is where the cluster comes from, for example an issue's address.
	Origin string
	// Finding is what was found in the cluster when the case was saved, which
	// makes it a regression case; nil for other cases.
	Finding *Finding
	// Expect holds what is expected; the first entry whose release range holds
	// the release applies, see Expected.
	Expect []Expectation
	// Findings are the ids of the known findings that this case witnesses.
	Findings []string
	// Stack holds the functions on the way to where the scheduler broke down when the case was
	// saved, the innermost first, and a line between two goroutines. It is for people.
	Stack []string
	// Releases is the range in which a timeline goes as it says; "" is all. In others it
	// has to go otherwise.
	Releases string
	// Cluster is never nil. The cases of one dump share its objects and lists:
	// treat them as read-only.
	Cluster *model.Cluster
	// Timeline, if it is not nil, is what happens to the cluster, which has no preemptor
	// then. Expectations are among its steps.
	Timeline *timeline.Timeline
	// File is the name of the stream the case was read from, and Flags are those that a command
	// needs besides to read it as it is here. They are not written.
	File, Flags string
}

// The outcomes of a scheduling cycle that an Expectation can name.
const (
	Scheduled   = "Scheduled"   // the pod fits on a node as it is
	Preempted   = "Preempted"   // a node was nominated, its victims are preempted
	NotHelpful  = "NotHelpful"  // preemption was tried and helps on no node
	NotEligible = "NotEligible" // the pod may not preempt
	Error       = "Error"       // the cycle ends in an error
	// Waiting is a pod group of which too few pods exist, or whose victims terminate.
	Waiting = "Waiting"
)

var outcomes = []string{Scheduled, Preempted, NotHelpful, NotEligible, Error}

// Finding is a promise that a scheduler broke when the case was saved, and that
// no known finding explained then. Description says it in a sentence.
type Finding struct {
	// Property is the name of the property that did not hold, for example
	// "differential"; "error" if the cluster could not be checked.
	Property string `json:"property"`
	// Stage is the first stage at which it showed; "" if it has none.
	Stage string `json:"stage"`
	// Kind says in which way the property did not hold, where there are several.
	Kind string `json:"kind"`
	// Shape names what is in play in the minimised cluster, joined by commas.
	Shape string `json:"shape"`
	// Found is the command line that found it.
	Found string `json:"found"`
}

// Expectation is what should become of the preemptor in some releases.
type Expectation struct {
	// Releases is a range of Kubernetes releases, for example ">=1.35.0 <1.37.0"
	// (comparators separated by blanks must all hold, "||" separates
	// alternatives). Empty means every release.
	Releases string `json:"releases"`
	// Outcome is one of Scheduled, Preempted, NotHelpful, NotEligible and Error; of a pod
	// group Waiting, too.
	Outcome string `json:"outcome"`
	// Nominations, for Preempted, are all admissible answers, exactly these.
	Nominations []Nomination `json:"nominations"`
	// Clears names the pods whose nomination to the chosen node is withdrawn.
	// nil leaves them unchecked, [] expects none.
	Clears []string `json:"clears"`
}

// Nomination is one admissible answer of a preemption.
type Nomination struct {
	// Node is that of a pod, and Members are the pods of a group that are nominated, each with its node.
	Node    string            `json:"node,omitempty"`
	Members map[string]string `json:"members,omitempty"`
	// Victims, as namespace/name, most important first.
	Victims []string `json:"victims"`
	// Violations is the number of disruption budget violations.
	Violations int `json:"violations"`
}

// Matches tells whether the expectation applies to a release, for example
// "v1.37.1". A name that is no version is in no range but the empty one.
func (e *Expectation) Matches(release string) bool {
	if e.Releases == "" {
		return true
	}
	in, err := semver.ParseRange(e.Releases)
	if err != nil {
		return false
	}
	v, err := semver.ParseTolerant(release)
	return err == nil && in(v)
}

// Expected is the first expectation that applies to the release, or nil.
func (c *Case) Expected(release string) *Expectation {
	for i := range c.Expect {
		if c.Expect[i].Matches(release) {
			return &c.Expect[i]
		}
	}
	return nil
}

// document is the Case document of a stream.
type document struct {
	metav1.TypeMeta `json:",inline"`
	Name            string          `json:"name"`
	Description     string          `json:"description"`
	Origin          string          `json:"origin"`
	Finding         *Finding        `json:"finding"`
	Preemptor       string          `json:"preemptor"`
	Scheduler       *model.Settings `json:"scheduler"`
	Expect          []Expectation   `json:"expect"`
	Findings        []string        `json:"findings"`
	Stack           []string        `json:"stack"`
}

// GetName is the name of the case.
func (d *document) GetName() string { return d.Name }

// dnsLabel is what a case may be called: its name becomes a file's name.
var dnsLabel = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)

// maxNameLength leaves room in a file's name of 255 bytes for "-999.yaml".
const maxNameLength = 240

// validate checks the document by itself and completes the names of pods in it.
// It answers with the field that is wrong.
func (d *document) validate() (field string, err error) {
	if len(d.Name) > maxNameLength || !dnsLabel.MatchString(d.Name) {
		return "name", fmt.Errorf("%.50q is no name for a case: use lower case letters, digits and '-', at most %d", d.Name, maxNameLength)
	}
	if d.Preemptor == "" {
		return "preemptor", fmt.Errorf("a Case needs a preemptor, as namespace/name or podgroup/namespace/name")
	}
	d.Preemptor = podKey(d.Preemptor)
	group := model.IsGroupKey(d.Preemptor)
	if !group && strings.Count(d.Preemptor, "/") > 1 {
		return "preemptor", fmt.Errorf("%q is neither a pod, as namespace/name, nor a group, as podgroup/namespace/name or compositepodgroup/namespace/name", d.Preemptor)
	}
	if s := d.Scheduler; s != nil {
		if field, err := validateSettings(s); err != nil {
			return "scheduler." + field, err
		}
		for i := range s.Extenders {
			if field, err := validateExtender(&s.Extenders[i], s.Extenders[:i]); err != nil {
				return fmt.Sprintf("scheduler.extenders[%d].%s", i, field), err
			}
		}
	}
	if d.Finding != nil {
		if field, err := d.Finding.validate(); err != nil {
			return "finding." + field, err
		}
	}
	for i := range d.Expect {
		if field, err := d.Expect[i].validate(group); err != nil {
			return fmt.Sprintf("expect[%d].%s", i, field), err
		}
	}
	return "", nil
}

func validateSettings(s *model.Settings) (field string, err error) {
	if len(s.Configuration) > 0 {
		if field, err := validateConfiguration(s); err != nil {
			return field, err
		}
	}
	ranges := []struct {
		field    string
		value    *int32
		min, max int32
	}{
		{"minCandidateNodesPercentage", s.MinCandidateNodesPercentage, 0, 100},
		{"minCandidateNodesAbsolute", s.MinCandidateNodesAbsolute, 0, math.MaxInt32},
		{"parallelism", s.Parallelism, 1, math.MaxInt32},
		{"percentageOfNodesToScore", s.PercentageOfNodesToScore, 0, 100},
		{"dryRunOffset", s.DryRunOffset, 0, math.MaxInt32},
	}
	if p := s.SecondProfile; p != nil {
		if p.SchedulerName == "" || p.SchedulerName == model.DefaultSchedulerName {
			return "secondProfile.schedulerName", fmt.Errorf("%q is not a name of its own", p.SchedulerName)
		}
		ranges = append(ranges, ranges[:2]...)
		second := ranges[len(ranges)-2:]
		second[0].field, second[0].value = "secondProfile.minCandidateNodesPercentage", p.MinCandidateNodesPercentage
		second[1].field, second[1].value = "secondProfile.minCandidateNodesAbsolute", p.MinCandidateNodesAbsolute
	}
	for _, r := range ranges {
		switch {
		case r.value == nil:
		case r.max == math.MaxInt32 && r.min == 0 && *r.value < 0:
			return r.field, fmt.Errorf("%d is negative", *r.value)
		case *r.value < r.min || *r.value > r.max:
			return r.field, fmt.Errorf("%d is not within %d to %d", *r.value, r.min, r.max)
		}
	}
	return "", nil
}

// validateConfiguration says what is wrong with a KubeSchedulerConfiguration, or is set besides although it
// is the configuration that says it.
func validateConfiguration(s *model.Settings) (field string, err error) {
	if s.Configuration, err = linked.ReadConfiguration(s.Configuration); err != nil {
		return "configuration", err
	}
	for _, f := range []struct {
		field string
		set   bool
	}{
		{"minCandidateNodesPercentage", s.MinCandidateNodesPercentage != nil}, {"minCandidateNodesAbsolute", s.MinCandidateNodesAbsolute != nil},
		{"secondProfile", s.SecondProfile != nil}, {"parallelism", s.Parallelism != nil}, {"percentageOfNodesToScore", s.PercentageOfNodesToScore != nil},
	} {
		if f.set {
			return f.field, errors.New("forbidden besides configuration, which says it")
		}
	}
	return "", nil
}

func (f *Finding) validate() (field string, err error) {
	if f.Property == "" {
		return "property", fmt.Errorf("required: the property that did not hold")
	}
	if f.Stage != "" && !slices.Contains(model.Stages(), model.Stage(f.Stage)) {
		return "stage", fmt.Errorf("%q is none of %q", f.Stage, model.Stages())
	}
	return "", nil
}

func (e *Expectation) validate(ofGroup bool) (field string, err error) {
	if e.Releases != "" {
		if _, err := semver.ParseRange(e.Releases); err != nil {
			return "releases", fmt.Errorf("%q is no range of releases: %w", e.Releases, err)
		}
	}
	known := outcomes
	if ofGroup {
		known = append(slices.Clip(known), Waiting)
	}
	if !slices.Contains(known, e.Outcome) {
		return "outcome", fmt.Errorf("%q is none of %s", e.Outcome, strings.Join(known, ", "))
	}
	if (e.Outcome == Preempted) != (len(e.Nominations) > 0) {
		return "nominations", fmt.Errorf("there must be nominations if the outcome is Preempted, and none otherwise")
	}
	for i := range e.Nominations {
		n := &e.Nominations[i]
		if n.Violations < 0 {
			return fmt.Sprintf("nominations[%d].violations", i), fmt.Errorf("%d is negative", n.Violations)
		}
		switch {
		case ofGroup && (n.Node != "" || len(n.Members) == 0):
			return fmt.Sprintf("nominations[%d].members", i), fmt.Errorf("a pod group needs them, each with its node, and no node besides")
		case !ofGroup && len(n.Members) > 0:
			return fmt.Sprintf("nominations[%d].members", i), fmt.Errorf("only a pod group has them")
		}
		completeKeys(n.Victims)
		members := make(map[string]string, len(n.Members))
		for pod, node := range n.Members {
			members[podKey(pod)] = node
		}
		if ofGroup {
			n.Members = members
		}
	}
	completeKeys(e.Clears)
	return "", nil
}

// refersTo checks that the expectations name nodes and pods of the cluster.
func (d *document) refersTo(has func(kind, key string) bool) (field string, err error) {
	for i, e := range d.Expect {
		for j, n := range e.Nominations {
			at := fmt.Sprintf("expect[%d].nominations[%d].", i, j)
			if n.Members == nil && !has("Node", n.Node) {
				return at + "node", fmt.Errorf("there is no Node %q", n.Node)
			}
			for _, pod := range slices.Sorted(maps.Keys(n.Members)) {
				switch node := n.Members[pod]; {
				case !has("Pod", pod):
					return at + "members", fmt.Errorf("there is no Pod %q", pod)
				case !has("Node", node):
					return at + "members", fmt.Errorf("there is no Node %q", node)
				}
			}
			for k, key := range n.Victims {
				if !has("Pod", key) {
					return fmt.Sprintf("%svictims[%d]", at, k), fmt.Errorf("there is no Pod %q", key)
				}
			}
		}
		for j, key := range e.Clears {
			if !has("Pod", key) {
				return fmt.Sprintf("expect[%d].clears[%d]", i, j), fmt.Errorf("there is no Pod %q", key)
			}
		}
	}
	return "", nil
}

func completeKeys(keys []string) {
	for i := range keys {
		keys[i] = podKey(keys[i])
	}
}

// podKey completes the name of a pod with the namespace that may be left out.
func podKey(name string) string {
	if name == "" || strings.Contains(name, "/") {
		return name
	}
	return metav1.NamespaceDefault + "/" + name
}
