package redact_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/preemptcheck/preemptcheck/corpus/redact"
	"github.com/preemptcheck/preemptcheck/model"
)

// mark is in every text that is planted.
const mark = "secretmark"

// planter fills all there is to fill of an object: each text gets one of its own.
type planter struct {
	planted int
	// of makes the text: n counts.
	of func(n int) string
}

func (p *planter) text() string {
	p.planted++
	return p.of(p.planted)
}

func (p *planter) fill(v reflect.Value, depth int) {
	switch x := v.Addr().Interface().(type) {
	case *resource.Quantity:
		*x = resource.MustParse("1")
		return
	case *metav1.Time:
		x.Time = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
		return
	case *metav1.MicroTime, *metav1.FieldsV1, *runtime.RawExtension:
		return
	case *intstr.IntOrString:
		*x = intstr.FromString(p.text())
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(p.text())
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int32, reflect.Int64, reflect.Int:
		v.SetInt(1)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		p.fill(v.Elem(), depth+1)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				p.fill(v.Field(i), depth+1)
			}
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			v.SetBytes([]byte(p.text()))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			p.fill(v.Index(i), depth+1)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range 2 {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			p.fill(key, depth+1)
			p.fill(value, depth+1)
			v.SetMapIndex(key, value)
		}
	}
}

// everyKind is one object of each kind that may be in a dump, and of some that are none of its
// business.
func everyKind() *model.Cluster {
	return &model.Cluster{
		Nodes: []*v1.Node{{}}, Pods: []*v1.Pod{{}, {}}, PodDisruptionBudgets: []*policyv1.PodDisruptionBudget{{}}, PriorityClasses: []*schedulingv1.PriorityClass{{}},
		Extra: []runtime.Object{&v1.Namespace{}, &v1.PersistentVolumeClaim{}, &v1.PersistentVolume{}, &storagev1.StorageClass{}, &storagev1.CSINode{},
			&storagev1.CSIDriver{}, &storagev1.CSIStorageCapacity{}, &storagev1.VolumeAttachment{}, &resourcev1.ResourceClaim{}, &resourcev1.ResourceSlice{}, &resourcev1.DeviceClass{},
			&resourcev1.DeviceTaintRule{}, &schedulingv1beta1.PodGroup{}, &schedulingv1alpha3.CompositePodGroup{}, &v1.Service{}, &v1.ReplicationController{},
			&appsv1.ReplicaSet{}, &appsv1.StatefulSet{}, &appsv1.Deployment{}, &batchv1.Job{}, &v1.Secret{}, &v1.ConfigMap{}, &v1.Event{}, &resourcev1.ResourceClaimTemplate{}},
	}
}

// leaks are the texts of a cluster with the mark in them. What is planted is in no form
// that its field has, so that it is also nowhere kept because of its form.
func leaks(t *testing.T, c *model.Cluster) (leaks []string) {
	objects := c.Objects()
	for i, o := range objects {
		text, err := json.Marshal(o)
		require.NoError(t, err)
		var decoded any
		require.NoError(t, json.Unmarshal(text, &decoded))
		find(decoded, fmt.Sprintf("%d %s", i, reflect.TypeOf(o).Elem().Name()), &leaks)
	}
	settings, err := json.Marshal(c.Settings)
	require.NoError(t, err)
	find(any(string(settings)), "settings", &leaks)
	find(any(c.PreemptorGroup), "preemptor", &leaks)
	return leaks
}

func find(v any, at string, leaks *[]string) {
	switch v := v.(type) {
	case string:
		if strings.Contains(strings.ToLower(v), mark) {
			*leaks = append(*leaks, at+": "+v)
		}
	case []any:
		for _, e := range v {
			find(e, at+"[]", leaks)
		}
	case map[string]any:
		for key, e := range v {
			find(key, at+" key", leaks)
			find(e, at+"."+key, leaks)
		}
	}
}

