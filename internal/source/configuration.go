package source

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/internal/shell"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/reference/inprocess"
	"github.com/preemptcheck/preemptcheck/reference/linked"
)

// Configuration is a KubeSchedulerConfiguration that was read from a file. The zero value is none.
type Configuration struct {
	File string
	JSON json.RawMessage
}

// ReadConfiguration reads one, and has a scheduler made of it. Each line of the error names the file,
// the field, and what is allowed.
func ReadConfiguration(file string) (Configuration, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return Configuration{}, err
	}
	c := Configuration{File: file}
	if c.JSON, err = linked.ReadConfiguration(data); err == nil {
		err = inprocess.Configurable(model.Settings{Configuration: c.JSON})
	}
	if err != nil {
		lines := strings.Split(err.Error(), "\n")
		for i, line := range lines {
			lines[i] = fmt.Sprintf("%s: %s", file, line)
		}
		return Configuration{}, errors.New(strings.Join(lines, "\n"))
	}
	return c, nil
}

// Flag is what a command line needs for it, with a blank before.
func (c Configuration) Flag() string {
	if c.File == "" {
		return ""
	}
	return " --config " + shell.Quote(c.File)
}

func (c Configuration) configure(s *corpus.Stream) { s.Configure(c.JSON, c.Flag()) }
