package drawing_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"
	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/internal/page/drawing"
	"github.com/preemptcheck/preemptcheck/model"
)

// drawn are the elements of a map that have one of the classes, with their text.
func drawn(t *testing.T, c *model.Cluster, facts *drawing.Facts, class string) (texts []string) {
	out, err := drawing.Draw(c, facts)
	require.NoError(t, err)
	root, err := html.Parse(strings.NewReader(string(out)))
	require.NoError(t, err)
	for n := range root.Descendants() {
		for _, a := range n.Attr {
			if a.Key == "class" && strings.Contains(" "+a.Val+" ", " "+class+" ") {
				text := ""
				for d := range n.Descendants() {
					if d.Type == html.TextNode {
						text += d.Data + " "
					}
				}
				texts = append(texts, strings.Join(strings.Fields(text), " "))
			}
		}
	}
	return texts
}

// A pod is marked by what becomes of it, with a sign and in words, and is gone afterwards.
func TestMarks(t *testing.T) {
	p := mk.Pod("p", 9, mk.CPU("2"))
	c := mk.Cluster(p, mk.Node("n", "3"), mk.Pod("v", 1, mk.On("n"), mk.CPU("1")), mk.Pod("r", 2, mk.On("n"), mk.CPU("1")),
		mk.Pod("e", 3, mk.On("n"), mk.CPU("1"), mk.Terminating), mk.Pod("w", 4, mk.CPU("1"), mk.Nominated("n")))
	facts := &drawing.Facts{Preemptors: []*v1.Pod{p}}
	n := facts.Node("n")
	n.Victims["default/v"], n.Reprieved["default/r"] = "a reason", "another"
	n.Add(drawing.Fails, drawing.Picked)
	n.After, n.Gets = true, facts.Preemptors
	first := func(class string) string {
		all := drawn(t, c, facts, class)
		require.NotEmpty(t, all, class)
		for _, text := range all { // the legend has the class, too
			if strings.HasPrefix(text, "default/") {
				return text
			}
		}
		return ""
	}
	require.Equal(t, "default/v priority 1 requests cpu 1 victim: a reason ✕ v", first("victim"))
	require.Contains(t, first("reprieved"), "reprieved: another ↩ r")
	require.Contains(t, first("terminating"), "terminating already † e")
	require.Contains(t, first("nominated"), "nominated to the node, not bound to it ◇ w")
	require.Contains(t, first("over"), "there is no room for it")
	require.Contains(t, first("preemptor"), "the preemptor ★ p")
	for _, after := range drawn(t, c, facts, "after") {
		require.NotContains(t, after, "default/v")
	}
	require.Contains(t, drawn(t, c, facts, "rsum"), "3 / 3 + 1")
}

// Up to the limit each node is a box. Beyond, those that are alike are one, and those that matter are alone.
func TestGroups(t *testing.T) {
	p := mk.Pod("p", 9, mk.CPU("2"))
	for _, test := range []struct{ nodes, boxes int }{{drawing.Limit, drawing.Limit}, {drawing.Limit + 1, 3}} {
		parts := []any{}
		for i := range test.nodes {
			parts = append(parts, mk.Node(fmt.Sprintf("n%d", i), "1"))
		}
		c := mk.Cluster(p, parts...)
		facts := &drawing.Facts{Preemptors: []*v1.Pod{p}}
		for i := range test.nodes {
			n := facts.Node(fmt.Sprintf("n%d", i))
			n.Add(drawing.Fails)
			switch {
			case i == 7:
				n.Alone = true
			case i%2 == 0:
				n.Alike = "even"
			}
		}
		require.Len(t, drawn(t, c, facts, "node"), test.boxes)
		if test.boxes < test.nodes {
			require.Equal(t, []string{"n7", "n0", "n1"}, drawn(t, c, facts, "nname"))
			require.Equal(t, []string{"101 alike", "99 alike"}, drawn(t, c, facts, "count"))
			require.Contains(t, drawn(t, c, facts, "alike")[0], "n200")
		}
	}
}

// However odd the quantities are, a drawing stays within its bounds.
func TestOddQuantities(t *testing.T) {
	p := mk.Pod("p", 9, mk.CPU("9E"))
	c := mk.Cluster(p, mk.Node("n", "0"), mk.Node("m", "1"), mk.Node("big", "9E"), mk.Pod("a", 1, mk.On("n"), mk.CPU("9E")), mk.Pod("b", 1, mk.On("n"), mk.CPU("9E")), mk.Pod("c", 1, mk.On("n")))
	for range 200 {
		c.Pods = append(c.Pods, mk.Pod("x", 1, mk.On("m"), mk.CPU("1m")))
	}
	facts := &drawing.Facts{Preemptors: []*v1.Pod{p}}
	for _, n := range c.Nodes {
		facts.Node(n.Name).Add(drawing.Fails)
	}
	out, err := drawing.Draw(c, facts)
	require.NoError(t, err)
	require.NotContains(t, string(out), "NaN")
	require.NotContains(t, string(out), "Inf")
	for _, part := range strings.Split(string(out), ` x="`)[1:] {
		var x float64
		if n, _ := fmt.Sscanf(part, "%f%%", &x); n == 1 {
			require.LessOrEqual(t, x, 100.0)
			require.GreaterOrEqual(t, x, 0.0)
		}
	}
}

// On a crowded node, neighbours that are alike are one block; a pod that asks for nothing of the first resource is told
// of where it asks for something.
func TestCrowded(t *testing.T) {
	p := mk.Pod("p", 9, mk.CPU("1"))
	for _, test := range []struct{ pods, blocks int }{{40, 41}, {41, 3}} {
		c := mk.Cluster(p, mk.Node("n", "100"))
		facts := &drawing.Facts{Preemptors: []*v1.Pod{p}}
		n := facts.Node("n")
		n.Add(drawing.Fits)
		for i := range test.pods {
			name := fmt.Sprintf("x%d", i)
			c.Pods = append(c.Pods, mk.Pod(name, 1, mk.On("n"), mk.CPU("1")))
			if i%2 == 0 {
				n.Victims["default/"+name] = "so"
			}
		}
		out, err := drawing.Draw(c, facts)
		require.NoError(t, err)
		require.Equal(t, test.blocks, strings.Count(string(out), "data-item tabindex=\"-1\" role=\"img\""))
		if test.blocks == 3 {
			require.Contains(t, string(out), "<title>20 pods\npriority 1\ndefault/x1, ")
			require.Contains(t, string(out), "<title>21 pods\npriority 1\nvictim\ndefault/x0, ")
		}
	}
	c := mk.Cluster(p, mk.Node("n", "1"), mk.Pod("none", 1, mk.On("n")), mk.Pod("some", 1, mk.On("n"), mk.CPU("1")))
	out, err := drawing.Draw(c, &drawing.Facts{Preemptors: []*v1.Pod{p}})
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(string(out), "<title>default/none"))
	require.Equal(t, 1, strings.Count(string(out), "<title>default/some"))
}

// A node without pods has a bar.
func TestEmpty(t *testing.T) {
	require.Equal(t, []string{"0 / 4", "0 / 100"}, drawn(t, mk.Cluster(nil, mk.Node("n", "4")), &drawing.Facts{}, "rsum"))
}
