package serve_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/pho-go/pho"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/serve"
)

const n = 1200

// columns are those of the test's rows: x0 to x9 numbers, g a text, day a number.
func columns() (x [][]float64, g []string, day []float64) {
	x, g, day = make([][]float64, 10), make([]string, n), make([]float64, n)
	for j := range x {
		x[j] = make([]float64, n)
		for i := range x[j] {
			x[j][i] = math.Sin(float64(i*(j+3)) / 7)
		}
	}
	for i := range g {
		g[i], day[i] = string(rune('a'+i%3)), float64(i%7)
	}
	return x, g, day
}

// result decomposes a network over these rows, with smooths, a factor of texts and one of
// numbers, and returns its directory and the unstructured part of every row.
func result(t *testing.T) (dir string, unstructured []float64) {
	t.Helper()
	x, g, day := columns()
	table := data.NewTable(n)
	for j := range x {
		if err := table.AddNumeric("x"+strconv.Itoa(j), x[j]); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(table.AddTexts("g", g), table.AddFactor("day", day)); err != nil {
		t.Fatal(err)
	}
	o := &pho.Options{Formula: "~ s(x1, k=5) + g + day", Inputs: map[string][]string{"x": {"x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9"}}}
	d, err := pho.Decompose(t.Context(), "../internal/command/demo/ssn.onnx", table, o)
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
		unstructured = append(unstructured, p.Predictors[0].Unstructured...)
	}
	return dir, unstructured
}

