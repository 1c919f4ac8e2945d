package corpus

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/preemptcheck/preemptcheck/model"
)

// DumpKind is the kind of the document with which a dump that this program has written begins.
// It may be missing: kubectl writes none.
const DumpKind = "Dump"

// AboutDump is what a dump says of itself.
type AboutDump struct {
	// Redacted says that its names are pseudonyms.
	Redacted bool
	// Given is what its cluster was asked for.
	Given Given
}

// dumpDocument is the document with which a dump may begin.
type dumpDocument struct {
	metav1.TypeMeta `json:",inline"`
	Redacted        bool  `json:"redacted"`
	Given           Given `json:"given"`
}

// GetName makes it a manifest.Named.
func (*dumpDocument) GetName() string { return "" }

// ObjectWriter writes objects, each of an apiVersion and a kind, as a *manifest.Writer does,
// and a *manifest.JSONWriter.
type ObjectWriter interface {
	Write(apiVersion, kind string, object any) error
	Close() error
}

// WriteDump writes the objects of a cluster one after another as a dump, which reading
// takes as it takes one of kubectl. Values that reading fills in again are left out.
func WriteDump(out ObjectWriter, c *model.Cluster, about AboutDump) error {
	err := out.Write(APIVersion, DumpKind, &dumpDocument{Redacted: about.Redacted, Given: about.Given})
	for _, object := range objectsOf(c) {
		if err == nil {
			err = writeObject(out, object, true)
		}
	}
	if err == nil {
		err = out.Close()
	}
	if err != nil {
		return fmt.Errorf("writing the dump: %w", err)
	}
	return nil
}

// objectsOf are all objects of a cluster in the order in which they are written.
func objectsOf(c *model.Cluster) []kruntime.Object {
	return slices.Concat(model.ObjectsOf(c.PriorityClasses), c.Extra, model.ObjectsOf(c.Nodes), model.ObjectsOf(c.PodDisruptionBudgets), model.ObjectsOf(c.Pods))
}

// writeObject writes an object, without the values that reading fills in if terse.
func writeObject(out ObjectWriter, object kruntime.Object, terse bool) error {
	kinds, _, err := scheme.Scheme.ObjectKinds(object)
	if err != nil {
		return err
	}
	apiVersion, kind := kinds[0].ToAPIVersionAndKind()
	if u, foreign := object.(*unstructured.Unstructured); foreign { // of a kind that is not Kubernetes' own
		content := u.DeepCopy().Object
		delete(content, "apiVersion")
		delete(content, "kind")
		return out.Write(apiVersion, kind, content)
	}
	object = object.DeepCopyObject()
	object.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{}) // written first
	if terse {
		dropDefaults(object)
	}
	return out.Write(apiVersion, kind, object)
}
