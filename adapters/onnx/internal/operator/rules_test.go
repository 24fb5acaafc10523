package operator_test

import (
	"path/filepath"
	"testing"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/adapters/onnx/internal/graphtest"
	"github.com/pho-go/pho/adapters/onnx/internal/operator"
)

func TestRulesOnTorch(t *testing.T) {
	linear := 0
	for i, name := range graphtest.GoldenNames(t) {
		t.Run(filepath.Base(name), func(t *testing.T) {
			g, err := graphtest.LoadFile(name + ".onnx")
			if err != nil {
				t.Fatal(err)
			}
			linear += graphtest.CheckRules(t, g, uint64(i))
		})
	}
	if linear < 250 {
		t.Errorf("only %d linear nodes", linear)
	}
}

// The rules of ai.onnx.ml and of text, on what skl2onnx writes.
func TestRulesOnPipelines(t *testing.T) {
	linear := 0
	for i, name := range []string{
		"columns_unknown", "columns_target", "columns_count", "pre_bins", "pre_bins_ordinal", "pre_binarizer", "pre_power", "pre_normalizer", "pre_robust", "pre_interactions", "impute",
		"logistic", "logistic_text", "lda", "one_vs_rest", "mlp_classifier", "sgd", "calibrated", "linear_two", "svc", "svc_poly", "svr", "linear_svc", "bayes",
	} {
		t.Run(name, func(t *testing.T) {
			g, err := graphtest.LoadFile(filepath.Join("..", "..", "..", "..", "testdata", "zoo", "networks", "sklearn", name+".onnx"))
			if err != nil {
				t.Fatal(err)
			}
			linear += graphtest.CheckRules(t, g, uint64(i))
		})
	}
	if linear < 80 {
		t.Errorf("only %d linear nodes", linear)
	}
}

func named(v *graph.Value, name string) *graph.Value { v.Name = name; return v }

// fixed is a constant of integers.
func fixed(shape []int, v ...int64) *graph.Value {
	return &graph.Value{Name: "fixed", Type: graph.Int64, Shape: shape, Const: &graph.Tensor{Type: graph.Int64, Shape: shape, I: v}}
}

func bools(shape []int, v ...int64) *graph.Value {
	return &graph.Value{Name: "bools", Type: graph.Bool, Shape: shape, Const: &graph.Tensor{Type: graph.Bool, Shape: shape, I: v}}
}

// operatorCase is a node with inputs of its own. linear: the rule must be exact and
// linear, not merely sound.
type operatorCase struct {
	name   string
	op     string
	a      graphtest.Attrs
	shapes [][]int // of the outputs, the first of which is the graph's output
	in     []*graph.Value
	opset  int64
	linear bool
}

// encoded is the file of a network of that node.
func (c *operatorCase) encoded(t *testing.T) []byte {
	t.Helper()
	var inputs []*graph.Value
	for _, v := range c.in {
		if v.Const == nil {
			inputs = append(inputs, v)
		}
	}
	h := graphtest.NewHand(inputs...)
	for i, v := range h.Nodes(c.op, c.a, c.shapes, c.in...) {
		h.Output([]string{"y", "rest", "third", "fourth"}[i], v)
	}
	return graphtest.Encoded(t, h.G, c.opset)
}

