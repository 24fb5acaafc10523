package design_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/pho-go/pho/design"
)

// draw makes n x d columns of one of the types, with awkward values now and
// then: zeros, missing codes, nil values.
func draw(t *rapid.T, label string, n int) design.Columns {
	d := rapid.IntRange(1, 9).Draw(t, label+" d")
	value := rapid.Float64Range(-8, 8)
	switch rapid.IntRange(0, 4).Draw(t, label+" type") {
	case 4:
		return drawPieces(t, label, n)
	case 3:
		b := &design.Banded{D: d, K: min(d, rapid.SampledFrom([]int{4, 4, 4, 1, 3, 6}).Draw(t, label+" k")), Cyclic: rapid.Bool().Draw(t, label+" cyclic")}
		last := d - b.K
		if b.Cyclic {
			last = d - 1
		}
		for range n {
			b.First = append(b.First, int32(rapid.IntRange(0, last).Draw(t, "first")))
			for range b.K {
				b.Value = append(b.Value, value.Draw(t, "v"))
			}
		}
		return b
	case 0:
		// A view into a wider matrix: strides must be respected.
		m := mat.NewDense(n, d+3, nil)
		for i := range n {
			for j := range d + 3 {
				m.Set(i, j, value.Draw(t, "v"))
			}
		}
		return design.Dense{Dense: m.Slice(0, n, 2, d+2).(*mat.Dense)}
	case 1:
		s := &design.Sparse{D: d, K: rapid.IntRange(1, d).Draw(t, label+" k")}
		for range n {
			columns := rapid.Permutation(sequence(d)).Draw(t, "columns")
			for _, j := range columns[:s.K] {
				s.Index = append(s.Index, int32(j))
				s.Value = append(s.Value, value.Draw(t, "v"))
			}
		}
		return s
	default:
		c := &design.Codes{D: d}
		valued := rapid.Bool().Draw(t, label+" valued")
		for range n {
			c.Code = append(c.Code, int32(rapid.IntRange(-1, d-1).Draw(t, "code")))
			if valued {
				c.Value = append(c.Value, value.Draw(t, "v"))
			}
		}
		return c
	}
}

func sequence(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = i
	}
	return s
}

func dense(t interface{ Fatal(...any) }, a design.Columns) *mat.Dense {
	n, d := a.Dims()
	m := mat.NewDense(n, d, nil)
	for i := range n {
		for j := range d {
			m.Set(i, j, math.NaN()) // ToDense overwrites
		}
	}
	if err := design.ToDense(m, a); err != nil {
		t.Fatal(err)
	}
	return m
}

// gram is a' diag(w) b the slow way.
func gram(a, b *mat.Dense, w []float64) *mat.Dense {
	n, da := a.Dims()
	_, db := b.Dims()
	c := mat.NewDense(da, db, nil)
	for j := range da {
		for k := range db {
			s := 0.0
			for i := range n {
				wi := 1.0
				if w != nil {
					wi = w[i]
				}
				s += wi * a.At(i, j) * b.At(i, k)
			}
			c.Set(j, k, s)
		}
	}
	return c
}

func drawWeights(t *rapid.T, n int) []float64 {
	if rapid.Bool().Draw(t, "unweighted") {
		return nil
	}
	return rapid.SliceOfN(rapid.Float64Range(0, 3), n, n).Draw(t, "w")
}

