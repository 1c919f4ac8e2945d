package releases

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/observation"
	"github.com/preemptcheck/preemptcheck/reference"
	"github.com/preemptcheck/preemptcheck/reference/releases/wire"
)

// newFake is a System whose driver is the fake.
func newFake(t *testing.T, release string) *System {
	t.Setenv(fakeDriver, release)
	binary, err := os.Executable()
	require.NoError(t, err)
	s := &System{release: "v1.31.0", command: func() *exec.Cmd { return exec.Command(binary) }, timeout: driverTimeout}
	t.Cleanup(func() { s.Close() })
	return s
}

func cluster(preemptor string) *model.Cluster {
	return &model.Cluster{Preemptor: &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: preemptor}}}
}

// pid is the process that answers.
func pid(t *testing.T, s *System) string {
	t.Helper()
	obs, err := s.Observe(t.Context(), cluster("a"))
	require.NoError(t, err)
	require.Equal(t, &model.Observation{System: "v1.31.0", ScheduledTo: obs.ScheduledTo, PotentialNodes: []string{}}, obs)
	return obs.ScheduledTo
}

func TestOneProcessAnswers(t *testing.T) {
	s := newFake(t, "v1.31.0")
	first := pid(t, s)
	require.Equal(t, first, pid(t, s))

	require.NoError(t, s.Close())
	second := pid(t, s)
	require.NotEqual(t, first, second, "closed, it starts a new one")
}

func TestRefusalsAndErrorsEndNothing(t *testing.T) {
	s := newFake(t, "v1.31.0")
	first := pid(t, s)
	_, err := s.Observe(t.Context(), cluster("refuse"))
	var refusal *reference.Refusal
	require.ErrorAs(t, err, &refusal)
	require.Equal(t, &reference.Refusal{System: "v1.31.0", What: "Pod default/refuse: spec.resources"}, refusal)
	require.EqualError(t, err, "v1.31.0 does not know Pod default/refuse: spec.resources")

	_, err = s.Observe(t.Context(), cluster("fail"))
	require.EqualError(t, err, "preemptor default/fail is being deleted")
	_, err = s.Observe(t.Context(), &model.Cluster{})
	require.EqualError(t, err, "the cluster has no preemptor")
	require.Equal(t, first, pid(t, s))
}

// A scheduler that dies of a cluster has answered: its death is what is observed
// of this cluster, and the next one is not concerned.
func TestDeath(t *testing.T) {
	for preemptor, why := range map[string]string{
		"panic": "panic: runtime error: index out of range [3] with length 3",
		"exit":  "exit status 3",
		"hang":  "no answer within 300ms",
	} {
		t.Run(preemptor, func(t *testing.T) {
			s := newFake(t, "v1.31.0")
			first := pid(t, s)
			if preemptor == "hang" {
				s.timeout = 300 * time.Millisecond
			}
			obs, err := s.Observe(t.Context(), cluster(preemptor))
			require.NoError(t, err)
			require.Equal(t, &model.Observation{
				System: "v1.31.0", Filters: map[string]model.Verdict{}, PinnedBudgetOrder: true,
				CycleError: "the scheduler's process died: " + why,
			}, obs)
			s.timeout = driverTimeout
			require.NotEqual(t, first, pid(t, s))
		})
	}
}

// No dialect predicts a death in Score: it is a crash like one in process.
func TestDeathInScore(t *testing.T) {
	s := newFake(t, "v1.31.0")
	obs, err := s.Observe(t.Context(), cluster("panic-in-score"))
	require.NoError(t, err)
	require.Empty(t, obs.CycleError)
	require.NotNil(t, obs.Crash)
	require.Equal(t, observation.Exit, obs.Crash.Kind)
	require.Contains(t, obs.Crash.Message, "nil pointer dereference")
}

// One death may have had another cause.
func TestDeathIsTriedAgain(t *testing.T) {
	s := newFake(t, "v1.31.0")
	first := pid(t, s)
	c := cluster("panic-once")
	c.Preemptor.Namespace = filepath.Join(t.TempDir(), "died")
	obs, err := s.Observe(t.Context(), c)
	require.NoError(t, err)
	require.Empty(t, obs.CycleError)
	require.NotEqual(t, first, obs.ScheduledTo)
	require.FileExists(t, c.Preemptor.Namespace)
}

// What is no answer must not be taken for the next one.
func TestNonsenseIsDeath(t *testing.T) {
	s := newFake(t, "v1.31.0")
	first := pid(t, s)
	obs, err := s.Observe(t.Context(), cluster("babble"))
	require.NoError(t, err)
	require.Contains(t, obs.CycleError, "the scheduler's process died")
	require.NotEqual(t, first, pid(t, s))
}

func TestInterrupted(t *testing.T) {
	s := newFake(t, "v1.31.0")
	first := pid(t, s)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err := s.Observe(ctx, cluster("hang"))
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Less(t, time.Since(start), driverTimeout/2)
	_, err = s.Observe(ctx, cluster("a"))
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.NotEqual(t, first, pid(t, s))
}

// A driver that does not start says nothing about any cluster.
func TestNoStart(t *testing.T) {
	for release, want := range map[string]string{
		"v1.31.1": `starting the scheduler of v1.31.0: it says that it is of "v1.31.1"`,
		"broken":  "starting the scheduler of v1.31.0: no such library",
	} {
		s := newFake(t, release)
		_, err := s.Observe(t.Context(), cluster("a"))
		require.EqualError(t, err, want)
	}
	s := newFake(t, "silent")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := s.Observe(ctx, cluster("a"))
	require.ErrorIs(t, err, context.DeadlineExceeded)

	s.command = func() *exec.Cmd { return exec.Command(filepath.Join(t.TempDir(), "driver")) }
	_, err = s.Observe(t.Context(), cluster("a"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

// A process whose answer nobody waits for any more is not killed if it answers soon:
// a new one would cost more.
func TestInterruptedAsItAnswers(t *testing.T) {
	s := newFake(t, "v1.31.0")
	request, err := encode(cluster("a"), s.release)
	require.NoError(t, err)
	process := pid(t, s)
	for i := range 100 {
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			time.Sleep(time.Duration(i) * 10 * time.Microsecond)
			cancel()
		}()
		var a wire.Answer
		if err := s.ask(ctx, request, driverTimeout, &a); err != nil {
			require.ErrorIs(t, err, context.Canceled)
		}
		cancel()
	}
	require.Equal(t, process, pid(t, s))
}
