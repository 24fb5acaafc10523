package pho_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pho-go/pho"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

const network = "internal/command/demo/ssn.onnx"

// What is asked for and cannot be had is an error that says so, of the packages' types.
func TestDecomposeErrors(t *testing.T) {
	rows := draw(1, 1000)
	for name, c := range map[string]struct {
		network string
		o       *pho.Options
		want    string
	}{
		"no network":     {"none.onnx", nil, `model "none.onnx": no such file`},
		"no response":    {network, &pho.Options{Response: "z"}, `response: there is no column "z"`},
		"two responses":  {network, &pho.Options{Formula: "y ~ x1", Response: "x2"}, `the response is "x2" and, in the formula`},
		"formula":        {network, &pho.Options{Formula: "~ s(x1"}, "formula: "},
		"formulas":       {network, &pho.Options{Response: "y", Formulas: []string{"~ x1", "nobody = ~ x1"}}, `predictor "nobody"`},
		"family":         {network, &pho.Options{Response: "y", Family: "binomal"}, "did you mean binomial?"},
		"weights":        {network, &pho.Options{Response: "y", Weights: "y"}, `weights: column "y" is the response`},
		"link":           {network, &pho.Options{Link: "logit"}, "Link is for a model behind an address"},
		"input":          {network, &pho.Options{Inputs: map[string][]string{"nobody": {"x1"}}}, `the network has no input "nobody"; it has "x"`},
		"columns":        {network, &pho.Options{Inputs: map[string][]string{"x": {"x1", "none"}}}, `input "x": data: no column "none" in the data`},
		"further option": {network, &pho.Options{Decompose: &decompose.Options{Columns: decompose.Columns{Response: "y"}, Resources: decompose.Resources{Workers: -1}}}, "workers"},
	} {
		_, err := pho.Decompose(t.Context(), c.network, rows, c.o)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	_, err := pho.Decompose(t.Context(), network, rows, &pho.Options{Response: "yy"})
	var missing *data.MissingColumnError
	if !errors.As(err, &missing) || missing.Nearest() != "y" {
		t.Errorf("a missing column is %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := pho.Decompose(ended, network, rows, &pho.Options{Response: "y"}); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of the context: %v", err)
	}
}

// Options above go before those of package decompose; neither is changed.
func TestOptions(t *testing.T) {
	seen := 0
	further := &decompose.Options{Columns: decompose.Columns{Response: "x9"}, Resources: decompose.Resources{Workers: 1}, Progress: func(decompose.Progress) { seen++ }}
	o := &pho.Options{Formulas: []string{"y ~ s(x1, k=5)"}, Response: "y", Decompose: further, Inputs: map[string][]string{
		"x": {"x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9"}}}
	d, err := pho.Decompose(t.Context(), network, draw(1, 1000), o)
	if err != nil {
		t.Fatal(err)
	}
	if d.Result.Response != "y" || d.Result.Prediction == nil || d.Result.Method != decompose.PHOGAM || seen == 0 {
		t.Errorf("response %q, prediction %v, method %q, %d reports", d.Result.Response, d.Result.Prediction, d.Result.Method, seen)
	}
	small := *o
	small.MaxMemory = 1 << 14
	var memory *decompose.MemoryError
	if _, err := pho.Decompose(t.Context(), network, draw(1, 1000), &small); !errors.As(err, &memory) || memory.Limit != small.MaxMemory {
		t.Errorf("16 KiB are enough: %v", err)
	}
	if further.Response != "x9" || further.Family != nil || further.Visitors != nil {
		t.Errorf("the options were changed: %+v", further)
	}
}

// A result takes the place of an earlier one and of nothing else, and is found again
// where it is moved to with its network.
func TestWriteAndRead(t *testing.T) {
	temp := t.TempDir()
	raw, err := os.ReadFile(network)
	if err != nil {
		t.Fatal(err)
	}
	first := filepath.Join(temp, "first")
	if err := errors.Join(os.Mkdir(first, 0o777), os.WriteFile(filepath.Join(first, "net.onnx"), raw, 0o666)); err != nil {
		t.Fatal(err)
	}
	rows := draw(1, 1000)
	d, err := pho.Decompose(t.Context(), filepath.Join(first, "net.onnx"), rows, &pho.Options{Response: "y"})
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(first, "result")
	for range 2 {
		if err := d.Write(t.Context(), dir); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Write(t.Context(), first); err == nil || !strings.Contains(err.Error(), "not part of a result") {
		t.Errorf("a directory of somebody else: %v", err)
	}
	moved := filepath.Join(temp, "second")
	if err := os.Rename(first, moved); err != nil {
		t.Fatal(err)
	}
	again, err := pho.Read(filepath.Join(moved, "result"))
	if err != nil {
		t.Fatal(err)
	}
	// Written elsewhere, it is the same but for the way to its network.
	if err := again.Write(t.Context(), filepath.Join(temp, "third")); err != nil {
		t.Fatal(err)
	}
	if again, err = pho.Read(filepath.Join(temp, "third")); err != nil {
		t.Fatal(err)
	}
	if got, want := sums(t, again, rows), sums(t, d, rows); got != want || want == 0 {
		t.Errorf("the unstructured parts sum to %g after reading, %g before", got, want)
	}
	if err := os.Remove(filepath.Join(moved, "net.onnx")); err != nil {
		t.Fatal(err)
	}
	if _, err := pho.Read(filepath.Join(moved, "result")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without its network: %v", err)
	}
	if _, err := pho.Read(temp); err == nil || !strings.Contains(err.Error(), "not a directory that decompose wrote") {
		t.Errorf("no result: %v", err)
	}
}

// sums adds up the unstructured parts.
func sums(t *testing.T, d *pho.Decomposition, rows data.Source) (sum float64) {
	t.Helper()
	for p, err := range d.Parts(t.Context(), rows) {
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range p.Predictors[0].Unstructured {
			sum += v
		}
	}
	return sum
}

// Rows that leave out those with missing cells are the same ones in every pass, whatever
// columns it reads.
func TestRowsLeftOut(t *testing.T) {
	var csv strings.Builder
	csv.WriteString("x0,x1,x2,x3,x4,x5,x6,x7,x8,x9,y,g\n")
	for i := range 1200 {
		for j := range 10 {
			csv.WriteString([]string{"0.25,", "-1,", "0.5,", "2,", "1.5,"}[(i*(j+3)+i/7*j)%5])
		}
		csv.WriteString([]string{"1,a\n", ",b\n", "3,NA\n", "0.5,b\n", "-1,a\n"}[i%5])
	}
	path := filepath.Join(t.TempDir(), "rows.csv")
	if err := os.WriteFile(path, []byte(csv.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	src, err := data.OpenCSV([]string{path}, &data.CSVOptions{NA: data.NADrop})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	d, err := pho.Decompose(t.Context(), network, src, &pho.Options{Formula: "y ~ g"})
	if err != nil {
		t.Fatal(err)
	}
	if d.Result.Rows != 720 || !strings.Contains(strings.Join(d.Result.Warnings, "\n"), "480 of 1200 rows hold missing cells and were left out; ") {
		t.Errorf("%d rows; %q", d.Result.Rows, d.Result.Warnings)
	}
	rows, err := pho.OpenRows(path)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	if _, err := pho.Decompose(t.Context(), network, rows, &pho.Options{Formula: "y ~ g"}); !errors.Is(err, data.ErrMissingValue) {
		t.Errorf("without a word on missing cells: %v", err)
	}
	unseen := draw(3, 2)
	if err := unseen.AddTexts("g", []string{"a", "zz"}); err != nil {
		t.Fatal(err)
	}
	for _, err := range d.Parts(t.Context(), unseen) {
		var level *data.UnseenLevelError
		if !errors.As(err, &level) || level.Level != "zz" || level.Column != "g" || level.Row != 1 {
			t.Errorf("an unseen level: %v", err)
		}
	}
}
