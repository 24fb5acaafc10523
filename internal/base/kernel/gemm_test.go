package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// wantMul is A*B plus bias, every element summed in lanes partial sums, as
// instruction set s rounds; one is in order of k from the bias.
func wantMul[T Float](s isa, a []T, lda int, b, bias []T, m, n, k, lanes int, relu bool) []T {
	add := mulAdd[T](s)
	c := make([]T, m*n)
	for i := range m {
		for j := range n {
			var sums [16]T
			if lanes == 1 && bias != nil {
				sums[0] = bias[j]
			}
			for l := range k {
				sums[l%lanes] = add(a[i*lda+l], b[l*n+j], sums[l%lanes])
			}
			for half := lanes / 2; half > 0; half /= 2 {
				for l := range half {
					sums[l] += sums[l+half]
				}
			}
			sum := sums[0]
			if lanes > 1 && bias != nil {
				sum += bias[j]
			}
			if relu && sum < 0 {
				sum = 0
			}
			c[i*n+j] = sum
		}
	}
	return c
}

func transposed[T Float](b []T, k, n int) []T {
	t := make([]T, n*k)
	for l := range k {
		for j := range n {
			t[j*k+l] = b[l*n+j]
		}
	}
	return t
}

// checkMul compares all products of one shape with plain loops, bit for bit.
func checkMul[T Float](t testing.TB, s isa, rng *rand.Rand, m, n, k int, special bool) {
	t.Helper()
	lda, ldc := k+rng.IntN(3), n+rng.IntN(3)
	off := rng.IntN(8)
	a, b := newGuarded[T](max(0, (m-1)*lda+k), off), newGuarded[T](k*n, rng.IntN(8))
	bias := newGuarded[T](n, rng.IntN(8))
	awkward(rng, a.v, special)
	awkward(rng, b.v, special)
	awkward(rng, bias.v, special)
	biases := [][]T{nil, bias.v}
	lanes := 1
	if n == 1 {
		lanes = 64 / sizeOf[T]()
	}
	for _, w := range []*Weights[T]{packWeights(s, k, n, b.v, false), packWeights(s, k, n, transposed(b.v, k, n), true)} {
		for _, relu := range []bool{false, true} {
			for _, bias := range biases {
				want := wantMul(s, a.v, lda, b.v, bias, m, n, k, lanes, relu)
				c := newGuarded[T](max(0, (m-1)*ldc+n), off)
				if w.mul(c.v, ldc, a.v, lda, m, bias, relu, aheadOf(c.v)); m > 0 && n > 0 {
					compare(t, fmt.Sprintf("%v m %d n %d k %d relu %v bias %v", s, m, n, k, relu, bias != nil), c.v, ldc, want, m, n)
				}
				c.check(t)
			}
		}
	}
	checkMulOnto(t, s, a.v, lda, b.v, m, n, k, special)
	dense := make([]T, m*k)
	for i := range m {
		copy(dense[i*k:], a.v[i*lda:i*lda+k])
	}
	c := newGuarded[T](m*n, off)
	gemm(s, c.v, dense, b.v, m, n, k)
	compare(t, fmt.Sprintf("%v Gemm m %d n %d k %d", s, m, n, k), c.v, n, wantMul(s, dense, k, b.v, nil, m, n, k, 1, false), m, n)
	c.check(t)
}

// checkMulOnto: sums that begin at rows of numbers are, row by row, those that begin at a bias.
func checkMulOnto[T Float](t testing.TB, s isa, a []T, lda int, b []T, m, n, k int, special bool) {
	t.Helper()
	rng := rand.New(rand.NewPCG(uint64(m), uint64(n<<20+k)))
	ldx, ldc := n+rng.IntN(3), n+rng.IntN(3)
	x := newGuarded[T](max(0, (m-1)*ldx+n), rng.IntN(8))
	awkward(rng, x.v, special)
	lanes := 1
	if n == 1 {
		lanes = 64 / sizeOf[T]()
	}
	w := packWeights(s, k, n, b, false).SkipZeros()
	for _, relu := range []bool{false, true} {
		var want []T
		for i := range m {
			want = append(want, wantMul(s, a[i*lda:], lda, b, x.v[i*ldx:], 1, n, k, lanes, relu)...)
		}
		c := newGuarded[T](max(0, (m-1)*ldc+n), rng.IntN(8))
		if w.MulOnto(c.v, ldc, a, lda, m, x.v, ldx, relu); m > 0 && n > 0 {
			compare(t, fmt.Sprintf("%v onto rows, m %d n %d k %d relu %v", s, m, n, k, relu), c.v, ldc, want, m, n)
		}
		c.check(t)
	}
}

