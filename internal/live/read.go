package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/corpus/manifest"
	"github.com/preemptcheck/preemptcheck/internal/words"
)

// pageSize is how many objects one answer holds, as of kubectl.
const pageSize = 500

// Cluster is a running cluster.
type Cluster struct {
	client *rest.RESTClient
	// Name stands for it in errors: the address of its API server.
	Name string
}

// Connect makes the client of a cluster, and asks it nothing yet.
func Connect(config *rest.Config) (*Cluster, error) {
	config = rest.CopyConfig(config)
	config.GroupVersion = &schema.GroupVersion{}
	config.NegotiatedSerializer = scheme.Codecs.WithoutConversion() // of errors
	config.AcceptContentTypes, config.ContentType = runtime.ContentTypeJSON, runtime.ContentTypeJSON
	config.QPS, config.Burst = 50, 100        // a page is much work for the server
	config.WarningHandler = rest.NoWarnings{} // of versions that will go: that is for us, not for the user
	client, err := rest.UnversionedRESTClientFor(config)
	if err != nil {
		return nil, err
	}
	return &Cluster{client, strings.TrimSuffix(config.Host, "/")}, nil
}

// Version is what the API server says of its release, as "v1.35.2".
func (c *Cluster) Version(ctx context.Context) (string, error) {
	data, err := get(ctx, c.client.Get().AbsPath("/version"))
	if err != nil {
		return "", fmt.Errorf("%s: which release is it? %w", c.Name, err)
	}
	var info version.Info
	if err := json.Unmarshal(data, &info); err != nil {
		return "", fmt.Errorf("%s: /version: %w", c.Name, err)
	}
	return info.GitVersion, nil
}

// Progress is called after each page, with what has been read so far.
type Progress func(resource string, objects int)

// Read reads the cluster. Kinds that the server lacks are left out knowingly: there are none. Those
// that it does not tell are named in the notes, and in what the stream says is not modelled. It is
// an error if one is required.
func (c *Cluster) Read(ctx context.Context, progress Progress) (*corpus.Stream, error) {
	given := corpus.Given{}
	var objects []manifest.Object
	var notes []string
	var errs []error
	for _, kind := range Kinds() {
		read, err := c.list(ctx, kind, func(n int) { progress(kind.Resource, len(objects)+n) })
		if err == nil {
			given[kind.Resource] = ""
			objects = append(objects, read...)
			continue
		}
		why, err := c.missing(ctx, kind, err)
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("%s: %s: %w", c.Name, kind.Resource, err))
		case why == "":
			given[kind.Resource] = ""
		case kind.Required:
			errs = append(errs, fmt.Errorf("%s: %s: %s; \"preemptcheck rbac\" prints the role that it takes", c.Name, kind.Resource, why))
		default:
			given[kind.Resource] = why
			notes = append(notes, fmt.Sprintf("%s: %s; without them it cannot be said %s", kind.Resource, why, kind.Without))
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	objects, moved := placed(objects)
	if len(moved) > 0 {
		notes = append(notes, fmt.Sprintf("left out %s on nodes that were deleted meanwhile: %s", words.Plural(len(moved), "pod"), words.Some(moved, 3)))
	}
	s, err := corpus.FromObjects(objects, given, c.Name)
	if err != nil {
		return nil, err
	}
	s.Notes = append(notes, s.Notes...)
	return s, nil
}

// get is an answer of the server, or the error that it states.
func get(ctx context.Context, request *rest.Request) ([]byte, error) {
	answer := request.Do(ctx)
	if err := answer.Error(); err != nil { // decoded, which that of Raw is not
		return nil, err
	}
	return answer.Raw()
}

// page is what the answer to a list says of itself.
type page struct {
	Metadata metav1.ListMeta `json:"metadata"`
}

// list lists all objects of a kind. Should the server have forgotten what it listed before the last
// page is asked for, it is asked anew: at the last attempt for all at once, as client-go's pager
// does (client-go/tools/pager/pager.go:80@v0.37.1, List). The pages of one list are of one instant.
func (c *Cluster) list(ctx context.Context, kind Kind, progress func(n int)) (objects []manifest.Object, err error) {
	for attempt := range 3 {
		limit := pageSize
		if attempt == 2 {
			limit = 0
		}
		objects, err = c.listOnce(ctx, kind, limit, progress)
		if !apierrors.IsResourceExpired(err) && !apierrors.IsGone(err) {
			return objects, err
		}
	}
	return nil, err
}

func (c *Cluster) listOnce(ctx context.Context, kind Kind, limit int, progress func(n int)) (objects []manifest.Object, err error) {
	next := ""
	for {
		request := c.client.Get().AbsPath(kind.Path())
		if limit > 0 {
			request.Param("limit", strconv.Itoa(limit))
		}
		if next != "" {
			request.Param("continue", next)
		}
		data, err := get(ctx, request)
		if err != nil {
			return nil, err
		}
		var its page
		if err := json.Unmarshal(data, &its); err != nil {
			return nil, fmt.Errorf("is no list: %w", err)
		}
		read, wrong := manifest.Decode(data, func(string, string) manifest.Named { return nil })
		if wrong != nil {
			return nil, wrong
		}
		objects = append(objects, read...)
		progress(len(objects))
		if next = its.Metadata.Continue; next == "" {
			return objects, nil
		}
	}
}

