package campaign

import (
	"fmt"
	"os"
)

// residentMemory is the memory of a process, in bytes, or 0 if it is not known.
func residentMemory(pid int) int64 {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0
	}
	var total, resident int64
	if n, _ := fmt.Sscan(string(data), &total, &resident); n < 2 {
		return 0
	}
	return resident * int64(os.Getpagesize())
}
