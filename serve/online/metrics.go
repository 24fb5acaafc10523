package online

import (
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// statuses are the HTTP statuses of answers; others are counted as the last.
var statuses = [...]int{200, 400, 401, 404, 405, 408, 413, 415, 431, 503, 504, 500}

// buckets are the upper bounds of the latency's histogram in seconds.
var buckets = [...]float64{50e-6, 100e-6, 200e-6, 500e-6, 1e-3, 2e-3, 5e-3, 10e-3, 20e-3, 50e-3, 0.1, 0.5, 1, 5, 10}

// counts are requests of one kind.
type counts struct {
	status  [len(statuses)]atomic.Int64
	took    [len(buckets) + 1]atomic.Int64
	seconds atomic.Int64 // in nanoseconds
}

func (c *counts) add(status int, took time.Duration) {
	at := slices.Index(statuses[:], status)
	if at < 0 {
		at = len(statuses) - 1
	}
	c.status[at].Add(1)
	i := 0
	for i < len(buckets) && took.Seconds() > buckets[i] {
		i++
	}
	c.took[i].Add(1)
	c.seconds.Add(int64(took))
}

// modelCounts are of one model.
type modelCounts struct {
	rows                  atomic.Int64
	infer, plain, explain counts
}

// metrics are of the server.
type metrics struct {
	other [ops]counts // requests that are about no rows
}

func (m *metrics) add(of *model, o op, status int, took time.Duration) {
	switch {
	case of != nil && o == opInfer:
		of.counts.infer.add(status, took)
	case of != nil && o == opRows:
		of.counts.plain.add(status, took)
	case of != nil && o == opExplain:
		of.counts.explain.add(status, took)
	default:
		m.other[o].add(status, took)
	}
}

// page is a text in the format of Prometheus.
type page struct{ strings.Builder }

func (p *page) head(name, kind, help string) {
	fmt.Fprintf(p, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

func (p *page) line(name, labels string, v float64) {
	if labels != "" {
		labels = "{" + labels + "}"
	}
	fmt.Fprintf(p, "%s%s %s\n", name, labels, strconv.FormatFloat(v, 'g', -1, 64))
}

// labelled is a label with its value.
func labelled(name, value string) string {
	return name + `="` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(value) + `"`
}

// kinds are all counts of requests, with their labels.
func (s *Server) kinds(each func(labels string, c *counts)) {
	for _, m := range s.models.all() {
		each(labelled("model", m.name)+`,operation="infer"`, &m.counts.infer)
		each(labelled("model", m.name)+`,operation="rows"`, &m.counts.plain)
		each(labelled("model", m.name)+`,operation="explain"`, &m.counts.explain)
	}
	for o := range ops {
		each(`model="",`+labelled("operation", o.String()), &s.counts.other[o])
	}
}

func (s *Server) metricsText() []byte {
	var p page
	p.head("pho_requests_total", "counter", "Requests that were answered, by HTTP status.")
	s.kinds(func(labels string, c *counts) {
		for i := range c.status {
			if n := c.status[i].Load(); n > 0 {
				p.line("pho_requests_total", labels+`,status="`+strconv.Itoa(statuses[i])+`"`, float64(n))
			}
		}
	})
	p.head("pho_request_seconds", "histogram", "Time from a request's header to its answer, reading the body included.")
	s.kinds(func(labels string, c *counts) { p.histogram("pho_request_seconds", labels, c) })
	s.modelMetrics(&p)
	p.head("pho_queue_requests", "gauge", "Requests that wait for a worker.")
	p.line("pho_queue_requests", "", float64(s.schedule.count()))
	p.head("pho_batched_requests_total", "counter", "Requests that were computed together with others.")
	p.line("pho_batched_requests_total", "", float64(s.schedule.together.Load()))
	p.head("pho_queue_limit", "gauge", "How many may wait.")
	p.line("pho_queue_limit", "", float64(s.o.Queue))
	p.head("pho_buffer_bytes", "gauge", "Memory reserved by large requests in work.")
	p.line("pho_buffer_bytes", "", float64(s.held.Load()))
	p.head("pho_open_connections", "gauge", "Connections of clients.")
	p.line("pho_open_connections", "", float64(s.http.GetOpenConnectionsCount()))
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	p.head("go_memstats_heap_inuse_bytes", "gauge", "Memory of the heap in use.")
	p.line("go_memstats_heap_inuse_bytes", "", float64(memory.HeapInuse))
	p.head("go_goroutines", "gauge", "Goroutines.")
	p.line("go_goroutines", "", float64(runtime.NumGoroutine()))
	p.head("process_start_time_seconds", "gauge", "When the server began, in seconds since 1970.")
	p.line("process_start_time_seconds", "", float64(s.begun.UnixMilli())/1e3)
	return []byte(p.String())
}

func (p *page) histogram(name, labels string, c *counts) {
	total := int64(0)
	var below [len(buckets) + 1]int64
	for i := range c.took {
		total += c.took[i].Load()
		below[i] = total
	}
	if total == 0 {
		return
	}
	for i, bound := range buckets {
		p.line(name+"_bucket", labels+`,le="`+strconv.FormatFloat(bound, 'g', -1, 64)+`"`, float64(below[i]))
	}
	p.line(name+"_bucket", labels+`,le="+Inf"`, float64(total))
	p.line(name+"_sum", labels, time.Duration(c.seconds.Load()).Seconds())
	p.line(name+"_count", labels, float64(total))
}

// modelMetrics are those of each model.
func (s *Server) modelMetrics(p *page) {
	each := func(name, kind, help string, labels func(*model) string, v func(*model) float64) {
		p.head(name, kind, help)
		for _, m := range s.models.all() {
			p.line(name, labels(m), v(m))
		}
	}
	own := func(m *model) string { return labelled("model", m.name) }
	each("pho_rows_total", "counter", "Rows that were split.", own, func(m *model) float64 { return float64(m.counts.rows.Load()) })
	each("pho_reloads_total", "counter", "Replacements of the model that are served.", own, func(m *model) float64 { return float64(m.reloads.Load()) })
	each("pho_reload_failures_total", "counter", "Replacements that could not be used; the old model stays.", own, func(m *model) float64 { return float64(m.failures.Load()) })
	each("pho_model_stale", "gauge", "1: what lies in the model's directory cannot be used, and an older one is served.", own, func(m *model) float64 {
		if m.stale.Load() {
			return 1
		}
		return 0
	})
	each("pho_model_info", "gauge", "Version of the model that is served.", func(m *model) string {
		return own(m) + "," + labelled("version", m.now.Load().version)
	}, func(*model) float64 { return 1 })
}
