package onnx

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/pho-go/pho/internal/onnxpb"
)

// mlpModel is 10-200-200-1 with ReLU, as nn.Linear is exported.
func mlpModel(t testing.TB) []byte {
	rng := rand.New(rand.NewPCG(3, 4))
	b := onnxpb.NewBuilder(13)
	b.AddInput("x", tFloat, onnxpb.Rows, 10)
	values := func(n int) []float64 {
		v := make([]float64, n)
		for i := range v {
			v[i] = 0.1 * rng.NormFloat64()
		}
		return v
	}
	sizes := []int{10, 200, 200, 1}
	at := "x"
	for i, names := range [][4]string{{"w0", "b0", "g0", "h0"}, {"w1", "b1", "g1", "h1"}, {"w2", "b2", "g2", ""}} {
		k, n := sizes[i], sizes[i+1]
		b.AddInit(names[0], []int{n, k}, values(n*k)...)
		b.AddInit(names[1], []int{n}, values(n)...)
		b.AddNode("Gemm", in(at, names[0], names[1]), names[2], onnxpb.Int("transB", 1))
		if at = names[2]; names[3] != "" {
			b.AddNode("Relu", in(at), names[3])
			at = names[3]
		}
	}
	b.Output(at, tFloat, onnxpb.Rows, 1)
	return bytesOf(t, b)
}

func benchRunner(b testing.TB, precision Precision, rows int) (r *Runner, dst, inputs [][]float64) {
	g, err := Load(bytes.NewReader(mlpModel(b)), nil)
	if err != nil {
		b.Fatal(err)
	}
	if r, err = NewRunner(g, g.Outputs, RunOptions{Precision: precision}); err != nil {
		b.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(5, 6))
	x := make([]float64, rows*10)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	return r, [][]float64{make([]float64, rows)}, [][]float64{x}
}

// BenchmarkMLP runs blocks of 256 rows of the MLP 10-200-200-1 on one core.
func BenchmarkMLP(b *testing.B) {
	for _, p := range []struct {
		name      string
		precision Precision
	}{{"float64", Double}, {"float32", Single}} {
		b.Run(p.name, func(b *testing.B) {
			r, dst, in := benchRunner(b, p.precision, 256)
			b.ReportAllocs()
			for b.Loop() {
				if err := r.Run(dst, in, 256); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(256*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}
