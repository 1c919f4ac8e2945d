package corpus

import (
	"bytes"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/corpus/manifest"
)

const goodHead = `apiVersion: preemptcheck/v1alpha1
kind: Case
name: c
preemptor: a
`

const goodPods = `---
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: 1}}
---
apiVersion: v1
kind: Pod
metadata: {name: a}
spec: {containers: [{name: c}]}
`

func TestReadBadInput(t *testing.T) {
	const good = goodHead + goodPods
	pod := func(text string) string { return good + "---\napiVersion: v1\nkind: Pod\n" + text }
	head := func(text string) string { return goodHead + text + goodPods }
	list := "apiVersion: v1\nkind: List\nitems:\n"
	for _, test := range []struct{ name, input, want string }{
		// No text, no object.
		{"empty", "", `f: there is no object in it`},
		{"only comments", "# a\n---\n\n# b\n", `f: there is no object in it`},
		{"empty list", list, `f: there is no object in it`},
		{"NUL", "apiVersion: v1\nkind: \x00", `f: line 2: this is no text: byte 0x00 at offset 21`},
		{"ELF", "\x7fELF\x02\x01\xff\xfe", `f: line 1: this is no text: byte 0xff at offset 6`},
		{"scalar", "hello", `f: document 1, line 1: this is no Kubernetes object, but the scalar "hello"`},
		{"sequence", "- a\n- b", `f: document 1, line 1: this is no Kubernetes object, but a sequence`},
		{"scalar in a list", list + "- a\n", `f: document 1, item 1, line 4: this is no Kubernetes object, but the scalar "a"`},
		{"JSON array", `[1]`, `f: document 1, line 1: this is no Kubernetes object, but a sequence`},
		{"no kind", "apiVersion: v1\nmetadata: {name: a}", `f: document 1, line 1: kind: required: this is no Kubernetes object`},
		{"no apiVersion", "\n\nkind: Pod", `f: document 1, line 3: apiVersion: required: this is no Kubernetes object`},
		{"no name", pod("spec: {}"), `f: document 4, line 16: Pod default/: metadata.name: required`},

		// Broken YAML.
		{"truncated in brackets", pod("metadata: {name: b"), `f: document 4, line 18: did not find expected ',' or '}'`},
		{"truncated in quotes", pod("metadata:\n  name: \"b\n"), `f: document 4, line 19: found unexpected end of stream`},
		{"truncated JSON", `{"apiVersion": "v1", "kind": "List", "items": [{"apiVer`, `f: document 1, line 1: found unexpected end of stream`},
		{"JSON syntax", "{\"apiVersion\": \"v1\",\n \"kind\": \"Pod\", \"spec\": nil}", `f: document 1, line 2: invalid character 'i' in literal null (expecting 'u')`},
		{"tab", pod("metadata:\n\tname: b"), `f: document 4, line 19: found character that cannot start any token`},
		{"duplicate key", pod("metadata: {name: b}\nspec: {}\nmetadata: {name: c}"), `f: document 4, line 20: duplicate key "metadata"`},
		{"duplicate key in JSON", `{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "name": "b"}}`,
			`f: document 1, line 1: Pod default/b: metadata.name: duplicate key`},
		{"duplicate label", pod("metadata:\n  name: b\n  labels:\n    x/y: a\n    x/y: b\n"), `f: document 4, line 22: metadata.labels: duplicate key "x/y"`},
		{"alias", pod("metadata: &m {name: b}\nspec: *m"), `f: document 4, line 18: metadata: anchors and aliases are not supported`},
		{"unknown alias", pod("metadata: *m"), `f: document 4, line 16: unknown anchor 'm' referenced`},
		{"alias bomb", "a: &a [x,x]\nb: &b [*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b]\napiVersion: v1\nkind: Pod",
			`f: document 1, line 1: a: anchors and aliases are not supported`},
		{"merge key", pod("metadata: {name: b, <<: {a: b}}"), `f: document 4, line 18: metadata: merge keys are not supported`},
		{"tag", pod("metadata: {name: !!binary aGVsbG8=}"), `f: document 4, line 18: metadata.name: the tag "!!binary" is not supported`},
		{"key is no string", pod("metadata: {name: b, labels: {on: b}}"), `f: document 4, line 18: metadata.labels: the key "on" is not a string: quote it`},
		{"infinity", pod("metadata: {name: b}\nspec: {priority: .inf}"), `f: document 4, line 19: spec.priority: .inf is not a number that Kubernetes knows`},
		{"lone CR hides a document", pod("metadata: {name: b}\r---\rkind: X"), `f: document 4, line 16: there is text after the end of the document`},

		// Kinds and fields.
		{"unknown kind", good + "---\napiVersion: v1\nkind: Pot\nmetadata: {name: b}", `f: document 4, line 17: kind: unknown kind Pot of v1`},
		{"no object's kind", good + "---\napiVersion: v1\nkind: DeleteOptions", `f: document 4, line 17: kind: unknown kind DeleteOptions of v1`},
		{"unknown field", pod("metadata: {name: b}\nspec:\n  containers:\n  - name: c\n    imagine: x"),
			`f: document 4, line 22: Pod default/b: spec.containers[0].imagine: unknown field`},
		{"field in another case", pod("metadata: {Name: b, name: b}"), `f: document 4, line 18: Pod default/b: metadata.Name: unknown field`},
		{"wrong type", pod("metadata: {name: b}\nspec:\n  priority: high"), `f: document 4, line 20: Pod default/b: spec.priority: a string does not fit, it takes a int32`},
		{"yes is no string", pod("metadata: {name: b, labels: {a: yes}}"), `f: document 4, line 18: Pod default/b: metadata.labels[a]: a bool does not fit, it takes a string`},
		{"bad quantity", pod("metadata: {name: b}\nspec:\n  containers:\n  - name: c\n    resources:\n      requests:\n        example.com/gpu: 1x"),
			`f: document 4, line 24: Pod default/b: spec.containers[0].resources.requests[example.com/gpu]: quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'`},
		{"huge exponent", pod("metadata: {name: b, labels: {of: '1e99999'}}\nspec:\n  containers:\n  - name: c\n    resources: {requests: {cpu: '1e-2147483648'}}"), `f: document 4, line 22: Pod default/b: spec.containers[0].resources.requests[cpu]: the exponent of quantity 1e-2147483648 is beyond ±1000`},
		{"huge exponent in quotes", pod("metadata: {name: b}\nspec:\n  overhead:\n    cpu: \"1E+1001\""), `f: document 4, line 21: Pod default/b: spec.overhead[cpu]: the exponent of quantity 1E+1001 is beyond ±1000`},
		{"bad time", pod("metadata: {name: b}\nstatus: {startTime: yesterday}"),
			`f: document 4, line 19: Pod default/b: status.startTime: parsing time "yesterday" as "2006-01-02T15:04:05Z07:00": cannot parse "yesterday" as "2006"`},
		{"negative quantity", pod("metadata: {name: b}\nspec:\n  containers:\n  - name: c\n    resources: {requests: {cpu: -1}}"),
			`f: document 4, line 22: Pod default/b: spec.containers[0].resources.requests[cpu]: Invalid value: "-1": must be greater than or equal to 0`},
		{"items in a pod", pod("metadata: {name: b}\nitems:\n- a: b\n"), `f: document 4, line 16: Pod: items: only a List has items`},
		{"unknown field of a list", "apiVersion: v1\nkind: List\nitem: x\nitems:\n- a: b\n", `f: document 1, line 1: List: item: unknown field`},

		// The cluster.
		{"two nodes of one name", good + "---\napiVersion: v1\nkind: Node\nmetadata: {name: n1}", `f: document 4, line 18: Node n1: metadata.name: Duplicate value: "Node n1"`},
		{"pod on a missing node", pod("metadata: {name: b}\nspec:\n  containers: [{}]\n  nodeName: n2"), `f: document 4, line 21: Pod default/b: spec.nodeName: Not found: "n2"`},
		{"pod of a dump on a missing node", "apiVersion: v1\nkind: PodList\nitems:\n- metadata: {name: b}\n  spec:\n    nodeName: n2\n    containers: [{}]",
			`f: document 1, item 1, line 6: Pod default/b: spec.nodeName: Not found: "n2"`},
		{"unknown priority class", pod("metadata: {name: b}\nspec: {priorityClassName: x, containers: [{}]}"), `f: document 4, line 19: Pod default/b: spec.priorityClassName: Not found: "x"`},

		// The Case document.
		{"two cases", good + "---\n" + good, `f: document 4, line 17: Case c: kind: a Case must be the first document of its stream, and the only Case`},
		{"case comes last", strings.TrimPrefix(goodPods, "---\n") + "---\n" + goodHead, `f: document 3, line 12: Case c: kind: a Case must be the first document of its stream, and the only Case`},
		{"version of the case", "apiVersion: v1\nkind: Case\nname: x\n" + goodPods, `f: document 1, line 1: apiVersion: "v1" is no version of a Case, preemptcheck/v1alpha1 is`},
		{"no preemptor", strings.Replace(good, "preemptor: a\n", "", 1), `f: document 1, line 1: Case c: preemptor: a Case needs a preemptor, as namespace/name or podgroup/namespace/name`},
		{"missing preemptor", strings.Replace(good, "preemptor: a\n", "preemptor: x/a\n", 1), `f: document 1, line 4: Case c: preemptor: there is no Pod "x/a"`},
		{"preemptor is bound", strings.Replace(good, "spec: {", "spec: {nodeName: n1, ", 1),
			`f: document 3, line 14: Pod default/a: spec.nodeName: Invalid value: "n1": the preemptor is bound already`},
		{"bad name", strings.Replace(good, "name: c\n", "name: ../c\n", 1), `f: document 1, line 3: Case ../c: name: "../c" is no name for a case: use lower case letters, digits and '-', at most 240`},
		{"unknown field of the case", head("expects: []\n"), `f: document 1, line 5: Case c: expects: unknown field`},
		{"percentage", head("scheduler:\n  minCandidateNodesPercentage: 101\n"), `f: document 1, line 6: Case c: scheduler.minCandidateNodesPercentage: 101 is not within 0 to 100`},
		{"absolute", head("scheduler:\n  minCandidateNodesAbsolute: -1\n"), `f: document 1, line 6: Case c: scheduler.minCandidateNodesAbsolute: -1 is negative`},
		{"finding without property", head("finding:\n  stage: pick\n"), `f: document 1, line 5: Case c: finding.property: required: the property that did not hold`},
		{"finding at no stage", head("finding:\n  property: differential\n  stage: picks\n"),
			`f: document 1, line 7: Case c: finding.stage: "picks" is none of ["filter" "eligible" "potential nodes" "dry run" "candidates" "extenders" "pick" "placement" "reprieve" "actuate" "PostFilter" "PreScore" "Score" "Reserve" "Permit" "PreBind" "Bind" "PostBind"]`},
		{"unknown field of the finding", head("finding:\n  property: differential\n  node: n1\n"), `f: document 1, line 7: Case c: finding.node: unknown field`},
		{"releases", head("expect:\n- releases: new\n  outcome: Scheduled\n"), `f: document 1, line 6: Case c: expect[0].releases: "new" is no range of releases: Could not get version from string: "new"`},
		{"outcome", head("expect:\n- outcome: Fine\n"), `f: document 1, line 6: Case c: expect[0].outcome: "Fine" is none of Scheduled, Preempted, NotHelpful, NotEligible, Error`},
		{"no nominations", head("expect:\n- outcome: Preempted\n"), `f: document 1, line 6: Case c: expect[0].nominations: there must be nominations if the outcome is Preempted, and none otherwise`},
		{"violations", head("expect:\n- outcome: Preempted\n  nominations: [{node: n1, violations: -1}]\n"), `f: document 1, line 7: Case c: expect[0].nominations[0].violations: -1 is negative`},
		{"unknown node", head("expect:\n- outcome: Preempted\n  nominations: [{node: n2}]\n"), `f: document 1, line 7: Case c: expect[0].nominations[0].node: there is no Node "n2"`},
		{"unknown victim", head("expect:\n- outcome: Preempted\n  nominations:\n  - node: n1\n    victims: [b]\n"), `f: document 1, line 9: Case c: expect[0].nominations[0].victims[0]: there is no Pod "default/b"`},
		{"unknown cleared", head("expect:\n- outcome: Preempted\n  nominations: [{node: n1}]\n  clears: [b]\n"), `f: document 1, line 8: Case c: expect[0].clears[0]: there is no Pod "default/b"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Read(strings.NewReader(test.input), "f")
			assert.EqualError(t, err, test.want)
			var input *InputError
			assert.ErrorAs(t, err, &input)
		})
	}
}

// TestReadHugeInput reads 100 MB of several kinds of garbage. What is allocated
// is bounded by a few times that, and what is parsed by MaxObject.
func TestReadHugeInput(t *testing.T) {
	const size = 100_000_000
	for _, test := range []struct{ name, head, unit, want string }{
		{"zero bytes", "", "\x00", `f: line 1: this is no text: byte 0x00 at offset 0`},
		{"zeros", "", "0", `f: document 1, line 1: 100000000 bytes without an end of the object: one object may have 4194304`},
		{"brackets", "", "[", `f: document 1, line 1: 100000000 bytes without an end of the object: one object may have 4194304`},
		{"braces", "", "{", `f: document 1, line 1: 100000000 bytes without an end of the object: one object may have 4194304`},
		{"JSON braces", "", `{"a":`, `f: document 1, line 1: 100000000 bytes without an end of the object: one object may have 4194304`},
		{"brackets in a field", "a: ", "[", `f: document 1, line 1: 100000000 bytes without an end of the object: one object may have 4194304`},
		{"brackets in a list", "kind: List\nitems:\n- ", "[", `f: document 1, item 1, line 3: 99999982 bytes without an end of the object: one object may have 4194304`},
		{"one string", "a: '", "x", `f: document 1, line 1: 100000000 bytes without an end of the object: one object may have 4194304`},
		{"small documents", "", "a\n---\n", `f: document 1, line 1: this is no Kubernetes object, but the scalar "a"`},
		{"small items", "kind: List\nitems:\n", "- a\n", `f: document 1, item 1, line 3: this is no Kubernetes object, but the scalar "a"`},
		{"blank lines", "", "\n", `f: there is no object in it`},
		{"nothing but markers", "", "---\n", `f: there is no object in it`},
	} {
		t.Run(test.name, func(t *testing.T) {
			input := test.head + strings.Repeat(test.unit, (size-len(test.head))/len(test.unit))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := Read(strings.NewReader(input), "f")
			runtime.ReadMemStats(&after)
			assert.EqualError(t, err, test.want)
			assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(8*size))
		})
	}
}

// TestReadDeepInput stays below the limit of an object and is refused by the
// parsers.
func TestReadDeepInput(t *testing.T) {
	deep := func(open string) string { return strings.Repeat(open, manifest.MaxObject/len(open)-10) }
	for _, test := range []struct{ name, input, want string }{
		{"brackets", "a: " + deep("["), `f: document 1, line 1: exceeded max depth of 10000`},
		{"mappings", "a: " + deep("{a: "), `f: document 1, line 1: exceeded max depth of 10000`},
		{"sequences", "a:\n- " + deep("- "), `f: document 1, line 2: exceeded max depth of 10000`},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Read(strings.NewReader(test.input), "f")
			assert.EqualError(t, err, test.want)
		})
	}
}

func TestReadTooLarge(t *testing.T) {
	zeros := bytes.Repeat([]byte("0"), 1<<20)
	_, err := Read(&endless{zeros}, "f")
	require.EqualError(t, err, "f: more than 1024 MiB")
}

// endless is a stream that does not end.
type endless struct{ text []byte }

func (e *endless) Len() int { return manifest.MaxStream }

func (e *endless) Read(p []byte) (int, error) { return copy(p, e.text), nil }
