package outside

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

// API is an API server in memory, for the clients that plugins make of the scheduler's kubeconfig. It serves objects of
// some kinds. There is no network: a client in a bubble with a clock of its own must not wait for what is outside.
type API struct {
	// Wrote is told of each write; no object changes by it.
	Wrote func(what string)

	kinds   []Kind
	mu      sync.Mutex
	objects map[string]map[string]*unstructured.Unstructured // by resource and key
	version int
	events  []event // of which those before first are forgotten
	first   int     // version
	watches map[*watch]bool
}

type event struct {
	version  int
	resource string
	line     []byte
}

// initialEventsEnd is the annotation of the bookmark that ends what was there from the start; metav1 names it from 1.30 on.
const initialEventsEnd = "k8s.io/initial-events-end"

// keptEvents is how many are kept for watches that begin in the past.
const keptEvents = 10_000

// NewAPI makes one without objects.
func NewAPI(kinds []Kind) *API {
	a := &API{kinds: kinds, objects: map[string]map[string]*unstructured.Unstructured{}, version: 1, watches: map[*watch]bool{}, Wrote: func(string) {}}
	for _, k := range kinds {
		a.objects[k.id()] = map[string]*unstructured.Unstructured{}
	}
	return a
}

// id is the resource with its group.
func (k Kind) id() string { return k.group() + "/" + k.Resource }

func (k Kind) group() string {
	group, version, _ := strings.Cut(k.APIVersion, "/")
	if version == "" {
		return ""
	}
	return group
}

func (k Kind) version() string { return k.APIVersion[strings.LastIndex(k.APIVersion, "/")+1:] }

// Config is how clients come to it.
func (a *API) Config() *rest.Config {
	return &rest.Config{Host: "http://in-memory.invalid", Transport: a, QPS: -1}
}

// Serves tells whether there may be objects of a kind.
func (a *API) Serves(apiVersion, kind string) bool { return a.kind(apiVersion, kind) != nil }

func (a *API) kind(apiVersion, kind string) *Kind {
	for i, k := range a.kinds {
		if k.APIVersion == apiVersion && k.Kind == kind {
			return &a.kinds[i]
		}
	}
	return nil
}

