package wiring

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"iter"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/decompose/sumstest"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// held are rows in memory, some of all; nil batch: none may be read.
type held struct {
	schema data.Schema
	batch  *data.Batch
	size   int // of batches
}

func (h held) Schema() data.Schema { return slices.Clone(h.schema) }

func (h held) Batches(context.Context, []string) iter.Seq2[*data.Batch, error] {
	return func(yield func(*data.Batch, error) bool) {
		if h.batch == nil {
			yield(nil, errors.New("rows were read that are not here"))
			return
		}
		for at := 0; at < h.batch.Rows(); at += h.size {
			if !yield(h.batch.Slice(at, min(at+h.size, h.batch.Rows())), nil) {
				return
			}
		}
	}
}

// all are the rows of a source as one batch, less those that are dropped.
func all(t *testing.T, src data.Source, drop func(row int64) bool) held {
	t.Helper()
	h := held{schema: src.Schema(), size: 1000}
	var rows []int64
	for b, err := range data.Rebatch(src.Batches(t.Context(), src.Schema().Names()), 1<<30) {
		must(t, err)
		kept := map[string][]float64{}
		codes := map[string][]int32{}
		for i := range b.Rows() {
			if drop(b.Row(i)) {
				continue
			}
			rows = append(rows, b.Row(i))
			for _, c := range h.schema {
				if c.Numeric {
					x, err := b.Numeric(c.Name)
					must(t, err)
					kept[c.Name] = append(kept[c.Name], x[i])
				}
				if c.Categorical {
					x, err := b.Codes(c.Name)
					must(t, err)
					codes[c.Name] = append(codes[c.Name], x.Index[i])
				}
			}
		}
		h.batch = data.NewBatch(len(rows), 0)
		must(t, h.batch.SetRows(rows))
		for _, c := range h.schema {
			if c.Numeric {
				must(t, h.batch.SetNumeric(c.Name, kept[c.Name]))
			}
			if c.Categorical {
				x, err := b.Codes(c.Name)
				must(t, err)
				must(t, h.batch.SetCodes(c.Name, data.Codes{Index: codes[c.Name], Levels: x.Levels}))
			}
		}
	}
	return h
}

// shards cuts the rows at multiples of 4096 row numbers; the second is empty.
func (h held) shards(r *rand.Rand) (shards []held) {
	at, n := 0, h.batch.Rows()
	for at < n {
		end := (h.batch.Row(at)/4096 + 1 + r.Int64N(2)) * 4096
		next := at
		for next < n && h.batch.Row(next) < end {
			next++
		}
		shards = append(shards, held{h.schema, h.batch.Slice(at, next), 1 + r.IntN(3000)})
		if at == 0 {
			shards = append(shards, held{h.schema, h.batch.Slice(next, next), 10})
		}
		at = next
	}
	return shards
}

// replay makes ready by totals that shards have looked up, each in a process of its own, and reads no rows
// then. It returns the names of the looks.
func replay(t *testing.T, rows held, request func(src data.Source, scans decompose.Scans) *Request) (*Ready, *Request, []string) {
	t.Helper()
	r := rand.New(rand.NewPCG(uint64(rows.batch.Rows()), 1))
	recorded := decompose.Recorded{}
	var names []string
	for {
		q := request(held{schema: rows.schema}, recorded)
		ready, err := q.Ready(t.Context())
		var needed *decompose.ScanNeeded
		if !errors.As(err, &needed) {
			must(t, err)
			return ready, q, names
		}
		if names = append(names, needed.Name); len(names) > 8 {
			t.Fatalf("looks without end: %q", names)
		}
		var shares [][]byte
		for _, shard := range rows.shards(r) {
			_, err := request(shard, recorded).Ready(t.Context())
			var own *decompose.ScanNeeded
			if !errors.As(err, &own) || own.Name != needed.Name || !slices.Equal(own.Columns, needed.Columns) {
				t.Fatalf("a shard has %v, the others %v", err, needed)
			}
			seen, err := own.Accumulate(t.Context(), own.Rows)
			must(t, err)
			raw, err := seen.MarshalBinary()
			must(t, err)
			shares = append(shares, raw)
		}
		if recorded[needed.Name], err = decompose.DecodeScanned(sumstest.MergeScanned(t, shares, DecodeSums, r), DecodeSums); err != nil {
			t.Fatal(err)
		}
	}
}

