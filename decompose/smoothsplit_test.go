package decompose_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// productTable has a, b of correlation rho, the column y = sin a + b/2 + ab and weights w.
func productTable(t *testing.T, n int, rho float64) *data.Table {
	t.Helper()
	return productRows(t, n, rho, 12)
}

// productRows is productTable by a seed.
func productRows(t *testing.T, n int, rho float64, seed uint64) *data.Table {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 2))
	v := map[string][]float64{}
	for range n {
		a := r.NormFloat64()
		b := rho*a + math.Sqrt(1-rho*rho)*r.NormFloat64()
		for name, x := range map[string]float64{"a": a, "b": b, "y": math.Sin(a) + b/2 + a*b} {
			v[name] = append(v[name], x)
		}
		v["w"] = append(v["w"], 1+r.Float64())
	}
	tab := data.NewTable(n)
	for name, x := range v {
		must(t, tab.AddNumeric(name, x))
	}
	return tab
}

// TestSmoothedSplit: main effects next to an interaction of independent columns have the error of column means, 1/sqrt(n), not
// that of a regression of the interaction on their forty columns (0.12 here); written as te or ti they are the
// same; and the parts sum to what they do as fitted. Of dependent columns the split is the regression.
func TestSmoothedSplit(t *testing.T) {
	const n = 2000
	for _, c := range []struct {
		rho      float64
		weights  string
		smoothed bool
	}{{0, "", true}, {0, "w", true}, {0.5, "", false}} {
		tab := productTable(t, n, c.rho)
		b := all(t, tab, n)
		a, _ := b.Numeric("a")
		var main [][]float64
		for _, pair := range []string{"te(a,b)", "ti(a,b)"} {
			m := responseAsNetwork(t, tab, "~ s(a) + s(b) + "+pair, "y")
			o := decompose.Options{Columns: decompose.Columns{Weights: c.weights}}
			r := decomposed(t, m, tab, &o)
			h := r.Predictors[0].Hierarchy
			if got := len(h.Smoothed) > 0; got != c.smoothed {
				t.Fatalf("%s, correlation %g, weights %q: %+v", pair, c.rho, c.weights, h.Smoothed)
			}
			p, err := mustApplier(t, r, m).Parts(t.Context(), b)
			must(t, err)
			o.Projection.Terms = decompose.Fitted
			fitted, err := mustApplier(t, decomposed(t, m, tab, &o), m).Parts(t.Context(), b)
			must(t, err)
			sum := func(p *decompose.Parts, i int) float64 {
				d := &p.Predictors[0]
				s := d.Intercept + d.Unstructured[i]
				for j := range 3 {
					s += d.Terms.At(i, j)
				}
				return s
			}
			for i := range n {
				near(t, pair+": sum of the parts", sum(p, i), sum(fitted, i), 1e-9)
			}
			main = append(main, column(p, 0))
			if !c.smoothed {
				continue
			}
			if s := h.Smoothed[0]; s.Term != pair || s.Kept != 0 || !(s.Shared > s.Chance/3 && s.Shared < 3*s.Chance && s.Chance > 38.0/n && s.Chance < 0.2) {
				t.Errorf("%+v", s)
			}
			mean, off := 0.0, 0.0
			for i := range n {
				mean += math.Sin(a[i]) / n
			}
			for i, v := range main[len(main)-1] {
				off += math.Pow(v-(math.Sin(a[i])-mean), 2) / n
			}
			if off = math.Sqrt(off); off > 2/math.Sqrt(n) {
				t.Errorf("%s: the main effect is off by %.3f", pair, off)
			}
		}
		var between mat.VecDense
		between.SubVec(mat.NewVecDense(n, main[0]), mat.NewVecDense(n, main[1]))
		if off := mat.Norm(&between, 2) / math.Sqrt(n); off > 0.01 { // the fits differ a little
			t.Errorf("correlation %g: s(a) next to te and ti differs by %.3f", c.rho, off)
		}
	}
}

// TestSmoothedIsRead: standard errors of smoothed terms are the same of a result that was written and read, given
// the rows and not; and two decompositions that are one differ by nothing, smoothed or not.
func TestSmoothedIsRead(t *testing.T) {
	tab := productTable(t, 300, 0)
	m := responseAsNetwork(t, tab, "~ s(a) + s(b) + ti(a,b)", "y")
	grid := all(t, tab, 20)
	for _, bands := range []decompose.Bands{decompose.RobustBands, decompose.RowsBands} {
		r := decomposed(t, m, tab, &decompose.Options{Bands: bands})
		doc, moments := encode(t, r)
		again, err := decompose.Read(bytes.NewReader(doc), bytes.NewReader(moments), basis.Decode)
		must(t, err)
		for j := range 3 {
			before, err := mustApplier(t, r, m).Effect(t.Context(), 0, j, grid)
			must(t, err)
			after, err := mustApplier(t, again, m).Effect(t.Context(), 0, j, grid)
			must(t, err)
			for i, v := range before.SE {
				near(t, fmt.Sprintf("bands %q, term %d, standard error", bands, j), after.SE[i], v, 1e-12)
			}
		}
		joint, err := decompose.NewJoint(t.Context(), mustApplier(t, r, m), mustApplier(t, again, m), [2]data.Source{tab, tab}, "")
		must(t, err)
		se, err := joint.SE(t.Context(), 0, 0, 0, grid)
		must(t, err)
		for _, v := range se {
			near(t, "error of no difference", v, 0, 1e-6)
		}
	}
}

// TestStableSplit: the verdict on a main effect with a smoothed split goes by how far other rows move it, measured here from
// sample to sample of independent columns; bands are wider (influence.go). Where columns depend on each other both are the same.
func TestStableSplit(t *testing.T) {
	const n, samples = 500, 60
	for _, c := range []struct {
		rho    float64
		stable bool
	}{{0, true}, {0.7, false}} {
		var curves [][]float64
		grid := all(t, productRows(t, 200, 0, 1), 200)
		told, bands := 0.0, 0.0
		for i := range samples {
			tab := productRows(t, n, c.rho, uint64(i)+20)
			m := responseAsNetwork(t, tab, "~ s(a) + s(b) + ti(a,b)", "y")
			r := decomposed(t, m, tab, &decompose.Options{})
			told += r.MeanSquaredError(0, 0) / samples
			e, err := mustApplier(t, r, m).Effect(t.Context(), 0, 0, grid)
			must(t, err)
			curves = append(curves, e.After)
			for _, se := range e.SE {
				bands += se * se / (samples * 200)
			}
			for _, reason := range r.Predictors[0].Terms[0].Because {
				if reason.Kind == decompose.ReasonStandardError {
					t.Errorf("correlation %g, sample %d: %s", c.rho, i, reason.Text)
				}
			}
		}
		moved := 0.0
		for at := range 200 {
			var v []float64
			for _, curve := range curves {
				v = append(v, curve[at])
			}
			moved += stat.Variance(v, nil) / 200
		}
		told, bands, moved = math.Sqrt(told), math.Sqrt(bands), math.Sqrt(moved)
		t.Logf("correlation %g: moved by %.4f, told %.4f, bands %.4f", c.rho, moved, told, bands)
		if ratio := told / moved; ratio < 0.7 || ratio > 1.4 { // 60 samples tell a standard deviation to 10 %, the curve has few degrees of freedom
			t.Errorf("correlation %g: a curve that moves by %.4f is told to move by %.4f", c.rho, moved, told)
		}
		if wider := bands > 1.5*told; wider != c.stable {
			t.Errorf("correlation %g: standard errors of bands %.4f, %.4f of the verdict", c.rho, bands, told)
		}
	}
}
