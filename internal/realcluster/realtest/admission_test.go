//go:build realcluster

package realtest

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preemptcheck/preemptcheck/internal/controlplane"
)

// What the command job prints is accepted by the API server as kubectl sends it, and its pods are admitted where Pod Security enforces
// "restricted". A pod that is not restricted is refused there.
func TestManifestsAreAdmitted(t *testing.T) {
	ctx, name := t.Context(), namespace(t, "restricted")
	labels := []byte(`{"metadata":{"labels":{"pod-security.kubernetes.io/enforce":"restricted","pod-security.kubernetes.io/warn":"restricted"}}}`)
	_, err := cluster.Client.CoreV1().Namespaces().Patch(ctx, name, "application/merge-patch+json", labels, metav1.PatchOptions{})
	require.NoError(t, err)

	config := filepath.Join(t.TempDir(), "config.yaml")
	require.NoError(t, os.WriteFile(config, []byte("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\npercentageOfNodesToScore: 50\n"), 0o600))
	status, manifests, errOut := own.run(t, "job", "--image", own.tag, "--image-pull-policy", "Never", "--namespace", name, "--name", "night", "--shards", "4", "--cpu", "10m", "--cases", "4096",
		"--config", config, "--service-account-annotation", "example.com/role=reader", "--out", cluster.Storage.URL("admission"))
	require.Zero(t, status, errOut)

	created := func(suffix string) (lines []string) {
		for _, o := range []string{"serviceaccount/night", "priorityclass.scheduling.k8s.io/night", "networkpolicy.networking.k8s.io/night", "configmap/night", "job.batch/night", "job.batch/night-merge"} {
			lines = append(lines, o+" created"+suffix)
		}
		return lines
	}
	for _, test := range []struct{ flag, suffix string }{{"--dry-run=server", " (server dry run)"}, {"--dry-run=none", ""}} {
		out, err := kubectlRuns(t, manifests, "apply", test.flag, "-f", "-")
		require.NoError(t, err, out)
		require.Equal(t, created(test.suffix), strings.Split(strings.TrimSpace(out), "\n")) // so there is no warning
	}
	t.Cleanup(func() {
		out, err := kubectlRuns(t, manifests, "delete", "--wait=false", "-f", "-")
		require.NoError(t, err, out)
		// There is no network but the host's, so that they do not start. The kubelet need not agree that they end.
		now := int64(0)
		require.Eventually(t, func() bool {
			ctx := context.Background()
			require.NoError(t, cluster.Client.CoreV1().Pods(name).DeleteCollection(ctx, metav1.DeleteOptions{GracePeriodSeconds: &now}, metav1.ListOptions{}))
			pods, err := cluster.Client.CoreV1().Pods(name).List(ctx, metav1.ListOptions{})
			return err == nil && len(pods.Items) == 0
		}, time.Minute, time.Second)
	})
	require.Eventually(t, func() bool { // the controller of Jobs could create the pods
		pods, err := cluster.Client.CoreV1().Pods(name).List(ctx, metav1.ListOptions{LabelSelector: batchv1.JobNameLabel})
		require.NoError(t, err)
		return len(pods.Items) >= 5
	}, 30*time.Second, 100*time.Millisecond)

	pods, err := cluster.Client.CoreV1().Pods(name).List(ctx, metav1.ListOptions{LabelSelector: batchv1.JobNameLabel + "=night"})
	require.NoError(t, err)
	looser := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "looser", Namespace: name}, Spec: pods.Items[0].Spec}
	looser.Spec.NodeName, looser.Spec.Containers[0].SecurityContext = "", nil
	_, err = cluster.Client.CoreV1().Pods(name).Create(ctx, looser, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	require.ErrorContains(t, err, `violates PodSecurity "restricted:latest"`)
}

// kubectlRuns runs kubectl as an administrator, and returns all that it prints.
func kubectlRuns(t *testing.T, in string, args ...string) (out string, err error) {
	file, err := cluster.Kubeconfig(controlplane.Admin)
	require.NoError(t, err)
	var all bytes.Buffer
	cmd := exec.Command(kubectl, append([]string{"--kubeconfig", file}, args...)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(in), &all, &all
	err = cmd.Run()
	return all.String(), err
}
