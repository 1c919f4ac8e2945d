package corpus

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/preemptcheck/preemptcheck/model"
)

// kubectlDump is what kubectl prints of a cluster, in the size and the look of
// real ones: a List in block style, keys sorted, every field filled in.
func kubectlDump(nodes, bound, waiting int) []byte {
	var b bytes.Buffer
	b.WriteString("apiVersion: v1\nitems:\n")
	for i := range nodes {
		fmt.Fprintf(&b, nodeText, i)
	}
	for i := range bound + waiting {
		binding, phase := "", "Pending"
		if i < bound {
			binding, phase = fmt.Sprintf("    nodeName: node-%d\n", i%nodes), "Running"
		}
		fmt.Fprintf(&b, podText, i, binding, phase)
	}
	b.WriteString("kind: List\nmetadata:\n  resourceVersion: \"\"\n")
	return b.Bytes()
}

const nodeText = `- apiVersion: v1
  kind: Node
  metadata:
    annotations:
      csi.volume.kubernetes.io/nodeid: '{"csi.example.com":"node"}'
      volumes.kubernetes.io/controller-managed-attach-detach: "true"
    creationTimestamp: "2024-01-01T00:00:00Z"
    labels:
      kubernetes.io/hostname: node-%[1]d
      kubernetes.io/os: linux
    name: node-%[1]d
    resourceVersion: "123456"
    uid: 5b1d8c4e-0000-4000-8000-0000000%05[1]d
  spec:
    podCIDR: 10.0.0.0/24
  status:
    allocatable:
      cpu: 15890m
      ephemeral-storage: "47093746742"
      memory: 60Gi
      pods: "110"
    capacity:
      cpu: "16"
      ephemeral-storage: 50620216Ki
      memory: 64Gi
      pods: "110"
    nodeInfo:
      architecture: amd64
      bootID: 8d4a1b62-55c1-4a1e-8b4e-5f1f0a4c9d10
      containerRuntimeVersion: containerd://1.7.0
      kernelVersion: 6.1.0
      kubeProxyVersion: ""
      kubeletVersion: v1.37.1
      machineID: a7c8b6f2a6cd4f1a
      operatingSystem: linux
      osImage: Debian GNU/Linux
      systemUUID: a7c8b6f2-a6cd-4f1a
`

