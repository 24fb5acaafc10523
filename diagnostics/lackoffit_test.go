package diagnostics

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/decompose/sumstest"
)

// fitted are n rows of a column x, sorted or not, of a term that is 0 with one degree of freedom, and of a remainder.
func fitted(t testing.TB, n int, seed uint64, remainder func(x float64, r *rand.Rand) float64) (*decompose.Result, *decompose.Parts, []float64) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 4))
	x, w, e := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range x {
		x[i], w[i] = r.NormFloat64(), 1
		e[i] = remainder(x[i], r)
	}
	b := data.NewBatch(n, 0)
	for name, v := range map[string][]float64{"x": x, "w": w} {
		if err := b.SetNumeric(name, v); err != nil {
			t.Fatal(err)
		}
	}
	p := &decompose.Parts{Batch: b, Predictors: []decompose.PredictorParts{{Terms: mat.NewDense(n, 1, nil), Unstructured: e, Eta: e}}}
	term := decompose.TermResult{Name: "s(x)", Kind: decompose.Smooth, Features: []string{"x"}, EDF: 1, After: decompose.Moment{Variance: 1}}
	out := &decompose.Result{Rows: int64(n), Weights: "w", Predictors: []decompose.Predictor{{Name: "mu", Terms: []decompose.TermResult{term}, Variance: decompose.Variance{Total: 2}}}}
	sorted := slices.Sorted(slices.Values(x))
	var edges []float64
	for i := 5; i < n; i += max(5, n/400) {
		edges = append(edges, sorted[i])
	}
	return out, p, edges
}

func lackOf(t testing.TB, n int, seed uint64, remainder func(x float64, r *rand.Rand) float64) *decompose.LackOfFit {
	t.Helper()
	r, p, edges := fitted(t, n, seed, remainder)
	c := NewLackOfFit(func(string) []float64 { return edges })
	if err := c.Begin(r); err != nil {
		t.Fatal(err)
	}
	part, err := c.Map(p)
	if err == nil {
		err = c.Reduce(part)
	}
	if err == nil {
		err = c.End(r)
	}
	if err != nil {
		t.Fatal(err)
	}
	return r.Predictors[0].Terms[0].LackOfFit
}

// By chance alone P is below 5 % in about 5 % of draws, also if the remainder's variance depends on the column, and the
// estimated miss is the one that was built in.
func TestLackOfFit(t *testing.T) {
	for name, remainder := range map[string]func(x float64, r *rand.Rand) float64{
		"equal":   func(_ float64, r *rand.Rand) float64 { return r.NormFloat64() },
		"product": func(x float64, r *rand.Rand) float64 { return x * r.NormFloat64() },
	} {
		const trials = 400
		low := 0
		for seed := range uint64(trials) {
			if lackOf(t, 1000, seed, remainder).P < 0.05 {
				low++
			}
		}
		if share := float64(low) / trials; share < 0.015 || share > 0.09 { // three standard errors, and a little for Box's approximation
			t.Errorf("%s: P is below 5 %% in %.1f %% of the trials", name, 100*share)
		}
	}
	l := lackOf(t, 20_000, 1, func(x float64, r *rand.Rand) float64 { return 0.3*math.Sin(6*x) + r.NormFloat64() })
	if want := 0.045 / 1.045; l.P > 1e-6 || math.Abs(l.Share-want) > 0.25*want || math.Abs(l.OfPredictor-0.0225) > 0.25*0.0225 || !l.Matters() { // bins even out a little
		t.Errorf("%+v, want a share of %.3f", l, want)
	}
	if l := lackOf(t, 20_000, 1, func(x float64, r *rand.Rand) float64 { return 0.05 * math.Sin(6*x) }); l.P > 1e-6 || l.Matters() {
		t.Errorf("a lack beyond chance that is too small to matter: %+v", l)
	}
}

// Bins have the same bytes however chunks come.
func TestBinsInAnyOrder(t *testing.T) {
	r, p, edges := fitted(t, 900, 3, func(x float64, r *rand.Rand) float64 { return r.NormFloat64() })
	c := NewLackOfFit(func(string) []float64 { return edges })
	if err := c.Begin(r); err != nil {
		t.Fatal(err)
	}
	chunks := append(sumstest.Chunks(t, []*decompose.Parts{p}, 70), sumstest.Empty(t, p), nil)
	sums := func(i int) decompose.Sums {
		if chunks[i] == nil {
			return nil
		}
		s, err := c.Map(chunks[i])
		if err != nil {
			t.Fatal(err)
		}
		return s.(decompose.Sums)
	}
	sumstest.AnyOrder(t, len(chunks), 10, sums, DecodeSums)
	sumstest.Damaged(t, binsKind, sumstest.Bytes(t, sumstest.Total(t, len(chunks), sums)), DecodeSums)
}

// A value is in the bin of the last edge that it has reached.
func TestBinning(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		edges := make([]float64, 1+r.IntN(40))
		for i := range edges {
			edges[i] = math.Exp(8 * r.NormFloat64())
		}
		slices.Sort(edges)
		edges = slices.Compact(edges)
		b := newBinning(edges)
		for _, x := range append(slices.Clone(edges), 0, -1, 1e300, math.Inf(1), math.Inf(-1), edges[0]/2, edges[len(edges)-1]*2) {
			want := 0
			for want < len(edges) && edges[want] <= x {
				want++
			}
			if got := b.bin(x); int(got) != want {
				t.Fatalf("%v is in bin %d of %v, want %d", x, got, edges, want)
			}
		}
	}
}
