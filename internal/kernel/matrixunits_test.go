package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"sync"
	"testing"
	"unsafe"
)

// modelUnit is what the processor computes in a block, as its manual has it: for each element
// of the sum in a tile, chains of fused multiply-adds over even and over odd elements of a
// chunk, their sum, and then that added to the tile. Denormal numbers are 0.
func modelUnit(u *unitBlock, parts int) {
	orders := map[int][][2]int{1: {{0, 0}}, 3: {{0, 2}, {0, 1}, {1, 1}, {1, 0}, {2, 0}, {0, 0}}}[parts]
	half := func(p unsafe.Pointer, offset uintptr) float32 {
		return math.Float32frombits(uint32(*(*uint16)(unsafe.Add(p, offset))) << 16)
	}
	for i := range u.rows {
		for j := range u.cols {
			sum := float32(0)
			for c := range u.chunks {
				for _, o := range orders {
					a := i/16*u.rowTile + c*u.chunk + uintptr(o[0])*tileBytes + i%16*u.stride
					b := ((j/unitCols*u.chunks+c)*2*uintptr(parts)+j%unitCols/16*uintptr(parts)+uintptr(o[1]))*tileBytes + j%16*4
					var odd [2]float32
					for k := range uintptr(chunkDepth) {
						odd[k%2] = fused(half(u.a, a+2*k), half(u.b, b+k/2*64+k%2*2), odd[k%2])
					}
					sum = flushed(sum + flushed(odd[0]+odd[1]))
				}
			}
			bias := *(*float32)(unsafe.Add(u.bias, j/unitCols*u.biasStep+j%unitCols*4))
			sum += bias
			if least := math.Float32frombits(uint32(u.least)); sum < least {
				sum = least
			}
			*(*float32)(unsafe.Add(u.c, i*u.cs+4*j)) = sum
		}
	}
}

// modelSplit is splitting in Go.
func modelSplit(r *splitRows, stacked bool) {
	for i := range r.rows {
		dst := unsafe.Add(r.dst, i*r.step)
		src := unsafe.Slice((*float32)(unsafe.Add(r.src, i*r.ss)), r.cols)
		*(*uint32)(unsafe.Add(r.largest, 4*i)) = largestBits(src)
		if stacked {
			to := unsafe.Slice((*uint16)(dst), r.chunk/2)
			clear(to)
			for l, x := range src {
				p := split(x)
				for part, meet := range stackedOrder() {
					to[part*len(src)+l] = p[meet[0]]
				}
			}
			continue
		}
		for c := uintptr(0); c*chunkDepth < r.cols; c++ {
			for l := range uintptr(chunkDepth) {
				var p [3]uint16
				if k := c*chunkDepth + l; k < r.cols {
					p = split(src[k])
				}
				for part, bits := range p {
					*(*uint16)(unsafe.Add(dst, c*r.chunk+uintptr(part)*tileBytes+2*l)) = bits
				}
			}
		}
	}
}

// fused is a*b + c rounded once, the product being exact in float64: the sum is rounded to odd
// there, so that rounding it again is right.
func fused(a, b, c float32) float32 {
	a, b, c = flushed(a), flushed(b), flushed(c)
	p, q := float64(a)*float64(b), float64(c)
	s := p + q
	rest := s - p
	e := (p - (s - rest)) + (q - rest)
	if bits := math.Float64bits(s); e != 0 && bits&1 == 0 {
		if (e > 0) == (s > 0) {
			bits++
		} else {
			bits--
		}
		s = math.Float64frombits(bits)
	}
	return flushed(float32(s))
}

func flushed(x float32) float32 {
	if math.Abs(float64(x)) < 0x1p-126 {
		return float32(math.Copysign(0, float64(x)))
	}
	return x
}

type splitCase struct {
	k, n, m    int
	trans      bool
	bias, relu bool
}

func splitCases() (cases []splitCase) {
	for i, k := range []int{2, 5, 10, 16, 17, 31, 32, 33, 64, 100} {
		for j, n := range []int{16, 17, 32, 33, 47, 65} {
			m := []int{1, 5, 16, 17, 31, 32, 33, 70}[(i*5+j)%8]
			cases = append(cases, splitCase{k, n, m, i%2 == 0, j%2 == 0, (i+j)%2 == 0})
		}
	}
	return cases
}

func drawn(r *rand.Rand, n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(r.NormFloat64() * math.Exp(2*r.NormFloat64()))
	}
	return v
}

