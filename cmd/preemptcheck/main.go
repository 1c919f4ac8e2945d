// Command preemptcheck holds an executable specification of kube-scheduler's
// preemption against the real kube-scheduler.
package main

import "github.com/preemptcheck/preemptcheck/cmd/preemptcheck/app"

func main() { app.Main() }