func TestProductsAgreeWithDense(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 20).Draw(t, "n")
		a, b := draw(t, "a", n), draw(t, "b", n)
		if rapid.IntRange(0, 2).Draw(t, "same") == 0 {
			b = a
		}
		w := drawWeights(t, n)
		for _, c := range []design.Columns{a, b} {
			if err := design.Check(c); err != nil {
				t.Fatal(err)
			}
		}
		da, db := dense(t, a), dense(t, b)
		_, ca := da.Dims()
		_, cb := db.Dims()

		got := mat.NewDense(ca, cb, nil)
		for i := range ca {
			for j := range cb {
				got.Set(i, j, float64(i+j)) // symmetric start: AddCross adds
			}
		}
		if err := design.AddCross(got, a, b, w); err != nil {
			t.Fatal(err)
		}
		want := gram(da, db, w)
		for i := range ca {
			for j := range cb {
				if math.Abs(got.At(i, j)-float64(i+j)-want.At(i, j)) > 1e-11 {
					t.Fatalf("(%d,%d): %g, want %g", i, j, got.At(i, j)-float64(i+j), want.At(i, j))
				}
				if a == b && got.At(i, j) != got.At(j, i) {
					t.Fatalf("(%d,%d) is not symmetric", i, j)
				}
			}
		}

		r := mat.NewDense(n, 2, nil)
		for i := range n {
			r.Set(i, 0, float64(i))
			r.Set(i, 1, 1)
		}
		tm := mat.NewDense(ca, 2, nil)
		if err := new(design.Work).AddTMul(tm, a, w, r); err != nil {
			t.Fatal(err)
		}
		if !mat.EqualApprox(tm, gram(da, r, w), 1e-11) {
			t.Fatalf("AddTMul: %v", mat.Formatted(tm))
		}

		beta := rapid.SliceOfN(rapid.Float64Range(-2, 2), ca, ca).Draw(t, "beta")
		y := rapid.SliceOfN(rapid.Just(math.NaN()), n, n).Draw(t, "y")
		if err := design.MulVec(y, a, beta); err != nil {
			t.Fatal(err)
		}
		sums := make([]float64, ca)
		if err := new(design.Work).AddSums(sums, a); err != nil {
			t.Fatal(err)
		}
		norm := 0.0
		for i := range n {
			s, abs := 0.0, 0.0
			for j := range ca {
				s += da.At(i, j) * beta[j]
				abs += math.Abs(da.At(i, j))
				sums[j] -= da.At(i, j)
			}
			norm = max(norm, abs)
			if math.Abs(s-y[i]) > 1e-12 {
				t.Fatalf("MulVec row %d: %g, want %g", i, y[i], s)
			}
		}
		for j, s := range sums {
			if math.Abs(s) > 1e-11 {
				t.Fatalf("AddSums column %d is off by %g", j, s)
			}
		}
		if got := design.MaxRowNorm(a); math.Abs(got-norm) > 1e-12 {
			t.Fatalf("MaxRowNorm %g, want %g", got, norm)
		}
	})
}

// Dense products of all sizes around the kernel's tiles.
func TestDenseTiles(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 3, 65} {
		for _, da := range []int{1, 3, 64, 65, 130} {
			for _, db := range []int{1, 7, 8, 9, 256, 261} {
				a, b := mat.NewDense(n, da, nil), mat.NewDense(n, db, nil)
				w := make([]float64, n)
				for i := range n {
					w[i] = rng.Float64()
					for j := range da {
						a.Set(i, j, rng.NormFloat64())
					}
					for j := range db {
						b.Set(i, j, rng.NormFloat64())
					}
				}
				for _, w := range [][]float64{nil, w} {
					got, self := mat.NewDense(da, db, nil), mat.NewDense(da, da, nil)
					if err := design.AddCross(got, design.Dense{Dense: a}, design.Dense{Dense: b}, w); err != nil {
						t.Fatal(err)
					}
					if err := design.AddCross(self, design.Dense{Dense: a}, design.Dense{Dense: a}, w); err != nil {
						t.Fatal(err)
					}
					if !mat.EqualApprox(got, gram(a, b, w), 1e-11) || !mat.EqualApprox(self, gram(a, a, w), 1e-11) {
						t.Fatalf("n=%d da=%d db=%d weighted=%v", n, da, db, w != nil)
					}
				}
			}
		}
	}
}

