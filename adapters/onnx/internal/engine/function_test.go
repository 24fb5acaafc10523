package engine_test

import (
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/pho-go/pho/adapters/onnx/internal/engine"
	"github.com/pho-go/pho/adapters/onnx/internal/graphtest"
	"github.com/pho-go/pho/adapters/onnx/internal/structure"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// evaluated is what a network of graphtest.Model makes of one row.
func evaluated(t *testing.T, opset int64, x []float64, nodes func(b *onnxpb.Builder)) []float64 {
	t.Helper()
	file, err := proto.Marshal(graphtest.Model(opset, nodes).Model())
	if err != nil {
		t.Fatal(err)
	}
	g, err := graphtest.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := g.Values["y"]; !ok || g.Outputs[0].Name != "y" {
		t.Fatalf("the output is named %q", g.Outputs[0].Name)
	}
	r, err := engine.New(g, g.Outputs, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return graphtest.Run(t, r, g, [][]float64{x}, 0, 1)[0]
}

// What ONNX Runtime does not run, or not in the same way: functions of one name, of an
// opset of their own, and named like an operator.
func TestFunctions(t *testing.T) {
	in := graphtest.In
	relu := func(b *onnxpb.Builder) { b.AddNode("Relu", in("a"), "r") }
	for _, c := range []struct {
		name  string
		nodes func(b *onnxpb.Builder)
		want  []float64
	}{
		{"overloads", func(b *onnxpb.Builder) {
			graphtest.Function(b, "f", in("a"), in("r"), relu)
			graphtest.Function(b, "f", in("a"), in("r"), func(b *onnxpb.Builder) { b.AddNode("Neg", in("a"), "r") }).Overload = "other"
			b.AddNodes("local", "f", in("x"), in("y"))
			b.Model().Graph.Node[0].Overload = "other"
		}, []float64{1, -2, -3}},
		{"an opset of its own", func(b *onnxpb.Builder) { // axes are an attribute before 13
			f := graphtest.Function(b, "f", in("a"), in("r"), func(b *onnxpb.Builder) { b.AddNode("ReduceSum", in("a"), "r", onnxpb.Ints("axes", 1)) })
			f.OpsetImport[0].Version = 11
			b.AddNodes("local", "f", in("x"), in("y"))
		}, []float64{4}},
		{"named like an operator", func(b *onnxpb.Builder) {
			graphtest.Function(b, "Neg", in("a"), in("r"), relu).Domain = ""
			b.AddNode("Neg", in("x"), "y")
		}, []float64{0, 2, 3}},
		{"the input itself", func(b *onnxpb.Builder) {
			graphtest.Function(b, "f", in("a"), in("a"), func(*onnxpb.Builder) {})
			b.AddNodes("local", "f", in("x"), in("y"))
		}, []float64{-1, 2, 3}},
		{"names of the caller inside", func(b *onnxpb.Builder) {
			graphtest.Function(b, "f", in("h"), in("y"), func(b *onnxpb.Builder) {
				b.AddNode("Neg", in("h"), "x")
				b.AddNode("Add", in("x", "h"), "t")
				b.AddNode("Sub", in("t", "h"), "y")
			})
			b.AddNode("Relu", in("x"), "h")
			b.AddNodes("local", "f", in("x"), in("z"))
			b.AddNode("Add", in("z", "h"), "y")
		}, []float64{1, 0, 0}},
		{"a subgraph hides a name", func(b *onnxpb.Builder) {
			graphtest.Number(b, "n", 2)
			graphtest.Truth(b, "yes", 1)
			b.AddNode("Neg", in("x"), "h")
			b.AddNodes("", "Loop", in("n", "yes", "h"), in("z"), graphtest.Subgraph("body", in("i", "c", "x"), in("c", "h"), func(b *onnxpb.Builder) { b.AddNode("Add", in("x", "x"), "h") }))
			b.AddNode("Add", in("z", "h"), "y")
		}, []float64{5, -10, -15}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := evaluated(t, 13, []float64{-1, 2, 3}, c.nodes); !slices.Equal(got, c.want) {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
}

// A recurrent network's output at a step is a function of the steps so far, and is known
// to be one.
func TestRecurrentIsCausal(t *testing.T) {
	g, err := graphtest.LoadFile(graphtest.GoldenFile("recurrent", "rnn_forward_bias.onnx"))
	if err != nil {
		t.Fatal(err)
	}
	const steps, in, hidden = 5, 3, 4
	columns := make([]int, steps*in)
	for i := range columns {
		columns[i] = i
	}
	d, err := structure.NewDependencies(g, len(columns), [][]int{columns}, structure.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for step := range steps {
		for column := range columns {
			if got, want := d.DependsOn(g.Outputs[0], step*hidden, column), column/in <= step; got != want {
				t.Errorf("step %d depends on column %d: %v", step, column, got)
			}
		}
	}
}
