// Package findingsdoc writes docs/findings from the ledger: for each known finding
// a page that says what was promised, what happens instead, why it has its class,
// the smallest cluster on which it occurs, and a test that fails in the scheduler's
// own packages because of it; an index of the pages; and, for the strongest
// findings, reports for the scheduler's maintainers. Of findings that are kept back it
// tells only that they are there.
package findingsdoc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/properties/ledger"
	"github.com/preemptcheck/preemptcheck/reference"
)

// Render writes the documents of the entries, by their paths in docs/findings: it
// runs the witness of each, from the folder cases, on the system. An entry without
// a witness, one that the witness no longer shows, or one without a test or a
// reason for its class is an error. The witness of a finding that takes a timeline is
// from the folder timelines.
func Render(ctx context.Context, entries []ledger.Entry, system reference.System, cases, timelines string) (map[string][]byte, error) {
	var public, kept []ledger.Entry
	for _, e := range entries {
		if e.KeptBack() {
			kept = append(kept, e)
		} else {
			public = append(public, e)
		}
	}
	documents := map[string][]byte{"README.md": index(public), "kept-back.md": queue(kept)}
	var problems []error
	for _, e := range public {
		page, err := page(ctx, e, system, cases, timelines)
		if err != nil {
			problems = append(problems, fmt.Errorf("finding %s: %w", e.ID, err))
			continue
		}
		documents[e.ID+".md"] = page
		if !reported(e.ID) {
			continue
		}
		report, err := report(e)
		if err != nil {
			problems = append(problems, fmt.Errorf("report of finding %s: %w", e.ID, err))
		}
		documents[path.Join("reports", e.ID+".md")] = report
	}
	return documents, errors.Join(problems...)
}

const introduction = `# Findings

<!-- Generated from the ledger in properties/. To write it anew: make golden -->

Ways in which kube-scheduler's preemption breaks what its documentation promises, found by running the real scheduler and a model of the documented algorithm on
the same clusters. Each page has the smallest cluster, which is checked again and again, and a table test in the style of the scheduler's own: add it to the file
it names and it fails, until the finding is mended. ` + "`make upstream-tests`" + ` shows that for all of them. Where a finding takes more than one scheduling cycle, the page tells
the smallest [timeline](../timelines.md) as a story instead, and names its scenario in a test that these findings share.

How sure it is that the scheduler, and not the reader, is wrong:

- **crash**: whoever may create objects can end or starve the scheduler. Such findings are [kept back](kept-back.md) at first.
- **defect**: contradicts a written promise on a cluster that the API server admits.
- **inconsistency**: two paths of the scheduler disagree with each other.
- **debatable**: the promise can be read both ways, or speaks of something else, such as eviction, or a limit of the greedy algorithm.
- **unreachable**: needs a state that no API server or kubelet lets arise.

` + "`check` and `explain` say *disagrees* for the first three; the others are a *remark*. Findings that show at every preemption, as [one](preempted-event-without-preemptor.md) does, are no part of that: `check` counts them below its table, and `explain` does not tell of them. `--class` selects. Each page says why its finding has its class." + `

`

// index lists the findings that the linked release has, by class, and then those
// that only older ones have.
func index(entries []ledger.Entry) []byte {
	var out bytes.Buffer
	out.WriteString(introduction)
	row := func(e ledger.Entry, since string) {
		issue := upstream(e.Upstream)
		if reported(e.ID) {
			issue += fmt.Sprintf(", [report](reports/%s.md)", e.ID)
		}
		fmt.Fprintf(&out, "| [%s](%[1]s.md) | %s | %s | %s | %s |\n", e.ID, e.Class, e.Consequence, since, issue)
	}
	fmt.Fprintf(&out, "## Findings that %s has\n\n| Finding | Class | What users see | Since | Upstream |\n| --- | --- | --- | --- | --- |\n", release.Linked)
	for _, class := range ledger.Classes() {
		for _, e := range entries {
			if e.Class == class && release.Linked.In(e.Releases) {
				row(e, since(e.Releases))
			}
		}
	}
	fmt.Fprintf(&out, "\n## Findings that %s no longer has\n\n| Finding | Class | What users saw | Releases | Upstream |\n| --- | --- | --- | --- | --- |\n", release.Linked)
	for _, e := range entries {
		if !release.Linked.In(e.Releases) {
			row(e, strings.ReplaceAll(e.Releases, "||", "or"))
		}
	}
	return out.Bytes()
}

