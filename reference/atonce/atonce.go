// Package atonce does what goroutines of a scheduler may do at one instant with what they share, for the race detector: it
// tells whether they wait for each other. Drawn timelines bring two of them together too seldom, or hold another lock meanwhile.
package atonce

import (
	"fmt"
	"sync"

	"github.com/go-logr/logr"
	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	fwk "k8s.io/kube-scheduler/framework"
	internalqueue "k8s.io/kubernetes/pkg/scheduler/backend/queue"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumebinding"
	"k8s.io/kubernetes/pkg/scheduler/metrics"

	"github.com/preemptcheck/preemptcheck/reference/linked"
)

const (
	// rounds are how often each goroutine does what it does.
	rounds = 4
	// pairs are of two pods with volumes, one of each class: so many that a goroutine has begun before the last one is assumed.
	pairs = 64
)

// All changes nominations at once, and what is assumed of volumes. What goes wrong besides a race is an error.
func All() error {
	linked.Setup()
	metrics.Register()
	if err := nominations(); err != nil {
		return fmt.Errorf("nominations at once: %w", err)
	}
	if err := volumes(); err != nil {
		return fmt.Errorf("volumes at once: %w", err)
	}
	return nil
}

// nominations adds, changes, reads and withdraws nominations at once. Plugins have these in their handle, and the nominator's lock
// "synchronizes all operations related to nominator" (backend/queue/nominator.go:36@v1.37.1).
func nominations() error {
	pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p", UID: "p"}}
	info, err := framework.NewPodInfo(pod)
	if err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactory(nil, 0)
	if err := factory.Core().V1().Pods().Informer().GetIndexer().Add(pod); err != nil { // who does not exist is not nominated
		return err
	}
	queue := internalqueue.NewPriorityQueue(func(fwk.QueuedEntityInfo, fwk.QueuedEntityInfo) bool { return false }, factory)
	defer queue.Close()
	const node = "node-1"
	nominating := &fwk.NominatingInfo{NominatingMode: fwk.ModeOverride, NominatedNodeName: node}
	atOnce(
		func() { queue.AddNominatedPod(logr.Discard(), info, nominating) },
		func() { queue.UpdateNominatedPod(logr.Discard(), pod, info) },
		func() { queue.DeleteNominatedPodIfExists(pod) },
		func() { queue.NominatedPodsForNode(node) },
	)
	return nil
}

// volumes takes back what is assumed of the volumes of pods whose binding fails, each in a goroutine of its own, while volumes of the
// next pods are looked for and assumed: "Once all the assume operations are done in e), the scheduler processes the next Pod in the
// scheduler queue while the actual binding operation occurs in the background" (volumebinding/binder.go:152@v1.37.1).
func volumes() error {
	factory := informers.NewSharedInformerFactory(nil, 0)
	core, storage := factory.Core().V1(), factory.Storage().V1()
	binder, err := volumebinding.NewVolumeBinder(logr.Discard(), nil, feature.Features{}, core.Pods(), core.Nodes(), storage.CSINodes(),
		core.PersistentVolumeClaims(), core.PersistentVolumes(), storage.StorageClasses(), volumebinding.CapacityCheck{
			CSIDriverInformer: storage.CSIDrivers(), CSIStorageCapacityInformer: storage.CSIStorageCapacities(),
		}, 0)
	if err != nil {
		return err
	}
	wait := storagev1.VolumeBindingWaitForFirstConsumer
	const binds, makes = "binds", "makes" // there are volumes of the first class, and ones of the second are made
	for _, class := range []string{binds, makes} {
		if err := storage.StorageClasses().Informer().GetIndexer().Add(&storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: class}, Provisioner: "x", VolumeBindingMode: &wait}); err != nil {
			return err
		}
	}
	size := v1.ResourceList{v1.ResourceStorage: resource.MustParse("1Gi")}
	modes := []v1.PersistentVolumeAccessMode{v1.ReadWriteOnce}
	node := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-1"}}
	var pods []*v1.Pod
	for i := range pairs * 2 {
		name, class := fmt.Sprint(i), []string{binds, makes}[i%2]
		meta := metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name)}
		if err := core.PersistentVolumes().Informer().GetIndexer().Add(&v1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name}, // one too many does no harm
			Spec:   v1.PersistentVolumeSpec{Capacity: size, AccessModes: modes, StorageClassName: binds},
			Status: v1.PersistentVolumeStatus{Phase: v1.VolumeAvailable}}); err != nil {
			return err
		}
		if err := core.PersistentVolumeClaims().Informer().GetIndexer().Add(&v1.PersistentVolumeClaim{ObjectMeta: meta,
			Spec: v1.PersistentVolumeClaimSpec{StorageClassName: &class, AccessModes: modes, Resources: v1.VolumeResourceRequirements{Requests: size}}}); err != nil {
			return err
		}
		claim := v1.VolumeSource{PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: name}}
		pods = append(pods, &v1.Pod{ObjectMeta: meta, Spec: v1.PodSpec{Volumes: []v1.Volume{{Name: "v", VolumeSource: claim}}}})
	}

	var failing sync.WaitGroup
	defer failing.Wait()
	for _, p := range pods {
		claims, err := binder.GetPodVolumeClaims(logr.Discard(), p)
		if err != nil {
			return err
		}
		found, reasons, err := binder.FindPodVolumes(logr.Discard(), p, claims, node)
		if err != nil || len(reasons) > 0 {
			return fmt.Errorf("finding a volume of %s: %v %w", p.Name, reasons, err)
		}
		if _, err := binder.AssumePodVolumes(logr.Discard(), p, node.Name, found); err != nil {
			return err
		}
		failing.Go(func() { binder.RevertAssumedPodVolumes(found) })
	}
	return nil
}

// atOnce does all of these at once, several times each.
func atOnce(does ...func()) {
	var all sync.WaitGroup
	for _, do := range does {
		all.Go(func() {
			for range rounds {
				do()
			}
		})
	}
	all.Wait()
}
