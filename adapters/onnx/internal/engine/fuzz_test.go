package engine_test

import (
	"math"
	"os"
	"slices"
	"testing"

	"github.com/pho-go/pho/adapters/onnx/internal/engine"
	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/adapters/onnx/internal/graphtest"
	"github.com/pho-go/pho/adapters/onnx/internal/operator"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// seedModels are small graphs that reach every family of operators.
func seedModels(t testing.TB) [][]byte {
	var out [][]byte
	add := func(opset int64, nodes func(b *onnxpb.Builder)) {
		out = append(out, graphtest.Bytes(t, graphtest.Model(opset, nodes)))
	}
	add(13, func(b *onnxpb.Builder) {
		b.AddInit("w", []int{2, 3}, 1, 2, 3, 4, 5, 6)
		b.AddInit("b", []int{2}, 1, 2)
		b.AddNode("Gemm", graphtest.In("x", "w", "b"), "h", onnxpb.Int("transB", 1))
		b.AddNode("Relu", graphtest.In("h"), "y")
	})
	add(13, func(b *onnxpb.Builder) {
		b.AddNode("Shape", graphtest.In("x"), "s")
		b.AddInts("i", 0)
		b.AddInts("k", 1, -1)
		b.AddNode("Gather", graphtest.In("s", "i"), "n")
		b.AddNode("Concat", graphtest.In("n", "k"), "t", onnxpb.Int("axis", 0))
		b.AddNode("Reshape", graphtest.In("x", "t"), "r")
		b.AddNode("Transpose", graphtest.In("r"), "p", onnxpb.Ints("perm", 1, 0, 2))
		b.AddNode("ReduceMean", graphtest.In("p"), "y", onnxpb.Ints("axes", 2))
	})
	add(11, func(b *onnxpb.Builder) {
		b.AddInts("from", 1)
		b.AddInts("to", 3)
		b.AddInts("axes", 1)
		b.AddNode("Slice", graphtest.In("x", "from", "to", "axes"), "a")
		b.AddNodes("", "Split", graphtest.In("x"), graphtest.In("p", "q"), onnxpb.Int("axis", 1), onnxpb.Ints("split", 1, 2))
		b.AddNode("Concat", graphtest.In("a", "p", "q"), "c", onnxpb.Int("axis", 1))
		b.AddNode("Softmax", graphtest.In("c"), "y")
	})
	add(13, func(b *onnxpb.Builder) {
		b.AddInit("w", []int{3, 1, 1}, 1, 2, 3)
		b.AddInts("axes", 2)
		b.AddNode("Unsqueeze", graphtest.In("x", "axes"), "u")
		b.AddNode("Conv", graphtest.In("u", "w"), "c", onnxpb.Int("group", 3))
		b.AddNode("Einsum", graphtest.In("c", "x"), "y", onnxpb.Text("equation", "nfi,nf->nf"))
	})
	add(15, func(b *onnxpb.Builder) {
		b.AddInts("shape", 3)
		b.AddNode("ConstantOfShape", graphtest.In("shape"), "c", onnxpb.TensorAttr("value", graphtest.TFloat, []int{1}, 0.5))
		b.AddNode("Greater", graphtest.In("x", "c"), "g")
		b.AddNode("Where", graphtest.In("g", "x", "c"), "v")
		b.AddNode("Cast", graphtest.In("v"), "k", onnxpb.Int("to", 7))
		b.AddNode("Cast", graphtest.In("k"), "f", onnxpb.Int("to", 1))
		b.AddInit("e", []int{3, 2}, 1, 2, 3, 4, 5, 6)
		b.AddNode("Gather", graphtest.In("e", "k"), "em")
		b.AddNode("ReduceSum", graphtest.In("em", "two"), "s", onnxpb.Int("keepdims", 0))
		b.AddInts("two", 2)
		b.AddNode("Pow", graphtest.In("s", "f"), "y")
	})
	add(28, func(b *onnxpb.Builder) { // an attention whose heads a Reshape has joined with the rows
		b.AddInts("apart", -1, 3, 1, 1)
		b.AddInts("together", -1, 1, 3)
		b.AddInit("s", []int{3}, 1, -1, 2)
		b.AddNode("Reshape", graphtest.In("x", "apart"), "h")
		b.AddNodes("", "Attention", graphtest.In("h", "h", "h", "", "h", "h"), graphtest.In("a", "pk", "pv", "qk"), onnxpb.Int("is_causal", 1), onnxpb.Int("qk_matmul_output_mode", 3), onnxpb.Int("left_window_size", 1))
		b.AddNode("Reshape", graphtest.In("a", "together"), "j")
		b.AddNode("RMSNormalization", graphtest.In("j", "s"), "r")
		b.AddNode("SwiGLU", graphtest.In("r", "j"), "y", onnxpb.Float("alpha", 2))
	})
	add(28, func(b *onnxpb.Builder) {
		b.AddInts("three", -1, 3, 2)
		b.AddInit("w", []int{3, 1, 2}, 1, -1, 2, 0.5, 1, 3)
		b.AddNode("Concat", graphtest.In("x", "x"), "t", onnxpb.Int("axis", 1))
		b.AddNode("Reshape", graphtest.In("t", "three"), "u")
		b.AddNodes("", "CausalConvWithState", graphtest.In("u", "w"), graphtest.In("c", "state"), onnxpb.Text("activation", "silu"))
		b.AddInit("cos", []int{1, 3, 1}, 1, 0.5, 0)
		b.AddNode("RotaryEmbedding", graphtest.In("c", "cos", "cos"), "p", onnxpb.Int("num_heads", 1))
		b.AddNodes("", "LinearAttention", graphtest.In("p", "c", "u", "", "u"), graphtest.In("l", "last"), onnxpb.Int("q_num_heads", 2), onnxpb.Int("kv_num_heads", 2), onnxpb.Text("update_rule", "gated"))
		b.AddNode("TensorScatter", graphtest.In("u", "l"), "v")
		b.AddNode("GroupNormalization", graphtest.In("v", "g", "g"), "y", onnxpb.Int("num_groups", 1))
		b.AddInit("g", []int{3}, 1, 2, 3)
	})
	add(17, func(b *onnxpb.Builder) { // as ONNX Runtime's optimizer writes
		b.Import("com.microsoft", 1)
		b.AddInts("s", -1, 1, 3)
		b.AddInit("w", []int{2, 3}, 1, -1, 2, 0.5, 3, 1)
		b.AddInit("c", []int{3}, 1, 2, -1)
		b.AddNodes("com.microsoft", "FusedGemm", graphtest.In("x", "w"), graphtest.In("g"), onnxpb.Int("transB", 1), onnxpb.Text("activation", "Tanh"))
		b.AddNode("Reshape", graphtest.In("x", "s"), "u")
		b.AddNodes("com.microsoft", "FusedMatMul", graphtest.In("u", "u"), graphtest.In("m"), onnxpb.Int("transA", 1), onnxpb.Int("transBatchB", 1))
		b.AddNodes("com.microsoft", "SkipLayerNormalization", graphtest.In("u", "u", "c", "", "c"), graphtest.In("n", "", "", "sum"))
		b.AddNodes("com.microsoft", "BiasGelu", graphtest.In("n", "c"), graphtest.In("b"))
		b.AddNodes("com.microsoft", "QuickGelu", graphtest.In("b"), graphtest.In("y"))
	})
	one := onnxpb.NewBuilder(13) // traced with one row
	one.AddInput("x", graphtest.TFloat, 1, 4, 2)
	one.AddInit("cls", []int{1, 1, 2}, 1, 2)
	one.AddInts("heads", 5, 2, 1)
	one.AddInts("flat", 5, 2)
	one.AddNode("Concat", graphtest.In("cls", "x"), "c", onnxpb.Int("axis", 1))
	one.AddNode("Transpose", graphtest.In("c"), "t", onnxpb.Ints("perm", 1, 0, 2))
	one.AddNode("Reshape", graphtest.In("t", "heads"), "h")
	one.AddNode("Softmax", graphtest.In("h"), "s", onnxpb.Int("axis", 0))
	one.AddNode("Reshape", graphtest.In("s", "flat"), "y")
	one.Output("y", graphtest.TFloat, 5, 2)
	out = append(out, graphtest.Bytes(t, one))
	add(17, func(b *onnxpb.Builder) { // rows twice on an axis, and taken apart again
		b.AddNode("Neg", graphtest.In("x"), "n")
		b.AddNode("Concat", graphtest.In("x", "n"), "c", onnxpb.Int("axis", 0))
		b.AddNode("Shape", graphtest.In("x"), "s", onnxpb.Int("end", 1))
		b.AddInts("zero", 0)
		b.AddNode("Slice", graphtest.In("c", "s", "far", "zero"), "d")
		b.AddInts("far", math.MaxInt64)
		b.AddNodes("", "Split", graphtest.In("c"), graphtest.In("e", "f"))
		b.AddInts("two", 2, 1)
		b.AddNode("Tile", graphtest.In("d", "two"), "g")
		b.AddNodes("", "LayerNormalization", graphtest.In("g", "w"), graphtest.In("y", "mean", "inverse"))
		b.AddInit("w", []int{3}, 1, 2, 3)
		b.AddNode("Add", graphtest.In("e", "f"), "h")
	})
	add(13, func(b *onnxpb.Builder) { // parts of a decomposition, which are passed over
		b.AddInit("w", []int{3}, 1, 2, 3)
		b.AddNode("Mul", graphtest.In("x", "w"), "y")
		b.AddInput("x5", onnxpb.TensorProto_DOUBLE, onnxpb.Rows, 1)
		b.AddNode("Exp", graphtest.In("x5"), "pho/part")
		b.Output("pho/part", onnxpb.TensorProto_DOUBLE, onnxpb.Rows, 1)
		b.AddMetadata("pho.structure", `{"format":"pho.structure/1","columns":{},"predictors":[],"parts":{"inputs":["x5"],"outputs":[{"name":"pho/part","predictor":"eta","part":"term","term":"x5"}]}}`)
	})
	quantisedSeeds(add)
	add(17, func(b *onnxpb.Builder) {
		trees := new(graphtest.Trees).Stump(0, 0, 0.5, 1, 2).Stump(4, 2, -1, 3, -1)
		trees.Branch(7, 3, 1, "BRANCH_EQ", 0, 5, 6).Leaf(7, 6, 1).Branch(7, 5, 0, "BRANCH_GT", 0.25, 1, 2).Leaf(7, 1, 4).Leaf(7, 2, 5)
		trees.Missing = make([]int64, len(trees.Tree))
		trees.Missing[0] = 1
		trees.Regressor(b, "x", "t", onnxpb.Floats("base_values", 0.5), onnxpb.Text("aggregate_function", "AVERAGE"))
		b.AddNodes("ai.onnx.ml", "TreeEnsembleClassifier", graphtest.In("x"), graphtest.In("label", "p"), trees.Attrs("class", onnxpb.Ints("classlabels_int64s", 3, 5), onnxpb.Text("post_transform", "LOGISTIC"))...)
		b.AddNode("Concat", graphtest.In("t", "p"), "y", onnxpb.Int("axis", 1))
	})
	add(17, func(b *onnxpb.Builder) { graphtest.Five(b, "x", "y", onnxpb.Int("aggregate_function", 2)) })
	return slices.Concat(out, spatialSeeds(t), indexSeeds(t), controlSeeds(t), seedTexts(t))
}

// quantisedSeeds are networks of short types.
func quantisedSeeds(add func(opset int64, nodes func(b *onnxpb.Builder))) {
	uint8s, int8s := onnxpb.TensorProto_UINT8, onnxpb.TensorProto_INT8
	add(21, func(b *onnxpb.Builder) {
		b.AddInit("s", []int{3}, 0.5, 1, 2)
		b.AddIntegers("z", int8s, []int{3}, 1, 0, -1)
		b.AddNode("QuantizeLinear", graphtest.In("x", "s", "z"), "q")
		b.AddNode("DequantizeLinear", graphtest.In("q", "s", "z"), "d")
		b.AddNode("Cast", graphtest.In("d"), "h", onnxpb.Int("to", 10))
		b.AddNode("Floor", graphtest.In("h"), "y")
	})
	add(21, func(b *onnxpb.Builder) {
		b.AddInit("s", []int{1, 2}, 0.5, 1)
		b.AddInit("c", []int{1, 3}, 1, 2, 3)
		b.AddNode("QuantizeLinear", graphtest.In("c", "s"), "q", onnxpb.Int("block_size", 2), onnxpb.Int("output_dtype", 22))
		b.AddNode("DequantizeLinear", graphtest.In("q", "s"), "d", onnxpb.Int("block_size", 2))
		b.AddNode("Add", graphtest.In("x", "d"), "y")
	})
	add(17, func(b *onnxpb.Builder) {
		b.AddNodes("", "DynamicQuantizeLinear", graphtest.In("x"), graphtest.In("q", "scale", "point"))
		b.AddIntegers("w", int8s, []int{3, 2}, 1, 2, -3, 4, 5, 6)
		b.AddIntegers("zw", int8s, []int{2}, 1, 0)
		b.AddNode("MatMulInteger", graphtest.In("q", "w", "point", "zw"), "k")
		b.AddNode("Cast", graphtest.In("k"), "f", onnxpb.Int("to", 1))
		b.AddNode("Mul", graphtest.In("f", "scale"), "y")
	})
	add(17, func(b *onnxpb.Builder) {
		b.Import("com.microsoft", 1)
		b.AddInit("s", nil, 0.5)
		b.AddIntegers("z", uint8s, nil, 5)
		b.AddNode("QuantizeLinear", graphtest.In("x", "s", "z"), "q")
		b.AddIntegers("w", int8s, []int{2, 3}, 1, 2, 3, 4, 5, 6)
		b.AddIntegers("zw", int8s, nil, 0)
		b.AddIntegers("c", onnxpb.TensorProto_INT32, []int{2}, 100, -8)
		b.AddNodes("com.microsoft", "QGemm", graphtest.In("q", "s", "z", "w", "s", "zw", "c", "s", "z"), graphtest.In("g"), onnxpb.Int("transB", 1))
		b.AddIntegers("v", int8s, []int{2, 1}, 1, 2)
		b.AddNode("QLinearMatMul", graphtest.In("g", "s", "z", "v", "s", "zw", "s", "z"), "y")
	})
	add(17, func(b *onnxpb.Builder) {
		b.AddInit("s", nil, 0.5)
		b.AddIntegers("z", uint8s, nil, 5)
		b.AddNode("QuantizeLinear", graphtest.In("x", "s", "z"), "q")
		b.AddInts("one", 1)
		b.AddNode("Unsqueeze", graphtest.In("q", "one"), "u")
		b.AddIntegers("w", int8s, []int{1, 1, 2}, 1, 2)
		b.AddIntegers("zw", int8s, nil, 0)
		b.AddNode("QLinearConv", graphtest.In("u", "s", "z", "w", "s", "zw", "s", "z"), "v", onnxpb.Ints("pads", 1, 0))
		b.AddNode("ConvInteger", graphtest.In("v", "w", "z", "zw"), "y")
	})
	add(17, func(b *onnxpb.Builder) {
		b.Import("com.microsoft", 1)
		b.AddInit("s", nil, 0.5)
		b.AddIntegers("z", uint8s, nil, 5)
		b.AddNode("QuantizeLinear", graphtest.In("x", "s", "z"), "q")
		b.AddNodes("com.microsoft", "QLinearSigmoid", graphtest.In("q", "s", "z", "s", "z"), graphtest.In("g"))
		b.AddNodes("com.microsoft", "QLinearMul", graphtest.In("q", "s", "z", "g", "s", "z", "s", "z"), graphtest.In("m"))
		b.AddNodes("com.microsoft", "QLinearConcat", graphtest.In("s", "z", "m", "s", "z", "q", "s", "z"), graphtest.In("y"), onnxpb.Int("axis", 1))
	})
	add(17, func(b *onnxpb.Builder) {
		b.Import("com.microsoft", 1)
		b.AddIntegers("w", int8s, []int{3, 2}, 1, 2, -3, 4, 5, 6)
		b.AddIntegers("zw", int8s, []int{2}, 1, 0)
		b.AddInit("sw", []int{2}, 0.5, 0.25)
		b.AddInit("bias", []int{2}, 1, -1)
		b.AddNodes("com.microsoft", "DynamicQuantizeMatMul", graphtest.In("x", "w", "sw", "zw", "bias"), graphtest.In("y"))
	})
	add(17, func(b *onnxpb.Builder) {
		b.Import("com.microsoft", 1)
		b.AddInts("first", 0)
		b.AddNode("Unsqueeze", graphtest.In("x", "first"), "s")
		b.AddIntegers("w", int8s, []int{1, 3, 4}, 1, 2, -3, 4, 5, 6, -7, 8, 9, 10, 11, -12)
		b.AddIntegers("r", int8s, []int{1, 1, 4}, 1, -2, 3, 4)
		b.AddIntegers("zw", int8s, []int{1}, 1)
		b.AddInit("sw", []int{1, 4}, 0.5, 0.25, 1, 0.125)
		b.AddNodes("com.microsoft", "DynamicQuantizeLSTM", graphtest.In("s", "w", "r", "", "", "", "", "", "sw", "zw", "sw", "zw"), graphtest.In("y"), onnxpb.Int("hidden_size", 1))
	})
	add(15, func(b *onnxpb.Builder) {
		b.AddNode("Cast", graphtest.In("x"), "k", onnxpb.Int("to", 13))
		b.AddIntegers("c", onnxpb.TensorProto_UINT64, []int{3}, 7, -1, 1)
		b.AddNode("Div", graphtest.In("k", "c"), "d")
		b.AddNode("Pow", graphtest.In("d", "c"), "p")
		b.AddNode("Clip", graphtest.In("p"), "l")
		b.AddNode("Less", graphtest.In("l", "c"), "b")
		b.AddNode("Cast", graphtest.In("b"), "y", onnxpb.Int("to", 16))
	})
}

// controlSeeds reach control flow, functions, sequences and recurrent operators.
func controlSeeds(t testing.TB) [][]byte {
	var out [][]byte
	for _, name := range []string{"loop_nested", "loop_list", "loop_rows", "loop_rows_list", "scan_axes", "scan_rows", "if_shape", "split_sequence", "optional", "function_loop", "dropout_mask"} {
		out = append(out, graphtest.GoldenBytes(t, "control", name+".onnx"))
	}
	for _, name := range []string{"lstm_bidirectional_bias_state_memory_peepholes_lengths", "gru_reverse_after_bias_clip_lengths", "rnn_forward_bias"} {
		out = append(out, graphtest.GoldenBytes(t, "recurrent", name+".onnx"))
	}
	return out
}

// seedTexts are graphs with text, encoders and models of ai.onnx.ml.
func seedTexts(t testing.TB) [][]byte {
	var out [][]byte
	strings := func(name string, v ...string) onnxpb.Attr {
		return func() (*onnxpb.AttributeProto, error) {
			a := &onnxpb.AttributeProto{Name: name, Type: onnxpb.AttributeProto_STRINGS}
			for _, s := range v {
				a.Strings = append(a.Strings, []byte(s))
			}
			return a, nil
		}
	}
	add := func(nodes func(b *onnxpb.Builder, ml func(op, from, to string, attrs ...onnxpb.Attr))) {
		b := onnxpb.NewBuilder(20)
		b.Import("ai.onnx.ml", 2)
		b.AddInput("x", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 2)
		b.AddInput("s", onnxpb.TensorProto_STRING, onnxpb.Rows, 1)
		nodes(b, func(op, from, to string, attrs ...onnxpb.Attr) {
			b.AddNodes("ai.onnx.ml", op, graphtest.In(from), graphtest.In(to), attrs...)
		})
		b.Model().Graph.Output = append(b.Model().Graph.Output, &onnxpb.ValueInfoProto{Name: "y"}, &onnxpb.ValueInfoProto{Name: "z"})
		out = append(out, graphtest.Bytes(t, b))
	}
	add(func(b *onnxpb.Builder, ml func(op, from, to string, attrs ...onnxpb.Attr)) {
		ml("Imputer", "x", "i", onnxpb.Floats("imputed_value_floats", 1, 2), onnxpb.Float("replaced_value_float", math.NaN()))
		ml("OneHotEncoder", "s", "h", strings("cats_strings", "a", "b"))
		b.AddNode("Flatten", graphtest.In("h"), "d")
		b.AddNode("Concat", graphtest.In("i", "d"), "c", onnxpb.Int("axis", 1))
		b.AddNodes("ai.onnx.ml", "LinearClassifier", graphtest.In("c"), graphtest.In("z", "p"), onnxpb.Floats("coefficients", 1, 2, 3, 4), onnxpb.Floats("intercepts", 1), strings("classlabels_strings", "n", "p"), onnxpb.Text("post_transform", "LOGISTIC"))
		ml("Normalizer", "p", "q", onnxpb.Text("norm", "L1"))
		ml("ZipMap", "q", "y", strings("classlabels_strings", "n", "p"))
	})
	add(func(b *onnxpb.Builder, ml func(op, from, to string, attrs ...onnxpb.Attr)) {
		b.AddNodes("ai.onnx.ml", "SVMClassifier", graphtest.In("x"), graphtest.In("z", "y"), onnxpb.Floats("coefficients", 1, -1), onnxpb.Floats("support_vectors", 1, 2, 3, 4), onnxpb.Ints("vectors_per_class", 1, 1),
			onnxpb.Floats("rho", 0.5), onnxpb.Ints("classlabels_ints", 4, 5), onnxpb.Text("kernel_type", "RBF"), onnxpb.Floats("kernel_params", 0.5, 0, 3), onnxpb.Floats("prob_a", -1), onnxpb.Floats("prob_b", 0))
	})
	add(func(b *onnxpb.Builder, ml func(op, from, to string, attrs ...onnxpb.Attr)) {
		ml("LabelEncoder", "s", "t", strings("keys_strings", "a", ""), strings("values_strings", "b", "c"))
		b.AddNode("StringConcat", graphtest.In("t", "s"), "u")
		b.AddNode("StringNormalizer", graphtest.In("u"), "n", onnxpb.Text("case_change_action", "UPPER"))
		b.AddNode("RegexFullMatch", graphtest.In("n"), "r", onnxpb.Text("pattern", "[A-C]+"))
		b.AddNode("Where", graphtest.In("r", "n", "s"), "w")
		b.AddNode("Concat", graphtest.In("w", "s"), "c", onnxpb.Int("axis", 1))
		b.AddNode("TfIdfVectorizer", graphtest.In("c"), "y", onnxpb.Text("mode", "TF"), onnxpb.Int("max_gram_length", 2), onnxpb.Ints("ngram_counts", 0, 1), onnxpb.Ints("ngram_indexes", 0, 1), strings("pool_strings", "C", "C", ""))
		b.AddNode("Cast", graphtest.In("x"), "k", onnxpb.Int("to", 8))
		b.AddNode("Cast", graphtest.In("k"), "z", onnxpb.Int("to", 1))
	})
	add(func(b *onnxpb.Builder, ml func(op, from, to string, attrs ...onnxpb.Attr)) {
		ml("Binarizer", "x", "i")
		ml("LinearRegressor", "i", "y", onnxpb.Floats("coefficients", 1, 2), onnxpb.Floats("intercepts", 1))
		ml("SVMRegressor", "x", "z", onnxpb.Floats("coefficients", 1, -1), onnxpb.Floats("support_vectors", 1, 2, 3, 4), onnxpb.Int("n_supports", 2), onnxpb.Floats("rho", 0.5), onnxpb.Text("kernel_type", "POLY"), onnxpb.Floats("kernel_params", 0.5, 0, 3))
	})
	return out
}

// FuzzLoad: whatever the bytes, loading and running ends soon, in an error or in
// numbers, within the bounds it is given; and a graph that was accepted keeps
// rows apart: a row alone gives the same bits as among others.
func FuzzLoad(f *testing.F) {
	for _, b := range seedModels(f) {
		f.Add(b)
	}
	for _, name := range []string{"nam_slice_13", "attention_15", "expand_11", "nam_einsum_17", "where_13", "cast_13", "conv2d_13", "onehot_13", "reduce_11"} {
		b, err := os.ReadFile(graphtest.GoldenFile("torch", name+".onnx"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		g, err := graph.Read(b, graph.Limits{MaxMemory: 1 << 20, MaxElements: 5000, MaxWork: 1e7}, operator.NewFloat64())
		if err != nil {
			return
		}
		if len(g.Outputs) > 20 || len(g.Inputs) > 100 {
			return
		}
		var want []*graph.Value
		for _, v := range g.Outputs {
			if v.BatchAxis() >= 0 && v.Type != graph.String {
				want = append(want, v)
			}
		}
		for _, precision := range []engine.Precision{engine.Double, engine.Single} {
			r, err := engine.New(g, want, engine.Options{Precision: precision, MaxMemory: 16 << 20})
			if err != nil {
				return
			}
			const rows = 3
			var in, dst [][]float64
			for _, v := range g.Inputs {
				x := make([]float64, rows*v.Width())
				for i := range x {
					if x[i] = math.Sin(float64(i + 1)); !v.Type.Floating() {
						x[i] = float64(i % 2)
					}
				}
				in = append(in, x)
			}
			for _, v := range want {
				dst = append(dst, make([]float64, rows*v.Width()))
			}
			if err := r.Run(dst, in, rows); err != nil {
				return
			}
			for i := range rows {
				var in1, dst1 [][]float64
				for k, v := range g.Inputs {
					in1 = append(in1, in[k][i*v.Width():(i+1)*v.Width()])
				}
				for _, v := range want {
					dst1 = append(dst1, make([]float64, v.Width()))
				}
				if err := r.Run(dst1, in1, 1); err != nil {
					t.Fatalf("row %d fails alone: %v", i, err)
				}
				for k, v := range want {
					for j, y := range dst1[k] {
						if z := dst[k][i*v.Width()+j]; z != y && !(math.IsNaN(z) && math.IsNaN(y)) {
							t.Fatalf("%q: row %d is %v alone, %v among %d rows", v.Name, i, y, z, rows)
						}
					}
				}
			}
		}
	})
}
