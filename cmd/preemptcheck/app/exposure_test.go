package app

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/internal/terminal"
)

const exposed = "testdata/exposure/cluster.yaml"

func TestExposureOutput(t *testing.T) {
	for name, args := range map[string]string{
		"exposure":          "",
		"exposure-wide":     "-o wide",
		"exposure-name":     "-o name --top 2",
		"exposure-markdown": "-o markdown --top 2",
		"exposure-json":     "-o json",
		"exposure-yaml":     "-o yaml --workload deployment/shop/cart",
		"exposure-requests": "--requests cpu=4,memory=2Gi --losses 0 --pending 0",
		"exposure-workload": "--workload deployment/shop/web",
		"exposure-witness":  "--workload Deployment/shop/web --witness critical",
	} {
		t.Run(name, func(t *testing.T) {
			status, out, errOut := preemptcheck(t, "", strings.Fields("exposure "+exposed+" "+args)...)
			require.Equal(t, terminal.Agrees, status, errOut)
			require.Empty(t, errOut)
			compare(t, name, out)
		})
	}
}

// TestExposureIsWhatTheSchedulerDoes: the real scheduler takes what each witness is said to take.
func TestExposureIsWhatTheSchedulerDoes(t *testing.T) {
	for args, takes := range map[string]string{
		"--workload deployment/shop/web --witness critical":                                 "shop/web-6d4b-0, shop/web-6d4b-1",
		"--workload cronjob/shop/report --witness (none)":                                   "shop/report-29318880-0, shop/report-29318880-1",
		"--workload statefulset/shop/db --witness system-node-critical":                     "shop/db-0, shop/web-6d4b-0, shop/web-6d4b-1",
		"--workload cronjob/shop/report --witness critical --requests cpu=3500m,memory=2Gi": "shop/cart-7c9f-1, shop/report-29318880-1",
	} {
		status, witness, errOut := preemptcheck(t, "", strings.Fields("exposure "+exposed+" "+args)...)
		require.Equal(t, terminal.Agrees, status, errOut)
		status, out, errOut := preemptcheck(t, witness, "explain", "-")
		require.Equal(t, terminal.Agrees, status, "%s\n%s", out, errOut)
		require.Contains(t, out, "agrees: it nominates ")
		require.Contains(t, out, "and preempts "+takes+".\n", args)
	}
}

func TestExposureBadUse(t *testing.T) {
	for args, message := range map[string]string{
		exposed + " --workload web":                                  `error: --workload: "web" is no workload: want kind/namespace/name, such as deployment/shop/web`,
		exposed + " --workload job/shop/gone":                        "error: --workload: no pod of job/shop/gone is on a node",
		exposed + " --witness critical":                              "error: --witness: of which workload?",
		exposed + " --workload deployment/shop/web --witness (none)": "error: --witness: class (none) cannot preempt deployment/shop/web",
		exposed + " --workload deployment/shop/web -o html":          "error: --workload: html is of all workloads; leave one of the two out",
		exposed + " --requests cpu=much":                             "error: --requests: cpu=much: ",
		exposed + " --requests cpu=-1":                               "error: --requests: cpu=-1: must not be negative",
		exposed + " --top -1":                                        "error: --top: must not be negative",
		exposed + " --reference newest":                              "error: --reference: \"newest\" is no release",
		exposed + " -o html5":                                        "must be text, json, yaml, markdown, name, wide or html",
		"testdata/cases/preempts.yaml":                               "is no cluster dump",
		"testdata/bad/truncated.yaml":                                "error: testdata/bad/truncated.yaml: document 3, line 15",
		exposed + " --workload statefulset/shop/db --requests cpu=9 --witness system-node-critical": "error: --witness: no pod of class system-node-critical takes a pod of statefulset/shop/db",
	} {
		status, out, errOut := preemptcheck(t, "", strings.Fields("exposure "+args)...)
		require.Equal(t, terminal.CouldNot, status, args)
		require.Empty(t, out, args)
		require.Contains(t, errOut, message, args)
		require.Equal(t, 1, strings.Count(errOut, "\n"), errOut)
	}
}
