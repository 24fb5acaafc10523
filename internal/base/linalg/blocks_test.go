package linalg

import (
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"gonum.org/v1/gonum/mat"
)

func random(rows, columns int, seed uint64) *mat.Dense {
	r := rand.New(rand.NewPCG(seed, 2))
	x := mat.NewDense(rows, columns, nil)
	for i := range x.RawMatrix().Data {
		x.RawMatrix().Data[i] = r.NormFloat64()
	}
	return x
}

// upperEqual compares the upper triangle of got with want, relative to want's largest number.
func upperEqual(t *testing.T, name string, got *mat.SymDense, want mat.Matrix) {
	t.Helper()
	n, _ := want.Dims()
	if got.SymmetricDim() != n {
		t.Fatalf("%s: %d rows, not %d", name, got.SymmetricDim(), n)
	}
	size := mat.Norm(want, math.Inf(1))
	for i := range n {
		for j := i; j < n; j++ {
			if d := math.Abs(got.At(i, j) - want.At(i, j)); !(d <= 1e-14*size) {
				t.Fatalf("%s: entry %d,%d is %g, not %g", name, i, j, got.At(i, j), want.At(i, j))
			}
		}
	}
}

// spoilLower writes NaN below the diagonal, where nothing may be read.
func spoilLower(s *mat.SymDense) *mat.SymDense {
	raw := s.RawSymmetric()
	for i := range raw.N {
		for j := range i {
			raw.Data[i*raw.Stride+j] = math.NaN()
		}
	}
	return s
}

// blockSets cover all of 300 columns, some, a single one, none, and more than a chunk at once.
func blockSets() [][]Block {
	return [][]Block{
		{},
		{{At: 7, B: random(1, 1, 1)}},
		{{At: 0, B: random(20, 20, 1)}, {At: 20, B: random(70, 70, 2)}, {At: 90, B: random(210, 210, 3)}},
		{{At: 3, B: random(20, 20, 1)}, {At: 40, B: random(65, 65, 2)}},
		{{At: 10, B: random(280, 280, 4)}},
	}
}

func TestCongruence(t *testing.T) {
	const n = 300
	for _, blocks := range blockSets() {
		whole := mat.NewDense(n, n, nil)
		for i := range n {
			whole.Set(i, i, 1)
		}
		for _, b := range blocks {
			d, _ := b.B.Dims()
			whole.Slice(b.At, b.At+d, b.At, b.At+d).(*mat.Dense).Copy(b.B)
		}
		s := gram(n, 3)
		for _, trans := range []bool{false, true} {
			got := spoilLower(clone(s))
			Congruence(got, blocks, trans)
			var want mat.Dense
			if trans {
				want.Product(whole.T(), s, whole)
			} else {
				want.Product(whole, s, whole.T())
			}
			upperEqual(t, "congruence", got, &want)
		}
	}
}

func TestAround(t *testing.T) {
	const n = 300
	v := Mirror(gram(n, 3))
	for _, blocks := range blockSets() {
		whole := mat.NewDense(n, n, nil)
		for i, b := range blocks {
			d, _ := b.B.Dims()
			own := mat.DenseCopyOf(gram(d, 2))
			blocks[i].B = own
			whole.Slice(b.At, b.At+d, b.At, b.At+d).(*mat.Dense).Copy(own)
		}
		var want mat.Dense
		want.Product(v, whole, v)
		upperEqual(t, "around", Around(v, blocks), &want)
	}
}