// blocks are ways to compute products of split operands: the assembly where it runs, and what
// it is meant to compute.
type blocks struct {
	name  string
	unit  func(*unitBlock, int)
	split func(*splitRows, bool)
}

func ways() []blocks {
	all := []blocks{{"model", modelUnit, modelSplit}}
	if splitsHere() {
		all = append(all, blocks{"split by assembly", modelUnit, runSplit})
	}
	if matrixUnits() {
		all = append(all, blocks{"multiplied by assembly", runUnitBlock, modelSplit}, blocks{"assembly", runUnitBlock, runSplit})
	}
	return all
}

// TestSplitProducts compares products of split operands with those in float64, to what
// float32 allows, and all ways to compute them with each other, bit for bit.
func TestSplitProducts(t *testing.T) {
	model := map[splitCase][]float32{}
	for _, way := range ways() {
		t.Run(way.name, func(t *testing.T) {
			for _, c := range splitCases() {
				got := splitProduct(t, c, way)
				if way.name == "model" {
					model[c] = got
				}
				for i := range got {
					if math.Float32bits(got[i]) != math.Float32bits(model[c][i]) {
						t.Fatalf("%+v: value %d is %g, the model has %g", c, i, got[i], model[c][i])
					}
				}
			}
		})
	}
}

// splitProduct is a case's product, checked against float64, and row by row.
func splitProduct(t *testing.T, c splitCase, way blocks) []float32 {
	t.Helper()
	r := rand.New(rand.NewPCG(uint64(c.k), uint64(c.n)))
	w, a := drawn(r, c.k*c.n), drawn(r, c.m*(c.k+3))
	var bias []float32
	if c.bias {
		bias = drawn(r, c.n)
	}
	s := packSplit(c.k, c.n, w, c.trans)
	if s == nil {
		t.Fatalf("%+v: no weights", c)
	}
	lda, ldc := c.k+3, c.n+2
	got := make([]float32, c.m*ldc)
	for i := range got {
		got[i] = 777
	}
	s.mul(got, ldc, a, lda, c.m, bias, make([]float32, s.Scratch()), c.relu, way.unit, way.split)
	checkRounding(t, c, s, w, a, bias, got, ldc)
	third := make([]float32, 3*ldc)
	for i := 0; i < c.m; i += 1 + c.m/3 { // a row in another place, beside others
		three := append(append(drawn(r, 2*lda), a[i*lda:(i+1)*lda]...), 0)
		s.mul(third, ldc, three, lda, 3, bias, make([]float32, s.Scratch()), c.relu, way.unit, way.split)
		for j := range c.n {
			if third[2*ldc+j] != got[i*ldc+j] {
				t.Fatalf("%+v: row %d differs between blocks", c, i)
			}
		}
	}
	return got
}

// checkRounding holds errors to those of sums in float32, and looks between rows.
func checkRounding(t *testing.T, c splitCase, s *SplitWeights, w, a, bias, got []float32, ldc int) {
	t.Helper()
	plain := make([]float32, len(got))
	mul := s.exact.Mul
	if c.relu {
		mul = s.exact.MulRelu
	}
	mul(plain, ldc, a, c.k+3, c.m, bias)
	largest, typical := rounding(c, w, a, bias, got, ldc)
	largestPlain, typicalPlain := rounding(c, w, a, bias, plain, ldc)
	if largest > 1.5*largestPlain+1 || typical > 1.05*typicalPlain+0.4 {
		t.Errorf("%+v: errors of %.2f (typically %.3f) roundings, where float32 has %.2f (%.3f)", c, largest, typical, largestPlain, typicalPlain)
	}
	for i := range c.m {
		for j := c.n; j < ldc; j++ {
			if got[i*ldc+j] != 777 {
				t.Fatalf("%+v: wrote beyond row %d", c, i)
			}
		}
	}
}

// rounding is the error of products over 2^-24 times the sum of magnitudes: the largest, and
// the root of the mean square.
func rounding(c splitCase, w, a, bias, got []float32, ldc int) (worst, typical float64) {
	for i := range c.m {
		for j := range c.n {
			want, magnitude := 0.0, 0.0
			if bias != nil {
				want = float64(bias[j])
				magnitude = math.Abs(want)
			}
			for l := range c.k {
				x := w[l*c.n+j%c.n]
				if c.trans {
					x = w[j*c.k+l]
				}
				p := float64(a[i*(c.k+3)+l]) * float64(x)
				want += p
				magnitude += math.Abs(p)
			}
			if c.relu {
				want = max(want, 0)
			}
			e := (float64(got[i*ldc+j]) - want) / (magnitude * 0x1p-24)
			worst, typical = max(worst, math.Abs(e)), typical+e*e
		}
	}
	return worst, math.Sqrt(typical / float64(c.m*c.n))
}

