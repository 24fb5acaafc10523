package online_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/pho-go/pho"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/serve"
	"github.com/pho-go/pho/serve/online"
)

const n = 600

// cell is a value of the test's rows: x0 to x9 numbers, day a number.
func cell(name string, i int) float64 {
	if name == "day" {
		return float64(i % 7)
	}
	j, _ := strconv.Atoi(name[1:])
	return math.Sin(float64(i*(j+3)) / 7)
}

func level(i int) string { return string(rune('a' + i%3)) }

var numeric = []string{"x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "day"}

// decomposed writes a decomposition to dir.
func decomposed(t *testing.T, dir, formula string) {
	t.Helper()
	table := data.NewTable(n)
	for _, name := range numeric {
		v := make([]float64, n)
		for i := range v {
			v[i] = cell(name, i)
		}
		add := table.AddNumeric
		if name == "day" {
			add = table.AddFactor
		}
		if err := add(name, v); err != nil {
			t.Fatal(err)
		}
	}
	g := make([]string, n)
	for i := range g {
		g[i] = level(i)
	}
	if err := table.AddTexts("g", g); err != nil {
		t.Fatal(err)
	}
	o := &pho.Options{Formula: formula, Inputs: map[string][]string{"x": numeric[:10]}}
	d, err := pho.Decompose(t.Context(), "../../internal/command/demo/ssn.onnx", table, o)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Write(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
}

var results struct {
	sync.Once
	a, b string // directories of two decompositions of the same network
}

// two are directories of two decompositions, made once.
func two(t *testing.T) (a, b string) {
	results.Do(func() {
		dir, err := os.MkdirTemp("", "online")
		if err != nil {
			t.Fatal(err)
		}
		results.a, results.b = filepath.Join(dir, "a"), filepath.Join(dir, "b")
		decomposed(t, results.a, "~ s(x1, k=5) + g + day")
		decomposed(t, results.b, "~ s(x1, k=6) + g + day")
	})
	return results.a, results.b
}

func TestMain(m *testing.M) {
	status := m.Run()
	if results.a != "" {
		os.RemoveAll(filepath.Dir(results.a))
	}
	os.Exit(status)
}

// started serves places until the test ends.
func started(t *testing.T, o *online.Options, places ...string) (url string) {
	t.Helper()
	url, stop := starting(t, o, places...)
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
	return url
}

func starting(t *testing.T, o *online.Options, places ...string) (url string, stop func() error) {
	t.Helper()
	models, err := online.Open(places, nil)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- online.New(models, o).Serve(ctx, l) }()
	return "http://" + l.Addr().String(), func() error {
		cancel()
		http.DefaultClient.CloseIdleConnections()
		return <-ended
	}
}

// tensor is an input of a request in JSON.
type tensor struct {
	Name     string `json:"name"`
	Datatype string `json:"datatype"`
	Shape    []int  `json:"shape"`
	Data     any    `json:"data"`
}

// inputs are rows from to to-1 as tensors.
func inputs(from, to int) (out []tensor) {
	for _, name := range numeric {
		v := []float64{}
		for i := from; i < to; i++ {
			v = append(v, cell(name, i))
		}
		out = append(out, tensor{name, "FP64", []int{to - from}, v})
	}
	g := []string{}
	for i := from; i < to; i++ {
		g = append(g, level(i))
	}
	return append(out, tensor{"g", "BYTES", []int{to - from, 1}, g})
}

func body(t *testing.T, in []tensor, more map[string]any) []byte {
	t.Helper()
	all := map[string]any{"inputs": in}
	for k, v := range more {
		all[k] = v
	}
	text, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// answered is an answer to infer.
type answered struct {
	Version string `json:"model_version"`
	ID      string
	Error   string
	Outputs []struct {
		Name, Datatype string
		Shape          []int
		Data           []*float64
		Parameters     struct {
			Size int `json:"binary_data_size"`
		}
	}
	status int
	header http.Header
}

// column is an output, NaN for null.
func (a *answered) column(name string) []float64 {
	for _, o := range a.Outputs {
		if o.Name == name {
			out := make([]float64, len(o.Data))
			for i, v := range o.Data {
				out[i] = math.NaN()
				if v != nil {
					out[i] = *v
				}
			}
			return out
		}
	}
	return nil
}

func post(t testing.TB, url string, body []byte) *answered {
	a, err := ask(url, body, nil)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func ask(url string, body []byte, header http.Header) (*answered, error) {
	q, err := http.NewRequest("POST", url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	for k := range header {
		q.Header.Set(k, header.Get(k))
	}
	r, err := http.DefaultClient.Do(q)
	if err != nil {
		return nil, err
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	a := &answered{status: r.StatusCode, header: r.Header}
	var behind []byte
	if at := r.Header.Get("Inference-Header-Content-Length"); at != "" {
		h, _ := strconv.Atoi(at)
		text, behind = text[:h], text[h:]
	}
	if err := json.Unmarshal(text, a); err != nil {
		return nil, fmt.Errorf("%q: %w", text, err)
	}
	for i := range a.Outputs {
		o := &a.Outputs[i]
		own := behind[:o.Parameters.Size]
		behind = behind[o.Parameters.Size:]
		for ; len(own) > 0; own = own[8:] {
			v := math.Float64frombits(binary.LittleEndian.Uint64(own))
			o.Data = append(o.Data, &v)
		}
	}
	if len(behind) > 0 {
		return nil, errors.New("bytes behind the last output")
	}
	return a, nil
}

// want are the parts of all rows, by the Explainer, and the names of the parts.
func want(t *testing.T, dir string, se bool) (parts [][]float64, names []string, version string) {
	t.Helper()
	e, err := serve.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	rows := serve.NewRows(n)
	var faults []error
	for _, in := range inputs(0, n) {
		if v, ok := in.Data.([]float64); ok {
			faults = append(faults, rows.AddNumeric(in.Name, v))
			continue
		}
		codes := make([]int32, n)
		for i := range codes {
			codes[i] = int32(i % 3)
		}
		faults = append(faults, rows.AddCodes(in.Name, data.Codes{Index: codes, Levels: []string{"a", "b", "c"}}))
	}
	if err := errors.Join(faults...); err != nil {
		t.Fatal(err)
	}
	parts, _, err = e.Explain(t.Context(), rows, se, data.NAError)
	if err != nil {
		t.Fatal(err)
	}
	return parts, e.Parts(se), e.Digest()[:16]
}

// TestInfer: every part of every row is the Explainer's, bit for bit, in JSON and in binary,
// whether it is asked for by name, by a parameter or as a matrix.
func TestInfer(t *testing.T) {
	t.Parallel()
	a, _ := two(t)
	url := started(t, nil, a) + "/v2/models/a/infer"
	parts, names, version := want(t, a, true)
	for _, binary := range []bool{false, true} {
		got := post(t, url, body(t, inputs(20, 40), map[string]any{"id": "x\"1", "parameters": map[string]any{"se": true, "binary_data_output": binary}}))
		if got.status != 200 || got.Version != version || got.ID != `x"1` || len(got.Outputs) != len(names) {
			t.Fatalf("%+v", got)
		}
		for k, name := range names {
			if v := got.column(name); !slices.EqualFunc(v, parts[k][20:40], equal) {
				t.Errorf("binary %v, %s: %v, want %v", binary, name, v, parts[k][20:40])
			}
		}
		got = post(t, url, body(t, inputs(7, 9), map[string]any{"outputs": []any{
			map[string]any{"name": "contributions", "parameters": map[string]any{"binary_data": binary}}, map[string]any{"name": "s(x1).se"}}}))
		if len(got.Outputs) != 2 || !slices.Equal(got.Outputs[0].Shape, []int{2, len(names)}) {
			t.Fatalf("%+v", got)
		}
		for i, v := range got.column("contributions") {
			if !equal(v, parts[i%len(names)][7+i/len(names)]) {
				t.Errorf("contribution %d is %g", i, v)
			}
		}
	}
	plain := post(t, url, body(t, inputs(0, 1), nil))
	if len(plain.Outputs) != 1 || plain.column("eta")[0] != parts[slices.Index(names, "eta")][0] {
		t.Errorf("%+v", plain)
	}
	if none := post(t, url, body(t, inputs(3, 3), nil)); none.status != 200 || len(none.column("eta")) != 0 {
		t.Errorf("no rows: %+v", none)
	}
}

func equal(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) || a != a && b != b }

// TestDatatypes: rows come as other types too, and as the network's own input of ten numbers.
func TestDatatypes(t *testing.T) {
	t.Parallel()
	a, _ := two(t)
	url := started(t, nil, a) + "/v2/models/a/infer"
	in := inputs(5, 8)
	first := post(t, url, body(t, in, nil)).column("eta")
	matrix := [][]float64{}
	for i := 5; i < 8; i++ {
		var row []float64
		for _, name := range numeric[:10] {
			row = append(row, cell(name, i))
		}
		matrix = append(matrix, row)
	}
	whole := append([]tensor{{"x", "FP64", []int{3, 10}, matrix}}, in[10:]...)
	if got := post(t, url, body(t, whole, nil)); !slices.Equal(got.column("eta"), first) {
		t.Errorf("as one tensor: %+v, want %v", got, first)
	}
	in[10].Datatype, in[10].Data = "INT32", []int{5, 6, 0}
	if got := post(t, url, body(t, in, nil)); !slices.Equal(got.column("eta"), first) {
		t.Errorf("INT32: %+v", got)
	}
}

// TestRefusals: what is wrong is told, with its status.
func TestRefusals(t *testing.T) {
	t.Parallel()
	a, _ := two(t)
	base := started(t, &online.Options{MaxRows: 50, MaxBody: 200_000}, a)
	url := base + "/v2/models/a/infer"
	change := func(i int, f func(*tensor)) []byte {
		in := inputs(0, 2)
		f(&in[i])
		return body(t, in, nil)
	}
	for name, c := range map[string]struct {
		url    string
		body   []byte
		status int
		says   string
	}{
		"no model":       {base + "/v2/models/q/infer", body(t, inputs(0, 1), nil), 404, `no model "q"`},
		"other version":  {base + "/v2/models/a/versions/1/infer", body(t, inputs(0, 1), nil), 404, "is version"},
		"path":           {base + "/v2/model", nil, 404, "nothing at this path"},
		"metadata":       {base + "/v2/models/a", nil, 405, "takes GET"},
		"no JSON":        {url, []byte("{"), 400, "the JSON ends"},
		"missing column": {url, body(t, inputs(0, 1)[1:], nil), 400, `no column "x0"`},
		"two columns":    {url, body(t, append(inputs(0, 1), inputs(0, 1)[0]), nil), 400, `two columns "x0"`},
		"unknown level":  {url, change(11, func(x *tensor) { x.Data = []string{"a", "west"} }), 400, `data row 2: level "west"`},
		"level as value": {url, change(10, func(x *tensor) { x.Data = []int{1, 77} }), 400, `data row 2: level "77"`},
		"null":           {url, change(3, func(x *tensor) { x.Data = []any{1, nil} }), 400, `column "x3", data row 2: data: a value is missing`},
		"too short":      {url, change(3, func(x *tensor) { x.Data = []float64{1} }), 400, `input "x3": the data have 1 elements, shape [2] has 2`},
		"rows differ":    {url, change(3, func(x *tensor) { x.Shape, x.Data = []int{1}, []float64{1} }), 400, `input "x3" has 1 rows, and "x0" has 2`},
		"too wide":       {url, change(3, func(x *tensor) { x.Shape, x.Data = []int{2, 2}, []float64{1, 1, 1, 1} }), 400, "2 values a row"},
		"numbers":        {url, change(11, func(x *tensor) { x.Datatype, x.Data = "FP64", []float64{1, 2} }), 400, "g"},
		"texts":          {url, change(0, func(x *tensor) { x.Datatype, x.Data = "BYTES", []string{"1", "2"} }), 400, "x0"},
		"infinite":       {url, change(0, func(x *tensor) { x.Datatype, x.Data = "FP32", []float64{1, 1e300} }), 400, "row 2: 1e+300 is beyond FP32"},
		"rows":           {url, body(t, inputs(0, 51), nil), 413, "51 rows"},
		"body":           {url, bytes.Repeat([]byte(" "), 200_001), 413, "more than 200000 bytes"},
		"parameter":      {url, body(t, inputs(0, 1), map[string]any{"parameters": map[string]any{"reason": 1}}), 400, `no parameter "reason"`},
		"output":         {url, body(t, inputs(0, 1), map[string]any{"outputs": []any{map[string]any{"name": "s(x9)"}}}), 400, `no output "s(x9)"`},
	} {
		got := post(t, c.url, c.body)
		if got.status != c.status || !strings.Contains(got.Error, c.says) {
			t.Errorf("%s: %d %q, want %d with %q", name, got.status, got.Error, c.status, c.says)
		}
	}
	for header, c := range map[string]struct {
		value  string
		status int
	}{"Content-Encoding": {"gzip", 415}, "Inference-Header-Content-Length": {"99999", 400}} {
		got, err := ask(url, body(t, inputs(0, 1), nil), http.Header{header: {c.value}})
		if err != nil || got.status != c.status {
			t.Errorf("%s: %+v, %v", header, got, err)
		}
	}
}
