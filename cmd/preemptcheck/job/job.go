// Package job prints the manifests by which a campaign runs in a Kubernetes cluster.
package job

import (
	"fmt"
	"io"
	"net/url"
	"path"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/preemptcheck/preemptcheck/internal/campaign/record"
	"github.com/preemptcheck/preemptcheck/internal/source"
)

// Job is a campaign, and where it runs.
type Job struct {
	Name, Namespace, Image, PullPolicy, Out, Secret string
	Annotations                                     map[string]string
	Shards, Parallelism, Workers                    int
	For                                             time.Duration
	Cases, Seed, Block                              uint64
	Gates                                           record.Gates
	Configuration                                   source.Configuration
	Flags                                           []string
	CPU, Memory                                     resource.Quantity
}

// share is how long one pod of all may take.
func (j *Job) share() time.Duration {
	return time.Duration(float64(j.For) * float64(j.Parallelism) / float64(j.Shards)).Round(time.Second)
}

// Write prints all manifests.
func (j *Job) Write(w io.Writer) error {
	objects := []runtime.Object{j.serviceAccount(), j.priorityClass(), j.networkPolicy()}
	if j.Configuration.File != "" {
		c, err := j.configMap()
		if err != nil {
			return err
		}
		objects = append(objects, c)
	}
	for _, o := range append(objects, j.campaign(), j.merge()) {
		fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
		if err != nil {
			return err
		}
		delete(fields, "status")
		tidy(fields)
		text, err := yaml.Marshal(fields)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(w, "---\n%s", text); err != nil {
			return err
		}
	}
	return nil
}

// tidy removes what is empty because a type has no omitempty for it.
func tidy(fields map[string]any) {
	for key, value := range fields {
		switch v := value.(type) {
		case nil:
			delete(fields, key)
		case map[string]any:
			tidy(v)
			if key == "resources" && len(v) == 0 {
				delete(fields, key)
			}
		case []any:
			for _, item := range v {
				if m, is := item.(map[string]any); is {
					tidy(m)
				}
			}
		}
	}
}

func (j *Job) meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Namespace: j.Namespace, Labels: j.labels()}
}

func (j *Job) labels() map[string]string {
	return map[string]string{"app.kubernetes.io/name": "preemptcheck", "app.kubernetes.io/instance": j.Name}
}

func (j *Job) serviceAccount() runtime.Object {
	meta := j.meta(j.Name)
	meta.Annotations = j.Annotations
	return &corev1.ServiceAccount{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ServiceAccount"}, ObjectMeta: meta, AutomountServiceAccountToken: ptr.To(false)}
}

// priorityClass lets all else preempt the pods, and has them preempt nothing.
func (j *Job) priorityClass() runtime.Object {
	meta := j.meta(j.Name)
	meta.Namespace = ""
	return &schedulingv1.PriorityClass{TypeMeta: metav1.TypeMeta{APIVersion: "scheduling.k8s.io/v1", Kind: "PriorityClass"}, ObjectMeta: meta,
		Value: -1000, PreemptionPolicy: ptr.To(corev1.PreemptNever), Description: "Campaigns of preemptcheck: everything else goes first. A pod that is preempted loses no more than a block."}
}

// Where a KubeSchedulerConfiguration is in the pods.
const (
	configDir  = "/etc/preemptcheck"
	configFile = "scheduler.yaml"
)

// configMap holds the KubeSchedulerConfiguration.
func (j *Job) configMap() (runtime.Object, error) {
	text, err := yaml.JSONToYAML(j.Configuration.JSON)
	if err != nil {
		return nil, fmt.Errorf("--config: %w", err)
	}
	return &corev1.ConfigMap{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: j.meta(j.Name), Data: map[string]string{configFile: string(text)}}, nil
}

// configure mounts the KubeSchedulerConfiguration in the pods of a template.
func (j *Job) configure(template *corev1.PodTemplateSpec) {
	const volume = "config"
	template.Spec.Containers[0].VolumeMounts = append(template.Spec.Containers[0].VolumeMounts, corev1.VolumeMount{Name: volume, MountPath: configDir, ReadOnly: true})
	template.Spec.Volumes = append(template.Spec.Volumes, corev1.Volume{Name: volume, VolumeSource: corev1.VolumeSource{
		ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: j.Name}}}})
}

// networkPolicy lets nobody in, and lets out what it takes to reach a bucket.
func (j *Job) networkPolicy() runtime.Object {
	port := func(p corev1.Protocol, n int) networkingv1.NetworkPolicyPort {
		return networkingv1.NetworkPolicyPort{Protocol: &p, Port: ptr.To(intstr.FromInt(n))}
	}
	ports := []networkingv1.NetworkPolicyPort{port(corev1.ProtocolUDP, 53), port(corev1.ProtocolTCP, 53), port(corev1.ProtocolTCP, 443)}
	ports = append(ports, port(corev1.ProtocolTCP, 80)) // the metadata service by which some clouds give credentials
	if n := j.endpointPort(); n != 0 && n != 443 && n != 80 {
		ports = append(ports, port(corev1.ProtocolTCP, n))
	}
	return &networkingv1.NetworkPolicy{TypeMeta: metav1.TypeMeta{APIVersion: "networking.k8s.io/v1", Kind: "NetworkPolicy"}, ObjectMeta: j.meta(j.Name),
		Spec: networkingv1.NetworkPolicySpec{
			PodSelector: metav1.LabelSelector{MatchLabels: j.labels()},
			PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress},
			Egress:      []networkingv1.NetworkPolicyEgressRule{{Ports: ports}},
		}}
}

