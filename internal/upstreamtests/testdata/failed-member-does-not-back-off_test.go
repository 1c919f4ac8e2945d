package scheduler

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/time/rate"
	v1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
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
// scheduler adds in PreBind: binding a pod that uses it fails each time. The scheduler's client makes 50 calls a
// second, and 100 at once, as it does by default. The clock is virtual.
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

	const others = 10
	for _, tt := range []struct {
		name   string
		pods   int
		groups bool
	}{
		{"a pod without a group", 1, false},
		{"a pod of a group", 1, true},
		{"fifty pods without groups", 50, false},
		{"fifty pods of fifty groups", 50, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer func() {
					cancel()
					time.Sleep(time.Minute)
				}()
				wait, class := storagev1.VolumeBindingWaitForFirstConsumer, "wait"
				objects := []runtime.Object{
					st.MakeNode().Name("node1").Capacity(map[v1.ResourceName]string{v1.ResourceCPU: "1", v1.ResourcePods: "100"}).Obj(),
					&storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: class}, Provisioner: "example.com/driver", VolumeBindingMode: &wait},
				}
				for i := range tt.pods {
					name := fmt.Sprint("bad", i)
					pod := st.MakePod().Namespace("default").Name(name).UID(name).PVC(name).SchedulerName(v1.DefaultSchedulerName)
					if tt.groups {
						pod = pod.PodGroupName(name)
						objects = append(objects, &schedulingv1beta1.PodGroup{
							ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name)},
							Spec:       schedulingv1beta1.PodGroupSpec{SchedulingPolicy: schedulingv1beta1.PodGroupSchedulingPolicy{Basic: &schedulingv1beta1.BasicSchedulingPolicy{}}},
						})
					}
					objects = append(objects, pod.Obj(), &v1.PersistentVolumeClaim{
						ObjectMeta: metav1.ObjectMeta{
							Namespace: "default", Name: name, UID: types.UID(name), ResourceVersion: "1", Annotations: map[string]string{"a": strings.Repeat("a", 256<<10-1)},
						},
						Spec: v1.PersistentVolumeClaimSpec{
							StorageClassName: &class,
							AccessModes:      []v1.PersistentVolumeAccessMode{v1.ReadWriteOnce},
							Resources:        v1.VolumeResourceRequirements{Requests: v1.ResourceList{v1.ResourceStorage: resource.MustParse("1Gi")}},
						},
					})
				}
				api := &limitedAPI{Clientset: fake.NewClientset(objects...), limit: rate.NewLimiter(50, 100)}
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
				n := int(api.attempts.Load())
				if n == 0 {
					t.Error("no pod is tried")
				} else if n > 10*tt.pods { // after 1, 2, 4, 8 and 10 s, and so on
					t.Errorf("pods were tried %d times within a minute, want at most %d", n, 10*tt.pods)
				}
				var took time.Duration
				for i := range others {
					name, began := fmt.Sprint("other", i), time.Now()
					other := st.MakePod().Namespace("default").Name(name).UID(name).SchedulerName(v1.DefaultSchedulerName).Obj()
					if _, err := api.Clientset.CoreV1().Pods("default").Create(ctx, other, metav1.CreateOptions{}); err != nil {
						t.Fatal(err)
					}
					for time.Since(began) < time.Minute {
						time.Sleep(10 * time.Millisecond)
						if p, err := api.Clientset.CoreV1().Pods("default").Get(ctx, name, metav1.GetOptions{}); err != nil {
							t.Fatal(err)
						} else if p.Spec.NodeName != "" {
							break
						}
					}
					took += time.Since(began)
					time.Sleep(time.Second)
				}
				if mean := took / others; mean > 500*time.Millisecond {
					t.Errorf("other pods are bound after %v on average, want at most 500ms", mean)
				}
			})
		})
	}
}

// limitedAPI counts updates of claims. A call takes 5 ms, after it has waited for its turn.
type limitedAPI struct {
	*fake.Clientset
	limit    *rate.Limiter
	attempts atomic.Int64
}

type limitedCore struct {
	corev1client.CoreV1Interface
	api *limitedAPI
}

type limitedPods struct {
	corev1client.PodInterface
	api *limitedAPI
}

type limitedClaims struct {
	corev1client.PersistentVolumeClaimInterface
	api *limitedAPI
}

func (a *limitedAPI) call(ctx context.Context) error {
	defer time.Sleep(5 * time.Millisecond)
	return a.limit.Wait(ctx)
}

func (a *limitedAPI) CoreV1() corev1client.CoreV1Interface {
	return limitedCore{a.Clientset.CoreV1(), a}
}

func (c limitedCore) Pods(namespace string) corev1client.PodInterface {
	return limitedPods{c.CoreV1Interface.Pods(namespace), c.api}
}

func (c limitedCore) PersistentVolumeClaims(namespace string) corev1client.PersistentVolumeClaimInterface {
	return limitedClaims{c.CoreV1Interface.PersistentVolumeClaims(namespace), c.api}
}

func (p limitedPods) Patch(ctx context.Context, name string, kind types.PatchType, data []byte, options metav1.PatchOptions, subresources ...string) (*v1.Pod, error) {
	if err := p.api.call(ctx); err != nil {
		return nil, err
	}
	return p.PodInterface.Patch(ctx, name, kind, data, options, subresources...)
}

func (p limitedPods) Bind(ctx context.Context, binding *v1.Binding, _ metav1.CreateOptions) error {
	if err := p.api.call(ctx); err != nil {
		return err
	}
	pod, err := p.Get(ctx, binding.Name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	pod = pod.DeepCopy()
	pod.Spec.NodeName = binding.Target.Name
	_, err = p.PodInterface.Update(ctx, pod, metav1.UpdateOptions{})
	return err
}

// Update is what the API server says: it must admit the claim as it is.
func (c limitedClaims) Update(ctx context.Context, claim *v1.PersistentVolumeClaim, options metav1.UpdateOptions) (*v1.PersistentVolumeClaim, error) {
	if err := c.api.call(ctx); err != nil {
		return nil, err
	}
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
