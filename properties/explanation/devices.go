package explanation

import (
	"fmt"
	"io"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/internal/words"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/device"
	"github.com/preemptcheck/preemptcheck/model/filter"
)

// FromDevices is an extended resource that the pod gets from devices on some nodes, for which
// the scheduler makes a claim.
type FromDevices struct {
	Resource string `json:"resource"`
	// Class is the device class that serves, Devices how many of its devices the pod takes.
	Class   string `json:"class"`
	Devices int    `json:"devices"`
	// Nodes are those that do not have the resource themselves.
	Nodes []string `json:"nodes"`
}

func fromDevices(c *model.Cluster) (all []FromDevices) {
	for _, s := range device.ServedTo(c.Extra, c.Preemptor) {
		f := FromDevices{Resource: s.Resource, Class: s.Class, Devices: s.Devices}
		for _, n := range c.Nodes {
			if !filter.HasItself(n, v1.ResourceName(s.Resource)) {
				f.Nodes = append(f.Nodes, n.Name)
			}
		}
		if len(f.Nodes) > 0 {
			all = append(all, f)
		}
	}
	return all
}

func (e *Explanation) devicesText(w io.Writer) {
	for _, f := range e.FromDevices {
		fmt.Fprintf(w, "Devices: for %s it takes %s of class %s where the node does not have the resource itself, on %s. Preemption frees no devices.\n\n",
			f.Resource, words.Plural(f.Devices, "device"), f.Class, words.Some(f.Nodes, shownNodes))
	}
}
