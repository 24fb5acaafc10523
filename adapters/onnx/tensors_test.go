package onnx

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// pictureNet is a semi-structured network: lines in three columns of a table, and a convolution of
// pictures of 2 x 6 x 6 whose 4 means over places the last layer reads.
func pictureNet(t testing.TB) *Graph {
	t.Helper()
	b := onnxpb.NewBuilder(17)
	b.AddInput("x", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 3)
	b.AddInput("img", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 2, 6, 6)
	var w []float64
	for i := range 4 * 2 * 3 * 3 {
		w = append(w, float64(i%7-3)/4)
	}
	b.AddInit("w", []int{4, 2, 3, 3}, w...)
	b.AddInit("beta", []int{3, 1}, 1, -2, 0.5)
	b.AddInit("gamma", []int{4, 1}, 1, 2, -1, 3)
	b.AddNode("Conv", []string{"img", "w"}, "c")
	b.AddNode("Relu", []string{"c"}, "r")
	b.AddNode("GlobalAveragePool", []string{"r"}, "p")
	b.AddNode("Flatten", []string{"p"}, "h")
	b.AddNode("MatMul", []string{"h", "gamma"}, "deep")
	b.AddNode("MatMul", []string{"x", "beta"}, "lines")
	b.AddNode("Add", []string{"lines", "deep"}, "y")
	b.Output("y", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 1)
	return loadBuilt(t, b)
}

