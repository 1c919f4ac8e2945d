package together

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/preemptcheck/preemptcheck/model/timeline"
)

// inGroupCycle is a nominated pod in a cycle of its group.
type inGroupCycle struct {
	uid  types.UID
	node string // that it is nominated to
	// placed on a node in the cycle, which is taken back; gone, as the scheduler was told; and created again, as listers show.
	placed, gone, again bool
}

// OutlivedNominations are the nominations at rest, by name of the pod, that were restored for a pod which is gone, as listers showed another one
// of its name: the cycle of its group takes it for placed, takes that back, and nominates it again (schedule_one.go:381@v1.37.1).
func OutlivedNominations(trace *timeline.Trace) map[string]string {
	in, outlived, of := map[string]*inGroupCycle{}, map[string]string{}, map[string]types.UID{}
	for i := range trace.Entries[:trace.FlushedAt] {
		e := &trace.Entries[i]
		name, is := e.Pod(), pod(e.Is)
		c := in[name]
		switch {
		case e.What == timeline.TakenOver:
			clear(in)
			clear(outlived)
		case e.What == timeline.Popped && e.Group != "" && is != nil && is.Status.NominatedNodeName != "":
			in[name] = &inGroupCycle{uid: is.UID, node: is.Status.NominatedNodeName}
		case e.What == timeline.Decided && name == "", e.What == timeline.Unfit && e.Group != "", e.What == timeline.Fits && e.Group != "": // all is taken back
			for name, c := range in {
				if c.placed && c.gone && c.again {
					outlived[name], of[name] = c.node, c.uid
				}
			}
			clear(in)
			if e.What == timeline.Fits && is != nil && is.UID == of[name] { // it is on its way
				delete(outlived, name)
			}
		case c == nil:
		case e.What == timeline.Tried:
			c.placed = c.placed || e.Node != ""
		case e.What == timeline.Handled && e.Text == "deleted":
			was := pod(e.Was)
			c.gone = c.gone || was != nil && was.UID == c.uid
		case e.What == timeline.Stored && is != nil:
			c.again = is.UID != c.uid && is.Spec.NodeName == ""
		}
	}
	return outlived
}

// NominationOutlived tells whether a pod, or one of its name that is gone, is nominated so at rest.
func NominationOutlived(trace *timeline.Trace, name string) bool {
	node, outlived := OutlivedNominations(trace)[name]
	return outlived && slices.ContainsFunc(trace.Quiet.Pods, func(p timeline.PodState) bool { return p.Name == name && slices.Contains(p.NominatedTo, node) })
}
