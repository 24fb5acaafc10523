package basis

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// Every term says what it computes: its expression, evaluated as the comments of the kinds
// have it, gives the term's columns, beyond the knots too.
func TestExpress(t *testing.T) {
	rows := sample(t, 120, 7)
	for name, term := range allTerms(t) {
		if term.Kind() == decompose.Learned {
			if _, err := Express(term); err == nil {
				t.Errorf("%s: a learned basis has an expression", name)
			}
			continue
		}
		e, err := Express(term)
		must(t, err)
		if e.Width() != term.Dim() {
			t.Errorf("%s: %d columns, want %d", name, e.Width(), term.Dim())
			continue
		}
		want := mat.NewDense(rows.Rows(), term.Dim(), nil)
		must(t, term.Eval(want, rows))
		scale, worst := math.Max(mat.Max(want), -mat.Min(want)), 0.0
		for i := range rows.Rows() {
			for j, v := range meaning(t, e, rows, i) {
				worst = max(worst, math.Abs(v-want.At(i, j)))
			}
		}
		if !(worst <= 1e-10*scale) {
			t.Errorf("%s: off by %g of %g", name, worst, scale)
		}
	}
}

// meaning is that of an expression: its columns in row i of b.
func meaning(t *testing.T, e Expression, b *data.Batch, i int) []float64 {
	number := func(column string) float64 {
		x, err := b.Numeric(column)
		must(t, err)
		return x[i]
	}
	switch e := e.(type) {
	case Number:
		return []float64{number(e.Column)}
	case Indicators:
		out := make([]float64, len(e.Levels))
		out[slices.Index(e.Levels, levelIn(t, e.Column, b, i))] = 1
		return out
	case Indicator:
		return meaning(t, e.Indicators, b, i)[e.At : e.At+1]
	case Combinations:
		out := make([]float64, len(e.Cells))
		for j, cell := range e.Cells {
			out[j] = 1
			for l, f := range e.Factors {
				out[j] *= meaning(t, f, b, i)[cell[l]]
			}
		}
		return out
	case *Piecewise:
		x := number(e.Column)
		if e.Period != 0 {
			x -= e.Period * math.Floor((x-e.Breaks[0])/e.Period)
		}
		p, _ := slices.BinarySearchFunc(e.Breaks, x, func(at, x float64) int {
			if at <= x {
				return -1
			}
			return 1
		})
		out := make([]float64, e.Width())
		for j := range out {
			for q := len(e.Coef) - 1; q >= 0; q-- {
				out[j] = out[j]*(x-e.Origin[p])/e.Scale[p] + e.Coef[q].At(p, j)
			}
		}
		return out
	case *Radial:
		out, d := make([]float64, e.Width()), len(e.Columns)
		for j := range out {
			s := 0.0
			for l, column := range e.Columns {
				s += math.Pow((number(column)-e.Centres[j*d+l])*e.Unit[l], 2)
			}
			switch r := math.Sqrt(s); {
			case e.Order == 0:
				out[j] = math.Exp(-s / 2)
			case d%2 != 0:
				out[j] = e.Factor * math.Pow(r, float64(2*e.Order-d))
			case r > 0:
				out[j] = e.Factor * math.Pow(r, float64(2*e.Order-d)) * math.Log(r)
			}
		}
		return out
	case *Monomials:
		out := make([]float64, len(e.Powers))
		for j, powers := range e.Powers {
			out[j] = 1
			for l, n := range powers {
				out[j] *= math.Pow(number(e.Columns[l])-e.Shift[l], float64(n))
			}
		}
		return out
	case Mapped:
		var out mat.VecDense
		of := meaning(t, e.Of, b, i)
		out.MulVec(e.To.T(), mat.NewVecDense(len(of), of))
		return out.RawVector().Data
	case Joined:
		var out []float64
		for _, part := range e {
			out = append(out, meaning(t, part, b, i)...)
		}
		return out
	case Product:
		out := []float64{1}
		for _, factor := range e {
			var next []float64
			for _, a := range out {
				for _, v := range meaning(t, factor, b, i) {
					next = append(next, a*v)
				}
			}
			out = next
		}
		return out
	}
	t.Fatalf("an expression of type %T", e)
	return nil
}

func levelIn(t *testing.T, column string, b *data.Batch, i int) string {
	if !b.Categorical(column) {
		x, err := b.Numeric(column)
		must(t, err)
		return data.LevelText(x[i])
	}
	codes, err := b.Codes(column)
	must(t, err)
	return codes.Levels[codes.Index[i]]
}

// own is a basis of another package: with an expression, and hidden without.
type own struct{ hiddenBasis }

type hiddenBasis struct{}

func (hiddenBasis) MarshalJSON() ([]byte, error) { return json.Marshal("own") }
func (hiddenBasis) Dim() int                     { return 1 }
func (hiddenBasis) Evaluate(dst []float64, stride int, x []float64) {
	for i, v := range x {
		dst[i*stride] = v
	}
}

func (own) Expression(columns []string) Expression { return Joined{Number{columns[0]}} }

// A basis of another package has the expression that it gives, times by; without one the
// error says which class lacks it.
func TestExpressOthers(t *testing.T) {
	e, err := Express(newSurface([]string{"x"}, "own", own{}, byVariable{column: "z"}))
	must(t, err)
	if p, ok := e.(Product); !ok || len(p) != 2 || p[1] != (Number{"z"}) {
		t.Errorf("%#v", e)
	}
	_, err = Express(newSurface([]string{"x"}, "own", hiddenBasis{}, byVariable{}))
	if err == nil || !strings.Contains(err.Error(), `a smooth of class "own" does not say what it computes of a row (basis.Expresser)`) {
		t.Errorf("%v", err)
	}
}