func TestReduce(t *testing.T) {
	maps := []Map{
		{From: 0, Rows: 20, To: 0, Columns: 19, Z: random(20, 19, 1)},
		{From: 20, Rows: 1, To: 19, Columns: 1},
		{From: 21, Rows: 0, To: 20, Columns: 0},
		{From: 21, Rows: 30, To: 20, Columns: 30},
		{From: 51, Rows: 12, To: 50, Columns: 40, Z: random(12, 40, 2)},
		{From: 63, Rows: 1, To: 90, Columns: 1, Z: random(1, 1, 3)},
		{From: 64, Rows: 7, To: 91, Columns: 6, Z: ones(7, 6, 3, 0, -1, 6, 1, 2)},
		{From: 71, Rows: 2, To: 97, Columns: 3, Z: random(2, 3, 4)},
		{From: 73, Rows: 3, To: 100, Columns: 2, Z: ones(3, 2, 1, 1)},
		{From: 76, Rows: 5, To: 102, Columns: 4, Z: ones(5, 4, 1, 2, 3, 4)},
		{From: 81, Rows: 4, To: 106, Columns: 5, Z: ones(4, 5, -1, 0, 1, 2, 3)},
		{From: 85, Rows: 4, To: 111, Columns: 3, Z: ones(4, 3, 0, 1, 2)},
		{From: 89, Rows: 3, To: 114, Columns: 4, Z: ones(3, 4, 0, 1, 2, -1)},
		{From: 92, Rows: 2, To: 118, Columns: 2, Z: mat.NewDense(2, 2, nil)},
	}
	whole := mat.NewDense(94, 120, nil)
	for _, m := range maps {
		for i := range m.Rows {
			for j := range m.Columns {
				switch {
				case m.Z != nil:
					whole.Set(m.From+i, m.To+j, m.Z.At(i, j))
				case i == j:
					whole.Set(m.From+i, m.To+j, 1)
				}
			}
		}
	}
	s := gram(94, 3)
	var want mat.Dense
	want.Product(whole.T(), s, whole)
	larger := mat.NewSymDense(100, nil) // rows with gaps between them
	for i := range 94 {
		for j := i; j < 94; j++ {
			larger.SetSym(i+2, j+2, s.At(i, j))
		}
	}
	part := larger.SliceSym(2, 96).(*mat.SymDense)
	upperEqual(t, "reduce", Reduce(part, maps), &want)
	for j, m := range maps {
		if m.Z != nil {
			maps[j].Z, maps[j].Turned = mat.DenseCopyOf(m.Z.T()), true
		}
	}
	upperEqual(t, "reduce by transposes", Reduce(part, maps), &want)
}

// ones has a 1 in each column, in these rows; -1: none.
func ones(rows, columns int, at ...int) *mat.Dense {
	z := mat.NewDense(rows, columns, nil)
	for j, i := range at {
		if i >= 0 {
			z.Set(i, j, 1)
		}
	}
	return z
}

func TestSymmetricProducts(t *testing.T) {
	for _, n := range []int{1, 9, 64, 65, 200} {
		x := random(30, n, 1)
		var want, xx mat.Dense
		xx.Mul(x.T(), x)
		s := gram(n, 2)
		want.Add(s, &xx)
		got := clone(s)
		AddGram(got, x)
		upperEqual(t, "x'x", got, &want)
		SubtractSymmetric(got, x, x)
		upperEqual(t, "less x'x", got, s)

		w := make([]float64, 30)
		for i := range w {
			w[i] = float64(i%4) / 2
		}
		var wx mat.Dense
		wx.Mul(mat.NewDiagDense(30, w), x)
		xx.Mul(x.T(), &wx)
		want.Add(s, &xx)
		AddWeightedGram(got, x, w)
		upperEqual(t, "x'wx", got, &want)

		lower := random(n, n, 2)
		for i := range n {
			clear(lower.RawRowView(i)[i+1:])
		}
		xx.Reset()
		xx.Mul(lower.T(), lower)
		want.Add(s, &xx)
		got = clone(s)
		AddLowerGram(got, lower)
		upperEqual(t, "lower x'x", got, &want)
	}
}

func TestProducts(t *testing.T) {
	a, b := random(300, 70, 1), random(70, 600, 2)
	var want mat.Dense
	want.Mul(a, b)
	for name, got := range map[string]*mat.Dense{
		"a b": Product(a, b), "a b'": ProductTrans(a, mat.DenseCopyOf(b.T())), "(a')'b": TransTimes(mat.DenseCopyOf(a.T()), b),
		"any": Times(a.T().T(), b), "transposed": mat.DenseCopyOf(Times(b.T(), a.T()).T()),
	} {
		if !mat.EqualApprox(got, &want, 1e-12) {
			t.Errorf("%s differs", name)
		}
	}
	wide := random(70, 601, 3)
	part := wide.Slice(0, 70, 1, 601).(*mat.Dense)
	want.Reset()
	want.Mul(a, part)
	if !mat.EqualApprox(Product(a, part), &want, 1e-12) {
		t.Error("a b with gaps between the rows of b differs")
	}
}

// The same bits for any number of processors.
func TestWorkersOfProducts(t *testing.T) {
	before := runtime.GOMAXPROCS(1)
	defer runtime.GOMAXPROCS(before)
	results := func() []mat.Matrix {
		s, x := gram(300, 3), random(400, 300, 5)
		out := []mat.Matrix{Product(x, mat.DenseCopyOf(s)), TransTimes(x, x), Around(Mirror(s), blockSets()[2])}
		AddGram(s, x)
		Congruence(s, blockSets()[2], true)
		return append(out, s)
	}
	one := results()
	for _, workers := range []int{2, 5} {
		runtime.GOMAXPROCS(workers)
		for i, r := range results() {
			if !mat.Equal(r, one[i]) {
				t.Errorf("result %d has other bits on %d processors", i, workers)
			}
		}
	}
}
