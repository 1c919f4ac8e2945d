package corpus_test

import (
	"fmt"
	"os"
	"strings"

	"github.com/preemptcheck/preemptcheck/corpus"
)

func Example() {
	const text = `
apiVersion: preemptcheck/v1alpha1
kind: Case
name: one-victim
description: The only victim is preempted.
preemptor: urgent
expect:
- outcome: Preempted
  nominations:
  - node: node-1
    victims: [web]
---
apiVersion: v1
kind: Node
metadata: {name: node-1}
status: {allocatable: {cpu: 1, pods: 10}}
---
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  nodeName: node-1
  containers: [{resources: {requests: {cpu: 1}}}]
---
apiVersion: v1
kind: Pod
metadata: {name: urgent}
spec:
  priority: 10
  containers: [{resources: {requests: {cpu: 500m}}}]
`
	stream, err := corpus.Read(strings.NewReader(text), "example.yaml")
	if err != nil {
		fmt.Println(err)
		return
	}
	c := stream.Cases[0]
	fmt.Println("expected of v1.37.1:", c.Expected("v1.37.1").Outcome)
	if err := c.Write(os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	// expected of v1.37.1: Preempted
	// apiVersion: preemptcheck/v1alpha1
	// kind: Case
	// name: one-victim
	// description: The only victim is preempted.
	// preemptor: default/urgent
	// expect:
	// - outcome: Preempted
	//   nominations:
	//   - node: node-1
	//     victims:
	//     - default/web
	// ---
	// apiVersion: v1
	// kind: Node
	// metadata:
	//   name: node-1
	// status:
	//   allocatable:
	//     cpu: "1"
	//     pods: "10"
	// ---
	// apiVersion: v1
	// kind: Pod
	// metadata:
	//   name: web
	//   namespace: default
	// spec:
	//   containers:
	//   - resources:
	//       requests:
	//         cpu: "1"
	//   nodeName: node-1
	// ---
	// apiVersion: v1
	// kind: Pod
	// metadata:
	//   name: urgent
	//   namespace: default
	// spec:
	//   containers:
	//   - resources:
	//       requests:
	//         cpu: 500m
	//   priority: 10
}
