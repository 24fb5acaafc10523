package decompose_test

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"reflect"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	pairs "github.com/pho-go/pho/interaction"
)

// pairNetwork is f(a,b) = (a^2 - 1) b + main(a) + b/2 as a learned term of two units, and nothing else.
type pairNetwork struct {
	tap  *decompose.Tap
	main func(a float64) float64
}

func (p pairNetwork) Predictors() []string  { return []string{"eta"} }
func (p pairNetwork) Columns() []string     { return []string{"a", "b"} }
func (p pairNetwork) Intercept(int) float64 { return 0 }
func (p pairNetwork) Taps() map[string]int  { return map[string]int{p.tap.Tensor: 2} }
func (p pairNetwork) Blocks(int) []decompose.Block {
	return []decompose.Block{{Term: p.tap, Coef: []float64{1, 1}}}
}

func (p pairNetwork) Forward(_ context.Context, dst *decompose.Outputs, b *data.Batch) error {
	x, err := b.Numeric("a")
	if err != nil {
		return err
	}
	z, err := b.Numeric("b")
	if codes, other := b.Codes("b"); err != nil && other == nil { // by the number of its level
		z, err = make([]float64, b.Rows()), nil
		for i, c := range codes.Index {
			z[i] = float64(c)
		}
	}
	if err != nil {
		return err
	}
	for i := range b.Rows() {
		units := []float64{(x[i]*x[i] - 1) * z[i], p.main(x[i]) + z[i]/2}
		dst.Taps[p.tap.Tensor].SetRow(i, units)
		dst.Eta.Set(i, 0, units[0]+units[1])
		dst.Zeta.Set(i, 0, 0)
	}
	return nil
}

// paired is that network with smooths of its columns, and with the means of its pair if asked.
func paired(t *testing.T, tab *data.Table, main func(a float64) float64, formula string, means bool) decompose.Model {
	t.Helper()
	f, err := basis.Parse(formula, &basis.Options{Schema: tab.Schema()})
	must(t, err)
	blocks, err := decompose.Prepare(t.Context(), tab, f.Specs, nil)
	must(t, err)
	network := pairNetwork{&decompose.Tap{Tensor: "pair", Features: []string{"a", "b"}, Width: 2}, main}
	m, err := decompose.With(network, map[string][]decompose.Block{"": blocks})
	must(t, err)
	if !means {
		return m
	}
	s := pairs.NewWideSample([]string{"a", "b"}, "")
	_, err = decompose.Prepare(t.Context(), tab, []decompose.Spec{s}, nil)
	must(t, err)
	rows, err := s.Independent([]string{"a", "b"}, 2, nil)
	must(t, err)
	m, err = decompose.WithMeans(t.Context(), m, rows)
	must(t, err)
	return m
}

// TestMeansOfPair: of independent columns the main effects next to a learned pair have the error of column means; without its means
// that of a regression of the interaction on their columns. Of dependent columns both are the regression. Parts sum to
// the network's output, standard errors come back from a file, and bands are not of these rows alone.
func TestMeansOfPair(t *testing.T) {
	const n = 2000
	for _, rho := range []float64{0, 0.5} {
		tab := productTable(t, n, rho)
		b := all(t, tab, n)
		a, err := b.Numeric("a")
		must(t, err)
		z, err := b.Numeric("b")
		must(t, err)
		off := map[bool]float64{}
		for _, means := range []bool{false, true} {
			m := paired(t, tab, math.Sin, "~ s(a) + s(b)", means)
			r := decomposed(t, m, tab, &decompose.Options{})
			h := r.Predictors[0].Hierarchy
			if got := len(h.Smoothed) > 0; got != (means && rho == 0) {
				t.Fatalf("means %t, correlation %g: %+v", means, rho, h.Smoothed)
			}
			if h.GivenRows {
				t.Error("bands take the split as known")
			}
			applier := mustApplier(t, r, m)
			p, err := applier.Parts(t.Context(), b)
			must(t, err)
			d := &p.Predictors[0]
			mean, at := 0.0, -1
			for i := range n {
				mean += math.Sin(a[i]) / n
			}
			for j, term := range r.Predictors[0].Terms {
				if term.Name == "s(a)" {
					at = j
				}
			}
			for i := range n {
				sum := d.Intercept + d.Unstructured[i]
				for j := range r.Predictors[0].Terms {
					sum += d.Terms.At(i, j)
				}
				near(t, "sum of the parts", sum, (a[i]*a[i]-1)*z[i]+math.Sin(a[i])+z[i]/2, 1e-9)
				off[means] += math.Pow(d.Terms.At(i, at)-(math.Sin(a[i])-mean), 2) / n
			}
			off[means] = math.Sqrt(off[means])
			effect, err := applier.Effect(t.Context(), 0, at, all(t, tab, 20))
			must(t, err)
			if effect.SE[0] == 0 {
				t.Error("the split has no error")
			}
			doc, moments := encode(t, r)
			again, err := decompose.Read(bytes.NewReader(doc), bytes.NewReader(moments), basis.Decode)
			must(t, err)
			read, err := mustApplier(t, again, m).Effect(t.Context(), 0, at, all(t, tab, 20))
			must(t, err)
			for i, v := range effect.SE {
				near(t, "standard error as read", read.SE[i], v, 1e-12)
			}
		}
		if rho == 0 && (off[true] > 2/math.Sqrt(n) || off[false] < 2*off[true]) {
			t.Errorf("the main effect is off by %.3f, without means by %.3f", off[true], off[false])
		}
		if rho > 0 && off[true] != off[false] {
			t.Errorf("of dependent columns: off by %g and %g", off[true], off[false])
		}
	}
}

