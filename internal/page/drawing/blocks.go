package drawing

import (
	"fmt"
	"math"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/internal/words"
)

// maxApart is how many pods of a node are blocks of their own, and maxBlocks how many of a map. Of more, neighbours that
// are alike are one block.
const (
	maxApart  = 40
	maxBlocks = 4000
)

// row draws a bar. The lead is the one whose blocks can be walked with keys.
func (m *mapper) row(n *v1.Node, f *Node, i int, name v1.ResourceName, lead bool, titled map[int]bool) row {
	room, scale := allocatable(n, name), m.scale[name]
	if scale == 0 {
		scale = m.need(n, name)
	}
	pods := m.on[n.Name]
	bar := func() *layout {
		return &layout{name: name, scale: scale, lead: lead && m.shown[name], named: m.named, crowded: m.crowded || len(pods) > maxApart, titled: titled}
	}
	l := bar()
	r := row{Index: i, Name: short(name), Hidden: !m.shown[name], Room: percent(room, scale)}
	for i, p := range pods {
		l.add(i, p, roles(p, f))
	}
	r.Sum = fmt.Sprintf("%s / %s", amount(name, l.used), amount(name, room))
	r.NowText = fmt.Sprintf("%s: %s of %s requested", name, amount(name, l.used), amount(name, room))
	if l.nominated > 0 {
		r.Sum += " + " + amount(name, l.nominated)
		r.NowText += fmt.Sprintf(", and %s by nominated pods", amount(name, l.nominated))
	}
	if len(m.preemptors) == 1 && slices.ContainsFunc(f.States, func(s State) bool { return s == Fails || s == Fits || s == Unjudged }) {
		p := m.preemptors[0]
		how := role{"need", "★", "the preemptor, as it would be beside the others"}
		if l.used+l.nominated+p.requests[name] > room {
			how = role{"need over", "★", "the preemptor: there is no room for it beside the others"}
		}
		l.add(-1, p, []role{how})
	}
	r.Now = l.blocks()
	if f.After {
		after := bar()
		for i, p := range pods {
			if _, gone := f.Victims[p.key]; !gone {
				after.add(i, p, roles(p, f))
			}
		}
		for _, p := range m.preemptors {
			if slices.Contains(f.Gets, p.Pod) {
				after.add(-1, p, []role{{"preemptor", "★", "the preemptor"}})
			}
		}
		r.After, r.HasAfter = after.blocks(), true
		r.AfterText = fmt.Sprintf("%s after preemption: %s of %s requested", name, amount(name, after.used), amount(name, room))
	}
	return r
}

// layout puts blocks side by side.
type layout struct {
	name        v1.ResourceName
	scale       float64
	used        float64 // by pods that are there
	nominated   float64 // by those that are not yet
	lead, named bool
	crowded     bool
	titled      map[int]bool // the keys of pods with a title, in whatever bar of the node
	parts       []part
}

// part is a pod, or several that are alike, of a crowded node.
type part struct {
	key   int
	pods  []*pod
	roles []role
	class string
	value float64
}

func (l *layout) add(key int, p *pod, roles []role) {
	value := p.requests[l.name]
	if value <= 0 {
		return
	}
	if p.Spec.NodeName == "" && key >= 0 {
		l.nominated += value
	} else {
		l.used += value
	}
	class := "pod"
	for _, r := range roles {
		class += " " + r.class
	}
	if last := len(l.parts) - 1; l.crowded && last >= 0 && l.parts[last].class == class && l.parts[last].pods[0].level == p.level {
		l.parts[last].pods = append(l.parts[last].pods, p)
		l.parts[last].value += value
		return
	}
	l.parts = append(l.parts, part{key, []*pod{p}, roles, class, value})
}

// narrowest is how many percent a block has at least.
const narrowest = 1.2

