package wire_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/model/observation"
	"github.com/preemptcheck/preemptcheck/reference/releases/wire"
)

// serve answers with what the preemptor asks for.
func serve(in string) ([]string, error) {
	var out bytes.Buffer
	err := wire.Serve("v1.2.3", strings.NewReader(in), &out, func(r *wire.Request) (*observation.Observation, error) {
		switch string(r.Preemptor) {
		case `"refuse"`:
			return nil, wire.Refusal("Pod default/p: spec.resources")
		case `"fail"`:
			return nil, errors.New("cannot run")
		}
		return &observation.Observation{System: "v1.2.3", PotentialNodes: []string{}}, nil
	})
	return strings.Split(strings.TrimSpace(out.String()), "\n"), err
}

func TestServe(t *testing.T) {
	lines, err := serve(`{"Preemptor":"run"}` + "\n" + `{"Preemptor":"refuse"}` + "\n" + `{"Preemptor":"fail"}`)
	require.NoError(t, err)
	require.Len(t, lines, 4)
	require.JSONEq(t, `{"Release":"v1.2.3"}`, lines[0])
	require.JSONEq(t, `{"Refused":"Pod default/p: spec.resources"}`, lines[2])
	require.JSONEq(t, `{"Error":"cannot run"}`, lines[3])

	// A stage that was reached and is empty stays apart from one that was not.
	var answer wire.Answer
	require.NoError(t, json.Unmarshal([]byte(lines[1]), &answer))
	require.Equal(t, &observation.Observation{System: "v1.2.3", PotentialNodes: []string{}}, answer.Observation)
}

// What cannot be read ends the driver: it would not know where the next request
// begins.
func TestServeEndsAtGarbage(t *testing.T) {
	lines, err := serve(`{"Preemptor":"run"} nonsense`)
	require.ErrorContains(t, err, "reading a request")
	require.Len(t, lines, 2)
}
