package export_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/adapters/onnx/export"
	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

const (
	float  = onnxpb.TensorProto_FLOAT
	double = onnxpb.TensorProto_DOUBLE
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// network is a semi-structured network of x (x1, x2, x3): a line, a learned basis of x1 and
// a deep part, for each output.
func network(t testing.TB, opset int64, kind onnxpb.TensorProto_DataType, outputs ...string) []byte {
	b := onnxpb.NewBuilder(opset)
	b.AddInput("x", kind, onnxpb.Rows, 3)
	random := rand.New(rand.NewPCG(7, 7))
	weights := func(name string, shape ...int) string {
		n := 1
		for _, d := range shape {
			n *= d
		}
		w := make([]float64, n)
		for i := range w {
			w[i] = float64(float32(random.NormFloat64()))
		}
		if kind == double {
			b.AddDouble(name, shape, w...)
		} else {
			b.AddInit(name, shape, w...)
		}
		return name
	}
	node := func(op, out string, in ...string) string {
		b.AddNode(op, in, out)
		return out
	}
	b.AddInts("first", 0)
	first := "x1"
	b.AddNode("Gather", []string{"x", "first"}, first, onnxpb.Int("axis", 1))
	unit := node("Tanh", "unit", node("MatMul", "units", first, weights("u", 1, 4)))
	for _, y := range outputs {
		deep := node("Tanh", y+".h", node("MatMul", y+".d", "x", weights(y+".w", 3, 5)))
		deep = node("MatMul", y+".deep", deep, weights(y+".v", 5, 1))
		line := node("MatMul", y+".line", "x", weights(y+".l", 3, 1))
		learned := node("MatMul", y+".f", unit, weights(y+".c", 4, 1))
		node("Add", y, node("Add", y+".a", deep, line), learned)
		b.Output(y, kind, onnxpb.Rows, 1)
	}
	file, err := b.Marshal()
	must(t, err)
	return file
}

// rows are columns of numbers, x4 far from 0, and of text.
func rows(t testing.TB, n int) *data.Table {
	random, table := rand.New(rand.NewPCG(1, 1)), data.NewTable(n)
	columns := map[string]func() float64{
		"x1": random.NormFloat64, "x2": func() float64 { return 10 * random.Float64() }, "x3": random.ExpFloat64,
		"x4": func() float64 { return 2000 + 3*random.NormFloat64() }, "x5": func() float64 { return random.Float64() - 0.5 },
		"k": func() float64 { return []float64{1, 2, 3.5, 7}[random.IntN(4)] },
		"m": func() float64 { return float64(random.IntN(30)) },
	}
	for _, name := range []string{"x1", "x2", "x3", "x4", "x5", "k", "m"} {
		x := make([]float64, n)
		for i := range x {
			x[i] = float64(float32(columns[name]()))
		}
		must(t, table.AddNumeric(name, x))
	}
	for _, text := range [][]string{{"g", "blue", "green", "light red"}, {"h", "u", "v"}} {
		own := make([]string, n)
		for i := range own {
			own[i] = text[1+random.IntN(len(text)-1)]
		}
		must(t, table.AddTexts(text[0], own))
	}
	return table
}

// open is the network in a file, bound to the rows.
func open(t testing.TB, file []byte, src data.Source) *onnx.Model {
	t.Helper()
	g, err := onnx.Load(bytes.NewReader(file), nil)
	must(t, err)
	bind, err := onnx.Bind(g, src.Schema(), map[string][]string{"x": {"x1", "x2", "x3"}})
	must(t, err)
	m, err := onnx.NewModel(g, bind, &onnx.Options{Decode: basis.Decode})
	must(t, err)
	return m
}

// decomposed is the network with the formula's terms, split over the rows.
func decomposed(t testing.TB, file []byte, src *data.Table, formula string, o *decompose.Options) (*onnx.Model, decompose.Model, *decompose.Result) {
	t.Helper()
	m := open(t, file, src)
	var with decompose.Model = m
	if formula != "" {
		f, err := basis.Parse(formula, &basis.Options{Schema: src.Schema()})
		must(t, err)
		prepared, err := decompose.PrepareEach(context.Background(), src, f.Specs, nil)
		must(t, err)
		var blocks []decompose.Block
		for _, p := range prepared {
			blocks = append(blocks, p.Blocks...)
		}
		with, err = decompose.With(m, map[string][]decompose.Block{"": blocks})
		must(t, err)
	}
	r, err := decompose.Decompose(context.Background(), with, src, o)
	must(t, err)
	return m, with, r
}

func written(t testing.TB, file []byte, m *onnx.Model, with decompose.Model, r *decompose.Result) []byte {
	t.Helper()
	must(t, export.Check(export.File{Model: file}, m, with, nil))
	var out bytes.Buffer
	must(t, export.Write(&out, export.File{Model: file}, m, r, nil))
	return out.Bytes()
}

// numeric are formulas of numeric columns alone, so that our engine runs the file that is
// written.
var numeric = []string{
	"", "~ x5", "~ x4 + x5 + x1:x2", "~ s(x1)", `~ s(x2, bs="ps", k=12)`, `~ s(x2, bs="cr", k=6)`, `~ s(x2, bs="cc") + s(x3, bs="cp", k=7)`,
	`~ s(x2, bs="bs", m=c(4,2))`, `~ s(x1, bs="ps", m=c(0,1))`, `~ s(x1, m=3, k=8) + s(x2, m=1, k=8)`, `~ s(x1, k=5) + s(x1, x2, k=20)`, `~ s(x1, x2, x3, k=20)`,
	`~ s(x1, x2, m=3, k=12)`, `~ s(x1, x2, bs="rbf", k=12) + s(x5, bs="rbf", k=6)`, `~ te(x1, x2)`, `~ ti(x1, x2, x3, k=4, bs="ps")`,
	`~ te(x1, x2, x3, d=c(2,1), k=c(12,4), bs=c("tp","cr"))`, "~ factor(k) + factor(m)", `~ s(m, bs="cr", k=5)`, "~ factor(k):x2 + factor(k):factor(m)",
	`~ s(x2, by=x5)`, `~ s(x2, by=factor(k), k=5)`, `~ te(x1, x5, by=x2, k=4)`, `~ s(x4) + s(x4, x5, k=20)`,
	`~ s(x1, k=6) + s(x5, k=6) + te(x1, x5, k=4) + factor(k) + factor(m) + factor(k):factor(m) + factor(k):x1 + s(x5, by=factor(k), k=5)`,
}

// What is written computes the parts, whatever the basis, the type of the network and the
// opset; and the network's own output as before.
func TestParts(t *testing.T) {
	src := rows(t, 400)
	for i, formula := range numeric {
		for _, kind := range []onnxpb.TensorProto_DataType{double, float} {
			opset := int64(7 + (3*i+int(kind))%22)
			file := network(t, opset, kind, "y")
			m, with, r := decomposed(t, file, src, formula, &decompose.Options{})
			adapted := written(t, file, m, with, r)
			compare(t, fmt.Sprintf("%s, %s, opset %d", formula, kind, opset), adapted, m, r, src, kind)
		}
	}
}

// Several predictors have parts of their own, and share bases.
func TestPredictors(t *testing.T) {
	src := rows(t, 300)
	file := network(t, 13, float, "mu", "sigma")
	m, with, r := decomposed(t, file, src, `~ s(x2, k=6) + x5`, &decompose.Options{})
	adapted := written(t, file, m, with, r)
	compare(t, "two predictors", adapted, m, r, src, float)
	var names []string
	for _, o := range listed(t, adapted) {
		names = append(names, o.Name)
	}
	for _, want := range []string{"mu/x2", "mu/f(x1)", "sigma/s(x2)", "mu/intercept", "sigma/unstructured", "sigma/eta"} {
		if !slices.Contains(names, want) {
			t.Errorf("no output %q in %q", want, names)
		}
	}
}

// An output whose name the file uses otherwise is pho/NAME: of a column x5 that is an input,
// and of x1, a tensor of the network.
func TestNames(t *testing.T) {
	src := rows(t, 200)
	file := network(t, 17, double, "eta")
	m, with, r := decomposed(t, file, src, "~ x5", &decompose.Options{})
	adapted := written(t, file, m, with, r)
	own := map[string]string{}
	for _, o := range listed(t, adapted) {
		own[cmpOr(o.Term, o.Part)] = o.Name
	}
	for part, want := range map[string]string{"x1": "pho/x1", "x2": "x2", "eta": "pho/eta", "intercept": "intercept", "x5": "pho/x5"} {
		if own[part] != want {
			t.Errorf("part %s is output %q, want %q", part, own[part], want)
		}
	}
	compare(t, "names", adapted, m, r, src, double)
}

func cmpOr(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// Opened again, the file is the network it was made of: the same decomposition, and what is
// written of it has the same bytes.
func TestFixedPoint(t *testing.T) {
	src := rows(t, 300)
	for _, outputs := range [][]string{{"y"}, {"mu", "sigma"}} {
		const formula = `~ s(x2, k=6) + g + x5 + s(x1, by=h, k=5) + factor(k):g`
		file := network(t, 17, float, outputs...)
		m, with, r := decomposed(t, file, src, formula, &decompose.Options{})
		once := written(t, file, m, with, r)
		again, with2, r2 := decomposed(t, once, src, formula, &decompose.Options{})
		if !slices.ContainsFunc(again.Structure().Notes, func(n string) bool { return strings.Contains(n, "passed over") }) {
			t.Errorf("no note says that parts are passed over: %q", again.Structure().Notes)
		}
		if got, want := again.Columns(), m.Columns(); !slices.Equal(got, want) {
			t.Errorf("the network reads %q, before %q", got, want)
		}
		a, err := json.Marshal(r)
		must(t, err)
		b, err := json.Marshal(r2)
		must(t, err)
		if !bytes.Equal(a, b) {
			t.Error("another decomposition")
		}
		if twice := written(t, once, again, with2, r2); !bytes.Equal(once, twice) {
			t.Error("the file written again differs")
		}
	}
}

// The network's own nodes, initializers, inputs and outputs stay as they are, in order and to
// the byte; what is added follows, and is called pho/....
func TestUnchanged(t *testing.T) {
	src := rows(t, 200)
	file := network(t, 11, float, "y")
	m, with, r := decomposed(t, file, src, "~ g + x5", &decompose.Options{})
	before, after := decode(t, file), decode(t, written(t, file, m, with, r))
	for i, n := range before.Graph.Node {
		if !proto.Equal(n, after.Graph.Node[i]) {
			t.Errorf("node %d is %v", i, after.Graph.Node[i])
		}
	}
	for _, n := range after.Graph.Node[len(before.Graph.Node):] {
		if !strings.HasPrefix(n.Name, "pho/") {
			t.Errorf("a new node is called %q", n.Name)
		}
	}
	if len(after.Graph.Initializer) != len(before.Graph.Initializer) || !proto.Equal(before.Graph.Output[0], after.Graph.Output[0]) || !proto.Equal(before.Graph.Input[0], after.Graph.Input[0]) {
		t.Error("initializers, inputs or outputs changed")
	}
	var inputs []string
	for _, in := range after.Graph.Input {
		inputs = append(inputs, in.Name)
	}
	if !slices.Equal(inputs, []string{"x", "g", "x5"}) {
		t.Errorf("inputs %q", inputs)
	}
	if after.OpsetImport[0].Version != 11 {
		t.Errorf("opset %d", after.OpsetImport[0].Version)
	}
}

func decode(t testing.TB, file []byte) *onnxpb.ModelProto {
	m := &onnxpb.ModelProto{}
	if err := proto.Unmarshal(file, m); err != nil {
		t.Fatal(err)
	}
	return m
}

type part struct{ Name, Predictor, Part, Term string }

// listed are the parts that the metadata tell.
func listed(t testing.TB, file []byte) []part {
	t.Helper()
	var doc struct{ Parts struct{ Outputs []part } }
	for _, e := range decode(t, file).MetadataProps {
		if e.Key == onnx.MetadataStructure {
			must(t, json.Unmarshal([]byte(e.Value), &doc))
		}
	}
	return doc.Parts.Outputs
}

// compare runs the file's outputs with our engine, in float64, and compares them with the
// parts of the rows.
func compare(t *testing.T, name string, file []byte, m *onnx.Model, r *decompose.Result, src *data.Table, kind onnxpb.TensorProto_DataType) {
	t.Helper()
	outputs := listed(t, file)
	bare := decode(t, file)
	bare.MetadataProps = nil // so that the parts are outputs like others
	raw, err := proto.Marshal(bare)
	must(t, err)
	g, err := onnx.Load(bytes.NewReader(raw), nil)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	var tensors []string
	for _, o := range outputs {
		tensors = append(tensors, o.Name)
	}
	e, err := onnx.GoEngine{}.Prepare(g, tensors)
	must(t, err)
	n := src.Rows()
	got := make([][]float64, len(tensors))
	for i := range got {
		got[i] = make([]float64, n)
	}
	must(t, e.Run(got, feeds(t, g, src), n))
	applier, err := r.Applier(m)
	must(t, err)
	tolerance := 1e-11
	if kind == float {
		tolerance = 2e-6 // constants of float32 terms
	}
	for parts, err := range applier.All(context.Background(), src) {
		must(t, err)
		for k, p := range parts.Predictors {
			sd := math.Sqrt(r.Predictors[k].Variance.Total)
			for i, o := range outputs {
				if o.Predictor != r.Predictors[k].Name {
					continue
				}
				worst := 0.0
				for row := range n {
					worst = max(worst, math.Abs(got[i][row]-partOf(r, k, p, o, row))/sd)
				}
				if !(worst <= tolerance) {
					t.Errorf("%s: %s is wrong by %.2g standard deviations of eta", name, o.Name, worst)
				}
			}
		}
	}
}

func partOf(r *decompose.Result, k int, p decompose.PredictorParts, o part, row int) float64 {
	switch o.Part {
	case "intercept":
		return p.Intercept
	case "unstructured":
		return p.Unstructured[row]
	case "eta":
		return p.Eta[row]
	}
	at := slices.IndexFunc(r.Predictors[k].Terms, func(t decompose.TermResult) bool { return t.Name == o.Term })
	return p.Terms.At(row, at)
}

// feeds are the columns of the inputs: x of the network, and columns of their own names.
func feeds(t testing.TB, g *onnx.Graph, src *data.Table) [][]float64 {
	t.Helper()
	var batch *data.Batch
	var numbers []string
	for _, c := range src.Schema() {
		if c.Numeric {
			numbers = append(numbers, c.Name)
		}
	}
	for b, err := range src.Batches(context.Background(), numbers) {
		must(t, err)
		batch = b
	}
	var inputs [][]float64
	for _, in := range g.Inputs() {
		columns := []string{strings.TrimPrefix(in.Name, "pho/")}
		if in.Name == "x" {
			columns = []string{"x1", "x2", "x3"}
			if wide := src.Schema().Names(); wide[0] == "w0" {
				columns = wide
			}
		}
		x := make([]float64, batch.Rows()*len(columns))
		for j, c := range columns {
			v, err := batch.Numeric(c)
			must(t, err)
			for i := range v {
				x[i*len(columns)+j] = v[i]
			}
		}
		inputs = append(inputs, x)
	}
	return inputs
}

// A wide network, all linear, far from 0: its float32 lines keep their digits.
func TestWide(t *testing.T) {
	for _, width := range []int{5, 70} {
		b := onnxpb.NewBuilder(15)
		b.AddInput("x", float, onnxpb.Rows, width)
		coef, center := make([]float64, width), make([]float64, width)
		random, src := rand.New(rand.NewPCG(5, uint64(width))), data.NewTable(200)
		for j := range coef {
			coef[j], center[j] = random.NormFloat64(), 1000*float64(j)
			x := make([]float64, src.Rows())
			for i := range x {
				x[i] = float64(float32(center[j] + random.NormFloat64()))
			}
			must(t, src.AddNumeric(fmt.Sprintf("w%d", j), x))
		}
		b.AddInit("center", []int{width}, center...)
		b.AddInit("coef", []int{width, 1}, coef...)
		b.AddNode("Sub", []string{"x", "center"}, "centred")
		b.AddNode("MatMul", []string{"centred", "coef"}, "y")
		b.Output("y", float, onnxpb.Rows, 1)
		file, err := b.Marshal()
		must(t, err)
		g, err := onnx.Load(bytes.NewReader(file), nil)
		must(t, err)
		bind, err := onnx.Bind(g, src.Schema(), nil)
		must(t, err)
		m, err := onnx.NewModel(g, bind, nil)
		must(t, err)
		r, err := decompose.Decompose(context.Background(), m, src, nil)
		must(t, err)
		compare(t, fmt.Sprintf("%d lines", width), written(t, file, m, m, r), m, r, src, float)
	}
}
