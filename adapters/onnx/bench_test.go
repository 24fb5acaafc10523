package onnx

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/pho-go/pho/adapters/onnx/internal/graphtest"
)

// BenchmarkMLP runs blocks of 256 rows of the MLP 10-200-200-1 on one core.
func BenchmarkMLP(b *testing.B) {
	for _, p := range []struct {
		name      string
		precision Precision
	}{{"float64", Double}, {"float32", Single}} {
		b.Run(p.name, func(b *testing.B) {
			g, err := Load(bytes.NewReader(graphtest.MLP(b)), nil)
			if err != nil {
				b.Fatal(err)
			}
			e, err := GoEngine{Precision: p.precision}.Prepare(g, []string{g.Outputs()[0].Name})
			if err != nil {
				b.Fatal(err)
			}
			rng := rand.New(rand.NewPCG(5, 6))
			x := make([]float64, 256*10)
			in, dst := [][]float64{x}, [][]float64{make([]float64, 256)}
			for i := range x {
				x[i] = rng.NormFloat64()
			}
			b.ReportAllocs()
			for b.Loop() {
				if err := e.Run(dst, in, 256); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(256*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}
