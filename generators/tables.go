package generators

import (
	"strconv"
	"time"

	v1 "k8s.io/api/core/v1"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// resourceNames are the names of the resources. Units are halved between
// containers; devices are not.
var resourceNames = [resources]v1.ResourceName{v1.ResourceCPU, v1.ResourceMemory, v1.ResourceEphemeralStorage, "example.com/gpu"}

// quantity is so many half units of a resource.
func quantity(r resource, half int) apiresource.Quantity {
	switch r {
	case cpu:
		return *apiresource.NewMilliQuantity(int64(half)*250, apiresource.DecimalSI)
	case gpu:
		return *apiresource.NewQuantity(int64(half/2), apiresource.DecimalSI)
	}
	return *apiresource.NewQuantity(int64(half)<<29, apiresource.BinarySI)
}

// mostPods is what nodes have room for that do not run out of it.
const mostPods = 110

// NodeName is the name of a node.
func NodeName(i int) string { return numbered("node", i) }

func numbered(name string, i int) string { return name + "-" + strconv.Itoa(i) }

// missingNode is the name of a node that does not exist.
const missingNode = "gone"

var taints = []v1.Taint{
	{Key: "dedicated", Value: "a", Effect: v1.TaintEffectNoSchedule},
	{Key: "dedicated", Value: "b", Effect: v1.TaintEffectNoSchedule},
	{Key: "dedicated", Value: "a", Effect: v1.TaintEffectPreferNoSchedule},
	{Key: "dedicated", Value: "a", Effect: v1.TaintEffectNoExecute},
	{Key: "maintenance", Effect: v1.TaintEffectNoExecute},
}

// levels are taints whose values are numbers, or nearly.
var levels = []v1.Taint{
	{Key: "level", Value: "5", Effect: v1.TaintEffectNoSchedule},
	{Key: "level", Value: "7", Effect: v1.TaintEffectNoExecute},
	{Key: "level", Value: "007", Effect: v1.TaintEffectNoSchedule},
	{Key: "level", Value: "high", Effect: v1.TaintEffectNoSchedule},
	{Key: "level", Value: "9", Effect: v1.TaintEffectPreferNoSchedule},
}

var comparisons = []v1.Toleration{
	{Key: "level", Operator: v1.TolerationOpGt, Value: "4"},
	{Key: "level", Operator: v1.TolerationOpLt, Value: "8", Effect: v1.TaintEffectNoSchedule},
	{Key: "level", Operator: v1.TolerationOpGt, Value: "-1", Effect: v1.TaintEffectNoSchedule},
	{Key: "level", Operator: v1.TolerationOpLt, Value: "7"},
	{Key: "level", Operator: v1.TolerationOpGt, Value: "5"},
	{Key: "level", Operator: v1.TolerationOpEqual, Value: "5"},
}

// sameTaint tells whether a node cannot have both taints.
func sameTaint(a, b int) bool {
	return taints[a].MatchTaint(&taints[b])
}

var tolerations = []v1.Toleration{
	{Key: "dedicated", Operator: v1.TolerationOpEqual, Value: "a", Effect: v1.TaintEffectNoSchedule},
	{Key: "dedicated", Operator: v1.TolerationOpExists},
	{Operator: v1.TolerationOpExists},
	{Operator: v1.TolerationOpExists, Effect: v1.TaintEffectNoExecute},
	{Key: "dedicated", Operator: v1.TolerationOpEqual, Value: "b"},
	{Key: "dedicated", Value: "a"},
	{Key: "maintenance", Operator: v1.TolerationOpExists, Effect: v1.TaintEffectNoExecute},
}

// ports are host ports, most of which conflict with the first.
var ports = []v1.ContainerPort{
	{HostPort: 80, ContainerPort: 80, Protocol: v1.ProtocolTCP},
	{HostPort: 80, ContainerPort: 80, Protocol: v1.ProtocolTCP, HostIP: "10.0.0.1"},
	{HostPort: 80, ContainerPort: 8080, Protocol: v1.ProtocolTCP, HostIP: "10.0.0.2"},
	{HostPort: 80, ContainerPort: 80, Protocol: v1.ProtocolTCP, HostIP: "0.0.0.0"},
	{HostPort: 80, ContainerPort: 80, Protocol: v1.ProtocolUDP},
	{HostPort: 81, ContainerPort: 81, Protocol: v1.ProtocolTCP},
	{HostPort: 80, ContainerPort: 80, Protocol: v1.ProtocolTCP, HostIP: "fd00::1"},
	{HostPort: 80, ContainerPort: 80, Protocol: v1.ProtocolTCP, HostIP: "::"},
}

// spellings are other spellings of their addresses.
var spellings = map[string]string{"10.0.0.1": "::ffff:10.0.0.1", "fd00::1": "FD00:0::1", "::": "0:0:0:0:0:0:0:0"}

// podLabels are the sets of labels that pods have: values of app and tier.
var podLabels = [][2]string{{}, {"a"}, {"b"}, {"a", "x"}, {"b", "x"}}

// selectors are the pods that budgets select. nil selects none.
var selectors = []*metav1.LabelSelector{
	{MatchLabels: map[string]string{"app": "a"}},
	{},
	{MatchLabels: map[string]string{"app": "b"}},
	{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: metav1.LabelSelectorOpIn, Values: []string{"a", "b"}}}},
	{MatchLabels: map[string]string{"tier": "x"}},
	{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: metav1.LabelSelectorOpNotIn, Values: []string{"a"}}}},
	{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "tier", Operator: metav1.LabelSelectorOpDoesNotExist}}},
	{MatchLabels: map[string]string{"app": "a"},
		MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "tier", Operator: metav1.LabelSelectorOpExists}}},
	nil,
}

// epoch is the start time that pods' start times count from; all are past.
var epoch = time.Date(2021, 3, 1, 0, 0, 0, 0, time.UTC)

var zones, disks, generations = []string{"", "a", "b"}, []string{"", "ssd", "hdd"}, []string{"", "1", "2", "3"}

// otherNamespace is the second of the two namespaces.
const otherNamespace = "other"

// maxPods is the most bound pods a cluster has.
const maxPods = 24

// plenty is room that pods never use up.
const plenty = 32
