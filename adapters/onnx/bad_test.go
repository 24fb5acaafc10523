package onnx

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/pho-go/pho/adapters/onnx/internal/graphtest"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// Every bad model is refused with a message that says what, where and why.
func TestBadModels(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: it takes long, and starts nothing that the race detector, which runs -short, could see")
	}
	raw := func(b *onnxpb.Builder) []byte {
		out, err := proto.Marshal(b.Model())
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	node := func(opset int64, op string, inputs []string, attrs ...onnxpb.Attr) func() []byte {
		return func() []byte {
			return raw(graphtest.Model(opset, func(b *onnxpb.Builder) { b.AddNode(op, inputs, "y", attrs...) }))
		}
	}
	build := func(f func(b *onnxpb.Builder)) func() []byte {
		return func() []byte { return raw(graphtest.Model(13, f)) }
	}
	opset9 := func(f func(b *onnxpb.Builder)) func() []byte {
		return func() []byte { return raw(graphtest.Model(9, f)) }
	}
	change := func(f func(m *onnxpb.ModelProto)) func() []byte {
		return build(func(b *onnxpb.Builder) {
			b.AddInit("w", []int{3}, 1, 2, 3)
			b.AddNode("Add", graphtest.In("x", "w"), "y")
			f(b.Model())
		})
	}
	nest := func(levels int) []byte {
		b := []byte{}
		for range levels { // a subgraph in an attribute of a node of a graph
			b = protowire.AppendBytes(protowire.AppendTag(nil, 6, protowire.BytesType), b)
			b = protowire.AppendBytes(protowire.AppendTag(nil, 5, protowire.BytesType), b)
			b = protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), b)
		}
		return protowire.AppendBytes(protowire.AppendTag(nil, 7, protowire.BytesType), b)
	}
	for _, c := range []struct {
		name string
		file func() []byte
		want string
	}{
		{"empty", func() []byte { return nil }, `onnx: the model is empty (0 bytes)`},
		{"garbage", func() []byte { return []byte("PK\x03\x04 not a model") }, `onnx: not an ONNX model or damaged: bad tag in model: `},
		{"text", func() []byte { return []byte("x0,x1\n1,2\n") }, `onnx: not an ONNX model: field 5 of model is a group`},
		{"group", func() []byte { return []byte{7<<3 | 3, 7<<3 | 4} }, `onnx: not an ONNX model: field 7 of model is a group`},
		{"no graph", func() []byte { return []byte{8, 8} }, `onnx: not an ONNX model: the file has no graph`},
		{"depth bomb", func() []byte { return nest(40) }, `onnx: messages nest deeper than 64 levels (in `},
		{"attribute bomb", build(func(b *onnxpb.Builder) {
			b.AddNode("Relu", graphtest.In("x"), "y")
			n := b.Model().Graph.Node[0]
			for range 1_000_001 {
				n.Attribute = append(n.Attribute, &onnxpb.AttributeProto{})
			}
		}), `onnx: the model has more than 1000000 nodes, tensors, attributes and names (MaxElements)`},
		{"opset", func() []byte {
			return raw(graphtest.Model(29, func(b *onnxpb.Builder) { b.AddNode("Relu", graphtest.In("x"), "y") }))
		},
			`onnx: opset 29 of ai.onnx is not supported; export with opset 7 to 28`},
		{"unknown domain", build(func(b *onnxpb.Builder) { b.AddNodes("com.acme", "Magic", graphtest.In("x"), graphtest.In("y")) }),
			`onnx: node "y" (com.acme.Magic) is of domain "com.acme", which the model does not import`},
		{"unknown op", node(13, "Mystery", graphtest.In("x")), `onnx: node "y" (Mystery): operator "Mystery" of domain ai.onnx (version 13) is not supported; export the model with another opset or exporter, replace the operator by others before the export, or run the model in another engine`},
		{"lookup of Keras", build(func(b *onnxpb.Builder) {
			b.AddInput("table", graphtest.TInt64)
			b.AddNode("LookupTableFindV2", graphtest.In("table", "x"), "codes")
			b.AddNode("Cast", graphtest.In("codes"), "y", onnxpb.Int("to", int64(graphtest.TFloat)))
		}), `onnx: node "codes" (LookupTableFindV2): this is a lookup in a table (Keras: StringLookup, IntegerLookup), whose entries are not in the file; the exporter left it as an operator of TensorFlow, which no ONNX runtime computes; export the model again without this layer, with the layer's output as input, and apply the layer to the data instead`},
		{"hash of Keras", node(13, "StringToHashBucketFast", graphtest.In("x")), `onnx: node "y" (StringToHashBucketFast): this is a hash of text (Keras: Hashing); the exporter left it as an operator of TensorFlow, which no ONNX runtime computes; export the model again without this layer, with the layer's output as input, and apply the layer to the data instead`},
		{"ml op", build(func(b *onnxpb.Builder) {
			b.Import("ai.onnx.ml", 3)
			b.AddNodes("ai.onnx.ml", "Oracle", graphtest.In("x"), graphtest.In("y"))
		}), `onnx: node "y" (ai.onnx.ml.Oracle): operator "Oracle" of domain ai.onnx.ml (version 3) is not supported; export the model with another opset or exporter, replace the operator by others before the export, or run the model in another engine`},
		{"subgraph", build(func(b *onnxpb.Builder) {
			b.AddNode("Relu", graphtest.In("x"), "y")
			b.Model().Graph.Node[0].Attribute = []*onnxpb.AttributeProto{{Name: "body", G: &onnxpb.GraphProto{}}}
		}), `onnx: node "y" (Relu): attribute "body" holds a subgraph, which is not supported`},
		{"training", change(func(m *onnxpb.ModelProto) { m.TrainingInfo = [][]byte{{}} }), `onnx: the model holds training information, which is not supported; export it for inference`},
		{"raw length", change(func(m *onnxpb.ModelProto) { m.Graph.Initializer[0].RawData = make([]byte, 11) }),
			`onnx: initializer "w": 11 bytes of raw data, but shape [3] of float needs 12`},
		{"typed length", change(func(m *onnxpb.ModelProto) {
			m.Graph.Initializer[0].RawData, m.Graph.Initializer[0].FloatData = nil, []float32{1}
		}), `onnx: initializer "w": 1 values, but shape [3] of float needs 3`},
		{"huge dims", change(func(m *onnxpb.ModelProto) { m.Graph.Initializer[0].Dims = []int64{1 << 40, 1 << 40} }),
			`onnx: initializer "w": shape [1099511627776 1099511627776] overflows`},
		{"negative dim", change(func(m *onnxpb.ModelProto) { m.Graph.Initializer[0].Dims = []int64{-3} }),
			`onnx: initializer "w": axis 0 has impossible size -3`},
		{"complex", change(func(m *onnxpb.ModelProto) { m.Graph.Initializer[0].DataType = 14 }),
			`onnx: initializer "w": element type COMPLEX64 is not supported; export real and imaginary parts as tensors of their own`},
		{"float8", change(func(m *onnxpb.ModelProto) { m.Graph.Initializer[0].DataType = 17 }),
			`onnx: initializer "w": element type 17, floating point of 8 bits or fewer, is not supported; quantise to int8, or save the weights as float16`},
		{"two bits", change(func(m *onnxpb.ModelProto) { m.Graph.Initializer[0].DataType = 26 }),
			`onnx: initializer "w": element type 26, integers of 2 bits, is not supported; quantise to int4 or int8`},
		{"unknown type", change(func(m *onnxpb.ModelProto) { m.Graph.Initializer[0].DataType = 99 }),
			`onnx: initializer "w": unknown element type 99`},
		{"two initializers", change(func(m *onnxpb.ModelProto) {
			m.Graph.Initializer = append(m.Graph.Initializer, m.Graph.Initializer[0])
		}), `onnx: two initializers are named "w"`},
		{"cycle", build(func(b *onnxpb.Builder) {
			b.AddNode("Add", graphtest.In("x", "b"), "a")
			b.AddNode("Relu", graphtest.In("a"), "b")
			b.AddNode("Relu", graphtest.In("b"), "y")
		}), `onnx: the graph has a cycle through node "a" (Add) and node "b" (Relu) (tensor "a")`},
		{"dangling", node(13, "Add", graphtest.In("x", "nobody")), `onnx: node "y" (Add) reads "nobody", which nothing produces`},
		{"two producers", build(func(b *onnxpb.Builder) {
			b.AddNode("Relu", graphtest.In("x"), "y")
			b.Model().Graph.Node = append(b.Model().Graph.Node, &onnxpb.NodeProto{Name: "again", OpType: "Tanh", Input: graphtest.In("x"), Output: graphtest.In("y")})
		}), `onnx: node "y" (Relu) and node "again" (Tanh) both produce "y"`},
		{"output of nothing", change(func(m *onnxpb.ModelProto) { m.Graph.Output[0].Name = "z" }), `onnx: graph output "z" is produced by nothing`},
		{"fixed batch", func() []byte {
			b := onnxpb.NewBuilder(13)
			b.AddInput("x", graphtest.TFloat, 32, 3)
			b.AddNode("Relu", graphtest.In("x"), "y")
			b.Output("y", graphtest.TFloat, 32, 3)
			return raw(b)
		}, `onnx: graph input "x" has the fixed shape [32 3]: no axis is left for the rows; export the model again with a dynamic batch axis (PyTorch: dynamic_shapes, or dynamic_axes with dynamo=False; Keras: batch size None)`},
		{"two dynamic axes", func() []byte {
			b := onnxpb.NewBuilder(13)
			b.AddInput("x", graphtest.TFloat, onnxpb.Rows, onnxpb.Rows)
			b.AddNode("Relu", graphtest.In("x"), "y")
			b.Output("y", graphtest.TFloat)
			return raw(b)
		}, `onnx: graph input "x" has two axes of unknown size (0 and 1); only the batch axis may be dynamic: export the model with fixed feature sizes`},
		{"declared type", func() []byte {
			b := onnxpb.NewBuilder(13)
			b.AddInput("x", graphtest.TFloat, onnxpb.Rows, 3)
			b.AddNode("Relu", graphtest.In("x"), "y")
			b.Output("y", graphtest.TDouble, onnxpb.Rows, 3)
			return raw(b)
		}, `onnx: graph output "y" is declared as double but computed as float`},
		{"inner size", build(func(b *onnxpb.Builder) {
			b.AddInit("w", []int{2, 2}, 1, 2, 3, 4)
			b.AddNode("MatMul", graphtest.In("x", "w"), "y")
		}), `onnx: node "y" (MatMul): inner sizes differ: shapes [N 3] and [2 2]`},
		{"huge folded", build(func(b *onnxpb.Builder) {
			b.AddInts("s", 1<<20, 1<<20)
			b.AddNode("ConstantOfShape", graphtest.In("s"), "c")
			b.AddNode("ReduceSum", graphtest.In("c"), "d")
			b.AddNode("Add", graphtest.In("x", "d"), "y")
		}), `onnx: node "c" (ConstantOfShape): output "c" of shape [1048576 1048576] needs more than 4294967296 bytes (MaxMemory)`},
		{"folding work", build(func(b *onnxpb.Builder) {
			b.AddInts("s", 8000, 8000)
			b.AddNode("ConstantOfShape", graphtest.In("s"), "c")
			b.AddNode("MatMul", graphtest.In("c", "c"), "d")
			b.AddNode("ReduceSum", graphtest.In("d"), "e")
			b.AddNode("Add", graphtest.In("x", "e"), "y")
		}), `onnx: node "d" (MatMul): the graph needs more than 100000000000 multiply-adds for one row (MaxWork)`},
		{"mixing: sum", node(11, "ReduceSum", graphtest.In("x")), `onnx: node "y" (ReduceSum): mixes rows: it reduces over the batch axis 0 of [N 3]`},
		{"mixing: mean", node(13, "ReduceMean", graphtest.In("x"), onnxpb.Ints("axes", 0)), `onnx: node "y" (ReduceMean): mixes rows: it reduces over the batch axis 0 of [N 3]`},
		{"mixing: softmax", node(13, "Softmax", graphtest.In("x"), onnxpb.Int("axis", 0)), `onnx: node "y" (Softmax): mixes rows: it sums over the batch axis of [N 3]`},
		{"mixing: concat", build(func(b *onnxpb.Builder) {
			b.AddInts("s", -1, 1)
			b.AddNode("Transpose", graphtest.In("x"), "t")
			b.AddNode("Reshape", graphtest.In("x", "s"), "p")
			b.AddNode("Reshape", graphtest.In("t", "s"), "q")
			b.AddNode("Concat", graphtest.In("p", "q"), "y", onnxpb.Int("axis", 0))
		}), `onnx: node "y" (Concat): mixes rows: it concatenates sizes [N*3 3*N] along the batch axis`},
		{"mixing: add", build(func(b *onnxpb.Builder) {
			b.AddInts("s", -1, 1)
			b.AddNode("Transpose", graphtest.In("x"), "t")
			b.AddNode("Reshape", graphtest.In("x", "s"), "p")
			b.AddNode("Reshape", graphtest.In("t", "s"), "q")
			b.AddNode("Add", graphtest.In("p", "q"), "y")
		}), `onnx: node "y" (Add): mixes rows: its operands, of shapes [N*3 1] and [3*N 1], hold them in another order`},
		{"mixing: gather", build(func(b *onnxpb.Builder) {
			b.AddInts("i", 0)
			b.AddNode("Gather", graphtest.In("x", "i"), "y")
		}), `onnx: node "y" (Gather): mixes rows: it picks from the batch axis 0`},
		{"mixing: slice", node(9, "Slice", graphtest.In("x"), onnxpb.Ints("starts", 1), onnxpb.Ints("ends", math.MaxInt32)),
			`onnx: node "y" (Slice): mixes rows: it slices the batch axis (1 to 2147483647, step 1)`},
		{"mixing: split", build(func(b *onnxpb.Builder) {
			b.AddNodes("", "Split", graphtest.In("x"), graphtest.In("y", "z"))
		}), `onnx: node "y" (Split): mixes rows: it cuts through them on an axis of size [N]`},
		{"mixing: gram", build(func(b *onnxpb.Builder) {
			b.AddNode("Transpose", graphtest.In("x"), "t")
			b.AddNode("MatMul", graphtest.In("t", "x"), "y")
		}), `onnx: node "y" (MatMul): mixes rows: it sums over the batch axis (shapes [3 N] and [N 3])`},
		{"mixing: outer", build(func(b *onnxpb.Builder) {
			b.AddNode("Transpose", graphtest.In("x"), "t")
			b.AddNode("MatMul", graphtest.In("x", "t"), "y")
		}), `onnx: node "y" (MatMul): mixes rows: its output would have two batch axes (every row paired with every row)`},
		{"mixing: reshape", build(func(b *onnxpb.Builder) {
			b.AddInts("s", 3, -1)
			b.AddNode("Reshape", graphtest.In("x", "s"), "y")
		}), `onnx: node "y" (Reshape): mixes rows: reshaping [N 3] to [3 -1] moves elements from row to row`},
		{"mixing: reshaped transpose", build(func(b *onnxpb.Builder) {
			b.AddNode("Transpose", graphtest.In("x"), "t")
			b.AddInts("s", -1, 3)
			b.AddNode("Reshape", graphtest.In("t", "s"), "y")
		}), `onnx: node "y" (Reshape): mixes rows: reshaping [3 N] to [-1 3] moves elements from row to row`},
		{"fixed rows in reshape", build(func(b *onnxpb.Builder) {
			b.AddInts("s", 4, 3)
			b.AddNode("Reshape", graphtest.In("x", "s"), "y")
		}), `onnx: node "y" (Reshape): the target shape [4 3] has no batch axis: the number of rows was fixed when the model was exported; export it with a dynamic batch axis`},
		{"rows as a number", build(func(b *onnxpb.Builder) {
			b.AddNode("Shape", graphtest.In("x"), "s")
			b.AddNode("Cast", graphtest.In("s"), "c", onnxpb.Int("to", 1))
			b.AddNode("Gather", graphtest.In("c", "i"), "n")
			b.AddInts("i", 0)
			b.AddNode("Div", graphtest.In("x", "n"), "y")
		}), `onnx: node "c" (Cast): the number of rows (tensor "s") enters a computation: the result of a row would depend on how many rows there are`},
		{"training batchnorm", build(func(b *onnxpb.Builder) {
			b.AddInit("w", []int{3}, 1, 2, 3)
			b.AddNode("BatchNormalization", graphtest.In("x", "w", "w", "w", "w"), "y", onnxpb.Int("training_mode", 1))
		}), `onnx: node "y" (BatchNormalization): is in training mode: it would normalise over the rows; export the model in evaluation mode`},
		{"dropout mask", opset9(func(b *onnxpb.Builder) {
			b.AddNodes("", "Dropout", graphtest.In("x"), graphtest.In("d", "mask"))
			b.AddNode("Not", graphtest.In("mask"), "y")
		}), `onnx: node "y" (Not): input 0 ("mask") is not computed at inference`},
		{"dropout mask as output", opset9(func(b *onnxpb.Builder) {
			b.AddNodes("", "Dropout", graphtest.In("x"), graphtest.In("d", "y"))
		}), `onnx: graph output "y" is not computed at inference`},
		{"missing input", node(13, "Add", graphtest.In("x")), `onnx: node "y" (Add): has 1 inputs, needs 2`},
		{"left out", node(13, "Add", graphtest.In("x", "")), `onnx: node "y" (Add): input 1 is left out`},
		{"bad axis", node(13, "Softmax", graphtest.In("x"), onnxpb.Int("axis", 7)), `onnx: node "y" (Softmax): axis 7 is outside a tensor of 2 axes`},
		{"bad index", build(func(b *onnxpb.Builder) {
			b.AddInts("i", 5)
			b.AddNode("Gather", graphtest.In("x", "i"), "y", onnxpb.Int("axis", 1))
		}), `onnx: node "y" (Gather): index 5 is outside axis 1 of size 3`},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, err := Load(bytes.NewReader(c.file()), nil)
			if err == nil {
				t.Fatalf("loaded with outputs %v", g.Outputs())
			}
			exact := !strings.HasSuffix(c.want, ", ") && !strings.HasSuffix(c.want, ": ") && !strings.HasSuffix(c.want, "; ") && !strings.HasSuffix(c.want, "(in ")
			if exact && err.Error() != c.want || !strings.HasPrefix(err.Error(), c.want) {
				t.Fatalf("error\n  %s\nwant\n  %s", err, c.want)
			}
		})
	}
}

