package live_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/preemptcheck/preemptcheck/internal/live"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/release"
)

// server is an API server that holds lists.
type server struct {
	mu sync.Mutex
	// lists are the objects by the path of their list, each as JSON without kind.
	lists map[string][]string
	// refuses says why a list is forbidden.
	refuses map[string]string
	// expire is how many more answers to a continued list are that it has expired.
	expire  int
	asked   []string
	version string
	groups  map[string]string // answers to other paths
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, r.Method+" "+r.URL.RequestURI())
	fail := func(code int, reason metav1.StatusReason, message string) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		json.NewEncoder(w).Encode(metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: "Failure", Reason: reason, Message: message, Code: int32(code)})
	}
	path, from := r.URL.Path, 0
	items, served := s.lists[path]
	switch {
	case path == "/version":
		fmt.Fprintf(w, `{"gitVersion": %q}`, s.version)
		return
	case s.groups[path] != "":
		fmt.Fprint(w, s.groups[path])
		return
	case s.refuses[path] != "":
		fail(http.StatusForbidden, metav1.StatusReasonForbidden, s.refuses[path])
		return
	case !served:
		fail(http.StatusNotFound, metav1.StatusReasonNotFound, "the server could not find the requested resource")
		return
	}
	if next := r.URL.Query().Get("continue"); next != "" {
		if s.expire > 0 {
			s.expire--
			fail(http.StatusGone, metav1.StatusReasonExpired, "The provided continue parameter is too old")
			return
		}
		from, _ = strconv.Atoi(next)
	}
	to, next := len(items), ""
	if limit, _ := strconv.Atoi(r.URL.Query().Get("limit")); limit > 0 && from+limit < to {
		to = from + limit
		next = strconv.Itoa(to)
	}
	kind := map[string]string{"pods": "Pod", "nodes": "Node"}[path[strings.LastIndex(path, "/")+1:]]
	if kind == "" {
		kind = "PodDisruptionBudget"
	}
	version := strings.TrimPrefix(strings.TrimPrefix(path[:strings.LastIndex(path, "/")], "/apis/"), "/api/")
	fmt.Fprintf(w, `{"kind": "%sList", "apiVersion": %q, "metadata": {"resourceVersion": "7", "continue": %q}, "items": [%s]}`, kind, version, next, strings.Join(items[from:to], ","))
}

// small is a server with two nodes, as many budgets as are told, and pods.
func small(pods int) *server {
	s := &server{version: "v1.35.2-eks-1234", refuses: map[string]string{}, groups: map[string]string{}, lists: map[string][]string{
		"/api/v1/nodes": {`{"metadata": {"name": "n1", "managedFields": [{"manager": "kubelet"}]}, "status": {"allocatable": {"cpu": "4", "pods": "110"}}}`},
	}}
	for _, kind := range live.Kinds() {
		if s.lists[kind.Path()] == nil && kind.Group == "" || kind.Group == "policy" {
			s.lists[kind.Path()] = []string{}
		}
	}
	for i := range pods {
		node := ""
		if i > 0 {
			node = `"nodeName": "n1", `
		}
		s.lists["/api/v1/pods"] = append(s.lists["/api/v1/pods"], fmt.Sprintf(
			`{"metadata": {"namespace": "shop", "name": "p%d", "labels": {"app": "web"}}, "spec": {%s"priority": 5, "schedulerName": "default-scheduler", "containers": [{"name": "c", "image": "i"}]}}`, i, node))
	}
	return s
}

func connect(t *testing.T, s *server) *live.Cluster {
	at := httptest.NewServer(s)
	t.Cleanup(at.Close)
	c, err := live.Connect(&rest.Config{Host: at.URL})
	require.NoError(t, err)
	return c
}

func ignore(string, int) {}

