package filter_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/filter"
)

func TestDeclaredFeatures(t *testing.T) {
	no := false
	rule := func(actions ...v1.ContainerRestartRuleAction) v1.Container {
		c := mk.Container()
		for _, a := range actions {
			c.RestartPolicyRules = append(c.RestartPolicyRules, v1.ContainerRestartRule{Action: a})
		}
		return c
	}
	all := v1.ContainerRestartRuleActionRestartAllContainers
	mount := v1.Container{VolumeMounts: []v1.VolumeMount{{}, {BindMountOptions: []string{"noexec"}}}}
	tests := []struct {
		name     string
		spec     v1.PodSpec
		declared []string
		fits     bool
	}{
		{"nothing needed", v1.PodSpec{Containers: []v1.Container{rule(v1.ContainerRestartRuleActionRestart)}}, nil, true},
		{"a container restarts all", v1.PodSpec{Containers: []v1.Container{rule(v1.ContainerRestartRuleActionRestart, all)}}, nil, false},
		{"declared", v1.PodSpec{Containers: []v1.Container{rule(all)}}, []string{"Other", filter.FeatureRestartAll}, true},
		{"an init container restarts all", v1.PodSpec{InitContainers: []v1.Container{rule(all)}}, []string{"Other"}, false},
		{"user namespaces alone", v1.PodSpec{HostUsers: &no}, nil, true},
		{"user namespaces of the host's network", v1.PodSpec{HostUsers: &no, HostNetwork: true}, nil, false},
		{"mount options", v1.PodSpec{InitContainers: []v1.Container{mount}}, []string{filter.FeatureRestartAll}, false},
		{"one of two", v1.PodSpec{Containers: []v1.Container{mount, rule(all)}}, []string{filter.FeatureRestartAll}, false},
		{"both", v1.PodSpec{Containers: []v1.Container{mount, rule(all)}}, []string{filter.FeatureRestartAll, filter.FeatureBindMountOptions}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := mk.Node("n", "2", func(n *v1.Node) { n.Status.DeclaredFeatures = tt.declared })
			got := verdicts(mk.Pod("p", 9, func(p *v1.Pod) { p.Spec = tt.spec }), n)
			want := map[string]*model.Verdict{}
			if !tt.fits {
				want["n"] = &model.Verdict{Plugin: "NodeDeclaredFeatures", Unresolvable: true, Reasons: []string{"node(s) didn't match Pod's required features"}}
			}
			assert.Equal(t, want, got)
		})
	}
}

// An ordinary pod of the host's network, or one that mounts something, needs no feature.
func TestNeededFeatures(t *testing.T) {
	yes, no := true, false
	mounts := func(options ...string) []v1.Container {
		return []v1.Container{{}, {VolumeMounts: []v1.VolumeMount{{Name: "data"}, {Name: "more", BindMountOptions: options}}}}
	}
	restarts := []v1.Container{{RestartPolicyRules: []v1.ContainerRestartRule{{Action: v1.ContainerRestartRuleActionRestartAllContainers}}}}
	for _, tt := range []struct {
		name string
		spec v1.PodSpec
		want []string
	}{
		{"the host's network", v1.PodSpec{HostNetwork: true}, nil},
		{"the host's network and users", v1.PodSpec{HostNetwork: true, HostUsers: &yes}, nil},
		{"the host's network, and users of its own", v1.PodSpec{HostNetwork: true, HostUsers: &no}, []string{filter.FeatureHostNetworkUsers}},
		{"mounts", v1.PodSpec{Containers: mounts()}, nil},
		{"mounts with an option", v1.PodSpec{Containers: mounts("noexec")}, []string{filter.FeatureBindMountOptions}},
		{"all", v1.PodSpec{HostNetwork: true, HostUsers: &no, Containers: mounts("noexec"), InitContainers: restarts},
			[]string{filter.FeatureHostNetworkUsers, filter.FeatureRestartAll, filter.FeatureBindMountOptions}},
	} {
		require.Equal(t, tt.want, filter.NeededFeatures(&v1.Pod{Spec: tt.spec}), tt.name)
	}
}
