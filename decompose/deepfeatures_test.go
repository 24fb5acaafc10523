package decompose_test

import (
	"context"
	"encoding/json"
	"maps"
	"math"
	"reflect"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// withUnits is a model with features of its deep part: the first is a function of x0 up to a little noise, the third is the
// second's double, the fourth stands still. There are more of them that are 0.
type withUnits struct {
	*fake
	more int
}

const unitsWide = 5

func (m withUnits) tap() *decompose.Tap {
	return &decompose.Tap{Tensor: "units", Features: []string{"img"}, Width: unitsWide + m.more}
}

func (m withUnits) Taps() map[string]int {
	taps := map[string]int{"units": unitsWide + m.more}
	maps.Copy(taps, m.fake.Taps())
	return taps
}

func (m withUnits) Columns() []string { return append(m.fake.Columns(), "y") }

func (m withUnits) Forward(ctx context.Context, dst *decompose.Outputs, b *data.Batch) error {
	if err := m.fake.Forward(ctx, dst, b); err != nil {
		return err
	}
	units, err := m.units(b)
	if err != nil {
		return err
	}
	dst.Taps["units"].Copy(units)
	return nil
}

func (m withUnits) units(b *data.Batch) (*mat.Dense, error) {
	x, err := b.Numeric("x0")
	if err != nil {
		return nil, err
	}
	y, err := b.Numeric("y")
	if err != nil {
		return nil, err
	}
	u := mat.NewDense(b.Rows(), unitsWide+m.more, nil)
	for i := range x {
		copy(u.RawRowView(i), []float64{10 + x[i]*x[i]/4 + 0.2*math.Sin(50*y[i]), math.Sin(9 * y[i]), 2 * math.Sin(9*y[i]), 3, x[i]/3 + math.Cos(7*y[i])})
	}
	return u, nil
}

// orthonormal is an orthonormal basis of the columns of a about their weighted means, each of norm 1, times the roots of the
// weights: by singular values of the rows themselves. The columns come with it.
func orthonormal(a *mat.Dense, w []float64, tolerance float64) (basis, columns *mat.Dense) {
	n, d := a.Dims()
	columns = mat.NewDense(n, d, nil)
	for j := range d {
		x := mat.Col(nil, j, a)
		mean := stat.Mean(x, w)
		for i := range x {
			x[i] = (x[i] - mean) * math.Sqrt(w[i])
		}
		v := mat.NewVecDense(n, x)
		if norm := mat.Norm(v, 2); norm > 1e-9 {
			v.ScaleVec(1/norm, v)
			columns.SetCol(j, x)
		}
	}
	var svd mat.SVD
	svd.Factorize(columns, mat.SVDThin)
	rank, values := 0, svd.Values(nil)
	for rank < len(values) && values[rank] > tolerance*values[0] {
		rank++
	}
	var u mat.Dense
	svd.UTo(&u)
	return mat.DenseCopyOf(u.Slice(0, n, 0, rank)), columns
}

func extended(t *testing.T, m withUnits, tab *data.Table) decompose.Model {
	t.Helper()
	model, err := decompose.With(m, map[string][]decompose.Block{"mu": builtBlocks(t, "~ s(x0,k=6)", tab), "sigma": builtBlocks(t, "~ day", tab)})
	must(t, err)
	return model
}

// What terms tell of features is what least squares and canonical correlations of the rows themselves say, by either route, and
// for any workers, batches and shards the same. All else in the result is as it is without.
func TestDeepFeatures(t *testing.T) {
	const n = 9000
	ctx := t.Context()
	tab := table(t, n, 3)
	rows := all(t, tab, n)
	m := withUnits{newFake(2), 0}
	model := extended(t, m, tab)
	options := func() *decompose.Options {
		return &decompose.Options{Columns: decompose.Columns{Weights: "w"}, DeepFeatures: []*decompose.Tap{m.tap()}}
	}
	whole, err := decompose.Decompose(ctx, model, tab, options())
	must(t, err)
	got := whole.DeepFeatures[0]

	var terms []decompose.Term
	for k := range m.Predictors() {
		for _, b := range model.Blocks(k) {
			terms = append(terms, b.Term)
		}
	}
	w, err := rows.Numeric("w")
	must(t, err)
	u, err := m.units(rows)
	must(t, err)
	qx, _ := orthonormal(designMatrix(t, terms, rows), w, 1e-6)
	qu, units := orthonormal(u, w, 1e-4)
	var cross, told mat.Dense
	cross.Mul(qx.T(), qu)
	told.Mul(qx.T(), units)
	var svd mat.SVD
	svd.Factorize(&cross, mat.SVDNone)
	if want := math.Pow(mat.Norm(&told, 2), 2) / 4; math.Abs(got.Explained-want) > 1e-9 {
		t.Errorf("explained %.12f, by rows %.12f", got.Explained, want)
	}
	for i, rho := range svd.Values(nil)[:len(got.Functions)] {
		if d := got.Functions[i].R2 - rho*rho; math.Abs(d) > 1e-9 {
			t.Errorf("R2 %d: %.12f, by rows %.12f", i, got.Functions[i].R2, rho*rho)
		}
	}
	_, rankX := qx.Dims()
	if got.Rank != 3 || got.Width != unitsWide || got.TermsRank != rankX || len(got.Functions) != 2 {
		t.Errorf("%+v; the ranks are 3 and %d, and x0 and its square are told", got, rankX)
	}
	if f := got.Functions[0]; f.R2 < 0.9 || f.With[0].Share < 0.99 || f.With[0].Columns[0] != "x0" {
		t.Errorf("the first function is %+v, of x0", f)
	}

	t.Run("without", func(t *testing.T) {
		o := options()
		o.DeepFeatures = nil
		plain, err := decompose.Decompose(ctx, model, tab, o)
		must(t, err)
		wide := withUnits{m.fake, 600} // of so many columns chunks would have other rows
		o.DeepFeatures = []*decompose.Tap{wide.tap()}
		with, err := decompose.Decompose(ctx, extended(t, wide, tab), tab, o)
		must(t, err)
		if f := with.DeepFeatures[0]; math.Abs(f.Explained-got.Explained) > 1e-12 || f.Rank != got.Rank {
			t.Errorf("with features that are 0: %+v", f)
		}
		for _, r := range []*decompose.Result{whole, with} {
			own := *r
			own.DeepFeatures = nil
			if asJSON(t, plain) != asJSON(t, &own) {
				t.Error("features change other figures")
			}
		}
	})
	t.Run("workers", func(t *testing.T) {
		o := options()
		o.Workers = 3
		other, err := decompose.Decompose(ctx, model, tab, o)
		must(t, err)
		if asJSON(t, other) != asJSON(t, whole) {
			t.Error("workers change the result")
		}
	})
	t.Run("shards", func(t *testing.T) {
		var sum *decompose.Statistics
		for _, c := range [][2]int{{4096, 9000}, {0, 4096}} {
			o := options()
			o.FirstChunk, o.FirstRow = c[0]/4096, int64(c[0])
			s, err := decompose.Accumulate(ctx, model, someRows{tab, c[0], c[1], nil}, o)
			must(t, err)
			sent := new(decompose.Statistics)
			must(t, sent.UnmarshalBinary(bytesOf(t, s)))
			if sum == nil {
				sum = sent
			} else {
				must(t, sum.Merge(sent))
			}
		}
		r, err := decompose.Solve(ctx, model, sum, options())
		must(t, err)
		if !reflect.DeepEqual(r.DeepFeatures, whole.DeepFeatures) {
			t.Errorf("shards: %+v", r.DeepFeatures)
		}
	})
	t.Run("factor", func(t *testing.T) {
		o := options()
		o.Route = decompose.QR
		r, err := decompose.Decompose(ctx, model, tab, o)
		must(t, err)
		if f := r.DeepFeatures[0]; math.Abs(f.Explained-got.Explained) > 1e-10 || math.Abs(f.Functions[1].R2-got.Functions[1].R2) > 1e-10 {
			t.Errorf("by the factor %+v, by products %+v", f, got)
		}
	})
	twice := m.tap()
	for name, c := range map[string]struct {
		features []*decompose.Tap
		want     string
	}{
		"none":  {[]*decompose.Tap{{Tensor: "others", Width: 5}}, `features "others" of 5 numbers: the model has no such tap`},
		"width": {[]*decompose.Tap{{Tensor: "units", Width: 4}}, `features "units" of 4 numbers`},
		"twice": {[]*decompose.Tap{twice, twice}, "named twice"},
	} {
		o := options()
		o.DeepFeatures = c.features
		if _, err := decompose.Decompose(ctx, model, tab, o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

// Features are compared with terms, of which there must be some.
func TestDeepFeaturesWithoutTerms(t *testing.T) {
	m := withUnits{newFake(1), 0}
	m.beta = nil
	_, err := decompose.Decompose(t.Context(), m, table(t, 100, 1), &decompose.Options{DeepFeatures: []*decompose.Tap{m.tap()}})
	if err == nil || !strings.Contains(err.Error(), "compared with terms, and the model has none") {
		t.Error(err)
	}
}

// Fewer rows than columns tell no function from chance, and a term of a column that stands still tells nothing.
func TestDeepFeaturesOfFewRows(t *testing.T) {
	m := withUnits{newFake(1), 0}
	o := func() *decompose.Options { return &decompose.Options{DeepFeatures: []*decompose.Tap{m.tap()}} }
	r, err := decompose.Decompose(t.Context(), m, table(t, 6, 1), o())
	must(t, err)
	if f := r.DeepFeatures[0]; f.R2ByChance != 1 || len(f.Functions) != 0 || f.ExplainedByChance != 0.6 {
		t.Errorf("%+v", f)
	}
	still := data.NewTable(50)
	for _, name := range []string{"x0", "x1", "x2"} {
		must(t, still.AddNumeric(name, make([]float64, 50)))
	}
	y := make([]float64, 50)
	for i := range y {
		y[i] = float64(i)
	}
	must(t, still.AddNumeric("y", y))
	r, err = decompose.Decompose(t.Context(), m, still, o())
	must(t, err)
	if f := r.DeepFeatures[0]; f.Explained != 0 || f.TermsRank != 0 || len(f.Functions) != 0 {
		t.Errorf("%+v", f)
	}
}

func asJSON(t *testing.T, r *decompose.Result) string {
	t.Helper()
	raw, err := json.Marshal(r)
	must(t, err)
	return string(raw)
}