// Set creates an object, or puts it in the place of the one of its name.
func (a *API) Set(object []byte) error {
	o := &unstructured.Unstructured{}
	if err := json.Unmarshal(object, &o.Object); err != nil {
		return err
	}
	k := a.kind(o.GetAPIVersion(), o.GetKind())
	if k == nil {
		return fmt.Errorf("%s %s is none of the kinds that are served", o.GetAPIVersion(), o.GetKind())
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	what, key := "ADDED", keyOf(o)
	if a.objects[k.id()][key] != nil {
		what = "MODIFIED"
	}
	if o.GetUID() == "" {
		_ = unstructured.SetNestedField(o.Object, o.GetKind()+" "+key, "metadata", "uid")
	}
	a.objects[k.id()][key] = o
	a.tell(what, k, o)
	return nil
}

// Delete deletes an object.
func (a *API) Delete(apiVersion, kind, namespace, name string) error {
	k := a.kind(apiVersion, kind)
	if k == nil {
		return fmt.Errorf("%s %s is none of the kinds that are served", apiVersion, kind)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	key := namespace + "/" + name
	o := a.objects[k.id()][key]
	if o == nil {
		return fmt.Errorf("there is no %s %s", kind, key)
	}
	delete(a.objects[k.id()], key)
	a.tell("DELETED", k, o)
	return nil
}

// Get is an object; nil if there is none.
func (a *API) Get(apiVersion, kind, namespace, name string) []byte {
	a.mu.Lock()
	defer a.mu.Unlock()
	if k := a.kind(apiVersion, kind); k != nil {
		if o := a.objects[k.id()][namespace+"/"+name]; o != nil {
			data, _ := json.Marshal(o.Object) // it was JSON
			return data
		}
	}
	return nil
}

// Clear deletes all objects.
func (a *API) Clear() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i := range a.kinds {
		k := &a.kinds[i]
		for key, o := range a.objects[k.id()] {
			delete(a.objects[k.id()], key)
			a.tell("DELETED", k, o)
		}
	}
}

func keyOf(o *unstructured.Unstructured) string { return o.GetNamespace() + "/" + o.GetName() }

func (a *API) tell(what string, k *Kind, o *unstructured.Unstructured) {
	a.version++
	o.SetResourceVersion(strconv.Itoa(a.version))
	a.events = append(a.events, event{a.version, k.id(), line(what, o.Object)})
	if len(a.events) > 2*keptEvents {
		a.events = slices.Clone(a.events[keptEvents:])
		a.first = a.events[0].version
	}
	for w := range a.watches {
		if w.resource == k.id() {
			w.add(a.events[len(a.events)-1].line)
		}
	}
}

func line(what string, object any) []byte {
	data, _ := json.Marshal(map[string]any{"type": what, "object": object}) // it was JSON
	return append(data, '\n')
}

// RoundTrip implements http.RoundTripper.
func (a *API) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		defer r.Body.Close()
	}
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	group, version := "", ""
	switch {
	case parts[0] == "version":
		return answer(r, http.StatusOK, map[string]string{"major": "1", "minor": "0", "gitVersion": "v1.0.0"})
	case parts[0] == "api" && len(parts) == 1:
		return answer(r, http.StatusOK, metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: []string{"v1"}})
	case parts[0] == "apis" && len(parts) == 1:
		return answer(r, http.StatusOK, a.groups())
	case parts[0] == "apis" && len(parts) == 2:
		for _, g := range a.groups().Groups {
			if g.Name == parts[1] {
				g.TypeMeta = metav1.TypeMeta{Kind: "APIGroup", APIVersion: "v1"}
				return answer(r, http.StatusOK, g)
			}
		}
		return notFound(r)
	case parts[0] == "api":
		version, parts = parts[1], parts[2:]
	case parts[0] == "apis":
		group, version, parts = parts[1], parts[2], parts[3:]
	default:
		return notFound(r)
	}
	if len(parts) == 0 {
		return a.resources(r, group, version)
	}
	namespace := ""
	if parts[0] == "namespaces" && len(parts) > 2 {
		namespace, parts = parts[1], parts[2:]
	}
	var k *Kind
	for i := range a.kinds {
		if a.kinds[i].group() == group && a.kinds[i].version() == version && a.kinds[i].Resource == parts[0] {
			k = &a.kinds[i]
		}
	}
	if k == nil {
		return notFound(r)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	name := ""
	if len(parts) > 1 {
		name = parts[1]
	}
	o := a.objects[k.id()][namespace+"/"+name]
	switch {
	case r.Method != http.MethodGet:
		a.Wrote(fmt.Sprintf("%s %s %s", strings.ToLower(r.Method), strings.Join(parts, "/"), namespace))
		if o == nil {
			return notFound(r)
		}
		return answer(r, http.StatusOK, o.Object)
	case name != "" && o == nil:
		return notFound(r)
	case name != "":
		return answer(r, http.StatusOK, o.Object)
	case r.URL.Query().Get("watch") == "true" || r.URL.Query().Get("watch") == "1":
		return a.watch(r, k)
	}
	return answer(r, http.StatusOK, map[string]any{"apiVersion": k.APIVersion, "kind": k.Kind + "List",
		"metadata": map[string]any{"resourceVersion": strconv.Itoa(a.version)}, "items": a.list(k, namespace)})
}

