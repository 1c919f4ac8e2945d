package corpus

import (
	"embed"
	"fmt"
)

//go:embed cases/finding-*.yaml timelines/finding-*.yaml
var witnesses embed.FS

// Witness is the case, or the timeline, of this corpus on which a known finding occurs: that of the name
// ledger.Entry.Witness.
func Witness(name string) (*Case, error) {
	for _, folder := range []string{"cases", "timelines"} {
		file, err := witnesses.Open(folder + "/" + name + ".yaml")
		if err != nil {
			continue
		}
		defer file.Close()
		stream, err := Read(file, name+".yaml")
		if err != nil {
			return nil, err
		}
		return stream.Cases[0], nil
	}
	return nil, fmt.Errorf("the corpus has no case %q", name)
}
