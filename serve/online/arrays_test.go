package online_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/internal/base/onnxpb"
	"github.com/pho-go/pho/serve"
)

// pictured decomposes a network of a column, age, and pictures of 2 x 3, img. If apart, each number of a picture
// is a column of its own, as in results of earlier versions. eta is what the network computes.
func pictured(t *testing.T, apart bool) (dir string, age, img, eta []float64) {
	t.Helper()
	b := onnxpb.NewBuilder(13)
	b.AddInput("img", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 2, 3)
	b.AddInput("age", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 1)
	b.AddNode("Flatten", []string{"img"}, "flat")
	b.AddInit("w", []int{6, 1}, 1, -1, 2, 0.5, 3, -2)
	b.AddNode("MatMul", []string{"flat", "w"}, "h")
	b.AddNode("Tanh", []string{"h"}, "deep")
	b.AddNode("Add", []string{"deep", "age"}, "y")
	b.Output("y", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 1)
	raw, err := b.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	const rows = 40
	for i := range rows {
		age = append(age, float64(20+i%30))
		for e := range 6 {
			img = append(img, float64((i*7+e*3)%11)/8)
		}
	}
	table := data.NewTable(rows)
	pictures := mat.NewDense(rows, 6, img)
	err = table.AddNumeric("age", age)
	for e := range 6 {
		if apart {
			err = errors.Join(err, table.AddNumeric(fmt.Sprintf("img[%d]", e), mat.Col(nil, e, pictures)))
		}
	}
	if !apart {
		err = errors.Join(err, table.AddTensor("img", pictures))
	}
	if err != nil {
		t.Fatal(err)
	}
	net := filepath.Join(t.TempDir(), "net.onnx")
	if err := os.WriteFile(net, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := pho.Decompose(t.Context(), net, table, nil)
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(t.TempDir(), "result")
	if err := d.Write(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	for p, err := range d.Parts(t.Context(), table) {
		if err != nil {
			t.Fatal(err)
		}
		eta = append(eta, p.Predictors[0].Eta...)
	}
	return dir, age, img, eta
}

// Rows with arrays are split however they come, as those of a column for each number are.
func TestArrays(t *testing.T) {
	dir, age, img, eta := pictured(t, false)
	url := started(t, nil, dir) + "/v2/models/result"
	ages := tensor{"age", "FP64", []int{3}, age[4:7]}
	for _, picture := range []tensor{
		{"img", "FP64", []int{3, 2, 3}, img[24:42]},
		{"img", "FP32", []int{3, 6}, [][]float64{img[24:30], img[30:36], img[36:42]}},
	} {
		if got := post(t, url+"/infer", body(t, []tensor{ages, picture}, nil)); !slices.Equal(got.column("eta"), eta[4:7]) {
			t.Errorf("shape %v: %+v, want %v", picture.Shape, got, eta[4:7])
		}
	}
	for _, picture := range []any{[][]float64{img[24:27], img[27:30]}, img[24:30]} {
		if got := postRows(t, url+"/rows", map[string]any{"rows": []any{map[string]any{"img": picture, "age": age[4]}}}); len(got.Rows) != 1 || *got.Rows[0]["eta"] != eta[4] {
			t.Errorf("as a plain row: %+v, want %v", got, eta[4])
		}
	}
	if got := postRows(t, url+"/rows", `{"rows": []}`); got.status != 200 || len(got.Rows) != 0 {
		t.Errorf("no rows: %+v", got)
	}
	gap := []any{}
	for _, v := range img[24:42] {
		gap = append(gap, v)
	}
	gap[11] = nil
	missing := tensor{"img", "FP64", []int{3, 2, 3}, gap}
	got := post(t, url+"/infer", body(t, []tensor{ages, missing}, map[string]any{"parameters": map[string]any{"na": "drop"}})).column("eta")
	if len(got) != 3 || got[0] != eta[4] || !math.IsNaN(got[1]) || got[2] != eta[6] {
		t.Errorf("a row left out: %v, want %v", got, eta[4:7])
	}
	for says, in := range map[string][]tensor{
		`column "img": its rows have the shape [3 2], and the network takes [2 3], or all 6 numbers as one axis`: {ages, {"img", "FP64", []int{3, 3, 2}, img[24:42]}},
		`column "img": its rows have the shape [], and the network takes [2 3]`:                                  {ages, {"img", "FP64", []int{3}, img[24:27]}},
		`input "img" takes numbers, and has texts`:                                                               {ages, {"img", "BYTES", []int{3}, []string{"a", "b", "c"}}},
		`column "img", data row 2: data: a value is missing`:                                                     {ages, missing},
		`no column "img" in the rows`:                                                                            {ages},
		`input "age" has 6 values a row (shape [3 6]), and takes 1`:                                              {{"age", "FP64", []int{3, 6}, img[24:42]}},
	} {
		if got := post(t, url+"/infer", body(t, in, nil)); got.status != 400 || !strings.Contains(got.Error, says) {
			t.Errorf("%d %s, want %s", got.status, got.Error, says)
		}
	}
	r, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if text, err := io.ReadAll(r.Body); err != nil || !strings.Contains(string(text), `{"name":"img","datatype":"FP64","shape":[-1,2,3]}`) {
		t.Errorf("the model says %s, %v", text, err)
	}

	e, err := serve.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	var payload []byte // of a resident process
	for _, v := range append(slices.Clone(img[24:42]), age[4:7]...) {
		payload = binary.LittleEndian.AppendUint64(payload, math.Float64bits(v))
	}
	header := `{"id":1,"op":"apply","rows":3,"columns":["img","age"]}`
	asks := binary.LittleEndian.AppendUint32(nil, uint32(len(header)))
	asks = append(append(binary.LittleEndian.AppendUint32(asks, uint32(len(payload))), header...), payload...)
	var said bytes.Buffer
	if err := serve.Stdio(t.Context(), e, bytes.NewReader(asks), &said, serve.Words{}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(said.String(), `{"name":"img","text":false,"shape":[2,3]}`) {
		t.Errorf("the greeting is %q", said.String())
	}
	for i, want := range eta[4:7] { // eta is the last part
		if got := math.Float64frombits(binary.LittleEndian.Uint64(said.Bytes()[said.Len()-8*(3-i):])); got != want {
			t.Errorf("through a pipe, row %d: %g, want %g", i, got, want)
		}
	}

	old, age, img, eta := pictured(t, true)
	url = started(t, nil, old) + "/v2/models/result/infer"
	elements := []tensor{{"age", "FP64", []int{1}, age[4:5]}}
	for e := range 6 {
		elements = append(elements, tensor{fmt.Sprintf("img[%d]", e), "FP64", []int{1}, img[24+e : 25+e]})
	}
	for _, in := range [][]tensor{elements, {elements[0], {"img", "FP64", []int{1, 2, 3}, img[24:30]}}} {
		if got := post(t, url, body(t, in, nil)); !slices.Equal(got.column("eta"), eta[4:5]) {
			t.Errorf("a result of an earlier version: %+v, want %v", got, eta[4])
		}
	}
}

// Joined rows have the arrays of all.
func TestJoinArrays(t *testing.T) {
	dir, age, img, eta := pictured(t, false)
	e, err := serve.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	var all []*serve.Rows
	for i := range 2 {
		rows := serve.NewRows(i + 1)
		if err := errors.Join(rows.AddNumeric("age", age[i:2*i+1]), rows.AddTensor("img", []int{2, 3}, img[6*i:6*(2*i+1)])); err != nil {
			t.Fatal(err)
		}
		all = append(all, rows)
	}
	joined, err := e.Join(all)
	if err != nil {
		t.Fatal(err)
	}
	parts, _, err := e.Explain(t.Context(), joined, false, data.NAError)
	if err != nil || !slices.Equal(parts[len(parts)-1], eta[:3]) {
		t.Errorf("%v, %v, want %v", parts, err, eta[:3])
	}
}