// compare also sees to it that what lies between the rows of c is untouched.
func compare[T Float](t testing.TB, what string, c []T, ldc int, want []T, m, n int) {
	t.Helper()
	for i, got := range c {
		i, j := i/max(ldc, 1), i%max(ldc, 1)
		switch {
		case j >= n:
			if got != guardValue {
				t.Fatalf("%s: wrote %v in row %d beyond column %d", what, got, i, n)
			}
		case !same(got, want[i*n+j]):
			t.Fatalf("%s: element %d,%d is %v, want %v", what, i, j, got, want[i*n+j])
		}
	}
}

// Every path sums in order of k, so results equal a plain loop's bit for bit.
func TestMul(t *testing.T) {
	eachISA(t, func(t *testing.T, s isa) {
		rng := rand.New(rand.NewPCG(1, 2))
		for _, m := range []int{0, 1, 2, 3, 5, 7, 11, 12, 13, 23, 65} {
			for _, n := range []int{0, 1, 3, 4, 5, 8, 9, 15, 16, 17, 31, 32, 33, 63, 70} {
				for _, k := range []int{0, 1, 2, 7, 65} {
					checkMul[float64](t, s, rng, m, n, k, false)
					checkMul[float32](t, s, rng, m, n, k, false)
				}
			}
		}
		// Beyond a block of rows and of k.
		for _, shape := range [][3]int{{rowBlock + 5, 9, 3}, {3, 37, kBlock + 1}, {2, 5, 2*kBlock + 3}, {2*rowBlock + 1, 2, kBlock + 5},
			{14, 70, 512}, {1, 64, 5}, {1, 96, 3}, {1, 129, 7}, {1, 200, 300}, {1, 333, 2}} {
			checkMul[float64](t, s, rng, shape[0], shape[1], shape[2], false)
			checkMul[float32](t, s, rng, shape[0], shape[1], shape[2], false)
		}
	})
}

// One column, and one column times one row, with every tail.
func TestMulNarrow(t *testing.T) {
	eachISA(t, func(t *testing.T, s isa) {
		rng := rand.New(rand.NewPCG(8, 9))
		for long := range 70 {
			for _, m := range []int{1, 2, 3, 4, 7, 8, 69, 139} {
				checkMul[float64](t, s, rng, m, 1, long, long%2 == 1)
				checkMul[float32](t, s, rng, m, 1, long, long%2 == 1)
				checkMul[float64](t, s, rng, m, 2*long, 1, long%2 == 1)
				checkMul[float32](t, s, rng, m, 2*long, 1, long%2 == 1)
			}
		}
	})
}

// Frames of a signal are rows that overlap.
func TestMulOverlappingRows(t *testing.T) {
	eachISA(t, func(t *testing.T, s isa) {
		rng := rand.New(rand.NewPCG(10, 11))
		for _, step := range []int{0, 1, 3} {
			const m, n, k = 14, 6, 4
			a, b := numbered[float64](rng, (m-1)*step+k), numbered[float64](rng, k*n)
			c := make([]float64, m*n)
			packWeights(s, k, n, b, false).Mul(c, n, a, step, m, nil)
			compare(t, fmt.Sprintf("%v, %d apart", s, step), c, n, wantMul(s, a, step, b, nil, m, n, k, 1, false), m, n)
		}
	})
}

// Sums of no terms are the bias, and a is not read even where rows of it begin.
func TestMulOverNothing(t *testing.T) {
	eachISA(t, func(t *testing.T, s isa) {
		const m = rowBlock + 1
		c := make([]float64, m)
		packWeights(s, 0, 1, []float64{}, false).Mul(c, 1, make([]float64, 2*(m-1)), 2, m, []float64{3})
		for i, x := range c {
			if x != 3 {
				t.Fatalf("row %d is %v, want 3", i, x)
			}
		}
	})
}

