package moments_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/decompose/internal/moments"
	"github.com/pho-go/pho/design"
)

// pass reports rows/s of one worker over n rows in chunks.
func pass(b *testing.B, bases []moments.Basis, x []design.Columns, w []float64, n int) {
	passBy(b, false, bases, x, w, n)
}

func passBy(b *testing.B, factor bool, bases []moments.Basis, x []design.Columns, w []float64, n int) {
	l := moments.Layout{Bases: bases, Predictors: [][]int{nil}, Responses: 1, Factor: factor}
	for i := range bases {
		l.Predictors[0] = append(l.Predictors[0], i)
	}
	s := rowset{l, x, w, mat.NewDense(n, 1, nil)}
	chunk := moments.NewChunk(l)
	rows := moments.ChunkRows(l.Columns())
	b.ReportAllocs()
	for b.Loop() {
		sum := moments.NewSum(l, 0)
		for i := 0; i < n; i += rows {
			chunk.Reset()
			s.add(b, chunk, i, min(i+rows, n), 512)
			if err := sum.Append(chunk.Moments()); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}

func BenchmarkDense(b *testing.B) {
	const n, p = 100_000, 200
	rng := rand.New(rand.NewPCG(1, 1))
	x := mat.NewDense(n, p, nil)
	for i := range n {
		for j := range p {
			x.Set(i, j, rng.NormFloat64())
		}
	}
	pass(b, []moments.Basis{{Name: "x", Dim: p}}, []design.Columns{design.Dense{Dense: x}}, nil, n)
	b.ReportMetric(float64(n)*p*(p+1)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
}

// The two routes side by side.
func BenchmarkRoutes(b *testing.B) {
	for _, p := range []int{50, 200} {
		const n = 40_000
		rng := rand.New(rand.NewPCG(1, 1))
		x := mat.NewDense(n, p, nil)
		for i := range n {
			for j := range p {
				x.Set(i, j, rng.NormFloat64())
			}
		}
		for _, factor := range []bool{false, true} {
			b.Run(fmt.Sprintf("dense=%d/factor=%v", p, factor), func(b *testing.B) {
				passBy(b, factor, []moments.Basis{{Name: "x", Dim: p}}, []design.Columns{design.Dense{Dense: x}}, nil, n)
			})
		}
	}
	const n = 40_000
	bases, x := splines(n)
	for _, factor := range []bool{false, true} {
		b.Run(fmt.Sprintf("splines=200/factor=%v", factor), func(b *testing.B) { passBy(b, factor, bases, x, nil, n) })
	}
}

// Ten B-spline-like bases: 4 of 20 columns in each row.
func BenchmarkSparse(b *testing.B) {
	const n = 100_000
	bases, x := splines(n)
	pass(b, bases, x, nil, n)
}

// Ten cubic splines of 20 columns on equispaced knots, with and without weights.
func BenchmarkBanded(b *testing.B) {
	const n = 100_000
	rng := rand.New(rand.NewPCG(1, 2))
	var bases []moments.Basis
	var x []design.Columns
	for range 10 {
		bases, x = append(bases, moments.Basis{Name: "s", Dim: 20}), append(x, band(rng, n, 20, false))
	}
	w := make([]float64, n)
	for i := range w {
		w[i] = rng.Float64()
	}
	b.Run("unit", func(b *testing.B) { pass(b, bases, x, nil, n) })
	b.Run("weighted", func(b *testing.B) { pass(b, bases, x, w, n) })
}

func band(rng *rand.Rand, n, k int, cyclic bool) *design.Banded {
	s := &design.Banded{D: k, K: 4, Cyclic: cyclic}
	starts := k - 3
	if cyclic {
		starts = k
	}
	for range n {
		s.First = append(s.First, int32(rng.IntN(starts)))
		for range 4 {
			s.Value = append(s.Value, rng.Float64())
		}
	}
	return s
}

// A model of flights, as in benchmarks/flights: factors of few and of many levels,
// two cyclic regression splines, which are dense, and two P-splines, 1,942 columns in
// all.
func BenchmarkFlights(b *testing.B) {
	const n = 2 * 65536
	rng := rand.New(rand.NewPCG(1, 3))
	var bases []moments.Basis
	var x []design.Columns
	add := func(c design.Columns) {
		_, d := c.Dims()
		bases, x = append(bases, moments.Basis{Name: "b", Dim: d}), append(x, c)
	}
	factor := func(levels int) {
		c := &design.Codes{D: levels}
		for range n {
			u := rng.Float64()
			c.Code = append(c.Code, int32(float64(levels)*u*u)) // some are frequent
		}
		add(c)
	}
	factor(15)
	factor(300)
	factor(300)
	for range 2 {
		c := mat.NewDense(n, 19, nil)
		for i := range n {
			for j := range 19 {
				c.Set(i, j, rng.NormFloat64())
			}
		}
		add(design.Dense{Dense: c})
	}
	add(band(rng, n, 10, false))
	add(band(rng, n, 20, false))
	factor(1259)
	pass(b, bases, x, nil, n)
}

func splines(n int) (bases []moments.Basis, x []design.Columns) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 10 {
		s := &design.Sparse{D: 20, K: 4}
		for range n {
			first := int32(rng.IntN(17))
			for l := range int32(4) {
				s.Index = append(s.Index, first+l)
				s.Value = append(s.Value, rng.Float64())
			}
		}
		bases = append(bases, moments.Basis{Name: "s", Dim: 20})
		x = append(x, s)
	}
	return bases, x
}

// Ten factors of 20 levels.
func BenchmarkCodes(b *testing.B) {
	const n = 100_000
	rng := rand.New(rand.NewPCG(1, 3))
	var bases []moments.Basis
	var x []design.Columns
	for range 10 {
		c := &design.Codes{D: 20}
		for range n {
			c.Code = append(c.Code, int32(rng.IntN(20)))
		}
		bases = append(bases, moments.Basis{Name: "f", Dim: 20})
		x = append(x, c)
	}
	pass(b, bases, x, nil, n)
}

// A hundred linear terms, each a basis of its own.
func BenchmarkLinear(b *testing.B) {
	const n, p = 100_000, 100
	rng := rand.New(rand.NewPCG(1, 4))
	var bases []moments.Basis
	var x []design.Columns
	for range p {
		c := mat.NewDense(n, 1, nil)
		for i := range n {
			c.Set(i, 0, rng.NormFloat64())
		}
		bases = append(bases, moments.Basis{Name: "x", Dim: 1})
		x = append(x, design.Dense{Dense: c})
	}
	pass(b, bases, x, nil, n)
}
