package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// unitsOf lays row-major rows out unit by unit; the gaps get numbers that no result may
// depend on.
func unitsOf[T Float](rng *rand.Rand, rows []T, q, n int) []T {
	u := Units[T](nil, q, n)
	for i := range u {
		u[i] = T(100 * rng.NormFloat64())
	}
	ld := UnitStride[T](n)
	for i := range n {
		for j := range q {
			u[j*ld+i] = rows[i*q+j]
		}
	}
	return u
}

// chained is one step of a chain, as an instruction set rounds it.
func chained[T Float](s isa, sum, a, b T) T {
	if s == plain {
		return sum + T(a*b)
	}
	return T(math.FMA(float64(a), float64(b), float64(sum)))
}

// off tells whether a chain's end is another than wanted: in float32 the reference rounds
// twice, so bits are not compared.
func off[T Float](got, want T) bool {
	if sizeOf[T]() == 8 {
		return !same(got, want)
	}
	return !(math.Abs(float64(got-want)) <= 2e-6*(1+math.Abs(float64(want))))
}

func TestMulUnits(t *testing.T) {
	testMulUnits[float64](t)
	testMulUnits[float32](t)
}

func testMulUnits[T Float](t *testing.T) {
	first := map[string][]T{}
	for _, s := range supported() {
		rng := rand.New(rand.NewPCG(5, 6))
		for _, dim := range [][3]int{{1, 1, 1}, {3, 0, 5}, {5, 7, 16}, {7, 9, 40}, {12, 1, 17}, {13, 10, 132}, {31, 20, 70}, {40, 300, 33}, {2, 530, 129}, {1, 9, 140}, {23, 3, 8}} {
			p, k, n := dim[0], dim[1], dim[2]
			for option := range 8 {
				relu, trans, bias := option&1 > 0, option&2 > 0, normals[T](rng, p)
				if option&4 > 0 {
					bias = nil
				}
				m := Matrix[T]{Data: normals[T](rng, p*k), Rows: p, Cols: k, RowStep: k, ColStep: 1}
				if trans {
					m.RowStep, m.ColStep = 1, p
				}
				rows := normals[T](rng, n*k)
				c := unitsOf(rng, normals[T](rng, n*p), p, n)
				m.mulUnits(s, c, unitsOf(rng, rows, k, n), n, bias, relu)
				what := fmt.Sprintf("%T, %d x %d, %d rows, option %d", T(0), p, k, n, option)
				var all []T
				for i := range p {
					for r := range n {
						var want T
						if bias != nil {
							want = bias[i]
						}
						for l := range k {
							want = chained(s, want, m.Data[i*m.RowStep+l*m.ColStep], rows[r*k+l])
						}
						got := c[i*UnitStride[T](n)+r]
						if all = append(all, got); off(got, rectified(want, relu)) {
							t.Fatalf("%s, %v: unit %d of row %d is %v, want %v", what, s, i, r, got, want)
						}
					}
				}
				if s == plain {
					continue
				}
				if first[what] == nil {
					first[what] = all
				}
				sameBits(t, what, all, first[what])
			}
		}
	}
}

// TestRows: sums over rows are in order, whatever the shapes, and parts of the rows give the
// bits of all.
func TestRows(t *testing.T) {
	testRows[float64](t)
	testRows[float32](t)
}

