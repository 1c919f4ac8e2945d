package realcluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/preemptcheck/preemptcheck/internal/controlplane"
)

// Root is the directory of the cluster. There is one at a time on a machine.
const Root = "/var/lib/preemptcheck-cluster"

// Scratch is a directory for the files of who uses a cluster. Clean removes it, and Start does not.
const Scratch = Root + "-scratch"

// Options say what a cluster is made of.
type Options struct {
	// Nodes is how many there are: 1 to 9.
	Nodes int
	// Images are archives in the OCI's layout, of images that each node has. Their name is BaseName, their tag is
	// the one in the archive.
	Images []string
	// Users are known besides controlplane.Admin.
	Users []controlplane.User
	// Log takes what happens.
	Log io.Writer
}

// BaseName is the name of images, without tag.
const BaseName = "registry.example.com/preemptcheck"

// Cluster is one that runs.
type Cluster struct {
	*controlplane.Plane
	Client  *kubernetes.Clientset
	Nodes   []*Node
	Storage *Storage

	programs Programs
	options  Options
	pause    string // the archive of its image
	started  time.Time
	lock     *flock.Flock
	others   []*controlplane.Process // scheduler and controllers
}

// Check says what this machine lacks.
func Check() error {
	var all []error
	if os.Geteuid() != 0 {
		all = append(all, errors.New("real nodes take root, and this is another user: kubelets mount file systems and make cgroups"))
	}
	for _, program := range []string{"containerd", "containerd-shim-runc-v2", "ctr", "runc"} {
		if _, err := exec.LookPath(program); err != nil {
			all = append(all, fmt.Errorf("%s is not installed: apt-get install --no-install-recommends containerd runc", program))
		}
	}
	if _, err := hierarchies(); err != nil {
		all = append(all, err)
	}
	return errors.Join(all...)
}

// Start starts a cluster, and waits until its nodes are ready. What an earlier one has left is removed
// before. The caller has to call Stop.
func Start(ctx context.Context, programs Programs, o Options) (c *Cluster, err error) {
	if o.Nodes < 1 || o.Nodes > 9 {
		return nil, fmt.Errorf("%d nodes: 1 to 9 are possible", o.Nodes)
	}
	if err := Check(); err != nil {
		return nil, err
	}
	c = &Cluster{programs: programs, options: o, started: time.Now()}
	if c.lock, err = lockRoot(); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Stop())
		}
	}()
	if err := clean(); err != nil {
		return nil, err
	}
	if others, err := running("", "kubelet"); err != nil || len(others) > 0 {
		return nil, errors.Join(err, fmt.Errorf("this machine is a node of a cluster: the processes %v are kubelets, which share sockets and settings of the kernel with others", others))
	}
	if err := os.MkdirAll(Root, 0o700); err != nil {
		return nil, err
	}
	if err := note(); err != nil {
		return nil, err
	}
	return c, c.start(ctx)
}

func lockRoot() (*flock.Flock, error) {
	lock := flock.New("/run/preemptcheck-cluster.lock")
	if ok, err := lock.TryLock(); err != nil {
		return nil, err
	} else if !ok {
		return nil, fmt.Errorf("another process runs a cluster in %s", Root)
	}
	return lock, nil
}

func (c *Cluster) start(ctx context.Context) error {
	var err error
	if c.pause, err = pauseImage(ctx); err != nil {
		return fmt.Errorf("image of pause: %w", err)
	}
	if c.Storage, err = startStorage(ctx, c.programs.Storage); err != nil {
		return fmt.Errorf("object storage: %w", err)
	}
	c.say("object storage answers")
	users := append([]controlplane.User{{Name: "system:kube-scheduler"}, {Name: "system:kube-controller-manager"}}, c.options.Users...)
	for i := range c.options.Nodes {
		users = append(users, controlplane.User{Name: "system:node:" + nodeName(i+1), Groups: []string{"system:nodes"}})
	}
	// A pod leaves a node that does not answer after a second, not after five minutes.
	c.Plane, err = controlplane.StartWith(ctx, c.programs.Kubernetes, Root, controlplane.Options{Users: users, Nodes: true, Flags: []string{
		"--kubelet-preferred-address-types=Hostname", "--default-not-ready-toleration-seconds=1", "--default-unreachable-toleration-seconds=1"}})
	if err != nil {
		return err
	}
	c.say("API server is ready")
	config := c.Config(controlplane.Admin)
	config.QPS, config.Burst = -1, 0
	if c.Client, err = kubernetes.NewForConfig(config); err != nil {
		return err
	}
	if err := c.control(); err != nil {
		return err
	}
	for i := range c.options.Nodes {
		n, err := newNode(c, i+1)
		if err != nil {
			return err
		}
		c.Nodes = append(c.Nodes, n)
		if err := n.Start(ctx); err != nil {
			return fmt.Errorf("node %s: %w", n.Name, err)
		}
	}
	if err := c.AwaitNodes(ctx, time.Minute); err != nil {
		return err
	}
	err = poll(ctx, time.Minute, func() (bool, error) {
		_, err := c.Client.CoreV1().ServiceAccounts("default").Get(ctx, "default", metav1.GetOptions{})
		return err == nil, err
	})
	c.say("default service account is there")
	return err
}

