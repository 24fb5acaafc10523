package report_test

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/family"
	"github.com/pho-go/pho/report"
)

// withExamples decomposes rows of three kinds of columns, weighted, and keeps examples.
func withExamples(t testing.TB, src data.Source, workers int, heads ...string) *decompose.Result {
	t.Helper()
	m := structured(t, &network{heads: heads}, src, `~ s(x0, bs="cr") + dow + group`)
	o := &decompose.Options{Family: family.Gaussian{}, Columns: decompose.Columns{Response: "y", Weights: "w"}, Resources: decompose.Resources{Workers: workers}}
	if len(heads) > 1 {
		o.Family = family.GaussianLS{}
	}
	r, _ := decomposed(t, m, src, o, report.NewExamples(m.Columns()))
	return r
}

// weighted are rows of which every third has weight 0.
func weighted(t testing.TB, n int) *data.Table {
	t.Helper()
	src := rows(t, n)
	w := make([]float64, n)
	for i := range w {
		w[i] = float64(i % 3)
	}
	must(t, src.AddNumeric("w", w))
	return src
}

// TestExamples: the rows of the largest remainder come first, the sample is of as many rows
// as are wanted, all with the parts of the passes; rows of weight 0 are not among them.
func TestExamples(t *testing.T) {
	src := weighted(t, 20_000)
	r := withExamples(t, src, 0, "eta")
	e := r.Examples
	if e == nil || e.Largest != 10 || len(e.Rows) < 55 || len(e.Rows) > 60 {
		t.Fatalf("%d rows of %d columns, %d the largest", len(e.Rows), len(e.Columns), e.Largest)
	}
	if !slices.Equal(e.Columns, []string{"x0", "x1", "x2", "x3", "dow", "group"}) {
		t.Errorf("columns %q", e.Columns)
	}
	m := structured(t, &network{heads: []string{"eta"}}, src, `~ s(x0, bs="cr") + dow + group`)
	a, err := r.Applier(m)
	must(t, err)
	d, group := &r.Predictors[0], []string{}
	var largest []float64
	at := map[int64]decompose.Example{}
	for _, row := range e.Rows {
		at[row.Row] = row
		group = append(group, row.Values[5].(string))
	}
	if len(at) != len(e.Rows) || !slices.Contains(group, "north") || !slices.Contains(group, "east") {
		t.Error("rows are kept twice, or levels are missing")
	}
	for p, err := range a.All(context.Background(), src) {
		must(t, err)
		x0, _ := p.Batch.Numeric("x0")
		for i := range p.Batch.Rows() {
			number := p.Batch.Row(i) + 1
			if (number-1)%3 > 0 {
				largest = append(largest, math.Abs(p.Predictors[0].Unstructured[i]))
			}
			row, ok := at[number]
			if !ok {
				continue
			}
			if (number-1)%3 == 0 || *row.Weight != float64((number-1)%3) {
				t.Errorf("row %d of weight %v", number, *row.Weight)
			}
			sum := d.Intercept + row.Parts[0].Unstructured
			for j, v := range row.Parts[0].Terms {
				sum += v
				if want := p.Predictors[0].Row(i)[j]; math.Abs(v-want) > 1e-5*math.Abs(want) {
					t.Errorf("row %d: %v of %s, want %v", number, v, d.Terms[j].Name, want)
				}
			}
			if math.Abs(sum-row.Parts[0].Eta) > 1e-4 || row.Values[0].(float64) != x0[i] {
				t.Errorf("row %d: the parts add up to %v, eta is %v", number, sum, row.Parts[0].Eta)
			}
		}
	}
	slices.Sort(largest)
	slices.Reverse(largest)
	for i, row := range e.Rows[:10] {
		if got := math.Abs(row.Parts[0].Unstructured); math.Abs(got-largest[i]) > 1e-5*got {
			t.Errorf("remainder %d is %v, want %v", i, got, largest[i])
		}
	}
	if sample := e.Rows[10:]; !slices.IsSortedFunc(sample, func(a, b decompose.Example) int { return int(a.Row - b.Row) }) || sample[len(sample)-1].Row < 15_000 {
		t.Error("the sample is not in order of the data, or not of all of them")
	}
}

