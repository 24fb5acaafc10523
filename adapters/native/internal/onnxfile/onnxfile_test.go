package onnxfile_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/adapters/native/internal/network"
	"github.com/pho-go/pho/adapters/native/internal/nn"
	"github.com/pho-go/pho/adapters/native/internal/onnxfile"
	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

const rows = 120

// table draws numbers a and b.
func table(t *testing.T) (*data.Table, *data.Batch) {
	t.Helper()
	random := rand.New(rand.NewPCG(5, 6))
	tab, batch := data.NewTable(rows), data.NewBatch(rows, 0)
	for _, name := range []string{"a", "b"} {
		x := make([]float64, rows)
		for i := range x {
			x[i] = float64(float32(random.NormFloat64()))
		}
		if err := tab.AddNumeric(name, x); err != nil {
			t.Fatal(err)
		}
		if err := batch.SetNumeric(name, x); err != nil {
			t.Fatal(err)
		}
	}
	return tab, batch
}

// predicted is what the file's outputs are at the rows, by name, and the terms that are found in it.
func predicted(t *testing.T, file []byte, src *data.Table, batch *data.Batch) (m *onnx.Model, eta map[string][]float64) {
	t.Helper()
	g, err := onnx.Load(bytes.NewReader(file), nil)
	if err != nil {
		t.Fatal(err)
	}
	bind, err := onnx.Bind(g, src.Schema(), nil)
	if err != nil {
		t.Fatal(err)
	}
	m, err = onnx.NewModel(g, bind, &onnx.Options{Decode: basis.Decode})
	if err != nil {
		t.Fatal(err)
	}
	k := len(m.Predictors())
	out := &decompose.Outputs{Zeta: mat.NewDense(rows, k, nil), Eta: mat.NewDense(rows, k, nil), Taps: map[string]*mat.Dense{}}
	for name, width := range m.Taps() {
		out.Taps[name] = mat.NewDense(rows, width, nil)
	}
	if err := m.Forward(context.Background(), out, batch); err != nil {
		t.Fatal(err)
	}
	eta = map[string][]float64{}
	for j, name := range m.Predictors() {
		eta[name] = mat.Col(nil, j, out.Eta)
	}
	return m, eta
}

