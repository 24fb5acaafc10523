package kernel

import (
	"crypto/sha256"
	"encoding/binary"
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
)

var updateBits = flag.Bool("update", false, "write testdata/bits.txt anew; of instruction sets that agree")

// digests sums up results of functions on given numbers, by name. An instruction set of
// another processor cannot be run here: it is compared by what it sums up to.
type digests struct {
	names []string
	sums  map[string]string
}

// numbered are numbers of many magnitudes, and zeros. No floating-point arithmetic makes
// them: compilers may fuse it.
func numbered[T Float](rng *rand.Rand, n int) []T {
	v := make([]T, n)
	for i := range v {
		if rng.IntN(8) > 0 {
			v[i] = T(math.Ldexp(float64(rng.IntN(1<<24)-1<<23), -13-rng.IntN(24)))
		}
	}
	return v
}

// add hashes bits; all NaNs are one.
func (d *digests) add(name string, results ...any) {
	h := sha256.New()
	for _, r := range results {
		switch r := r.(type) {
		case []float64:
			hashNumbers(h.Write, r)
		case []float32:
			hashNumbers(h.Write, r)
		default:
			fmt.Fprint(h, r)
		}
	}
	d.names = append(d.names, name)
	d.sums[name] = fmt.Sprintf("%x", h.Sum(nil)[:8])
}

func hashNumbers[T Float](write func([]byte) (int, error), v []T) {
	for _, x := range v {
		bits := math.Float64bits(float64(x))
		if x != x {
			bits = math.Float64bits(math.NaN())
		}
		_, _ = write(binary.LittleEndian.AppendUint64(nil, bits)) // to a hash: never an error
	}
}

// digestsOf are those of one instruction set; those that every set has, plain too, if not
// all.
func digestsOf(s isa, all bool) *digests {
	d := &digests{sums: map[string]string{}}
	elementwiseDigests[float64](d, s, all)
	elementwiseDigests[float32](d, s, all)
	bandDigests(d, s, all)
	if all {
		productDigests[float64](d, s)
		productDigests[float32](d, s)
		unitDigests[float64](d, s)
		unitDigests[float32](d, s)
	}
	return d
}

func elementwiseDigests[T Float](d *digests, s isa, all bool) {
	rng := rand.New(rand.NewPCG(17, 1))
	name := func(f string) string { return fmt.Sprintf("%s/%T", f, T(0)) }
	const n = 1003
	a, b := numbered[T](rng, n), numbered[T](rng, n)
	a[5], a[300], a[601], a[602] = T(math.NaN()), T(math.Inf(1)), T(math.Inf(-1)), T(math.Copysign(0, -1))
	one := func(what string, f func(s isa, dst, src []T)) {
		out := make([]T, n)
		copy(out, b)
		f(s, out, a)
		d.add(name(what), out)
	}
	one("Relu", relu[T])
	one("LeakyRelu", func(s isa, dst, src []T) { leakyRelu(s, dst, src, 0.3) })
	for _, what := range []string{"Add", "Sub", "Mul", "Div"} {
		f := map[string]func(s isa, dst, a, b []T){"Add": add[T], "Sub": sub[T], "Mul": mul[T], "Div": div[T]}[what]
		one(what, func(s isa, dst, src []T) { f(s, dst, src, b) })
		one(what+"Scalar", func(s isa, dst, src []T) { f(s, dst, src, b[1:2]) })
		one(what+"ToScalar", func(s isa, dst, src []T) { f(s, dst, b[1:2], src) })
	}
	w, m, v := numbered[T](rng, n), numbered[T](rng, n), numbered[T](rng, n)
	relu(s, v, v)
	adamStep(s, w, b, m, v, &adam[T]{beta1: 0.9, c1: 0.1, beta2: 0.999, c2: 0.001, keep: 0.99, rate: 0.01, eps: 1e-8, tiny: 1e-30})
	d.add(name("AdamStep"), w, m, v)
	on := make([]T, n)
	relu(s, on, b)
	one("ReluGrad", func(s isa, dst, src []T) { reluGrad(s, dst, src, on) })
	if !all {
		return
	}
	functions := unary[T]()
	for _, what := range slices.Sorted(maps.Keys(functions)) {
		one(what, functions[what])
	}
	one("Axpy", func(s isa, dst, src []T) { axpy(s, dst, src, 1.7) })
	for _, n := range []int{1, 15, 16, 100, 1000} {
		d.add(fmt.Sprintf("%s/%d", name("Dot"), n), []T{dot(s, w[:n], b[:n])})
	}
}

func productDigests[T Float](d *digests, s isa) {
	rng := rand.New(rand.NewPCG(17, 2))
	for _, shape := range [][3]int{{1, 1, 37}, {23, 1, 37}, {23, 37, 1}, {13, 70, 300}, {7, 5, 11}, {1, 150, 37}} {
		m, n, k := shape[0], shape[1], shape[2]
		name := func(f string) string { return fmt.Sprintf("%s/%T/%dx%dx%d", f, T(0), m, n, k) }
		a, b, bias := numbered[T](rng, m*k), numbered[T](rng, k*n), numbered[T](rng, n)
		c := make([]T, m*n)
		w := packWeights(s, k, n, b, true)
		w.mul(c, n, a, k, m, bias, true, nil)
		d.add(name("MulRelu"), c)
		w = packWeights(s, k, n, b, false)
		w.mul(c, n, a, k, m, nil, false, nil)
		d.add(name("Mul"), c)
		gemm(s, c, a, b, m, n, k)
		d.add(name("Gemm"), c)
		addTransMul(s, c, n, a, m, m, b, n, n, k)
		d.add(name("AddTransMul"), c)
	}
}