const keptBack = `# Findings that are kept back

<!-- Generated from the ledger in properties/. To write it anew: make golden -->

A finding of the class *crash* lets whoever may create objects end or starve the scheduler. It goes to the
[Kubernetes security contact](https://kubernetes.io/docs/reference/issues-security/security/) first. Until that has judged it, these pages, ` + "`findings`" + `, ` + "`diff`" + ` and
the reports of campaigns in public logs tell that there is one, and no more. Its entry in the ledger and its case are in the source, where the tests need them:
whoever publishes the source publishes them.

So it is with a new finding that may be of that class: the scheduler breaks down or goes on for ever, in a cycle or while a timeline
runs, or a cycle ends in an error where none is promised. Who runs the campaign is
told all, and takes the case to the contact before anybody else. Its name begins with ` + "`kept-back`" + `: the nightly workflow does not upload it. There it is found again by
the seed, on a machine of one's own.

`

// queue counts the findings that are kept back, without a word about them.
func queue(entries []ledger.Entry) []byte {
	var out bytes.Buffer
	out.WriteString(keptBack)
	if len(entries) == 0 {
		out.WriteString("None is kept back.\n")
		return out.Bytes()
	}
	out.WriteString("These are kept back:\n\n| Since | State |\n| --- | --- |\n")
	for _, e := range entries {
		fmt.Fprintf(&out, "| %s | %s |\n", since(e.Releases), e.Upstream)
	}
	return out.Bytes()
}

// since is the first release of the last range of releases: "1.21" of ">=1.21.0".
func since(releases string) string {
	ranges := strings.Split(releases, "||")
	return strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(ranges[len(ranges)-1]), ">="), ".0")
}

func load(file string) (*corpus.Case, error) {
	stream, err := corpus.Load(file)
	if err != nil {
		return nil, err
	}
	if len(stream.Cases) != 1 {
		return nil, fmt.Errorf("%s: want one case, got %d", path.Base(file), len(stream.Cases))
	}
	return stream.Cases[0], nil
}

// page is what is known of a finding. Of one that the linked release no longer has
// nothing is run: "preemptcheck check --reference" does, with the schedulers that
// have it.
func page(ctx context.Context, e ledger.Entry, system reference.System, cases, timelines string) ([]byte, error) {
	folder := cases
	if slices.ContainsFunc(ledger.Timelines(), func(t ledger.Entry) bool { return t.ID == e.ID }) {
		folder = timelines
	}
	witness, err := load(filepath.Join(folder, e.Witness+".yaml"))
	if err != nil {
		return nil, err
	}
	if !slices.Contains(witness.Findings, e.ID) {
		return nil, fmt.Errorf("the witness no longer shows it: %s is none of it", e.Witness)
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "# %s\n\n<!-- Generated from the ledger in properties/. To write it anew: make golden -->\n\n", e.Title)
	fmt.Fprintf(&out, "`%s`, **%s**, releases `%s`, %s; [all findings](README.md)\n\n", e.ID, e.Class, e.Releases, upstream(e.Upstream))
	if reported(e.ID) {
		fmt.Fprintf(&out, "A [report](reports/%s.md) for the scheduler's maintainers has manifests, the line at fault and a change that mends it.\n\n", e.ID)
	}
	fmt.Fprintf(&out, "**What users see:** %s\n\n", e.Consequence)
	fmt.Fprintf(&out, "**Promised:** %s\\\n%s\n\n", e.Promise, e.Source)
	fmt.Fprintf(&out, "**Happens:** %s\\\n%s\n\n", e.Happens, e.Where)
	open := release.Linked.In(e.Releases)
	if open {
		reason, err := reason(e)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&out, "## Why %s\n\n%s\n", e.Class, reason)
	}
	if witness.Timeline != nil {
		err = lived(ctx, &out, e, system, witness)
		return out.Bytes(), err
	}
	fmt.Fprintf(&out, "## Smallest cluster\n\n[%s.yaml](../../corpus/cases/%[1]s.yaml)\n\n```\n%s```\n\n", e.Witness, Summary(witness.Cluster))
	fmt.Fprintf(&out, "%s\n", strings.ReplaceAll(witness.Description, "\n", " "))
	if open {
		err = shown(ctx, &out, e, system, witness)
	}
	return out.Bytes(), err
}

// upstream links an issue or pull request of the form repository#number.
func upstream(ref string) string {
	repo, number, ok := strings.Cut(ref, "#")
	if !ok {
		return ref
	}
	return fmt.Sprintf("[%s](https://github.com/kubernetes/%s/issues/%s)", ref, repo, number)
}
