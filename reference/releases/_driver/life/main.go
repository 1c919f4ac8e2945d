// A driver that runs timelines does to its own release of kube-scheduler what package life does
// to the one linked into preemptcheck.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"testing"

	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/reference/life"
	"github.com/preemptcheck/preemptcheck/reference/releases/lifewire"
	"github.com/preemptcheck/preemptcheck/reference/releases/wire"
)

// release is set by the linker.
var release string

func main() {
	testing.Init() // for bubbles
	flag.Parse()
	life.Release = release
	if err := serve(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve(in io.Reader, out io.Writer) error {
	w := bufio.NewWriterSize(out, 1<<16)
	send := json.NewEncoder(w)
	receive := json.NewDecoder(bufio.NewReaderSize(in, 1<<16))
	var answer any = wire.Hello{Release: release}
	for {
		if err := errors.Join(send.Encode(answer), w.Flush()); err != nil {
			return err
		}
		var request lifewire.Request
		if err := receive.Decode(&request); err == io.EOF {
			return nil
		} else if err != nil {
			return fmt.Errorf("reading a request: %w", err)
		}
		ctx := context.Background()
		if request.Tell {
			ctx = timeline.Telling(ctx, func(part *timeline.Trace) {
				_ = errors.Join(send.Encode(lifewire.Part{Part: lifewire.OfTrace(part)}), w.Flush()) // the answer meets the same error
			})
		}
		trace, err := life.Run(ctx, request.Timeline.Received())
		if err != nil {
			answer = lifewire.Answer{Error: err.Error()}
			continue
		}
		answer = lifewire.Answer{Trace: lifewire.OfTrace(trace)}
	}
}
