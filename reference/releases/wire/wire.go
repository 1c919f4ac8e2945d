// Package wire is how preemptcheck and the driver of a release talk: lines of
// JSON over the standard streams of the driver, one Request, one Answer, in turn.
//
// It is compiled into both sides, the older ones of which hold Kubernetes of 2018,
// so it uses the standard library, package observation, and the settings of model only.
package wire

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/observation"
)

// Request is a cluster, with its objects as the API shows them: each side decodes
// them with the types of its own release.
type Request struct {
	Nodes     []json.RawMessage
	Pods      []json.RawMessage
	Budgets   []json.RawMessage
	Preemptor json.RawMessage
	Extra     []Object
	Settings  model.Settings
}

// Object is one of any kind.
type Object struct {
	APIVersion, Kind string
	Object           json.RawMessage
}

// Answer has one of its fields.
type Answer struct {
	Observation *observation.Observation `json:",omitempty"`
	// Refused says what in the cluster the release does not know.
	Refused string `json:",omitempty"`
	// Error says why the release cannot run the cluster.
	Error string `json:",omitempty"`
}

// Refusal is an error that says what a release does not know.
type Refusal string

func (r Refusal) Error() string { return string(r) }

// Serve answers the requests of in, until it ends. It writes the release's name
// first, so that the other side knows that it is ready.
func Serve(release string, in io.Reader, out io.Writer, observe func(*Request) (*observation.Observation, error)) error {
	w := bufio.NewWriterSize(out, 1<<16)
	send := json.NewEncoder(w)
	if err := send.Encode(Hello{Release: release}); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	receive := json.NewDecoder(bufio.NewReaderSize(in, 1<<16))
	for {
		var request Request
		if err := receive.Decode(&request); err == io.EOF {
			return nil
		} else if err != nil {
			return fmt.Errorf("reading a request: %v", err)
		}
		var answer Answer
		observation, err := observe(&request)
		switch refusal, refused := err.(Refusal); {
		case refused:
			answer.Refused = string(refusal)
		case err != nil:
			answer.Error = err.Error()
		default:
			answer.Observation = observation
		}
		if err := send.Encode(answer); err != nil {
			return err
		}
		if err := w.Flush(); err != nil {
			return err
		}
	}
}

// Hello is the driver's first line.
type Hello struct{ Release string }
