package onnx

import (
	"path/filepath"
	"testing"
)

func TestRulesOnTorch(t *testing.T) {
	linear := 0
	for i, name := range goldenNames(t) {
		t.Run(filepath.Base(name), func(t *testing.T) {
			g, err := loadFile(name + ".onnx")
			if err != nil {
				t.Fatal(err)
			}
			linear += checkRules(t, g, uint64(i))
		})
	}
	if linear < 250 {
		t.Errorf("only %d linear nodes", linear)
	}
}

func named(v *Value, name string) *Value { v.Name = name; return v }

func bools(shape []int, v ...int64) *Value {
	return &Value{Name: "bools", Type: Bool, Shape: shape, Const: &Tensor{Type: Bool, Shape: shape, I: v}}
}

// One operator at a time, in its awkward forms. linear: the rule must be exact
// and linear, not merely sound.
func TestRulesOperatorByOperator(t *testing.T) {
	x := func(d ...int) *Value { return handIn("x", append([]int{Batch}, d...)...) }
	attr := func(kv ...any) attrs {
		a := attrs{}
		for i := 0; i < len(kv); i += 2 {
			switch v := kv[i+1].(type) {
			case int:
				a[kv[i].(string)] = Attr{Int: int64(v)}
			case float64:
				a[kv[i].(string)] = Attr{Float: v}
			case string:
				a[kv[i].(string)] = Attr{String: v}
			case []int64:
				a[kv[i].(string)] = Attr{Ints: v}
			}
		}
		return a
	}
	i64 := func(v *Value) *Value { v.Type = Int64; return v }
	middle := func() *Value { return handIn("x", 2, Batch, 3) }
	for _, c := range []struct {
		name   string
		op     string
		a      attrs
		shapes [][]int // of the outputs, the first of which is the graph's output
		in     []*Value
		opset  int64
		linear bool
	}{
		{"slice backwards", "Slice", nil, [][]int{{Batch, 2, 4}}, []*Value{x(5, 4), ints(-1), named(ints(-4), "e"), named(ints(1), "a"), named(ints(-2), "s")}, 13, true},
		{"slice clamps", "Slice", nil, [][]int{{Batch, 2, 4}}, []*Value{x(5, 4), named(ints(3), "s"), ints(1 << 40), named(ints(-2), "a")}, 13, true},
		{"slice backwards from beyond the end", "Slice", nil, [][]int{{Batch, 5}}, []*Value{x(5), ints(1 << 40), named(ints(-1<<40), "e"), named(ints(1), "a"), named(ints(-1), "s")}, 13, true},
		{"slice from before the start", "Slice", nil, [][]int{{Batch, 2}}, []*Value{x(5), ints(-9), named(ints(2), "e"), named(ints(1), "a")}, 13, true},
		{"slice two axes", "Slice", nil, [][]int{{Batch, 2, 1}}, []*Value{x(5, 4), ints(1, 2), named(ints(4, 3), "e"), named(ints(1, 2), "a"), named(ints(2, 1), "s")}, 13, true},
		{"slice attributes", "Slice", attr("starts", []int64{1}, "ends", []int64{3}, "axes", []int64{1}), [][]int{{Batch, 2}}, []*Value{x(4)}, 9, true},
		{"gather from the end", "Gather", attr("axis", 1), [][]int{{Batch, 3, 2}}, []*Value{x(4, 2), ints(-1, 0, 2)}, 13, true},
		{"gather one", "Gather", attr("axis", -1), [][]int{{Batch, 4}}, []*Value{x(4, 2), {Name: "i", Type: Int64, Shape: []int{}, Const: &Tensor{Type: Int64, Shape: []int{}, I: []int64{1}}}}, 13, true},
		{"embedding", "Gather", nil, [][]int{{Batch, 2, 3}}, []*Value{ramp(4, 3), i64(x(2))}, 13, false},
		{"split", "Split", attr("axis", 1), [][]int{{Batch, 1, 2}, {Batch, 3, 2}}, []*Value{x(4, 2), ints(1, 3)}, 13, true},
		{"split attribute", "Split", attr("axis", -1, "split", []int64{3, 1}), [][]int{{Batch, 2, 3}, {Batch, 2, 1}}, []*Value{x(2, 4)}, 11, true},
		{"concat along the first axis", "Concat", attr("axis", 0), [][]int{{3, Batch, 3}}, []*Value{middle(), handIn("z", 1, Batch, 3)}, 13, true},
		{"concat along the last axis", "Concat", attr("axis", -1), [][]int{{Batch, 2, 4}}, []*Value{x(2, 3), handIn("z", Batch, 2, 1)}, 13, true},
		{"transpose", "Transpose", attr("perm", []int64{2, 0, 1}), [][]int{{3, Batch, 2}}, []*Value{x(2, 3)}, 13, true},
		{"transpose without perm", "Transpose", nil, [][]int{{3, 2, Batch}}, []*Value{x(2, 3)}, 13, true},
		{"tile", "Tile", nil, [][]int{{Batch, 4, 6}}, []*Value{x(2, 3), ints(1, 2, 2)}, 13, true},
		{"gemm transposed", "Gemm", attr("transB", 1, "alpha", 0.5, "beta", 2.0), [][]int{{Batch, 3}}, []*Value{x(2), ramp(3, 2), floats([]int{1}, 3)}, 13, true},
		{"gemm, weights first", "Gemm", attr("transB", 1), [][]int{{3, Batch}}, []*Value{ramp(3, 2), x(2)}, 13, true},
		{"gemm, a bias from the data", "Gemm", nil, [][]int{{Batch, 3}}, []*Value{x(2), ramp(2, 3), handIn("z", Batch, 3)}, 13, true},
		{"matmul, stack of weights", "MatMul", nil, [][]int{{2, Batch, 4}}, []*Value{middle(), ramp(2, 3, 4)}, 13, true},
		{"matmul, stack made", "MatMul", nil, [][]int{{5, Batch, 4}}, []*Value{handIn("x", 1, Batch, 3), ramp(5, 3, 4)}, 13, true},
		{"matmul by a vector", "MatMul", nil, [][]int{{Batch, 2}}, []*Value{x(2, 3), ramp(3)}, 13, true},
		{"matmul, weights first", "MatMul", nil, [][]int{{Batch, 4, 3}}, []*Value{ramp(4, 2), x(2, 3)}, 13, true},
		{"matmul of two data tensors", "MatMul", nil, [][]int{{Batch, 2, 4}}, []*Value{x(2, 3), handIn("z", Batch, 3, 4)}, 13, false},
		{"einsum", "Einsum", attr("equation", "ngi,gio->ngo"), [][]int{{Batch, 2, 4}}, []*Value{x(2, 3), ramp(2, 3, 4)}, 13, true},
		{"einsum, summed and transposed", "Einsum", attr("equation", "a b c, c d -> d a"), [][]int{{4, Batch}}, []*Value{x(2, 3), ramp(3, 4)}, 13, true},
		{"einsum of two data tensors", "Einsum", attr("equation", "ni,nj->nij"), [][]int{{Batch, 2, 3}}, []*Value{x(2), handIn("z", Batch, 3)}, 13, false},
		{"grouped convolution", "Conv", attr("group", 2, "kernel_shape", []int64{1}), [][]int{{Batch, 4, 3}}, []*Value{x(4, 3), ramp(4, 2, 1), ramp(4)}, 13, true},
		{"convolution, 2-D, strides, pads, dilation", "Conv", attr("kernel_shape", []int64{2, 3}, "strides", []int64{1, 2}, "pads", []int64{1, 2, 0, 1}, "dilations", []int64{2, 1}), [][]int{{Batch, 2, 3, 3}}, []*Value{x(3, 4, 5), ramp(2, 3, 2, 3)}, 13, true},
		{"convolution, same", "Conv", attr("auto_pad", "SAME_UPPER", "kernel_shape", []int64{2}, "strides", []int64{2}), [][]int{{Batch, 2, 3}}, []*Value{x(3, 5), ramp(2, 3, 2)}, 13, true},
		{"convolution, same, low", "Conv", attr("auto_pad", "SAME_LOWER", "kernel_shape", []int64{4}), [][]int{{Batch, 2, 5}}, []*Value{x(3, 5), ramp(2, 3, 4)}, 13, true},
		{"batch norm of images", "BatchNormalization", attr("epsilon", 0.5), [][]int{{Batch, 3, 2}}, []*Value{x(3, 2), ramp(3), named(ramp(3), "b"), named(ramp(3), "m"), floats([]int{3}, 1, 2, 3)}, 13, true},
		{"sum over an axis", "ReduceSum", attr("keepdims", 0), [][]int{{Batch, 4}}, []*Value{x(3, 4), ints(1)}, 13, true},
		{"mean over two axes", "ReduceMean", attr("axes", []int64{-1, 1}, "keepdims", 1), [][]int{{Batch, 1, 1}}, []*Value{x(3, 4)}, 13, true},
		{"sum over the first axis", "ReduceSum", attr("axes", []int64{0}, "keepdims", 0), [][]int{{Batch, 3}}, []*Value{middle()}, 11, true},
		{"maximum", "ReduceMax", attr("axes", []int64{1}, "keepdims", 0), [][]int{{Batch, 4}}, []*Value{x(3, 4)}, 13, false},
		{"softmax", "Softmax", attr("axis", 1), [][]int{{Batch, 3, 4}}, []*Value{x(3, 4)}, 13, false},
		{"softmax, last axis", "Softmax", nil, [][]int{{Batch, 3, 4}}, []*Value{x(3, 4)}, 13, false},
		{"softmax of old, all axes from 1", "Softmax", nil, [][]int{{Batch, 3, 4}}, []*Value{x(3, 4)}, 11, false},
		{"layer norm", "LayerNormalization", nil, [][]int{{Batch, 3, 4}}, []*Value{x(3, 4), ramp(4)}, 17, false},
		{"one hot", "OneHot", attr("axis", 1), [][]int{{Batch, 3, 2}}, []*Value{i64(x(2)), ints(3), floats([]int{2}, 0, 1)}, 13, false},
		{"where by a constant", "Where", nil, [][]int{{Batch, 3}}, []*Value{bools([]int{3}, 1, 0, 1), x(3), handIn("z", Batch, 1)}, 13, true},
		{"subtract, broadcast", "Sub", nil, [][]int{{Batch, 2, 3}}, []*Value{ramp(2, 1), handIn("x", Batch, 1, 3)}, 13, true},
		{"divide by constants", "Div", nil, [][]int{{Batch, 3}}, []*Value{x(3), floats([]int{3}, 1, 2, 4)}, 13, true},
		{"divide constants", "Div", nil, [][]int{{Batch, 3}}, []*Value{floats([]int{3}, 1, 2, 4), x(3)}, 13, false},
		{"cumulative sum", "CumSum", nil, [][]int{{Batch, 3, 2}}, []*Value{x(3, 2), ints(1)}, 13, true},
		{"pad", "Pad", nil, [][]int{{Batch, 5, 2}}, []*Value{x(3, 2), ints(0, 2, 0, 0, 0, 0), floats([]int{}, 7)}, 13, true},
		{"pad of old", "Pad", attr("pads", []int64{0, 1, 0, 0}, "value", 3.0), [][]int{{Batch, 4}}, []*Value{x(3)}, 10, true},
		{"gather elements", "GatherElements", attr("axis", 1), [][]int{{Batch, 2, 3}}, []*Value{x(4, 3), i64(handIn("i", Batch, 2, 3))}, 13, false},
		{"pooling", "GlobalAveragePool", nil, [][]int{{Batch, 3, 1, 1}}, []*Value{x(3, 2, 2)}, 13, true},
		{"maximum pooling", "GlobalMaxPool", nil, [][]int{{Batch, 3, 1}}, []*Value{x(3, 4)}, 13, false},
		{"mean of three", "Mean", nil, [][]int{{Batch, 3}}, []*Value{x(3), ramp(3), handIn("z", Batch, 1)}, 13, true},
		{"negative", "Neg", nil, [][]int{{Batch, 3}}, []*Value{x(3)}, 13, true},
		{"prelu", "PRelu", nil, [][]int{{Batch, 3, 2}}, []*Value{x(3, 2), ramp(3, 1)}, 13, false},
		{"product of data", "Mul", nil, [][]int{{Batch, 2, 3}}, []*Value{x(2, 1), handIn("z", Batch, 1, 3)}, 13, false},
		{"integers to floats", "Cast", attr("to", 1), [][]int{{Batch, 3}}, []*Value{i64(x(3))}, 13, true},
		{"squeeze", "Squeeze", nil, [][]int{{Batch, 3}}, []*Value{x(1, 3), ints(1)}, 13, true},
		{"flatten", "Flatten", nil, [][]int{{Batch, 6}}, []*Value{x(2, 3)}, 13, true},
		{"expand", "Expand", nil, [][]int{{Batch, 2, 3}}, []*Value{x(1, 3), ints(1, 2, 1)}, 13, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			var inputs []*Value
			for _, v := range c.in {
				if v.Const == nil {
					inputs = append(inputs, v)
				}
			}
			h := newHandGraph(inputs...)
			for i, v := range h.nodes(c.op, c.a, c.shapes, c.in...) {
				h.output([]string{"y", "rest"}[i], v)
			}
			g := loaded(t, h.g, c.opset)
			got := checkRules(t, g, 5)
			if c.linear && got != 1 {
				t.Error("the rule is not linear")
			}
			if r, err := New[float64]().RuleOf(g.Nodes[0]); err != nil || r.Each == nil {
				t.Error("the rule is opaque")
			}
		})
	}
}
