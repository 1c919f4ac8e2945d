//go:build realcluster

package realcluster

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// left is what there is of a cluster on this machine.
type left struct{ processes, mounts, cgroups, files int }

func leftovers(t *testing.T) (l left) {
	t.Helper()
	l.processes = len(processesOf(1))
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	require.NoError(t, err)
	for _, file := range lines {
		if line, _ := os.ReadFile(file); strings.Contains(string(line), Root+"/") {
			l.processes++
		}
	}
	mounted, err := mounts()
	require.NoError(t, err)
	for _, m := range mounted {
		if below(m.at, Root) {
			l.mounts++
		}
	}
	all, err := hierarchies()
	require.NoError(t, err)
	for _, h := range all {
		if _, err := os.Stat(filepath.Join(h, cgroupName(1))); err == nil {
			l.cgroups++
		}
	}
	for _, pattern := range append(made, Root, "/run/containerd/s/*", "/var/log/containers/*", "/var/lib/kubelet/*") {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		l.files += len(files)
	}
	return l
}

// sysctlValues are the values of sysctls.
func sysctlValues() (values []string) {
	for _, name := range sysctls {
		value, _ := os.ReadFile(filepath.Join("/proc/sys", name))
		values = append(values, string(value))
	}
	return values
}

// A cluster whose process was killed while a pod ran leaves things, and Clean removes all of them.
func TestCleanAfterKill(t *testing.T) {
	require.NoError(t, Clean())
	before, set := leftovers(t), sysctlValues()
	require.Zero(t, before.processes+before.mounts+before.cgroups)
	program := filepath.Join(t.TempDir(), "run")
	out, err := exec.Command("go", "build", "-o", program, "./run").CombinedOutput()
	require.NoError(t, err, string(out))
	cmd := exec.Command(program, "-nodes", "1")
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	line, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err)
	file := strings.TrimPrefix(strings.Fields(line)[1], "KUBECONFIG=")

	config, err := clientcmd.BuildConfigFromFlags("", file)
	require.NoError(t, err)
	client, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	_, err = client.CoreV1().Pods("default").Create(t.Context(), &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "left"}, Spec: v1.PodSpec{
		HostNetwork: true, Containers: []v1.Container{{Name: "main", Image: PauseImage, ImagePullPolicy: v1.PullNever}}}}, metav1.CreateOptions{})
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		p, err := client.CoreV1().Pods("default").Get(t.Context(), "left", metav1.GetOptions{})
		return err == nil && p.Status.Phase == v1.PodRunning
	}, time.Minute, 100*time.Millisecond)
	require.ErrorContains(t, Clean(), "another process runs a cluster")

	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	time.Sleep(time.Second)
	after := leftovers(t)
	t.Logf("left: %+v", after)
	require.Positive(t, after.processes)
	require.Positive(t, after.mounts)
	require.Positive(t, after.cgroups)
	require.NoError(t, Clean())
	require.Equal(t, before, leftovers(t))
	require.Equal(t, set, sysctlValues())
}