// endpointPort is the port of an endpoint that the bucket's URL names; 0 is none.
func (j *Job) endpointPort() int {
	u, err := url.Parse(j.Out)
	if err != nil {
		return 0
	}
	endpoint, err := url.Parse(u.Query().Get("endpoint"))
	if err != nil {
		return 0
	}
	n, _ := strconv.Atoi(endpoint.Port())
	return n
}

// BadInput is the exit status of a pod that need not be tried again: EX_USAGE of sysexits.h.
const BadInput = 64

// campaign is the Job whose pods check clusters.
func (j *Job) campaign() runtime.Object {
	args := []string{"fuzz", "--out=" + j.Out, fmt.Sprintf("--seed=%d", j.Seed), fmt.Sprintf("--workers=%d", j.Workers), fmt.Sprintf("--block=%d", j.Block)}
	if j.For > 0 {
		args = append(args, "--for="+j.share().String())
	}
	if j.Cases > 0 {
		args = append(args, fmt.Sprintf("--cases=%d", j.Cases))
	}
	if j.Gates != "" {
		args = append(args, "--feature-gates="+string(j.Gates))
	}
	if j.Configuration.File != "" {
		args = append(args, "--config="+path.Join(configDir, configFile))
	}
	template := j.pod(append(args, j.Flags...), j.CPU, j.Memory)
	if j.Configuration.File != "" {
		j.configure(&template)
	}
	return &batchv1.Job{TypeMeta: metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"}, ObjectMeta: j.meta(j.Name),
		Spec: batchv1.JobSpec{
			CompletionMode:       ptr.To(batchv1.IndexedCompletion),
			Completions:          ptr.To(int32(j.Shards)),
			Parallelism:          ptr.To(int32(j.Parallelism)),
			BackoffLimitPerIndex: ptr.To(int32(10)),
			PodFailurePolicy: &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{
				{Action: batchv1.PodFailurePolicyActionIgnore, OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}}},
				{Action: batchv1.PodFailurePolicyActionFailJob, OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
					ContainerName: ptr.To(container), Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{BadInput}}},
			}},
			Template: template,
		}}
}

// merge is the Job that waits for all, and adds up what they found.
func (j *Job) merge() runtime.Object {
	u, err := url.Parse(j.Out)
	if err != nil {
		panic(err) // check has parsed it
	}
	u = u.JoinPath("merged")
	args := []string{"merge", "--exit-zero", j.Out, "--out=" + u.String(), fmt.Sprintf("--wait=%d", j.Shards), fmt.Sprintf("--workers=%d", j.Workers)}
	job := &batchv1.Job{TypeMeta: metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"}, ObjectMeta: j.meta(j.Name + "-merge"),
		Spec: batchv1.JobSpec{
			BackoffLimit: ptr.To(int32(10)),
			PodFailurePolicy: &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{
				{Action: batchv1.PodFailurePolicyActionIgnore, OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}}},
			}},
			Template: j.pod(args, j.CPU, j.Memory),
		}}
	return job
}

const container = "preemptcheck"

// pod is one that Pod Security admits as "restricted".
func (j *Job) pod(args []string, cpu, memory resource.Quantity) corev1.PodTemplateSpec {
	c := corev1.Container{
		Name: container, Image: j.Image, ImagePullPolicy: corev1.PullPolicy(j.PullPolicy), Args: args,
		Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: cpu, corev1.ResourceMemory: memory},
			Limits:   corev1.ResourceList{corev1.ResourceMemory: memory},
		},
		SecurityContext: &corev1.SecurityContext{
			AllowPrivilegeEscalation: ptr.To(false), ReadOnlyRootFilesystem: ptr.To(true),
			Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		},
		VolumeMounts: []corev1.VolumeMount{{Name: "tmp", MountPath: "/tmp"}},
	}
	if j.Secret != "" {
		c.EnvFrom = []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: j.Secret}}}}
	}
	const nobody = 65532
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: j.labels()},
		Spec: corev1.PodSpec{
			ServiceAccountName: j.Name, AutomountServiceAccountToken: ptr.To(false), PriorityClassName: j.Name, RestartPolicy: corev1.RestartPolicyNever,
			SecurityContext: &corev1.PodSecurityContext{RunAsNonRoot: ptr.To(true), RunAsUser: ptr.To(int64(nobody)), RunAsGroup: ptr.To(int64(nobody)), FSGroup: ptr.To(int64(nobody)),
				SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}},
			Containers: []corev1.Container{c},
			Volumes:    []corev1.Volume{{Name: "tmp", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}},
		},
	}
}
