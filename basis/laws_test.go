package basis

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/pho-go/pho/basis/internal/bspline"
	"github.com/pho-go/pho/basis/internal/cubic"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/decompose/decomposetest"
	"github.com/pho-go/pho/design"
)

// sample makes n rows with all the columns that allTerms reads.
func sample(t testing.TB, n int, seed uint64) *data.Batch {
	r := rand.New(rand.NewPCG(seed, 1))
	x, z, h := make([]float64, n), make([]float64, n), make([]float64, n)
	g, text := make([]string, n), []string{"low", "mid", "high"}
	u := mat.NewDense(n, 3, nil)
	for i := range n {
		x[i], z[i] = 3*r.NormFloat64(), r.NormFloat64()
		h[i] = float64(i % 4)
		g[i] = text[i%3]
		for j := range 3 {
			u.Set(i, j, r.Float64())
		}
	}
	z[0] = 0
	b := data.NewBatch(n, 0)
	must(t, b.SetNumeric("x", x))
	must(t, b.SetNumeric("z", z))
	must(t, b.SetNumeric("h", h))
	must(t, b.SetCodes("g", encode(g)))
	for _, level := range text {
		is := make([]float64, n)
		for i := range is {
			if g[i] == level {
				is[i] = 1
			}
		}
		must(t, b.SetNumeric("g_"+level, is))
	}
	must(t, b.SetTensor("u", u))
	return b
}

// allTerms has a term of every sort.
func allTerms(t testing.TB) map[string]decompose.Term {
	fit := sample(t, 200, 1)
	specs := []decompose.Spec{
		Linear("x"), Factor("g", nil), Factor("h", &FactorOptions{Label: "factor(h)", AllLevels: true}),
		Smooth("x", PS{}, nil), Smooth("z", PS{K: 6, M: []int{0, 1}}, nil), Smooth("z", PS{K: 30, M: []int{4, 2}}, nil),
		Smooth("z", PS{K: 4}, nil), Smooth("z", PS{Knots: []float64{-9, -8, -7, -6, 6, 7, 8, 9, 10}, M: []int{2, 1}}, nil), Smooth("x", CR{}, nil),
		Smooth("x", Stepped{CR{K: 6}, []float64{0.2, 0.5}}, nil), Smooth("z", Stepped{PS{K: 6}, []float64{0.1}}, &SmoothOptions{By: "g"}),
		Smooth("x", TP{}, nil), Smooth("z", TP{Shrink: true, M: 3}, &SmoothOptions{By: "g"}),
		Surface([]string{"x", "z"}, TP{}, nil), Surface([]string{"x", "z"}, TP{K: 9, Shrink: true}, &SmoothOptions{By: "g"}),
		Surface([]string{"x", "z", "h"}, TP{K: 14}, &SmoothOptions{By: "z"}), Surface([]string{"x", "h"}, RBF{K: 9}, &SmoothOptions{By: "x"}),
		Smooth("x", PS{K: 7}, &SmoothOptions{By: "z"}), Smooth("x", CR{K: 7}, &SmoothOptions{By: "z"}),
		Smooth("x", PS{K: 7}, &SmoothOptions{By: "g"}), Smooth("x", CR{K: 7}, &SmoothOptions{By: "h", ByFactor: true}),
	}
	specs = append(specs, productSpecs()...)
	terms := map[string]decompose.Term{"tap": &decompose.Tap{Tensor: "u", Features: []string{"x", "z"}, Width: 3}}
	for i, s := range specs {
		for _, b := range mustBuild(t, s, fit) {
			terms[fmt.Sprintf("%02d %s", i, b.Term.Name())] = b.Term
		}
	}
	return terms
}

func forAllTerms(t *testing.T, f func(t *testing.T, term decompose.Term)) {
	terms := allTerms(t)
	names := make([]string, 0, len(terms))
	for name := range terms {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		t.Run(name, func(t *testing.T) { f(t, terms[name]) })
	}
}

