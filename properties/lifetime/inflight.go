package lifetime

import "fmt"

// tracked is the promise that the queue knows whom it has handed out.
func tracked() Property {
	return Property{
		Name:    "tried-is-tracked",
		Promise: "The queue counts a pod among those that are being tried until its scheduling cycle is over, so that what happens meanwhile is kept for it, unless an earlier attempt has put it back by then.",
		Source: "doc comment of SchedulingQueue.Done, \"This allows the queue to keep track of which pods are currently being processed\" (scheduling_queue.go:127@v1.37.1); " +
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