// some are rows from to to-1.
func some(t *testing.T, from, to int) *serve.Rows {
	t.Helper()
	x, g, day := columns()
	rows := serve.NewRows(to - from)
	var err error
	for j := range x {
		err = errors.Join(err, rows.AddNumeric("x"+strconv.Itoa(j), x[j][from:to]))
	}
	var codes []int32
	for _, level := range g[from:to] {
		codes = append(codes, int32(level[0]-'a'))
	}
	err = errors.Join(err, rows.AddCodes("g", data.Codes{Index: codes, Levels: []string{"a", "b", "c"}}), rows.AddNumeric("day", day[from:to]))
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// Rows of a resident process are split as the library splits them, and what is wrong with
// one is told.
func TestExplain(t *testing.T) {
	dir, unstructured := result(t)
	e, err := serve.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	text := slices.IndexFunc(e.Columns(), func(c serve.Column) bool { return c.Text })
	if len(e.Columns()) != 12 || text < 0 || e.Columns()[text].Name != "g" {
		t.Errorf("columns %+v", e.Columns())
	}
	for _, se := range []bool{false, true} {
		parts, dropped, err := e.Explain(t.Context(), some(t, 5, 25), se, data.NAError)
		if err != nil || dropped != 0 || len(parts) != len(e.Parts(se)) {
			t.Fatal(len(parts), dropped, err)
		}
		at := slices.Index(e.Parts(se), "unstructured")
		for i, v := range parts[at] {
			if v != unstructured[5+i] {
				t.Errorf("se %v, row %d: %g, want %g", se, i, v, unstructured[5+i])
			}
		}
	}
	if parts, _, err := e.Explain(t.Context(), some(t, 3, 3), false, data.NAError); err != nil || len(parts[0]) != 0 {
		t.Errorf("no rows: %v", err)
	}
	_, g, _ := columns()
	rows := serve.NewRows(2)
	if err := errors.Join(rows.AddNumeric("x0", []float64{1, 2}), rows.AddCodes("g", data.Codes{Index: []int32{0, 1}, Levels: g})); err != nil {
		t.Fatal(err)
	}
	var missing *data.MissingColumnError
	if _, _, err := e.Explain(t.Context(), rows, false, data.NAError); !errors.As(err, &missing) || missing.Nearest() != "x0" {
		t.Errorf("without columns: %v", err)
	}
}

// with are rows 0 to 3, one value changed.
func with(t *testing.T, column string, row int, number float64, code int32) *serve.Rows {
	t.Helper()
	x, _, day := columns()
	rows := serve.NewRows(4)
	var err error
	for j := range x {
		name, v := "x"+strconv.Itoa(j), slices.Clone(x[j][:4])
		if name == column {
			v[row] = number
		}
		err = errors.Join(err, rows.AddNumeric(name, v))
	}
	codes, v := []int32{0, 1, 2, 0}, slices.Clone(day[:4])
	switch column {
	case "g":
		codes[row] = code
	case "day":
		v[row] = number
	}
	if err = errors.Join(err, rows.AddCodes("g", data.Codes{Index: codes, Levels: []string{"a", "b", "c", "z"}}), rows.AddNumeric("day", v)); err != nil {
		t.Fatal(err)
	}
	return rows
}

// Missing values, levels that did not occur, numbers that are none.
func TestBadRows(t *testing.T) {
	dir, unstructured := result(t)
	e, err := serve.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	nan := math.NaN()
	for _, c := range []struct {
		rows *serve.Rows
		na   data.NAPolicy
		want string
	}{
		{with(t, "x3", 2, nan, 0), data.NAError, `column "x3", data row 3: data: a value is missing; fill it in, let a model that can fill it in (na "keep"), or leave such rows out`},
		{with(t, "g", 1, 0, -1), data.NAError, `column "g", data row 2: data: a value is missing`},
		{with(t, "g", 1, 0, -1), data.NAKeep, `data row 2: level "(missing)" of column "g"`},
		{with(t, "day", 1, nan, 0), data.NAKeep, `data row 2: level "(missing)" of column "day"`},
		{with(t, "x3", 2, math.Inf(1), 0), data.NADrop, `column "x3", data row 3: the value is +Inf`},
		{with(t, "g", 3, 0, 3), data.NAError, `data row 4: level "z" of column "g"`},
		{with(t, "day", 3, 99, 0), data.NAError, `data row 4: level "99" of column "day"`},
		{with(t, "x1", 2, nan, 0), data.NAKeep, `column "x1", data row 3`}, // a term reads it
	} {
		if _, _, err := e.Explain(t.Context(), c.rows, false, c.na); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	parts, dropped, err := e.Explain(t.Context(), with(t, "g", 1, 0, -1), false, data.NADrop)
	if err != nil || dropped != 1 {
		t.Fatal(dropped, err)
	}
	at := slices.Index(e.Parts(false), "unstructured")
	if got := parts[at]; !math.IsNaN(got[1]) || got[0] != unstructured[0] || got[3] != unstructured[3] {
		t.Errorf("with a row left out: %v, want %v", got, unstructured[:4])
	}
}

// client speaks to a Stdio of its own.
type client struct {
	t    *testing.T
	in   *io.PipeWriter
	out  *io.PipeReader
	done chan error
}

func dial(t *testing.T, ctx context.Context, dir string) *client {
	t.Helper()
	e, err := serve.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	c := &client{t, inW, outR, make(chan error, 1)}
	go func() {
		c.done <- serve.Stdio(ctx, e, inR, outW, serve.Words{CreatedBy: "test"})
		outW.Close()
		inR.Close()
	}()
	t.Cleanup(func() { inW.Close(); outR.Close() })
	return c
}

func frame(header string, payload []byte) []byte {
	b := binary.LittleEndian.AppendUint32(nil, uint32(len(header)))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(payload)))
	return append(append(b, header...), payload...)
}

func (c *client) send(header string, payload []byte) {
	c.t.Helper()
	if _, err := c.in.Write(frame(header, payload)); err != nil {
		c.t.Fatal(err)
	}
}

func (c *client) receive() (header map[string]any, payload []float64) {
	c.t.Helper()
	var lengths [2]uint32
	if err := binary.Read(c.out, binary.LittleEndian, &lengths); err != nil {
		c.t.Fatal(err)
	}
	text := make([]byte, lengths[0])
	payload = make([]float64, lengths[1]/8)
	if _, err := io.ReadFull(c.out, text); err != nil {
		c.t.Fatal(err)
	}
	if err := errors.Join(binary.Read(c.out, binary.LittleEndian, payload), json.Unmarshal(text, &header)); err != nil {
		c.t.Fatal(err)
	}
	return header, payload
}

