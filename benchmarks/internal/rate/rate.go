// Package rate measures what one processor does with operands in the first cache, and memory: what
// benchmarks say that something must cost at least is made of these.
package rate

import (
	"math/rand/v2"
	"time"

	"github.com/pho-go/pho/internal/base/kernel"
)

// copyRate is how many GB/s go from memory to memory, read and written.
func copyRate() float64 {
	from, to := make([]byte, 256<<20), make([]byte, 256<<20)
	for i := range from { // memory that nobody has written to is one page
		from[i] = byte(i)
	}
	best := time.Hour
	for range 5 {
		began := time.Now()
		copy(to, from)
		best = min(best, time.Since(began))
	}
	return 2 * float64(len(from)) / float64(best.Nanoseconds())
}

// Columns are those of a spline's basis, of which four are not 0 in a row.
const Columns = 20

const blockRows = 256 // rows at a time

// Rates are of one processor, in nanoseconds unless said otherwise.
type Rates struct {
	FMA     float64 // multiplications with an addition in a nanosecond
	Copied  float64 // memory to memory, GB/s, read and written
	Outer   float64 // products of four by four values added to sums
	Form    float64 // a form of four by four values
	Product float64 // four values times coefficients
	Spline  float64 // a row of a spline's basis
	Scale   float64 // four values times each of two columns
	Beside  float64 // four values times each of inputs columns
	Table   float64 // a row in a table of three columns
}

// Measure takes some seconds; inputs are the columns of Beside.
func Measure(inputs int) Rates {
	k := newKernels()
	return Rates{k.fma(), copyRate(), k.outer(), k.form(), k.product(), k.spline(), k.scale(2), k.scale(inputs), k.table()}
}

// kernels are operands of a block of rows.
type kernels struct {
	first, second []int32
	values, x     []float64
	dst, cells    []float64
	coef, matrix  []float64
	bins          []uint8
}

func newKernels() *kernels {
	r := rand.New(rand.NewPCG(1, 2))
	k := &kernels{first: make([]int32, blockRows), second: make([]int32, blockRows), values: make([]float64, 4*blockRows), x: make([]float64, blockRows), bins: make([]uint8, blockRows),
		dst: make([]float64, blockRows), cells: kernel.Aligned((Columns - 3) * (Columns - 3) * 16), coef: make([]float64, Columns), matrix: make([]float64, Columns*Columns)}
	for i := range k.first {
		k.first[i], k.second[i], k.x[i], k.bins[i] = interval(r.NormFloat64()), interval(r.NormFloat64()), r.Float64(), uint8(r.IntN(8))
	}
	for _, v := range [][]float64{k.values, k.coef, k.matrix} {
		for i := range v {
			v[i] = r.NormFloat64() * 1e-6
		}
	}
	return k
}

// interval is where a standard normal number, as the data are, lies among the knots of a spline from the least
// of a million to the largest: where rows follow each other in the same cell, the second waits for the first.
func interval(x float64) int32 {
	return int32(max(0, min((x+4.9)/9.8, 0.999)) * (Columns - 3))
}

// each is the nanoseconds that run takes for each of so many, the fastest of many times.
func each(many int, run func()) float64 {
	best := time.Hour
	for range 3000 {
		began := time.Now()
		run()
		best = min(best, time.Since(began))
	}
	return float64(best.Nanoseconds()) / float64(many)
}

func (k *kernels) outer() float64 {
	return each(blockRows, func() {
		kernel.AddOuter(k.cells, Columns-3, Columns-3, k.first, k.values, k.second, k.values, k.x)
	})
}

func (k *kernels) form() float64 {
	return each(blockRows, func() {
		kernel.AddBilinear(k.dst, k.matrix, Columns, Columns, Columns, k.first, k.values, k.second, k.values)
	})
}

func (k *kernels) product() float64 {
	return each(blockRows, func() { kernel.MulBand(k.dst, k.first, k.values, k.coef) })
}

func (k *kernels) spline() float64 {
	first, values := make([]int32, blockRows), make([]float64, 4*blockRows)
	return each(blockRows, func() { kernel.Splines(first, values, k.x, 0, 1, Columns-3, Columns-3) })
}

// scale is the time of four values times each of q columns, for X'WR and for columns beside
// splines.
func (k *kernels) scale(q int) float64 {
	cells, beside := kernel.Aligned((Columns-3)*q*kernel.Band), make([]float64, blockRows*q)
	return each(blockRows, func() {
		kernel.AddScaled(cells, Columns-3, k.first, k.values, beside, q, q, k.x)
	})
}

// table is the time of three sums of a cell of a table of three columns' bins.
func (k *kernels) table() float64 {
	type sum [3]float64
	var cells [1 << 10]sum
	x := k.x[2:]
	first, second, third := k.bins[:len(x)], k.bins[1:][:len(x)], k.bins[2:][:len(x)]
	return each(len(x), func() {
		for i, v := range x {
			s := &cells[(uint(first[i])*81+uint(second[i])*9+uint(third[i]))%uint(len(cells))]
			s[0], s[1], s[2] = s[0]+1, s[1]+v, s[2]+v
		}
	})
}

// fma is how many multiplications with an addition there are in a nanosecond, of a product
// of matrices in the first caches.
func (k *kernels) fma() float64 {
	const n = 128
	a, c := make([]float64, n*n), make([]float64, n*n)
	for i := range a {
		a[i] = 1e-3
	}
	w := kernel.Pack(n, n, a, false)
	return 1 / each(n*n*n, func() { w.Mul(c, n, a, n, n, nil) })
}
