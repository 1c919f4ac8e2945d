package bubble

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// What is called outside may wait for the network as long as it likes: the clock stands still, and it is no standstill.
func TestOutside(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, _ *http.Request) {
		time.Sleep(500 * time.Millisecond)
		out.WriteHeader(http.StatusTeapot)
	}))
	defer server.Close()
	b := New()
	b.Lend()
	status, took := 0, time.Duration(0)
	crash := b.Do(100*time.Millisecond, 0, func() {
		b.Watch(true)
		defer b.Watch(false)
		start := time.Now()
		b.Outside(func() {
			answer, err := http.Get(server.URL)
			if assert.NoError(t, err) {
				status = answer.StatusCode
				answer.Body.Close()
			}
		})
		took = time.Since(start)
	})
	assert.Nil(t, crash)
	assert.Equal(t, http.StatusTeapot, status)
	assert.Zero(t, took)
	crash = b.Do(Patience, 0, func() {
		assert.PanicsWithValue(t, "of f", func() { b.Outside(func() { panic("of f") }) })
	})
	assert.Nil(t, crash)
	b.Close(func() {})
}
