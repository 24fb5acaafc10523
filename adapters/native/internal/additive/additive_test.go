package additive

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/adapters/native/internal/rows"
	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// TestCoordinates: in the coordinates of training the penalised Hessian is the identity;
// the columns with their start give the predictor of the additive model; and raw
// coefficients give it too.
func TestCoordinates(t *testing.T) {
	ctx, n, rng := context.Background(), 300, rand.New(rand.NewPCG(1, 2))
	x, u, z, w := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	sumW := 0.0
	for i := range n {
		x[i], u[i], w[i] = rng.Float64(), 1e3+rng.NormFloat64(), 0.5+rng.Float64()
		z[i] = math.Sin(6*x[i]) + 0.3*u[i] + 0.2*rng.NormFloat64()
		sumW += w[i]
	}
	tab := data.NewTable(n)
	for _, c := range []struct {
		name string
		v    []float64
	}{{"x", x}, {"u", u}} {
		if err := tab.AddNumeric(c.name, c.v); err != nil {
			t.Fatal(err)
		}
	}
	train, err := rows.Read(ctx, tab, []string{"x", "u"})
	if err != nil {
		t.Fatal(err)
	}
	f, err := basis.Parse(`~ u + s(x, bs="ps", k=8)`, &basis.Options{Schema: tab.Schema()})
	if err != nil {
		t.Fatal(err)
	}
	prepared, err := decompose.PrepareEach(ctx, train, f.Specs, nil)
	if err != nil {
		t.Fatal(err)
	}
	var blocks []decompose.Block
	for _, p := range prepared {
		blocks = append(blocks, p.Blocks...)
	}
	s, err := Fit(ctx, train, blocks, true, Working{Response: z, Weights: w, SumW: sumW}, &Options{OwnScale: true})
	if err != nil {
		t.Fatal(err)
	}
	p := s.Width()
	columns := make([]float64, n*p)
	if err := s.Eval(columns, p, train.Batch); err != nil {
		t.Fatal(err)
	}
	for a := range p {
		for b := range p {
			h, want := s.Penalty.At(a, b), 0.0
			for i := range n {
				h += w[i] * columns[i*p+a] * columns[i*p+b]
			}
			if a == b {
				want = 1
			}
			if math.Abs(h/sumW-want) > 1e-6 {
				t.Errorf("element %d, %d of the Hessian is %v", a, b, h/sumW)
			}
		}
	}
	raw, shift := s.Raw(s.Coef)
	for i := range n {
		inTraining := s.StartIntercept()
		for j, c := range s.Coef {
			inTraining += columns[i*p+j] * c
		}
		solved, withRaw := s.Result.Predictors[0].InterceptMoved, s.StartIntercept()+shift
		for j, b := range raw {
			row := mat.NewDense(1, b.Term.Dim(), nil)
			if err := b.Term.Eval(row, train.Batch.Slice(i, i+1)); err != nil {
				t.Fatal(err)
			}
			solved += dot(row.RawRowView(0), s.Result.Predictors[0].Terms[j].Alpha)
			withRaw += dot(row.RawRowView(0), b.Coef)
		}
		if math.Abs(inTraining-solved) > 1e-6 || math.Abs(withRaw-solved) > 1e-6 {
			t.Fatalf("row %d: the additive model is %v, in training's columns %v, with raw coefficients %v", i, solved, inTraining, withRaw)
		}
	}
}

func dot(a, b []float64) (sum float64) {
	for i, v := range a {
		sum += v * b[i]
	}
	return sum
}
