package mk

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes/scheme"
)

// Size is that of a Large cluster.
type Size struct{ Nodes, Bound, Pending int }

// apps is how many applications the pods of a Large cluster belong to, and teams how
// many namespaces these are in. Each has a budget.
const apps, teams = 40, 8

func team(app int) string { return fmt.Sprintf("team-%d", app%teams) }

// Large calls add with the objects of a cluster of ordinary nodes of 16 CPUs that are
// almost full. Its pods have all the fields that an API server fills in, four
// priorities, and some of them spread over zones or keep away from their like. The
// pending pods, of high priority, need a quarter of a node. It is the same each time.
func Large(size Size, add func(runtime.Object)) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range size.Nodes {
		add(largeNode(i))
	}
	for i := range apps {
		app := fmt.Sprintf("app-%d", i)
		b := Budget(app, int32(i%3), ForApp(app))
		b.Namespace = team(i)
		b.Spec.MinAvailable = &intstr.IntOrString{IntVal: 1}
		add(b)
	}
	perNode := max(size.Bound/max(size.Nodes, 1), 1)
	for i := range size.Bound {
		share := 15_500 / perNode
		p := largePod(i, r.IntN(apps), []int32{0, 10, 100, 1000}[r.IntN(4)], share*(80+r.IntN(30))/100)
		On(fmt.Sprintf("node-%d", i%size.Nodes))(p)
		at := metav1.NewTime(time.Date(2024, 1, 1+r.IntN(300), r.IntN(24), r.IntN(60), 0, 0, time.UTC))
		p.Status.StartTime, p.Status.Phase = &at, v1.PodRunning
		switch i % 10 {
		case 0:
			spread(p)
		case 1:
			prefersAway(p)
		}
		add(p)
	}
	for i := range size.Pending {
		p := largePod(size.Bound+i, i%apps, 100_000, 4_000)
		if i%4 == 1 {
			spread(p)
		}
		p.Status.Phase = v1.PodPending
		add(p)
	}
}

func spread(p *v1.Pod) {
	p.Spec.TopologySpreadConstraints = []v1.TopologySpreadConstraint{{
		MaxSkew: 5, TopologyKey: v1.LabelTopologyZone, WhenUnsatisfiable: v1.DoNotSchedule, LabelSelector: ForApp(p.Labels["app"]),
	}}
}

func prefersAway(p *v1.Pod) {
	p.Spec.Affinity.PodAntiAffinity = &v1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []v1.WeightedPodAffinityTerm{{
		Weight: 100, PodAffinityTerm: v1.PodAffinityTerm{TopologyKey: v1.LabelHostname, LabelSelector: ForApp(p.Labels["app"])},
	}}}
}

func largeNode(i int) *v1.Node {
	name := fmt.Sprintf("node-%d", i)
	return Node(name, "16", func(n *v1.Node) {
		n.UID = types.UID(fmt.Sprintf("5b1d8c4e-0000-4000-8000-%012d", i))
		n.CreationTimestamp = metav1.NewTime(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC))
		n.Labels = map[string]string{v1.LabelHostname: name, v1.LabelTopologyZone: fmt.Sprintf("zone-%d", i%3), v1.LabelOSStable: "linux"}
		n.Spec.PodCIDR = fmt.Sprintf("10.%d.%d.0/24", i/256, i%256)
		n.Status.Allocatable = Resources("cpu", "15890m", "memory", "60Gi", "pods", "110", "ephemeral-storage", "47093746742")
		n.Status.Capacity = Resources("cpu", "16", "memory", "64Gi", "pods", "110", "ephemeral-storage", "50620216Ki")
		n.Status.NodeInfo = v1.NodeSystemInfo{Architecture: "amd64", KernelVersion: "6.1.0", KubeletVersion: "v1.37.1", OperatingSystem: "linux",
			ContainerRuntimeVersion: "containerd://2.0.0", OSImage: "Debian GNU/Linux"}
	})
}