// unitDigests are of products with units and of their gradients.
func unitDigests[T Float](d *digests, s isa) {
	rng := rand.New(rand.NewPCG(17, 3))
	for _, shape := range [][3]int{{1, 37, 5}, {23, 7, 40}, {9, 300, 70}, {70, 1, 133}} {
		p, q, n := shape[0], shape[1], shape[2]
		name := func(f string) string { return fmt.Sprintf("%s/%T/%dx%dx%d", f, T(0), p, q, n) }
		m := Matrix[T]{Data: numbered[T](rng, p*q), Rows: p, Cols: q, RowStep: 1, ColStep: p}
		x, y := Units[T](nil, q, n), Units[T](nil, p, n)
		copy(x, numbered[T](rng, len(x)))
		m.mulUnits(s, y, x, n, numbered[T](rng, p), true)
		var rows []T // without what lies between the units
		for i := range p {
			rows = append(rows, y[i*UnitStride[T](n):][:n]...)
		}
		d.add(name("MulUnits"), rows)
		var r Rows[T]
		r.turn(s, x, x, q, n)
		grad, sum := numbered[T](rng, p*q), numbered[T](rng, q)
		for j := 0; j < q; j += r.Columns(j) {
			r.AddProduct(grad, q, y, p, j)
		}
		r.AddSums(sum)
		d.add(name("Rows"), grad, sum)
	}
}

func bandDigests(d *digests, s isa, all bool) {
	rng := rand.New(rand.NewPCG(17, 3))
	const n, p, q = 203, 19, 5
	below := func(limit int) []int32 {
		v := make([]int32, n)
		for i := range v {
			v[i] = int32(rng.IntN(limit))
		}
		return v
	}
	a, b, w := numbered[float64](rng, n*p), numbered[float64](rng, n*q), numbered[float64](rng, n)
	rows, cols, index := below(6), below(7), below(11)
	value, first := make([]float64, Band*n), make([]int32, n)
	x := make([]float64, n)
	for i := range x {
		x[i] = float64(rng.IntN(1<<30)) / (1 << 30)
	}
	d.add("Splines", splines(s, first, value, x, 0, 1, 9, 9), first, value)
	dst := make([]float64, n)
	d.add("MulBand", mulBand(s, dst, first, value, a[:12]), dst)
	product := make([]float64, n*3)
	d.add("MulBandRows", mulBandRows(s, product, 3, first, value, a[:36], 3, 12, 3), product)
	sums := make([]float64, n)
	rowDots(s, sums, a, p, n, nil, b, q, min(p, q))
	d.add("RowDots", sums)
	rowSizes(s, sums, a, p, p)
	d.add("RowSizes", sums)
	d.add("BandNorm", []float64{bandNorm(s, a), bandNorm(s, value)})
	lo, hi, finite := bounds(s, a)
	d.add("Bounds", []float64{lo, hi}, finite)
	cells := numbered[float64](rng, 6*7*Band*Band)
	matrix := make([]float64, 9*10)
	foldOuter(s, matrix, 10, 9, 10, cells, 6, 7)
	d.add("FoldOuter", matrix)
	table := numbered[float64](rng, 11*q)
	d.add("ScatterRows/ones", scatterRows(s, table, q, 11, index, 1, nil, b, q, q, n), table)
	if !all {
		return
	}
	c := numbered[float64](rng, p*q)
	addCross(s, c, q, a, p, p, b, q, q, n, w)
	d.add("AddCross", c)
	gram := make([]float64, p*p)
	addGram(s, gram, p, a, p, p, n, w)
	d.add("AddGram", gram)
	d.add("AddOuter", addOuter(s, cells, 6, 7, rows, value, cols, a, w), cells)
	d.add("AddOuter/ones", addOuter(s, cells, 6, 7, rows, value, cols, a, nil), cells)
	scaled := make([]float64, 6*q*Band)
	d.add("AddScaled", addScaled(s, scaled, 6, rows, value, b, q, q, w), scaled)
	d.add("ScatterRows", scatterRows(s, table, q, 11, index, 1, w, b, q, q, n), table)
	wide := numbered[float64](rng, 11*12)
	d.add("ScatterBand", scatterBand(s, wide, 12, 11, 12, index, 1, w, first, value), wide)
}

// TestBits: all sets with assembly give the same bits, on whatever processor, and in some
// functions plain does too.
func TestBits(t *testing.T) {
	const path = "testdata/bits.txt"
	if *updateBits {
		var text strings.Builder
		d := digestsOf(best(), true)
		for _, name := range d.names {
			fmt.Fprintln(&text, name, d.sums[name])
		}
		if err := os.WriteFile(path, []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for line := range strings.Lines(string(text)) {
		var name, sum string
		if _, err := fmt.Sscan(line, &name, &sum); err != nil {
			t.Fatalf("%s: %q: %v", path, line, err)
		}
		want[name] = sum
	}
	eachISA(t, func(t *testing.T, s isa) {
		d := digestsOf(s, s != plain)
		for _, name := range d.names {
			if d.sums[name] != want[name] {
				t.Errorf("%s: results have the digest %s, of another instruction set %s", name, d.sums[name], want[name])
			}
		}
		if s != plain && len(d.names) != len(want) {
			t.Errorf("%d functions here, %d in %s", len(d.names), len(want), path)
		}
	})
}
