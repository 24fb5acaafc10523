package online

import (
	"strconv"
	"sync/atomic"
	"time"
)

type modelCounts struct{ rows atomic.Int64 }

type metrics struct{ requests atomic.Int64 }

func (m *metrics) add(_ *model, _ op, _ int, _ time.Duration) { m.requests.Add(1) }
func (m *metrics) total() int64                              { return m.requests.Load() }
func (s *Server) metricsText() []byte                        { return nil }

func itoa(n int) string { return strconv.Itoa(n) }