func largePod(i, ofApp int, priority int32, milliCPU int) *v1.Pod {
	app := fmt.Sprintf("app-%d", ofApp)
	name := fmt.Sprintf("%s-6d4b75cb6d-%d", app, i)
	return Pod(name, priority, func(p *v1.Pod) {
		yes, no, never, always := true, false, v1.PreemptLowerPriority, v1.RestartPolicyAlways
		seconds, grace, mode := int64(300), int64(30), int32(420)
		p.Namespace = team(ofApp)
		p.UID = types.UID(fmt.Sprintf("8c0e2c54-0000-4000-8000-%012d", i))
		p.GenerateName, p.Generation = app+"-6d4b75cb6d-", 1
		p.CreationTimestamp = metav1.NewTime(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC))
		p.Annotations = map[string]string{"prometheus.io/port": "8080", "prometheus.io/scrape": "true",
			"checksum/config": "3b6a27bcceb6a42d62a3a8d02a6f0d73653215771de243a63ac048a18b59da29"}
		p.Labels = map[string]string{"app": app, "app.kubernetes.io/name": "web", "pod-template-hash": "6d4b75cb6d"}
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: app + "-6d4b75cb6d",
			UID: "0d1f7c6e-3c58-4b6e-9f5e-2f6c3c9a1e11", Controller: &yes, BlockOwnerDeletion: &yes}}
		p.Spec.Affinity = &v1.Affinity{NodeAffinity: &v1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &v1.NodeSelector{
			NodeSelectorTerms: []v1.NodeSelectorTerm{{MatchExpressions: []v1.NodeSelectorRequirement{{Key: v1.LabelOSStable, Operator: v1.NodeSelectorOpIn, Values: []string{"linux"}}}}}}}}
		c := Container("cpu", fmt.Sprintf("%dm", milliCPU), "memory", "512Mi")
		c.Name, c.Image, c.ImagePullPolicy = "web", "registry.example.com/shop/web:v1.2.3", v1.PullIfNotPresent
		c.Resources.Limits = Resources("memory", "512Mi")
		c.Args = []string{"--config=/etc/web/config.yaml"}
		c.Env = []v1.EnvVar{{Name: "GOMAXPROCS", Value: "2"}, {Name: "DATABASE_URL", Value: "postgres://db.shop.svc.cluster.local:5432/shop"}}
		c.Ports = []v1.ContainerPort{{Name: "http", ContainerPort: 8080, Protocol: v1.ProtocolTCP}}
		c.SecurityContext = &v1.SecurityContext{AllowPrivilegeEscalation: &no, Capabilities: &v1.Capabilities{Drop: []v1.Capability{"ALL"}}}
		c.TerminationMessagePath, c.TerminationMessagePolicy = "/dev/termination-log", v1.TerminationMessageReadFile
		c.VolumeMounts = []v1.VolumeMount{{Name: "config", MountPath: "/etc/web"}}
		p.Spec.Containers = []v1.Container{c}
		p.Spec.DNSPolicy, p.Spec.EnableServiceLinks, p.Spec.PreemptionPolicy, p.Spec.RestartPolicy = v1.DNSClusterFirst, &yes, &never, always
		p.Spec.SecurityContext, p.Spec.ServiceAccountName, p.Spec.TerminationGracePeriodSeconds = &v1.PodSecurityContext{}, "default", &grace
		for _, key := range []string{v1.TaintNodeNotReady, v1.TaintNodeUnreachable} {
			p.Spec.Tolerations = append(p.Spec.Tolerations, v1.Toleration{Key: key, Operator: v1.TolerationOpExists, Effect: v1.TaintEffectNoExecute, TolerationSeconds: &seconds})
		}
		p.Spec.Volumes = []v1.Volume{{Name: "config", VolumeSource: v1.VolumeSource{ConfigMap: &v1.ConfigMapVolumeSource{
			LocalObjectReference: v1.LocalObjectReference{Name: "web"}, DefaultMode: &mode}}}}
		p.Status.QOSClass, p.Status.PodIP = v1.PodQOSBurstable, "10.0.0.7"
		p.Status.PodIPs = []v1.PodIP{{IP: "10.0.0.7"}}
		p.Status.Conditions = []v1.PodCondition{{Type: v1.PodReady, Status: v1.ConditionTrue, LastTransitionTime: p.CreationTimestamp}}
	})
}

// WriteLarge writes a Large cluster as "kubectl get -o json" prints it.
func WriteLarge(w io.Writer, size Size) error { return writeList(w, size, Large) }

func writeList(w io.Writer, size Size, objects func(Size, func(runtime.Object))) (err error) {
	write := func(text string) {
		if err == nil {
			_, err = io.WriteString(w, text)
		}
	}
	write("{\n    \"apiVersion\": \"v1\",\n    \"items\": [\n        ")
	between := ""
	objects(size, func(o runtime.Object) {
		kinds, _, unknown := scheme.Scheme.ObjectKinds(o)
		if err == nil {
			err = unknown
		}
		if err != nil {
			return
		}
		o.GetObjectKind().SetGroupVersionKind(kinds[0])
		text, cannot := json.MarshalIndent(o, "        ", "    ")
		o.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
		if err = cannot; err == nil {
			write(between + string(text))
			between = ",\n        "
		}
	})
	write("\n    ],\n    \"kind\": \"List\",\n    \"metadata\": {\n        \"resourceVersion\": \"\"\n    }\n}\n")
	return err
}
