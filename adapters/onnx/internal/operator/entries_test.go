package operator_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/pho-go/pho/adapters/onnx/internal/engine"
	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/adapters/onnx/internal/graphtest"
	"github.com/pho-go/pho/adapters/onnx/internal/operator"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// An operator is refused before the opset that it begins with, for that reason, and not
// in it.
func TestVersions(t *testing.T) {
	refused := 0
	for key, e := range operator.New[float64]() {
		for _, opset := range []int{e.Versions[0] - 1, e.Versions[0]} {
			if e.Domain != "" || opset < 7 {
				continue
			}
			b := graphtest.Model(int64(opset), func(b *onnxpb.Builder) {
				var inputs []string
				for range e.Min {
					inputs = append(inputs, "x")
				}
				b.AddNode(e.Name, inputs, "y")
			})
			_, err := graphtest.Load(graphtest.Bytes(t, b))
			var u *graph.Unsupported
			early := opset < e.Versions[0]
			if errors.As(err, &u) != early {
				t.Errorf("%s at opset %d: %v", key, opset, err)
			}
			if !early {
				continue
			}
			refused++
			want := fmt.Sprintf("onnx: node %q (%s): domain ai.onnx has operator %q since version %d, and the model imports version %d; export it again with a later opset", "y", key, key, e.Versions[0], opset)
			if err.Error() != want || u.Op != e.Name || u.Version != opset {
				t.Errorf("%v, want\n%s", err, want)
			}
		}
	}
	if refused < 15 {
		t.Errorf("only %d operators begin after opset 7", refused)
	}
}

