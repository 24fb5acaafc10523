package moments

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/design"
)

// scattered are rows of bases of all kinds.
type scattered struct {
	random *rand.Rand
	frame  *Frame
}

func newScattered() *scattered {
	s := &scattered{random: rand.New(rand.NewPCG(3, 9))}
	s.frame = &Frame{Dims: []int{3, 2, 70, 12, 9, 40, 11, 1, 6, 10, 10, 10}, Dense: []bool{true, true, false, false, false, false, false, true, false, false, false, false}}
	for _, d := range s.frame.Dims {
		for range d {
			s.frame.Point = append(s.frame.Point, s.random.NormFloat64())
		}
	}
	return s
}

// rows are n of them, with their weights. spread: sparse rows have entries in any columns, and a band is
// stored densely.
func (s *scattered) rows(n int, spread bool) ([]design.Columns, *mat.Dense) {
	numbers := func(k int) []float64 {
		v := make([]float64, k)
		for i := range v {
			v[i] = s.random.NormFloat64()
		}
		return v
	}
	var x []design.Columns
	for b, d := range s.frame.Dims {
		switch b {
		case 2:
			c := &design.Codes{D: d, Code: make([]int32, n)}
			for i := range c.Code {
				c.Code[i] = int32(s.random.IntN(d+1) - 1)
			}
			x = append(x, c)
		case 3, 4:
			c := &design.Banded{D: d, K: 4, Cyclic: b == 4, First: make([]int32, n), Value: numbers(4 * n)}
			for i := range c.First {
				c.First[i] = int32(s.random.IntN(d - 3))
			}
			x = append(x, c)
		case 5, 6:
			c := &design.Sparse{D: d, K: 5, Value: numbers(5 * n)}
			for range n {
				at := 5 * s.random.IntN(d/5)
				for l := range 5 {
					if spread {
						c.Index = append(c.Index, int32((at+3+l*l)%d))
						continue
					}
					c.Index = append(c.Index, int32(at+l))
				}
			}
			if spread && b == 6 { // some columns may be equal
				for i := range n {
					copy(c.Index[5*i:], []int32{7, 2, 4, 10, 0})
				}
			}
			x = append(x, c)
		case 8:
			if spread {
				x = append(x, design.Dense{Dense: mat.NewDense(n, d, numbers(n*d))})
				continue
			}
			c := &design.Banded{D: d, K: 4, First: make([]int32, n), Value: numbers(4 * n)}
			x = append(x, c)
		case 9, 10, 11:
			x = append(x, &design.Banded{D: d, K: 4, First: make([]int32, n), Value: numbers(4 * n)})
		default:
			x = append(x, design.Dense{Dense: mat.NewDense(n, d, numbers(n*d))})
		}
	}
	level := func(i int) int { return i % 7 % 3 } // whose band has entries
	for b, c := range x[9:] {
		c := c.(*design.Banded)
		for i := range n {
			if (level(i) != b || i%11 == 0) && !(spread && b == 1) {
				clear(c.Value[4*i : 4*i+4])
			}
		}
	}
	with := mat.NewDense(n, 1, nil)
	for i := range n {
		with.Set(i, 0, s.random.ExpFloat64())
	}
	return x, with
}

func plain(s [][]float64, _, _ []design.Columns, with *mat.Dense) error {
	mat.Col(s[0], 0, with)
	return nil
}

// slowScatter adds up rows one by one about the frame's point.
type slowScatter struct {
	xx    *mat.SymDense
	x     *mat.VecDense
	total float64
}

func (s *slowScatter) add(f *Frame, x []design.Columns, with *mat.Dense) {
	p := len(f.Point)
	if s.xx == nil {
		s.xx, s.x = mat.NewSymDense(p, nil), mat.NewVecDense(p, nil)
	}
	n, _ := with.Dims()
	for i := range n {
		row, at := mat.NewVecDense(p, nil), 0
		for b, d := range f.Dims {
			design.CopyRow(row.RawVector().Data[at:at+d], x[b], i)
			at += d
		}
		row.SubVec(row, mat.NewVecDense(p, f.Point))
		s.xx.SymRankOne(s.xx, with.At(i, 0), row)
		s.x.AddScaledVec(s.x, with.At(i, 0), row)
		s.total += with.At(i, 0)
	}
}

