//go:build realcluster

package realtest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/preemptcheck/preemptcheck/internal/realcluster"
	"github.com/preemptcheck/preemptcheck/internal/testsize"
)

// forgets is a program whose ledger lacks some known findings, so that it finds something.
var forgets release

// alone is the directory of its campaign on one machine.
func alone() string { return filepath.Join(temp, "alone") }

// A campaign on many machines, of which some break, comes to what it comes to on one.
func TestFleet(t *testing.T) {
	overlay, err := forget(temp)
	require.NoError(t, err)
	forgets, err = build(t.Context(), temp, "v0.0.0-forgets", overlay)
	require.NoError(t, err)
	require.NoError(t, cluster.LoadImage(t.Context(), forgets.image))
	status, out, errOut := forgets.run(t, "fuzz", "--quiet", "--seed", fmt.Sprint(seed), "--cases", cases(), "--out", alone())
	require.Equal(t, 1, status, "%s%s", out, errOut)
	want := readState(t, alone())
	require.NotEmpty(t, want["findings"])
	for _, name := range []string{"nothing", "pods", "containers", "kubelet", "node", "storage", "all"} {
		t.Run(name, func(t *testing.T) {
			c := newChaos(t, name)
			c.begin()
			c.breakUntilDone(faultsOf(name))
			c.compare(want)
		})
	}
}

// chaos is a campaign in a cluster of which parts break.
type chaos struct {
	*testing.T
	name, namespace, bucket string
	random                  *rand.Rand
	twice                   int // indexes of which two workers were seen at once
}

// cases is how many clusters are checked, enough for some minutes; shards and parallelism are those of the Job.
func cases() string { return fmt.Sprint(testsize.Times(32768)) }

const shards, parallelism = "16", "4"

func newChaos(t *testing.T, name string) *chaos {
	c := &chaos{T: t, name: name, namespace: namespace(t, "fleet-"+name), random: rand.New(rand.NewPCG(seed, 0))}
	t.Cleanup(func() {
		if t.Failed() {
			for _, n := range cluster.Nodes {
				t.Log(n.PodLogs(c.namespace))
			}
		}
	})
	c.bucket = cluster.Storage.URL(name)
	return c
}

func (c *chaos) campaign() []string {
	return []string{"--seed", fmt.Sprint(seed), "--cases", cases()}
}

// begin creates what "preemptcheck job" prints, with pods in the network of the host.
func (c *chaos) begin() {
	credentials := &v1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: "storage"}, StringData: cluster.Storage.Environment()}
	_, err := cluster.Client.CoreV1().Secrets(c.namespace).Create(c.Context(), credentials, metav1.CreateOptions{})
	require.NoError(c, err)
	status, manifests, errOut := forgets.run(c.T, append([]string{"job", "--name", c.name, "--namespace", c.namespace, "--image", forgets.tag, "--image-pull-policy", "Never",
		"--secret", "storage", "--cpu", "200m", "--shards", shards, "--parallelism", parallelism, "--out", c.bucket}, c.campaign()...)...)
	require.Zero(c, status, errOut)
	var objects []runtime.Object
	jobs := 0
	for documents := yaml.NewYAMLReader(bufio.NewReader(strings.NewReader(manifests))); ; {
		document, err := documents.Read()
		if err == io.EOF {
			break
		}
		require.NoError(c, err)
		o, _, err := scheme.Codecs.UniversalDeserializer().Decode(document, nil, nil)
		require.NoError(c, err, string(document))
		if job, ok := o.(*batchv1.Job); ok {
			job.Spec.Template.Spec.HostNetwork = true // there is no other
			jobs++
		}
		objects = append(objects, o)
	}
	require.Equal(c, 2, jobs, "the campaign, and what merges it")
	require.NoError(c, cluster.Load(c.Context(), objects))
}

// jobIndex is the variable in which the pods of an Indexed Job find their index.
const jobIndex = "JOB_COMPLETION_INDEX"

// Kubernetes waits longer and longer before it replaces a pod of an index that fails again and again. So that a Job comes to an end, there are no
// more than mostFaults, and calm is the mean time from the end of one to the next.
const (
	mostFaults = 12
	calm       = 8 * time.Second
)

// fault breaks something, and mends it again. It returns what it did.
type fault func(c *chaos) string

func faultsOf(name string) []fault {
	all := map[string][]fault{
		"pods":       {deletePod},
		"containers": {killContainers},
		"kubelet":    {killKubelet},
		"node":       {powerOff},
		"storage":    {restartStorage, pauseStorage, disturbStorage},
	}
	if name == "all" {
		for _, some := range []string{"pods", "containers", "kubelet", "node", "storage"} {
			all[name] = append(all[name], all[some]...)
		}
	}
	return all[name]
}

