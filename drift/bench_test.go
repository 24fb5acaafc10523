package drift_test

import (
	"fmt"
	"testing"

	"github.com/pho-go/pho/drift"
)

// Rows added a second, for 10 terms; rows in clusters are those of a block of 50.
func BenchmarkAdd(b *testing.B) {
	const rows = 4096
	for _, settings := range []drift.Settings{{}, {Block: 50}} {
		b.Run(fmt.Sprint("block=", settings.Block), func(b *testing.B) {
			parts, of := draw{}.parts(newRand(), rows)
			s := newState(b, simulatedTerms, settings)
			a, err := s.Begin(drift.Source{ID: "a"})
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if err := a.Add(parts, of); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)*rows/b.Elapsed().Seconds(), "rows/s")
		})
	}
}
