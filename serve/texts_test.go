package serve_test

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/pho-go/pho"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/serve"
)

// Numbers that are sent for a column of text are its texts, digit by digit; whole numbers that a
// float64 rounds are refused.
func TestNumbersForText(t *testing.T) {
	x, _, _ := columns()
	ids := []string{"7", "1234567890123456", "x"}
	id := func(i int) string { return ids[i%3] }
	table, cells := data.NewTable(n), make([]string, n)
	for j := range x {
		if err := table.AddNumeric("x"+strconv.Itoa(j), x[j]); err != nil {
			t.Fatal(err)
		}
	}
	for i := range cells {
		cells[i] = id(i)
	}
	if err := table.AddTexts("id", cells); err != nil {
		t.Fatal(err)
	}
	d, err := pho.Decompose(t.Context(), "../internal/command/demo/ssn.onnx", table, &pho.Options{Formula: "~ s(x1, k=5, by=id)",
		Inputs: map[string][]string{"x": {"x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9"}}})
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "result")
	if err := d.Write(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	e, err := serve.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(e.Columns(), func(c serve.Column) bool { return c.Name == "id" && c.Text }) {
		t.Errorf("columns %+v: id is text", e.Columns())
	}
	split := func(add func(*serve.Rows) error) ([][]float64, error) {
		rows := serve.NewRows(2)
		for j := range x {
			if err := rows.AddNumeric("x"+strconv.Itoa(j), x[j][:2]); err != nil {
				t.Fatal(err)
			}
		}
		if err := add(rows); err != nil {
			t.Fatal(err)
		}
		parts, _, err := e.Explain(t.Context(), rows, false, data.NAError)
		return parts, err
	}
	text, err := split(func(r *serve.Rows) error {
		return r.AddCodes("id", data.Codes{Index: []int32{0, 1}, Levels: ids})
	})
	number, err2 := split(func(r *serve.Rows) error { return r.AddNumeric("id", []float64{7, 1234567890123456}) })
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	a, _ := json.Marshal(text)
	b, _ := json.Marshal(number)
	if string(a) != string(b) {
		t.Errorf("sent as text %s, as numbers %s", a, b)
	}
	_, err = split(func(r *serve.Rows) error { return r.AddNumeric("id", []float64{7, 1 << 53}) })
	if err == nil || !strings.Contains(err.Error(), `column "id", data row 2: about 9.007199254740992e+15 came as a number`) {
		t.Errorf("2^53: %v", err)
	}
}

// A number that the network reads is no text, though "." chose a factor of it.
func TestFactorOfNumbersIsNoText(t *testing.T) {
	x, _, _ := columns()
	table := data.NewTable(n)
	for j := range x {
		own := slices.Clone(x[j])
		if j == 1 {
			for i := range own {
				own[i] = float64(i % 3)
			}
		}
		if err := table.AddNumeric("x"+strconv.Itoa(j), own); err != nil {
			t.Fatal(err)
		}
	}
	d, err := pho.Decompose(t.Context(), "../internal/command/demo/ssn.onnx", table, &pho.Options{Formula: "~ .",
		Inputs: map[string][]string{"x": {"x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9"}}})
	if err != nil {
		t.Fatal(err)
	}
	factor := false
	for _, term := range d.Result.Predictors[0].Terms {
		factor = factor || term.Name == "factor(x1)"
	}
	dir := filepath.Join(t.TempDir(), "result")
	if err := d.Write(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	e, err := serve.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !factor || !slices.ContainsFunc(e.Columns(), func(c serve.Column) bool { return c.Name == "x1" && !c.Text }) {
		t.Errorf("factor(x1) is there: %t; columns %+v", factor, e.Columns())
	}
}

// Numbers that a formula makes a factor of, and that the network does not read, are numbers, too; their levels are known.
func TestFactorOfNumbersOutsideTheNetwork(t *testing.T) {
	x, _, _ := columns()
	table := data.NewTable(n)
	inputs := make([]string, len(x))
	for j := range x {
		inputs[j] = "x" + strconv.Itoa(j)
		if err := table.AddNumeric(inputs[j], x[j]); err != nil {
			t.Fatal(err)
		}
	}
	months := make([]float64, n)
	for i := range months {
		months[i] = float64(1 + i%12)
	}
	if err := table.AddNumeric("month", months); err != nil {
		t.Fatal(err)
	}
	d, err := pho.Decompose(t.Context(), "../internal/command/demo/ssn.onnx", table, &pho.Options{Formula: "~ factor(month)", Inputs: map[string][]string{"x": inputs}})
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "result")
	if err := d.Write(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	e, err := serve.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(e.Columns(), func(c serve.Column) bool { return c.Name == "month" && !c.Text }) {
		t.Errorf("%+v", e.Columns())
	}
	known := e.Known("month")
	if len(known.Levels) != 12 || !slices.Contains(known.Levels, known.Typical.(string)) || known.Range != nil {
		t.Errorf("%+v", known)
	}
	split := func(add func(*serve.Rows) error) [][]float64 {
		rows := serve.NewRows(1)
		err := add(rows)
		for j, name := range inputs {
			err = errors.Join(err, rows.AddNumeric(name, x[j][:1]))
		}
		if err != nil {
			t.Fatal(err)
		}
		parts, _, err := e.Explain(t.Context(), rows, false, data.NAError)
		if err != nil {
			t.Fatal(err)
		}
		return parts
	}
	number := split(func(r *serve.Rows) error { return r.AddNumeric("month", []float64{7}) })
	text := split(func(r *serve.Rows) error {
		return r.AddCodes("month", data.Codes{Index: []int32{0}, Levels: []string{"7"}})
	})
	if !slices.EqualFunc(number, text, slices.Equal[[]float64]) {
		t.Errorf("sent as number %v, as text %v", number, text)
	}
}