// breakUntilDone breaks one thing after another, until the Job is complete.
func (c *chaos) breakUntilDone(faults []fault) {
	broken, start, next := 0, time.Now(), time.Now()
	for time.Since(start) < 30*time.Minute {
		job, err := cluster.Client.BatchV1().Jobs(c.namespace).Get(c.Context(), c.name, metav1.GetOptions{})
		require.NoError(c, err)
		for _, condition := range job.Status.Conditions {
			if condition.Status != v1.ConditionTrue {
				continue
			}
			switch condition.Type {
			case batchv1.JobFailed:
				c.Fatalf("the Job has failed: %s: %s; %+v", condition.Reason, condition.Message, job.Status)
			case batchv1.JobComplete:
				c.Logf("complete after %s, %d faults, %d pods failed, %d indexes with two workers at once", time.Since(start).Round(time.Second), broken, job.Status.Failed, c.twice)
				if len(faults) > 0 {
					require.Positive(c, broken, "faults")
				}
				return
			}
		}
		time.Sleep(time.Second)
		if job.Status.Active == 0 || len(faults) == 0 || broken == mostFaults || time.Now().Before(next) {
			continue
		}
		if did := faults[c.random.IntN(len(faults))](c); did != "" {
			broken++
			c.Logf("%4.0f s  %s", time.Since(start).Seconds(), did)
			next = time.Now().Add(calm/2 + time.Duration(c.random.Int64N(int64(calm))))
		}
	}
	c.Fatal("the Job is not complete after half an hour")
}

// running are the pods of the Job that run.
func (c *chaos) running() (pods []v1.Pod) {
	all, err := cluster.Client.CoreV1().Pods(c.namespace).List(c.Context(), metav1.ListOptions{})
	require.NoError(c, err)
	for _, p := range all.Items {
		if p.Status.Phase == v1.PodRunning && p.DeletionTimestamp == nil {
			pods = append(pods, p)
		}
	}
	return pods
}

func index(p v1.Pod) string { return p.Annotations[batchv1.JobCompletionIndexAnnotation] }

func (c *chaos) node() *realcluster.Node { return cluster.Nodes[c.random.IntN(len(cluster.Nodes))] }

func deletePod(c *chaos) string {
	pods := c.running()
	if len(pods) == 0 {
		return ""
	}
	p, grace := pods[c.random.IntN(len(pods))], int64(c.random.IntN(2))
	_ = cluster.Client.CoreV1().Pods(c.namespace).Delete(c.Context(), p.Name, metav1.DeleteOptions{GracePeriodSeconds: &grace})
	return fmt.Sprintf("deleted pod of index %s, with %d s of grace", index(p), grace)
}

func killContainers(c *chaos) string {
	n := c.node()
	killed := n.KillContainers()
	if killed == 0 {
		return ""
	}
	return fmt.Sprintf("killed %d processes on %s", killed, n.Name)
}

// killKubelet ends a kubelet, and waits until the pods of its node are replaced while their containers run on: then there are two
// workers of one index.
func killKubelet(c *chaos) string {
	n := c.node()
	orphans := map[string]bool{}
	n.KillKubelet()
	for _, p := range c.running() {
		if p.Spec.NodeName == n.Name {
			orphans[index(p)] = true
		}
	}
	c.outOfService(n, true)
	seen := map[string]bool{}
	for end := time.Now().Add(45 * time.Second); time.Now().Before(end) && len(seen) < len(orphans); time.Sleep(500 * time.Millisecond) {
		alive := n.Environments(jobIndex)
		for _, p := range c.running() {
			if p.Spec.NodeName != n.Name && orphans[index(p)] && slices.Contains(alive, index(p)) {
				seen[index(p)] = true
			}
		}
	}
	c.twice += len(seen)
	if len(seen) > 0 {
		time.Sleep(10 * time.Second) // both work
	}
	c.outOfService(n, false)
	require.NoError(c, n.Start(c.Context()))
	require.NoError(c, cluster.AwaitNodes(c.Context(), 2*time.Minute))
	return fmt.Sprintf("killed the kubelet of %s; its containers ran on, of %d indexes beside others of the same index", n.Name, len(seen))
}

// powerOff ends a node, and starts it again later.
func powerOff(c *chaos) string {
	n := c.node()
	require.NoError(c, n.PowerOff())
	c.outOfService(n, true)
	off := time.Duration(10+c.random.IntN(20)) * time.Second
	time.Sleep(off)
	c.outOfService(n, false)
	require.NoError(c, n.Start(c.Context()))
	require.NoError(c, cluster.AwaitNodes(c.Context(), 2*time.Minute))
	return fmt.Sprintf("node %s was off for %s", n.Name, off)
}