// payload are rows of x0..x9, g, day for a request with the same columns.
func payload(t *testing.T, rows int) []byte {
	t.Helper()
	x, g, day := columns()
	var b bytes.Buffer
	for _, c := range append(x, day) {
		for i := range rows {
			b.Write(binary.LittleEndian.AppendUint64(nil, math.Float64bits(c[i%n])))
		}
	}
	for i := range rows {
		b.Write(binary.LittleEndian.AppendUint32(nil, uint32(g[i%n][0]-'a')))
	}
	return b.Bytes()
}

func apply(id, rows int) string {
	return `{"id":` + strconv.Itoa(id) + `,"op":"apply","rows":` + strconv.Itoa(rows) +
		`,"columns":["x0","x1","x2","x3","x4","x5","x6","x7","x8","x9","day","g"],"texts":{"g":["a","b","c"]}}`
}

// A conversation: greeting, rows, faults that do not end it, a request that is given up,
// the end.
func TestStdio(t *testing.T) {
	dir, unstructured := result(t)
	c := dial(t, t.Context(), dir)
	hello, _ := c.receive()
	parts := hello["parts"].([]any)
	at := slices.Index(parts, "unstructured")
	if hello["protocol"] != 1.0 || at < 0 || len(hello["columns"].([]any)) != 12 {
		t.Fatalf("greeting %v", hello)
	}
	good := func(id int) {
		t.Helper()
		c.send(apply(id, 3), payload(t, 3))
		h, v := c.receive()
		if h["id"] != float64(id) || h["error"] != nil || len(v) != 3*len(parts) || v[3*at+2] != unstructured[2] {
			t.Fatalf("%v, %v", h, v)
		}
	}
	good(1)
	for _, bad := range []struct{ header, want string }{
		{`{"id":2,"op":"dance"}`, `op "dance"`},
		{`not JSON`, "header"},
		{`{"id":2,"op":"apply","rows":1}`, "the payload has 0 bytes"},
		{`{"id":2,"op":"apply","rows":-1}`, "-1 rows"},
		{`{"id":2,"op":"apply","rows":4611686018427387904,"columns":[]}`, "do not fit"},
		{`{"id":2,"op":"apply","columns":["x0","x0"]}`, `two columns "x0"`},
		{`{"id":2,"op":"apply","columns":["x0"]}`, `no column`},
		{`{"id":2,"op":"apply","na":"guess"}`, `na "guess"`},
	} {
		c.send(bad.header, nil)
		if h, _ := c.receive(); !strings.Contains(h["error"].(string), bad.want) {
			t.Errorf("%s: %v", bad.header, h)
		}
		good(3)
	}
	c.send(`{"op":"cancel","id":99}`, nil) // nothing is open: no answer
	const many = 60_000
	c.send(apply(4, many), payload(t, many))
	c.send(`{"op":"cancel","id":4}`, nil)
	if h, _ := c.receive(); h["cancelled"] != true {
		t.Errorf("a request that was given up: %v", h)
	}
	good(5)
	c.in.Close()
	if err := <-c.done; err != nil {
		t.Errorf("at the end: %v", err)
	}
}

// A client that sends and never reads is told off instead of waited for, and so is one that
// breaks off inside a frame; an interrupt ends a conversation.
func TestStdioEnds(t *testing.T) {
	dir, _ := result(t)
	c := dial(t, t.Context(), dir)
	c.receive()
	for id := range 4 {
		if _, err := c.in.Write(frame(apply(id, 3), payload(t, 3))); err != nil {
			break
		}
	}
	if err := <-c.done; err == nil || !strings.Contains(err.Error(), "before the last one was answered") {
		t.Errorf("a client that does not read: %v", err)
	}
	c = dial(t, t.Context(), dir)
	c.receive()
	if _, err := c.in.Write(frame(apply(1, 3), nil)[:20]); err != nil {
		t.Fatal(err)
	}
	c.in.Close()
	if err := <-c.done; !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a frame that breaks off: %v", err)
	}
	ctx, stop := context.WithCancel(t.Context())
	c = dial(t, ctx, dir)
	c.receive()
	stop()
	if err := <-c.done; !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}