// checkReplay compares the parts that replay prepares with the parts that one process prepares
// from all rows.
func checkReplay(t *testing.T, rows held, request func(src data.Source, scans decompose.Scans) *Request, looks ...string) {
	t.Helper()
	got, asked, names := replay(t, rows, request)
	if !slices.Equal(names, looks) {
		t.Errorf("the looks are %q, want %q", names, looks)
	}
	q := request(rows, nil)
	want, err := q.Ready(t.Context())
	must(t, err)
	blocks := func(m decompose.Model) []byte {
		var each [][]decompose.Block
		for k := range m.Predictors() {
			each = append(each, slices.DeleteFunc(slices.Clone(m.Blocks(k)), func(b decompose.Block) bool { _, ok := b.Term.(json.Marshaler); return !ok }))
		}
		raw, err := decompose.EncodeBlocks(each)
		must(t, err)
		return raw
	}
	if !bytes.Equal(blocks(got.Model), blocks(want.Model)) {
		t.Errorf("the terms are\n%.300s\nwant\n%.300s", blocks(got.Model), blocks(want.Model))
	}
	if !slices.Equal(got.Notes, want.Notes) || !slices.Equal(got.Chosen, want.Chosen) || !slices.Equal(got.LeftOut, want.LeftOut) || !slices.Equal(got.formulas, want.formulas) {
		t.Errorf("notes and formulas %q, %q, %q, want %q, %q, %q", got.Notes, got.Chosen, got.LeftOut, want.Notes, want.Chosen, want.LeftOut)
	}
	if !reflect.DeepEqual(asked.Options.Family, q.Options.Family) {
		t.Errorf("the family is %v, want %v", asked.Options.Family, q.Options.Family)
	}
	if want.sample != nil {
		a, err := got.sample.MarshalBinary()
		must(t, err)
		b, err := want.sample.MarshalBinary()
		must(t, err)
		if !bytes.Equal(a, b) {
			t.Error("the sample of rows for pairs is another")
		}
	}
}

// asking is a request of the network, with formulas, of a family.
func asking(t *testing.T, network string, inputs map[string][]string, family string, response string, factors []string, formulas ...string) func(data.Source, decompose.Scans) *Request {
	n, err := Load(network, 0)
	must(t, err)
	return func(src data.Source, scans decompose.Scans) *Request {
		coded, err := Coded(FilesOf(src), n.Graph)
		must(t, err)
		return &Request{
			Network: n, Rows: coded, Inputs: inputs, Open: &onnx.Options{}, Formulas: formulas, Factors: factors, Family: family, Drops: true, Cache: MaxCached,
			Options: &decompose.Options{Columns: decompose.Columns{Response: response}}, Scans: scans,
		}
	}
}

const blackMLP = "../../../testdata/zoo/networks/sklearn/mlp.onnx"

// TestReplay: on rows made up for the purpose, with a "." in the formulas and an unknown shape.
func TestReplay(t *testing.T) {
	const n = 15_000
	r := rand.New(rand.NewPCG(4, 4))
	tab := data.NewTable(n)
	columns := map[string][]float64{}
	text := make([]string, n)
	for _, name := range []string{"a", "b", "c", "on", "off", "y"} {
		columns[name] = make([]float64, n)
	}
	for i := range n {
		columns["a"][i], columns["b"][i], columns["c"][i] = math.Round(r.NormFloat64()*20)/20, math.Round(r.ExpFloat64()*4)/4, float64(i)+7
		columns["on"][i] = float64(r.IntN(2))
		columns["off"][i] = 1 - columns["on"][i]
		columns["y"][i] = math.Floor(r.ExpFloat64() * 2)
		text[i] = []string{"x", "y", "z"}[r.IntN(3)]
	}
	for _, name := range []string{"a", "b", "c", "on", "off", "y"} {
		must(t, tab.AddNumeric(name, columns[name]))
	}
	must(t, tab.AddTexts("g", text))
	bind := map[string][]string{"X": {"a", "b", "off", "on"}}
	for _, rows := range []held{all(t, tab, func(int64) bool { return false }), all(t, tab, func(row int64) bool { return row%3 == 1 || row/4096 == 1 })} {
		checkReplay(t, rows, asking(t, blackMLP, bind, "negative-binomial", "y", nil, `y ~ . + s(b, g, bs="fs", k=4) + ti(a, b, k=4) + g:factor(on)`),
			"choice of terms", "terms", "terms 2", "family")
		checkReplay(t, rows, asking(t, blackMLP, map[string][]string{"X": {"a", "b", "c", "on"}}, "", "", nil), "choice of terms", "terms")
	}
}

