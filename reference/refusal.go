package reference

import "fmt"

// Refusal is the error of a System that does not know something in a cluster, such
// as a field of a later release. It would be wrong to run the cluster without.
type Refusal struct {
	System string
	// What is unknown, for example "Pod default/a: spec.resources".
	What string
}

func (r *Refusal) Error() string { return fmt.Sprintf("%s does not know %s", r.System, r.What) }
