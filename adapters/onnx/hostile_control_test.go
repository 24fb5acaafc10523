package onnx

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/pho-go/pho/adapters/onnx/internal/graphtest"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// Control flow, functions and sequences that ask for too much or make no sense end soon,
// in an error that names the node and the reason.
func TestHostileControl(t *testing.T) {
	in := graphtest.In
	none := func(*onnxpb.Builder) {}
	loop := func(b *onnxpb.Builder, trips, cond string, state, out []string, body onnxpb.Attr) {
		b.AddNodes("", "Loop", append(in(trips, cond), state...), out, body)
	}
	// keep is a body that leaves its one value as it is.
	keep := graphtest.Subgraph("body", in("i", "c", "z"), in("c", "z"), none)
	endless := func(b *onnxpb.Builder) {
		graphtest.Number(b, "n", 1<<62)
		graphtest.Truth(b, "yes", 1)
	}
	call := func(b *onnxpb.Builder, f, from, to string) { b.AddNodes("local", f, in(from), in(to)) }
	const tooMuch = "loops, branches and functions expand to more than 100000 nodes, inputs and outputs (MaxElements)"
	for _, c := range []struct {
		name  string
		nodes func(b *onnxpb.Builder)
		want  string
	}{
		{"endless passes", func(b *onnxpb.Builder) {
			endless(b)
			loop(b, "n", "yes", in("x"), in("y"), keep)
		}, `onnx: node "y" (Loop): ` + tooMuch},
		{"endless condition", func(b *onnxpb.Builder) {
			endless(b)
			loop(b, "", "yes", in("x"), in("y"), keep)
		}, `onnx: node "y" (Loop): ` + tooMuch},
		{"no end", func(b *onnxpb.Builder) { loop(b, "", "", in("x"), in("y"), keep) },
			`onnx: node "y" (Loop): has neither a number of passes nor a condition: it never ends`},
		{"computing passes", func(b *onnxpb.Builder) {
			endless(b)
			loop(b, "n", "yes", in("x"), in("y"), graphtest.Subgraph("body", in("i", "c", "z"), in("c", "w"), func(b *onnxpb.Builder) { b.AddNode("Relu", in("z"), "w") }))
		}, `onnx: node "y" (Loop): ` + tooMuch},
		{"loops in loops", func(b *onnxpb.Builder) {
			graphtest.Number(b, "n", 5_000)
			graphtest.Truth(b, "yes", 1)
			loop(b, "n", "yes", in("x"), in("y"), graphtest.Subgraph("body", in("i", "c", "z"), in("c", "w"), func(b *onnxpb.Builder) {
				loop(b, "n", "yes", in("z"), in("w"), graphtest.Subgraph("body", in("k", "d", "u"), in("d", "u"), none))
			}))
		}, `onnx: node "y/`},
		{"growing state", func(b *onnxpb.Builder) {
			endless(b)
			loop(b, "n", "yes", in("x"), in("y"), graphtest.Subgraph("body", in("i", "c", "z"), in("c", "w"), func(b *onnxpb.Builder) {
				b.AddNode("Concat", in("z", "z"), "w", onnxpb.Int("axis", 1))
			}))
		}, `onnx: node "y/21/w" (Concat): output "y/21/w" of shape [N 12582912] needs more than 67108864 bytes (MaxMemory)`},
		{"growing constants", func(b *onnxpb.Builder) {
			endless(b)
			b.AddInit("one", []int{1}, 1)
			b.AddNodes("", "Loop", in("n", "yes", "one"), in("k"), graphtest.Subgraph("body", in("i", "c", "z"), in("c", "w"), func(b *onnxpb.Builder) {
				b.AddNode("Concat", in("z", "z"), "w", onnxpb.Int("axis", 0))
			}))
			b.AddNode("Add", in("x", "k"), "y")
		}, `onnx: node "k/`},
		{"growing list", func(b *onnxpb.Builder) {
			endless(b)
			b.AddNode("SequenceEmpty", nil, "s")
			b.AddNodes("", "Loop", in("n", "yes", "s"), in("l"), graphtest.Subgraph("body", in("i", "c", "z"), in("c", "w"), func(b *onnxpb.Builder) {
				b.AddNode("SequenceInsert", in("z", "x"), "w")
			}))
			b.AddNode("ConcatFromSequence", in("l"), "y", onnxpb.Int("axis", 1))
		}, `onnx: node "l`},
		{"pieces", func(b *onnxpb.Builder) {
			b.AddInts("size", 1<<22)
			b.AddNode("ConstantOfShape", in("size"), "c")
			b.AddNode("SplitToSequence", in("c"), "s")
			b.AddNode("SequenceAt", in("s", "zero"), "a")
			graphtest.Number(b, "zero", 0)
			b.AddNode("Add", in("x", "a"), "y")
		}, `onnx: node "s" (SplitToSequence): ` + tooMuch},
		{"out of scope", func(b *onnxpb.Builder) {
			endless(b)
			loop(b, "n", "yes", in("x"), in("y"), graphtest.Subgraph("body", in("i", "c", "z"), in("c", "w"), func(b *onnxpb.Builder) { b.AddNode("Add", in("z", "nobody"), "w") }))
		}, `onnx: node "y" (Loop) reads "nobody" in its subgraph "body", which nothing produces`},
		{"a name of a branch", func(b *onnxpb.Builder) {
			graphtest.Truth(b, "yes", 1)
			b.AddNodes("", "If", in("yes"), in("h"), graphtest.Subgraph("then_branch", nil, in("a"), func(b *onnxpb.Builder) { b.AddNode("Relu", in("x"), "a") }), graphtest.Subgraph("else_branch", nil, in("x"), none))
			b.AddNode("Add", in("h", "a"), "y")
		}, `onnx: node "y" (Add) reads "a", which nothing produces`},
		{"its own output", func(b *onnxpb.Builder) {
			endless(b)
			loop(b, "n", "yes", in("x"), in("y"), graphtest.Subgraph("body", in("i", "c", "z"), in("c", "w"), func(b *onnxpb.Builder) { b.AddNode("Add", in("z", "y"), "w") }))
		}, `onnx: the graph has a cycle through node "y" (Loop) and node "y" (Loop) (tensor "y")`},
		{"a cycle inside", func(b *onnxpb.Builder) {
			endless(b)
			loop(b, "n", "yes", in("x"), in("y"), graphtest.Subgraph("body", in("i", "c", "z"), in("c", "w"), func(b *onnxpb.Builder) {
				b.AddNode("Add", in("z", "w"), "v")
				b.AddNode("Relu", in("v"), "w")
			}))
		}, `onnx: the graph has a cycle through node "y/0/v" (Add) and node "y/0/w" (Relu) (tensor "y/0/v")`},
		{"condition of the rows", func(b *onnxpb.Builder) {
			endless(b)
			b.AddNode("Not", in("yes"), "no")
			b.AddInts("axes", 1)
			loop(b, "n", "yes", in("x"), in("y"), graphtest.Subgraph("body", in("i", "c", "z"), in("d", "w"), func(b *onnxpb.Builder) {
				b.AddNode("Relu", in("z"), "w")
				b.AddNode("ReduceSum", in("w", "axes"), "s")
				b.AddNode("Cast", in("s"), "d", onnxpb.Int("to", 9))
			}))
		}, `onnx: node "y" (Loop): its condition ("y/0/d") is computed from the rows, and decides for all rows together: what a row gives would depend on the others; export it with a fixed number of passes, in which Where keeps the values of rows that are done`},
		{"condition of the number of rows", func(b *onnxpb.Builder) {
			graphtest.Number(b, "one", 1)
			b.AddNode("Size", in("x"), "s")
			b.AddNode("Equal", in("s", "three"), "single")
			graphtest.Number(b, "three", 3)
			b.AddNodes("", "If", in("single"), in("y"), graphtest.Subgraph("then_branch", nil, in("x"), none), graphtest.Subgraph("else_branch", nil, in("x"), none))
		}, `onnx: node "single" (Equal): the number of rows (tensor "s") enters a computation: the result of a row would depend on how many rows there are`},
		{"the larger of the number of rows and 4", func(b *onnxpb.Builder) {
			b.AddInts("four", 4, 3)
			b.AddNode("Shape", in("x"), "s")
			b.AddNode("Max", in("s", "four"), "m")
			b.AddNode("Expand", in("x", "m"), "y")
		}, `onnx: node "m" (Max): the number of rows (tensor "s") enters a computation: the result of a row would depend on how many rows there are`},
		{"the rows from the second on", func(b *onnxpb.Builder) {
			graphtest.Number(b, "zero", 0)
			graphtest.Number(b, "one", 1)
			b.AddNode("Shape", in("x"), "s")
			b.AddNode("Gather", in("s", "zero"), "n")
			b.AddNode("Range", in("one", "n", "one"), "r")
			b.AddNode("Gather", in("x", "r"), "y")
		}, `onnx: node "r" (Range): the number of rows (tensor "n") enters a computation: the result of a row would depend on how many rows there are`},
		{"the number of each row", func(b *onnxpb.Builder) {
			graphtest.Number(b, "zero", 0)
			graphtest.Number(b, "one", 1)
			b.AddNode("Shape", in("x"), "s")
			b.AddNode("Gather", in("s", "zero"), "n")
			b.AddNode("Range", in("zero", "n", "one"), "r")
			b.AddNode("Cast", in("r"), "y", onnxpb.Int("to", 1))
		}, `onnx: node "y" (Cast): input 0 ("r") is the number of the row: what a row gives would depend on its position`},
		{"passes of the rows", func(b *onnxpb.Builder) {
			graphtest.Truth(b, "yes", 1)
			b.AddNode("Cast", in("x"), "k", onnxpb.Int("to", 7))
			loop(b, "k", "yes", in("x"), in("y"), keep)
		}, `onnx: node "y" (Loop): its number of passes ("k") is computed from the rows: what a row gives would depend on the others; export it with a fixed number of passes`},
		{"twice the rows", func(b *onnxpb.Builder) {
			graphtest.Truth(b, "yes", 1)
			b.AddNode("Size", in("x"), "s")
			loop(b, "s", "yes", in("x"), in("y"), keep)
		}, `onnx: node "y" (Loop): its number of passes ("s") depends on how many rows there are: what a row gives would depend on the others`},
		{"carried from row to row", func(b *onnxpb.Builder) {
			rowLoop(b, graphtest.Subgraph("body", in("i", "c", "z"), in("c", "w", "w"), func(b *onnxpb.Builder) {
				b.AddNode("Gather", in("x", "i"), "r")
				b.AddNode("Add", in("z", "r"), "w")
			}))
		}, `onnx: node "last" (Loop): mixes rows: it carries a value from row to row`},
		{"the number of the row", func(b *onnxpb.Builder) {
			rowLoop(b, graphtest.Subgraph("body", in("i", "c", "z"), in("c", "z", "w"), func(b *onnxpb.Builder) {
				b.AddNode("Gather", in("x", "i"), "r")
				b.AddNode("Cast", in("i"), "f", onnxpb.Int("to", 1))
				b.AddNode("Mul", in("r", "f"), "w")
			}))
		}, `onnx: node "last/f" (Cast): input 0 ("last/row") is the number of the row: what a row gives would depend on its position`},
		{"rows with rows", func(b *onnxpb.Builder) {
			rowLoop(b, graphtest.Subgraph("body", in("i", "c", "z"), in("c", "z", "w"), func(b *onnxpb.Builder) {
				b.AddNode("Gather", in("x", "i"), "r")
				b.AddNode("Sub", in("x", "r"), "w")
			}))
		}, `onnx: node "last/w" (Sub): mixes rows: it pairs each row with all rows of "x"`},
		{"too deep for a row", func(b *onnxpb.Builder) {
			rowLoop(b, graphtest.Subgraph("body", in("i", "c", "z"), in("c", "z", "w"), func(b *onnxpb.Builder) {
				b.AddNode("Gather", in("x", "i"), "r")
				b.AddNode("CumSum", in("r", "zero"), "w")
			}))
		}, `onnx: node "last/w" (CumSum): stands in a body that runs once for each row, where it is not followed; export the computation for all rows at once, without a loop or scan over them`},
		{"no branch", func(b *onnxpb.Builder) {
			graphtest.Truth(b, "yes", 1)
			b.AddNode("If", in("yes"), "y", onnxpb.Int("then_branch", 3))
		}, `onnx: node "y" (If): has no subgraph "then_branch"`},
		{"branch without outputs", func(b *onnxpb.Builder) {
			graphtest.Truth(b, "yes", 1)
			b.AddNode("If", in("yes"), "y", graphtest.Subgraph("then_branch", nil, nil, none))
		}, `onnx: node "y" (If): has 1 outputs, and its then_branch 0`},
		{"no truth value", func(b *onnxpb.Builder) {
			b.AddInit("yes", []int{2}, 1, 0)
			b.AddNode("If", in("yes"), "y", graphtest.Subgraph("then_branch", nil, nil, none))
		}, `onnx: node "y" (If): its condition ("yes") must be one truth value, is float of shape [2]; compute both branches and choose row by row with Where`},
		{"body of another size", func(b *onnxpb.Builder) {
			endless(b)
			loop(b, "n", "yes", in("x"), in("y"), graphtest.Subgraph("body", in("i"), in("i"), none))
		}, `onnx: node "y" (Loop): carries 1 values, and its subgraph has 1 inputs and 1 outputs`},
		{"more outputs than values", func(b *onnxpb.Builder) {
			graphtest.Number(b, "n", 2)
			graphtest.Truth(b, "yes", 1)
			loop(b, "n", "yes", in("x"), in("a", "y"), keep)
		}, `onnx: graph output "y" is not computed at inference`},
		{"scan without sequences", func(b *onnxpb.Builder) {
			b.AddNode("Scan", in("x"), "y", onnxpb.Int("num_scan_inputs", 1<<62), graphtest.Subgraph("body", in("e"), in("e"), none))
		}, `onnx: node "y" (Scan): attribute "num_scan_inputs" is 4611686018427387904, and it has 1 inputs`},
		{"scan along no axis", func(b *onnxpb.Builder) {
			b.AddNode("Scan", in("x"), "y", onnxpb.Int("num_scan_inputs", 1), onnxpb.Ints("scan_input_axes", 9), graphtest.Subgraph("body", in("e"), in("e"), none))
		}, `onnx: node "y" (Scan): axis 9 is outside a tensor of 2 axes`},
		{"subgraph of a plain node", func(b *onnxpb.Builder) { b.AddNode("Relu", in("x"), "y", keep) }, `onnx: node "y" (Relu): attribute "body" holds a subgraph, which is not supported`},
		{"place outside", func(b *onnxpb.Builder) {
			graphtest.Number(b, "k", -3)
			b.AddNode("SequenceConstruct", in("x", "x"), "s")
			b.AddNode("SequenceAt", in("s", "k"), "y")
		}, `onnx: node "y" (SequenceAt): position -3 is outside 2 places`},
		{"nothing to erase", func(b *onnxpb.Builder) {
			b.AddNode("SequenceEmpty", nil, "s")
			b.AddNode("SequenceErase", in("s"), "e")
			b.AddNode("ConcatFromSequence", in("e"), "y", onnxpb.Int("axis", 1))
		}, `onnx: node "e" (SequenceErase): erases from an empty sequence`},
		{"sequence as a tensor", func(b *onnxpb.Builder) {
			b.AddNode("SequenceConstruct", in("x", "x"), "s")
			b.AddNode("Relu", in("s"), "y")
		}, `onnx: node "y" (Relu): input 0 ("s") is a sequence or optional, not a tensor`},
		{"sequence as output", func(b *onnxpb.Builder) { b.AddNode("SequenceConstruct", in("x", "x"), "y") },
			`onnx: graph output "y" is a sequence or optional, not a tensor; export the tensors in it as outputs of their own`},
		{"tensor as a sequence", func(b *onnxpb.Builder) { b.AddNode("SequenceAt", in("x", "x"), "y") }, `onnx: node "y" (SequenceAt): input 0 is no sequence whose length is known at load`},
		{"sizes that do not add up", func(b *onnxpb.Builder) {
			b.AddInts("sizes", 1<<62, 1<<62, 1<<62, 1<<62, 3)
			b.AddNode("SplitToSequence", in("x", "sizes"), "s", onnxpb.Int("axis", 1))
			b.AddNode("SequenceLength", in("s"), "k")
			b.AddNode("Add", in("x", "k"), "y")
		}, `onnx: node "s" (SplitToSequence): the sizes [4611686018427387904 4611686018427387904 4611686018427387904 4611686018427387904 3] do not add up to 3`},
		{"function calls itself", func(b *onnxpb.Builder) {
			graphtest.Function(b, "f", in("a"), in("c"), func(b *onnxpb.Builder) { call(b, "g", "a", "c") })
			graphtest.Function(b, "g", in("a"), in("c"), func(b *onnxpb.Builder) { call(b, "f", "a", "c") })
			call(b, "f", "x", "y")
		}, `onnx: node "y/c/c" (local.f): function "f" calls itself (f > g > f)`},
		{"functions of functions", func(b *onnxpb.Builder) {
			for i := range 20 {
				graphtest.Function(b, fmt.Sprint("f", i), in("a"), in("r"), func(b *onnxpb.Builder) {
					from := "a"
					for k := range 10 {
						to := fmt.Sprint("v", k)
						if i == 0 {
							b.AddNode("Relu", in(from), to)
						} else {
							call(b, fmt.Sprint("f", i-1), from, to)
						}
						from = to
					}
					b.AddNode("Identity", in(from), "r")
				})
			}
			call(b, "f19", "x", "y")
		}, `onnx: node "y/`},
		{"a long chain", func(b *onnxpb.Builder) {
			for i := range 100 {
				graphtest.Function(b, fmt.Sprint("f", i), in("a"), in("r"), func(b *onnxpb.Builder) {
					if i == 0 {
						b.AddNode("Relu", in("a"), "r")
					} else {
						call(b, fmt.Sprint("f", i-1), "a", "r")
					}
				})
			}
			call(b, "f99", "x", "y")
		}, `onnx: node "y/r/`},
		{"function twice", func(b *onnxpb.Builder) {
			graphtest.Function(b, "f", in("a"), in("a"), none)
			graphtest.Function(b, "f", in("a"), in("a"), none)
			call(b, "f", "x", "y")
		}, `onnx: the model defines function "f" of domain "local" twice`},
		{"function without the attribute", func(b *onnxpb.Builder) {
			f := graphtest.Function(b, "f", in("a"), in("r"), func(b *onnxpb.Builder) { b.AddNode("LeakyRelu", in("a"), "r", onnxpb.Float("alpha", 1)) })
			f.Node[0].Attribute[0].RefAttrName = "slope"
			call(b, "f", "x", "y")
		}, `onnx: node "y" (local.f): attribute "alpha" refers to "slope", which the function does not have`},
		{"more inputs than the function", func(b *onnxpb.Builder) {
			graphtest.Function(b, "f", nil, in("r"), none)
			call(b, "f", "x", "y")
		}, `onnx: node "y" (local.f): has 1 inputs and 1 outputs, function "f" takes 0 and has 1`},
		{"function without its output", func(b *onnxpb.Builder) {
			graphtest.Function(b, "f", in("a"), in("r"), none)
			call(b, "f", "x", "y")
		}, `onnx: node "y" (local.f): its output "r" is produced by nothing`},
		{"function without an opset", func(b *onnxpb.Builder) {
			f := graphtest.Function(b, "f", in("a"), in("r"), func(b *onnxpb.Builder) { b.AddNode("Relu", in("a"), "r") })
			f.OpsetImport = nil
			call(b, "f", "x", "y")
		}, `onnx: node "y/r" (Relu) is of domain "", which the model does not import`},
		{"function of another opset", func(b *onnxpb.Builder) {
			f := graphtest.Function(b, "f", in("a"), in("r"), func(b *onnxpb.Builder) { b.AddNode("Relu", in("a"), "r") })
			f.OpsetImport[0].Version = 99
			call(b, "f", "x", "y")
		}, `onnx: function "f" of domain "local": opset 99 of ai.onnx is not supported; export with opset 7 to 28`},
		{"reference outside of a function", func(b *onnxpb.Builder) {
			b.AddNode("LeakyRelu", in("x"), "y", onnxpb.Float("alpha", 1))
			b.Model().Graph.Node[0].Attribute[0].RefAttrName = "slope"
		}, `onnx: node "y" (LeakyRelu): attribute "alpha" holds a reference to an attribute of a function outside of one, which is not supported`},
		{"custom operator", func(b *onnxpb.Builder) {
			b.Import("com.acme", 1)
			b.AddNodes("com.acme", "Magic", in("x"), in("y"))
		}, `onnx: node "y" (com.acme.Magic): operator "Magic" of domain com.acme (version 1) is a custom one, whose computation is not in the file; export the model without it, or with it as a function of the model, or run it in another engine`},
		{"random numbers", func(b *onnxpb.Builder) { b.AddNode("RandomNormalLike", in("x"), "y") },
			`onnx: node "y" (RandomNormalLike): operator RandomNormalLike draws random numbers: no answer would repeat; export the model for inference, without it`},
		{"an early sequence", func(b *onnxpb.Builder) {
			b.Model().OpsetImport[0].Version = 10
			b.AddNode("SequenceConstruct", in("x"), "y")
		}, `onnx: node "y" (SequenceConstruct): domain ai.onnx has operator "SequenceConstruct" since version 11, and the model imports version 10; export it again with a later opset`},
	} {
		t.Run(c.name, func(t *testing.T) {
			file, err := proto.MarshalOptions{Deterministic: true}.Marshal(graphtest.Model(13, c.nodes).Model())
			if err != nil {
				t.Fatal(err)
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err = Load(bytes.NewReader(file), &LoadOptions{MaxElements: 100_000, MaxMemory: 64 << 20})
			runtime.ReadMemStats(&after)
			prefix := strings.HasSuffix(c.want, "/") || strings.HasSuffix(c.want, `"l`)
			if err == nil || !strings.HasPrefix(err.Error(), c.want) || !prefix && err.Error() != c.want {
				t.Errorf("error\n  %v\nwant\n  %s", err, c.want)
			}
			if n := after.TotalAlloc - before.TotalAlloc; n > 256<<20 {
				t.Errorf("allocated %d MiB before %v", n>>20, err)
			}
		})
	}
}

// rowLoop adds a Loop with a pass for each row of x, which carries x and gathers y.
func rowLoop(b *onnxpb.Builder, body onnxpb.Attr) {
	graphtest.Truth(b, "yes", 1)
	graphtest.Number(b, "zero", 0)
	b.AddNode("Shape", graphtest.In("x"), "shape")
	b.AddNode("Gather", graphtest.In("shape", "zero"), "rows")
	b.AddInit("start", []int{3}, 0, 0, 0)
	b.AddNodes("", "Loop", graphtest.In("rows", "yes", "start"), graphtest.In("last", "y"), body)
}
