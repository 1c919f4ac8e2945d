package scheduler

import (
	"context"
	"os"
	"os/signal"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/events"
	featuregatetesting "k8s.io/component-base/featuregate/testing"
	"k8s.io/kubernetes/pkg/apis/core"
	corev1 "k8s.io/kubernetes/pkg/apis/core/v1"
	"k8s.io/kubernetes/pkg/apis/core/validation"
	"k8s.io/kubernetes/pkg/features"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
)

// The annotations of a claim are as large as they may be, so the API server does not admit the one that the
// scheduler adds in PreBind: binding the pod fails each time. The clock is virtual.
func TestScheduler_BackoffAfterFailedBinding(t *testing.T) {
	// The first use of package signal, by the cache debugger, must not be in a bubble.
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGUSR2)
	signal.Stop(c)
	// The last handler of errors sleeps, by a clock that all bubbles share.
	handlers := utilruntime.ErrorHandlers
	utilruntime.ErrorHandlers = handlers[:1]
	defer func() { utilruntime.ErrorHandlers = handlers }()
	featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, features.GenericWorkload, true)

	for _, tt := range []struct {
		name  string
		group bool
	}{
		{"a pod without a group", false},
		{"a pod of a group", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer func() {
					cancel()
					time.Sleep(time.Minute)
				}()
				wait, class := storagev1.VolumeBindingWaitForFirstConsumer, "wait"
				claim := &v1.PersistentVolumeClaim{
					ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "full", UID: "full", ResourceVersion: "1", Annotations: map[string]string{"a": strings.Repeat("a", 256<<10-1)}},
					Spec: v1.PersistentVolumeClaimSpec{
						StorageClassName: &class,
						AccessModes:      []v1.PersistentVolumeAccessMode{v1.ReadWriteOnce},
						Resources:        v1.VolumeResourceRequirements{Requests: v1.ResourceList{v1.ResourceStorage: resource.MustParse("1Gi")}},
					},
				}
				pod := st.MakePod().Namespace("default").Name("p").UID("p").PVC("full").SchedulerName(v1.DefaultSchedulerName)
				if tt.group {
					pod = pod.PodGroupName("g")
				}
				api := &slowClaimAPI{Clientset: fake.NewClientset(
					st.MakeNode().Name("node1").Capacity(map[v1.ResourceName]string{v1.ResourceCPU: "1"}).Obj(),
					&storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: class}, Provisioner: "example.com/driver", VolumeBindingMode: &wait},
					claim,
					&schedulingv1beta1.PodGroup{
						ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "g", UID: "g"},
						Spec:       schedulingv1beta1.PodGroupSpec{SchedulingPolicy: schedulingv1beta1.PodGroupSchedulingPolicy{Basic: &schedulingv1beta1.BasicSchedulingPolicy{}}},
					},
					pod.Obj(),
				)}
				factory := informers.NewSharedInformerFactory(api, 0)
				sched, err := New(ctx, api, factory, nil, func(string) events.EventRecorderLogger { return &events.FakeRecorder{} })
				if err != nil {
					t.Fatal(err)
				}
				factory.Start(ctx.Done())
				factory.WaitForCacheSync(ctx.Done())
				if err := sched.WaitForHandlersSync(ctx); err != nil {
					t.Fatal(err)
				}
				go sched.Run(ctx)
				time.Sleep(time.Minute)
				if n := api.attempts.Load(); n == 0 {
					t.Error("the pod is not tried")
				} else if n > 10 { // after 1, 2, 4, 8 and 10 s, and so on
					t.Errorf("tried %d times within a minute, want at most 10", n)
				}
			})
		})
	}
}

// slowClaimAPI counts updates of claims, which take 20 ms.
type slowClaimAPI struct {
	*fake.Clientset
	attempts atomic.Int64
}

type slowClaimCore struct {
	corev1client.CoreV1Interface
	api *slowClaimAPI
}

type slowClaims struct {
	corev1client.PersistentVolumeClaimInterface
	api *slowClaimAPI
}

func (a *slowClaimAPI) CoreV1() corev1client.CoreV1Interface {
	return slowClaimCore{a.Clientset.CoreV1(), a}
}

func (c slowClaimCore) PersistentVolumeClaims(namespace string) corev1client.PersistentVolumeClaimInterface {
	return slowClaims{c.CoreV1Interface.PersistentVolumeClaims(namespace), c.api}
}

// Update is what the API server says: it must admit the claim as it is.
func (c slowClaims) Update(ctx context.Context, claim *v1.PersistentVolumeClaim, options metav1.UpdateOptions) (*v1.PersistentVolumeClaim, error) {
	time.Sleep(20 * time.Millisecond)
	c.api.attempts.Add(1)
	is, err := c.Get(ctx, claim.Name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	var before, after core.PersistentVolumeClaim
	if err := corev1.Convert_v1_PersistentVolumeClaim_To_core_PersistentVolumeClaim(is, &before, nil); err != nil {
		return nil, err
	}
	if err := corev1.Convert_v1_PersistentVolumeClaim_To_core_PersistentVolumeClaim(claim, &after, nil); err != nil {
		return nil, err
	}
	opts := validation.ValidationOptionsForPersistentVolumeClaim(&after, &before)
	if errs := validation.ValidatePersistentVolumeClaim(&before, opts); len(errs) > 0 {
		return c.PersistentVolumeClaimInterface.Update(ctx, claim, options)
	}
	if errs := validation.ValidatePersistentVolumeClaimUpdate(&after, &before, opts); len(errs) > 0 {
		return nil, apierrors.NewInvalid(core.Kind("PersistentVolumeClaim"), claim.Name, errs)
	}
	return c.PersistentVolumeClaimInterface.Update(ctx, claim, options)
}