func sharedData(t *testing.T, file string) data.Source {
	t.Helper()
	shared := os.Getenv("PHO_SHARED")
	if shared == "" {
		shared = filepath.Join("..", "..", "..", "..", "shared")
	}
	path := filepath.Join(shared, "data", file)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		t.Skipf("%s is not there", path)
	}
	src, err := data.OpenCSV([]string{path}, nil)
	must(t, err)
	t.Cleanup(func() { src.Close() })
	return src
}

// TestReplayBike: real rows, numbers as factors, every sort of basis.
func TestReplayBike(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some ten seconds")
	}
	rows := all(t, sharedData(t, "bike_hour.csv.gz"), func(row int64) bool { return row%50 == 7 })
	bind := map[string][]string{"X": {"temp", "hum", "windspeed", "hr"}}
	checkReplay(t, rows, asking(t, blackMLP, bind, "negative-binomial", "cnt", []string{"weathersit", "weekday"},
		`cnt ~ . + weathersit + factor(mnth) + weekday:workingday + s(atemp, bs="ps") + s(hr, bs="cc", k=8, by=weekday) + s(temp, hum, k=20) + te(temp, hr, k=4)
			+ ti(temp, windspeed, k=4) + s(weekday, bs="re") + s(hum, weekday, bs="fs", k=5) + te(hum, weathersit, bs=c("cr","re"), k=4)`),
		"choice of terms", "terms", "terms 2", "family")
	checkReplay(t, rows, asking(t, blackMLP, bind, "", "", nil, `~ s(day_index) + s(hr, bs="cp", k=8) + s(temp, bs="rbf") + s(temp, hum, bs="rbf", k=10) + s(windspeed, bs="cs", k=6) + s(atemp, bs="bs")`), "terms")
}

// TestReplayOrdinal: the levels of a response that the network's thresholds are of.
func TestReplayOrdinal(t *testing.T) {
	var golden struct {
		X     [][]float64
		Cases []struct {
			Name  string
			Model []byte
			Y     []int
		}
	}
	text, err := os.ReadFile("../../../testdata/golden/ordinal.json")
	must(t, err)
	must(t, json.Unmarshal(text, &golden))
	c := golden.Cases[1]
	network := filepath.Join(t.TempDir(), "ordinal.onnx")
	must(t, os.WriteFile(network, c.Model, 0o600))
	tab := data.NewTable(len(golden.X))
	for j, name := range []string{"x1", "x2", "x3"} {
		x := make([]float64, len(golden.X))
		for i := range x {
			x[i] = golden.X[i][j]
		}
		must(t, tab.AddNumeric(name, x))
	}
	y := make([]float64, len(golden.X))
	for i := range y {
		y[i] = float64(10*c.Y[i] - 7)
	}
	must(t, tab.AddNumeric("rating", y))
	rows := all(t, tab, func(int64) bool { return false })
	checkReplay(t, rows, asking(t, network, map[string][]string{"x": {"x1", "x2", "x3"}}, "ordinal", "rating", nil, "~ x1 + s(x2, k=5)"), "response", "terms")
}

// TestScanNeeded: what is missing is named.
func TestScanNeeded(t *testing.T) {
	tab := data.NewTable(50)
	for _, name := range []string{"a", "b", "c", "d"} {
		x := make([]float64, 50)
		for i := range x {
			x[i] = float64(i * len(name) % 7)
		}
		must(t, tab.AddNumeric(name, x))
	}
	_, err := asking(t, blackMLP, map[string][]string{"X": {"a", "b", "c", "d"}}, "", "", nil, "~ s(a)")(tab, decompose.Recorded{}).Ready(t.Context())
	if err == nil || !strings.Contains(err.Error(), "have not been looked at for the terms") {
		t.Error(err)
	}
}

// TestManyResponses: of many, the smallest are kept, in any order.
func TestManyResponses(t *testing.T) {
	a, b := &responses{column: "y"}, &responses{column: "y"}
	for i := range 3 * mostResponses {
		a.take(float64(i * 7919 % (3 * mostResponses)))
		b.take(float64(i))
	}
	b.take(math.NaN())
	if !slices.Equal(a.values, b.values) || len(a.values) != mostResponses || a.values[mostResponses-1] != mostResponses-1 {
		t.Errorf("%d and %d values", len(a.values), len(b.values))
	}
}