// TestWrite: the file computes intercept, formula terms, feature networks, a product of two of them and a deep part as the
// network does, in both precisions, and shows terms that do not read all columns.
func TestWrite(t *testing.T) {
	tab, batch := table(t)
	parsed, err := basis.Parse(`~ a + s(b, bs="ps", k=6)`, &basis.Options{Schema: tab.Schema()})
	if err != nil {
		t.Fatal(err)
	}
	blocks, err := decompose.Prepare(context.Background(), tab, parsed.Specs, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := slices.Repeat([]float64{0.75}, rows)
	for j := range blocks {
		x := mat.NewDense(rows, blocks[j].Term.Dim(), nil)
		if err := blocks[j].Term.Eval(x, batch); err != nil {
			t.Fatal(err)
		}
		for c := range blocks[j].Term.Dim() {
			blocks[j].Coef = append(blocks[j].Coef, math.Sin(float64(2*j+c+1)))
			for i := range want {
				want[i] += blocks[j].Coef[c] * x.At(i, c)
			}
		}
	}
	plans := []*network.Plan{
		{Name: "features", Columns: [][]string{{"a"}, {"b"}}, Numeric: 1, Predictors: []int{0}, Hidden: []int{5, 3}, Units: 3, Activation: nn.Relu, ProductOf: -1, Initialization: network.He},
		{Name: "pairs", Columns: [][]string{{"a", "b"}}, Predictors: []int{0}, ProductOf: 0, Pairs: [][2]int{{0, 1}}, Units: 9, Initialization: network.He},
		{Name: "deep", Deep: true, Columns: [][]string{{"a", "b"}}, Numeric: 2, Predictors: []int{0}, Hidden: []int{6, 4}, Units: 4, Activation: "tanh", ProductOf: -1, Initialization: network.He},
	}
	in := &network.Table[float64]{N: rows}
	for _, p := range plans {
		if err := p.Describe(batch); err != nil {
			t.Fatal(err)
		}
		x, codes, err := p.Read(batch)
		if err != nil {
			t.Fatal(err)
		}
		in.X, in.Codes = append(in.X, x), append(in.Codes, codes)
	}
	net := network.New[float64]([]network.Predictor{{Name: "y"}}, plans, 1)
	net.Init(rand.New(rand.NewPCG(1, 2)))
	part := &network.Batch[float64]{}
	in.Part(part, 0, rows)
	net.ForwardTowers(part, nn.Mode{})
	for k, tower := range net.Towers {
		before := slices.Clone(want)
		tower.AddTo(want, 1, rows)
		if slices.Equal(before, want) {
			t.Fatalf("%s adds nothing", plans[k].Name)
		}
	}
	learned := func(tower *network.Tower[float64]) {
		for g := range tower.Plan.Groups() {
			tap := &decompose.Tap{Tensor: tower.Plan.Tap(g), Features: tower.Plan.Columns[g], Width: tower.Plan.Units}
			blocks = append(blocks, decompose.Block{Term: tap, Coef: tower.HeadOf(g, 0)})
		}
	}
	learned(net.Towers[0])
	learned(net.Towers[1])
	model := &onnxfile.Model{
		Columns: []string{"a", "b"}, Towers: net.Towers, Ranges: map[string]onnx.Domain{"a": {From: -4, To: 4}, "b": {From: -4, To: 4}},
		Predictors: []onnxfile.Predictor{{Name: "y", Intercept: 0.75, Blocks: blocks}},
	}
	for _, double := range []bool{true, false} {
		var file bytes.Buffer
		if err := onnxfile.Write(&file, model, double); err != nil {
			t.Fatal(err)
		}
		m, eta := predicted(t, file.Bytes(), tab, batch)
		tolerance := 1e-12
		if !double {
			tolerance = 1e-5 // weights are rounded to float32
		}
		for i, w := range want {
			if got := eta["eta"][i]; math.Abs(got-w) > tolerance*(1+math.Abs(w)) {
				t.Fatalf("double %v, row %d: %g, the network has %g", double, i, got, w)
			}
		}
		var terms []string
		for _, term := range m.Structure().Predictors[0].Terms {
			terms = append(terms, fmt.Sprintf("%s:%d", term.Name, term.Width))
		}
		// What depends on all columns is the deep part: its last layer and the products.
		if got := strings.Join(terms, " "); got != "a:1 s(b):6 f(a):3 f(b):3" || m.Structure().Predictors[0].Deep.Width != 4+9 {
			t.Errorf("double %v: terms %s, deep part %+v", double, got, m.Structure().Predictors[0].Deep)
		}
	}
}

// TestWriteClasses: predictors of classes end in one softmax.
func TestWriteClasses(t *testing.T) {
	tab, batch := table(t)
	model := &onnxfile.Model{Columns: []string{"a", "b"}, Softmax: true}
	for j, name := range []string{"no", "yes", "perhaps"} {
		line := decompose.Block{Term: &decompose.LinearTerm{Column: "a"}, Coef: []float64{float64(j)}}
		model.Predictors = append(model.Predictors, onnxfile.Predictor{Name: name, Intercept: float64(j * j), Blocks: []decompose.Block{line}})
	}
	var file bytes.Buffer
	if err := onnxfile.Write(&file, model, true); err != nil {
		t.Fatal(err)
	}
	m, eta := predicted(t, file.Bytes(), tab, batch)
	a, err := batch.Numeric("a")
	if err != nil {
		t.Fatal(err)
	}
	for j, name := range m.Predictors() {
		for i, got := range eta[name] {
			if want := float64(j*j) + float64(j)*a[i]; math.Abs(got-want) > 1e-12*(1+math.Abs(want)) {
				t.Fatalf("%s, row %d: %g, want %g", name, i, got, want)
			}
		}
		if m.Head(j) != "softmax" {
			t.Errorf("%s is behind %q", name, m.Head(j))
		}
	}
}

// TestWriteErrors: what a file cannot hold is said, all of it at once.
func TestWriteErrors(t *testing.T) {
	line := []decompose.Block{{Term: &decompose.LinearTerm{Column: "a"}, Coef: []float64{1}}}
	for want, model := range map[string]*onnxfile.Model{
		"reads no column":                         {Predictors: []onnxfile.Predictor{{Name: "y"}}},
		`a column is called "a" like a predictor`: {Columns: []string{"a"}, Predictors: []onnxfile.Predictor{{Name: "a", Blocks: line}}},
	} {
		var file bytes.Buffer
		if err := onnxfile.Write(&file, model, true); err == nil || !strings.Contains(err.Error(), want) || file.Len() > 0 {
			t.Errorf("%v, %d bytes; want an error with %q", err, file.Len(), want)
		}
	}
}
