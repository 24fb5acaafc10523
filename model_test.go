package pho_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/pho-go/pho"
	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// tariff is the price of a parcel: a model that is no file.
type tariff struct{ columns []string }

var parcel = tariff{[]string{"weight", "distance", "zone"}}

func (tariff) Predictors() []string         { return []string{"price"} }
func (m tariff) Columns() []string          { return m.columns }
func (tariff) Intercept(int) float64        { return 0 }
func (tariff) Blocks(int) []decompose.Block { return nil }
func (tariff) Taps() map[string]int         { return nil }

func (m tariff) Forward(ctx context.Context, dst *decompose.Outputs, b *data.Batch) error {
	weight, err := b.Numeric("weight")
	if err != nil {
		return err
	}
	distance, err := b.Numeric("distance")
	if err != nil {
		return err
	}
	zone, err := b.Texts("zone")
	if err != nil {
		return err
	}
	for i, w := range weight {
		price := 3*math.Sqrt(w) + 0.01*distance[i] + map[string]float64{"abroad": 7, "island": 2}[zone(i)]
		if w > 10 && distance[i] > 500 {
			price += 4
		}
		dst.Eta.Set(i, 0, price)
		dst.Zeta.Set(i, 0, price)
	}
	return ctx.Err()
}

// parcels are rows for tariff.
func parcels(t *testing.T, n int) *data.Table {
	t.Helper()
	weight, distance, price, zone := make([]float64, n), make([]float64, n), make([]float64, n), make([]string, n)
	for i := range n {
		weight[i], distance[i] = float64(i*37%401)/20, float64(i*101%1009)
		price[i] = 3*math.Sqrt(weight[i]) + 0.012*distance[i]
		zone[i] = []string{"home", "abroad", "island"}[i*i%7%3]
	}
	rows := data.NewTable(n)
	err := errors.Join(rows.AddNumeric("weight", weight), rows.AddNumeric("distance", distance), rows.AddTexts("zone", zone), rows.AddNumeric("price", price))
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// A model that is no file is decomposed, written, read with the model and applied.
func TestModel(t *testing.T) {
	rows := parcels(t, 2000)
	d, err := pho.DecomposeModel(t.Context(), parcel, rows, &pho.Options{Formula: "price ~ zone + s(weight) + s(distance)"})
	if err != nil {
		t.Fatal(err)
	}
	r := d.Result
	if got := termNames(r); !slices.Equal(got, []string{"zone", "s(weight)", "s(distance)"}) || r.Prediction == nil || len(r.Predictors[0].Remainder.Pairs) == 0 {
		t.Errorf("terms %q, prediction %v, remainder %+v", got, r.Prediction, r.Predictors[0].Remainder)
	}
	if _, own := d.Model.(tariff); d.Network != nil || !own {
		t.Errorf("network %v, model %v", d.Network, d.Model)
	}
	dir := filepath.Join(t.TempDir(), "result")
	if err := d.Write(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	if got, want := string(artifact(t, dir)["model"]), `{"kind":"function","columns":["weight","distance","zone"]}`; compact(t, got) != want {
		t.Errorf("the artifact says of its model %s, want %s", got, want)
	}
	if page, err := os.ReadFile(filepath.Join(dir, "report.html")); err != nil || !bytes.Contains(page, []byte("s(weight)")) {
		t.Errorf("a report of %d bytes: %v", len(page), err)
	}
	again, err := pho.ReadModel(dir, parcel)
	if err != nil {
		t.Fatal(err)
	}
	more := parcels(t, 300)
	if got, want := sums(t, again, more), sums(t, d, more); got != want || want == 0 {
		t.Errorf("the unstructured parts sum to %g after reading, %g before", got, want)
	}
	for p, err := range again.Parts(t.Context(), more) {
		if err != nil {
			t.Fatal(err)
		}
		own := p.Predictors[0]
		for i, eta := range own.Eta {
			sum := own.Intercept + own.Unstructured[i]
			for _, x := range own.Terms.RawRowView(i) {
				sum += x
			}
			if math.Abs(sum-eta) > 1e-10 {
				t.Fatalf("row %d: the parts sum to %g, not to %g", i, sum, eta)
			}
		}
	}
	if err := again.Write(t.Context(), dir); err != nil { // over itself
		t.Error(err)
	}
	for name, c := range map[string]struct {
		read func() (*pho.Decomposition, error)
		want string
	}{
		"without the model": {func() (*pho.Decomposition, error) { return pho.Read(dir) }, "no file, but a value of the Go program that decomposed it"},
		"with a network":    {func() (*pho.Decomposition, error) { return pho.ReadONNX(dir, openNetwork(t)) }, "no file, but a value of the Go program"},
		"with another model": {func() (*pho.Decomposition, error) { return pho.ReadModel(dir, tariff{parcel.columns[:2]}) },
			`the model reads the columns ["weight" "distance"], and the one that was decomposed ["weight" "distance" "zone"]`},
		"with other predictors": {func() (*pho.Decomposition, error) { return pho.ReadModel(dir, renamed{parcel}) }, `predictor 1 is "price" in the decomposition, "cost" in the model`},
	} {
		if _, err := c.read(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("read %s: %v, want %q", name, err, c.want)
		}
	}
	var surrogate bytes.Buffer
	if err := d.WriteONNX(&surrogate); err != nil || surrogate.Len() == 0 {
		t.Errorf("written as a surrogate: %v", err)
	}
}

// renamed is tariff with another predictor.
type renamed struct{ tariff }

func (renamed) Predictors() []string { return []string{"cost"} }

// Terms of a model without terms and formula are chosen, with the pairs that it has, pairs are added to a formula, and what only networks
// have is refused.
func TestModelOptions(t *testing.T) {
	rows := parcels(t, 2000)
	d, err := pho.DecomposeModel(t.Context(), parcel, rows, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := termNames(d.Result); !slices.Equal(got, []string{"s(weight)", "s(distance)", "zone", "ti(weight,distance)"}) {
		t.Errorf("chosen terms %q", got)
	}
	if d, err = pho.DecomposeModel(t.Context(), parcel, rows, &pho.Options{Formula: "~ . - zone", Interactions: 1}); err != nil {
		t.Fatal(err)
	}
	if got := termNames(d.Result); !slices.Equal(got, []string{"s(weight)", "s(distance)", "ti(weight,distance)"}) {
		t.Errorf("terms of . and a pair %q", got)
	}
	for name, c := range map[string]struct {
		o    pho.Options
		want string
	}{
		"inputs":    {pho.Options{Inputs: map[string][]string{"x": {"weight"}}}, "inputs: the model is no ONNX file"},
		"reference": {pho.Options{Reference: "home"}, "reference: the model is no ONNX file"},
		"formula":   {pho.Options{Formula: "~ s(weigt)"}, `there is no column "weigt"; did you mean "weight"?`},
	} {
		if _, err := pho.DecomposeModel(t.Context(), parcel, rows, &c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if _, err := pho.DecomposeModel(t.Context(), nil, rows, nil); err == nil {
		t.Error("no model was decomposed")
	}
	_, err = pho.DecomposeModel(t.Context(), tariff{[]string{"weigth"}}, rows, nil)
	var missing *data.MissingColumnError
	if !errors.As(err, &missing) || missing.Nearest() != "weight" {
		t.Errorf("a column that the model reads and the data have not: %v", err)
	}
}

// A network by path, by bytes and by a reader gives the same result, but for where it is.
func TestNetworkFromReader(t *testing.T) {
	raw, err := os.ReadFile(network)
	if err != nil {
		t.Fatal(err)
	}
	o := &pho.Options{Formula: "y ~ s(x1)", ExportONNX: true}
	rows, temp := draw(1, 1000), t.TempDir()
	write := func(name string, d *pho.Decomposition, err error) string {
		t.Helper()
		dir := filepath.Join(temp, name)
		if err == nil {
			err = d.Write(t.Context(), dir)
		}
		if err != nil {
			t.Fatal(err)
		}
		return dir
	}
	d, err := pho.Decompose(t.Context(), network, rows, o)
	byPath := write("path", d, err)
	d, err = pho.DecomposeONNX(t.Context(), bytes.NewReader(raw), rows, o)
	byBytes := write("bytes", d, err)
	d, err = pho.DecomposeONNX(t.Context(), iotest.OneByteReader(openNetwork(t)), rows, o)
	byReader := write("reader", d, err)
	want := artifact(t, byPath)
	for _, dir := range []string{byBytes, byReader} {
		for _, name := range []string{"moments.bin", "effects.csv", "adapted.onnx"} {
			a, errA := os.ReadFile(filepath.Join(byPath, name))
			b, errB := os.ReadFile(filepath.Join(dir, name))
			if errors.Join(errA, errB) != nil || !bytes.Equal(a, b) {
				t.Errorf("%s differs: %v, %v", name, errA, errB)
			}
		}
		got := artifact(t, dir)
		for name := range want {
			if same := compact(t, string(got[name])) == compact(t, string(want[name])); same == (name == "model" || name == "sha256") {
				t.Errorf("%s: %s: the same is %v", dir, name, same)
			}
		}
		var model, byFile map[string]any
		if err := errors.Join(json.Unmarshal(got["model"], &model), json.Unmarshal(want["model"], &byFile)); err != nil {
			t.Fatal(err)
		}
		byFile["path"] = ""
		if diff := cmp.Diff(byFile, model); diff != "" {
			t.Error(diff)
		}
		// It is read with its network, and no other.
		if _, err := pho.Read(dir); err == nil || !strings.Contains(err.Error(), "read from a stream") {
			t.Errorf("without the network: %v", err)
		}
		if _, err := pho.ReadONNX(dir, strings.NewReader("no network")); err == nil {
			t.Error("something else was taken for the network")
		}
		other, err := os.Open("testdata/zoo/networks/sklearn/impute.onnx")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := pho.ReadONNX(dir, other); err == nil || !strings.Contains(err.Error(), "is not the network of this decomposition") {
			t.Errorf("another network: %v", err)
		}
		other.Close()
		if _, err := pho.ReadModel(dir, parcel); err == nil || !strings.Contains(err.Error(), "is of an ONNX network") {
			t.Errorf("a model: %v", err)
		}
		again, err := pho.ReadONNX(dir, bytes.NewReader(raw))
		if err != nil {
			t.Fatal(err)
		}
		if got, want := sums(t, again, rows), sums(t, d, rows); got != want {
			t.Errorf("the unstructured parts sum to %g after reading, %g before", got, want)
		}
		var adapted bytes.Buffer
		if err := again.WriteONNX(&adapted); err != nil || adapted.Len() == 0 {
			t.Errorf("the network with its parts: %d bytes, %v", adapted.Len(), err)
		}
	}
	// So is one that was decomposed by its path.
	if _, err := pho.ReadONNX(byPath, bytes.NewReader(raw)); err != nil {
		t.Error(err)
	}
	if _, err := pho.DecomposeONNX(t.Context(), iotest.ErrReader(os.ErrClosed), rows, nil); !errors.Is(err, os.ErrClosed) {
		t.Errorf("a reader that fails: %v", err)
	}
}

// Errors that a program may react to keep their types, whatever they come through.
func TestTypedErrors(t *testing.T) {
	rows := draw(1, 1000)
	var (
		column   *data.MissingColumnError
		operator *onnx.UnsupportedOperatorError
		level    *data.UnseenLevelError
		binding  *onnx.AmbiguousBindingError
	)
	for name, o := range map[string]*pho.Options{
		"response": {Response: "yy"}, "formula": {Formula: "~ s(yy)"}, "input": {Inputs: map[string][]string{"x": {"yy"}}}, "weights": {Weights: "yy"},
	} {
		if _, err := pho.Decompose(t.Context(), network, rows, o); !errors.As(err, &column) || column.Column != "yy" || column.Nearest() != "y" {
			t.Errorf("%s: %v", name, err)
		}
	}
	unsupported := replaceOnce(t, network, "\x22\x04Gemm", "\x22\x04Gumm") // op_type of a node
	if _, err := pho.Decompose(t.Context(), unsupported, rows, &pho.Options{Response: "y"}); !errors.As(err, &operator) {
		t.Errorf("an operator that nobody knows: %v", err)
	}
	few := data.NewTable(3)
	if err := few.AddNumeric("x0", []float64{1, 2, 3}); err != nil {
		t.Fatal(err)
	}
	if _, err := pho.Decompose(t.Context(), network, few, nil); !errors.As(err, &binding) {
		t.Errorf("too few columns: %v", err)
	}

	d, err := pho.DecomposeModel(t.Context(), parcel, parcels(t, 1000), &pho.Options{Formula: "~ zone"})
	if err != nil {
		t.Fatal(err)
	}
	unseen := data.NewTable(1)
	if err := errors.Join(unseen.AddNumeric("weight", []float64{1}), unseen.AddNumeric("distance", []float64{1}), unseen.AddTexts("zone", []string{"moon"})); err != nil {
		t.Fatal(err)
	}
	if err := partsError(t, d, unseen); !errors.As(err, &level) || level.Level != "moon" {
		t.Errorf("a level that was not there: %v", err)
	}
	if err := partsError(t, d, few); !errors.As(err, &column) || column.Column == "yy" {
		t.Errorf("rows without the columns: %v", err)
	}

	dir := filepath.Join(t.TempDir(), "result")
	if d, err = pho.Decompose(t.Context(), network, rows, &pho.Options{Response: "y"}); err != nil {
		t.Fatal(err)
	}
	if err := d.Write(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	edited := replaceOnce(t, filepath.Join(dir, "decomposition.json"), `"rows": 1000`, `"rows": 1001`)
	if err := os.Rename(edited, filepath.Join(dir, "decomposition.json")); err != nil {
		t.Fatal(err)
	}
	for name, read := range map[string]func() (*pho.Decomposition, error){
		"Read": func() (*pho.Decomposition, error) { return pho.Read(dir) }, "ReadONNX": func() (*pho.Decomposition, error) { return pho.ReadONNX(dir, openNetwork(t)) },
		"ReadModel": func() (*pho.Decomposition, error) { return pho.ReadModel(dir, parcel) },
	} {
		if _, err := read(); !errors.Is(err, decompose.ErrDigest) {
			t.Errorf("%s of an edited result: %v", name, err)
		}
	}
}

// partsError is the error that the parts of the rows end in.
func partsError(t *testing.T, d *pho.Decomposition, rows data.Source) error {
	t.Helper()
	for _, err := range d.Parts(t.Context(), rows) {
		if err != nil {
			return err
		}
	}
	return nil
}

// replaceOnce is a copy of the file with a text of the same length in place of another.
func replaceOnce(t *testing.T, path, old, new string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(raw, []byte(old)) {
		t.Fatalf("%s holds no %q", path, old)
	}
	to := filepath.Join(t.TempDir(), filepath.Base(path))
	if err := os.WriteFile(to, bytes.Replace(raw, []byte(old), []byte(new), 1), 0o666); err != nil {
		t.Fatal(err)
	}
	return to
}

func openNetwork(t *testing.T) *os.File {
	t.Helper()
	f, err := os.Open(network)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func termNames(r *decompose.Result) (names []string) {
	for _, term := range r.Predictors[0].Terms {
		names = append(names, term.Name)
	}
	return names
}

// artifact is decomposition.json by field.
func artifact(t *testing.T, dir string) (fields map[string]json.RawMessage) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, "decomposition.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &fields); err != nil {
		t.Fatal(err)
	}
	return fields
}

func compact(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(text)); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
