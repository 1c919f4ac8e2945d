package page_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"github.com/preemptcheck/preemptcheck/properties/explanation"
)

// harmless is an ending of names that no page has to fear.
const harmless = "q"

// FuzzPage gives everything on every page a hostile name: the page has the elements and attributes that it has
// with harmless names, and the names come back as they were.
func FuzzPage(f *testing.F) {
	for _, s := range []string{
		"</title><script>alert(1)</script>", "</script><img src=x onerror=alert(1)>", `" onmouseover="alert(1)`, "' x='", "<!--", "-->", "]]>", "&lt;b&gt;", "&amp;", "\u2028", "{{.}}", "javascript:alert(1)",
		"</style>", "<svg/onload=alert(1)>", "\x00", "\r\n", "\xff", "`", "a\nb", "'+alert(1)+'", "\ufeff", "</textarea>", "</p></ul></svg>", "$&", "\\u003c",
	} {
		f.Add(s)
	}
	want := map[string][]string{}
	for name, write := range pages(f, harmless) {
		var out bytes.Buffer
		require.NoError(f, write(&out))
		want[name] = elements(parse(f, out.Bytes()))
		require.Greater(f, len(want[name]), 30, name)
	}
	f.Fuzz(func(t *testing.T, hostile string) {
		if hostile == "" || len(hostile) > 500 {
			return
		}
		for name, write := range pages(t, hostile) {
			var out bytes.Buffer
			require.NoError(t, write(&out))
			root := parse(t, out.Bytes())
			got := elements(root)
			if !slices.Equal(want[name], got) {
				i := 0
				for i < min(len(got), len(want[name])) && got[i] == want[name][i] {
					i++
				}
				t.Fatalf("%s: %d elements, want %d; from %d on: %q, want %q", name, len(got), len(want[name]), i, got[i:min(i+3, len(got))], want[name][i:min(i+3, len(want[name]))])
			}
			if name == "cycle" {
				namesComeBack(t, root, hostile)
			}
		}
	})
}

// namesComeBack compares the names on the page with those that were given.
func namesComeBack(t *testing.T, root *html.Node, hostile string) {
	var nodes, pods []string
	var data string
	for n := range root.Descendants() {
		switch {
		case class(n) == "nname":
			nodes = append(nodes, collapse(text(n)))
		case n.Data == "title" && strings.HasPrefix(class(n.Parent), "pod"):
			pods = append(pods, collapse(text(n)))
		case attribute(n, "id") == "data":
			data = text(n)
		}
	}
	want := asHTML(hostile)
	for _, name := range []string{"n1", "n2", "n3"} {
		require.Contains(t, nodes, name+want)
	}
	for _, name := range []string{"pp", "ph", "pl", "po", "pt", "pn"} {
		key := "default/" + name + want
		require.True(t, slices.ContainsFunc(pods, func(title string) bool { return title == key || strings.HasPrefix(title, key+"\n") }), "%q in %q", key, pods)
	}
	var e explanation.Explanation
	require.NoError(t, json.Unmarshal([]byte(data), &e))
	require.Equal(t, collapse(strings.ToValidUTF8("default/pp"+hostile, "\ufffd")), collapse(e.Pod))
}

// collapse makes one of several characters that stand for bytes that are no text, as strings.ToValidUTF8 does.
func collapse(s string) string {
	for strings.Contains(s, "\ufffd\ufffd") {
		s = strings.ReplaceAll(s, "\ufffd\ufffd", "\ufffd")
	}
	return s
}

// asHTML is what becomes of a text in HTML: it is UTF-8, has no NUL, and one kind of line break.
func asHTML(s string) string {
	return collapse(strings.NewReplacer("\x00", "\ufffd", "\r\n", "\n", "\r", "\n").Replace(strings.ToValidUTF8(s, "\ufffd")))
}

func parse(t testing.TB, page []byte) *html.Node {
	root, err := html.Parse(bytes.NewReader(page))
	require.NoError(t, err)
	return root
}

// elements are all elements of a page, with the names of their attributes.
func elements(root *html.Node) (all []string) {
	for n := range root.Descendants() {
		switch n.Type {
		case html.ElementNode:
			e := n.Data
			for _, a := range n.Attr {
				e += " " + a.Namespace + ":" + a.Key
				if !isText(a.Key) {
					e += "=" + a.Val
				}
			}
			all = append(all, e)
		case html.CommentNode:
			all = append(all, "comment")
		}
	}
	return all
}

// isText tells whether an attribute may hold a name.
func isText(key string) bool {
	return slices.Contains([]string{"aria-label", "title", "data-v", "value", "data-class", "id", "content"}, key)
}

func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

func class(n *html.Node) string { return attribute(n, "class") }

func text(n *html.Node) string {
	var out strings.Builder
	for child := range n.ChildNodes() {
		out.WriteString(child.Data)
	}
	return out.String()
}

// Each page is whole text.
func TestPagesAreText(t *testing.T) {
	for name, write := range pages(t, "\xff") {
		var out bytes.Buffer
		require.NoError(t, write(&out))
		require.True(t, utf8.Valid(out.Bytes()), name)
	}
}

func numbers(t *testing.T, texts []string) (all []int) {
	for _, s := range texts {
		n, err := strconv.Atoi(s)
		require.NoError(t, err)
		all = append(all, n)
	}
	return all
}
