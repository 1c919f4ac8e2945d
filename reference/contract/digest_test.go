package contract

import (
	"testing"

	"github.com/stretchr/testify/require"
)

type port struct {
	protocol string
	number   int32
}

type held struct {
	ports map[port]struct{}
	next  *held
	any   any
	list  []string
}

// What holds the same is written down alike, and what does not is not: unexported fields and keys of maps included.
func TestDumped(t *testing.T) {
	of := func(change func(*held)) string {
		h := &held{ports: map[port]struct{}{{"TCP", 80}: {}, {"UDP", 80}: {}, {"TCP", 8080}: {}}, any: 1, list: []string{"a"}}
		h.next = &held{next: h} // a circle
		change(h)
		return string(dumped(h))
	}
	same := of(func(*held) {})
	for range 20 {
		require.Equal(t, same, of(func(*held) {}))
	}
	for what, change := range map[string]func(*held){
		"a key more":     func(h *held) { h.ports[port{"SCTP", 80}] = struct{}{} },
		"another key":    func(h *held) { delete(h.ports, port{"TCP", 80}); h.ports[port{"TCP", 81}] = struct{}{} },
		"another type":   func(h *held) { h.any = int64(1) },
		"within":         func(h *held) { h.next.list = []string{""} },
		"no circle":      func(h *held) { h.next.next = nil },
		"another string": func(h *held) { h.list[0] = "b" },
		"nothing":        func(h *held) { h.any = nil },
	} {
		require.NotEqual(t, same, of(change), what)
	}
}