func loadBuilt(t testing.TB, b *onnxpb.Builder) *Graph {
	t.Helper()
	raw, err := b.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	g, err := Load(bytes.NewReader(raw), nil)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// pictures are rows of pictureNet.
func pictures(t testing.TB, rows int) *data.Batch {
	t.Helper()
	b := data.NewBatch(rows, 0)
	for j := range 3 {
		x := make([]float64, rows)
		for i := range x {
			x[i] = math.Sin(float64(3*i + j))
		}
		if err := b.SetNumeric(fmt.Sprintf("x[%d]", j), x); err != nil {
			t.Fatal(err)
		}
	}
	img := mat.NewDense(rows, 72, nil)
	for i := range img.RawMatrix().Data {
		img.RawMatrix().Data[i] = math.Cos(float64(i * i))
	}
	if err := b.SetTensor("img", img); err != nil {
		t.Fatal(err)
	}
	return b
}

// A picture is one column. Its deep part is what the last layer reads, after pooling, and the lines of the
// table are found beside it.
func TestPictureIsOneInput(t *testing.T) {
	g := pictureNet(t)
	s, err := Discover(g, Unbound(g), nil)
	if err != nil {
		t.Fatal(err)
	}
	p := s.Predictors[0]
	var terms []string
	for _, term := range p.Terms {
		terms = append(terms, fmt.Sprintf("%s %g", term.Name, *term.Coefficient))
	}
	if fmt.Sprint(terms) != "[x[0] 1 x[1] -2 x[2] 0.5]" || fmt.Sprint(p.Deep.Columns, p.Deep.Width, p.Deep.Tensors) != "[img] 4 [h]" {
		t.Errorf("terms %q, deep part %+v", terms, p.Deep)
	}
	if want := `picture "img", 2 x 6 x 6`; s.Inputs[1].Whole != want || !strings.Contains(p.Deep.Reasons[0], "depend on "+want+" alone") {
		t.Errorf("input %+v, %q", s.Inputs[1], p.Deep.Reasons)
	}
	if s.Inputs[1].Kind != "picture" || s.Inputs[0].Kind != "" {
		t.Errorf("kinds %q and %q", s.Inputs[0].Kind, s.Inputs[1].Kind)
	}
}

// What depends on a picture is no term. By its column or by a tensor, the features that the last layer reads are a tap
// beside the terms, and the deep part is as it was.
func TestFeaturesOfPicture(t *testing.T) {
	g := pictureNet(t)
	plain, err := NewModel(g, Unbound(g), nil)
	if err != nil {
		t.Fatal(err)
	}
	const rows = 9
	b := pictures(t, rows)
	run := func(m *Model) *decompose.Outputs {
		out := &decompose.Outputs{Eta: mat.NewDense(rows, 1, nil), Zeta: mat.NewDense(rows, 1, nil), Taps: map[string]*mat.Dense{}}
		for name, width := range m.Taps() {
			out.Taps[name] = mat.NewDense(rows, width, nil)
		}
		if err := m.Forward(context.Background(), out, b); err != nil {
			t.Fatal(err)
		}
		return out
	}
	want := run(plain)
	for _, name := range []string{"img", "f(img)", "h"} {
		m, err := NewModel(g, Unbound(g), &Options{Learned: []string{name}})
		if err != nil {
			t.Fatal(err)
		}
		f := m.Features()
		if len(f) != 1 || f[0].Tensor != "f(img)@h" || fmt.Sprint(f[0].Features) != "[img]" || f[0].Width != 4 || len(m.Tap("f(img)@h")) != 4 {
			t.Fatalf("%s: features %+v", name, f)
		}
		if len(m.Blocks(0)) != 3 || !reflect.DeepEqual(m.Structure().Predictors, plain.Structure().Predictors) {
			t.Errorf("%s: other terms or another deep part: %+v", name, m.Structure().Predictors)
		}
		got := run(m)
		var zeta mat.Dense
		zeta.Mul(got.Taps["f(img)@h"], mat.NewDense(4, 1, []float64{1, 2, -1, 3}))
		// The numbers of the table are rounded on their way into the network, which is in the deep part, too.
		if !mat.EqualApprox(&zeta, want.Zeta, 1e-6) || !mat.Equal(got.Zeta, want.Zeta) {
			t.Errorf("%s: U gamma is not the deep part", name)
		}
	}
	if f := plain.Features(); f != nil {
		t.Errorf("features that nobody asked for: %v", f)
	}
	_, err = Discover(g, Unbound(g), &Options{Learned: []string{"img"}, Deep: []string{"img"}})
	if err == nil || err.Error() != `onnx: Options.Learned "img" and Options.Deep "img" name the same part of the network` {
		t.Errorf("both: %v", err)
	}
}

// Features of a layer that reads a picture and columns together are of both.
func TestFeaturesOfPictureAndColumns(t *testing.T) {
	b := onnxpb.NewBuilder(17)
	b.AddInput("x", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 1)
	b.AddInput("img", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 1, 2, 2)
	b.AddNode("Flatten", []string{"img"}, "flat")
	b.AddNode("Concat", []string{"flat", "x"}, "both", onnxpb.Int("axis", 1))
	b.AddInit("w", []int{5, 2}, 1, -1, 2, 0.5, 3, -2, 1, 1, 0.5, 0.25)
	b.AddNode("MatMul", []string{"both", "w"}, "z")
	b.AddNode("Tanh", []string{"z"}, "u")
	b.AddInit("gamma", []int{2, 1}, 1, 2)
	b.AddNode("MatMul", []string{"u", "gamma"}, "y")
	b.Output("y", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 1)
	g := loadBuilt(t, b)
	m, err := NewModel(g, Unbound(g), &Options{Learned: []string{"img"}})
	if err != nil {
		t.Fatal(err)
	}
	if f := m.Features(); len(f) != 1 || f[0].Name() != "f(x,img)" || f[0].Width != 2 {
		t.Errorf("features %+v", f)
	}
}

// A tensor enters as its numbers do in columns of their own, in any batches.
func TestTensorEntersAsColumns(t *testing.T) {
	g := pictureNet(t)
	whole, err := NewModel(g, Unbound(g), nil)
	if err != nil {
		t.Fatal(err)
	}
	apart := Unbound(g)
	apart[1].Columns = nil
	const rows = 9
	b := pictures(t, rows)
	img, err := b.Tensor("img")
	if err != nil {
		t.Fatal(err)
	}
	for e := range 72 {
		name := fmt.Sprintf("img[%d]", e)
		apart[1].Columns = append(apart[1].Columns, name)
		if err := b.SetNumeric(name, mat.Col(nil, e, img)); err != nil {
			t.Fatal(err)
		}
	}
	columns, err := NewModel(g, apart, nil)
	if err != nil {
		t.Fatal(err)
	}
	eta := func(m *Model, b *data.Batch) []float64 {
		out := &decompose.Outputs{Eta: mat.NewDense(b.Rows(), 1, nil), Zeta: mat.NewDense(b.Rows(), 1, nil)}
		if err := m.Forward(context.Background(), out, b); err != nil {
			t.Fatal(err)
		}
		return append(out.Eta.RawMatrix().Data, out.Zeta.RawMatrix().Data...)
	}
	want := eta(columns, b)
	if got := eta(whole, b); !slices.Equal(got[:rows], want[:rows]) {
		t.Errorf("eta %v, by columns %v", got[:rows], want[:rows])
	}
	for i, z := range eta(whole, b)[rows:] { // U has fewer columns after pooling, so other sums
		if math.Abs(z-want[rows+i]) > 1e-12 {
			t.Errorf("row %d: zeta %g, by columns %g", i, z, want[rows+i])
		}
	}
	if got, want := eta(whole, b.Slice(4, 6))[:2], want[4:6]; !slices.Equal(got, want) {
		t.Errorf("rows 4 and 5 alone: %v, want %v", got, want)
	}
	single, err := whole.WithEngine(GoEngine{Precision: Single})
	if err != nil {
		t.Fatal(err)
	}
	if got := eta(single, b)[0]; math.Abs(got-want[0]) > 1e-5 {
		t.Errorf("in float32 %g, want %g", got, want[0])
	}
	if got := whole.Tensors(); len(got) != 1 || got["img"] != 72 {
		t.Errorf("tensors %v", got)
	}

	img.Set(7, 40, math.NaN())
	out := &decompose.Outputs{Eta: mat.NewDense(rows, 1, nil), Zeta: mat.NewDense(rows, 1, nil)}
	if err := whole.Forward(context.Background(), out, b); err == nil || !strings.Contains(err.Error(), `column "img", data row 8, number 41 of 72: NaN cannot enter the network`) {
		t.Errorf("NaN in a picture: %v", err)
	}
}

// Tokens that reach the predictor through linear nodes alone, as in a residual stream, are one deep part and
// not a term for each number.
func TestLinearTokensAreOneAddend(t *testing.T) {
	b := onnxpb.NewBuilder(17)
	b.AddInput("tok", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 5, 4)
	b.AddInit("w", []int{4, 4}, 1, 0, 2, 0, 0, 1, 0, 3, 1, 1, 0, 0, 0, 0, 1, 1)
	b.AddInit("v", []int{4, 1}, 1, -1, 2, 1)
	b.AddNode("MatMul", []string{"tok", "w"}, "q")
	b.AddNode("Tanh", []string{"q"}, "a")
	b.AddNode("Add", []string{"tok", "a"}, "stream")
	b.AddNode("ReduceMean", []string{"stream"}, "mean", onnxpb.Ints("axes", 1), onnxpb.Int("keepdims", 0))
	b.AddNode("MatMul", []string{"mean", "v"}, "y")
	b.Output("y", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 1)
	g := loadBuilt(t, b)
	s, err := Discover(g, Unbound(g), nil)
	if err != nil {
		t.Fatal(err)
	}
	if p := s.Predictors[0]; len(p.Terms) != 0 || p.Deep.Width != 4 || fmt.Sprint(p.Deep.Tensors) != "[mean]" {
		t.Errorf("terms %+v, deep part %+v", p.Terms, p.Deep)
	}
}

// A tensor column of the input's name fills it; one of another width, or a column for two widths, is refused.
func TestBindTensor(t *testing.T) {
	g := pictureNet(t)
	schema := append(numericSchema("x[0]", "x[1]", "x[2]"), data.Column{Name: "img", Width: 72})
	bind, err := Bind(g, schema, nil)
	if err != nil || fmt.Sprint(bind[1].Columns) != "[img]" {
		t.Errorf("%v, %v", bind, err)
	}
	schema[3].Width = 71
	if _, err := Bind(g, schema, nil); err == nil || !strings.Contains(err.Error(), `onnx: column "img" holds 71 numbers a row, input "img" [N 2 6 6] takes 72`) {
		t.Error(err)
	}
	schema[3].Name = "pictures"
	if _, err := Bind(g, schema, nil); err == nil || !strings.Contains(err.Error(), `arrays: "pictures" (71 numbers a row)`) {
		t.Error(err)
	}
	if _, err := NewModel(g, Binding{{"x", []string{"a", "b", "img"}}, {"img", []string{"img"}}}, nil); err == nil || !strings.Contains(err.Error(), `column "img" is bound to inputs that take 1 and 72 numbers of it a row`) {
		t.Error(err)
	}
}

// TestTokens: discovery in a network of token ids needs memory in proportion to the tokens, not to tokens times the table
// of their embeddings, and names the columns of the deep part.
func TestTokens(t *testing.T) {
	const tokens, table = 64, 20_000
	b := onnxpb.NewBuilder(17)
	b.AddInput("x", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 1)
	b.AddInput("ids", onnxpb.TensorProto_INT64, onnxpb.Rows, tokens)
	b.AddInput("mask", onnxpb.TensorProto_FLOAT, onnxpb.Rows, tokens)
	b.AddInit("table", []int{table, 1}, make([]float64, table)...)
	b.AddInit("w", []int{tokens, 1}, slices.Repeat([]float64{0.5}, tokens)...)
	b.AddNode("Gather", []string{"table", "ids"}, "found")
	b.AddNode("Flatten", []string{"found"}, "flat")
	b.AddNode("Mul", []string{"flat", "mask"}, "masked")
	b.AddNode("Tanh", []string{"masked"}, "h")
	b.AddNode("MatMul", []string{"h", "w"}, "deep")
	b.AddNode("Add", []string{"deep", "x"}, "y")
	b.Output("y", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 1)
	g := loadBuilt(t, b)
	bind := Binding{{"x", []string{"x"}}, {"ids", []string{"ids"}}, {"mask", []string{"mask"}}}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	s, err := Discover(g, bind, nil)
	runtime.ReadMemStats(&after)
	if err != nil {
		t.Fatal(err)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 32<<20 {
		t.Errorf("%d bytes allocated", took)
	}
	why := strings.Join(s.Predictors[0].Deep.Reasons, "\n")
	if want := `depend on 2 columns ("ids", "mask"), with arrays among them`; !strings.Contains(why, want) {
		t.Errorf("deep part: %s, want %s", why, want)
	}
}