// NaN, infinities, signed zeros and subnormals go through as IEEE arithmetic
// has it.
func TestMulSpecialValues(t *testing.T) {
	eachISA(t, func(t *testing.T, s isa) {
		rng := rand.New(rand.NewPCG(3, 4))
		for range 40 {
			m, n, k := rng.IntN(30), rng.IntN(40), rng.IntN(12)
			checkMul[float64](t, s, rng, m, n, k, true)
			checkMul[float32](t, s, rng, m, n, k, true)
		}
	})
}

// A row's bits do not depend on how many rows the call has, nor on where it is.
func TestMulRowsStayApart(t *testing.T) {
	eachISA(t, func(t *testing.T, s isa) {
		rng := rand.New(rand.NewPCG(5, 6))
		const m = 40
		for _, shape := range [][2]int{{37, 300}, {1, 300}, {37, 1}} {
			n, k := shape[0], shape[1]
			a, b, bias := make([]float64, m*k), make([]float64, k*n), make([]float64, n)
			awkward(rng, a, false)
			awkward(rng, b, false)
			awkward(rng, bias, false)
			w := packWeights(s, k, n, b, false)
			all := make([]float64, m*n)
			w.mul(all, n, a, k, m, bias, false, nil)
			for rows := 1; rows < m; rows++ {
				from := rng.IntN(m - rows + 1)
				c := make([]float64, rows*n)
				w.mul(c, n, a[from*k:], k, rows, bias, false, nil)
				for i, x := range c {
					if !same(x, all[from*n+i]) {
						t.Fatalf("%d rows of %d products from row %d: element %d is %v, with all rows %v", rows, k, from, i, x, all[from*n+i])
					}
				}
			}
		}
	})
}

func FuzzMul(f *testing.F) {
	f.Add(uint64(1), uint8(13), uint8(33), uint16(300))
	f.Add(uint64(2), uint8(13), uint8(1), uint16(37))
	f.Add(uint64(3), uint8(13), uint8(69), uint16(1))
	f.Fuzz(func(t *testing.T, seed uint64, m, n uint8, k uint16) {
		rng := rand.New(rand.NewPCG(seed, 7))
		special := seed%2 == 0
		for _, s := range supported() {
			checkMul[float64](t, s, rng, int(m)%50, int(n)%70, int(k)%600, special)
			checkMul[float32](t, s, rng, int(m)%50, int(n)%70, int(k)%600, special)
		}
	})
}

func TestScaleKeepsSource(t *testing.T) {
	eachISA(t, func(t *testing.T, s isa) {
		b := []float64{1, 2}
		w := packWeights(s, 1, 2, b, false)
		w.Scale(3)
		c := make([]float64, 2)
		w.Mul(c, 2, []float64{2}, 1, 1, nil)
		if c[0] != 6 || c[1] != 12 || b[0] != 1 || b[1] != 2 {
			t.Fatalf("product %v, source %v", c, b)
		}
	})
}

// Assembly checks no bounds: slices that are too short must not reach it.
func TestMulRefusesShortSlices(t *testing.T) {
	eachISA(t, func(t *testing.T, s isa) {
		w := packWeights(s, 3, 4, make([]float64, 12), false)
		for name, call := range map[string]func(){
			"c":         func() { w.Mul(make([]float64, 7), 4, make([]float64, 6), 3, 2, nil) },
			"a":         func() { w.Mul(make([]float64, 8), 4, make([]float64, 5), 3, 2, nil) },
			"bias":      func() { w.Mul(make([]float64, 8), 4, make([]float64, 6), 3, 2, make([]float64, 3)) },
			"stride":    func() { w.Mul(make([]float64, 8), math.MaxInt, make([]float64, 6), 3, 2, nil) },
			"backwards": func() { w.Mul(make([]float64, 8), -4, make([]float64, 6), 3, 2, nil) },
			"weights":   func() { packWeights(s, 3, 4, make([]float64, 11), false) },
			"gemm":      func() { gemm(s, make([]float64, 8), make([]float64, 6), make([]float64, 11), 2, 4, 3) },
		} {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%s: no panic", name)
					}
				}()
				call()
			}()
		}
	})
}