func testRows[T Float](t *testing.T) {
	for _, s := range supported() {
		rng := rand.New(rand.NewPCG(7, 8))
		for _, dim := range [][3]int{{1, 1, 1}, {3, 17, 5}, {8, 8, 16}, {5, 33, 40}, {1, 70, 132}, {40, 1, 600}, {67, 1, 90}, {13, 32, 300}, {2, 9, 31}} {
			p, q, n := dim[0], dim[1], dim[2]
			what := fmt.Sprintf("%T, %v, %d x %d, %d rows", T(0), s, p, q, n)
			x, d, ldc := normals[T](rng, n*p), normals[T](rng, n*q), q+2
			if q == 1 && p > 1 { // weights of one unit have a way of their own
				ldc = 1
			}
			c, sum, on := normals[T](rng, p*ldc), normals[T](rng, q), make([]T, n*q)
			masked := slices.Clone(d)
			for i := range on {
				if on[i] = T(rng.IntN(2)); on[i] == 0 {
					masked[i] = 0
				}
			}
			want, wantSum := slices.Clone(c), slices.Clone(sum)
			for i := range n {
				for j := range q {
					wantSum[j] += masked[i*q+j]
					for u := range p {
						want[u*ldc+j] = chained(s, want[u*ldc+j], x[i*p+u], masked[i*q+j])
					}
				}
			}
			parts, partSum := slices.Clone(c), slices.Clone(sum)
			add := func(c, sum []T, from, to int) {
				r := &Rows[T]{data: normals[T](rng, 3)} // memory of another block
				units, mask := unitsOf(rng, d[from*q:to*q], q, to-from), unitsOf(rng, on[from*q:to*q], q, to-from)
				r.turn(s, units, mask, q, to-from)
				for j := range q {
					ld := UnitStride[T](to - from)
					for i := range to - from {
						if !same(units[j*ld+i], masked[(from+i)*q+j]) {
							t.Fatalf("%s: unit %d of row %d is %v, masked", what, j, i, units[j*ld+i])
						}
					}
				}
				for j := 0; j < q; j += r.Columns(j) {
					r.AddProduct(c, ldc, unitsOf(rng, x[from*p:to*p], p, to-from), p, j)
				}
				r.AddSums(sum)
			}
			add(c, sum, 0, n)
			for i := range want {
				if off(c[i], want[i]) {
					t.Fatalf("%s: element %d is %v, want %v", what, i, c[i], want[i])
				}
			}
			sameBits(t, what+": sums", sum, wantSum)
			add(parts, partSum, 0, n/3)
			add(parts, partSum, n/3, n)
			sameBits(t, what+": in parts", parts, c)
			sameBits(t, what+": sums in parts", partSum, sum)
		}
	}
}

// BenchmarkUnits is what a layer of training does with 128 rows, in float32: forward,
// backward, the gradient of its weights, and what turns the rows for it. The fastest call
// says what the code takes.
func BenchmarkUnits(b *testing.B) {
	const n = 128
	rng := rand.New(rand.NewPCG(1, 1))
	for _, dim := range [][2]int{{200, 200}, {64, 64}, {64, 32}, {10, 200}, {200, 1}, {1, 64}} {
		in, out := dim[0], dim[1]
		w, bias := normals[float32](rng, in*out), normals[float32](rng, out)
		x, y := unitsOf(rng, normals[float32](rng, n*in), in, n), unitsOf(rng, normals[float32](rng, n*out), out, n)
		grad := make([]float32, in*out)
		r := &Rows[float32]{}
		r.Turn(y, nil, out, n)
		for _, c := range []struct {
			name string
			f    func()
		}{
			{"forward", func() { Matrix[float32]{w, out, in, 1, out}.MulUnits(y, x, n, bias, true) }},
			{"backward", func() { Matrix[float32]{w, in, out, out, 1}.MulUnits(x, y, n, nil, false) }},
			{"gradient", func() {
				for j := 0; j < out; j += r.Columns(j) {
					r.AddProduct(grad, out, x, in, j)
				}
			}},
			{"turn", func() { r.Turn(y, y, out, n) }},
		} {
			b.Run(fmt.Sprintf("%d-%d/%s", in, out, c.name), func(b *testing.B) {
				fastest := time.Duration(math.MaxInt64)
				for b.Loop() {
					began := time.Now()
					for range 10 {
						c.f()
					}
					fastest = min(fastest, time.Since(began))
				}
				b.ReportMetric(float64(fastest.Nanoseconds())/10, "fastest-ns")
				b.ReportMetric(2*float64(in*out*n)*10/float64(fastest.Nanoseconds()), "GFLOP/s")
			})
		}
	}
}
