package report_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/family"
	"github.com/pho-go/pho/report"
)

// drawn is a black box of functions drawn at random: of u, v and n, which is whole, of the levels of
// g, and of the product of u and v.
type drawn struct {
	u, v, n, pair func(x float64) float64
	g             []float64
}

func (drawn) Predictors() []string         { return []string{"eta"} }
func (drawn) Columns() []string            { return []string{"u", "v", "n", "b", "g"} }
func (drawn) Intercept(int) float64        { return 0 }
func (drawn) Blocks(int) []decompose.Block { return nil }
func (drawn) Taps() map[string]int         { return nil }

func (m drawn) Forward(_ context.Context, dst *decompose.Outputs, b *data.Batch) error {
	var x [5][]float64
	for i, c := range m.Columns() {
		v, err := b.Numeric(c)
		if err != nil {
			return err
		}
		x[i] = v
	}
	for i := range b.Rows() {
		eta := m.u(x[0][i]) + m.v(x[1][i]) + m.n(x[2][i]) + 0.3*x[3][i] + m.g[int(x[4][i])] + m.pair(x[0][i]*x[1][i])
		dst.Zeta.Set(i, 0, eta)
		dst.Eta.Set(i, 0, eta)
	}
	return nil
}

// shape draws a function that rises, falls, turns once, jumps or goes up and down.
func shape(r *rand.Rand) func(x float64) float64 {
	a, c := 2*r.Float64()-1, r.Float64()
	switch r.IntN(6) {
	case 0:
		return func(x float64) float64 { return a * x }
	case 1:
		return func(x float64) float64 { return a * (x - c) * (x - c) }
	case 2:
		return func(x float64) float64 { return a * math.Sin(4*x+c) }
	case 3:
		return func(x float64) float64 { return a / (1 + math.Exp(-9*(x-c))) }
	case 4:
		return func(x float64) float64 { return a * math.Exp(x) }
	}
	return func(x float64) float64 { return a*math.Abs(x-c) + 0.05*math.Sin(20*x) }
}

// TestWordsAreTrue: what a page says of columns is computed again from their effects, for results of
// every kind of response.
func TestWordsAreTrue(t *testing.T) {
	links := []*family.Link{
		nil,
		{Name: "identity", Of: family.Mean},
		{Name: "log", Of: family.Mean},
		{Name: "logit", Of: family.Probability},
		{Name: "log hazard ratio", Of: family.HazardRatio},
		{Name: "softplus", Of: family.Mean},
	}
	kinds := map[string]int{}
	for seed := range 30 {
		t.Run(strconv.Itoa(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(54, uint64(seed)))
			const n = 400
			x := make([][]float64, 6)
			for j := range x {
				x[j] = make([]float64, n)
			}
			levels := 3 + r.IntN(6)
			m := drawn{u: shape(r), v: shape(r), n: shape(r), pair: shape(r)}
			for range levels {
				m.g = append(m.g, r.NormFloat64())
			}
			for i := range n {
				x[0][i], x[1][i] = 3*r.Float64()-1, r.NormFloat64()
				x[2][i], x[3][i], x[4][i], x[5][i] = float64(r.IntN(3+seed)), float64(r.IntN(8*(seed%4)+2)/(8*(seed%4)+1)), float64(r.IntN(levels)), r.NormFloat64()
			}
			x[4][0] = 0
			src := data.NewTable(n)
			for j, c := range []string{"u", "v", "n", "b", "y"} {
				must(t, src.AddNumeric(c, x[[]int{0, 1, 2, 3, 5}[j]]))
			}
			must(t, src.AddFactor("g", x[4]))
			res, a := decomposed(t, structured(t, m, src, `~ s(u, k=9) + s(v, bs="ps", k=12) + s(n, bs="cr", k=3) + b + g + ti(u, v, k=4)`), src, nil)
			d := &res.Predictors[0]
			d.Link, res.Response = links[seed%len(links)], "y"
			effects := effectsOf(t, res, a)
			claims := report.Claims(res, effects)
			if len(claims) < 5 {
				t.Fatalf("%d claims", len(claims))
			}
			for i, c := range claims {
				kinds[c.Kind]++
				if pair := c.Effect.X2 != nil; pair != strings.Contains(c.Words, "beyond what each does alone: most at ") {
					t.Errorf("%q of columns that have curves of their own", c.Words)
				}
				if i > 0 && c.SD > claims[i-1].SD {
					t.Errorf("rank %d moves more than the one before", c.Rank)
				}
				if err := proved(c, d, res); err != nil {
					t.Errorf("%q: %v", c.Words, err)
				}
			}
			page := text(pageOf(t, res, effects))
			if share := explained(t, a, src); !strings.Contains(page, readSentence(share)) {
				t.Errorf("the page does not say %q", readSentence(share))
			}
		})
	}
	for _, kind := range []string{"rising", "falling", "peaked", "dipped", "waving", "apart"} {
		if kinds[kind] == 0 {
			t.Errorf("no effect was %s: %v", kind, kinds)
		}
	}
}

// readSentence is what a page says of a share that can be read.
func readSentence(share float64) string {
	whole := func(v float64) string {
		if v > 0.02 && v < 0.98 {
			return fmt.Sprintf("%.0f %%", 100*v)
		}
		if v < 0.0005 {
			return "&lt; 0.1 %"
		}
		return fmt.Sprintf("%.1f %%", 100*v)
	}
	if share >= 0.9995 {
		return "All of what makes its predictions differ from row to row"
	}
	return whole(share) + " of what makes its predictions differ from row to row"
}

