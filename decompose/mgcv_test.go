package decompose_test

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/penalty"
)

// response is a "network" whose deep part is a column of the data: PHOGAM on it
// is the additive model of that column, which mgcv fits too.
type responses struct {
	names, columns []string
}

func (m *responses) Predictors() []string         { return m.names }
func (m *responses) Columns() []string            { return m.columns }
func (m *responses) Intercept(int) float64        { return 0 }
func (m *responses) Blocks(int) []decompose.Block { return nil }
func (m *responses) Taps() map[string]int         { return nil }
func (m *responses) Forward(ctx context.Context, dst *decompose.Outputs, b *data.Batch) error {
	for k, c := range m.columns {
		v, err := b.Numeric(c)
		if err != nil {
			return err
		}
		dst.Zeta.SetCol(k, v)
		dst.Eta.SetCol(k, v)
	}
	return ctx.Err()
}

// mgcvCase is one file of testdata/golden/mgcv (README.md there).
type mgcvCase struct {
	Case, Data, Predictor, Response, Formula, Weights, Method string

	Score, Scale float64
	EDFTotal     float64 `json:"edf_total"`
	SP           []float64
	Hessian      [][]float64
	Rows         []int
	Terms        []struct {
		Name, Kind   string
		EDF          float64
		Values, SE   []float64
		WeightedMean float64 `json:"weighted_mean"`
		SP           []float64
	}
}

func mgcvCases(t *testing.T) []mgcvCase {
	t.Helper()
	files, err := filepath.Glob("../testdata/golden/mgcv/case_*.json")
	if err != nil || len(files) == 0 {
		t.Fatal("no golden cases", err)
	}
	var cases []mgcvCase
	for _, file := range files {
		var c mgcvCase
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(raw, &c); err != nil {
			t.Fatal(file, err)
		}
		cases = append(cases, c)
	}
	return cases
}

