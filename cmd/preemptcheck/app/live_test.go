package app

import (
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/internal/terminal"
)

// small is an API server of a node that is full, and of a pod that may preempt another, which a
// budget protects, in each of two namespaces. Of other kinds it has none.
func small(version string) http.Handler {
	lists := map[string]string{
		"/api/v1/nodes":                        `"kind": "NodeList", "items": [{"metadata": {"name": "n1"}, "status": {"allocatable": {"cpu": "1", "memory": "1Gi", "pods": "110"}}}]`,
		"/api/v1/namespaces":                   `"kind": "NamespaceList", "items": [{"metadata": {"name": "shop"}}, {"metadata": {"name": "blog"}}]`,
		"/api/v1/persistentvolumes":            `"kind": "PersistentVolumeList", "items": []`,
		"/api/v1/persistentvolumeclaims":       `"kind": "PersistentVolumeClaimList", "items": []`,
		"/apis/policy/v1/poddisruptionbudgets": `"kind": "PodDisruptionBudgetList", "items": [{"metadata": {"name": "old", "namespace": "blog"}, "spec": {"selector": {"matchLabels": {"app": "old"}}}, "status": {"disruptionsAllowed": 0}}]`,
		"/api/v1/pods": `"kind": "PodList", "items": [
			{"metadata": {"name": "old", "namespace": "blog", "labels": {"app": "old"}}, "spec": {"nodeName": "n1", "priority": 1, "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}]}},
			{"metadata": {"name": "web", "namespace": "shop", "labels": {"app": "web"}}, "spec": {"priority": 9, "schedulerName": "default-scheduler", "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}]}},
			{"metadata": {"name": "post", "namespace": "blog"}, "spec": {"priority": 8, "schedulerName": "default-scheduler", "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}]}}]`,
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch list := lists[r.URL.Path]; {
		case r.URL.Path == "/version":
			w.Write([]byte(`{"gitVersion": "` + version + `"}`))
		case list != "":
			version := strings.TrimPrefix(strings.TrimPrefix(path.Dir(r.URL.Path), "/apis/"), "/api/")
			w.Write([]byte(`{"apiVersion": "` + version + `", "metadata": {"resourceVersion": "1"}, ` + list + `}`))
		default:
			w.WriteHeader(http.StatusNotFound)
			w.Write([]byte(`{"apiVersion": "v1", "kind": "Status", "status": "Failure", "reason": "NotFound", "code": 404, "message": "the server could not find the requested resource"}`))
		}
	})
}

func TestLiveCluster(t *testing.T) {
	server := httptest.NewServer(small("v1.37.1"))
	defer server.Close()
	for _, test := range []struct {
		args    string
		status  int
		out     []string
		errOut  string
		without string
	}{
		{"check", terminal.Agrees, []string{"shop/web", "blog/post", "2 passed"}, "note: the server is v1.37.1; held against v1.37.1, the same release\n", ""},
		{"check -n shop", terminal.Agrees, []string{"shop/web", "1 passed"}, "", "blog/post"},
		{"check -l app=web", terminal.Agrees, []string{"shop/web", "1 passed"}, "", "blog/post"},
		{"check -n shop --pod web", terminal.Agrees, []string{"shop/web"}, "", ""},
		{"explain --pod shop/web --quiet", terminal.Agrees, []string{"Pod shop/web, priority 9", "blog/old is marked as DisruptionTarget and deleted"}, "", ""},
		{"exposure", terminal.Agrees, []string{"2 pods, 2 may preempt", "pod/blog/old   1", "1 too many", "2, by 2 pods"}, "held against v1.37.1, the same release", ""},
		{"exposure -n shop", terminal.CouldNot, nil, "error: --namespace: exposure is of the whole cluster", ""},
		{"dump", terminal.Agrees, []string{"name: old", "name: web"}, "The dump holds", ""},
		{"explain", terminal.CouldNot, nil, "error: --pod: which of the 2 pending pods is meant? shop/web, blog/post", ""},
		{"check -n elsewhere", terminal.CouldNot, nil, "error: there is neither a case nor a pod that waits for the default scheduler", ""},
		{"check -l app=", terminal.CouldNot, nil, "error: there is neither", ""},
		{"check -l =", terminal.CouldNot, nil, "error: --selector: ", ""},
		{"check -A -n shop", terminal.CouldNot, nil, "error: --all-namespaces: --namespace says otherwise", ""},
		{"check testdata/cases/preempts.yaml", terminal.CouldNot, nil, "error: --server: is for a live cluster, but there are files", ""},
		{"diff --from v1.37.1 --to v1.37.1", terminal.CouldNot, nil, "error: --to: v1.37.1 is also what it is compared with", ""},
	} {
		status, out, errOut := preemptcheck(t, "", append(strings.Fields(test.args), "--server", server.URL)...)
		require.Equal(t, test.status, status, "%s: %s", test.args, errOut)
		for _, want := range test.out {
			require.Contains(t, out, want, test.args)
		}
		require.Contains(t, errOut, test.errOut, test.args)
		if test.without != "" {
			require.NotContains(t, out, test.without, test.args)
		}
		if strings.Contains(test.args, "--quiet") {
			require.Empty(t, errOut)
		}
	}
}

// The server's version chooses the scheduler, and what cannot be run is said.
func TestAutoReference(t *testing.T) {
	emptyCache(t)
	for version, want := range map[string]string{
		"v1.37.4-eks": "note: the server is v1.37.4-eks; held against v1.37.1, the nearest release that can be run",
		"v1.35.2":     `note: the server is v1.35.2, and the nearest scheduler, v1.35.4, is not built: "preemptcheck references --build v1.35.4" builds it; held against v1.37.1`,
		"mine":        "note: the server is mine, which is no release of Kubernetes; held against v1.37.1",
	} {
		server := httptest.NewServer(small(version))
		status, _, errOut := preemptcheck(t, "", "check", "--server", server.URL)
		require.Zero(t, status, errOut)
		require.Contains(t, errOut, want)
		server.Close()
	}
}

// What is found on a live cluster is found again by the same flags.
func TestReproduceOnALiveCluster(t *testing.T) {
	server := httptest.NewServer(small("v1.37.1"))
	defer server.Close()
	_, out, _ := preemptcheck(t, "", "check", "--server", server.URL, "--reference", "careless", "-o", "json")
	require.Contains(t, out, "preemptcheck check --reference v1.37.1 --server "+server.URL+" --pod shop/web")
}

func TestRBAC(t *testing.T) {
	status, out, _ := preemptcheck(t, "", "rbac", "--service-account", "me", "--service-account-namespace", "tools")
	require.Zero(t, status)
	compare(t, "rbac", out)
}