// blocks are those of the parts, as far as there is room: a cluster can have more than a node has room for.
func (l *layout) blocks() (all []block) {
	next := 0.0
	for _, part := range l.parts {
		width := max(narrowest, 100*part.value/l.scale)
		if next >= 100 || math.IsNaN(width) {
			break
		}
		width = min(width, 100-next)
		b := block{X: fmt.Sprintf("%.2f%%", next), W: fmt.Sprintf("%.2f%%", width), Class: part.class, Level: part.pods[0].level, Key: part.key, Lead: l.lead, Named: l.named}
		for _, r := range part.roles {
			b.Sign += r.sign
		}
		b.Name = part.pods[0].Name
		if n := len(part.pods); n > 1 {
			b.Name = words.Plural(n, "pod")
		}
		if l.lead || !l.titled[part.key] {
			b.Title = part.title()
			l.titled[part.key] = true
		}
		next += width
		all = append(all, b)
	}
	return all
}

// title says all about the pods of a block, in lines.
func (p *part) title() string {
	if len(p.pods) == 1 {
		return p.pods[0].title(p.roles)
	}
	low, high, names := p.pods[0].priority, p.pods[0].priority, []string{}
	for _, pod := range p.pods {
		low, high, names = min(low, pod.priority), max(high, pod.priority), append(names, pod.key)
	}
	lines := []string{words.Plural(len(p.pods), "pod"), fmt.Sprintf("priority %d", low)}
	if low < high {
		lines[1] = fmt.Sprintf("priorities from %d to %d", low, high)
	}
	for _, r := range p.roles {
		lines = append(lines, r.class)
	}
	return strings.Join(append(lines, words.Some(names, maxNamed)), "\n")
}

// maxNamed is how many pods of a block are named.
const maxNamed = 10

// title says all about a pod, in lines.
func (p *pod) title(roles []role) string {
	lines := []string{p.key, fmt.Sprintf("priority %d", p.priority), p.asks()}
	if t := p.Status.StartTime; t != nil {
		lines = append(lines, "started "+t.UTC().Format("2006-01-02T15:04:05Z07:00"))
	}
	for _, r := range roles {
		lines = append(lines, r.text)
	}
	return strings.Join(lines, "\n")
}

// role is what becomes of a pod.
type role struct{ class, sign, text string }

func roles(p *pod, f *Node) (all []role) {
	if why, ok := f.Victims[p.key]; ok {
		all = append(all, role{"victim", "✕", strings.TrimSuffix("victim: "+why, ": ")})
	}
	if why, ok := f.Reprieved[p.key]; ok {
		all = append(all, role{"reprieved", "↩", strings.TrimSuffix("reprieved: "+why, ": ")})
	}
	if p.DeletionTimestamp != nil {
		all = append(all, role{"terminating", "†", "terminating already"})
	}
	if p.Spec.NodeName == "" {
		all = append(all, role{"nominated", "◇", "nominated to the node, not bound to it"})
	}
	return all
}

// percent is a share of a scale as a length.
func percent(value, scale float64) string {
	if scale <= 0 || value <= 0 {
		return "0%"
	}
	return fmt.Sprintf("%.2f%%", min(100, 100*value/scale))
}

// short is the name of a resource without its domain.
func short(name v1.ResourceName) string {
	_, after, ok := strings.Cut(string(name), "/")
	if ok {
		return after
	}
	return string(name)
}

// amount is so much of a resource, in few characters.
func amount(name v1.ResourceName, value float64) string {
	if name == v1.ResourceMemory || name == v1.ResourceEphemeralStorage || strings.HasPrefix(string(name), v1.ResourceHugePagesPrefix) {
		units := []string{"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"}
		i := 0
		for ; math.Abs(value) >= 1024 && i < len(units)-1; i++ {
			value /= 1024
		}
		return trim(value, 1) + units[i]
	}
	return trim(value, 2)
}

func trim(value float64, digits int) string {
	text := fmt.Sprintf("%.*f", digits, value)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}
