package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/decompose/sumstest"
	"github.com/pho-go/pho/internal/base/rowhash"
)

// chunked are n rows in chunks of 150, each with codes of its own for the levels of a
// column: numbers, texts, missing values and weights of 0, with many remainders of equal
// size.
func chunked(t testing.TB, n int) (*decompose.Result, []*decompose.Parts) {
	t.Helper()
	one := decompose.Predictor{Terms: make([]decompose.TermResult, 2), Variance: decompose.Variance{Total: 2}}
	out := &decompose.Result{Rows: int64(n), Response: "y", Weights: "w", Predictors: []decompose.Predictor{one, one},
		Features: []decompose.Feature{{Name: "x"}, {Name: "group", Levels: []string{"east", "north", "south"}}}}
	r := rand.New(rand.NewPCG(1, 5))
	var all []*decompose.Parts
	for lo := 0; lo < n; lo += 150 {
		size := min(150, n-lo)
		b := data.NewBatch(size, int64(lo))
		levels := []string{"north", "south", "east"}
		r.Shuffle(3, func(i, j int) { levels[i], levels[j] = levels[j], levels[i] })
		codes := data.Codes{Levels: levels}
		column := map[string][]float64{}
		p := &decompose.Parts{Batch: b}
		for k := range 2 {
			d := decompose.PredictorParts{Terms: mat.NewDense(size, 2, nil)}
			for i := range size {
				d.Terms.SetRow(i, []float64{r.NormFloat64(), r.NormFloat64()})
				d.Unstructured, d.Eta = append(d.Unstructured, float64(r.IntN(8)*(k+1))), append(d.Eta, r.NormFloat64())
			}
			p.Predictors = append(p.Predictors, d)
		}
		for i := range size {
			row := int64(lo + i)
			place := slices.Index(levels, []string{"north", "south", "east"}[row%3])
			codes.Index = append(codes.Index, int32(place))
			x := float64(row) / 3
			if row%4 == 0 {
				x = math.NaN()
			}
			column["x"], column["y"], column["w"] = append(column["x"], x), append(column["y"], float64(-row)), append(column["w"], float64(row%5))
		}
		must(t, b.SetCodes("group", codes))
		for name, v := range column {
			must(t, b.SetNumeric(name, v))
		}
		all = append(all, p)
	}
	return out, all
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func begun(t testing.TB, r *decompose.Result) *Examples {
	t.Helper()
	v := NewExamples([]string{"x", "group"}).WithID("group")
	must(t, v.Begin(r))
	return v
}

func mapped(t testing.TB, v *Examples, p *decompose.Parts) decompose.Sums {
	t.Helper()
	s, err := v.Map(p)
	must(t, err)
	return s.(decompose.Sums)
}

// TestExamplesInAnyOrder: the rows have the same bytes however chunks come, and are those
// of the largest remainders, the first of equal ones, and of the least hashes.
func TestExamplesInAnyOrder(t *testing.T) {
	r, chunks := chunked(t, 4000)
	v := begun(t, r)
	chunks = append(chunks[:4:4], append([]*decompose.Parts{sumstest.Empty(t, chunks[0]), nil}, chunks[4:]...)...)
	sums := func(i int) decompose.Sums {
		if chunks[i] == nil {
			return nil
		}
		return mapped(t, v, chunks[i])
	}
	sumstest.AnyOrder(t, len(chunks), 40, sums, DecodeSums)
	total := sumstest.Total(t, len(chunks), sums)
	sumstest.Damaged(t, examplesKind, sumstest.Bytes(t, total), DecodeSums)

	back, err := DecodeSums(examplesKind, sumstest.Bytes(t, total))
	must(t, err)
	must(t, v.Reduce(back))
	must(t, v.End(r))
	inOrder := *r
	w := begun(t, &inOrder)
	for i := range chunks {
		if s := sums(i); s != nil {
			must(t, w.Reduce(s))
		}
	}
	must(t, w.End(&inOrder))
	if a, b := encoded(t, r.Examples), encoded(t, inOrder.Examples); a != b {
		t.Errorf("read back %s, in order of rows %s", a, b)
	}
	var got []int64
	for _, row := range r.Examples.Rows {
		got = append(got, row.Row)
		if want := []string{"north", "south", "east"}[(row.Row-1)%3]; row.ID != want || row.Values[1] != want {
			t.Errorf("row %d of group %q: %q %v", row.Row, want, row.ID, row.Values)
		}
	}
	if diff := gocmp.Diff(wanted(v, chunks), got); diff != "" {
		t.Errorf("other rows: %s", diff)
	}
}

// wanted looks at all rows at once.
func wanted(v *Examples, chunks []*decompose.Parts) (rows []int64) {
	type row struct {
		number int64
		size   float64
	}
	var all []row
	for _, p := range chunks {
		if p == nil {
			continue
		}
		w, _ := p.Batch.Numeric("w")
		for i := range w {
			if w[i] > 0 {
				all = append(all, row{p.Batch.Row(i), v.size(p, i)})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b row) int { return cmp.Compare(b.size, a.size) })
	for _, r := range all[:largestRows] {
		rows = append(rows, r.number+1)
	}
	slices.SortFunc(all, func(a, b row) int { return cmp.Compare(rowhash.Of(a.number), rowhash.Of(b.number)) })
	all = all[:v.sampled]
	slices.SortFunc(all, func(a, b row) int { return cmp.Compare(a.number, b.number) })
	for _, r := range all {
		if !slices.Contains(rows[:largestRows], r.number+1) {
			rows = append(rows, r.number+1)
		}
	}
	return rows
}

func encoded(t testing.TB, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	must(t, err)
	return string(raw)
}

// TestOtherExamplesAreRefused: of other columns or terms; and a row that comes twice is not
// written.
func TestOtherExamplesAreRefused(t *testing.T) {
	r, chunks := chunked(t, 60)
	one := mapped(t, begun(t, r), chunks[0])
	terms := *r
	terms.Predictors = []decompose.Predictor{{Terms: make([]decompose.TermResult, 1)}, r.Predictors[1]}
	columns := NewExamples([]string{"y"})
	must(t, columns.Begin(r))
	for what, s := range map[string]decompose.Sums{"terms": mapped(t, begun(t, &terms), chunks[0]), "columns": mapped(t, columns, chunks[0])} {
		if err := one.Add(s); err == nil {
			t.Errorf("examples of other %s were added", what)
		}
	}
	must(t, one.Add(mapped(t, begun(t, r), chunks[0])))
	if _, err := one.MarshalBinary(); err == nil {
		t.Error("rows are there twice")
	}
	if fmt.Sprint(one.Kind()) != "examples/1" {
		t.Error(one.Kind())
	}
}

func FuzzDecodeSums(f *testing.F) {
	r, chunks := chunked(f, 20)
	f.Add(sumstest.Bytes(f, mapped(f, begun(f, r), chunks[0])))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, raw []byte) { sumstest.Read(t, examplesKind, raw, DecodeSums) })
}
