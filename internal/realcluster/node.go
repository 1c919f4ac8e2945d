package realcluster

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"text/template"
	"time"

	"github.com/preemptcheck/preemptcheck/internal/controlplane"
)

// Node is a kubelet and the containerd that it uses. Both may be ended, and started again.
type Node struct {
	Name string

	number              int
	cluster             *Cluster
	dir, config         string
	kubelet, containerd program
	imported            bool
}

// program is one that may be running.
type program struct{ *controlplane.Process }

func (p *program) stop(patience time.Duration) {
	if p.Process != nil {
		p.Process.Stop(patience)
	}
	p.Process = nil
}

func (p *program) kill() {
	if p.Process != nil {
		p.Process.Kill()
	}
	p.Process = nil
}

// nodeName is a name of loopback: by it the API server reaches the kubelet, and the kubelet finds its own
// address.
func nodeName(number int) string { return fmt.Sprintf("127.0.0.%d", number) }

func nodeDir(number int) string { return filepath.Join(Root, fmt.Sprintf("n%d", number)) }

//go:embed containerd.toml.tmpl
var containerdConfig string

//go:embed kubelet.yaml.tmpl
var kubeletConfig string

// newNode writes the files of a node.
func newNode(c *Cluster, number int) (*Node, error) {
	n := &Node{Name: nodeName(number), number: number, cluster: c, dir: nodeDir(number)}
	for _, dir := range []string{"cni", "root", "volume-plugins"} {
		if err := os.MkdirAll(filepath.Join(n.dir, dir), 0o755); err != nil {
			return nil, err
		}
	}
	var err error
	if n.config, err = c.Kubeconfig("system:node:" + n.Name); err != nil {
		return nil, err
	}
	ports, err := controlplane.FreePorts(1)
	if err != nil {
		return nil, err
	}
	values := map[string]any{"Dir": n.dir, "Address": n.Name, "Port": ports[0], "Cgroup": "/" + cgroupName(number), "Pause": pauseName}
	for file, text := range map[string]string{
		"containerd.toml": containerdConfig,
		"kubelet.yaml":    kubeletConfig,
		// A node is ready once it has a network. Pods use the host's.
		"cni/10-lo.conflist": `{"cniVersion": "0.4.0", "name": "lo", "plugins": [{"type": "loopback"}]}`,
	} {
		var out bytes.Buffer
		if err := template.Must(template.New(file).Option("missingkey=error").Parse(text)).Execute(&out, values); err != nil {
			return nil, err
		}
		if err := os.WriteFile(filepath.Join(n.dir, file), out.Bytes(), 0o600); err != nil {
			return nil, err
		}
	}
	return n, makeCgroups(number)
}

// Start starts what does not run of the node.
func (n *Node) Start(ctx context.Context) (err error) {
	if n.containerd.Process == nil {
		if n.containerd.Process, err = controlplane.Run(n.dir, "containerd", "containerd", "-c", filepath.Join(n.dir, "containerd.toml")); err != nil {
			return err
		}
		err = poll(ctx, 30*time.Second, func() (bool, error) {
			out, err := n.ctr(ctx, "version")
			return err == nil, fmt.Errorf("%w: %s", err, out)
		})
		if err != nil {
			return fmt.Errorf("%w\n%s", err, n.lastWords())
		}
	}
	if !n.imported {
		if out, err := n.ctr(ctx, "images", "import", n.cluster.pause); err != nil {
			return fmt.Errorf("importing %s: %w: %s", n.cluster.pause, err, out)
		}
		for _, image := range n.cluster.options.Images {
			if err := n.load(ctx, image); err != nil {
				return err
			}
		}
		n.imported = true
	}
	if n.kubelet.Process == nil {
		n.kubelet.Process, err = controlplane.Run(n.dir, "kubelet", filepath.Join(n.cluster.programs.Kubernetes, "kubelet"), "--config="+filepath.Join(n.dir, "kubelet.yaml"),
			"--kubeconfig="+n.config, "--hostname-override="+n.Name, "--root-dir="+filepath.Join(n.dir, "root"), "--cert-dir="+filepath.Join(n.dir, "pki"))
	}
	return err
}

// load gives the node an image.
func (n *Node) load(ctx context.Context, image string) error {
	if out, err := n.ctr(ctx, "images", "import", "--base-name", BaseName, image); err != nil {
		return fmt.Errorf("importing %s: %w: %s", image, err, out)
	}
	return nil
}

// KillKubelet ends the kubelet as a crash does. Its containers run on.
func (n *Node) KillKubelet() { n.kubelet.kill() }

// PowerOff ends all of the node at once: the kubelet, containerd, and all containers.
func (n *Node) PowerOff() error {
	n.kubelet.kill()
	n.containerd.kill()
	if err := endNode(n.number); err != nil {
		return err
	}
	// A machine that starts again knows of no container.
	return os.RemoveAll(filepath.Join(n.dir, "state"))
}

// KillContainers sends SIGKILL to all processes of containers of the node, but to those that hold pods
// together. It returns how many.
func (n *Node) KillContainers() (killed int) {
	for _, pid := range processesOf(n.number) {
		if exe, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid)); exe == "" || filepath.Base(exe) == "pause" {
			continue
		}
		if syscall.Kill(pid, syscall.SIGKILL) == nil {
			killed++
		}
	}
	return killed
}

// Environments are the values that a variable has in the processes of the containers of the node.
func (n *Node) Environments(variable string) (values []string) {
	for _, pid := range processesOf(n.number) {
		environment, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid)) // it may be gone by now
		for _, entry := range strings.Split(string(environment), "\x00") {
			if value, ok := strings.CutPrefix(entry, variable+"="); ok && !slices.Contains(values, value) {
				values = append(values, value)
			}
		}
	}
	return values
}

// PodLogs are what containers of the node have printed whose pods are in the namespace and not removed yet, the last 2,000 bytes of each.
func (n *Node) PodLogs(namespace string) (all string) {
	files, _ := filepath.Glob(filepath.Join(n.dir, "podlogs", namespace+"_*", "*", "*.log"))
	for _, file := range files {
		log, _ := os.ReadFile(file) // it may be gone by now
		all += fmt.Sprintf("%s: %s:\n%s\n", n.Name, strings.TrimPrefix(file, filepath.Join(n.dir, "podlogs")), log[max(0, len(log)-2000):])
	}
	return all
}

// ctr runs containerd's own client.
func (n *Node) ctr(ctx context.Context, args ...string) ([]byte, error) {
	return exec.CommandContext(ctx, "ctr", append([]string{"--address", filepath.Join(n.dir, "c.sock"), "--namespace", "k8s.io"}, args...)...).CombinedOutput()
}

func (n *Node) lastWords() (words string) {
	for _, p := range []program{n.containerd, n.kubelet} {
		if p.Process != nil {
			words += n.Name + ": " + p.LastWords() + "\n"
		}
	}
	return words
}
