package page_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"html/template"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"github.com/preemptcheck/preemptcheck/internal/page"
)

// The policy allows what the page has, and nothing else: no address, no inline style or handler.
func TestPolicy(t *testing.T) {
	d := &page.Document{Title: "t", Kind: "k", Body: template.HTML("<p>b</p>"), Data: map[string]string{"a": "</script><b>"}, Verdict: &page.Verdict{Mood: page.Bad, Text: "it disagrees", Lines: []string{"why"}}}
	var out bytes.Buffer
	require.NoError(t, d.Write(&out))
	root, err := html.Parse(bytes.NewReader(out.Bytes()))
	require.NoError(t, err)
	policy, hashes, data := "", []string{}, ""
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		attrs := map[string]string{}
		for _, a := range n.Attr {
			attrs[a.Key] = a.Val
			require.False(t, strings.HasPrefix(a.Key, "on") || a.Key == "style" || a.Key == "src", "%s of %s", a.Key, n.Data)
			if a.Key == "href" {
				require.True(t, strings.HasPrefix(a.Val, "#"), a.Val)
			}
		}
		switch {
		case attrs["http-equiv"] == "Content-Security-Policy":
			policy = attrs["content"]
		case attrs["id"] == "data":
			data = n.FirstChild.Data
		case n.Data == "style", n.Data == "script":
			sum := sha256.Sum256([]byte(n.FirstChild.Data))
			hashes = append(hashes, "-src 'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'")
			require.NotContains(t, n.FirstChild.Data, "http")
		}
	}
	require.True(t, strings.HasPrefix(policy, "default-src 'none'; "), policy)
	require.Len(t, hashes, 2)
	for _, h := range hashes {
		require.Contains(t, policy, h)
	}
	require.NotContains(t, policy, "unsafe")
	require.JSONEq(t, `{"a": "</script><b>"}`, data)
}