// missing says why a kind could not be listed: "" if the server does not have it, so that there are
// none. The error is one that says nothing about the kind.
//
// A server says of a kind that it does not have that it is forbidden, too, unless the user might list
// it: whether it may is asked before what there is. So its groups are asked.
func (c *Cluster) missing(ctx context.Context, kind Kind, err error) (why string, _ error) {
	isForbidden := apierrors.IsForbidden(err)
	switch {
	case isForbidden && kind.Group == "":
		return "forbidden: " + reason(err), nil
	case !isForbidden && (!apierrors.IsNotFound(err) || kind.Group == ""):
		return "", err
	}
	versions, unknown := c.servedIn(ctx, kind)
	switch {
	case isForbidden && (unknown != nil || slices.Contains(versions, kind.GroupVersion.String())):
		return "forbidden: " + reason(err), nil
	case apierrors.IsForbidden(unknown):
		return "forbidden: whether the server has them", nil
	case unknown != nil:
		return "", unknown
	case len(versions) > 0:
		return fmt.Sprintf("the server has them in %s only, and %s is read", strings.Join(versions, ", "), kind.GroupVersion), nil
	}
	return "", nil
}

// reason is what a server says of an error, without the words that say the same again.
func reason(err error) string {
	if _, why, cut := strings.Cut(err.Error(), "is forbidden: "); cut {
		return why
	}
	return err.Error()
}

// servedIn are the versions of its group in which the server has a kind.
func (c *Cluster) servedIn(ctx context.Context, kind Kind) (served []string, err error) {
	data, err := get(ctx, c.client.Get().AbsPath("/apis/"+kind.Group))
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	var group metav1.APIGroup
	if err == nil {
		err = json.Unmarshal(data, &group)
	}
	if err != nil {
		return nil, err
	}
	for _, v := range group.Versions {
		data, err := get(ctx, c.client.Get().AbsPath("/apis/"+v.GroupVersion))
		if apierrors.IsNotFound(err) {
			continue
		}
		var all metav1.APIResourceList
		if err == nil {
			err = json.Unmarshal(data, &all)
		}
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(all.APIResources, func(r metav1.APIResource) bool { return r.Name == kind.Resource }) {
			served = append(served, v.GroupVersion)
		}
	}
	return served, nil
}

// placed leaves out the pods on nodes that were not listed: the lists are not of one instant. A
// pod that has terminated counts nowhere, and one of a group counts in its group wherever it is.
func placed(objects []manifest.Object) (kept []manifest.Object, moved []string) {
	nodes := map[string]bool{}
	for i := range objects {
		if n, ok := objects[i].Value.(*corev1.Node); ok {
			nodes[n.Name] = true
		}
	}
	kept = slices.DeleteFunc(objects, func(o manifest.Object) bool {
		p, ok := o.Value.(*corev1.Pod)
		gone := ok && p.Spec.NodeName != "" && !nodes[p.Spec.NodeName] && p.Spec.SchedulingGroup == nil && p.Status.Phase != corev1.PodSucceeded && p.Status.Phase != corev1.PodFailed
		if gone {
			moved = append(moved, p.Namespace+"/"+p.Name)
		}
		return gone
	})
	return kept, moved
}

// Pending are the pods that are on no node, as namespace/name: for completion, so they are asked for
// alone.
func (c *Cluster) Pending(ctx context.Context) (names []string, err error) {
	err = c.each(ctx, "/api/v1/pods", map[string]string{"fieldSelector": "spec.nodeName=,status.phase=Pending"}, func(o metav1.ObjectMeta) {
		names = append(names, o.Namespace+"/"+o.Name)
	})
	return names, err
}

// Namespaces are the names of all namespaces.
func (c *Cluster) Namespaces(ctx context.Context) (names []string, err error) {
	err = c.each(ctx, "/api/v1/namespaces", nil, func(o metav1.ObjectMeta) { names = append(names, o.Name) })
	return names, err
}

// each goes through the names of a list, of which one page is enough for people.
func (c *Cluster) each(ctx context.Context, path string, params map[string]string, do func(metav1.ObjectMeta)) error {
	request := c.client.Get().AbsPath(path).Param("limit", strconv.Itoa(pageSize))
	for name, value := range params {
		request.Param(name, value)
	}
	data, err := get(ctx, request)
	if err != nil {
		return err
	}
	var all struct {
		Items []struct {
			Metadata metav1.ObjectMeta `json:"metadata"`
		} `json:"items"`
	}
	if err := json.Unmarshal(data, &all); err != nil {
		return err
	}
	for _, item := range all.Items {
		do(item.Metadata)
	}
	return nil
}