// outOfService says, as an administrator does, that a node is off, so that its pods are replaced; or that it is not.
func (c *chaos) outOfService(n *realcluster.Node, is bool) {
	require.Eventually(c, func() bool {
		node, err := cluster.Client.CoreV1().Nodes().Get(c.Context(), n.Name, metav1.GetOptions{})
		require.NoError(c, err)
		node.Spec.Taints = slices.DeleteFunc(node.Spec.Taints, func(t v1.Taint) bool { return t.Key == v1.TaintNodeOutOfService })
		if is {
			node.Spec.Taints = append(node.Spec.Taints, v1.Taint{Key: v1.TaintNodeOutOfService, Value: "nodeshutdown", Effect: v1.TaintEffectNoExecute})
		}
		_, err = cluster.Client.CoreV1().Nodes().Update(c.Context(), node, metav1.UpdateOptions{})
		return err == nil
	}, 10*time.Second, 10*time.Millisecond)
}

func restartStorage(c *chaos) string {
	cluster.Storage.Kill()
	off := time.Duration(1+c.random.IntN(10)) * time.Second
	time.Sleep(off)
	require.NoError(c, cluster.Storage.Start(c.Context()))
	return fmt.Sprintf("the storage was killed, and started again after %s", off)
}

func pauseStorage(c *chaos) string {
	cluster.Storage.Pause()
	paused := time.Duration(1+c.random.IntN(15)) * time.Second
	time.Sleep(paused)
	cluster.Storage.Continue()
	return fmt.Sprintf("the storage hung for %s", paused)
}

func disturbStorage(c *chaos) string {
	before := cluster.Storage.Troubled.Load()
	cluster.Storage.Disturb(&realcluster.Trouble{Delay: time.Duration(c.random.IntN(1000)) * time.Millisecond, RefuseEvery: 5, ResetEvery: 7, LoseAnswerEvery: 3})
	time.Sleep(20 * time.Second)
	cluster.Storage.Disturb(nil)
	return fmt.Sprintf("%d requests to the storage were late, refused, reset, or lost their answer", cluster.Storage.Troubled.Load()-before)
}

// compare holds what the fleet has found against what one machine finds: finding by finding, count by count.
func (c *chaos) compare(want map[string]any) {
	if c.name == "kubelet" {
		require.Positive(c, c.twice, "two workers of one index at once")
	}
	dir := filepath.Join(c.TempDir(), "merged")
	status, out, errOut := forgets.run(c.T, "merge", c.bucket, "--out", dir, "--wait", shards, "--quiet")
	require.Equal(c, 1, status, "%s%s", out, errOut) // something was found
	require.Equal(c, want, readState(c.T, dir))
	// The Job that merges does the same.
	require.Eventually(c, func() bool {
		job, err := cluster.Client.BatchV1().Jobs(c.namespace).Get(c.Context(), c.name+"-merge", metav1.GetOptions{})
		require.NoError(c, err)
		return job.Status.Succeeded > 0
	}, 10*time.Minute, time.Second)
	require.Equal(c, want, readState(c.T, cluster.Storage.Files(c.name+"/merged")))
	status, out, errOut = forgets.run(c.T, "report", c.bucket)
	require.NotEqual(c, 2, status, "%s%s", out, errOut)
}

// readState is what a campaign has come to, without when and where. How many clusters show a known finding is left to chance where the scheduler
// goes through a map: that differs by a few between two campaigns on one machine.
func readState(t *testing.T, dir string) map[string]any {
	data, err := os.ReadFile(filepath.Join(dir, "campaign.state"))
	require.NoError(t, err)
	var s map[string]any
	require.NoError(t, json.Unmarshal(data, &s))
	for _, key := range []string{"sessions", "samples", "parts", "deaths"} {
		delete(s, key)
	}
	stats, ok := s["stats"].(map[string]any)
	require.True(t, ok)
	delete(stats, "known")
	timeless(s)
	return s
}

// timeless removes all durations.
func timeless(v any) {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			if strings.HasSuffix(strings.ToLower(key), "seconds") {
				delete(v, key)
			} else {
				timeless(value)
			}
		}
	case []any:
		for _, value := range v {
			timeless(value)
		}
	}
}

// A difference of one count in one finding is noticed, and so is a finding that is missing.
func TestComparisonNotices(t *testing.T) {
	state := func(change func(finding map[string]any)) map[string]any {
		dir := t.TempDir()
		finding := map[string]any{"count": 3, "number": 17, "foundAfterSeconds": rand.Float64()}
		change(finding)
		data, err := json.Marshal(map[string]any{"findings": []any{finding}, "stats": map[string]any{"clusters": 5}, "sessions": rand.Int()})
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, "campaign.state"), data, 0o600))
		return readState(t, dir)
	}
	same := state(func(map[string]any) {})
	require.Equal(t, same, state(func(map[string]any) {}))
	require.NotEqual(t, same, state(func(f map[string]any) { f["count"] = 4 }))
	require.NotEqual(t, same, state(func(f map[string]any) { f["number"] = 16 }))
}
