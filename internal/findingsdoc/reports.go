package findingsdoc

import (
	"bytes"
	"embed"
	"errors"
	"strings"
	"text/template"

	"github.com/preemptcheck/preemptcheck/internal/upstreamtests"
	"github.com/preemptcheck/preemptcheck/properties/ledger"
)

// reports holds, for each of the strongest findings, the text of its report, a
// template, and the manifests of its cluster.
//
//go:embed reports/*.md reports/*.yaml
var reports embed.FS

// reported tells whether a finding has a report for the scheduler's maintainers:
// if there is a change that mends it.
func reported(id string) bool {
	_, mended := upstreamtests.Mends[id]
	return mended
}

// report fills in the manifests, the test, the change and what the ledger says.
func report(e ledger.Entry) ([]byte, error) {
	text, err := template.New("").ParseFS(reports, "reports/"+e.ID+".md")
	if err != nil {
		return nil, err
	}
	cluster, err := reports.ReadFile("reports/" + e.ID + ".yaml")
	if err != nil {
		return nil, err
	}
	test, ok := upstreamtests.LookUp(e.ID)
	if !ok {
		return nil, errors.New("there is no test for it in internal/upstreamtests")
	}
	source, err := test.Source()
	if err != nil {
		return nil, err
	}
	patch, err := upstreamtests.Patch(e.ID)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = text.Templates()[0].Execute(&out, map[string]string{
		"Releases": e.Releases, "Where": e.Where,
		"Cluster":  fenced("yaml", cluster),
		"TestFile": test.File, "Test": fenced("go", source), "Fails": failures(test),
		"Mend": fenced("diff", patch), "Packages": "`" + strings.Join(append([]string{test.Package()}, upstreamtests.Mends[e.ID]...), "` and `") + "`",
	})
	return out.Bytes(), err
}

func fenced(language string, text []byte) string {
	return "```" + language + "\n" + strings.TrimSpace(string(text)) + "\n```"
}
