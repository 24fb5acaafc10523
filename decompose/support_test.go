package decompose_test

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// where is a black box of two numbers and two factors, one of text.
type where struct{}

func (where) Predictors() []string         { return []string{"eta"} }
func (where) Columns() []string            { return []string{"u", "v"} }
func (where) Intercept(int) float64        { return 0 }
func (where) Taps() map[string]int         { return nil }
func (where) Blocks(int) []decompose.Block { return nil }

func (where) Forward(_ context.Context, dst *decompose.Outputs, b *data.Batch) error {
	u, err := b.Numeric("u")
	if err != nil {
		return err
	}
	v, err := b.Numeric("v")
	if err != nil {
		return err
	}
	for i := range u {
		y := math.Sin(u[i]) + math.Tanh(v[i]/3) + 0.1*u[i]*v[i]
		dst.Zeta.Set(i, 0, y)
		dst.Eta.Set(i, 0, y)
	}
	return nil
}

type whereRows struct {
	u, v, period []float64
	region       []string
}

// whereTable has u on a diagonal of v, v skewed, and "rare" in one row of 400.
func whereTable(t *testing.T, n int) (*data.Table, *whereRows) {
	t.Helper()
	r := rand.New(rand.NewPCG(3, 7))
	x := &whereRows{make([]float64, n), make([]float64, n), make([]float64, n), make([]string, n)}
	for i := range n {
		x.u[i] = r.NormFloat64()
		x.v[i] = math.Exp(x.u[i] + 0.2*r.NormFloat64())
		x.period[i] = float64(1 + r.IntN(3))
		x.region[i] = []string{"east", "west"}[r.IntN(2)]
		if i%400 == 17 {
			x.region[i] = "rare"
		}
	}
	table := data.NewTable(n)
	for name, v := range map[string][]float64{"u": x.u, "v": x.v} {
		if err := table.AddNumeric(name, v); err != nil {
			t.Fatal(err)
		}
	}
	if err := table.AddFactor("period", x.period); err != nil {
		t.Fatal(err)
	}
	if err := table.AddTexts("region", x.region); err != nil {
		t.Fatal(err)
	}
	return table, x
}