// Sums in row order: but for dense, banded and interpolated operands, cuts between calls change no bit.
func TestCutsChangeNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 30).Draw(t, "n")
		a, b := draw(t, "a", n), draw(t, "b", n)
		_, aDense := a.(design.Dense)
		_, bDense := b.(design.Dense)
		_, aBand := a.(*design.Banded)
		_, bBand := b.(*design.Banded)
		_, aPieces := a.(*design.Interpolated)
		_, bPieces := b.(*design.Interpolated)
		if aDense && bDense || aBand || bBand || aPieces || bPieces {
			return
		}
		cut := rapid.IntRange(0, n).Draw(t, "cut")
		_, da := a.Dims()
		_, db := b.Dims()
		whole, parts := mat.NewDense(da, db, nil), mat.NewDense(da, db, nil)
		if err := design.AddCross(whole, a, b, nil); err != nil {
			t.Fatal(err)
		}
		for _, at := range [][2]int{{0, cut}, {cut, n}} {
			if at[0] == at[1] {
				continue
			}
			if err := design.AddCross(parts, rows(a, at[0], at[1]), rows(b, at[0], at[1]), nil); err != nil {
				t.Fatal(err)
			}
		}
		if !mat.Equal(whole, parts) {
			t.Fatal("the sum depends on the cut")
		}
	})
}

func rows(a design.Columns, i, j int) design.Columns {
	switch a := a.(type) {
	case design.Dense:
		_, d := a.Dims()
		return design.Dense{Dense: a.Slice(i, j, 0, d).(*mat.Dense)}
	case *design.Sparse:
		return &design.Sparse{D: a.D, K: a.K, Index: a.Index[i*a.K : j*a.K], Value: a.Value[i*a.K : j*a.K]}
	case *design.Banded:
		return &design.Banded{D: a.D, K: a.K, Cyclic: a.Cyclic, First: a.First[i:j], Value: a.Value[i*a.K : j*a.K]}
	case *design.Codes:
		c := &design.Codes{D: a.D, Code: a.Code[i:j]}
		if a.Value != nil {
			c.Value = a.Value[i:j]
		}
		return c
	}
	return nil
}

