package design_test

import (
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/design"
	"github.com/pho-go/pho/internal/base/linalg"
)

// quadraticBases are columns of every kind on n rows, far from 0 where they are dense.
func quadraticBases(r *rand.Rand, n int) []design.Columns {
	dense := func(d int, centre float64) design.Columns {
		m := mat.NewDense(n, d, nil)
		for i := range n {
			for j := range d {
				m.Set(i, j, centre+r.NormFloat64())
			}
		}
		return design.Dense{Dense: m}
	}
	band := &design.Banded{D: 30, K: 4, First: make([]int32, n), Value: make([]float64, 4*n)}
	circle := &design.Banded{D: 25, K: 3, Cyclic: true, First: make([]int32, n), Value: make([]float64, 3*n)}
	codes := &design.Codes{D: 40, Code: make([]int32, n)}
	valued := &design.Codes{D: 7, Code: make([]int32, n), Value: make([]float64, n)}
	sparse := &design.Sparse{D: 50, K: 2, Index: make([]int32, 2*n), Value: make([]float64, 2*n)}
	for i := range n {
		band.First[i], circle.First[i] = int32(r.IntN(27)), int32(r.IntN(25))
		codes.Code[i], valued.Code[i] = int32(r.IntN(41)-1), int32(r.IntN(7))
		valued.Value[i] = r.NormFloat64()
		at := r.IntN(50)
		sparse.Index[2*i], sparse.Index[2*i+1] = int32(at), int32((at+1+r.IntN(49))%50)
	}
	second := &design.Banded{D: 12, K: 4, First: make([]int32, n), Value: make([]float64, 4*n)}
	for i := range n {
		second.First[i] = int32(r.IntN(9))
	}
	for _, v := range [][]float64{band.Value, circle.Value, sparse.Value, second.Value} {
		for i := range v {
			v[i] = r.Float64()
		}
	}
	x := []design.Columns{dense(3, 1e6), band, codes, dense(70, -2), circle, valued, sparse, dense(1, 5), second,
		inCells(r, n, 40, 16, 3), inCells(r, n, 200, 10, 20), inCells(r, n, 60, 9, 0)}
	many := &design.Codes{D: 150, Code: make([]int32, n)}
	for i := range n {
		many.Code[i] = int32(r.IntN(151) - 1)
	}
	x = append(append(x, byLevels(r, n, 14, 3)...), many)
	arranged := bands(r, n, 5, 5)
	arranged.Arrange()
	sorted := inCells(r, n, 200, 10, 5)
	sorted.Arrange()
	x = append(x, bands(r, n, 8, 6), arranged, sorted)
	return append(x, byLevels(r, n, 9, 2)...)
}

// byLevels are cubic bands by the levels of a factor: of each row at most one is not 0.
func byLevels(r *rand.Rand, n, d, levels int) []design.Columns {
	bands := make([]*design.Banded, levels)
	out := make([]design.Columns, levels)
	for j := range bands {
		bands[j] = &design.Banded{D: d, K: 4, First: make([]int32, n), Value: make([]float64, 4*n)}
		out[j] = bands[j]
	}
	for i := range n {
		level := r.IntN(levels+1) - 1
		for j, b := range bands {
			b.First[i] = int32(r.IntN(d - 3))
			for l := range 4 {
				b.Value[4*i+l] = math.Copysign(0, r.NormFloat64())
				if j == level && l != i%5 {
					b.Value[4*i+l] = r.NormFloat64()
				}
			}
		}
	}
	return out
}

// inCells are k entries in each row: in the same columns for the rows of each of so many cells; of 0 anywhere.
func inCells(r *rand.Rand, n, d, k, cells int) *design.Sparse {
	x := &design.Sparse{D: d, K: k, Index: make([]int32, n*k), Value: make([]float64, n*k)}
	for i := range n {
		at := r.Perm(d)[:k]
		if cells > 0 {
			at = make([]int, k)
			cell := r.IntN(cells)
			for l := range at {
				at[l] = (cell*d/cells + l) % d
			}
		}
		for l, j := range at {
			x.Index[i*k+l], x.Value[i*k+l] = int32(j), r.NormFloat64()
		}
	}
	return x
}

