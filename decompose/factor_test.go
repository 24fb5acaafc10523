package decompose_test

import (
	"context"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/penalty"
)

// byRoute runs a test on the products and on the triangular factor.
func byRoute(t *testing.T, test func(*testing.T, decompose.Route)) {
	for _, route := range []decompose.Route{decompose.Gram, decompose.QR} {
		t.Run(string(route), func(t *testing.T) { test(t, route) })
	}
}

// exactFit solves min sum w (z - x'a)^2 + a'Sa in 400 bits: the coefficients, what
// is left of z, the diagonals of F = (X'WX + S)^-1 X'WX and of (X'WX + S)^-1.
func exactFit(x [][]float64, z, w []float64, s func(i, j int) float64) (alpha, left, edf, inverse []float64) {
	number := func(v float64) *big.Float { return new(big.Float).SetPrec(400).SetFloat64(v) }
	mul := func(a, b *big.Float) *big.Float { return new(big.Float).Mul(a, b) }
	p := len(x[0])
	gram, right, a := make([][]*big.Float, p), make([]*big.Float, p), make([][]*big.Float, p)
	for i := range p {
		right[i] = number(0)
		for range p {
			gram[i] = append(gram[i], number(0))
		}
		for r := range x {
			wx := mul(number(w[r]), number(x[r][i]))
			right[i].Add(right[i], mul(wx, number(z[r])))
			for j := range p {
				gram[i][j].Add(gram[i][j], mul(wx, number(x[r][j])))
			}
		}
		// [A, I, X'Wz] for Gauss-Jordan
		for j := range p {
			a[i] = append(a[i], new(big.Float).Add(gram[i][j], number(s(i, j))))
		}
		for j := range p {
			one := 0.0
			if i == j {
				one = 1
			}
			a[i] = append(a[i], number(one))
		}
		a[i] = append(a[i], right[i])
	}
	for i := range p { // A is positive definite: no pivoting
		pivot := new(big.Float).Quo(number(1), a[i][i])
		for c := range a[i] {
			a[i][c] = mul(a[i][c], pivot)
		}
		for j := range p {
			if j == i {
				continue
			}
			f := a[j][i]
			for c := range a[j] {
				a[j][c] = new(big.Float).Sub(a[j][c], mul(f, a[i][c]))
			}
		}
	}
	float := func(v *big.Float) float64 { f, _ := v.Float64(); return f }
	for i := range p {
		alpha = append(alpha, float(a[i][2*p]))
		inverse = append(inverse, float(a[i][p+i]))
		f := number(0)
		for j := range p {
			f.Add(f, mul(a[i][p+j], gram[j][i]))
		}
		edf = append(edf, float(f))
	}
	for r := range x {
		v := number(z[r])
		for j := range p {
			v.Sub(v, mul(number(x[r][j]), a[j][2*p]))
		}
		left = append(left, float(v))
	}
	return alpha, left, edf, inverse
}

// steep are designs of condition 1e8 and 1e5 in standardised columns.
var steep = map[string]struct {
	columns []string
	digits  float64 // relative error allowed
	warning string  // that products give
	add     map[string]func(x []float64) float64
}{
	"nearly collinear": {[]string{"x0", "near", "x1"}, 1e-6, "spanned by others", map[string]func([]float64) float64{
		"near": func(x []float64) float64 { return x[0] + 1e-8*math.Sin(31*x[1]+17*x[2]) },
	}},
	"powers of a year": {[]string{"t", "t2", "t3"}, 1e-9, "use route qr", map[string]func([]float64) float64{
		"t":  year,
		"t2": func(x []float64) float64 { return math.Pow(year(x), 2) },
		"t3": func(x []float64) float64 { return math.Pow(year(x), 3) },
	}},
}

func year(x []float64) float64 { return 2000 + math.Floor(10*x[0]) }

// steepData adds what a design needs to a table with weights.
func steepData(t *testing.T, n int, add map[string]func([]float64) float64) *data.Table {
	t.Helper()
	from := table(t, n, 31)
	tab := withColumns(t, from, add)
	w, err := all(t, from, n).Numeric("w")
	if err != nil {
		t.Fatal(err)
	}
	if err := tab.AddNumeric("w", w); err != nil {
		t.Fatal(err)
	}
	return tab
}