// A file cut anywhere is an error, or (cut between fields at the end) a model.
func TestTruncated(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: it takes long, and starts nothing that the race detector, which runs -short, could see")
	}
	b, err := os.ReadFile(graphtest.GoldenFile("torch", "nam_slice_13.onnx"))
	if err != nil {
		t.Fatal(err)
	}
	loaded := 0
	for n := range b {
		if _, err := Load(bytes.NewReader(b[:n]), nil); err == nil {
			loaded++
		} else if !strings.HasPrefix(err.Error(), "onnx: ") {
			t.Fatalf("cut at %d: %v", n, err)
		}
	}
	if loaded > 2 {
		t.Fatalf("%d truncated files were accepted", loaded)
	}
}

func TestLoadFileMissing(t *testing.T) {
	_, err := LoadFile(filepath.Join(t.TempDir(), "none.onnx"), nil)
	if err == nil || !strings.Contains(err.Error(), "none.onnx") {
		t.Fatal(err)
	}
	_, err = Load(bytes.NewReader(make([]byte, 100)), &LoadOptions{MaxFileSize: 10})
	if err == nil || err.Error() != "onnx: the model is larger than 10 bytes (MaxFileSize)" {
		t.Fatal(err)
	}
}

// Small files that ask for much are refused before they get it.
func TestLoadMemory(t *testing.T) {
	const limit = 1 << 20
	for _, c := range []struct {
		name  string
		nodes func(b *onnxpb.Builder)
	}{
		{"doubling", func(b *onnxpb.Builder) {
			b.AddInts("s0", 1)
			for i := range 60 {
				s := fmt.Sprintf("s%d", i)
				b.AddNode("Concat", graphtest.In(s, s), fmt.Sprintf("s%d", i+1), onnxpb.Int("axis", 0))
			}
			b.AddNode("Reshape", graphtest.In("x", "s60"), "y")
		}},
		{"doubling a shape", func(b *onnxpb.Builder) {
			b.AddNode("Shape", graphtest.In("x"), "s0")
			for i := range 60 {
				s := fmt.Sprintf("s%d", i)
				b.AddNode("Concat", graphtest.In(s, s), fmt.Sprintf("s%d", i+1), onnxpb.Int("axis", 0))
			}
			b.AddNode("Reshape", graphtest.In("x", "s60"), "y")
		}},
		{"tile", func(b *onnxpb.Builder) {
			b.AddInts("r", 1, 1<<39)
			b.AddNode("Tile", graphtest.In("x", "r"), "y")
		}},
		{"expand", func(b *onnxpb.Builder) {
			b.AddInts("r", 1<<20, 1<<19, 1, 1)
			b.AddNode("Expand", graphtest.In("x", "r"), "y")
		}},
		{"einsum", func(b *onnxpb.Builder) {
			b.AddInts("r", 1<<16)
			b.AddNode("ConstantOfShape", graphtest.In("r"), "a")
			b.AddNode("Einsum", graphtest.In("a", "a"), "c", onnxpb.Text("equation", "a,b->a"))
			b.AddNode("Gather", graphtest.In("c", "zero"), "d")
			b.AddInts("zero", 0)
			b.AddNode("Add", graphtest.In("x", "d"), "y")
		}},
		{"one hot", func(b *onnxpb.Builder) {
			b.AddInts("d", 1<<40)
			b.AddInit("v", []int{2}, 0, 1)
			b.AddNode("OneHot", graphtest.In("x", "d", "v"), "y")
		}},
		{"range", func(b *onnxpb.Builder) {
			b.AddInit("a", []int{}, 0)
			b.AddInit("z", []int{}, 1e12)
			b.AddInit("s", []int{}, 1)
			b.AddNode("Range", graphtest.In("a", "z", "s"), "y")
		}},
		{"pad", func(b *onnxpb.Builder) {
			b.AddInts("p", 0, 1<<30, 0, 1<<30)
			b.AddNode("Pad", graphtest.In("x", "p"), "y")
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := graphtest.Bytes(t, graphtest.Model(13, c.nodes))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := Load(bytes.NewReader(file), &LoadOptions{MaxMemory: limit})
			runtime.ReadMemStats(&after)
			if err == nil || !strings.HasPrefix(err.Error(), "onnx: node ") {
				t.Fatalf("error %v", err)
			}
			if n := after.TotalAlloc - before.TotalAlloc; n > 3*limit {
				t.Errorf("allocated %d bytes before %v", n, err)
			}
		})
	}
}
