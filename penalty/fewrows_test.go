package penalty

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/base/linalg"
)

// wide is a ridge of more columns than rows, and two responses on them.
func wide(rows, columns int, intercept bool) *Problem {
	rng := rand.New(rand.NewPCG(7, 8))
	x := mat.NewDense(rows, columns, nil)
	z := mat.NewDense(rows, 2, nil)
	for i := range rows {
		hidden := [5]float64{}
		for k := range hidden {
			hidden[k] = rng.NormFloat64()
		}
		for j := range columns {
			x.Set(i, j, (hidden[j%5]+rng.NormFloat64()/2)*math.Exp(float64(j%5)))
		}
		z.SetRow(i, []float64{hidden[0] + hidden[1]/3 + rng.NormFloat64(), hidden[2] - hidden[3] + rng.NormFloat64()/2})
	}
	p := &Problem{Rows: int64(rows), SumW: float64(rows), Intercept: intercept, XMean: make([]float64, columns)}
	means := make([]float64, 2)
	if intercept {
		for j := range columns {
			p.XMean[j] = mat.Sum(x.ColView(j)) / float64(rows)
		}
		for k := range means {
			means[k] = mat.Sum(z.ColView(k)) / float64(rows)
		}
	}
	for i := range rows {
		for j, m := range p.XMean {
			x.Set(i, j, x.At(i, j)-m)
		}
		for k, m := range means {
			z.Set(i, k, z.At(i, k)-m)
		}
	}
	p.XX = mat.NewSymDense(columns, nil)
	p.XX.(*mat.SymDense).SymOuterK(1, x.T())
	var xz mat.Dense
	xz.Mul(x.T(), z)
	p.XZ, p.ZZ, p.ZMean = mat.Col(nil, 0, &xz), mat.Dot(z.ColView(0), z.ColView(0)), means[0]
	p.Others = []Response{{XZ: mat.Col(nil, 1, &xz), ZZ: mat.Dot(z.ColView(1), z.ColView(1)), ZMean: means[1]}}
	diag := make([]float64, columns)
	for j := range diag {
		diag[j] = p.XX.At(j, j) / p.SumW
	}
	p.Terms = []Component{{Name: "ridge", Dim: columns, S: []mat.Symmetric{mat.NewDiagDense(columns, diag)}}}
	return p
}

// A ridge of many columns by the span of its few rows is that by all columns.
func TestFewRows(t *testing.T) {
	const rows, columns = 60, 320
	for _, intercept := range []bool{true, false} {
		for _, criterion := range []Criterion{REML, GCV, Fixed, DF} {
			p := wide(rows, columns, intercept)
			switch criterion {
			case Fixed:
				p.Terms[0].SP = []float64{40}
			case DF:
				p.Terms[0].DF = 20
			}
			o := &Options{Criterion: criterion, WithoutVc: true, WithoutVe: true}
			got, err := Select(p, o)
			if err != nil {
				t.Fatal(err)
			}
			if got.fewRows == nil {
				t.Fatal("the problem was solved by all columns")
			}
			opts, _ := o.withDefaults()
			want, err := choose(context.Background(), p, &opts, nil)
			if err != nil {
				t.Fatal(err)
			}
			near := func(what string, got, want, tolerance float64) {
				t.Helper()
				if !(math.Abs(got-want) <= tolerance) {
					t.Errorf("intercept %v, %v: %s is %g, want %g", intercept, criterion, what, got, want)
				}
			}
			near("log lambda", math.Log(got.Lambda[0]), math.Log(want.Lambda[0]), 1e-6)
			near("score", got.Score, want.Score, 1e-8*(1+math.Abs(want.Score)))
			near("edf", got.EDFTotal, want.EDFTotal, 1e-6)
			near("edf1", got.EDF1[0], want.EDF1[0], 1e-6)
			near("rank", float64(got.Rank), float64(want.Rank), 0)
			for r, own := range got.all() {
				other := want.all()[r]
				near("scale", own.Scale, other.Scale, 1e-6*other.Scale)
				same := func(what string, got, want *mat.SymDense) {
					t.Helper()
					for i := range columns {
						for j := i; j < columns; j++ {
							scale := math.Sqrt(want.At(i, i) * want.At(j, j))
							if !(math.Abs(got.At(i, j)-want.At(i, j)) <= 1e-6*scale) {
								t.Fatalf("intercept %v, %v: %s is %g at %d, %d, want %g", intercept, criterion, what, got.At(i, j), i, j, want.At(i, j))
							}
						}
					}
				}
				for j, v := range own.Alpha {
					near("alpha", v, other.Alpha[j], 1e-6*math.Sqrt(other.Vp.At(j, j)))
				}
				same("Vp", own.Vp, other.Vp)
				s := mat.NewSymDense(columns, nil)
				addPenalties(s, p, want.Lambda)
				bias := sandwich(full(other.Vp), s)
				bias.ScaleSym(1/other.Scale, bias)
				same("Shrinkage", linalg.Dense(own.Shrinkage()), bias)
				m := mat.NewSymDense(columns, nil)
				m.CopySym(p.XX)
				m.SymRankOne(m, 2, mat.NewVecDense(columns, slices.Clone(p.XZ)))
				around := sandwich(full(other.Vp), m)
				around.ScaleSym(1/(other.Scale*other.Scale), around)
				same("A^-1 m A^-1", linalg.Dense(own.Sandwich().Around(linalg.Shifted{M: m}, nil)), around)
			}
		}
	}
	// What is another problem goes the other way.
	o := &Options{WithoutVc: true, WithoutVe: true}
	for name, change := range map[string]func(p *Problem){
		"more rows":        func(p *Problem) { p.Rows = columns },
		"a free column":    func(p *Problem) { p.Terms[0].S[0].(*mat.DiagDense).SetDiag(3, 0) },
		"no penalty":       func(p *Problem) { p.Terms[0].SP = []float64{0} },
		"rank beyond rows": func(p *Problem) { p.Rows = 40 },
		"another term":     func(p *Problem) { p.Terms = append(p.Terms, Component{Name: "none", Start: columns}) },
		"a matrix, not diag": func(p *Problem) {
			s := linalg.Dense(p.Terms[0].S[0])
			s.SetSym(0, 1, 0.1)
			p.Terms[0].S[0] = s
		},
	} {
		p := wide(rows, columns, true)
		change(p)
		if f, _ := newFewRows(p, o); f != nil {
			t.Errorf("%s: taken for a ridge of few rows", name)
		}
	}
}