// TestSplitExtremes holds rows that parts cannot hold to what Weights gives for them.
func TestSplitExtremes(t *testing.T) {
	const k, n = 40, 20
	r := rand.New(rand.NewPCG(1, 2))
	w := drawn(r, k*n)
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	special := []float32{inf, -inf, nan, 1e-40, 1e-30, 1e30, math.MaxFloat32}
	if packSplit(1, n, w, false) != nil {
		t.Error("one row of weights is taken")
	}
	for _, kk := range []int{k, 3} {
		s := packSplit(kk, n, w, false)
		a := drawn(r, (len(special)+1)*kk)
		for i, x := range special {
			row := a[i*kk : (i+1)*kk]
			if math.Abs(float64(x)) < 1 {
				for j := range row {
					row[j] *= x
				}
			} else {
				row[1] = x
			}
		}
		for _, way := range ways() {
			got := make([]float32, (len(special)+1)*n)
			s.mul(got, n, a, kk, len(special)+1, nil, make([]float32, s.Scratch()), false, way.unit, way.split)
			want := make([]float32, n)
			for i, x := range special {
				s.exact.Mul(want, n, a[i*kk:], kk, 1, nil)
				for j := range want {
					if math.Float32bits(got[i*n+j]) != math.Float32bits(want[j]) {
						t.Fatalf("%s: row with %g, element %d: %g, want %g", way.name, x, j, got[i*n+j], want[j])
					}
				}
			}
		}
	}
	for _, x := range []float32{inf, nan, 1e30} {
		bad := drawn(r, k*n)
		bad[7] = x
		if packSplit(k, n, bad, false) != nil {
			t.Errorf("weights with %g are taken", x)
		}
	}
}

// TestUnitsUnderLoad computes on many goroutines while the runtime collects garbage and
// preempts: tiles must not be mixed up. PHO_LONG=1 goes on for a minute.
func TestUnitsUnderLoad(t *testing.T) {
	if !matrixUnits() {
		t.Skip("this processor has no matrix units (AMX)")
	}
	rounds := 20
	if os.Getenv("PHO_LONG") != "" {
		rounds = 20_000
	}
	r := rand.New(rand.NewPCG(3, 4))
	const k, n, m = 64, 64, 64
	s, a := packSplit(k, n, drawn(r, k*n), false), drawn(r, m*k)
	want := make([]float32, m*n)
	s.Mul(want, n, a, k, m, nil, make([]float32, s.Scratch()))
	var all sync.WaitGroup
	faults := make(chan error, 8)
	for range 8 {
		all.Go(func() {
			got, scratch := make([]float32, m*n), make([]float32, s.Scratch())
			for range rounds {
				s.Mul(got, n, a, k, m, nil, scratch)
				for i := range got {
					if got[i] != want[i] {
						faults <- fmt.Errorf("value %d is %g, alone %g", i, got[i], want[i])
						return
					}
				}
				runtime.Gosched()
			}
		})
	}
	for range 10 {
		runtime.GC()
	}
	all.Wait()
	close(faults)
	for err := range faults {
		t.Error(err)
	}
}

func BenchmarkSplitMul(b *testing.B) {
	if !matrixUnits() {
		b.Skip("this processor has no matrix units (AMX)")
	}
	r := rand.New(rand.NewPCG(5, 6))
	for _, k := range []int{10, 200, 512} {
		const n, m = 200, 1024
		w, a, c := drawn(r, k*n), drawn(r, m*k), make([]float32, m*n)
		s := PackSplit(k, n, w, false)
		scratch := make([]float32, s.Scratch())
		b.Run(fmt.Sprintf("units/%d", k), func(b *testing.B) {
			for b.Loop() {
				s.MulRelu(c, n, a, k, m, nil, scratch)
			}
		})
		b.Run(fmt.Sprintf("vectors/%d", k), func(b *testing.B) {
			for b.Loop() {
				s.exact.MulRelu(c, n, a, k, m, nil)
			}
		})
	}
}