// explained is how much of the model's own output the structured part explains, row by row.
func explained(t *testing.T, a *decompose.Applier, src data.Source) float64 {
	var left, all []float64
	for parts, err := range a.All(context.Background(), src) {
		must(t, err)
		p := parts.Predictors[0]
		left, all = append(left, p.Unstructured...), append(all, p.Eta...)
	}
	return 1 - spread(left)/spread(all)
}

func spread(v []float64) float64 {
	mean, sum := 0.0, 0.0
	for _, x := range v {
		mean += x / float64(len(v))
	}
	for _, x := range v {
		sum += (x - mean) * (x - mean)
	}
	return sum
}

// proved computes a claim again.
func proved(c report.Claim, d *decompose.Predictor, r *decompose.Result) error {
	e := c.Effect
	for i, v := range e.After {
		if want := outcome(d, c.Differences, v); c.Values[i] != want && math.Abs(c.Values[i]-want) > 1e-12*math.Abs(want) && !(math.IsNaN(v) && math.IsNaN(c.Values[i])) {
			return fmt.Errorf("at point %d the outcome is %g, told %g", i, want, c.Values[i])
		}
	}
	v, from, to := c.Values, 0, len(c.Values)-1
	counts := c.Counts
	if counts == nil {
		from, to = c.At[0], c.At[len(c.At)-1]
		counts = func(i int) bool { return i >= from && i <= to }
		if err := central(e, r, from, to); err != nil {
			return err
		}
	}
	low, high := math.Inf(1), math.Inf(-1)
	for i := range v {
		if counts(i) && !math.IsNaN(v[i]) {
			low, high = min(low, v[i]), max(high, v[i])
		}
	}
	if v[c.Low] != low || v[c.High] != high {
		return fmt.Errorf("lowest is %g, highest %g, told %g and %g", low, high, v[c.Low], v[c.High])
	}
	if c.Kind == "apart" && c.Low == c.High {
		return fmt.Errorf("lowest and highest are both %s", place(e, c.Low))
	}
	least := 0.1 * (high - low)
	rise, fall := furthest(v[from:to+1]), -furthest(negative(v[from:to+1]))
	switch c.Kind {
	case "rising":
		if !(v[to]-v[from] >= least) || -fall >= least {
			return fmt.Errorf("it falls by %g of %g", fall, high-low)
		}
	case "falling":
		if !(v[from]-v[to] >= least) || rise >= least {
			return fmt.Errorf("it rises by %g of %g", rise, high-low)
		}
	case "peaked":
		if !strings.Contains(c.Words, "up to "+place(e, c.High)) || furthest(negative(v[from:c.High+1])) >= least || furthest(v[c.High:to+1]) >= least || v[c.High]-v[from] < least || v[c.High]-v[to] < least {
			return fmt.Errorf("no peak at %s", place(e, c.High))
		}
	case "dipped":
		if !strings.Contains(c.Words, "down to "+place(e, c.Low)) || furthest(v[from:c.Low+1]) >= least || furthest(negative(v[c.Low:to+1])) >= least || v[from]-v[c.Low] < least || v[to]-v[c.Low] < least {
			return fmt.Errorf("no dip at %s", place(e, c.Low))
		}
	case "waving":
		for i := 1; i < len(c.At)-1; i++ {
			if math.Abs(v[c.At[i]]-v[c.At[i-1]]) < least && i > 1 {
				return fmt.Errorf("no turn at %s", place(e, c.At[i]))
			}
		}
		if len(c.At) < 4 {
			return fmt.Errorf("turns %d times", len(c.At)-2)
		}
	}
	if c.From != c.To {
		x := e.X.Values
		if (v[c.To]-v[c.From])/(v[to]-v[from]) < 0.6 || x[c.To]-x[c.From] > 0.4*(x[to]-x[from]) {
			return fmt.Errorf("from %g to %g it does not change fastest", x[c.From], x[c.To])
		}
	}
	if c.Kind == "apart" || c.Kind == "waving" || c.Kind == "peaked" || c.Kind == "dipped" {
		for _, i := range []int{c.Low, c.High} {
			if !strings.Contains(c.Words, place(e, i)) {
				return fmt.Errorf("it does not name %s", place(e, i))
			}
		}
	}
	return nil
}

// outcome is what an effect is told as.
func outcome(d *decompose.Predictor, differences bool, effect float64) float64 {
	if differences {
		return effect
	}
	eta := d.Intercept + effect
	switch d.Link.Name {
	case "log":
		return math.Exp(eta)
	case "logit":
		return 1 / (1 + math.Exp(-eta))
	case "softplus":
		return math.Max(eta, 0) + math.Log1p(math.Exp(-math.Abs(eta)))
	}
	return math.Exp(effect) // a ratio of hazards
}

// central: what is told of a curve is of 96 % of the rows.
func central(e *report.Effect, r *decompose.Result, from, to int) error {
	i := slices.IndexFunc(r.Features, func(f decompose.Feature) bool { return f.Name == e.X.Feature })
	q := r.Features[i].Quantiles
	if x := e.X.Values; x[from] < q[1] || from > 0 && x[from-1] >= q[1] || x[to] > q[49] || to < len(x)-1 && x[to+1] <= q[49] {
		return fmt.Errorf("told from %g to %g, rows lie from %g to %g", x[from], x[to], q[1], q[49])
	}
	return nil
}

func place(e *report.Effect, i int) string {
	x, x2 := e.ShownAt(i)
	if e.X2 != nil {
		return e.X.Feature + " " + x + " and " + e.X2.Feature + " " + x2
	}
	return x
}

// furthest is how far v rises from a lower value to a later one.
func furthest(v []float64) (rise float64) {
	low := math.Inf(1)
	for _, x := range v {
		low = math.Min(low, x)
		rise = math.Max(rise, x-low)
	}
	return rise
}

func negative(v []float64) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = -x
	}
	return out
}