// TestScatter compares sums of chunks with sums of rows one by one, for columns of all kinds
// and of forms that change on the way; sums that were written are read as they are.
func TestScatter(t *testing.T) {
	s := newScattered()
	c := NewScatterChunk(s.frame, 1, plain)
	var slow slowScatter
	var total *Scatter
	for chunk := range 4 {
		for _, n := range []int{1, 700, 256, 4000}[chunk%2:] {
			x, with := s.rows(n, chunk > 1 && n < 1000)
			if err := c.Add(x, with); err != nil {
				t.Fatal(err)
			}
			slow.add(s.frame, x, with)
		}
		all, err := c.Take([]*Scatter{s.frame.NewScatter()})
		if err != nil {
			t.Fatal(err)
		}
		sums := all[0]
		raw := sums.AppendTo(nil)
		again, err := ReadScatter(raw, s.frame.Shape())
		if err != nil || !bytes.Equal(again.AppendTo(nil), raw) {
			t.Fatalf("sums are read as others: %v", err)
		}
		for _, cut := range []int{0, 7, len(raw) / 2, len(raw) - 1} {
			if _, err := ReadScatter(raw[:cut], s.frame.Shape()); err == nil {
				t.Errorf("%d of %d bytes are sums", cut, len(raw))
			}
		}
		if total == nil {
			total = again
		} else if err := total.Add(again); err != nil {
			t.Fatal(err)
		}
	}
	const unit = 0.25
	about, x, sum := total.About(s.frame, unit, 0, 0)
	xx := about.Sum()
	for at, a := 0, 0; a < len(total.own); a++ { // told by few numbers they are the same bits
		b := &total.own[a]
		for lo := range min(2, b.n) {
			told, _, _ := total.About(s.frame, unit, at+lo, at+b.n)
			if (told.Near == nil) != (b.width == b.n) {
				t.Errorf("a band %d wide of %d: few numbers: %v", b.width, b.n, told.Near != nil)
			}
			if !mat.Equal(told.Sum(), xx) {
				t.Errorf("products of columns from %d on are told otherwise by few numbers", at+lo)
			}
		}
		at += b.n
	}
	near := func(what string, got, want float64) {
		t.Helper()
		if !(math.Abs(got-want) <= 1e-12*slow.total) {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	near("sum of weights", sum, unit*slow.total)
	for i := range x {
		near("sum", x[i], unit*slow.x.AtVec(i))
		for j := i; j < len(x); j++ {
			near("product", xx.At(i, j), unit*slow.xx.At(i, j))
		}
	}
	if other := (&Frame{Dims: []int{2}, Dense: []bool{true}, Point: []float64{0, 0}}).NewScatter(); total.Add(other) == nil {
		t.Error("sums of other columns were added")
	}
}

// TestScatterTakesLittleRoom: products of levels that no row has are not held.
func TestScatterTakesLittleRoom(t *testing.T) {
	f := &Frame{Dims: []int{5000, 3}, Dense: []bool{false, true}, Point: make([]float64, 5003)}
	c := NewScatterChunk(f, 1, plain)
	x := []design.Columns{&design.Codes{D: 5000, Code: make([]int32, 10)}, design.Dense{Dense: mat.NewDense(10, 3, nil)}}
	if err := c.Add(x, mat.NewDense(10, 1, nil)); err != nil {
		t.Fatal(err)
	}
	sums, err := c.Take(nil)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(sums[0].AppendTo(nil)); n > 8*(5000*5+5003+100) {
		t.Errorf("%d bytes", n)
	}
}

// TestScatterAgain compares the sums of columns that rows have once more, by factors of both signs, with those of
// rows one by one: dense ones, of which neighbours are one run, and others; sums that were written are read as they are.
func TestScatterAgain(t *testing.T) {
	s := newScattered()
	f := s.frame
	f.Again = [][]int{{0, 1, 2, 3}, {1, 5, 7}}
	for range f.Point {
		f.About = append(f.About, s.random.NormFloat64())
	}
	factors := func(c float64) []float64 { return []float64{c, math.Sin(9 * c), math.Cos(5*c) - 0.3} }
	chunk := NewScatterChunk(f, 1, func(dst [][]float64, _, _ []design.Columns, with *mat.Dense) error {
		for i := range dst[0] {
			v := factors(with.At(i, 0))
			for b := range v {
				for a := range b + 1 {
					dst[Pair(a, b)][i] = v[a] * v[b]
				}
			}
		}
		return nil
	})
	starts := []int{0}
	for _, d := range f.Dims {
		starts = append(starts, starts[len(starts)-1]+d)
	}
	p := len(f.Point)
	var at, of []int // the copies' columns, and their factors
	for i, bases := range f.Again {
		for _, b := range bases {
			for l := starts[b]; l < starts[b+1]; l++ {
				at, of = append(at, l), append(of, i+1)
			}
		}
	}
	m := len(at)
	wantXU, wantUU, wantU, size := mat.NewDense(p, m, nil), mat.NewDense(m, m, nil), make([]float64, m), 0.0
	var total *Scatter
	for _, n := range []int{300, 900, 1} {
		x, with := s.rows(n, false)
		if err := chunk.Add(x, with); err != nil {
			t.Fatal(err)
		}
		for i := range n {
			v, row := factors(with.At(i, 0)), make([]float64, p)
			for b, c := range x {
				design.CopyRow(row[starts[b]:starts[b+1]], c, i)
			}
			u := make([]float64, m)
			for k, l := range at {
				u[k] = v[of[k]] * (row[l] - f.About[l])
				wantU[k] += v[0] * u[k]
			}
			size += v[0] * v[0]
			for k, a := range u {
				for l := range p {
					wantXU.Set(l, k, wantXU.At(l, k)+v[0]*(row[l]-f.Point[l])*a)
				}
				for l, b := range u {
					wantUU.Set(k, l, wantUU.At(k, l)+a*b)
				}
			}
		}
		all, err := chunk.Take([]*Scatter{f.NewScatter()})
		if err != nil {
			t.Fatal(err)
		}
		sums := all[0]
		raw := sums.AppendTo(nil)
		again, err := ReadScatter(raw, f.Shape())
		if err != nil || !bytes.Equal(again.AppendTo(nil), raw) {
			t.Fatalf("sums are read as others: %v", err)
		}
		if _, err := ReadScatter(raw[:len(raw)-9], f.Shape()); err == nil {
			t.Error("sums that are cut short are sums")
		}
		if total == nil {
			total = again
		} else if err := total.Add(again); err != nil {
			t.Fatal(err)
		}
	}
	xu, uu, u := total.Again(f, 0.5)
	tolerance := 1e-13 * size * 100 // of sums of so many summands of both signs
	for k := range m {
		if math.Abs(u[k]-0.5*wantU[k]) > tolerance {
			t.Errorf("sum %d is %v, want %v", k, u[k], wantU[k]/2)
		}
		for l := range p {
			if got, want := xu.At(l, k), 0.5*wantXU.At(l, k); math.Abs(got-want) > tolerance {
				t.Fatalf("product %d, copy %d is %v, want %v", l, k, got, want)
			}
		}
		for l := range m {
			if got, want := uu.At(l, k), 0.5*wantUU.At(l, k); math.Abs(got-want) > tolerance {
				t.Fatalf("products of copies %d, %d are %v, want %v", l, k, got, want)
			}
		}
	}
}

// TestScattersTogether: sums of the same rows by several weights are those of each alone.
func TestScattersTogether(t *testing.T) {
	const n, weights = 1500, 3
	r := rand.New(rand.NewPCG(8, 9))
	codes, dense := &design.Codes{D: 7, Code: make([]int32, n)}, mat.NewDense(n, 2, nil)
	for i := range n {
		codes.Code[i] = int32(r.IntN(7))
		dense.SetRow(i, []float64{r.NormFloat64(), r.Float64()})
	}
	x := []design.Columns{codes, design.Dense{Dense: dense}}
	f := &Frame{Dims: []int{7, 2}, Dense: []bool{false, true}, Point: make([]float64, 9)}
	with := mat.NewDense(n, weights, nil)
	for i := range n {
		for k := range weights {
			with.Set(i, k, r.Float64())
		}
	}
	together := NewScatterChunk(f, 1, plain, plain, plain)
	for round := range 2 {
		if err := together.Add(x, with); err != nil {
			t.Fatal(err)
		}
		got, err := together.Take(make([]*Scatter, weights))
		if err != nil {
			t.Fatal(err)
		}
		for k := range weights {
			alone := NewScatterChunk(f, 1, plain)
			if err := alone.Add(x, mat.DenseCopyOf(with.Slice(0, n, k, k+1))); err != nil {
				t.Fatal(err)
			}
			want, err := alone.Take(nil)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got[k].AppendTo(nil), want[0].AppendTo(nil)) {
				t.Errorf("round %d: sums by weights %d are others together", round, k)
			}
		}
	}
}