// bits compares exactly; NaN is a difference.
func bits(t *testing.T, what string, got, want *mat.Dense) {
	t.Helper()
	if !mat.Equal(got, want) {
		t.Errorf("%s: not the same bits:\n%v\nwant\n%v", what, mat.Formatted(got, mat.Excerpt(3)), mat.Formatted(want, mat.Excerpt(3)))
	}
}

func TestSparseIsDense(t *testing.T) {
	sparse := 0
	forAllTerms(t, func(t *testing.T, term decompose.Term) {
		s, ok := term.(decompose.SparseTerm)
		if !ok {
			return
		}
		sparse++
		b := sample(t, 300, 2) // runs beyond the fitted range
		c, err := s.EvalSparse(b)
		must(t, err)
		must(t, design.Check(c))
		dense := mat.NewDense(b.Rows(), term.Dim(), nil)
		if n, d := c.Dims(); n != b.Rows() || d != term.Dim() {
			t.Fatalf("sparse columns are %d x %d", n, d)
		}
		switch c := c.(type) {
		case *design.Sparse:
			for at, j := range c.Index {
				dense.Set(at/c.K, int(j), c.Value[at])
			}
		case *design.Banded:
			for at, v := range c.Value {
				dense.Set(at/c.K, (int(c.First[at/c.K])+at%c.K)%c.D, v)
			}
		case *design.Codes:
			for i, j := range c.Code {
				switch {
				case j < 0:
				case c.Value == nil:
					dense.Set(i, int(j), 1)
				default:
					dense.Set(i, int(j), c.Value[i])
				}
			}
		case design.Dense: // in the batch's memory
			dense.Copy(c)
			sparse--
		default:
			t.Fatalf("%T is not known", c)
		}
		bits(t, "EvalSparse", dense, evaluate(t, term, b))
	})
	if sparse < 10 {
		t.Errorf("only %d sparse terms were tried", sparse)
	}
}

func TestRowDependsOnItselfOnly(t *testing.T) {
	forAllTerms(t, func(t *testing.T, term decompose.Term) {
		b := sample(t, 60, 3)
		all := evaluate(t, term, b)
		for i := range b.Rows() {
			one := evaluate(t, term, b.Slice(i, i+1))
			bits(t, fmt.Sprintf("row %d alone", i), one, mat.DenseCopyOf(all.Slice(i, i+1, 0, term.Dim())))
		}
	})
}

func TestConformance(t *testing.T) {
	forAllTerms(t, func(t *testing.T, term decompose.Term) {
		if err := decomposetest.Term(term, sample(t, 40, 8)); err != nil {
			t.Error(err)
		}
	})
}

func TestDestinationMayBeAView(t *testing.T) {
	forAllTerms(t, func(t *testing.T, term decompose.Term) {
		b := sample(t, 20, 4)
		wide := mat.NewDense(22, term.Dim()+2, nil)
		wide.Apply(func(int, int, float64) float64 { return 7 }, wide)
		view := wide.Slice(1, 21, 1, term.Dim()+1).(*mat.Dense)
		must(t, term.Eval(view, b))
		bits(t, "view", mat.DenseCopyOf(view), evaluate(t, term, b))
		for i := range 22 {
			if wide.At(i, 0) != 7 || wide.At(i, term.Dim()+1) != 7 {
				t.Fatalf("Eval wrote outside its view, row %d", i)
			}
		}
	})
}

func TestDecodeRebuildsTheSameBits(t *testing.T) {
	forAllTerms(t, func(t *testing.T, term decompose.Term) {
		spec, err := json.Marshal(term)
		must(t, err)
		again, err := Decode(term.Kind(), spec)
		must(t, err)
		if again.Name() != term.Name() || again.Dim() != term.Dim() || !slices.Equal(again.Columns(), term.Columns()) || fmt.Sprintf("%T", again) != fmt.Sprintf("%T", term) {
			t.Errorf("decoded %T %s %d %v, want %T %s %d %v", again, again.Name(), again.Dim(), again.Columns(), term, term.Name(), term.Dim(), term.Columns())
		}
		b := sample(t, 300, 6)
		bits(t, "decoded", evaluate(t, again, b), evaluate(t, term, b))
		twice, err := json.Marshal(again)
		must(t, err)
		if string(twice) != string(spec) {
			t.Errorf("spec %s, after a round trip %s", spec, twice)
		}
	})
}