const podText = `- apiVersion: v1
  kind: Pod
  metadata:
    annotations:
      checksum/config: 3b6a27bcceb6a42d62a3a8d02a6f0d73653215771de243a63ac048a18b59da29
      prometheus.io/port: "8080"
      prometheus.io/scrape: "true"
      settings.example.com/long: 'a long text with a colon: it is quoted, and folded
        over two lines'
    creationTimestamp: "2024-01-01T00:00:00Z"
    generateName: web-6d4b75cb6d-
    generation: 1
    labels:
      app.kubernetes.io/instance: web
      app.kubernetes.io/name: web
      pod-template-hash: 6d4b75cb6d
    name: web-6d4b75cb6d-%[1]d
    namespace: shop
    ownerReferences:
    - apiVersion: apps/v1
      blockOwnerDeletion: true
      controller: true
      kind: ReplicaSet
      name: web-6d4b75cb6d
      uid: 0d1f7c6e-3c58-4b6e-9f5e-2f6c3c9a1e11
    resourceVersion: "987654"
    uid: 8c0e2c54-0000-4000-8000-0000000%05[1]d
  spec:
    affinity:
      nodeAffinity:
        requiredDuringSchedulingIgnoredDuringExecution:
          nodeSelectorTerms:
          - matchExpressions:
            - key: kubernetes.io/os
              operator: In
              values:
              - linux
    containers:
    - args:
      - --config=/etc/web/config.yaml
      - |
        set -e
        exec web
      env:
      - name: POD_NAME
        valueFrom:
          fieldRef:
            apiVersion: v1
            fieldPath: metadata.name
      - name: GOMAXPROCS
        value: "2"
      - name: DATABASE_URL
        value: postgres://db.shop.svc.cluster.local:5432/shop?sslmode=require
      image: registry.example.com/shop/web:v1.2.3
      imagePullPolicy: IfNotPresent
      livenessProbe:
        failureThreshold: 3
        httpGet:
          path: /healthz
          port: http
          scheme: HTTP
        periodSeconds: 10
        successThreshold: 1
        timeoutSeconds: 1
      name: web
      ports:
      - containerPort: 8080
        name: http
        protocol: TCP
      resources:
        limits:
          memory: 512Mi
        requests:
          cpu: 250m
          memory: 512Mi
      securityContext:
        allowPrivilegeEscalation: false
        capabilities:
          drop:
          - ALL
      terminationMessagePath: /dev/termination-log
      terminationMessagePolicy: File
      volumeMounts:
      - mountPath: /etc/web
        name: config
      - mountPath: /var/run/secrets/kubernetes.io/serviceaccount
        name: kube-api-access-abcde
        readOnly: true
    dnsPolicy: ClusterFirst
    enableServiceLinks: true
%[2]s    preemptionPolicy: PreemptLowerPriority
    priority: 0
    restartPolicy: Always
    schedulerName: default-scheduler
    securityContext: {}
    serviceAccount: default
    serviceAccountName: default
    terminationGracePeriodSeconds: 30
    tolerations:
    - effect: NoExecute
      key: node.kubernetes.io/not-ready
      operator: Exists
      tolerationSeconds: 300
    - effect: NoExecute
      key: node.kubernetes.io/unreachable
      operator: Exists
      tolerationSeconds: 300
    volumes:
    - configMap:
        defaultMode: 420
        name: web
      name: config
    - name: kube-api-access-abcde
      projected:
        defaultMode: 420
        sources:
        - serviceAccountToken:
            expirationSeconds: 3607
            path: token
  status:
    conditions:
    - lastProbeTime: null
      lastTransitionTime: "2024-01-01T00:00:05Z"
      status: "True"
      type: Ready
    - lastProbeTime: null
      lastTransitionTime: "2024-01-01T00:00:00Z"
      status: "True"
      type: PodScheduled
    phase: %[3]s
    podIP: 10.0.0.7
    podIPs:
    - ip: 10.0.0.7
    qosClass: Burstable
    startTime: "2024-01-01T00:00:00Z"
`

func TestReadDump(t *testing.T) {
	text := kubectlDump(3, 7, 2)
	asJSON, err := yaml.YAMLToJSON(text)
	require.NoError(t, err)
	var indented bytes.Buffer
	require.NoError(t, json.Indent(&indented, asJSON, "", "    "))
	for name, input := range map[string][]byte{
		"block":           text,
		"JSON":            asJSON,
		"kubectl -o json": indented.Bytes(),
		"CRLF":            bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n")),
		"indented":        []byte(strings.ReplaceAll(string(text), "\n- apiVersion", "\n- \n  apiVersion")),
	} {
		t.Run(name, func(t *testing.T) {
			s, err := Read(bytes.NewReader(input), "dump")
			require.NoError(t, err)
			require.Empty(t, s.Notes)
			require.Len(t, s.Cases, 2)
			for i, c := range s.Cases {
				require.Equal(t, fmt.Sprintf("shop/web-6d4b75cb6d-%d", 7+i), c.Name)
				require.Equal(t, c.Name, model.Key(c.Cluster.Preemptor))
				require.Len(t, c.Cluster.Nodes, 3)
				require.Len(t, c.Cluster.Pods, 8)
				require.NotContains(t, c.Cluster.Pods, c.Cluster.Preemptor)
				require.Equal(t, "a long text with a colon: it is quoted, and folded over two lines",
					c.Cluster.Pods[0].Annotations["settings.example.com/long"])
			}
		})
	}
}

