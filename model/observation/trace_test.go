package observation

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFrames: Go's own functions are left out, and so is what has called Kubernetes.
func TestFrames(t *testing.T) {
	const stack = `goroutine 7 [running]:
panic({0x1, 0x2})
	/usr/local/go/src/runtime/panic.go:783 +0x1
k8s.io/kubernetes/pkg/scheduler/framework/plugins/x.(*Plugin).Score(0x1)
	/mod/k8s.io/kubernetes/pkg/scheduler/framework/plugins/x/x.go:12 +0x1
k8s.io/kubernetes/pkg/scheduler.(*Scheduler).ScheduleOne(0x1)
	/mod/k8s.io/kubernetes/pkg/scheduler/schedule_one.go:70 +0x1
example.com/harness.run(0x1)
	/src/harness/run.go:5 +0x1
testing.tRunner(0x1)
	/usr/local/go/src/testing/testing.go:2036 +0x1`
	require.Equal(t, []string{"x.(*Plugin).Score (x.go:12)", "scheduler.(*Scheduler).ScheduleOne (schedule_one.go:70)"}, (&Crash{Stack: stack}).Frames())

	const ours = "goroutine 7 [running]:\nexample.com/harness.run(0x1)\n\t/src/harness/run.go:5 +0x1\n"
	require.Equal(t, []string{"harness.run (run.go:5)"}, (&Crash{Stack: ours}).Frames())
}
