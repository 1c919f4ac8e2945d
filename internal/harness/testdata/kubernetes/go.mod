module k8s.io/kubernetes

go 1.26.0

require (
	example.com/pinned v1.2.3
	k8s.io/api v0.0.0
)

replace (
	example.com/pinned v1.2.3 => example.com/fork v1.2.4
	k8s.io/api => ./staging/src/k8s.io/api
)
