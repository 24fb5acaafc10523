package basis_test

import (
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// response is column y as a network without structure.
type response struct{}

func (response) Predictors() []string         { return []string{"eta"} }
func (response) Columns() []string            { return []string{"y"} }
func (response) Intercept(int) float64        { return 0 }
func (response) Blocks(int) []decompose.Block { return nil }
func (response) Taps() map[string]int         { return nil }
func (response) Forward(_ context.Context, dst *decompose.Outputs, b *data.Batch) error {
	y, err := b.Numeric("y")
	if err == nil {
		dst.Zeta.SetCol(0, y)
		dst.Eta.SetCol(0, y)
	}
	return err
}

// shifted has numbers a, b, b + shift in place of b, and a factor g.
func shifted(t *testing.T, shift float64) *data.Table {
	t.Helper()
	const n = 400
	r := rand.New(rand.NewPCG(5, 1))
	a, b, y, g := make([]float64, n), make([]float64, n), make([]float64, n), make([]string, n)
	for i := range n {
		level := r.IntN(3)
		// Of few digits, so that b + shift has them all.
		a[i], b[i], g[i] = r.NormFloat64(), math.Round(1024*r.NormFloat64())/1024, string(rune('p'+level))
		y[i] = a[i] + b[i]/2 + a[i]*b[i] + float64(level)*b[i] + r.NormFloat64()
		b[i] += shift
	}
	tab := data.NewTable(n)
	for name, v := range map[string][]float64{"a": a, "b": b, "y": y} {
		if err := tab.AddNumeric(name, v); err != nil {
			t.Fatal(err)
		}
	}
	if err := tab.AddTexts("g", g); err != nil {
		t.Fatal(err)
	}
	return tab
}

// TestUnitsOfProducts: where a column's numbers begin changes neither curves, nor standard errors, nor verdicts of the terms of
// a product and its margins, though their columns are the same to 7 digits.
func TestUnitsOfProducts(t *testing.T) {
	for _, formula := range []string{"~ a + b + a:b", "~ a:b + b + a", "~ g + b + g:b"} {
		var first []float64
		var verdicts []decompose.Verdict
		for _, shift := range []float64{0, 1e5, -1e7} {
			tab := shifted(t, shift)
			f, err := basis.Parse(formula, &basis.Options{Schema: tab.Schema(), Centred: true})
			if err != nil {
				t.Fatal(err)
			}
			blocks, err := decompose.Prepare(t.Context(), tab, f.Specs, nil)
			if err != nil {
				t.Fatal(err)
			}
			m, err := decompose.With(response{}, map[string][]decompose.Block{"": blocks})
			if err != nil {
				t.Fatal(err)
			}
			r, err := decompose.Decompose(t.Context(), m, tab, nil)
			if err != nil {
				t.Fatal(err)
			}
			a, err := r.Applier(m)
			if err != nil {
				t.Fatal(err)
			}
			var got []float64
			for rows, err := range a.WithErrors().All(t.Context(), tab) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, rows.Predictors[0].Terms.RawMatrix().Data...)
				got = append(got, rows.Predictors[0].SE.RawMatrix().Data...)
			}
			if first == nil {
				first = got
			}
			for i, v := range got {
				if !(math.Abs(v-first[i]) <= 1e-7*(1+math.Abs(first[i]))) { // b itself has its digits; its mean loses 7 of them
					t.Fatalf("%s, shift %g: number %d is %v, want %v", formula, shift, i, v, first[i])
				}
			}
			for j, term := range r.Predictors[0].Terms {
				if len(verdicts) <= j {
					verdicts = append(verdicts, term.Verdict)
				}
				if term.Verdict != verdicts[j] {
					t.Errorf("%s, shift %g: %s is %s (%s)", formula, shift, term.Name, term.Verdict, term.Why)
				}
			}
		}
	}
}

// TestCentredProducts: products are about a point only where the formula has what that changes, are read as they were
// written, and shards find the same point.
func TestCentredProducts(t *testing.T) {
	tab := shifted(t, 1e6)
	spec := func(formula string) string {
		t.Helper()
		f, err := basis.Parse(formula, &basis.Options{Schema: tab.Schema(), Centred: !strings.Contains(formula, "g:a")})
		if err != nil {
			t.Fatal(err)
		}
		blocks, err := decompose.Prepare(t.Context(), tab, f.Specs, nil)
		if err != nil {
			t.Fatal(err)
		}
		term := blocks[len(blocks)-1].Term
		raw, err := term.(json.Marshaler).MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		again, err := basis.Decode(term.Kind(), raw)
		if err != nil {
			t.Fatal(err)
		}
		for b := range tab.Batches(t.Context(), tab.Schema().Names()) {
			one, two := mat.NewDense(b.Rows(), term.Dim(), nil), mat.NewDense(b.Rows(), term.Dim(), nil)
			if err := term.Eval(one, b); err != nil {
				t.Fatal(err)
			}
			if err := again.Eval(two, b); err != nil || !mat.Equal(one, two) {
				t.Errorf("%s: read again it is another term (%v)", formula, err)
			}
		}
		return string(raw)
	}
	for formula, about := range map[string]bool{"~ a + b + a:b": true, "~ g + g:b": true, "~ a + a:b": false, "~ b + a:b": false, "~ a + b + a:b - 1": false, "~ g + g:a": false} {
		if got := strings.Contains(spec(formula), "about"); got != about {
			t.Errorf("%s: about a point: %v", formula, got)
		}
	}
	if _, err := basis.Decode(decompose.Linear, []byte(strings.Replace(spec("~ a + b + a:b"), `"about":[0,`, `"about":[`, 1))); err == nil {
		t.Error("two numbers are about a point of one")
	}
	f, err := basis.Parse("~ a + b + a:b", &basis.Options{Schema: tab.Schema(), Centred: true})
	if err != nil {
		t.Fatal(err)
	}
	var total decompose.Sums
	for b := range data.Rebatch(tab.Batches(t.Context(), tab.Schema().Names()), 100) {
		s := f.Specs[2].Scanner()
		if err := s.Scan(b); err != nil {
			t.Fatal(err)
		}
		sums, err := s.(interface {
			Sums() (decompose.Sums, error)
		}).Sums()
		if err != nil {
			t.Fatal(err)
		}
		raw, err := sums.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		if sums, err = basis.DecodeSums(sums.Kind(), raw); err != nil {
			t.Fatal(err)
		}
		if _, err := basis.DecodeSums(sums.Kind(), raw[:len(raw)-8]); err == nil {
			t.Error("sums that are cut short are read")
		}
		if total == nil {
			total = sums
		} else if err := total.Add(sums); err != nil {
			t.Fatal(err)
		}
	}
	s := f.Specs[2].Scanner()
	if err := s.(interface{ Restore(decompose.Sums) error }).Restore(total); err != nil {
		t.Fatal(err)
	}
	blocks, err := s.Build()
	if err != nil {
		t.Fatal(err)
	}
	raw, err := blocks[0].Term.(json.Marshaler).MarshalJSON()
	if err != nil || string(raw) != spec("~ a + b + a:b") {
		t.Errorf("shards make the term %s, all rows %s (%v)", raw, spec("~ a + b + a:b"), err)
	}
}
