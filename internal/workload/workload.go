// Package workload says which workload a pod belongs to: what people would name if they were
// asked what runs there.
package workload

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Ref names a workload. Namespace is "" of one that has none, such as a Node.
type Ref struct{ Kind, Namespace, Name string }

// String is "Deployment shop/web", or "Node node-1".
func (r Ref) String() string { return r.Kind + " " + r.withNamespace() }

// Path is "deployment/shop/web", or "node/node-1": as it is typed.
func (r Ref) Path() string { return strings.ToLower(r.Kind) + "/" + r.withNamespace() }

func (r Ref) withNamespace() string {
	if r.Namespace == "" {
		return r.Name
	}
	return r.Namespace + "/" + r.Name
}

// Compare orders workloads by namespace, name and kind.
func (r Ref) Compare(other Ref) int {
	return cmp.Or(cmp.Compare(r.Namespace, other.Namespace), cmp.Compare(r.Name, other.Name), cmp.Compare(r.Kind, other.Kind))
}

// Parse reads a Path, with the kind in whatever case: the Kind of the result is in lower case.
func Parse(path string) (Ref, error) {
	parts := strings.Split(path, "/")
	kind := strings.ToLower(parts[0])
	switch {
	case len(parts) == 2 && kind == "node" && parts[1] != "":
		return Ref{Kind: kind, Name: parts[1]}, nil
	case len(parts) != 3 || kind == "" || parts[1] == "" || parts[2] == "":
		return Ref{}, fmt.Errorf("%q is no workload: want kind/namespace/name, such as deployment/shop/web", path)
	}
	return Ref{kind, parts[1], parts[2]}, nil
}

// rolloutsHash is the label that Argo Rollouts gives to pods in place of pod-template-hash.
const rolloutsHash = "rollouts-pod-template-hash"

// Of is the workload of a pod: its controller, by the owner references; but the Deployment of a
// ReplicaSet whose name ends with the hash that a label of the pod holds (docs:
// concepts/workloads/controllers/deployment, "Pod-template-hash label"), and the CronJob of a Job whose name
// ends with the minute that it was due. Owners themselves are not looked at: dumps of pods do
// not hold them. A mirror pod belongs to its node (docs: tasks/configure-pod-container/static-pod), and a pod
// without a controller is a workload of its own.
func Of(p *v1.Pod) Ref {
	if IsMirror(p) && p.Spec.NodeName != "" {
		return Ref{Kind: "Node", Name: p.Spec.NodeName}
	}
	owner := metav1.GetControllerOfNoCopy(p)
	if owner == nil {
		return Ref{"Pod", p.Namespace, p.Name}
	}
	r := Ref{owner.Kind, p.Namespace, owner.Name}
	switch owner.Kind {
	case "Node":
		return Ref{Kind: "Node", Name: owner.Name}
	case "ReplicaSet":
		if name, ok := withoutHash(owner.Name, p.Labels[appsv1.DefaultDeploymentUniqueLabelKey]); ok {
			r.Kind, r.Name = "Deployment", name
		} else if name, ok := withoutHash(owner.Name, p.Labels[rolloutsHash]); ok {
			r.Kind, r.Name = "Rollout", name
		}
	case "Job":
		if name, ok := withoutMinute(owner.Name); ok {
			r.Kind, r.Name = "CronJob", name
		}
	}
	return r
}

// IsMirror tells whether a pod stands for a static pod, which only its kubelet ends.
func IsMirror(p *v1.Pod) bool {
	_, mirror := p.Annotations[v1.MirrorPodAnnotationKey]
	return mirror
}

// IsControlled tells whether a controller makes the pod anew when it is gone, for any node.
func IsControlled(p *v1.Pod) bool {
	owner := metav1.GetControllerOfNoCopy(p)
	return owner != nil && owner.Kind != "Node" && owner.Kind != "DaemonSet" && !IsMirror(p)
}

func withoutHash(name, hash string) (string, bool) {
	if hash == "" {
		return "", false
	}
	name, ok := strings.CutSuffix(name, "-"+hash)
	return name, ok && name != ""
}

var endsWithNumber = regexp.MustCompile(`^(.+)-(\d{8})$`)

// Minutes since 1970 at the beginning of 2020 and of 2050. A date such as 20260401, which people
// write into names of Jobs, is none of them.
const minutes2020, minutes2050 = 26_297_280, 42_076_800

// withoutMinute is the name of the CronJob whose controller made the Job
// (cronjob_controllerv2.go:698@v1.37.1, getJobName).
func withoutMinute(job string) (string, bool) {
	m := endsWithNumber.FindStringSubmatch(job)
	if m == nil {
		return "", false
	}
	minute, err := strconv.Atoi(m[2])
	return m[1], err == nil && minutes2020 <= minute && minute < minutes2050
}
