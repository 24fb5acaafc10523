package oip_test

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/pho-go/pho/serve/oip"
)

const plainRows = `{"parameters": {"na": "drop"}, "rows": [{"age": 40, "g": "north", "ok": true, "img": [[1, 2, 3], [4, null, 6]], "zip": null},
 {"g": null, "age": null, "img": [[0, 0, 0], [0, 0, 1]], "zip": "007", "ok": false, "odd": {"deep": []}}, {"age": 1e3, "g": "south", "ok": null, "img": [[9, 8, 7], [6, 5, 4]], "zip": "7"}]}`

// Plain rows become tensors, whatever the order of their fields; a column that a row lacks has no values.
func TestRows(t *testing.T) {
	var r oip.Request
	for range 2 { // the second time in the memory of the first
		if err := r.Parse([]byte(plainRows), -1); err != nil {
			t.Fatal(err)
		}
		if r.Rows != 3 || len(r.Inputs) != 6 || len(r.Parameters) != 1 {
			t.Fatalf("%+v", r)
		}
		for i, want := range []struct {
			name   string
			kind   oip.Datatype
			shape  []int
			values []any
		}{
			{"age", oip.FP64, []int{3}, []any{40.0, nil, 1000.0}},
			{"g", oip.Bytes, []int{3}, []any{"north", nil, "south"}},
			{"ok", oip.Bool, []int{3}, []any{1.0, 0.0, nil}},
			{"img", oip.FP64, []int{3, 2, 3}, []any{1.0, 2.0, 3.0, 4.0, nil, 6.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 9.0, 8.0, 7.0, 6.0, 5.0, 4.0}},
			{"zip", oip.Bytes, []int{3}, []any{nil, "007", "7"}},
		} {
			in := &r.Inputs[i]
			if in.Name != want.name || in.Datatype != want.kind || !slices.Equal(in.Shape, want.shape) || in.Absent != 0 || !reflect.DeepEqual(elements(in), want.values) {
				t.Errorf("%+v, want %v", in, want)
			}
		}
		if odd := r.Inputs[5]; odd.Name != "odd" || odd.Absent != 1 {
			t.Errorf("%+v", odd)
		}
	}
	r.Reads = func(column []byte) bool { return string(column) == "g" || string(column) == "odd" }
	if err := r.Parse([]byte(plainRows), -1); err != nil || len(r.Inputs) != 2 || !slices.Equal(r.Passed, []string{"age", "ok", "img", "zip"}) {
		t.Errorf("%v, %+v", err, r)
	}
	if err := r.Parse([]byte(`{"rows": [{"g": "a"}, {}, {"g": "b"}]}`), -1); err != nil || r.Inputs[0].Absent != 2 {
		t.Errorf("%v, %+v", err, r)
	}
	if err := r.Parse([]byte(`{"rows": []}`), -1); err != nil || r.Rows != 0 || len(r.Inputs) != 0 {
		t.Errorf("%v, %+v", err, r)
	}
	if err := r.Parse([]byte(good), -1); err != nil || r.Rows != -1 {
		t.Errorf("%v, %+v", err, r)
	}
}

func TestRowsRefused(t *testing.T) {
	for rows, says := range map[string]string{
		`{"a": 1}`:                           "an array, the rows",
		`[1]`:                                "an object, a row",
		`[{"a": 1, "a": 2}]`:                 `data row 1 has two fields "a"`,
		`[{"a": 1}, {"a": "x"}]`:             `data row 2: column "a" is a text, and a number in rows before it`,
		`[{"a": "x"}, {"a": true}]`:          `data row 2: column "a" is true or false, and a text in rows before it`,
		`[{"a": 1}, {"a": [1]}]`:             `data row 2: column "a" is an array, and a number in rows before it`,
		`[{"a": null}, {"a": [1]}]`:          `data row 2: column "a" is an array, and null before it`,
		`[{"a": [1]}, {"a": null}]`:          `data row 2: column "a" is null, and an array before it`,
		`[{"a": {"b": 1}}]`:                  `data row 1: column "a" is an object`,
		`[{"a": [1, 2]}, {"a": [1, 2, 3]}]`:  `data row 2: the array of column "a" has the shape [3], and [2] in rows before it`,
		`[{"a": [[1, 2], [3]]}]`:             `data row 1: the array of column "a" has lists of different lengths or depths`,
		`[{"a": [[1, 2], 3]}]`:               "different lengths or depths",
		`[{"a": [1, [2, 3]]}]`:               "different lengths or depths",
		`[{"a": [[1], [[2]]]}]`:              "different lengths or depths",
		`[{"a": [["x"]]}]`:                   `data row 1: the array of column "a" holds something else than numbers and null`,
		`[{"a": ` + strings.Repeat("[", 100): "deep",
		`[{"a": 1e999}]`:                     "beyond float64",
		`[], "inputs": []`:                   "inputs and rows",
		`[], "rows": []`:                     `two fields "rows"`,
	} {
		var r oip.Request
		if err := r.Parse([]byte(`{"rows": `+rows+`}`), -1); err == nil || !errors.As(err, new(*oip.Error)) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %s", rows, err, says)
		}
	}
}

// sameRows compares the tensors of plain rows with the rows as encoding/json has them.
func sameRows(t *testing.T, r *oip.Request, text []byte) {
	t.Helper()
	var want struct{ Rows []map[string]any }
	if err := json.Unmarshal(text, &want); err != nil || len(want.Rows) != r.Rows {
		t.Fatalf("%d rows of %q: %v", r.Rows, text, err)
	}
	for i := range r.Inputs {
		in := &r.Inputs[i]
		var own []any
		for k, row := range want.Rows {
			v, there := row[in.Name]
			if !there && in.Absent == 0 || !there && k+1 < in.Absent {
				t.Fatalf("row %d of %q has no %q, and %+v", k+1, text, in.Name, in)
			}
			own = append(own, flat(v)...)
		}
		if got := elements(in); in.Absent == 0 && !slices.Equal(got, own) {
			t.Fatalf("%q of %q: %v, want %v", in.Name, text, got, own)
		}
	}
}

// The answer's rows read back to the bit.
func TestAppendRows(t *testing.T) {
	a, b := []float64{0.1, math.NaN()}, []float64{-1e-300, 5e-324}
	r := oip.Response{Model: "m", Version: "1", Outputs: []oip.Result{{Name: "s(\"x\")", Columns: [][]float64{a}}, {Name: "all", Columns: [][]float64{a, b}, Matrix: true}}}
	var got struct {
		Model string `json:"model_name"`
		Rows  []map[string]any
	}
	text := r.AppendRows(nil, 2)
	if err := json.Unmarshal(text, &got); err != nil || got.Model != "m" {
		t.Fatalf("%s: %v", text, err)
	}
	want := []map[string]any{{`s("x")`: 0.1, "all": []any{0.1, -1e-300}}, {`s("x")`: nil, "all": []any{nil, 5e-324}}}
	if !reflect.DeepEqual(got.Rows, want) {
		t.Errorf("%s, want %v", text, want)
	}
}