// rowsOf reads [1, columns] and the weights.
func rowsOf(t *testing.T, tab *data.Table, columns []string, weights string) (x [][]float64, w []float64) {
	t.Helper()
	b := all(t, tab, tab.Rows())
	for range tab.Rows() {
		x, w = append(x, []float64{1}), append(w, 1)
	}
	if weights != "" {
		w, _ = b.Numeric(weights)
	}
	for _, name := range columns {
		v, err := b.Numeric(name)
		if err != nil {
			t.Fatal(err)
		}
		for i := range x {
			x[i] = append(x[i], v[i])
		}
	}
	return x, w
}

// Designs of condition 1e5 to 1e8 against 400 bits: the factor decides the rank at
// tolerance 1e-10 and keeps the digits; products refuse, or drop a direction, or
// warn.
func TestFactorOfSteepDesigns(t *testing.T) {
	for name, c := range steep {
		for _, weights := range []string{"", "w"} {
			t.Run(name+weights, func(t *testing.T) {
				const n = 600
				tab := steepData(t, n, c.add)
				m := columnsModel(t, c.columns...)
				r, col := run(t, m, tab, decompose.Options{Bands: decompose.ProjectionBands, Projection: decompose.Projection{RankTolerance: 1e-10}, Columns: decompose.Columns{Weights: weights}})
				p := r.Predictors[0]
				if r.Route != decompose.QR || p.Rank != 4 || len(p.Aliased) != 0 {
					t.Fatalf("route %q, rank %d, aliased %q", r.Route, p.Rank, p.Aliased)
				}
				x, w := rowsOf(t, tab, c.columns, weights)
				alpha, left, _, inverse := exactFit(x, col.eta[0], w, func(i, j int) float64 { return 0 })
				var rss float64
				for i, v := range left {
					rss += w[i] * v * v
				}
				near(t, "scale", p.Scale, rss/float64(r.Rows-4), c.digits*p.Scale)
				b := all(t, tab, n)
				for j, term := range p.Terms {
					near(t, "alpha of "+term.Name, term.Alpha[0], alpha[j+1], c.digits*math.Abs(alpha[j+1]))
					e, err := mustApplier(t, r, m).Effect(context.Background(), 0, j, b)
					if err != nil {
						t.Fatal(err)
					}
					se := math.Sqrt(inverse[j+1]*p.Scale) * math.Abs(x[0][j+1]-term.Center/(term.Beta[0]+term.Alpha[0]))
					near(t, "standard error of "+term.Name, e.SE[0], se, 10*c.digits*se)
				}
				if d := relative(col.unstructured[0], left); d > c.digits {
					t.Errorf("unstructured off by %g", d)
				}
				if p.Orthogonality > c.digits {
					t.Errorf("orthogonality %g", p.Orthogonality)
				}

				gram, gcol := run(t, m, tab, decompose.Options{Projection: decompose.Projection{Route: decompose.Gram}, Columns: decompose.Columns{Weights: weights}})
				if d := relative(gcol.unstructured[0], left); d < 1e-7 {
					t.Errorf("the design is not steep: products are off by %g only", d)
				}
				if !strings.Contains(strings.Join(gram.Warnings, "\n"), c.warning) {
					t.Errorf("products do not warn of %q: %q", c.warning, gram.Warnings)
				}
				_, err := decompose.Decompose(context.Background(), m, tab, &decompose.Options{Projection: decompose.Projection{Route: decompose.Gram, RankTolerance: 1e-10}})
				if err == nil || !strings.Contains(err.Error(), "route qr does") {
					t.Errorf("products at tolerance 1e-10: %v", err)
				}
			})
		}
	}
}