func mgcvData(t *testing.T, name string) *data.Table {
	t.Helper()
	var doc struct {
		Rows    int
		Columns map[string]json.RawMessage
	}
	raw, err := os.ReadFile("../testdata/golden/mgcv/data_" + name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	tab := data.NewTable(doc.Rows)
	for column, raw := range doc.Columns {
		var numbers []float64
		var texts []string
		if json.Unmarshal(raw, &numbers) == nil {
			err = tab.AddNumeric(column, numbers)
		} else if err = json.Unmarshal(raw, &texts); err == nil {
			err = tab.AddTexts(column, texts)
		}
		if err != nil {
			t.Fatal(column, err)
		}
	}
	return tab
}

// fit runs a case's formula on its response.
func (c *mgcvCase) fit(t *testing.T, tab *data.Table, sp map[string][]float64, route decompose.Route) (*decompose.Result, *decompose.Applier) {
	t.Helper()
	f, err := basis.Parse(c.Formula, &basis.Options{Schema: tab.Schema()})
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	blocks, err := decompose.Prepare(ctx, tab, f.Specs, nil)
	if err != nil {
		t.Fatal(err)
	}
	m, err := decompose.With(&responses{[]string{"eta"}, []string{c.Response}}, map[string][]decompose.Block{"": blocks})
	if err != nil {
		t.Fatal(err)
	}
	method, err := penalty.ParseCriterion(c.Method)
	if err != nil {
		t.Fatal(err)
	}
	r, err := decompose.Decompose(ctx, m, tab, &decompose.Options{
		Bands:      decompose.ProjectionBands, // mgcv's standard errors are those
		Projection: decompose.Projection{Method: decompose.PHOGAM, Route: route, Terms: decompose.Fitted},
		Columns:    decompose.Columns{Weights: c.Weights},
		Smoothing:  decompose.Smoothing{SP: sp, Selection: penalty.Options{Criterion: method}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return r, mustApplier(t, r, m)
}

// relative is max |a - b| / max |b|.
func relative(a, b []float64) float64 {
	var diff, size float64
	for i := range b {
		diff, size = math.Max(diff, math.Abs(a[i]-b[i])), math.Max(size, math.Abs(b[i]))
	}
	return diff / size
}

// TestMgcvAtItsSmoothing compares the whole path (CSV-free) with mgcv at mgcv's
// own smoothing parameters: score, edf, term values, standard errors.
func TestMgcvAtItsSmoothing(t *testing.T) { byRoute(t, testMgcvAtItsSmoothing) }

func testMgcvAtItsSmoothing(t *testing.T, route decompose.Route) {
	const tolerance = 1e-7 // both sides solve systems of condition up to 1e8
	for _, c := range mgcvCases(t) {
		t.Run(c.Case, func(t *testing.T) {
			tab := mgcvData(t, c.Data)
			sp := map[string][]float64{}
			for _, term := range c.Terms {
				if len(term.SP) > 0 {
					sp[term.Name] = term.SP
				}
			}
			r, a := c.fit(t, tab, sp, route)
			p := &r.Predictors[0]
			near(t, "score", *p.Score, c.Score, tolerance*math.Abs(c.Score))
			near(t, "scale", p.Scale, c.Scale, tolerance*c.Scale)
			near(t, "edf", p.EDF, c.EDFTotal, tolerance*c.EDFTotal)
			if len(p.Terms) != len(c.Terms) {
				t.Fatalf("%d terms, mgcv has %d", len(p.Terms), len(c.Terms))
			}
			b := all(t, tab, tab.Rows())
			for _, want := range c.Terms {
				j := 0
				for j < len(p.Terms) && p.Terms[j].Name != want.Name {
					j++
				}
				if j == len(p.Terms) {
					t.Errorf("no term %q", want.Name)
					continue
				}
				near(t, "edf of "+want.Name, p.Terms[j].EDF, want.EDF, tolerance*c.EDFTotal)
				e, err := a.Effect(context.Background(), 0, j, b)
				if err != nil {
					t.Fatal(err)
				}
				var values, se, wantValues []float64
				for l, i := range c.Rows {
					values = append(values, e.After[i])
					wantValues = append(wantValues, want.Values[l]-want.WeightedMean)
					se = append(se, e.SE[i])
				}
				if d := relative(values, wantValues); !(d <= tolerance) {
					t.Errorf("%s differs by %g of its largest value", want.Name, d)
				}
				// mgcv centres smooths by unweighted means, and not parametric terms:
				// the standard errors are of the same thing only here.
				if c.Weights == "" && want.Kind == "smooth" && !strings.Contains(want.Name, "):") {
					if d := relative(se, want.SE); !(d <= tolerance) {
						t.Errorf("standard error of %s differs by %g", want.Name, d)
					}
				}
			}
		})
	}
}

// TestMgcvSelection lets both choose: our criterion is at least as good, and the
// smoothing parameters agree where the criterion is not flat.
func TestMgcvSelection(t *testing.T) { byRoute(t, testMgcvSelection) }

func testMgcvSelection(t *testing.T, route decompose.Route) {
	for _, c := range mgcvCases(t) {
		t.Run(c.Case, func(t *testing.T) {
			r, _ := c.fit(t, mgcvData(t, c.Data), nil, route)
			p := &r.Predictors[0]
			if got, limit := *p.Score, c.Score+1e-7*math.Abs(c.Score); !(got <= limit) {
				t.Errorf("score %.12g is worse than mgcv's %.12g", got, c.Score)
			}
			// A criterion may have several minima: then a second search starts from
			// the edge of the first one's basin, and its steps are counted too.
			limit := 20
			if *p.Score < c.Score-1e-4*math.Abs(c.Score) {
				limit = 40
			}
			if p.Iterations > limit {
				t.Errorf("%d Newton steps", p.Iterations)
			}
			var sp []float64
			for _, term := range p.Terms {
				sp = append(sp, term.SP...)
			}
			if len(sp) != len(c.SP) {
				t.Fatalf("%d smoothing parameters, mgcv has %d", len(sp), len(c.SP))
			}
			if c.Case == "small_sp_fixed" {
				return // the Hessian is of the estimated ones only
			}
			for i, want := range c.SP {
				if i >= len(c.Hessian) || c.Hessian[i][i] <= 0.1 {
					continue
				}
				near(t, "log lambda", math.Log(sp[i]), math.Log(want), 1e-3)
			}
		})
	}
}

func TestTwoPredictorsAreTwoFits(t *testing.T) { byRoute(t, testTwoPredictorsAreTwoFits) }

func testTwoPredictorsAreTwoFits(t *testing.T, route decompose.Route) {
	tab := mgcvData(t, "ten")
	var mu, nu mgcvCase
	for _, c := range mgcvCases(t) {
		switch c.Case {
		case "ten_two_mu":
			mu = c
		case "ten_two_nu":
			nu = c
		}
	}
	extra := map[string][]decompose.Block{}
	for name, c := range map[string]mgcvCase{"mu": mu, "nu": nu} {
		f, err := basis.Parse(c.Formula, &basis.Options{Schema: tab.Schema()})
		if err != nil {
			t.Fatal(err)
		}
		if extra[name], err = decompose.Prepare(context.Background(), tab, f.Specs, nil); err != nil {
			t.Fatal(err)
		}
	}
	m, err := decompose.With(&responses{[]string{"mu", "nu"}, []string{mu.Response, nu.Response}}, extra)
	if err != nil {
		t.Fatal(err)
	}
	r, err := decompose.Decompose(context.Background(), m, tab, &decompose.Options{Projection: decompose.Projection{Route: route}})
	if err != nil {
		t.Fatal(err)
	}
	for k, c := range []mgcvCase{mu, nu} {
		if got := *r.Predictors[k].Score; !(got <= c.Score+1e-7*math.Abs(c.Score)) {
			t.Errorf("%s: score %.12g, mgcv %.12g", r.Predictors[k].Name, got, c.Score)
		}
		near(t, "edf", r.Predictors[k].EDF, c.EDFTotal, 1e-3*c.EDFTotal)
	}
}

// A network that already has the linear effect of x5 in its structured part: the
// refit of the total is the additive model of eta whatever beta is, the increment
// is not, because the penalty then acts on what moves only.
func TestRefitTotalIsTheModelOfEta(t *testing.T) { byRoute(t, testRefitTotalIsTheModelOfEta) }

func testRefitTotalIsTheModelOfEta(t *testing.T, route decompose.Route) {
	tab := table(t, 2000, 20)
	fit := func(beta float64, total bool) *decompose.Result {
		f, err := basis.Parse(`~ s(x0, bs="ps", k=12) + s(x2, bs="cr", sp=0.1)`, &basis.Options{Schema: tab.Schema()})
		if err != nil {
			t.Fatal(err)
		}
		blocks, err := decompose.Prepare(context.Background(), tab, f.Specs, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := range blocks {
			blocks[i].Coef = make([]float64, blocks[i].Term.Dim())
			for c := range blocks[i].Coef {
				blocks[i].Coef[c] = beta * math.Sin(float64(3*c))
			}
		}
		m, err := decompose.With(&moved{&blackBox{newFake(1)}, blocks}, map[string][]decompose.Block{"": blocks})
		if err != nil {
			t.Fatal(err)
		}
		r, err := decompose.Decompose(context.Background(), m, tab, &decompose.Options{Projection: decompose.Projection{Route: route, RefitTotal: total}})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	want, refit, increment := fit(0, false), fit(0.3, true), fit(0.3, false)
	for j, term := range want.Predictors[0].Terms {
		near(t, "variance of "+term.Name, refit.Predictors[0].Terms[j].After.Variance, term.After.Variance, 1e-7*term.After.Variance)
		near(t, "sp of "+term.Name, refit.Predictors[0].Terms[j].SP[0], term.SP[0], 1e-5*term.SP[0])
	}
	if d := math.Abs(increment.Predictors[0].Terms[1].After.Variance - want.Predictors[0].Terms[1].After.Variance); d < 1e-6 {
		t.Errorf("the increment gives the total's fit: difference %g", d)
	}
}

// moved takes the blocks' own effects out of a black box's deep part, so that
// eta is unchanged.
type moved struct {
	*blackBox
	blocks []decompose.Block
}

func (m *moved) Forward(ctx context.Context, dst *decompose.Outputs, b *data.Batch) error {
	if err := m.blackBox.Forward(ctx, dst, b); err != nil {
		return err
	}
	for _, block := range m.blocks {
		x := mat.NewDense(b.Rows(), block.Term.Dim(), nil)
		if err := block.Term.Eval(x, b); err != nil {
			return err
		}
		for i := range b.Rows() {
			dst.Zeta.Set(i, 0, dst.Zeta.At(i, 0)-floats.Dot(x.RawRowView(i), block.Coef))
		}
	}
	return nil
}
