module github.com/preemptcheck/preemptcheck

go 1.26.0

require (
	k8s.io/api v0.37.1
	k8s.io/kubernetes v1.37.1
)
