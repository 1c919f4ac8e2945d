package page_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"html/template"
	"math"
	"os"
	"regexp"
	"strconv"
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

// Texts are readable on what they are drawn on, in both themes: WCAG 2.2, AA, of normal text.
func TestContrast(t *testing.T) {
	style, err := os.ReadFile("assets/page.css")
	require.NoError(t, err)
	themes := regexp.MustCompile(`(?s):root[^{]*\{\n  color-scheme: (light|dark);(.*?)\n\}`).FindAllStringSubmatch(string(style), -1)
	require.Len(t, themes, 3, "light, dark by the system, and dark by choice")
	require.Equal(t, strings.TrimSpace(themes[1][2]), strings.TrimSpace(themes[2][2]))
	pairs := [][2]string{
		{"onaccent", "accent"}, {"accent", "surface"}, {"accent", "bg"}, {"good", "goodbg"}, {"bad", "badbg"}, {"warn", "warnbg"}, {"good", "surface"}, {"bad", "surface"}, {"warn", "surface"}, {"muted", "room"},
		{"text", "room"}, {"text", "goodbg"}, {"text", "badbg"}, {"text", "warnbg"},
	}
	for _, on := range []string{"bg", "surface", "sunk"} {
		pairs = append(pairs, [2]string{"text", on}, [2]string{"muted", on})
	}
	for level := range 6 {
		pairs = append(pairs, [2]string{fmt.Sprint("on", level), fmt.Sprint("p", level)})
	}
	for _, theme := range themes {
		colours := map[string]float64{}
		for _, m := range regexp.MustCompile(`--(\w+): #(\w+);`).FindAllStringSubmatch(theme[2], -1) {
			colours[m[1]] = luminance(t, m[2])
		}
		for _, p := range pairs {
			a, known := colours[p[0]]
			b, also := colours[p[1]]
			require.True(t, known && also, p)
			require.GreaterOrEqual(t, (max(a, b)+0.05)/(min(a, b)+0.05), 4.5, "%s: %s on %s", theme[1], p[0], p[1])
		}
	}
}

// luminance is the relative luminance of a colour (WCAG 2.2, "relative luminance").
func luminance(t *testing.T, hex string) (sum float64) {
	if len(hex) == 3 {
		hex = string([]byte{hex[0], hex[0], hex[1], hex[1], hex[2], hex[2]})
	}
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		value, err := strconv.ParseUint(hex[2*i:2*i+2], 16, 8)
		require.NoError(t, err)
		c := float64(value) / 255
		if c <= 0.04045 {
			c /= 12.92
		} else {
			c = math.Pow((c+0.055)/1.055, 2.4)
		}
		sum += weight * c
	}
	return sum
}
