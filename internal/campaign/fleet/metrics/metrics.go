// Package metrics exports what a worker of a fleet does to Prometheus.
package metrics

import (
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/preemptcheck/preemptcheck/internal/campaign/fleet"
)

// Metrics are those of one worker.
type Metrics struct {
	registry *prometheus.Registry
	last     atomic.Pointer[fleet.Worker]
}

// New makes metrics that are all 0.
func New() *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry()}
	m.last.Store(&fleet.Worker{})
	m.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	for _, c := range []struct {
		name, help string
		value      func(*fleet.Worker) float64
	}{
		{"clusters_checked_total", "Clusters in blocks whose result is this worker's.", func(w *fleet.Worker) float64 { return float64(w.Clusters) }},
		{"blocks_checked_total", "Blocks of clusters whose result is this worker's.", func(w *fleet.Worker) float64 { return float64(w.Blocks) }},
		{"blocks_taken_over_total", "Those of them that a lost worker had claimed.", func(w *fleet.Worker) float64 { return float64(w.TakenOver) }},
		{"blocks_lost_total", "Blocks of which another worker had a result first.", func(w *fleet.Worker) float64 { return float64(w.Lost) }},
		{"suspicious_total", "Clusters and timelines with a finding that no known one explains. They are not minimised yet.", func(w *fleet.Worker) float64 { return float64(w.Suspicious()) }},
		{"processes_died_total", "Processes that checked clusters, and died.", func(w *fleet.Worker) float64 { return float64(w.Deaths) }},
		{"cpu_seconds_total", "CPU time of the processes that check clusters, in seconds.", func(w *fleet.Worker) float64 { return w.CPUSeconds }},
	} {
		m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Namespace: "preemptcheck", Name: c.name, Help: c.help}, func() float64 { return c.value(m.last.Load()) }))
	}
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: "preemptcheck", Name: "resident_bytes",
		Help: "Resident memory of the processes that check clusters, in bytes."}, func() float64 { return float64(m.last.Load().Memory) }))
	return m
}

// Set takes over what a worker tells about itself.
func (m *Metrics) Set(w fleet.Worker) { m.last.Store(&w) }

// Server serves metrics until it is closed.
type Server struct {
	*http.Server
	// URL is that of the metrics.
	URL string
}

// Serve serves the metrics at an address, HOST:PORT: without a host, on the loopback interface only.
func (m *Metrics) Serve(address string) (*Server, error) {
	if _, err := strconv.Atoi(address); err == nil {
		address = ":" + address
	}
	if strings.HasPrefix(address, ":") {
		address = "127.0.0.1" + address
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{}))
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go server.Serve(listener) //nolint:errcheck // it ends when it is closed
	return &Server{server, "http://" + listener.Addr().String() + "/metrics"}, nil
}