// TestReadLists reads the same objects in every form that they may come in.
func TestReadLists(t *testing.T) {
	const node = `{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}}`
	const podA = `{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {"containers": [{"name": "[\"{"}]}}`
	const podB = `{"metadata": {"name": "b"}, "spec": {"priority": 5, "containers": [{}]}}`
	good := strings.ReplaceAll(podA, `"[\"{"`, `"c"`)
	want, err := Read(strings.NewReader(node+"\n---\n"+good+"\n---\n{apiVersion: v1, kind: Pod, "+podB[1:]), "f")
	require.NoError(t, err)
	require.Len(t, want.Cases, 2)
	_, err = Read(strings.NewReader(node+podA), "f")
	require.ErrorContains(t, err, `f: document 2, line 1: Pod default/a: spec.containers[0].name: Invalid value: "[\"{"`)

	pods := `{"kind": "PodList", "apiVersion": "v1", "metadata": {"resourceVersion": "1"}, "items": [` + good + ` , ` + podB + `]}`
	for name, text := range map[string]string{
		"JSON documents":          node + pods,
		"flow items":              node + "\n---\napiVersion: v1\nkind: PodList\nitems: [" + good + ", " + podB + "]\n",
		"block items":             node + "\n---\nitems:\n\n# a comment\n- " + good + "\n\n# another\n- " + podB + "\napiVersion: v1\nkind: PodList\n",
		"indented items":          node + "\n---\napiVersion: v1\nitems:\n  - " + good + "\n  -\n    " + podB + "\nkind: PodList\n",
		"a List in a List":        "apiVersion: v1\nkind: List\nitems:\n- " + node + "\n- " + pods + "\n",
		"a List in a JSON List":   `{"items": [` + node + `, ` + pods + `, {"kind": "List", "apiVersion": "v1", "items": []}], "kind": "List", "apiVersion": "v1"}`,
		"documents that end":      "...\n---\n" + node + "\n...\n# nothing\n---\n" + pods + "\n...\n",
		"documents at the marker": "\ufeff--- " + node + "\n--- " + pods,
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Read(strings.NewReader(text), "f")
			require.NoError(t, err)
			require.Empty(t, cmp.Diff(want, got))
		})
	}
}

// TestReadDumpLeavesOut checks which pods of a dump wait, and what is said about
// the rest.
func TestReadDumpLeavesOut(t *testing.T) {
	const pod = "---\napiVersion: v1\nkind: Pod\nmetadata: {name: %s, managedFields: [{manager: x}]%s}\nspec: {containers: [{}]%s}\nstatus: {phase: %s}\n"
	var b strings.Builder
	b.WriteString("apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nnew: x\n")
	b.WriteString("---\napiVersion: example.com/v1\nkind: Gadget\n")
	b.WriteString("---\napiVersion: v1\nkind: Namespace\nmetadata: {name: default}\n")
	for _, p := range [][]any{
		{"waits", "", "", "Pending"},
		{"bound", "", ", nodeName: n1", "Running"},
		{"done", "", ", nodeName: gone", "Succeeded"},
		{"failed", "", "", "Failed"},
		{"terminating", ", deletionTimestamp: '2024-01-01T00:00:00Z', deletionGracePeriodSeconds: 30", "", "Pending"},
		{"gated", "", ", schedulingGates: [{name: g}]", "Pending"},
		{"foreign", "", ", schedulerName: other", "Pending"},
		{"waits-too", "", ", nova: x", "Pending"},
	} {
		fmt.Fprintf(&b, pod, p...)
	}
	s, err := Read(strings.NewReader(b.String()), "dump")
	require.NoError(t, err)
	require.Equal(t, []string{
		"left out 1 objects of the unknown kind Gadget of example.com/v1",
		"left out 2 unknown fields, the first is Node n1: new",
		"left out 2 pods that have terminated",
	}, s.Notes)
	var names []string
	for _, c := range s.Cases {
		var pods []string
		for _, p := range c.Cluster.Pods {
			require.Empty(t, p.ManagedFields)
			pods = append(pods, p.Name)
		}
		names = append(names, c.Name+": "+strings.Join(pods, " "))
		require.Len(t, c.Cluster.Extra, 1)
		require.Empty(t, diffCases(readOne(t, written(t, c)), &Case{Name: strings.ReplaceAll(c.Name, "/", "-"), Cluster: c.Cluster}))
	}
	require.Equal(t, []string{
		"default/waits: waits-too bound terminating gated foreign",
		"default/waits-too: bound terminating gated foreign waits",
	}, names)

	s, err = Read(strings.NewReader("apiVersion: v1\nkind: Node\nmetadata: {name: n1}\n"), "dump")
	require.NoError(t, err)
	require.Empty(t, s.Cases)
	require.Equal(t, []string{"dump"}, s.Idle)
	require.Empty(t, s.Notes)
}