func TestReadsPageByPage(t *testing.T) {
	s := small(1203)
	stream, err := connect(t, s).Read(t.Context(), ignore)
	require.NoError(t, err)
	require.Len(t, stream.Dump.Pods, 1203)
	require.Len(t, stream.Dump.Nodes, 1)
	require.Empty(t, stream.Dump.Nodes[0].ManagedFields)
	require.Empty(t, stream.Notes)
	require.Len(t, stream.Cases, 1)
	require.Equal(t, "shop/p0", stream.Cases[0].Name)
	require.Len(t, stream.Cases[0].Cluster.Pods, 1202)
	var pages []string
	for _, asked := range s.asked {
		require.True(t, strings.HasPrefix(asked, "GET "))
		if strings.HasPrefix(asked, "GET /api/v1/pods") {
			pages = append(pages, asked)
		}
	}
	require.Equal(t, []string{"GET /api/v1/pods?limit=500", "GET /api/v1/pods?continue=500&limit=500", "GET /api/v1/pods?continue=1000&limit=500"}, pages)
}

// A list that expires on the way is read again, and no object twice.
func TestExpiredListIsReadAgain(t *testing.T) {
	for expire, last := range map[int]string{1: "continue=1000&limit=500", 2: "GET /api/v1/pods"} {
		s := small(1203)
		s.expire = expire
		stream, err := connect(t, s).Read(t.Context(), ignore)
		require.NoError(t, err)
		require.Len(t, stream.Dump.Pods, 1203)
		var asked string
		for _, one := range s.asked {
			if strings.HasPrefix(one, "GET /api/v1/pods") {
				asked = one
			}
		}
		require.True(t, strings.HasSuffix(asked, last), asked)
	}
}

// What the server lacks there is none of; what it does not tell is named, and decisions that
// depend on it are not made.
func TestForbiddenKinds(t *testing.T) {
	s := small(2)
	s.groups["/apis/policy"] = `{"kind": "APIGroup", "versions": [{"groupVersion": "policy/v1", "version": "v1"}]}`
	s.groups["/apis/policy/v1"] = `{"kind": "APIResourceList", "resources": [{"name": "poddisruptionbudgets"}]}`
	s.refuses["/apis/policy/v1/poddisruptionbudgets"] = `poddisruptionbudgets.policy is forbidden: User "x" cannot list resource "poddisruptionbudgets"`
	stream, err := connect(t, s).Read(t.Context(), ignore)
	require.NoError(t, err)
	require.Equal(t, []string{`poddisruptionbudgets: forbidden: User "x" cannot list resource "poddisruptionbudgets"; without them it cannot be said which budgets a preemption violates, and so which node and which pods it takes`}, stream.Notes)
	require.Len(t, stream.Cases, 1)
	require.Equal(t, `not modelled: Cluster: poddisruptionbudgets: the poddisruptionbudgets are not known: forbidden: User "x" cannot list resource "poddisruptionbudgets"`,
		model.Unmodelled(stream.Cases[0].Cluster.NotGiven).Error())

	s = small(2)
	s.refuses["/api/v1/nodes"] = `nodes is forbidden: User "x" cannot list resource "nodes"`
	_, err = connect(t, s).Read(t.Context(), ignore)
	require.ErrorContains(t, err, `nodes: forbidden: User "x" cannot list resource "nodes"; "preemptcheck rbac" prints the role that it takes`)
}

// A server forbids what it does not have, too: whoever may not list it is told there is none.
func TestForbiddenKindsThatAreNotThere(t *testing.T) {
	s := small(2)
	const groups, sets = "/apis/scheduling.k8s.io/v1beta1/podgroups", "/apis/storage.k8s.io/v1/csinodes"
	s.refuses[groups], s.refuses[sets] = "podgroups.scheduling.k8s.io is forbidden: no", "csinodes.storage.k8s.io is forbidden: no"
	s.groups["/apis/storage.k8s.io"] = `{"kind": "APIGroup", "versions": [{"groupVersion": "storage.k8s.io/v1", "version": "v1"}]}`
	s.groups["/apis/storage.k8s.io/v1"] = `{"kind": "APIResourceList", "resources": [{"name": "csinodes"}]}`
	stream, err := connect(t, s).Read(t.Context(), ignore)
	require.NoError(t, err)
	require.Equal(t, []string{"csinodes: forbidden: no; without them it cannot be said how many volumes a node takes"}, stream.Notes)

	s.refuses["/apis/storage.k8s.io"] = "forbidden" // then nobody knows
	delete(s.groups, "/apis/storage.k8s.io")
	stream, err = connect(t, s).Read(t.Context(), ignore)
	require.NoError(t, err)
	require.Contains(t, stream.Notes, "csinodes: forbidden: no; without them it cannot be said how many volumes a node takes")
	require.Contains(t, stream.Notes, "csidrivers: forbidden: whether the server has them; without them it cannot be said whether storage has room for an unbound volume")
	require.Len(t, stream.Notes, 5)
}

