package design_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/design"
)

// product is n rows of a tensor product of splines: width adjacent functions of each margin's
// dim; of a circle, they go around.
func product(r *rand.Rand, n, dim, width int, circle bool) *design.Sparse {
	s := &design.Sparse{D: dim * dim, K: width * width}
	starts := dim - width + 1
	if circle {
		starts = dim
	}
	for range n {
		a, b := r.IntN(starts), r.IntN(starts)
		for l := range width {
			for m := range width {
				s.Index = append(s.Index, int32((a+l)%dim*dim+(b+m)%dim))
				s.Value = append(s.Value, r.NormFloat64())
			}
		}
	}
	return s
}

// TestArrangedProducts: arranged columns have the products of those that are not.
func TestArrangedProducts(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, c := range []struct {
		n, dim, width int
		circle        bool
	}{{3000, 8, 4, false}, {700, 5, 4, true}, {400, 6, 3, false}, {40, 8, 4, false}, {300, 7, 2, true}} {
		a := product(r, c.n, c.dim, c.width, c.circle)
		weights := make([]float64, c.n)
		for i := range weights {
			weights[i] = r.Float64()
		}
		dense := func(q int) design.Dense {
			m := mat.NewDense(c.n, q+1, nil)
			for i := range m.RawMatrix().Data {
				m.RawMatrix().Data[i] = r.NormFloat64()
			}
			return design.Dense{Dense: m.Slice(0, c.n, 0, q).(*mat.Dense)}
		}
		codes := &design.Codes{D: 9}
		for range c.n {
			codes.Code = append(codes.Code, int32(r.IntN(10)-1))
		}
		valued := &design.Codes{D: 9, Code: codes.Code, Value: weights}
		plain := &design.Sparse{D: a.D, K: a.K, Index: a.Index, Value: a.Value}
		a.Arrange()
		for _, w := range [][]float64{nil, weights} {
			var work design.Work
			for i, pair := range [][2]design.Columns{{a, a}, {a, dense(1)}, {a, dense(2)}, {a, dense(20)}, {codes, a}, {valued, a}, {a, plain}, {dense(3), a}} {
				judge := pair
				for l := range judge {
					if judge[l] == a {
						judge[l] = plain
					}
				}
				_, p := pair[0].Dims()
				_, q := pair[1].Dims()
				got, want := mat.NewDense(p, q, nil), mat.NewDense(p, q, nil)
				for range 2 { // adds
					if err := work.AddCross(got, pair[0], pair[1], w); err != nil {
						t.Fatal(err)
					}
					if err := work.AddCross(want, judge[0], judge[1], w); err != nil {
						t.Fatal(err)
					}
				}
				for j, v := range want.RawMatrix().Data {
					if u := got.RawMatrix().Data[j]; math.Abs(u-v) > 1e-11 {
						t.Fatalf("%+v, product %d, weights %v: %v at %d, want %v", c, i, w != nil, u, j, v)
					}
				}
				if i == 0 && !mat.Equal(got, got.T()) {
					t.Fatalf("%+v: not symmetric", c)
				}
			}
		}
	}
}

// TestAddCrosses: products with several dense columns at once are those one after the other, arranged or not.
func TestAddCrosses(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 4))
	const n = 1500
	dense := func(q int) design.Dense {
		m := mat.NewDense(n, q, nil)
		for i := range m.RawMatrix().Data {
			m.RawMatrix().Data[i] = r.NormFloat64()
		}
		return design.Dense{Dense: m}
	}
	weights := make([]float64, n)
	for i := range weights {
		weights[i] = r.Float64()
	}
	a, b := product(r, n, 8, 4, false), []design.Dense{dense(20), dense(2), dense(1)}
	for _, arranged := range []bool{false, true} {
		if arranged {
			a.Arrange()
		}
		for _, w := range [][]float64{nil, weights} {
			var work design.Work
			var got, want []*mat.Dense
			for _, x := range b {
				_, q := x.Dims()
				got, want = append(got, mat.NewDense(a.D, q, nil)), append(want, mat.NewDense(a.D, q, nil))
			}
			for range 2 { // adds
				if err := work.AddCrosses(got, a, b, w); err != nil {
					t.Fatal(err)
				}
				for i, x := range b {
					if err := work.AddCross(want[i], a, x, w); err != nil {
						t.Fatal(err)
					}
				}
			}
			for i := range b {
				if !mat.EqualApprox(got[i], want[i], 1e-12) {
					t.Errorf("arranged %v, weights %v: product %d differs", arranged, w != nil, i)
				}
			}
			if err := work.AddCrosses(got[:1], a, b[1:2], w); err == nil {
				t.Error("a product of 2 columns went where 20 belong")
			}
		}
	}
}

// TestArrangeAgain: what Arrange found does not outlive the entries, and rows that begin
// alike but go on differently are not one cell.
func TestArrangeAgain(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	s := product(r, 500, 8, 4, false)
	s.Arrange()
	for i := range 500 { // the second entry now varies by row
		s.Index[16*i+1] = int32(63 - i%2)
	}
	for i := range s.Index[:16*500] {
		if l := i % 16; l > 1 {
			s.Index[i] = int32(40 + l)
		}
	}
	s.Arrange()
	if err := design.Check(s); err != nil {
		t.Fatal(err)
	}
	got, want := mat.NewDense(64, 64, nil), mat.NewDense(500, 64, nil)
	if err := design.AddCross(got, s, s, nil); err != nil {
		t.Fatal(err)
	}
	if err := design.ToDense(want, s); err != nil {
		t.Fatal(err)
	}
	var gram mat.Dense
	gram.Mul(want.T(), want)
	if !mat.EqualApprox(got, &gram, 1e-10) {
		t.Fatal("rows of other columns were taken for those of a cell")
	}
	first := s.First(10)
	first.Arrange()
	if n, d := first.Dims(); n != 10 || d != 64 {
		t.Fatalf("the first rows are %d x %d", n, d)
	}
}
