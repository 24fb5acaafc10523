package analysis

import (
	"math"
	"runtime"
	"runtime/metrics"
	"time"
)

// Cost is what a step took.
type Cost struct {
	Seconds float64 `json:"seconds"`
	PeakMiB float64 `json:"peak_mib"` // largest memory in use by the program, looked at every 20 ms
}

// Measure runs f. Memory is all memory that the runtime holds and has not given back: live
// data of earlier steps counts, garbage of theirs does not.
func Measure(f func() error) (Cost, error) {
	runtime.GC()
	done, peak := make(chan struct{}), make(chan uint64)
	go func() {
		most := held()
		for tick := time.NewTicker(20 * time.Millisecond); ; {
			select {
			case <-tick.C:
				most = max(most, held())
			case <-done:
				tick.Stop()
				peak <- max(most, held())
				return
			}
		}
	}()
	start := time.Now()
	err := f()
	took := time.Since(start)
	close(done)
	return Cost{math.Round(took.Seconds()*100) / 100, math.Round(float64(<-peak) / (1 << 20))}, err
}

func held() uint64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/unused:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64() + s[1].Value.Uint64() + s[2].Value.Uint64()
}
