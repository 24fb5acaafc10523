package moments_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/design"
	"github.com/pho-go/pho/moments"
)

// pass reports rows/s of one worker over n rows in merge blocks.
func pass(b *testing.B, bases []moments.Basis, x []design.Columns, w []float64, n int) {
	passBy(b, false, bases, x, w, n)
}

func passBy(b *testing.B, factor bool, bases []moments.Basis, x []design.Columns, w []float64, n int) {
	l := moments.Layout{Bases: bases, Predictors: [][]int{nil}, Responses: 1, Factor: factor}
	for i := range bases {
		l.Predictors[0] = append(l.Predictors[0], i)
	}
	s := rowset{l, x, w, mat.NewDense(n, 1, nil)}
	block := moments.NewBlock(l)
	rows := moments.BlockRows(l.Columns())
	b.ReportAllocs()
	for b.Loop() {
		sum := moments.NewSum(l, 0)
		for i := 0; i < n; i += rows {
			block.Reset()
			s.add(b, block, i, min(i+rows, n), 512)
			if err := sum.Append(block.Moments()); err != nil {
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