// An older server has a kind in another version: that is not to have none.
func TestOtherVersions(t *testing.T) {
	s := small(1)
	s.groups["/apis/resource.k8s.io"] = `{"kind": "APIGroup", "versions": [{"groupVersion": "resource.k8s.io/v1beta1", "version": "v1beta1"}]}`
	s.groups["/apis/resource.k8s.io/v1beta1"] = `{"kind": "APIResourceList", "resources": [{"name": "resourceclaims"}]}`
	stream, err := connect(t, s).Read(t.Context(), ignore)
	require.NoError(t, err)
	require.Equal(t, []string{"resourceclaims: the server has them in resource.k8s.io/v1beta1 only, and resource.k8s.io/v1 is read; without them it cannot be said which devices are taken, and where pods with devices fit"}, stream.Notes)
}

// The lists are of different instants: a pod may be on a node that is gone by now.
func TestPodsOfNodesThatAreGone(t *testing.T) {
	s := small(3)
	s.lists["/api/v1/pods"] = append(s.lists["/api/v1/pods"], `{"metadata": {"namespace": "shop", "name": "late"}, "spec": {"nodeName": "gone", "containers": [{"name": "c", "image": "i"}]}}`)
	stream, err := connect(t, s).Read(t.Context(), ignore)
	require.NoError(t, err)
	require.Len(t, stream.Dump.Pods, 3)
	require.Equal(t, []string{"left out 1 pod on nodes that were deleted meanwhile: shop/late"}, stream.Notes)
}

func TestNotACluster(t *testing.T) {
	s := small(1)
	s.lists["/api/v1/nodes"] = []string{`{"metadata": {"name": 7}}`}
	_, err := connect(t, s).Read(t.Context(), ignore)
	require.ErrorContains(t, err, "nodes: ")

	c, err := live.Connect(&rest.Config{Host: "http://127.0.0.1:1"})
	require.NoError(t, err)
	_, err = c.Read(t.Context(), ignore)
	require.ErrorContains(t, err, "connection refused")
}

func TestVersion(t *testing.T) {
	version, err := connect(t, small(0)).Version(t.Context())
	require.NoError(t, err)
	require.Equal(t, "v1.35.2-eks-1234", version)
}

func TestNearest(t *testing.T) {
	all := []release.Release{{Minor: 27, Patch: 16}, {Minor: 31, Patch: 0}, {Minor: 31, Patch: 14}, {Minor: 35, Patch: 4}, {Minor: 37, Patch: 0}, {Minor: 37, Patch: 1}}
	for version, want := range map[string]string{
		"v1.35.2-eks-1234": "v1.35.4", "v1.37.1+k3s1": "v1.37.1", "v1.37.5": "v1.37.1", "v1.38.0-alpha.1": "v1.37.1", "v1.31.7": "v1.31.0", "v1.31.8": "v1.31.14",
		"v1.29.3": "v1.27.16", "v1.37.10": "v1.37.1", "v1.36.0": "v1.35.4", "v1.20.1": "v1.27.16",
	} {
		nearest, exact, ok := live.Nearest(version, all)
		require.True(t, ok)
		require.Equal(t, want, nearest.String(), version)
		require.Equal(t, version == "v1.37.1+k3s1", exact, version)
	}
	for _, version := range []string{"", "1.35.2", "v2.0.0", "vanilla"} {
		_, _, ok := live.Nearest(version, all)
		require.False(t, ok, version)
	}
}

// The role lets list each kind, and do nothing else.
func TestRole(t *testing.T) {
	allowed := 0
	for _, rule := range live.Role().Rules {
		require.Equal(t, []string{"list"}, rule.Verbs)
		require.Len(t, rule.APIGroups, 1)
		allowed += len(rule.Resources)
	}
	require.Equal(t, len(live.Kinds()), allowed)
}
