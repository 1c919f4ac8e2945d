// Package page writes what preemptcheck tells as one HTML file: without a request to anywhere, under a
// strict Content-Security-Policy, readable without JavaScript and on paper.
//
// What is drawn is made here, by html/template; the script only steps, sorts, and shows what is
// pointed at. Names in clusters are hostile input: they are text, never markup.
package page

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
)

// Document is a page.
type Document struct {
	// Title is that of the document, Kind what it tells, in a few words: "Scheduling cycle".
	Title, Kind string
	// Facts are short lines below the title: the priority of a pod, the file that it is from.
	Facts []Fact
	// Verdict is what it comes to; nil if it judges nothing.
	Verdict *Verdict
	// Body is what package html/template made of a template.
	Body template.HTML
	// Data is embedded as JSON, for programs: the element with the id "data".
	Data any
}

// Fact is a name with a value.
type Fact struct{ Name, Value string }

// Verdict is what a page comes to.
type Verdict struct {
	Mood Mood
	// Text is a sentence, Lines what there is to add.
	Text  string
	Lines []string
}

// Mood is how good a verdict is. It is told by a word and a sign too, not by colour only.
type Mood string

// The moods.
const (
	Good    Mood = "good"
	Bad     Mood = "bad"
	Unclear Mood = "unclear"
)

// Sign is a character that goes with the mood.
func (m Mood) Sign() string {
	switch m {
	case Good:
		return "✓"
	case Bad:
		return "✗"
	}
	return "!"
}

//go:embed assets/page.css
var style string

//go:embed assets/page.js
var script string

//go:embed assets/page.html
var skeleton string

var documentTemplate = template.Must(template.New("page").Parse(skeleton))

// policy allows the style and the script of the page, by their hashes, and nothing else.
var policy = fmt.Sprintf("default-src 'none'; style-src '%s'; script-src '%s'; base-uri 'none'; form-action 'none'", hash(style), hash(script))

// hash is that of an inline element in a Content-Security-Policy.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// Write writes the page.
func (d *Document) Write(w io.Writer) error {
	data, err := json.Marshal(d.Data)
	if err != nil {
		return fmt.Errorf("the data of the page: %w", err)
	}
	var out bytes.Buffer
	err = documentTemplate.Execute(&out, struct {
		*Document
		Policy string
		Style  template.CSS
		Script template.JS
		JSON   json.RawMessage
	}{d, policy, template.CSS(style), template.JS(script), data})
	if err == nil {
		_, err = w.Write(bytes.ToValidUTF8(out.Bytes(), []byte("\ufffd")))
	}
	return err
}

// Render is a template with its data as the body of a page, or as a part of it.
func Render(t *template.Template, name string, data any) (template.HTML, error) {
	var out bytes.Buffer
	err := t.ExecuteTemplate(&out, name, data)
	return template.HTML(out.String()), err
}