// TestQuadratic compares with dense products of centred rows.
func TestQuadratic(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const n = 267 // of some cells more than are multiplied at a time
	all := quadraticBases(r, n)
	for _, pick := range [][]int{{0, 1, 2, 3, 4, 5, 6, 7, 8}, {1}, {2}, {7}, {8, 1}, {1, 0, 8}, {2, 8, 1, 7}, {2, 5}, {0}, {3}, {5, 0}, {1, 4, 6, 7}, {9}, {10}, {11}, {2, 9, 7}, {9, 10, 0, 2}, {10, 5, 9}, {1, 9, 7}, {0, 11, 2}, {12, 13, 14}, {12, 13, 14, 1}, {2, 0, 12, 13, 14, 5}, {15, 9, 7}, {1, 15, 8, 5}, {5, 15, 12, 13, 14, 2}, {9, 15, 0, 2}, {2, 15}, {15, 2, 1, 6, 3}, {1, 12, 2, 13, 14, 7}, {16}, {17}, {18}, {2, 16, 7}, {15, 17, 0}, {2, 17, 5}, {16, 17, 2}, {1, 17, 2}, {15, 18, 0}, {2, 18}, {12, 13, 14, 19, 20, 2}, {13, 20}, {}} {
		var x []design.Columns
		var dims []int
		p := 0
		for _, b := range pick {
			x = append(x, all[b])
			_, d := all[b].Dims()
			dims, p = append(dims, d), p+d
		}
		dst, want := make([]float64, n), make([]float64, n)
		dst[0] = math.NaN()
		var c *mat.SymDense
		mean := make([]float64, p)
		if p > 0 {
			rows, root := mat.NewDense(n, p, nil), mat.NewDense(p, p, nil)
			at := 0
			for b, c := range x {
				if err := design.ToDense(rows.Slice(0, n, at, at+dims[b]).(*mat.Dense), c); err != nil {
					t.Fatal(err)
				}
				at += dims[b]
			}
			for j := range p {
				mean[j] = mat.Sum(rows.ColView(j)) / n
				for i := range p {
					root.Set(i, j, r.NormFloat64())
				}
			}
			c = mat.NewSymDense(p, nil)
			c.SymOuterK(1, root)
			for i := range n {
				v := mat.NewVecDense(p, nil)
				v.SubVec(rows.RowView(i), mat.NewVecDense(p, mean))
				want[i] = mat.Inner(v, c, v)
			}
		}
		q, err := design.NewQuadratic(dims, c, mean)
		if err != nil {
			t.Fatal(err)
		}
		in, err := design.NewQuadraticIn(dims, within(c), mean)
		if err != nil {
			t.Fatal(err)
		}
		work, inWork := q.Work(), in.Work()
		for _, work := range []*design.QuadraticWork{work, work, inWork} { // the memory of the first call does not show in the second
			if err := work.Rows(dst, x); err != nil {
				t.Fatal(err)
			}
			for i := range n {
				if math.Abs(dst[i]-want[i]) > 1e-11*(1+want[i]) {
					t.Fatalf("bases %v, row %d: %g, want %g", pick, i, dst[i], want[i])
				}
			}
		}
	}
}

// TestQuadraticArrangedOrNot: rows of few entries go cell by cell if they are arranged, one by one if not, by the same work.
func TestQuadraticArrangedOrNot(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	const n, d = 400, 200
	alone := inCells(r, n, d, 10, 5)
	arranged := &design.Sparse{D: d, K: 10, Index: alone.Index, Value: alone.Value}
	arranged.Arrange()
	root := mat.NewDense(d, d, nil)
	for i := range d {
		for j := range d {
			root.Set(i, j, r.NormFloat64())
		}
	}
	c := mat.NewSymDense(d, nil)
	c.SymOuterK(1, root)
	mean := make([]float64, d)
	mean[3] = 0.5
	q, err := design.NewQuadratic([]int{d}, c, mean)
	if err != nil {
		t.Fatal(err)
	}
	work := q.Work()
	want, dst := make([]float64, n), make([]float64, n)
	for i, x := range []*design.Sparse{alone, arranged, alone, arranged} {
		if err := work.Rows(dst, []design.Columns{x}); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			copy(want, dst)
		}
		for row, v := range dst {
			if math.Abs(v-want[row]) > 1e-12*(1+want[row]) {
				t.Fatalf("call %d, row %d: %g, want %g", i+1, row, v, want[row])
			}
		}
	}
}

