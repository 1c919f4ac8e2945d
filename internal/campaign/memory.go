package campaign

import (
	"time"

	"github.com/prometheus/procfs"
)

// usage is the resident memory of a process, in bytes, and the CPU time that it has
// used so far: 0 where they are not known.
func usage(pid int) (memory int64, cpu time.Duration) {
	p, err := procfs.NewProc(pid)
	if err != nil {
		return 0, 0
	}
	stat, err := p.Stat()
	if err != nil {
		return 0, 0
	}
	return int64(stat.ResidentMemory()), time.Duration(stat.CPUTime() * float64(time.Second))
}

// waited is for how long the threads of a process could have run and got no processor so far, together: 0 where it is not known.
func waited(pid int) (wait time.Duration) {
	threads, err := procfs.AllThreads(pid)
	if err != nil {
		return 0
	}
	for _, t := range threads {
		if s, err := t.Schedstat(); err == nil {
			wait += time.Duration(s.WaitingNanoseconds)
		}
	}
	return wait
}
