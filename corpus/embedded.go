package corpus

import (
	"embed"
	"fmt"
	"io/fs"
	"slices"
)

//go:embed cases/*.yaml timelines/*.yaml
var embedded embed.FS

// Witness is the case, or the timeline, of this corpus on which a known finding occurs: that of the name
// ledger.Entry.Witness.
func Witness(name string) (*Case, error) {
	for _, folder := range []string{"cases", "timelines"} {
		if c, err := Embedded(folder + "/" + name + ".yaml"); err == nil {
			return c, nil
		}
	}
	return nil, fmt.Errorf("the corpus has no case %q", name)
}

// Names are the files of this corpus, in order: "cases/NAME.yaml" and "timelines/NAME.yaml".
func Names() []string {
	names, err := fs.Glob(embedded, "*/*.yaml")
	if err != nil {
		panic(err) // the pattern is a good one
	}
	slices.Sort(names)
	return names
}

// Embedded is the case, or the timeline, of a file of this corpus.
func Embedded(file string) (*Case, error) {
	text, err := embedded.Open(file)
	if err != nil {
		return nil, err
	}
	defer text.Close()
	stream, err := Read(text, file)
	if err != nil {
		return nil, err
	}
	return stream.Cases[0], nil
}