// within is c inside a larger matrix.
func within(c *mat.SymDense) *mat.SymDense {
	if c == nil {
		return nil
	}
	p := c.SymmetricDim()
	larger := mat.NewSymDense(p+3, nil)
	for i := range p {
		for j := i; j < p; j++ {
			larger.SetSym(2+i, 2+j, c.At(i, j))
		}
	}
	return larger.SliceSym(2, 2+p).(*mat.SymDense)
}

// TestQuadraticRowByRow: a row's bits hang neither on the rows around it nor on what of them was alike.
func TestQuadraticRowByRow(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	const n = 67
	all := quadraticBases(r, n)
	for _, pick := range [][]int{{0, 1, 2, 3, 4, 5, 6, 7, 8}, {2, 9, 7}, {10}, {2, 10}, {12, 13, 14}, {12, 13, 14, 1}, {2, 0, 12, 13, 14, 5}, {15, 9, 7}, {1, 15, 8, 5}, {5, 15, 12, 13, 14, 2}, {9, 15, 0, 2}, {2, 15}, {15, 2, 1, 6, 3}, {1, 12, 2, 13, 14, 7}} {
		var dims []int
		p := 0
		for _, b := range pick {
			_, d := all[b].Dims()
			dims, p = append(dims, d), p+d
		}
		root := mat.NewDense(p, p, nil)
		mean := make([]float64, p)
		for j := range p {
			mean[j] = r.NormFloat64()
			for i := range p {
				root.Set(i, j, r.NormFloat64())
			}
		}
		c := mat.NewSymDense(p, nil)
		c.SymOuterK(1, root)
		q, err := design.NewQuadratic(dims, c, mean)
		if err != nil {
			t.Fatal(err)
		}
		values := func(from, to int) []float64 {
			var x []design.Columns
			for _, b := range pick {
				x = append(x, rowsOf(all[b], from, to))
			}
			dst := make([]float64, to-from)
			if err := q.Work().Rows(dst, x); err != nil {
				t.Fatal(err)
			}
			return dst
		}
		for i, v := range values(0, n) {
			if one := values(i, i+1)[0]; one != v {
				t.Fatalf("bases %v, row %d: %g alone, %g among others", pick, i, one, v)
			}
		}
	}
}

// rowsOf are rows from to to-1 of x.
func rowsOf(x design.Columns, from, to int) design.Columns {
	switch x := x.(type) {
	case design.Dense:
		_, d := x.Dims()
		return design.Dense{Dense: x.Slice(from, to, 0, d).(*mat.Dense)}
	case *design.Sparse:
		return &design.Sparse{D: x.D, K: x.K, Index: x.Index[from*x.K : to*x.K], Value: x.Value[from*x.K : to*x.K]}
	case *design.Banded:
		return &design.Banded{D: x.D, K: x.K, Cyclic: x.Cyclic, First: x.First[from:to], Value: x.Value[from*x.K : to*x.K]}
	}
	c := x.(*design.Codes)
	out := &design.Codes{D: c.D, Code: c.Code[from:to]}
	if c.Value != nil {
		out.Value = c.Value[from:to]
	}
	return out
}