func TestScanDoesNotSeeBatches(t *testing.T) {
	whole := sample(t, 300, 7)
	order := []int{100, 250, 0, 50, 299}
	for _, text := range []string{`~ s(x, bs="ps")`, `~ s(x, bs="cr", by=z)`, `~ s(z, bs="ps", by=g)`, `~ factor(h)`, `~ g`, `~ s(x)`, `~ s(x, z, by=g)`, `~ s(x, z, bs="rbf", by=z)`} {
		specs := func() decompose.Spec {
			f, err := Parse(text, &Options{Schema: sampleSchema()})
			must(t, err)
			return f.Specs[0]
		}
		one := mustBuild(t, specs(), whole)
		parts := []*data.Batch{}
		slices.Sort(order)
		for i, j := range order[1:] {
			parts = append(parts, whole.Slice(order[i], j))
		}
		parts = append(parts, whole.Slice(299, 300))
		many := mustBuild(t, specs(), parts...)
		a, err := json.Marshal(one[0].Term)
		must(t, err)
		b, err := json.Marshal(many[0].Term)
		must(t, err)
		if string(a) != string(b) {
			t.Errorf("%s: scanned at once %s, in parts %s", text, a, b)
		}
	}
}

func sampleSchema() data.Schema {
	return data.Schema{
		{Name: "x", Numeric: true}, {Name: "z", Numeric: true}, {Name: "h", Numeric: true},
		{Name: "g", Categorical: true}, {Name: "u", Width: 3}, {Name: "both", Numeric: true, Categorical: true},
	}
}

// TestPartitionOfUnity: inside the knots and on the lines beyond, B-splines and
// the cr basis reproduce constants, and cr (and ps of m1 >= 1 at Greville's
// abscissae) straight lines.
func TestPartitionOfUnity(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		lo := rapid.Float64Range(-1e6, 1e6).Draw(rt, "lo")
		width := rapid.Float64Range(1e-3, 1e6).Draw(rt, "width")
		k := rapid.IntRange(4, 40).Draw(rt, "k")
		m1 := rapid.IntRange(0, min(k-2, 9)).Draw(rt, "m1")
		at := rapid.Float64Range(-1.5, 2.5).Draw(rt, "at")
		x := make([]float64, 3*k)
		for i := range x {
			x[i] = lo + width*math.Pow(float64(i)/float64(len(x)-1), 2)
		}
		for _, u := range []Univariate{PS{K: k, M: []int{m1, 1}}, CR{K: k}} {
			term := smoothOf(mustBuild(t, Smooth("x", u, nil), numbers(t, "x", x))[0].Term)
			abscissae := make([]float64, k)
			switch b := term.basis.(type) {
			case *bspline.Basis:
				for j := range abscissae {
					for _, v := range b.Knots()[j+1 : j+1+b.Degree()] {
						abscissae[j] += v / float64(b.Degree())
					}
				}
			case *cubic.Natural:
				copy(abscissae, b.Knots())
			}
			point := lo + at*width
			row := evaluate(t, term, numbers(t, "x", []float64{point})).RawRowView(0)
			sum, line, size := 0.0, 0.0, 1.0
			for j, v := range row {
				sum += v
				line += v * (abscissae[j] - lo)
				size += math.Abs(v)
			}
			scale := size * float64(k) * 1e-14 * (1 + math.Abs(lo)/width)
			if math.Abs(sum-1) > scale {
				rt.Fatalf("%s k=%d m1=%d: values at %v sum to 1%+g", u.label(), k, m1, point, sum-1)
			}
			if math.Abs(line-(point-lo)) > 10*scale*width {
				rt.Fatalf("%s k=%d m1=%d: the line is %v at %v", u.label(), k, m1, line+lo, point)
			}
		}
	})
}