// control starts the scheduler and the controllers.
func (c *Cluster) control() error {
	for _, name := range []string{"kube-scheduler", "kube-controller-manager"} {
		config, err := c.Kubeconfig("system:" + name)
		if err != nil {
			return err
		}
		ports, err := controlplane.FreePorts(1)
		if err != nil {
			return err
		}
		args := []string{"--kubeconfig=" + config, "--authentication-kubeconfig=" + config, "--authorization-kubeconfig=" + config,
			"--leader-elect=false", "--bind-address=127.0.0.1", "--secure-port=" + ports[0], "--cert-dir=" + filepath.Join(Root, name)}
		if name == "kube-scheduler" {
			args = append(args, "-v=5") // it names victims, and why pods stay
		} else {
			// A node that does not answer is noticed within seconds, not within the usual 50.
			args = append(args, "--use-service-account-credentials=true", "--service-account-private-key-file="+c.SigningKey(), "--root-ca-file="+c.Certificate(),
				"--node-monitor-grace-period=8s", "--node-monitor-period=1s")
		}
		p, err := controlplane.Run(Root, name, filepath.Join(c.programs.Kubernetes, name), args...)
		if err != nil {
			return err
		}
		c.others = append(c.others, p)
	}
	return nil
}

// LoadImage gives each node one more image, as Options.Images does.
func (c *Cluster) LoadImage(ctx context.Context, archive string) error {
	for _, n := range c.Nodes {
		if err := n.load(ctx, archive); err != nil {
			return err
		}
	}
	return nil
}

// AwaitNodes waits until all nodes are ready, and no taint keeps pods away.
func (c *Cluster) AwaitNodes(ctx context.Context, patience time.Duration) error {
	err := poll(ctx, patience, func() (bool, error) {
		nodes, err := c.Client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		ready := 0
		for _, n := range nodes.Items {
			for _, condition := range n.Status.Conditions {
				if condition.Type == v1.NodeReady && condition.Status == v1.ConditionTrue && len(n.Spec.Taints) == 0 {
					ready++
				}
			}
		}
		return ready == len(c.Nodes), fmt.Errorf("%d of %d nodes are ready", ready, len(c.Nodes))
	})
	if err != nil {
		var words []string
		for _, n := range c.Nodes {
			words = append(words, n.lastWords())
		}
		return fmt.Errorf("%w\n%s", err, strings.Join(words, "\n"))
	}
	c.say("%d nodes are ready", len(c.Nodes))
	return nil
}

// Stop ends all of the cluster, and removes all that it has made.
func (c *Cluster) Stop() error {
	for _, n := range c.Nodes {
		n.kubelet.stop(5 * time.Second)
	}
	for _, p := range c.others {
		p.Kill()
	}
	if c.Plane != nil {
		c.Plane.Stop()
	}
	if c.Storage != nil {
		c.Storage.stop()
	}
	for _, n := range c.Nodes {
		n.containerd.stop(5 * time.Second)
	}
	err := clean()
	c.lock.Unlock()
	c.say("ended")
	return err
}

// say tells what happens, and when, in seconds since the start.
func (c *Cluster) say(format string, args ...any) {
	if c.options.Log != nil {
		fmt.Fprintf(c.options.Log, "%6.1f s  %s\n", time.Since(c.started).Seconds(), fmt.Sprintf(format, args...))
	}
}

// poll asks until the answer is yes. If it is not in time, the last error says why.
func poll(ctx context.Context, patience time.Duration, ask func() (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		yes, err := ask()
		if yes {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w after %s: %w", ctx.Err(), patience, err)
		case <-time.After(100 * time.Millisecond):
		}
	}
}