// TestQuadraticRefuses: what does not fit is an error, not a panic.
func TestQuadraticRefuses(t *testing.T) {
	if _, err := design.NewQuadratic([]int{2}, mat.NewSymDense(3, nil), nil); err == nil {
		t.Error("a matrix of another size")
	}
	if _, err := design.NewQuadratic([]int{2}, nil, nil); err == nil {
		t.Error("no matrix")
	}
	q, err := design.NewQuadratic([]int{2}, mat.NewSymDense(2, nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range [][]design.Columns{
		nil,
		{&design.Codes{D: 3, Code: []int32{1}}},
		{&design.Codes{D: 2, Code: []int32{2}}},
		{&design.Codes{D: 2, Code: []int32{1, 1}}},
	} {
		if q.Work().Rows(make([]float64, 1), x) == nil {
			t.Errorf("%v is taken", x)
		}
	}
}

// A form of many levels by few numbers of each is that of its whole matrix.
func TestQuadraticOfManyLevels(t *testing.T) {
	const levels, rows, k = 300, 200, 3
	r := rand.New(rand.NewPCG(7, 8))
	dims := []int{2, levels, 9, 4}
	p := 2 + levels + 9 + 4
	c := &linalg.Structured{D: make([]float64, p), U: mat.NewDense(p, k, nil), N: mat.NewDense(p, k, nil)}
	mean := make([]float64, p)
	for i := range p {
		if mean[i] = r.NormFloat64(); i >= 2 && i < 2+levels {
			c.D[i], mean[i] = 1+r.Float64(), r.Float64()/levels
		}
		for l := range k {
			c.U.Set(i, l, r.NormFloat64())
			c.N.Set(i, l, r.NormFloat64())
		}
	}
	dense, codes := mat.NewDense(rows, 2, nil), &design.Codes{D: levels}
	band, other := &design.Banded{D: 9, K: 4}, &design.Codes{D: 4, Value: make([]float64, rows)}
	for i := range rows {
		dense.SetRow(i, []float64{r.NormFloat64(), r.NormFloat64()})
		codes.Code = append(codes.Code, int32(r.IntN(levels+1)-1))
		band.First = append(band.First, int32(r.IntN(6)))
		for range 4 {
			band.Value = append(band.Value, r.Float64())
		}
		other.Code, other.Value[i] = append(other.Code, int32(r.IntN(4))), r.NormFloat64()
	}
	filled := mat.NewDense(rows, levels, nil)
	if err := design.ToDense(filled, codes); err != nil {
		t.Fatal(err)
	}
	whole, err := design.NewQuadratic(dims, c.Dense(), mean)
	if err != nil {
		t.Fatal(err)
	}
	many, err := design.NewQuadratic(dims, c, mean)
	if err != nil {
		t.Fatal(err)
	}
	want, got := make([]float64, rows), make([]float64, rows)
	if err := whole.Work().Rows(want, []design.Columns{design.Dense{Dense: dense}, codes, band, other}); err != nil {
		t.Fatal(err)
	}
	for _, g := range []design.Columns{codes, design.Dense{Dense: filled}} {
		if err := many.Work().Rows(got, []design.Columns{design.Dense{Dense: dense}, g, band, other}); err != nil {
			t.Fatal(err)
		}
		for i, v := range got {
			if d := math.Abs(v - want[i]); !(d <= 1e-10*(1+math.Abs(want[i]))) {
				t.Fatalf("%T: row %d is %g, want %g", g, i, v, want[i])
			}
		}
	}
}

// Of crossed factors no goroutine copies the form, nearly all of which each row of another factor's level needs.
func TestQuadraticOfCrossedFactors(t *testing.T) {
	const levels, factors, rows = 200, 3, 50
	r := rand.New(rand.NewPCG(1, 9))
	form, want := mat.NewSymDense(factors*levels, nil), make([]float64, rows)
	for i := range factors * levels {
		for j := i; j < factors*levels; j++ {
			form.SetSym(i, j, r.NormFloat64())
		}
	}
	var x []design.Columns
	var dims []int
	for range factors {
		c := &design.Codes{D: levels}
		for range rows {
			c.Code = append(c.Code, int32(r.IntN(levels)))
		}
		x, dims = append(x, c), append(dims, levels)
	}
	for i := range want {
		for a := range x {
			for b := range x {
				want[i] += form.At(a*levels+int(x[a].(*design.Codes).Code[i]), b*levels+int(x[b].(*design.Codes).Code[i]))
			}
		}
	}
	q, err := design.NewQuadratic(dims, form, nil)
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got := make([]float64, rows)
	if err := q.Work().Rows(got, x); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	for i, w := range want {
		if math.Abs(got[i]-w) > 1e-12 {
			t.Errorf("row %d: %g, want %g", i, got[i], w)
		}
	}
	if taken, whole := after.TotalAlloc-before.TotalAlloc, uint64(8*factors*levels*factors*levels); taken > whole/4 {
		t.Errorf("a goroutine takes %d bytes, the form has %d", taken, whole)
	}
}
