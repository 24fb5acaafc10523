package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"sync"
	"testing"
)

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
	name                    string
	splitInGo, multiplyInGo bool
}

func (b blocks) pack(k, n int, w []float32, trans bool) *SplitWeights {
	s := packSplit(k, n, w, trans)
	s.splitInGo, s.multiplyInGo = b.splitInGo, b.multiplyInGo
	return s
}

func ways() []blocks {
	all := []blocks{{"model", true, true}}
	if splitsHere() {
		all = append(all, blocks{"split by assembly", false, true})
	}
	if matrixUnits() {
		all = append(all, blocks{"multiplied by assembly", true, false}, blocks{"assembly", false, false})
	}
	return all
}

// TestSplitProducts compares products of split operands with float64 products, to the
// precision of float32, and all ways to compute them with each other, bit for bit.
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
	s := way.pack(c.k, c.n, w, c.trans)
	lda, ldc := c.k+3, c.n+2
	got := make([]float32, c.m*ldc)
	for i := range got {
		got[i] = 777
	}
	s.mul(got, ldc, a, lda, c.m, bias, used(s), c.relu)
	checkRounding(t, c, s, w, a, bias, got, ldc)
	third := make([]float32, 3*ldc)
	for i := 0; i < c.m; i += 1 + c.m/3 { // a row in another place, beside others
		three := append(append(drawn(r, 2*lda), a[i*lda:(i+1)*lda]...), 0)
		s.mul(third, ldc, three, lda, 3, bias, used(s), c.relu)
		for j := range c.n {
			if third[2*ldc+j] != got[i*ldc+j] {
				t.Fatalf("%+v: row %d differs between blocks", c, i)
			}
		}
	}
	return got
}

// used is room to work in, as others left it.
func used(s *SplitWeights) []float32 {
	return slices.Repeat([]float32{float32(math.NaN())}, s.Scratch())
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
	for _, size := range [][2]int{{1, 1000}, {1000, 1}, {5, 5}, {32, 15}, {0, 100}, {100, 0}, {4096, 4096}} {
		if paysToSplit(size[0], size[1]) {
			t.Errorf("weights of %d x %d are taken", size[0], size[1])
		}
	}
	for _, size := range [][2]int{{64, 64}, {64, 32}, {200, 200}, {512, 512}, {16, 200}} {
		if !paysToSplit(size[0], size[1]) {
			t.Errorf("weights of %d x %d are not taken", size[0], size[1])
		}
	}
	for _, kk := range []int{k, 3} {
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
			s := way.pack(kk, n, w, false)
			const blocks = 9 // of rows, which fall anywhere among those multiplied together
			many := make([]float32, blocks*(len(special)+1)*n)
			s.mul(many, n, slices.Repeat(a, blocks), kk, blocks*(len(special)+1), nil, used(s), false)
			got := many[:(len(special)+1)*n]
			for i, x := range many {
				if math.Float32bits(x) != math.Float32bits(got[i%len(got)]) {
					t.Fatalf("%s: value %d is %g, in the first rows %g", way.name, i, x, got[i%len(got)])
				}
			}
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

// TestMatrixUnits: what the processor offers works.
func TestMatrixUnits(t *testing.T) {
	if !matrixUnits() {
		t.Skip("this processor has no matrix units (AMX)")
	}
	if !MatrixUnits() {
		t.Error("the processor's matrix units do not multiply as they should")
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