// The same with a penalised column beside the steep ones: alpha, edf, scale and
// standard errors of PHOGAM.
func TestFactorOfPenalisedSteepDesigns(t *testing.T) {
	const n, lambda = 500, 0.5
	for name, c := range steep {
		t.Run(name, func(t *testing.T) {
			tab := steepData(t, n, c.add)
			columns := append([]string{"x2"}, c.columns...)
			var blocks []decompose.Block
			for j, column := range columns {
				b := decompose.Block{Term: &decompose.LinearTerm{Column: column}}
				if j == 0 {
					b.Penalty = penalty.Penalty{S: []mat.Symmetric{mat.NewSymDense(1, []float64{1})}, SP: []float64{lambda}}
				}
				blocks = append(blocks, b)
			}
			m, err := decompose.With(&blackBox{newFake(1)}, map[string][]decompose.Block{"": blocks})
			if err != nil {
				t.Fatal(err)
			}
			r, col := run(t, m, tab, decompose.Options{Bands: decompose.ProjectionBands, Projection: decompose.Projection{RankTolerance: 1e-10}, Columns: decompose.Columns{Weights: "w"}})
			p := r.Predictors[0]
			if r.Route != decompose.QR || r.Method != decompose.PHOGAM || p.Rank != 5 {
				t.Fatalf("route %q, method %q, rank %d", r.Route, r.Method, p.Rank)
			}
			x, w := rowsOf(t, tab, columns, "w")
			var norm float64
			for i := range x {
				norm = math.Max(norm, math.Abs(x[i][1]))
			}
			alpha, left, edf, inverse := exactFit(x, col.eta[0], w, func(i, j int) float64 {
				if i == 1 && j == 1 {
					return lambda * norm * norm
				}
				return 0
			})
			var rss float64
			total := 1.0
			for i, v := range left {
				rss += w[i] * v * v
			}
			for j, term := range p.Terms {
				near(t, "alpha of "+term.Name, term.Alpha[0], alpha[j+1], c.digits*math.Abs(alpha[j+1]))
				near(t, "edf of "+term.Name, term.EDF, edf[j+1], c.digits)
				if j > 0 {
					near(t, "edf1 of "+term.Name, *term.EDF1, 1, c.digits)
				}
				total += edf[j+1]
				e, err := mustApplier(t, r, m).Effect(context.Background(), 0, j, all(t, tab, n))
				if err != nil {
					t.Fatal(err)
				}
				se := math.Sqrt(inverse[j+1]*p.Scale) * math.Abs(x[0][j+1]-term.Center/(term.Beta[0]+term.Alpha[0]))
				near(t, "standard error of "+term.Name, e.SE[0], se, 10*c.digits*se)
			}
			near(t, "edf", p.EDF, total, c.digits)
			near(t, "scale", p.Scale, rss/(float64(r.Rows)-total), c.digits*p.Scale)
			if d := relative(col.unstructured[0], left); d > c.digits {
				t.Errorf("unstructured off by %g", d)
			}
		})
	}
}

// Without a route, rows are read again when the products have too few digits, and
// only then; statistics that were accumulated before can but warn.
func TestRouteIsChosen(t *testing.T) {
	c := steep["powers of a year"]
	tab := steepData(t, 600, c.add)
	m := columnsModel(t, c.columns...)
	r, _ := run(t, m, tab, decompose.Options{})
	if w := strings.Join(r.Warnings, "\n"); r.Route != decompose.QR || !strings.Contains(w, "read again for their triangular factor") {
		t.Errorf("route %q, warnings %q", r.Route, w)
	}
	direct, _ := run(t, m, tab, decompose.Options{Projection: decompose.Projection{Route: decompose.QR}})
	for j, term := range direct.Predictors[0].Terms {
		if r.Predictors[0].Terms[j].Alpha[0] != term.Alpha[0] {
			t.Error("the second reading gives another alpha than route qr")
		}
	}
	if plain, _ := run(t, columnsModel(t, "x0", "x1"), tab, decompose.Options{}); plain.Route != "" || len(plain.Warnings) > 0 {
		t.Errorf("ordinary columns: route %q, warnings %q", plain.Route, plain.Warnings)
	}

	s, err := decompose.Accumulate(context.Background(), m, tab, nil)
	if err != nil {
		t.Fatal(err)
	}
	solved, err := decompose.Solve(t.Context(), m, s, nil)
	if err != nil {
		t.Fatal(err)
	}
	if w := strings.Join(solved.Warnings, "\n"); !strings.Contains(w, "use route qr") {
		t.Errorf("warnings %q", w)
	}
	_, err = decompose.Solve(t.Context(), m, s, &decompose.Options{Projection: decompose.Projection{RankTolerance: 1e-9}})
	if err == nil || err.Error() != "decompose: the statistics hold products, which do not decide ranks for a tolerance of 1e-09: accumulate them with route qr" {
		t.Error(err)
	}
	next, err := decompose.Accumulate(context.Background(), m, tab, &decompose.Options{Projection: decompose.Projection{Route: decompose.QR}, Resources: decompose.Resources{FirstChunk: 1}})
	if err != nil {
		t.Fatal(err)
	}
	if s.Merge(next) == nil {
		t.Error("products merged with a factor")
	}
}