// operatorCases are operators one at a time, in their awkward forms.
func operatorCases() []operatorCase {
	x := func(d ...int) *graph.Value { return graphtest.Input("x", append([]int{graph.Batch}, d...)...) }
	attr := func(kv ...any) graphtest.Attrs {
		a := graphtest.Attrs{}
		for i := 0; i < len(kv); i += 2 {
			switch v := kv[i+1].(type) {
			case int:
				a[kv[i].(string)] = graph.Attr{Int: int64(v)}
			case float64:
				a[kv[i].(string)] = graph.Attr{Float: v}
			case string:
				a[kv[i].(string)] = graph.Attr{String: v}
			case []int64:
				a[kv[i].(string)] = graph.Attr{Ints: v}
			}
		}
		return a
	}
	i64 := func(v *graph.Value) *graph.Value { v.Type = graph.Int64; return v }
	middle := func() *graph.Value { return graphtest.Input("x", 2, graph.Batch, 3) }
	return []operatorCase{
		{"slice backwards", "Slice", nil, [][]int{{graph.Batch, 2, 4}}, []*graph.Value{x(5, 4), graphtest.Ints(-1), named(graphtest.Ints(-4), "e"), named(graphtest.Ints(1), "a"), named(graphtest.Ints(-2), "s")}, 13, true},
		{"slice clamps", "Slice", nil, [][]int{{graph.Batch, 2, 4}}, []*graph.Value{x(5, 4), named(graphtest.Ints(3), "s"), graphtest.Ints(1 << 40), named(graphtest.Ints(-2), "a")}, 13, true},
		{"slice backwards from beyond the end", "Slice", nil, [][]int{{graph.Batch, 5}}, []*graph.Value{x(5), graphtest.Ints(1 << 40), named(graphtest.Ints(-1<<40), "e"), named(graphtest.Ints(1), "a"), named(graphtest.Ints(-1), "s")}, 13, true},
		{"slice from before the start", "Slice", nil, [][]int{{graph.Batch, 2}}, []*graph.Value{x(5), graphtest.Ints(-9), named(graphtest.Ints(2), "e"), named(graphtest.Ints(1), "a")}, 13, true},
		{"slice two axes", "Slice", nil, [][]int{{graph.Batch, 2, 1}}, []*graph.Value{x(5, 4), graphtest.Ints(1, 2), named(graphtest.Ints(4, 3), "e"), named(graphtest.Ints(1, 2), "a"), named(graphtest.Ints(2, 1), "s")}, 13, true},
		{"slice attributes", "Slice", attr("starts", []int64{1}, "ends", []int64{3}, "axes", []int64{1}), [][]int{{graph.Batch, 2}}, []*graph.Value{x(4)}, 9, true},
		{"gather from the end", "Gather", attr("axis", 1), [][]int{{graph.Batch, 3, 2}}, []*graph.Value{x(4, 2), graphtest.Ints(-1, 0, 2)}, 13, true},
		{"gather one", "Gather", attr("axis", -1), [][]int{{graph.Batch, 4}}, []*graph.Value{x(4, 2), {Name: "i", Type: graph.Int64, Shape: []int{}, Const: &graph.Tensor{Type: graph.Int64, Shape: []int{}, I: []int64{1}}}}, 13, true},
		{"embedding", "Gather", nil, [][]int{{graph.Batch, 2, 3}}, []*graph.Value{graphtest.Ramp(4, 3), i64(x(2))}, 13, false},
		{"split", "Split", attr("axis", 1), [][]int{{graph.Batch, 1, 2}, {graph.Batch, 3, 2}}, []*graph.Value{x(4, 2), graphtest.Ints(1, 3)}, 13, true},
		{"split attribute", "Split", attr("axis", -1, "split", []int64{3, 1}), [][]int{{graph.Batch, 2, 3}, {graph.Batch, 2, 1}}, []*graph.Value{x(2, 4)}, 11, true},
		{"concat along the first axis", "Concat", attr("axis", 0), [][]int{{3, graph.Batch, 3}}, []*graph.Value{middle(), graphtest.Input("z", 1, graph.Batch, 3)}, 13, true},
		{"concat along the last axis", "Concat", attr("axis", -1), [][]int{{graph.Batch, 2, 4}}, []*graph.Value{x(2, 3), graphtest.Input("z", graph.Batch, 2, 1)}, 13, true},
		{"transpose", "Transpose", attr("perm", []int64{2, 0, 1}), [][]int{{3, graph.Batch, 2}}, []*graph.Value{x(2, 3)}, 13, true},
		{"transpose without perm", "Transpose", nil, [][]int{{3, 2, graph.Batch}}, []*graph.Value{x(2, 3)}, 13, true},
		{"tile", "Tile", nil, [][]int{{graph.Batch, 4, 6}}, []*graph.Value{x(2, 3), graphtest.Ints(1, 2, 2)}, 13, true},
		{"gemm transposed", "Gemm", attr("transB", 1, "alpha", 0.5, "beta", 2.0), [][]int{{graph.Batch, 3}}, []*graph.Value{x(2), graphtest.Ramp(3, 2), graphtest.Floats([]int{1}, 3)}, 13, true},
		{"gemm, weights first", "Gemm", attr("transB", 1), [][]int{{3, graph.Batch}}, []*graph.Value{graphtest.Ramp(3, 2), x(2)}, 13, true},
		{"gemm, a bias from the data", "Gemm", nil, [][]int{{graph.Batch, 3}}, []*graph.Value{x(2), graphtest.Ramp(2, 3), graphtest.Input("z", graph.Batch, 3)}, 13, true},
		{"matmul, stack of weights", "MatMul", nil, [][]int{{2, graph.Batch, 4}}, []*graph.Value{middle(), graphtest.Ramp(2, 3, 4)}, 13, true},
		{"matmul, stack made", "MatMul", nil, [][]int{{5, graph.Batch, 4}}, []*graph.Value{graphtest.Input("x", 1, graph.Batch, 3), graphtest.Ramp(5, 3, 4)}, 13, true},
		{"matmul by a vector", "MatMul", nil, [][]int{{graph.Batch, 2}}, []*graph.Value{x(2, 3), graphtest.Ramp(3)}, 13, true},
		{"matmul, weights first", "MatMul", nil, [][]int{{graph.Batch, 4, 3}}, []*graph.Value{graphtest.Ramp(4, 2), x(2, 3)}, 13, true},
		{"matmul of two data tensors", "MatMul", nil, [][]int{{graph.Batch, 2, 4}}, []*graph.Value{x(2, 3), graphtest.Input("z", graph.Batch, 3, 4)}, 13, false},
		{"einsum", "Einsum", attr("equation", "ngi,gio->ngo"), [][]int{{graph.Batch, 2, 4}}, []*graph.Value{x(2, 3), graphtest.Ramp(2, 3, 4)}, 13, true},
		{"einsum, summed and transposed", "Einsum", attr("equation", "a b c, c d -> d a"), [][]int{{4, graph.Batch}}, []*graph.Value{x(2, 3), graphtest.Ramp(3, 4)}, 13, true},
		{"einsum of two data tensors", "Einsum", attr("equation", "ni,nj->nij"), [][]int{{graph.Batch, 2, 3}}, []*graph.Value{x(2), graphtest.Input("z", graph.Batch, 3)}, 13, false},
		{"grouped convolution", "Conv", attr("group", 2, "kernel_shape", []int64{1}), [][]int{{graph.Batch, 4, 3}}, []*graph.Value{x(4, 3), graphtest.Ramp(4, 2, 1), graphtest.Ramp(4)}, 13, true},
		{"convolution of one position", "Conv", attr("group", 2, "kernel_shape", []int64{1}), [][]int{{graph.Batch, 4, 1}}, []*graph.Value{x(4, 1), graphtest.Ramp(4, 2, 1), graphtest.Ramp(4)}, 13, true},
		{"convolution, 2-D, strides, pads, dilation", "Conv", attr("kernel_shape", []int64{2, 3}, "strides", []int64{1, 2}, "pads", []int64{1, 2, 0, 1}, "dilations", []int64{2, 1}), [][]int{{graph.Batch, 2, 3, 3}}, []*graph.Value{x(3, 4, 5), graphtest.Ramp(2, 3, 2, 3)}, 13, true},
		{"convolution, same", "Conv", attr("auto_pad", "SAME_UPPER", "kernel_shape", []int64{2}, "strides", []int64{2}), [][]int{{graph.Batch, 2, 3}}, []*graph.Value{x(3, 5), graphtest.Ramp(2, 3, 2)}, 13, true},
		{"convolution, same, low", "Conv", attr("auto_pad", "SAME_LOWER", "kernel_shape", []int64{4}), [][]int{{graph.Batch, 2, 5}}, []*graph.Value{x(3, 5), graphtest.Ramp(2, 3, 4)}, 13, true},
		{"batch norm of images", "BatchNormalization", attr("epsilon", 0.5), [][]int{{graph.Batch, 3, 2}}, []*graph.Value{x(3, 2), graphtest.Ramp(3), named(graphtest.Ramp(3), "b"), named(graphtest.Ramp(3), "m"), graphtest.Floats([]int{3}, 1, 2, 3)}, 13, true},
		{"sum over an axis", "ReduceSum", attr("keepdims", 0), [][]int{{graph.Batch, 4}}, []*graph.Value{x(3, 4), graphtest.Ints(1)}, 13, true},
		{"mean over two axes", "ReduceMean", attr("axes", []int64{-1, 1}, "keepdims", 1), [][]int{{graph.Batch, 1, 1}}, []*graph.Value{x(3, 4)}, 13, true},
		{"sum over the first axis", "ReduceSum", attr("axes", []int64{0}, "keepdims", 0), [][]int{{graph.Batch, 3}}, []*graph.Value{middle()}, 11, true},
		{"maximum", "ReduceMax", attr("axes", []int64{1}, "keepdims", 0), [][]int{{graph.Batch, 4}}, []*graph.Value{x(3, 4)}, 13, false},
		{"softmax", "Softmax", attr("axis", 1), [][]int{{graph.Batch, 3, 4}}, []*graph.Value{x(3, 4)}, 13, false},
		{"softmax, last axis", "Softmax", nil, [][]int{{graph.Batch, 3, 4}}, []*graph.Value{x(3, 4)}, 13, false},
		{"softmax of old, all axes from 1", "Softmax", nil, [][]int{{graph.Batch, 3, 4}}, []*graph.Value{x(3, 4)}, 11, false},
		{"layer norm", "LayerNormalization", nil, [][]int{{graph.Batch, 3, 4}}, []*graph.Value{x(3, 4), graphtest.Ramp(4)}, 17, false},
		{"one hot", "OneHot", attr("axis", 1), [][]int{{graph.Batch, 3, 2}}, []*graph.Value{i64(x(2)), graphtest.Ints(3), graphtest.Floats([]int{2}, 0, 1)}, 13, false},
		{"where by a constant", "Where", nil, [][]int{{graph.Batch, 3}}, []*graph.Value{bools([]int{3}, 1, 0, 1), x(3), graphtest.Input("z", graph.Batch, 1)}, 13, true},
		{"subtract, broadcast", "Sub", nil, [][]int{{graph.Batch, 2, 3}}, []*graph.Value{graphtest.Ramp(2, 1), graphtest.Input("x", graph.Batch, 1, 3)}, 13, true},
		{"divide by constants", "Div", nil, [][]int{{graph.Batch, 3}}, []*graph.Value{x(3), graphtest.Floats([]int{3}, 1, 2, 4)}, 13, true},
		{"divide constants", "Div", nil, [][]int{{graph.Batch, 3}}, []*graph.Value{graphtest.Floats([]int{3}, 1, 2, 4), x(3)}, 13, false},
		{"cumulative sum", "CumSum", nil, [][]int{{graph.Batch, 3, 2}}, []*graph.Value{x(3, 2), graphtest.Ints(1)}, 13, true},
		{"pad", "Pad", nil, [][]int{{graph.Batch, 5, 2}}, []*graph.Value{x(3, 2), graphtest.Ints(0, 2, 0, 0, 0, 0), graphtest.Floats([]int{}, 7)}, 13, true},
		{"pad of old", "Pad", attr("pads", []int64{0, 1, 0, 0}, "value", 3.0), [][]int{{graph.Batch, 4}}, []*graph.Value{x(3)}, 10, true},
		{"gather elements", "GatherElements", attr("axis", 1), [][]int{{graph.Batch, 2, 3}}, []*graph.Value{x(4, 3), i64(graphtest.Input("i", graph.Batch, 2, 3))}, 13, false},
		{"pooling", "GlobalAveragePool", nil, [][]int{{graph.Batch, 3, 1, 1}}, []*graph.Value{x(3, 2, 2)}, 13, true},
		{"maximum pooling", "GlobalMaxPool", nil, [][]int{{graph.Batch, 3, 1}}, []*graph.Value{x(3, 4)}, 13, false},
		{"mean of three", "Mean", nil, [][]int{{graph.Batch, 3}}, []*graph.Value{x(3), graphtest.Ramp(3), graphtest.Input("z", graph.Batch, 1)}, 13, true},
		{"negative", "Neg", nil, [][]int{{graph.Batch, 3}}, []*graph.Value{x(3)}, 13, true},
		{"prelu", "PRelu", nil, [][]int{{graph.Batch, 3, 2}}, []*graph.Value{x(3, 2), graphtest.Ramp(3, 1)}, 13, false},
		{"product of data", "Mul", nil, [][]int{{graph.Batch, 2, 3}}, []*graph.Value{x(2, 1), graphtest.Input("z", graph.Batch, 1, 3)}, 13, false},
		{"integers to floats", "Cast", attr("to", 1), [][]int{{graph.Batch, 3}}, []*graph.Value{i64(x(3))}, 13, true},
		{"squeeze", "Squeeze", nil, [][]int{{graph.Batch, 3}}, []*graph.Value{x(1, 3), graphtest.Ints(1)}, 13, true},
		{"flatten", "Flatten", nil, [][]int{{graph.Batch, 6}}, []*graph.Value{x(2, 3)}, 13, true},
		{"layer norm with mean and deviation", "LayerNormalization", attr("axis", 1), [][]int{{graph.Batch, 3, 4}, {graph.Batch, 1, 1}, {graph.Batch, 1, 1}}, []*graph.Value{x(3, 4), graphtest.Ramp(3, 4)}, 17, false},
		{"root mean square norm", "RMSNormalization", nil, [][]int{{graph.Batch, 3, 4}}, []*graph.Value{x(3, 4), graphtest.Ramp(4)}, 23, false},
		{"group norm", "GroupNormalization", attr("num_groups", 2), [][]int{{graph.Batch, 4, 3}}, []*graph.Value{x(4, 3), graphtest.Ramp(4), named(graphtest.Ramp(4), "b")}, 21, false},
		{"group norm of old", "GroupNormalization", attr("num_groups", 2), [][]int{{graph.Batch, 4, 3}}, []*graph.Value{x(4, 3), graphtest.Ramp(2), named(graphtest.Ramp(2), "b")}, 18, false},
		{"gated", "SwiGLU", attr("alpha", 2.0), [][]int{{graph.Batch, 3}}, []*graph.Value{x(3), graphtest.Input("z", graph.Batch, 3)}, 28, false},
		{"attention, packed, causal, two heads for one", "Attention", attr("q_num_heads", 2, "kv_num_heads", 1, "is_causal", 1), [][]int{{graph.Batch, 3, 6}},
			[]*graph.Value{x(3, 4), graphtest.Input("k", graph.Batch, 3, 2), graphtest.Input("v", graph.Batch, 3, 3)}, 23, false},
		{"attention, mask and past", "Attention", attr("qk_matmul_output_mode", 2, "is_causal", 1), [][]int{{graph.Batch, 2, 2, 3}, {graph.Batch, 1, 5, 2}, {graph.Batch, 1, 5, 3}, {graph.Batch, 2, 2, 5}},
			[]*graph.Value{x(2, 2, 2), graphtest.Input("k", graph.Batch, 1, 2, 2), graphtest.Input("v", graph.Batch, 1, 2, 3), graphtest.Input("m", graph.Batch, 1, 2, 5), graphtest.Input("pk", graph.Batch, 1, 3, 2), graphtest.Input("pv", graph.Batch, 1, 3, 3)}, 24, false},
		{"attention, window", "Attention", attr("left_window_size", 1, "right_window_size", 0, "qk_matmul_output_mode", 3), [][]int{{graph.Batch, 1, 4, 2}, {graph.Batch, 1, 4, 2}, {graph.Batch, 1, 4, 2}, {graph.Batch, 1, 4, 4}},
			[]*graph.Value{x(1, 4, 2), graphtest.Input("k", graph.Batch, 1, 4, 2), graphtest.Input("v", graph.Batch, 1, 4, 2), bools([]int{3}, 1, 0, 1)}, 25, false},
		{"linear attention", "LinearAttention", attr("q_num_heads", 4, "kv_num_heads", 2), [][]int{{graph.Batch, 3, 12}, {graph.Batch, 2, 2, 3}},
			[]*graph.Value{x(3, 8), graphtest.Input("k", graph.Batch, 3, 4), graphtest.Input("v", graph.Batch, 3, 6), graphtest.Input("s", graph.Batch, 2, 2, 3), graphtest.Input("d", graph.Batch, 3, 2), graphtest.Input("b", graph.Batch, 3, 1)}, 27, false},
		{"linear attention with a decay by number", "LinearAttention", attr("q_num_heads", 2, "kv_num_heads", 2, "update_rule", "gated"), [][]int{{graph.Batch, 3, 6}, {graph.Batch, 2, 2, 3}},
			[]*graph.Value{x(3, 4), graphtest.Input("k", graph.Batch, 3, 4), graphtest.Input("v", graph.Batch, 3, 6), graphtest.Input("s", graph.Batch, 2, 2, 3), graphtest.Input("d", graph.Batch, 3, 4)}, 27, false},
		{"rotary embedding", "RotaryEmbedding", attr("rotary_embedding_dim", 4), [][]int{{graph.Batch, 2, 3, 5}}, []*graph.Value{x(2, 3, 5), graphtest.Ramp(1, 3, 2), named(graphtest.Ramp(1, 3, 2), "s")}, 23, true},
		{"rotary embedding of neighbours, at constant positions", "RotaryEmbedding", attr("interleaved", 1, "num_heads", 2), [][]int{{graph.Batch, 3, 8}}, []*graph.Value{x(3, 8), graphtest.Ramp(5, 2), named(graphtest.Ramp(5, 2), "s"), fixed([]int{1, 3}, 4, 0, 2)}, 23, true},
		{"rotary embedding at positions of the data", "RotaryEmbedding", nil, [][]int{{graph.Batch, 1, 3, 4}}, []*graph.Value{x(1, 3, 4), graphtest.Ramp(5, 2), named(graphtest.Ramp(5, 2), "s"), i64(graphtest.Input("p", graph.Batch, 3))}, 23, false},
		{"causal convolution", "CausalConvWithState", nil, [][]int{{graph.Batch, 2, 4}, {graph.Batch, 2, 2}}, []*graph.Value{x(2, 4), graphtest.Ramp(2, 1, 3), graphtest.Ramp(2), graphtest.Input("s", graph.Batch, 2, 2)}, 27, true},
		{"causal convolution, short and gated", "CausalConvWithState", attr("activation", "silu"), [][]int{{graph.Batch, 2, 1}, {graph.Batch, 2, 2}}, []*graph.Value{x(2, 1), graphtest.Ramp(2, 1, 3)}, 27, false},
		{"cache", "TensorScatter", nil, [][]int{{graph.Batch, 2, 4, 3}}, []*graph.Value{x(2, 4, 3), graphtest.Input("u", graph.Batch, 2, 2, 3)}, 24, true},
		{"cache, written around its end", "TensorScatter", attr("mode", "circular", "axis", 1), [][]int{{graph.Batch, 4, 3}}, []*graph.Value{x(4, 3), graphtest.Input("u", graph.Batch, 2, 3), i64(graphtest.Input("i", graph.Batch))}, 24, false},
		{"expand", "Expand", nil, [][]int{{graph.Batch, 2, 3}}, []*graph.Value{x(1, 3), graphtest.Ints(1, 2, 1)}, 13, true},
	}
}

func TestRulesOperatorByOperator(t *testing.T) {
	for _, c := range operatorCases() {
		t.Run(c.name, func(t *testing.T) {
			g, err := graphtest.Load(c.encoded(t))
			if err != nil {
				t.Fatal(err)
			}
			got := graphtest.CheckRules(t, g, 5)
			if c.linear && got != 1 {
				t.Error("the rule is not linear")
			}
			if r, err := operator.New[float64]().RuleOf(g.Nodes[0]); err != nil || r.Each == nil {
				t.Error("the rule is opaque")
			}
		})
	}
}