// Nothing that stands in any field of any object gets into the redacted cluster, whatever
// its form: not a letter of it is kept but for the words of the API, of which it is none.
func TestNothingLeaks(t *testing.T) {
	for name, of := range map[string]func(n int) string{
		"a name":                 func(n int) string { return fmt.Sprintf("%s%d", mark, n) },
		"in a domain":            func(n int) string { return fmt.Sprintf("%s%d.example.com/%[1]s%[2]d", mark, n) },
		"in a domain of ours":    func(n int) string { return fmt.Sprintf("kubernetes.io/%s%d", mark, n) },
		"a resource by requests": func(n int) string { return fmt.Sprintf("requests.%s%d/x", mark, n) },
		"pages":                  func(n int) string { return fmt.Sprintf("hugepages-%s%d", mark, n) },
		"attachable":             func(n int) string { return fmt.Sprintf("attachable-volumes-csi-%s%d", mark, n) },
		"of a device class":      func(n int) string { return fmt.Sprintf("deviceclass.resource.kubernetes.io/%s%d", mark, n) },
		"an AWS disk":            func(n int) string { return fmt.Sprintf("aws://%s%d/vol-%[1]s%[2]d", mark, n) },
		"an Azure disk":          func(n int) string { return fmt.Sprintf("/subscriptions/%s%d/x", mark, n) },
		"an iSCSI disk":          func(n int) string { return fmt.Sprintf("iqn.2001-04.com.%s:%d", mark, n) },
		"a message": func(n int) string {
			return fmt.Sprintf("%s%d: preempting to accommodate a higher priority pod", mark, n)
		},
		"two zones":            func(n int) string { return fmt.Sprintf("%s-%d-a__%[1]s-%[2]d-b", mark, n) },
		"a condition":          func(n int) string { return fmt.Sprintf(`device.driver == "%s%d"`, mark, n) },
		"a condition in CEL":   func(n int) string { return fmt.Sprintf(`device.attributes["%s%d"].x.startsWith("%[1]s")`, mark, n) },
		"an image":             func(n int) string { return fmt.Sprintf("%s%d.example.com/%[1]s:%[1]s@sha256:%[1]s", mark, n) },
		"a zone of an address": func(n int) string { return fmt.Sprintf("fe80::%x%%%s", n, mark) },
		"any address":          func(n int) string { return fmt.Sprintf("::%%%s%d", mark, n) },
		"a share":              func(n int) string { return fmt.Sprintf("%d%%%s", n, mark) },
		"plugins":              func(n int) string { return fmt.Sprintf("kubernetes.io/gce-pd,%s%d", mark, n) },
		"capitals":             func(n int) string { return strings.ToUpper(fmt.Sprintf("%s%d", mark, n)) },
		"one name for all":     func(int) string { return mark },
	} {
		t.Run(name, func(t *testing.T) {
			p := &planter{of: of}
			c := everyKind()
			for _, o := range c.Objects() {
				p.fill(reflect.ValueOf(o).Elem(), 0)
			}
			keyed(c, p)
			for _, o := range c.Extra { // which cannot be redacted, and is told
				if claim, is := o.(*resourcev1.ResourceClaim); is {
					for i := range claim.Spec.Devices.Requests {
						r := &claim.Spec.Devices.Requests[i]
						r.Exactly.DerivedAttributes = nil
						for j := range r.FirstAvailable {
							r.FirstAvailable[j].DerivedAttributes = nil
						}
					}
				}
			}
			c.PreemptorGroup = "podgroup/" + p.text() + "/" + p.text()
			c.Settings = model.Settings{SecondProfile: &model.Profile{}, Extenders: []model.Extender{{}}}
			p.fill(reflect.ValueOf(&c.Settings.SecondProfile.SchedulerName).Elem(), 0)
			p.fill(reflect.ValueOf(&c.Settings.Extenders).Elem(), 0)
			require.Greater(t, p.planted, 2000)
			out, names, err := redact.Cluster(c)
			require.NoError(t, err)
			assert.Empty(t, leaks(t, out))
			assert.NotEmpty(t, leaks(t, c))
			t.Logf("planted %d, replaced %d kinds of names", p.planted, len(names))
		})
	}
}

// keyed gives annotations and labels that are kept, or mean something, values with the mark.
func keyed(c *model.Cluster, p *planter) {
	for _, o := range c.Objects() {
		meta := o.(metav1.Object)
		for _, key := range []string{"volume.beta.kubernetes.io/storage-class", "volume.kubernetes.io/selected-node", "pv.kubernetes.io/bind-completed",
			"pv.kubernetes.io/bound-by-controller", "storage.alpha.kubernetes.io/migrated-plugins", "resource.kubernetes.io/extended-resource-claim", "resource.kubernetes.io/pod-claim-name"} {
			meta.GetAnnotations()[key] = p.text()
		}
		for _, key := range []string{"kubernetes.io/hostname", "kubernetes.io/metadata.name", "kubernetes.io/os", "kubernetes.io/arch", "topology.kubernetes.io/zone", "topology.kubernetes.io/region",
			"topology.gke.io/zone", "app.kubernetes.io/name"} {
			meta.GetLabels()[key] = p.text()
			if pod, is := o.(*v1.Pod); is {
				pod.Spec.NodeSelector[key] = p.text()
			}
		}
	}
}
