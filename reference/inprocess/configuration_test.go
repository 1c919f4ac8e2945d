package inprocess

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/internal/testsize"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/configuration"
	"github.com/preemptcheck/preemptcheck/reference/linked"
)

const head = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"

// configuredBy are settings with a configuration.
func configuredBy(t *testing.T, text string) model.Settings {
	t.Helper()
	read, err := linked.ReadConfiguration([]byte(head + text))
	require.NoError(t, err)
	return model.Settings{Configuration: read}
}

// fullNodes is a cluster whose preemptor takes the place of the one pod of any of its nodes.
func fullNodes(nodes int, settings model.Settings, change ...func(*v1.Pod)) *model.Cluster {
	parts := []any{settings}
	for i := range nodes {
		name := fmt.Sprintf("n%d", i)
		parts = append(parts, mk.Node(name, "1"), mk.Pod(name, 1, mk.CPU("1"), mk.On(name), mk.Started(i)))
	}
	return mk.Cluster(mk.Pod("p", 9, append([]func(*v1.Pod){mk.CPU("1")}, change...)...), parts...)
}

// decides says what the scheduler does, and that the model allows it.
func decides(t *testing.T, c *model.Cluster) (*model.Observation, string) {
	t.Helper()
	system := New()
	defer system.Close()
	o := observe(t, system, c)
	if set, err := answers.Decide(c, answers.Documented()); err == nil {
		assert.Nil(t, set.Admits(o))
	} else {
		require.ErrorAs(t, err, new(model.Unmodelled))
	}
	switch {
	case o.Pick != nil:
		return o, "preempts on " + o.Pick.Node
	case o.ScheduledTo != "":
		return o, "runs on " + o.ScheduledTo
	case o.CycleError != "":
		return o, "error"
	}
	return o, "waits"
}

// Each argument that is set changes what the scheduler does, and the model says the same.
func TestArgumentsCount(t *testing.T) {
	onlyOn := func(node string) string {
		return `
  - name: NodeAffinity
    args:
      addedAffinity:
        requiredDuringSchedulingIgnoredDuringExecution:
          nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: [` + node + `]}]}]
`
	}
	gpu := func(p *v1.Pod) {
		p.Spec.Containers[0].Resources.Requests = mk.Resources("cpu", "1", "example.com/gpu", "1")
	}
	elsewhere := func(p *v1.Pod) { p.Spec.NodeSelector = map[string]string{"is": "elsewhere"} }
	for _, tt := range []struct {
		name, text, without, with string
		change                    func(*v1.Pod)
	}{
		{"added affinity", "profiles:\n- pluginConfig:" + onlyOn("n0"), "preempts on n2", "preempts on n0", nil},
		{"ignored resources", "profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {ignoredResources: [example.com/gpu]}}]}]", "waits", "preempts on n2", gpu},
		{"ignored groups of resources", "profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {ignoredResourceGroups: [example.com]}}]}]", "waits", "preempts on n2", gpu},
		{"resources of an extender", "extenders: [{urlPrefix: 'http://127.0.0.1:1', managedResources: [{name: example.com/gpu, ignoredByScheduler: true}]}]",
			"waits", "preempts on n2", gpu},
		{"no NodeAffinity", "profiles: [{plugins: {multiPoint: {disabled: [{name: NodeAffinity}]}}}]", "waits", "preempts on n2", elsewhere},
		{"no NodeAffinity at two points", "profiles: [{plugins: {preFilter: {disabled: [{name: NodeAffinity}]}, filter: {disabled: [{name: NodeAffinity}]}}}]",
			"waits", "preempts on n2", elsewhere},
		{"no NodeResourcesFit", "profiles: [{plugins: {multiPoint: {disabled: [{name: NodeResourcesFit}]}}}]", "preempts on n2", "runs on n0", nil},
		{"few candidates", "profiles: [{pluginConfig: [{name: DefaultPreemption, args: {minCandidateNodesPercentage: 0, minCandidateNodesAbsolute: 1}}]}]",
			"preempts on n2", "preempts on n0", nil},
		{"no preemption", "profiles: [{plugins: {postFilter: {disabled: [{name: DefaultPreemption}]}}}]", "preempts on n2", "waits", nil},
		{"no plugin at postFilter", "profiles: [{plugins: {postFilter: {disabled: [{name: '*'}]}}}]", "preempts on n2", "waits", nil},
		{"preemption nowhere", "profiles: [{plugins: {multiPoint: {disabled: [{name: DefaultPreemption}]}}}]", "preempts on n2", "waits", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			change := func(p *v1.Pod) {
				if tt.change != nil {
					tt.change(p)
				}
			}
			_, without := decides(t, fullNodes(3, configuredBy(t, ""), change))
			assert.Equal(t, tt.without, without, "without")
			_, with := decides(t, fullNodes(3, configuredBy(t, tt.text), change))
			assert.Equal(t, tt.with, with, "with")
		})
	}
}

// A pod is scheduled by the profile that it names, and by no other.
func TestProfiles(t *testing.T) {
	settings := configuredBy(t, "profiles: [{schedulerName: a}, {schedulerName: b, plugins: {postFilter: {disabled: [{name: '*'}]}}}]")
	assert.Equal(t, []string{"a", "b"}, settings.Schedulers())
	named := func(name string) func(*v1.Pod) { return func(p *v1.Pod) { p.Spec.SchedulerName = name } }
	_, a := decides(t, fullNodes(1, settings, named("a")))
	assert.Equal(t, "preempts on n0", a)
	_, b := decides(t, fullNodes(1, settings, named("b"), mk.Nominated("n0")))
	assert.Equal(t, "waits", b)
	system := New()
	defer system.Close()
	_, err := system.Observe(t.Context(), fullNodes(1, settings))
	assert.ErrorContains(t, err, `is for the scheduler "default-scheduler"`)
}

