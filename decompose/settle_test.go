package decompose_test

import (
	"context"
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// held is a network whose terms hold given parts of eta already.
type held struct {
	columns []string
	eta     func(b *data.Batch) ([]float64, error)
	blocks  []decompose.Block
}

func (m *held) Predictors() []string         { return []string{"eta"} }
func (m *held) Columns() []string            { return m.columns }
func (m *held) Intercept(int) float64        { return 0.25 }
func (m *held) Blocks(int) []decompose.Block { return m.blocks }
func (m *held) Taps() map[string]int         { return nil }
func (m *held) Forward(ctx context.Context, dst *decompose.Outputs, b *data.Batch) error {
	eta, err := m.eta(b)
	if err != nil {
		return err
	}
	zeta := append([]float64(nil), eta...)
	floats.AddConst(-0.25, zeta)
	for _, block := range m.blocks {
		if block.Coef == nil {
			continue
		}
		x := mat.NewDense(b.Rows(), block.Term.Dim(), nil)
		if err := block.Term.Eval(x, b); err != nil {
			return err
		}
		var v mat.VecDense
		v.MulVec(x, mat.NewVecDense(len(block.Coef), block.Coef))
		floats.Sub(zeta, v.RawVector().Data)
	}
	dst.Eta.SetCol(0, eta)
	dst.Zeta.SetCol(0, zeta)
	return ctx.Err()
}

// TestSplitDoesNotDependOnWhoHeldTheEffect: where the terms span common functions,
// the split that is reported belongs to the network's function, not to how much of it
// the graph's terms held before, or which of them. The terms after the projection vary
// least in sum; refitting the total is then the same without penalties.
func TestSplitDoesNotDependOnWhoHeldTheEffect(t *testing.T) { byRoute(t, testSplit) }

func testSplit(t *testing.T, route decompose.Route) {
	const n = 3000
	tab := table(t, n, 21)
	rows := all(t, tab, n)
	x0, err := rows.Numeric("x0")
	if err != nil {
		t.Fatal(err)
	}
	year, err := rows.Numeric("year")
	if err != nil {
		t.Fatal(err)
	}
	f, err := basis.Parse(`~ x0 + s(x0, bs="ps", k=8) + year + factor(year)`, &basis.Options{Schema: tab.Schema()})
	if err != nil {
		t.Fatal(err)
	}
	terms, err := decompose.Prepare(context.Background(), tab, f.Specs, nil)
	if err != nil {
		t.Fatal(err)
	}
	inBasis := func(j int, f []float64) []float64 {
		return leastSquares(t, designMatrix(t, []decompose.Term{terms[j].Term}, rows), f, nil)[1:] // without its 1
	}
	spline, levels := inBasis(1, x0), inBasis(3, year)
	times := func(a float64, v []float64) []float64 {
		out := append([]float64(nil), v...)
		floats.Scale(a, out)
		return out
	}
	holding := func(coef ...[]float64) *held {
		m := &held{columns: []string{"x0", "year"}, eta: func(b *data.Batch) ([]float64, error) {
			x, err := b.Numeric("x0")
			if err != nil {
				return nil, err
			}
			y, err := b.Numeric("year")
			out := make([]float64, b.Rows())
			for i := range out {
				out[i] = math.Sin(2*x[i]) + 3*x[i] + y[i]/3 + math.Cos(y[i])*x[i]
			}
			return out, err
		}}
		for j, b := range terms {
			b.Coef = coef[j]
			m.blocks = append(m.blocks, b)
		}
		return m
	}
	none := holding(nil, nil, nil, nil)
	same := []*held{ // X beta is 0, as in none
		holding([]float64{3}, times(-3, spline), nil, nil),
		holding(nil, nil, []float64{2}, times(-2, levels)),
	}
	other := []*held{ // X beta is not
		holding([]float64{3}, nil, nil, nil),
		holding(nil, times(3, spline), nil, nil),
		holding([]float64{-2}, times(5, spline), []float64{0.1}, levels),
	}
	effects := func(m *held, o decompose.Options) [][]float64 {
		o.Route = route
		r, c := run(t, m, tab, o)
		if len(r.Predictors[0].Entangled) != 2 {
			t.Fatalf("entangled: %v", r.Predictors[0].Entangled)
		}
		return c.terms[0]
	}
	compare := func(what string, got, want [][]float64) {
		t.Helper()
		for i := range want {
			for j := range want[i] {
				if d := math.Abs(got[i][j] - want[i][j]); d > 1e-8 {
					t.Fatalf("%s: row %d of %s is %g, want %g", what, i, terms[j].Term.Name(), got[i][j], want[i][j])
				}
			}
		}
	}
	pho, gam := decompose.Options{Projection: decompose.Projection{Method: decompose.PHO}}, decompose.Options{Projection: decompose.Projection{Method: decompose.PHOGAM}, Smoothing: decompose.Smoothing{SP: map[string][]float64{"s(x0)": {2}}}}
	want := effects(none, pho)
	for i, m := range append(same, other...) {
		compare("pho", effects(m, pho), want)
		refit := pho
		refit.RefitTotal = true
		compare("pho of the total", effects(m, refit), want)
		if i < len(same) {
			compare("phogam", effects(m, gam), effects(none, gam))
		}
		again := gam
		again.RefitTotal = true
		compare("phogam of the total", effects(m, again), effects(none, again))
	}
	compare("phogam, linear effect in another term", effects(other[1], gam), effects(other[0], gam))

	// No other split varies less.
	variance := func(move float64) (sum float64) {
		for j := range 2 {
			v := make([]float64, n)
			for i := range v {
				v[i] = want[i][j] + move*float64(1-2*j)*x0[i]
			}
			m := mean(v)
			for _, a := range v {
				sum += (a - m) * (a - m) / n
			}
		}
		return sum
	}
	if at := variance(0); !(at < variance(0.01) && at < variance(-0.01)) {
		t.Errorf("variances %g, with a little moved %g and %g", at, variance(0.01), variance(-0.01))
	}
}
