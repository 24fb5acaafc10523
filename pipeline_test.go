package pho_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pho-go/pho"
	"github.com/pho-go/pho/data"
)

// TestPipeline: a scikit-learn pipeline (a scaler of two columns of numbers, dummies of two
// of text, a linear model) as skl2onnx writes it is decomposed on a CSV file. Its terms are
// of the raw columns, and the parts of each row sum to what ONNX Runtime computes; so they
// do when the result is read again and applied.
func TestPipeline(t *testing.T) {
	const network = "testdata/zoo/networks/sklearn/columns_linear"
	csv, want := pipelineRows(t, network+".io.json", "age", "income", "city", "kind")
	rows, err := pho.OpenRows(csv)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	d, err := pho.Decompose(t.Context(), network+".onnx", rows, nil)
	if err != nil {
		t.Fatal(err)
	}
	var terms []string
	for _, term := range d.Result.Predictors[0].Terms {
		terms = append(terms, term.Name)
	}
	if !slices.Equal(terms, []string{"age", "income", "f(city)", "f(kind)"}) {
		t.Errorf("terms %q", terms)
	}
	dir := t.TempDir()
	if err := d.Write(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	again, err := pho.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	sumsTo(t, d, rows, want)
	sumsTo(t, again, rows, want)
	effects, err := os.ReadFile(filepath.Join(dir, "effects.csv"))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"eta,f(city),before,Bonn,", "eta,f(city),after,München,", "eta,f(kind),before,c,"} {
		if !strings.Contains(string(effects), line) {
			t.Errorf("no effect %q", line)
		}
	}
}

// TestMissingCells: cells that are missing enter a network that fills them in; others than
// the network refuse them.
func TestMissingCells(t *testing.T) {
	const network = "testdata/zoo/networks/sklearn/impute"
	csv, want := pipelineRows(t, network+".io.json", "x0", "x1", "x2", "x3")
	rows, err := data.OpenCSV([]string{csv}, &data.CSVOptions{NA: data.NAKeep})
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	inputs := map[string][]string{"X": {"x0", "x1", "x2", "x3"}}
	d, err := pho.Decompose(t.Context(), network+".onnx", rows, &pho.Options{Inputs: inputs})
	if err != nil {
		t.Fatal(err)
	}
	sumsTo(t, d, rows, want)
	for _, f := range d.Result.Features {
		if math.IsNaN(f.Mean) || math.IsNaN(f.Min) || math.IsNaN(f.Max) {
			t.Errorf("feature %+v", f)
		}
	}
	_, err = pho.Decompose(t.Context(), network+".onnx", rows, &pho.Options{Inputs: inputs, Formula: "~ s(x1, k=5)"})
	if !errors.Is(err, data.ErrMissingValue) || !strings.Contains(err.Error(), `column "x1", data row `) {
		t.Errorf("a formula on a column with missing values: %v", err)
	}
}

// sumsTo: the parts of each row sum to what ONNX Runtime computes.
func sumsTo(t *testing.T, d *pho.Decomposition, rows data.Source, want []float64) {
	t.Helper()
	seen := 0
	for parts, err := range d.Parts(t.Context(), rows) {
		if err != nil {
			t.Fatal(err)
		}
		eta := parts.Predictors[0]
		for i := range parts.Batch.Rows() {
			sum := eta.Intercept + eta.Unstructured[i]
			for _, x := range eta.Terms.RawRowView(i) {
				sum += x
			}
			if w := want[seen]; !(math.Abs(sum-w) <= 1e-5*(1+math.Abs(w))) {
				t.Errorf("row %d: the parts sum to %v, ONNX Runtime has %v", seen, sum, w)
			}
			seen++
		}
	}
	if seen != len(want) {
		t.Errorf("%d rows of %d", seen, len(want))
	}
}

// pipelineRows writes the network's rows of the zoo as a CSV file of the columns, an input
// each or all of one input, and returns what ONNX Runtime computes of them.
func pipelineRows(t *testing.T, file string, columns ...string) (csv string, want []float64) {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var values struct {
		Inputs  [][]any
		Outputs [][]float64
	}
	if err := json.Unmarshal(raw, &values); err != nil {
		t.Fatal(err)
	}
	lines := []string{strings.Join(columns, ",")}
	for i := range values.Outputs[0] {
		var cells []string
		for j := range columns {
			if len(values.Inputs) == 1 {
				cells = append(cells, fmt.Sprint(values.Inputs[0][i*len(columns)+j]))
				continue
			}
			cells = append(cells, fmt.Sprint(values.Inputs[j][i]))
		}
		lines = append(lines, strings.Join(cells, ","))
	}
	csv = filepath.Join(t.TempDir(), "rows.csv")
	if err := os.WriteFile(csv, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return csv, values.Outputs[0]
}