// What only making a scheduler finds out is an error, too.
func TestConfigurable(t *testing.T) {
	assert.NoError(t, Configurable(configuredBy(t, "parallelism: 3")))
	assert.ErrorContains(t, Configurable(configuredBy(t, "profiles: [{plugins: {bind: {disabled: [{name: '*'}]}}}]")), "at least one bind plugin is needed")
}

// TestExtenderOverTLS: an extender of the configuration is asked over HTTPS, and is trusted by the certificate there.
func TestExtenderOverTLS(t *testing.T) {
	asked := map[string]int{}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /filter", func(out http.ResponseWriter, r *http.Request) {
		asked["filter"]++
		var args extenderv1.ExtenderArgs
		assert.NoError(t, json.NewDecoder(r.Body).Decode(&args))
		kept := slices.DeleteFunc(*args.NodeNames, func(name string) bool { return name == "n1" })
		assert.NoError(t, json.NewEncoder(out).Encode(extenderv1.ExtenderFilterResult{NodeNames: &kept, FailedAndUnresolvableNodes: extenderv1.FailedNodesMap{"n1": "no"}}))
	})
	mux.HandleFunc("POST /preempt", func(out http.ResponseWriter, r *http.Request) {
		asked["preempt"]++
		var args extenderv1.ExtenderPreemptionArgs
		assert.NoError(t, json.NewDecoder(r.Body).Decode(&args))
		maps.DeleteFunc(args.NodeNameToMetaVictims, func(name string, _ *extenderv1.MetaVictims) bool { return name == "n2" })
		assert.NoError(t, json.NewEncoder(out).Encode(extenderv1.ExtenderPreemptionResult{NodeNameToMetaVictims: args.NodeNameToMetaVictims}))
	})
	server := httptest.NewTLSServer(mux)
	defer server.Close()
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	extender := func(tls map[string]any) string {
		text, err := json.Marshal(map[string]any{"urlPrefix": server.URL, "enableHTTPS": true, "nodeCacheCapable": true,
			"filterVerb": "filter", "preemptVerb": "preempt", "tlsConfig": tls})
		require.NoError(t, err)
		return "extenders: [" + string(text) + "]"
	}
	trusted := configuredBy(t, extender(map[string]any{"caData": ca}))
	_, does := decides(t, fullNodes(4, trusted))
	assert.Equal(t, "preempts on n3", does)
	o, _ := decides(t, fullNodes(4, trusted))
	assert.NotContains(t, o.AfterExtenders, "n2")
	assert.Equal(t, map[string]int{"preempt": 2}, asked, "no node passes the plugins, so that filter is not asked")

	free := fullNodes(2, trusted)
	free.Pods = nil
	_, does = decides(t, free)
	assert.Equal(t, "runs on n0", does)
	assert.Equal(t, 1, asked["filter"])

	o, does = decides(t, fullNodes(4, configuredBy(t, extender(map[string]any{"caData": ca, "serverName": "other.invalid"}))))
	assert.Equal(t, "waits", does)
	assert.Contains(t, o.PostFilterMessage, "certificate")
}

// An extender that takes long is no standstill of the scheduler.
func TestSlowExtender(t *testing.T) {
	over := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-over }))
	defer server.Close()
	defer close(over)
	o, does := decides(t, fullNodes(1, configuredBy(t, `extenders: [{urlPrefix: "`+server.URL+`", preemptVerb: preempt, httpTimeout: 3s}]`)))
	assert.Nil(t, o.Crash)
	assert.Equal(t, "waits", does)
	assert.Contains(t, o.PostFilterMessage, "Client.Timeout exceeded")
}

// TestFiltersOfProfiles: whatever is enabled and disabled where, the model has the filters in the order of the scheduler.
func TestFiltersOfProfiles(t *testing.T) {
	names := answers.FilterPlugins()
	source := rand.New(rand.NewPCG(1, 2))
	some := func(most int) (list []map[string]string) {
		for _, i := range source.Perm(len(names))[:source.IntN(most+1)] {
			list = append(list, map[string]string{"name": names[i]})
		}
		return list
	}
	compared := 0
	for range testsize.Times(200) {
		plugins := map[string]any{}
		for _, point := range []string{"multiPoint", "preFilter", "filter"} {
			set := map[string]any{"enabled": some(3), "disabled": some(3)}
			if source.IntN(6) == 0 {
				set["disabled"] = []map[string]string{{"name": "*"}}
				if point == "multiPoint" {
					set["enabled"] = append(some(4), map[string]string{"name": "PrioritySort"}, map[string]string{"name": "DefaultBinder"})
				}
			}
			plugins[point] = set
		}
		text, err := json.Marshal([]map[string]any{{"plugins": plugins}})
		require.NoError(t, err)
		settings := configuredBy(t, "profiles: "+string(text))
		system := New()
		var has []string
		err = system.with(fullNodes(1, settings), func(s *scheduler) (bool, error) {
			for _, p := range s.sched.Profiles[model.DefaultSchedulerName].ListPlugins().Filter.Enabled {
				if slices.Contains(names, p.Name) {
					has = append(has, p.Name)
				}
			}
			return true, nil
		})
		system.Close()
		require.NoError(t, err, string(text))
		var want []string
		for _, p := range configuration.Of(settings, model.DefaultSchedulerName).Plugins(model.DefaultPlugins()) {
			want = append(want, p.Name())
		}
		require.Equal(t, has, want, string(text))
		compared++
	}
	assert.NotZero(t, compared)
}