func TestFaults(t *testing.T) {
	x := design.Dense{Dense: mat.NewDense(2, 2, []float64{1, 2, 3, 4})}
	good := &design.Sparse{D: 3, K: 1, Index: []int32{0, 2}, Value: []float64{1, 1}}
	check := func(a design.Columns) func() error { return func() error { return design.Check(a) } }
	cross := func(dst *mat.Dense, a, b design.Columns, w []float64) func() error {
		return func() error { return design.AddCross(dst, a, b, w) }
	}
	beyond := &design.Sparse{D: 2, K: 1, Index: []int32{0, 2}, Value: []float64{1, 1}}
	negative := &design.Sparse{D: 2, K: 1, Index: []int32{-1, 1}, Value: []float64{1, 1}}
	code := &design.Codes{D: 2, Code: []int32{-1, 2}}
	band := &design.Banded{D: 5, K: 4, First: []int32{1, 0}, Value: make([]float64, 8)}
	late := &design.Banded{D: 5, K: 4, First: []int32{1, 2}, Value: make([]float64, 8)}
	two := &design.Banded{D: 3, K: 2, Cyclic: true, First: []int32{2, -1}, Value: make([]float64, 4)}
	const lateError = "design: banded columns: row 1 begins in column 2 of 5; rows of 4 entries begin in 0 to 1"
	const twoError = "design: banded columns: row 1 begins in column -1 of 3; rows of 2 entries begin in 0 to 2"
	for _, c := range []struct {
		name string
		call func() error
		want string
	}{
		{"nil interface", check(nil), "design: columns are nil"},
		{"nil sparse", check((*design.Sparse)(nil)), "design: sparse columns are nil"},
		{"nil codes", check((*design.Codes)(nil)), "design: coded columns are nil"},
		{"nil matrix", check(design.Dense{}), "design: dense columns without a matrix"},
		{"no entries", check(&design.Sparse{D: 2}), "design: sparse columns: 0 entries in each row of 2 columns; need 1 to 2"},
		{"ragged", check(&design.Sparse{D: 3, K: 2, Index: make([]int32, 3), Value: make([]float64, 3)}), "design: sparse columns: 3 indices are no whole number of rows with 2 entries"},
		{"few values", check(&design.Sparse{D: 3, K: 1, Index: make([]int32, 3)}), "design: sparse columns: 0 values for 3 indices"},
		{"index", check(beyond), "design: sparse columns: row 1 has an entry in column 2 of 2; columns count from 0"},
		{"negative index", check(negative), "design: sparse columns: row 0 has an entry in column -1 of 2; columns count from 0"},
		{"twice", check(&design.Sparse{D: 3, K: 2, Index: []int32{0, 1, 2, 2}, Value: make([]float64, 4)}), "design: sparse columns: row 1 has two entries in column 2; add them up first"},
		{"nil banded", check((*design.Banded)(nil)), "design: banded columns are nil"},
		{"no band", check(&design.Banded{D: 2}), "design: banded columns: 0 entries in each row of 2 columns; need 1 to 2"},
		{"band values", check(&design.Banded{D: 3, K: 2, First: make([]int32, 2), Value: make([]float64, 3)}), "design: banded columns: 3 values for 2 rows with 2 entries"},
		{"band", check(late), lateError},
		{"cyclic band", check(two), twoError},
		{"band gram", cross(mat.NewDense(5, 5, nil), late, late, nil), lateError},
		{"bands", cross(mat.NewDense(5, 5, nil), band, late, nil), lateError},
		{"bands left", cross(mat.NewDense(5, 5, nil), late, band, nil), lateError},
		{"band and dense", cross(mat.NewDense(5, 2, nil), late, x, nil), lateError},
		{"dense and band", cross(mat.NewDense(2, 5, nil), x, late, nil), lateError},
		{"sparse and band", cross(mat.NewDense(3, 5, nil), good, late, nil), lateError},
		{"band and sparse", cross(mat.NewDense(5, 3, nil), late, good, nil), lateError},
		{"other bands", cross(mat.NewDense(3, 3, nil), two, two, nil), twoError},
		{"band of two and four", cross(mat.NewDense(3, 5, nil), two, band, nil), twoError},
		{"MulVec band", func() error { return design.MulVec(make([]float64, 2), late, make([]float64, 5)) }, lateError},
		{"AddSums band", func() error { return new(design.Work).AddSums(make([]float64, 5), late) }, lateError},
		{"code", check(code), "design: coded columns: row 1 has an entry in column 2 of 2; columns count from 0"},
		{"no codes", check(&design.Codes{}), "design: coded columns: 0 columns; need at least 1"},
		{"code values", check(&design.Codes{D: 1, Code: []int32{0}, Value: []float64{}}), "design: coded columns: 0 values for 1 codes"},
		{"rows", cross(mat.NewDense(2, 1, nil), x, &design.Codes{D: 1, Code: []int32{0}}, nil), "design: product of columns with 2 and 1 rows"},
		{"weights", cross(mat.NewDense(2, 2, nil), x, x, []float64{1}), "design: 1 weights for 2 rows"},
		{"no destination", cross(nil, x, x, nil), "design: no destination for a 2 x 2 product"},
		{"destination", cross(mat.NewDense(2, 3, nil), x, x, nil), "design: destination is 2 x 3 for a 2 x 2 product"},
		{"cross gram", cross(mat.NewDense(2, 2, nil), beyond, beyond, nil), "design: sparse columns: row 1 has an entry in column 2 of 2; columns count from 0"},
		{"cross sparse", cross(mat.NewDense(2, 3, nil), negative, good, nil), "design: sparse columns: row 0 has an entry in column -1 of 2; columns count from 0"},
		{"cross sparse right", cross(mat.NewDense(3, 2, nil), good, beyond, nil), "design: sparse columns: row 1 has an entry in column 2 of 2; columns count from 0"},
		{"cross dense", cross(mat.NewDense(2, 2, nil), x, beyond, nil), "design: sparse columns: row 1 has an entry in column 2 of 2; columns count from 0"},
		{"cross dense right", cross(mat.NewDense(2, 2, nil), code, x, nil), "design: coded columns: row 1 has an entry in column 2 of 2; columns count from 0"},
		{"table", cross(mat.NewDense(2, 2, nil), code, code, nil), "design: coded columns: row 1 has an entry in column 2 of 2; columns count from 0"},
		{"coded with sparse", cross(mat.NewDense(3, 2, nil), good, code, nil), "design: coded columns: row 1 has an entry in column 2 of 2; columns count from 0"},
		{"MulVec", func() error { return design.MulVec(make([]float64, 2), x, make([]float64, 3)) }, "design: 2 x 2 columns times 3 coefficients into 2 rows"},
		{"MulVec index", func() error { return design.MulVec(make([]float64, 2), beyond, make([]float64, 2)) }, "design: sparse columns: row 1 has an entry in column 2 of 2; columns count from 0"},
		{"AddSums", func() error { return new(design.Work).AddSums(make([]float64, 3), x) }, "design: 3 sums for 2 columns"},
		{"ToDense", func() error { return design.ToDense(mat.NewDense(1, 2, nil), x) }, "design: destination is 1 x 2 for 2 x 2 columns"},
		{"AddTMul", func() error { return new(design.Work).AddTMul(mat.NewDense(2, 1, nil), x, nil, nil) }, "design: dense columns without a matrix"},
	} {
		err := c.call()
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
	if err := design.Check(&design.Codes{D: 2, Code: []int32{-1, 1}}); err != nil {
		t.Errorf("a negative code is no entry: %v", err)
	}
}

// FuzzCheck: accepted columns multiply without fault, refused ones are errors everywhere,
// and nothing panics.
func FuzzCheck(f *testing.F) {
	f.Add(int8(3), int8(2), []byte{0, 1, 1, 2}, uint8(1))
	f.Add(int8(2), int8(1), []byte{0, 255}, uint8(0))
	f.Add(int8(5), int8(4), []byte{0, 1, 2, 3, 1, 2, 3, 5}, uint8(1))
	f.Add(int8(0), int8(0), []byte{}, uint8(0))
	f.Add(int8(7), int8(4), []byte{0, 3, 4}, uint8(2))
	f.Add(int8(7), int8(4), []byte{0, 3, 6}, uint8(3))
	f.Add(int8(5), int8(4), []byte{0, 1, 1, 0, 1, 1, 0, 0}, uint8(4))
	f.Add(int8(5), int8(4), []byte{0, 2}, uint8(4))
	f.Fuzz(func(t *testing.T, d, k int8, index []byte, form uint8) {
		codes := make([]int32, len(index))
		for i, v := range index {
			codes[i] = int32(int8(v))
		}
		var a design.Columns = &design.Codes{D: int(d), Code: codes}
		switch form % 5 {
		case 4:
			d %= 12 // the square is an int8, too
			band := &design.Banded{D: int(d), K: int(k), First: codes, Value: make([]float64, len(codes)*max(int(k), 0))}
			a = &design.Product{A: band, B: band}
			d *= d
		case 1:
			a = &design.Sparse{D: int(d), K: int(k), Index: codes, Value: make([]float64, len(codes))}
		case 2, 3:
			a = &design.Banded{D: int(d), K: int(k), Cyclic: form%5 == 3, First: codes, Value: make([]float64, len(codes)*max(int(k), 0))}
		}
		n, _ := a.Dims()
		_ = design.MaxRowNorm(a)
		err := design.Check(a)
		if d < 1 {
			if err == nil {
				t.Fatal("no columns, no error")
			}
			return
		}
		dst := mat.NewDense(int(d), int(d), nil)
		cross := design.AddCross(dst, a, a, nil)
		if err == nil && cross != nil {
			t.Fatalf("checked columns fail: %v", cross)
		}
		if err != nil && cross == nil && !strings.Contains(err.Error(), "two entries") {
			t.Fatalf("product of faulty columns: %v", err)
		}
		// A copy of the columns is another operand: the general products.
		other := a
		switch s := a.(type) {
		case *design.Sparse:
			c := *s
			other = &c
		case *design.Banded:
			c := *s
			other = &c
		case *design.Product:
			c := *s
			other = &c
		}
		if general := design.AddCross(dst, a, other, nil); (general == nil) != (cross == nil) {
			t.Fatalf("products disagree about faults: %v, %v", general, cross)
		}
		if n > 0 {
			x := design.Dense{Dense: mat.NewDense(n, 1, nil)}
			left := design.AddCross(mat.NewDense(1, int(d), nil), x, a, nil)
			right := design.AddCross(mat.NewDense(int(d), 1, nil), a, x, nil)
			if (left == nil) != (right == nil) || (left == nil) != (cross == nil) {
				t.Fatalf("products disagree about faults: %v, %v, %v", left, right, cross)
			}
		}
	})
}
