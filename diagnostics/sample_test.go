package diagnostics

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/decompose/sumstest"
)

// parted are n rows of two features, weighted, with what two predictors leave; some
// features are missing.
func parted(t testing.TB, n int) (*decompose.Result, *decompose.Parts) {
	t.Helper()
	r := rand.New(rand.NewPCG(3, 4))
	column := map[string][]float64{}
	for _, name := range []string{"a", "b", "w", "mu", "sigma"} {
		for i := range n {
			v := r.NormFloat64()
			if name == "w" {
				v = float64(i % 10)
			} else if i%50 == 7 {
				v = math.NaN()
			}
			column[name] = append(column[name], v)
		}
	}
	b := data.NewBatch(n, 100)
	for _, name := range []string{"a", "b", "w"} {
		if err := b.SetNumeric(name, column[name]); err != nil {
			t.Fatal(err)
		}
	}
	terms := []decompose.TermResult{
		{Name: "s(a)", Kind: decompose.Smooth, Features: []string{"a"}},
		{Name: "te(a,b)", Kind: decompose.Tensor, Features: []string{"a", "b"}},
	}
	p := &decompose.Parts{Batch: b}
	out := &decompose.Result{Rows: int64(n), Weights: "w"}
	for _, name := range []string{"mu", "sigma"} {
		p.Predictors = append(p.Predictors, decompose.PredictorParts{Terms: new(mat.Dense), Unstructured: column[name], Eta: column[name]})
		out.Predictors = append(out.Predictors, decompose.Predictor{Name: name, Terms: terms})
	}
	return out, p
}

// begun is a check about to see the rows.
func begun(t testing.TB, r *decompose.Result) *KCheck {
	t.Helper()
	c := NewKCheck(1)
	if err := c.Begin(r); err != nil {
		t.Fatal(err)
	}
	return c
}

func mapped(t testing.TB, c *KCheck, p *decompose.Parts) decompose.Sums {
	t.Helper()
	s, err := c.Map(p)
	if err != nil {
		t.Fatal(err)
	}
	return s.(decompose.Sums)
}

// TestSampleInAnyOrder: of few rows and of more than are kept, samples have the same bytes
// however chunks come, and hold the rows of the least hashes.
func TestSampleInAnyOrder(t *testing.T) {
	for _, n := range []int{0, 5, 4000, 60_000} {
		r, p := parted(t, n)
		c := begun(t, r)
		chunks := append(sumstest.Chunks(t, []*decompose.Parts{p}, max(1, n/13)), sumstest.Empty(t, p), nil)
		slices.Reverse(chunks[2:]) // only numbers of rows count
		sums := func(i int) decompose.Sums {
			if chunks[i] == nil {
				return nil
			}
			return mapped(t, c, chunks[i])
		}
		if n == 0 {
			chunks = chunks[:1]
		}
		sumstest.AnyOrder(t, len(chunks), 10, sums, DecodeSums)
		total := sumstest.Total(t, len(chunks), sums).(*sample)
		if n < 5000 {
			sumstest.Damaged(t, kind, sumstest.Bytes(t, total), DecodeSums)
		}
		total.cut()
		if diff := gocmp.Diff(leastHashes(c.limit, p), total.rows, gocmp.AllowUnexported(sampled{}), cmpopts.EquateNaNs(), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%d rows: the sample holds others: %s", n, diff)
		}
	}
}

// leastHashes looks at all rows at once, whose hashes are in the limit.
func leastHashes(limit uint64, p *decompose.Parts) []sampled {
	a, _ := p.Batch.Numeric("a")
	b, _ := p.Batch.Numeric("b")
	w, _ := p.Batch.Numeric("w")
	var all []sampled
	for i := range w {
		if w[i] == 0 {
			continue
		}
		row, root := p.Batch.Row(i), math.Sqrt(w[i])
		if mix(1, uint64(row)) > limit {
			continue
		}
		all = append(all, sampled{mix(1, uint64(row)), row, []float64{a[i], b[i]}, []float64{p.Predictors[0].Unstructured[i] * root, p.Predictors[1].Unstructured[i] * root}})
	}
	slices.SortFunc(all, func(x, y sampled) int { return cmp.Compare(x.hash, y.hash) })
	all = all[:min(len(all), sampleRows)]
	slices.SortFunc(all, func(x, y sampled) int { return cmp.Compare(x.row, y.row) })
	return all
}

// TestOtherSamplesAreRefused: of another seed, of other features or predictors; and a row
// that comes twice is not written.
func TestOtherSamplesAreRefused(t *testing.T) {
	r, p := parted(t, 50)
	one := mapped(t, begun(t, r), p)
	other := NewKCheck(2)
	if err := other.Begin(r); err != nil {
		t.Fatal(err)
	}
	fewer := *r
	fewer.Predictors = slices.Clone(r.Predictors)
	for k := range fewer.Predictors {
		fewer.Predictors[k].Terms = fewer.Predictors[k].Terms[:1]
	}
	single := *p
	single.Predictors = p.Predictors[:1]
	for what, s := range map[string]decompose.Sums{
		"seed": mapped(t, other, p), "features": mapped(t, begun(t, &fewer), p), "predictors": mapped(t, begun(t, r), &single),
	} {
		if err := one.Add(s); err == nil {
			t.Errorf("samples of another %s were added", what)
		}
	}
	if err := one.Add(mapped(t, begun(t, r), p)); err != nil {
		t.Fatal(err)
	}
	if _, err := one.MarshalBinary(); err == nil {
		t.Error("rows are in the sample twice")
	}
}

func FuzzDecodeSums(f *testing.F) {
	r, p := parted(f, 9)
	f.Add(sumstest.Bytes(f, mapped(f, begun(f, r), p)))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, raw []byte) { sumstest.Read(t, kind, raw, DecodeSums) })
}
