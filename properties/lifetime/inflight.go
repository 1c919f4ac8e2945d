package lifetime

import "fmt"

// tracked is the promise that the queue knows whom it has handed out.
func tracked() Property {
	return Property{
		Name: "tried-is-tracked",
		Promise: "The queue counts a pod among those that are being tried while it is, so that what happens meanwhile is kept for it, unless an earlier attempt has put it back by then. " +
			"It does not matter for a pod that is gone, terminates or is bound.",
		Source: "doc comments of activeQueue.inFlightPods, \"all pods that are currently being processed\" (active_queue.go:181@v1.37.1), and of SchedulingQueue.Done, " +
			"\"This allows the queue to keep track of which pods are currently being processed\" (scheduling_queue.go:127@v1.37.1); " +
			"KEP-4247, \"Track Pods being processed in the scheduling queue\": \"to prevent such Pods from missing the events during its scheduling\"",
		Lies: []string{"forgets that a pod is tried"},
		Check: func(l *Life) (findings []Finding) {
			for i := range l.Trace.Entries {
				if e := &l.Trace.Entries[i]; e.Untracked {
					findings = append(findings, Finding{Pod: e.Pod(), Kind: "untracked", Entry: i,
						Detail: fmt.Sprintf("pod %s is being tried, and the queue does not count it among those that are", e.Pod())})
				}
			}
			return findings
		},
	}
}