func TestMulDoesNotAllocate(t *testing.T) {
	a, b, c := make([]float32, 20*30), make([]float32, 30*40), make([]float32, 20*40)
	w, column, row := Pack(30, 40, b, false), Pack(30, 1, b, false), Pack(1, 40, b, false)
	if n := testing.AllocsPerRun(10, func() {
		w.Mul(c, 40, a, 30, 20, nil)
		column.Mul(c, 2, a, 30, 20, nil)
		row.Mul(c, 40, a, 1, 20, nil)
		Gemm(c, a, b, 20, 40, 30)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func benchMul[T Float](b *testing.B, m, n, k int) {
	a, w, c := make([]T, m*k), make([]T, k*n), make([]T, m*n)
	rng := rand.New(rand.NewPCG(1, 2))
	awkward(rng, a, false)
	awkward(rng, w, false)
	run := func(name string, f func()) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				f()
			}
			b.ReportMetric(2*float64(m*n*k)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
		})
	}
	for _, s := range supported() {
		p := packWeights(s, k, n, w, false)
		run(s.String(), func() { p.Mul(c, n, a, k, m, nil) })
		run(s.String()+"-unpacked", func() { gemm(s, c, a, w, m, n, k) })
	}
}

func BenchmarkMul(b *testing.B) {
	for _, shape := range [][3]int{{1, 200, 200}, {256, 200, 200}, {256, 64, 64}, {256, 64, 1}, {256, 1, 32}, {512, 512, 512}} {
		name := fmt.Sprintf("%dx%dx%d", shape[0], shape[1], shape[2])
		b.Run(name+"/float64", func(b *testing.B) { benchMul[float64](b, shape[0], shape[1], shape[2]) })
		b.Run(name+"/float32", func(b *testing.B) { benchMul[float32](b, shape[0], shape[1], shape[2]) })
	}
}

// A bias of -0 is -0 only while products of -0 are added: arithmetic of IEEE 754, also
// where products with a 0 could be left out.
func TestMulNegativeZero(t *testing.T) {
	eachISA(t, func(t *testing.T, s isa) {
		negativeZero(t, s, float64(math.Copysign(0, -1)))
		negativeZero(t, s, float32(math.Copysign(0, -1)))
	})
}

func negativeZero[T Float](t *testing.T, s isa, minus T) {
	t.Helper()
	const k, n = 3, 5
	b := make([]T, k*n)
	for i := range b {
		b[i] = T(i%3) - 1
	}
	bias := slices.Repeat([]T{minus}, n)
	a := []T{0, minus, 0, minus, minus, minus, 0, 0, 0, 1, 0, minus}
	m := len(a) / k
	c := make([]T, m*n)
	packWeights(s, k, n, b, false).mul(c, n, a, k, m, bias, false, nil)
	compare(t, fmt.Sprintf("%v %T", s, minus), c, n, wantMul(s, a, k, b, bias, m, n, k, 1, false), m, n)
}

// Rows of A that share lines of the cache are taken fewer at a time: the bits are those of rows next to each other.
func TestMulRowsThatShareLines(t *testing.T) {
	eachISA(t, func(t *testing.T, s isa) {
		sharedLines[float64](t, s)
		sharedLines[float32](t, s)
	})
}

func sharedLines[T Float](t *testing.T, s isa) {
	t.Helper()
	const k, n = 21, 35
	rng := rand.New(rand.NewPCG(2, 12))
	b := make([]T, k*n)
	awkward(rng, b, false)
	w, lda := packWeights(s, k, n, b, false), pageOfLines/sizeOf[T]()
	for _, m := range []int{1, 7, 8, 11, 12, 13, 20, 37} {
		apart, near := make([]T, m*lda), make([]T, m*k)
		for i := range m {
			awkward(rng, near[i*k:][:k], false)
			copy(apart[i*lda:], near[i*k:][:k])
		}
		got, want := make([]T, m*n), make([]T, m*n)
		w.mul(got, n, apart, lda, m, nil, false, nil)
		w.mul(want, n, near, k, m, nil, false, nil)
		sameBits(t, fmt.Sprintf("%v, %d rows", s, m), got, want)
	}
}