// TestExamplesDoNotDependOnWorkers: nor on the batches of the source.
func TestExamplesDoNotDependOnWorkers(t *testing.T) {
	src := weighted(t, 30_000)
	one, err := json.Marshal(withExamples(t, src, 1, "mu", "sigma").Examples)
	must(t, err)
	three, err := json.Marshal(withExamples(t, src, 3, "mu", "sigma").Examples)
	must(t, err)
	if !bytes.Equal(one, three) {
		t.Error("other rows with three workers")
	}
}

// TestExamplesOnPage: the server draws the first rows, the script gets all; both survive
// the artifact, and a result that somebody wrote otherwise is not trusted.
func TestExamplesOnPage(t *testing.T) {
	r := withExamples(t, weighted(t, 3000), 0, "mu", "sigma")
	r.SetHeads([]string{"", "exp"})
	var doc bytes.Buffer
	must(t, r.Encode(&doc))
	again, err := decompose.Read(&doc, nil, decodeAny)
	must(t, err)
	page := pageOf(t, again, nil)
	contains(t, page, "Single rows", "rows are stored with this report", "among the largest remainders; y is", "how its parts add up to sigma", "the deep remainder: all columns at once", "exp of it", "group = ")
	if n := strings.Count(page, `<details class="example"`); n != 3 {
		t.Errorf("%d rows are drawn", n)
	}
	_, raw, _ := taken(t, page)
	var island struct {
		Predictors []struct {
			Response *struct{ Function string }
			Terms    []string
		}
		Rows struct {
			Columns []string
			Largest int
			Rows    []struct{ Parts [][]float64 }
		}
	}
	must(t, json.Unmarshal([]byte(raw), &island))
	if got := island.Rows; len(got.Rows) != len(r.Examples.Rows) || got.Largest != 10 || len(got.Rows[0].Parts) != 2 || len(got.Rows[0].Parts[1]) != len(r.Predictors[1].Terms)+2 {
		t.Errorf("the script gets %d rows", len(got.Rows))
	}
	if island.Predictors[0].Response != nil || island.Predictors[1].Response == nil || island.Predictors[1].Response.Function != "exp" {
		t.Error("mu has the identity, sigma exp")
	}
	again.Examples.Rows[7].Parts[0].Terms = nil
	if !strings.Contains(text(pageOf(t, again, nil)), "No rows are stored with this result") {
		t.Error("rows of another shape are drawn")
	}
}

func decodeAny(k decompose.Kind, spec json.RawMessage) (decompose.Term, error) {
	return basis.Decode(k, spec)
}

// Rows that a column names are called so on the page and in the script's data, and can be
// searched by that name.
func TestRowsAreCalledByTheirID(t *testing.T) {
	m, src := &network{heads: []string{"eta"}}, rows(t, 80)
	names := make([]string, 80)
	for i := range names {
		names[i] = "case <" + strconv.Itoa(i+1) + ">"
	}
	must(t, src.AddTexts("name", names))
	r, _ := decomposed(t, m, src, nil, report.NewExamples(m.Columns()).WithID("name"))
	for _, row := range r.Examples.Rows {
		if row.ID != names[row.Row-1] {
			t.Errorf("row %d is called %q", row.Row, row.ID)
		}
	}
	first := r.Examples.Rows[0]
	page := string(pageOf(t, r, nil))
	for _, want := range []string{"case &lt;" + strconv.FormatInt(first.Row, 10) + "&gt; (data row ", `"id":"case \u003c` + strconv.FormatInt(first.Row, 10) + `\u003e"`, "name or number of a row"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}