// What jumps reads its operands as the graph declares them: h is x + d, where d is too
// small for a float beside x, and the operator takes it for x.
func TestJumps(t *testing.T) {
	const d = 1e-9
	compare := func(b *onnxpb.Builder, op string) {
		b.AddNode(op, []string{"h", "x"}, "c")
		b.AddNode("Cast", []string{"c"}, "y", onnxpb.Int("to", 1))
	}
	pick := func(b *onnxpb.Builder, op string) {
		b.AddNode("Concat", []string{"x", "h"}, "both", onnxpb.Int("axis", 1))
		b.AddNode(op, []string{"both"}, "c", onnxpb.Int("axis", 1))
		b.AddNode("Cast", []string{"c"}, "y", onnxpb.Int("to", 1))
	}
	type sample struct {
		x, d, want float64
		nodes      func(b *onnxpb.Builder, op string)
	}
	one := func(b *onnxpb.Builder, op string) { b.AddNode(op, []string{"h"}, "y") }
	samples := map[string]sample{
		"Floor": {1, -d, 1, one}, "Ceil": {1, d, 1, one}, "Round": {0.5, d, 0, one},
		"ThresholdedRelu": {1, d, 0, one},
		"Equal":           {1, d, 1, compare}, "Greater": {1, d, 0, compare}, "Less": {1, -d, 0, compare},
		"GreaterOrEqual": {1, -d, 1, compare}, "LessOrEqual": {1, d, 1, compare},
		"ArgMax": {1, d, 0, pick}, "ArgMin": {1, -d, 0, pick},
		"Mod": {1, -d, 0, func(b *onnxpb.Builder, op string) {
			b.AddNode(op, []string{"h", "x"}, "y", onnxpb.Int("fmod", 1))
		}},
		"Cast": {1, -d, 1, func(b *onnxpb.Builder, op string) {
			b.AddNode(op, []string{"h"}, "k", onnxpb.Int("to", 7))
			b.AddNode("Cast", []string{"k"}, "y", onnxpb.Int("to", 1))
		}},
		"CastLike": {1, -d, 1, func(b *onnxpb.Builder, op string) {
			b.AddInts("like", 0)
			b.AddNode(op, []string{"h", "like"}, "k")
			b.AddNode("Cast", []string{"k"}, "y", onnxpb.Int("to", 1))
		}},
		"Shrink": {0.5, d, 0, one},
		"Hardmax": {1, d, 1, func(b *onnxpb.Builder, op string) {
			b.AddNode("Concat", []string{"x", "h"}, "both", onnxpb.Int("axis", 1))
			b.AddNode(op, []string{"both"}, "hot")
			b.AddInts("first", 0)
			b.AddNode("Gather", []string{"hot", "first"}, "y", onnxpb.Int("axis", 1))
		}},
		"TopK": {1, d, 0, func(b *onnxpb.Builder, op string) {
			b.AddNode("Concat", []string{"x", "h"}, "both", onnxpb.Int("axis", 1))
			b.AddInts("one", 1)
			b.AddNodes("", op, []string{"both", "one"}, []string{"", "k"})
			b.AddNode("Cast", []string{"k"}, "y", onnxpb.Int("to", 1))
		}},
		"BitCast": {1, d, 0x3f800000, func(b *onnxpb.Builder, op string) {
			b.AddNode(op, []string{"h"}, "k", onnxpb.Int("to", 6))
			b.AddNode("Cast", []string{"k"}, "y", onnxpb.Int("to", 1))
		}},
		"IsInf": {math.MaxFloat32, 1.5e31, 1, func(b *onnxpb.Builder, op string) {
			b.AddNode(op, []string{"h"}, "k")
			b.AddNode("Cast", []string{"k"}, "y", onnxpb.Int("to", 1))
		}},
		"OneHot": {1, -d, 5, func(b *onnxpb.Builder, op string) {
			b.AddInts("depth", 2)
			b.AddInit("values", []int{2}, 0, 5)
			b.AddInts("last", 1)
			b.AddNode(op, []string{"h", "depth", "values"}, "hot")
			b.AddNode("Gather", []string{"hot", "last"}, "y", onnxpb.Int("axis", 2))
		}},
	}
	for key, s := range spatialJumps {
		samples[key] = sample{s.x, s.d, s.want, s.nodes}
	}
	// A quotient of 0.5 is rounded down, to 0 of 2.
	quantise := func(domain string) func(b *onnxpb.Builder, op string) {
		return func(b *onnxpb.Builder, _ string) {
			b.Model().OpsetImport = append(b.Model().OpsetImport, &onnxpb.OperatorSetIdProto{Domain: "com.microsoft", Version: 1})
			b.AddInit("two", nil, 2)
			b.AddNodes(domain, "QuantizeLinear", []string{"h", "two"}, []string{"k"})
			b.AddNode("Cast", []string{"k"}, "y", onnxpb.Int("to", 1))
		}
	}
	samples["QuantizeLinear"] = sample{1, d, 0, quantise("")}
	samples["com.microsoft.QuantizeLinear"] = sample{1, d, 0, quantise("com.microsoft")}
	// A row of 2.5 and 255 has the scale 1.
	samples["DynamicQuantizeLinear"] = sample{2.5, d, 2, func(b *onnxpb.Builder, op string) {
		b.AddInit("most", []int{1}, 255)
		b.AddInit("none", []int{1}, 0)
		b.AddNode("Mul", []string{"x", "none"}, "zero")
		b.AddNode("Add", []string{"zero", "most"}, "top")
		b.AddNode("Concat", []string{"h", "top"}, "both", onnxpb.Int("axis", 1))
		b.AddNodes("", op, []string{"both"}, []string{"k", "scale", "point"})
		b.AddNode("Cast", []string{"k"}, "f", onnxpb.Int("to", 1))
		b.AddInts("first", 0)
		b.AddNode("Gather", []string{"f", "first"}, "y", onnxpb.Int("axis", 1))
	}}
	samples["com.microsoft.DynamicQuantizeMatMul"] = sample{2.5, d, 2, func(b *onnxpb.Builder, _ string) {
		b.Import("com.microsoft", 1)
		b.AddInit("most", []int{1}, 255)
		b.AddInit("none", []int{1}, 0)
		b.AddNode("Mul", []string{"x", "none"}, "zero")
		b.AddNode("Add", []string{"zero", "most"}, "top")
		b.AddNode("Concat", []string{"h", "top"}, "both", onnxpb.Int("axis", 1))
		b.AddIntegers("w", onnxpb.TensorProto_INT8, []int{2, 1}, 1, 0)
		b.AddInit("one", nil, 1)
		b.AddNodes("com.microsoft", "DynamicQuantizeMatMul", []string{"both", "w", "one"}, []string{"y"})
	}}
	affine := func() (*onnxpb.AttributeProto, error) {
		return &onnxpb.AttributeProto{Name: "activations", Type: onnxpb.AttributeProto_STRINGS, Strings: [][]byte{[]byte("Affine"), []byte("Affine"), []byte("Affine")}}, nil
	}
	samples["com.microsoft.DynamicQuantizeLSTM"] = sample{2.5, d, 2, func(b *onnxpb.Builder, _ string) { // all gates open
		b.Import("com.microsoft", 1)
		b.AddInit("most", []int{1}, 255)
		b.AddInit("none", []int{1}, 0)
		b.AddNode("Mul", []string{"x", "none"}, "zero")
		b.AddNode("Add", []string{"zero", "most"}, "top")
		b.AddNode("Concat", []string{"h", "top"}, "both", onnxpb.Int("axis", 1))
		b.AddInts("first", 0)
		b.AddNode("Unsqueeze", []string{"both", "first"}, "step")
		b.AddIntegers("w", onnxpb.TensorProto_INT8, []int{1, 2, 4}, 0, 0, 0, 1, 0, 0, 0, 0)
		b.AddIntegers("r", onnxpb.TensorProto_INT8, []int{1, 1, 4}, 0, 0, 0, 0)
		b.AddInit("one", []int{1}, 1)
		b.AddIntegers("point", onnxpb.TensorProto_INT8, []int{1}, 0)
		b.AddNodes("com.microsoft", "DynamicQuantizeLSTM", []string{"step", "w", "r", "", "", "", "", "", "one", "point", "one", "point"}, []string{"", "last"},
			onnxpb.Int("hidden_size", 1), affine, onnxpb.Floats("activation_alpha", 0, 1, 1), onnxpb.Floats("activation_beta", 1, 0, 0))
		b.AddNode("Squeeze", []string{"last", "first"}, "y")
	}}
	stump := new(graphtest.Trees).Stump(0, 0, 1, 5, 7)
	samples["ai.onnx.ml.TreeEnsembleRegressor"] = sample{1, d, 5, func(b *onnxpb.Builder, _ string) { stump.Regressor(b, "h", "y") }}
	samples["ai.onnx.ml.TreeEnsembleClassifier"] = sample{1, d, 5, func(b *onnxpb.Builder, _ string) {
		b.Import("ai.onnx.ml", 3)
		b.AddNodes("ai.onnx.ml", "TreeEnsembleClassifier", []string{"h"}, []string{"", "both"}, stump.Attrs("class", onnxpb.Ints("classlabels_int64s", 0, 1))...)
		b.AddInts("first", 1)
		b.AddNode("Gather", []string{"both", "first"}, "y", onnxpb.Int("axis", 1))
	}}
	samples["ai.onnx.ml.TreeEnsemble"] = sample{1, d, 3, func(b *onnxpb.Builder, _ string) {
		b.AddNode("Concat", []string{"h", "x"}, "both", onnxpb.Int("axis", 1))
		graphtest.Five(b, "both", "y")
	}}
	ml := func(attrs ...onnxpb.Attr) func(b *onnxpb.Builder, op string) {
		return func(b *onnxpb.Builder, op string) {
			b.Import("ai.onnx.ml", 2)
			b.Import("pho", 1)
			at := strings.LastIndex(op, ".")
			b.AddNodes(op[:at], op[at+1:], []string{"h"}, []string{"k"}, attrs...)
			b.AddNode("Cast", []string{"k"}, "y", onnxpb.Int("to", 1))
		}
	}
	samples["ai.onnx.ml.Binarizer"] = sample{1, d, 0, ml(onnxpb.Float("threshold", 1))}
	samples["ai.onnx.ml.Imputer"] = sample{1, d, 7, ml(onnxpb.Floats("imputed_value_floats", 7), onnxpb.Float("replaced_value_float", 1))}
	samples["ai.onnx.ml.LabelEncoder"] = sample{1, d, 7, ml(onnxpb.Floats("keys_floats", 1), onnxpb.Floats("values_floats", 7))}
	samples["pho.SoftmaxZero"] = sample{float64(float32(1e-7)), 1e-16, math.Inf(1), func(b *onnxpb.Builder, op string) { // the largest number that counts as zero
		b.Import("pho", 1)
		b.AddNodes("pho", "SoftmaxZero", []string{"h"}, []string{"y"})
	}}
	samples["ai.onnx.ml.OneHotEncoder"] = sample{1, -d, 1, ml(onnxpb.Ints("cats_int64s", 1))}
	table := operator.New[float64]()
	for key, e := range table {
		if _, known := samples[key]; known != e.Jumps {
			t.Errorf("%s: Jumps is %v, and a sample here: %v", key, e.Jumps, known)
		}
	}
	for key, s := range samples {
		b := onnxpb.NewBuilder(26)
		b.AddInput("x", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 1)
		b.AddInit("d", []int{1}, s.d)
		b.AddNode("Add", []string{"x", "d"}, "h")
		s.nodes(b, key)
		b.Output("y", onnxpb.TensorProto_FLOAT)
		b.Model().Graph.Output[0].Type = nil
		g, err := graphtest.Load(graphtest.Bytes(t, b))
		if err != nil {
			t.Fatalf("%s: %v", key, err)
		}
		r, err := engine.New(g, g.Outputs, engine.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := graphtest.Run(t, r, g, [][]float64{{s.x}}, 0, 1)[0][0]; got != s.want {
			t.Errorf("%s of %g and %g is %g, want %g: its operands are not rounded", key, s.x, s.d, got, s.want)
		}
	}
}
