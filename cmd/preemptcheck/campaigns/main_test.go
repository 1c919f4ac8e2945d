package campaigns_test

import (
	"os"
	"testing"

	"github.com/preemptcheck/preemptcheck/cmd/preemptcheck/app"
	"github.com/preemptcheck/preemptcheck/cmd/preemptcheck/apptest"
	"github.com/preemptcheck/preemptcheck/reference"
	"github.com/preemptcheck/preemptcheck/reference/inprocess"
	"github.com/preemptcheck/preemptcheck/reference/systems"
)

func TestMain(m *testing.M) {
	systems.Register("uncounted", func() reference.System { return uncounted{inprocess.New()} })
	apptest.Main(m, func() {
		var options []app.Option
		if os.Getenv(withPlugin) != "" {
			options = append(options, app.WithPlugin("Absolute", newAbsolute))
		}
		app.Main(options...)
	})
}

var preemptcheck = apptest.InProcess(app.Run)