// On ordinary designs the routes agree.
func TestRoutesAgree(t *testing.T) {
	smooth := func(formula string) decompose.Model {
		tab := table(t, 10, 1)
		f, err := basis.Parse(formula, &basis.Options{Schema: tab.Schema()})
		if err != nil {
			t.Fatal(err)
		}
		blocks, err := decompose.Prepare(context.Background(), table(t, 5000, 33), f.Specs, nil)
		if err != nil {
			t.Fatal(err)
		}
		m, err := decompose.With(&blackBox{newFake(1)}, map[string][]decompose.Block{"": blocks})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	gcv := penalty.Options{Criterion: penalty.GCV}
	for name, c := range map[string]struct {
		m decompose.Model
		n int
		o decompose.Options
	}{
		"two predictors":      {newFake(2).withTap(), 5000, decompose.Options{Columns: decompose.Columns{Weights: "w"}}},
		"few rows":            {newFake(1).withTap(), 6, decompose.Options{}},
		"no intercept":        {newFake(1), 300, decompose.Options{Projection: decompose.Projection{WithoutIntercept: []string{"eta"}}, Columns: decompose.Columns{Weights: "w"}}},
		"refit":               {newFake(1), 300, decompose.Options{Projection: decompose.Projection{RefitTotal: true}}},
		"refit, no intercept": {newFake(1), 300, decompose.Options{Projection: decompose.Projection{RefitTotal: true, WithoutIntercept: []string{"eta"}}}},
		"fixed":               {smooth("~ s(x0, bs=\"ps\", k=8, sp=0.3) + s(x1, bs=\"cr\", k=6, sp=10) + day"), 5000, decompose.Options{Columns: decompose.Columns{Weights: "w"}}},
		"fixed, strong":       {smooth("~ s(x0, bs=\"ps\", k=8, sp=1e9) + x0 + te(x1, x2, bs=\"ps\", k=c(5,5), sp=c(1e-3,1e5))"), 5000, decompose.Options{}},
		"reml":                {smooth("~ s(x0, bs=\"ps\", k=8) + s(x1, bs=\"cr\", k=6) + day + x0"), 5000, decompose.Options{Columns: decompose.Columns{Weights: "w"}}},
		"gcv, known scale":    {smooth("~ s(x0, bs=\"ps\", k=8) + te(x1, x2, bs=\"cr\", k=c(4,4))"), 5000, decompose.Options{Smoothing: decompose.Smoothing{Selection: gcv}}},
	} {
		t.Run(name, func(t *testing.T) {
			tab := table(t, c.n, 33)
			c.o.Route = decompose.Gram
			gram, gcol := run(t, c.m, tab, c.o)
			c.o.Route = decompose.QR
			qr, qcol := run(t, c.m, tab, c.o)
			for k, want := range gram.Predictors {
				got := qr.Predictors[k]
				if got.Rank != want.Rank || !slices.Equal(got.Aliased, want.Aliased) || got.Status != want.Status {
					t.Errorf("rank %d and %d, aliased %q and %q, %q and %q", got.Rank, want.Rank, got.Aliased, want.Aliased, got.Status, want.Status)
				}
				size := math.Sqrt(want.Variance.Total)
				for i := range gcol.unstructured[k] {
					near(t, "unstructured", qcol.unstructured[k][i], gcol.unstructured[k][i], 1e-9*size)
				}
				near(t, "edf", got.EDF, want.EDF, 1e-9*want.EDF)
				near(t, "scale", got.Scale, want.Scale, 1e-9*size*size)
				near(t, "structured", got.Variance.Structured, want.Variance.Structured, 1e-9*size*size)
				near(t, "covariance", got.Variance.TwiceCovariance, want.Variance.TwiceCovariance, 1e-9*size*size)
				near(t, "orthogonality", got.Orthogonality, want.Orthogonality, 1e-7)
				for j := range want.Terms {
					near(t, "edf of "+want.Terms[j].Name, got.Terms[j].EDF, want.Terms[j].EDF, 1e-9*want.EDF)
					near(t, "variance of "+want.Terms[j].Name, got.Terms[j].After.Variance, want.Terms[j].After.Variance, 1e-9*size*size)
					b := all(t, tab, c.n)
					e1, err1 := mustApplier(t, gram, c.m).Effect(context.Background(), k, j, b)
					e2, err2 := mustApplier(t, qr, c.m).Effect(context.Background(), k, j, b)
					if err1 != nil || err2 != nil {
						t.Fatal(err1, err2)
					}
					for i, se := range e1.SE {
						if math.IsNaN(se) && math.IsNaN(e2.SE[i]) { // not identified
							continue
						}
						near(t, "standard error of "+want.Terms[j].Name, e2.SE[i], se, 1e-8*(se+size/math.Sqrt(float64(c.n))))
					}
				}
			}
		})
	}
}