// list are the objects of a kind, sorted by name.
func (a *API) list(k *Kind, namespace string) []map[string]any {
	all := []map[string]any{}
	var keys []string
	for key, o := range a.objects[k.id()] {
		if namespace == "" || o.GetNamespace() == namespace {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	for _, key := range keys {
		all = append(all, a.objects[k.id()][key].Object)
	}
	return all
}

func (a *API) groups() *metav1.APIGroupList {
	list := &metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}}
	for _, k := range a.kinds {
		if k.group() == "" {
			continue
		}
		i := slices.IndexFunc(list.Groups, func(g metav1.APIGroup) bool { return g.Name == k.group() })
		if i < 0 {
			i = len(list.Groups)
			list.Groups = append(list.Groups, metav1.APIGroup{Name: k.group()})
		}
		g, v := &list.Groups[i], metav1.GroupVersionForDiscovery{GroupVersion: k.APIVersion, Version: k.version()}
		if !slices.Contains(g.Versions, v) {
			g.Versions = append(g.Versions, v)
		}
		g.PreferredVersion = g.Versions[0]
	}
	return list
}

func (a *API) resources(r *http.Request, group, version string) (*http.Response, error) {
	list := &metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: schema.GroupVersion{Group: group, Version: version}.String()}
	for _, k := range a.kinds {
		if k.group() == group && k.version() == version {
			list.APIResources = append(list.APIResources, metav1.APIResource{Name: k.Resource, SingularName: strings.ToLower(k.Kind), Kind: k.Kind, Namespaced: k.Namespaced,
				Verbs: metav1.Verbs{"get", "list", "watch", "create", "update", "patch", "delete"}})
		}
	}
	if len(list.APIResources) == 0 && group != "" {
		return notFound(r)
	}
	return answer(r, http.StatusOK, list)
}

func answer(r *http.Request, code int, body any) (*http.Response, error) {
	data, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	return respond(r, code, io.NopCloser(bytes.NewReader(data))), nil
}

func respond(r *http.Request, code int, body io.ReadCloser) *http.Response {
	return &http.Response{Status: http.StatusText(code), StatusCode: code, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, ContentLength: -1,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: body, Request: r}
}

func notFound(r *http.Request) (*http.Response, error) {
	return answer(r, http.StatusNotFound, &metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure,
		Reason: metav1.StatusReasonNotFound, Code: http.StatusNotFound, Message: "there is no " + r.URL.Path})
}

// watch is one that is open.
type watch struct {
	resource string
	mu       sync.Mutex
	lines    [][]byte
	more     chan struct{} // has room for one: there are lines
}

func (w *watch) add(line []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lines = append(w.lines, line)
	select {
	case w.more <- struct{}{}:
	default:
	}
}

// watch opens one. The lock is held.
func (a *API) watch(r *http.Request, k *Kind) (*http.Response, error) {
	w := &watch{resource: k.id(), more: make(chan struct{}, 1)}
	from, err := strconv.Atoi(r.URL.Query().Get("resourceVersion"))
	if r.URL.Query().Get("sendInitialEvents") == "true" || err != nil || from == 0 {
		for _, o := range a.list(k, "") {
			w.add(line("ADDED", o))
		}
		end := map[string]any{"apiVersion": k.APIVersion, "kind": k.Kind, "metadata": map[string]any{"resourceVersion": strconv.Itoa(a.version),
			"annotations": map[string]any{initialEventsEnd: "true"}}}
		if r.URL.Query().Get("allowWatchBookmarks") == "true" {
			w.add(line("BOOKMARK", end))
		}
	} else {
		if from < a.first {
			return answer(r, http.StatusGone, &metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure,
				Reason: metav1.StatusReasonExpired, Code: http.StatusGone})
		}
		for _, e := range a.events {
			if e.version > from && e.resource == w.resource {
				w.add(e.line)
			}
		}
	}
	a.watches[w] = true
	in, out := io.Pipe()
	go func() {
		defer func() {
			a.mu.Lock()
			delete(a.watches, w)
			a.mu.Unlock()
			out.Close()
		}()
		for {
			select {
			case <-w.more:
			case <-r.Context().Done():
				return
			}
			w.mu.Lock()
			lines := w.lines
			w.lines = nil
			w.mu.Unlock()
			for _, l := range lines {
				if _, err := out.Write(l); err != nil {
					return
				}
			}
		}
	}()
	return respond(r, http.StatusOK, in), nil
}