func decomposeWhere(t *testing.T, table *data.Table, workers int) *decompose.Result {
	t.Helper()
	f, err := basis.Parse("~ te(u,v,k=4) + s(u, by=region, k=6) + s(v, by=period, k=6)", &basis.Options{Schema: table.Schema()})
	if err != nil {
		t.Fatal(err)
	}
	blocks, err := decompose.Prepare(context.Background(), table, f.Specs, where{}.Columns())
	if err != nil {
		t.Fatal(err)
	}
	m, err := decompose.With(where{}, map[string][]decompose.Block{"": blocks})
	if err != nil {
		t.Fatal(err)
	}
	r, err := decompose.Decompose(context.Background(), m, table, &decompose.Options{Resources: decompose.Resources{Workers: workers}})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestSupport: the last pass finds rows' positions like a plain loop over the rows, for
// any number of workers.
func TestSupport(t *testing.T) {
	const n = 9000
	table, x := whereTable(t, n)
	r := decomposeWhere(t, table, 1)

	if other := decomposeWhere(t, table, 3); !bytes.Equal(marshal(t, other), marshal(t, r)) {
		t.Error("three workers note other values than one")
	}
	for j := range r.Predictors[0].Terms {
		term := &r.Predictors[0].Terms[j]
		s := r.SupportOf(term)
		if s == nil {
			t.Fatalf("%s: no support", term.Name)
		}
		in := func(i int) bool { return true }
		if s.By == "region" {
			in = func(i int) bool { return x.region[i] == s.Level }
		} else if s.By == "period" {
			in = func(i int) bool { return data.LevelText(x.period[i]) == s.Level }
		}
		values := map[string][]float64{"u": x.u, "v": x.v}
		for _, side := range s.Sides {
			var own []float64
			for i, v := range values[side.Feature] {
				if in(i) {
					own = append(own, v)
				}
			}
			slices.Sort(own)
			if s.Rows != int64(len(own)) || side.Min != own[0] || side.Max != own[len(own)-1] {
				t.Errorf("%s: %d rows from %g to %g, want %d from %g to %g", term.Name, s.Rows, side.Min, side.Max, len(own), own[0], own[len(own)-1])
			}
		}
		if len(s.Sides) == 2 {
			checkCells(t, r, s, x)
		}
	}
	checkQuantiles(t, r, x)
}

func marshal(t *testing.T, r *decompose.Result) []byte {
	t.Helper()
	b, err := json.Marshal([]any{r.Features, r.Support})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// checkCells compares the cells of u and v with the rows.
func checkCells(t *testing.T, r *decompose.Result, s *decompose.Support, x *whereRows) {
	t.Helper()
	want := make([]byte, len(s.Cells))
	values := map[string][]float64{"u": x.u, "v": x.v}
	bin := func(name string, i int) int {
		v := values[name]
		lo, hi := slices.Min(v), slices.Max(v)
		return min(int((v[i]-lo)/(hi-lo)*decompose.SupportBins), decompose.SupportBins-1)
	}
	for i := range x.u {
		at := bin(s.Sides[0].Feature, i)*decompose.SupportBins + bin(s.Sides[1].Feature, i)
		want[at/8] |= 1 << (at % 8)
	}
	if len(want) != 512 {
		t.Errorf("%d bytes", len(want))
	}
	differ := 0
	for i := range want {
		if want[i] != s.Cells[i] {
			differ++
		}
	}
	if differ > 2 { // a value on an edge may round to either side
		t.Errorf("%d of %d bytes differ", differ, len(want))
	}
}

// checkQuantiles: a quantile is a value of a row, and as many rows as it says lie below it, up
// to what 2048 rows tell.
func checkQuantiles(t *testing.T, r *decompose.Result, x *whereRows) {
	t.Helper()
	sampled := map[string][]float64{}
	for _, f := range r.Features {
		sampled[f.Name] = f.Sample
		if f.Levels != nil {
			if f.Quantiles != nil {
				t.Errorf("%s has quantiles of levels", f.Name)
			}
			continue
		}
		v := slices.Clone(map[string][]float64{"u": x.u, "v": x.v}[f.Name])
		slices.Sort(v)
		if len(f.Quantiles) != 51 {
			t.Fatalf("%s: %d quantiles", f.Name, len(f.Quantiles))
		}
		for i, q := range f.Quantiles {
			at, found := slices.BinarySearch(v, q)
			if share := float64(at) / float64(len(v)-1); !found || math.Abs(share-float64(i)/50) > 0.04 {
				t.Errorf("%s: %g is to be the quantile of %d %%, and is that of %.1f %%", f.Name, q, 2*i, 100*share)
			}
		}
	}
	if len(sampled["u"]) != 400 || len(sampled["v"]) != 400 || sampled["region"] != nil {
		t.Fatalf("samples of %d, %d and %d rows", len(sampled["u"]), len(sampled["v"]), len(sampled["region"]))
	}
	for i, u := range sampled["u"] { // of the same rows
		if at := slices.Index(x.u, u); at < 0 || x.v[at] != sampled["v"][i] {
			t.Fatalf("row %d of the sample is none of the rows", i)
		}
	}
}

// TestSupportRead: a file that says of rows what cannot be is refused, not drawn.
func TestSupportRead(t *testing.T) {
	table, _ := whereTable(t, 600)
	r := decomposeWhere(t, table, 1)
	var doc bytes.Buffer
	var stats bytes.Buffer
	if err := r.EncodeMoments(&stats); err != nil {
		t.Fatal(err)
	}
	if err := r.Encode(&doc); err != nil {
		t.Fatal(err)
	}
	again, err := decompose.Read(bytes.NewReader(doc.Bytes()), bytes.NewReader(stats.Bytes()), basis.Decode)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(marshal(t, again), marshal(t, r)) {
		t.Error("what was read differs")
	}
	for want, spoil := range map[string]func(r *decompose.Result){
		"quantiles that do not ascend": func(r *decompose.Result) { r.Features[0].Quantiles[3] = math.MaxFloat64 },
		"its sample has":               func(r *decompose.Result) { r.Features[1].Sample = r.Features[1].Sample[1:] },
		"of which nothing is known":    func(r *decompose.Result) { r.Support[0].Sides[0].Feature = "w" },
		"bytes of cells":               func(r *decompose.Result) { r.Support[0].Cells = r.Support[0].Cells[1:] },
	} {
		bad, err := decompose.Read(bytes.NewReader(doc.Bytes()), bytes.NewReader(stats.Bytes()), basis.Decode)
		if err != nil {
			t.Fatal(err)
		}
		spoil(bad)
		var spoilt bytes.Buffer
		if err := bad.Encode(&spoilt); err != nil {
			t.Fatal(err)
		}
		if _, err := decompose.Read(&spoilt, bytes.NewReader(stats.Bytes()), basis.Decode); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error of %q, got %v", want, err)
		}
	}
}
