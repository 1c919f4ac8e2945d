// Package realcluster runs a real Kubernetes on this machine: etcd, kube-apiserver, the controllers, the
// scheduler, nodes with a kubelet and containerd each, and object storage, all on loopback. It can break
// parts of it while it runs, as parts of clusters break.
//
// It needs root on Linux, containerd and runc. Pods have to use the network of the host. All files are
// below Root. A cluster cleans up after itself; what one has left that was killed is removed when the next
// one starts, or by Clean.
package realcluster