// TestMeansBetweenNodes: where a spline has pieces that hardly any node lies in, means of a function that jumps stay about as large
// as the function.
func TestMeansBetweenNodes(t *testing.T) {
	const n = 2000
	tab := productTable(t, n, 0)
	step := func(a float64) float64 {
		if a < 0.3 {
			return 0
		}
		return 1
	}
	for _, formula := range []string{`~ s(a, bs="bs", k=80, knots="quantiles") + s(b)`, `~ s(a, bs="bs", k=30) + s(b)`} {
		m := paired(t, tab, step, formula, true)
		r := decomposed(t, m, tab, &decompose.Options{})
		if len(r.Predictors[0].Hierarchy.Smoothed) == 0 {
			t.Fatal("no split is smoothed")
		}
		p, err := mustApplier(t, r, m).Parts(t.Context(), all(t, tab, n))
		must(t, err)
		for j, term := range r.Predictors[0].Terms {
			if term.Name != "s(a)" {
				continue
			}
			for i := range n {
				if v := p.Predictors[0].Terms.At(i, j); math.Abs(v) > 1.5 {
					t.Fatalf("%s: the main effect of a step of 1 is %g in row %d", formula, v, i)
				}
			}
		}
	}
}

// TestTapIsRead: a learned term comes back from its spec; means of another width or that are no numbers do not.
func TestTapIsRead(t *testing.T) {
	tap := &decompose.Tap{Tensor: "pair", Features: []string{"a", "b"}, Width: 2, Means: map[string]*mat.Dense{"s(a)": mat.NewDense(3, 2, []float64{1, 2, 3, 4, 5, 1. / 3})}}
	spec, err := json.Marshal(tap)
	must(t, err)
	again, err := basis.Decode(decompose.Learned, spec)
	must(t, err)
	if !reflect.DeepEqual(again, decompose.Term(tap)) {
		t.Errorf("%+v, want %+v", again, tap)
	}
	tap.Means["s(a)"].Set(0, 0, math.NaN())
	damaged, err := json.Marshal(tap)
	must(t, err)
	for says, spec := range map[string][]byte{
		"NaN":          damaged,
		"of 2 columns": bytes.Replace(spec, []byte(`"width":2`), []byte(`"width":3`), 1),
		"unknown":      bytes.Replace(spec, []byte(`"width"`), []byte(`"weight":1,"width"`), 1),
	} {
		if _, err := basis.Decode(decompose.Learned, spec); err == nil || !bytes.Contains([]byte(err.Error()), []byte(says)) {
			t.Errorf("%s: %v", says, err)
		}
	}
}

// TestMeansBesideManyLevels: a pair one of whose margins is a random effect of many levels, which have no nodes, keeps its regression.
func TestMeansBesideManyLevels(t *testing.T) {
	const n, levels = 2000, 600
	a, b := make([]float64, n), make([]float64, n)
	for i := range n {
		a[i], b[i] = float64(i*37%n)/n, float64(i%levels)
	}
	tab := data.NewTable(n)
	must(t, tab.AddNumeric("a", a))
	must(t, tab.AddFactor("b", b))
	m := paired(t, tab, math.Sin, `~ s(a) + s(b, bs="re")`, true)
	decomposed(t, m, tab, &decompose.Options{})
}
