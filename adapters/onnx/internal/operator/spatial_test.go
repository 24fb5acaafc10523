package operator_test

import (
	"math"
	"testing"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/adapters/onnx/internal/graphtest"
	"github.com/pho-go/pho/adapters/onnx/internal/operator"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// ramp is a constant of distinct numbers.
func ramp(b *onnxpb.Builder, name string, shape ...int) {
	v := make([]float64, graph.Product(shape))
	for i := range v {
		v[i] = float64(i%7) - 2.5 + float64(i)/16
	}
	b.AddInit(name, shape, v...)
}

// image is a graph around x of rows of that shape, whose output y nobody declares.
func image(opset int64, shape []int, nodes func(b *onnxpb.Builder)) *onnxpb.Builder {
	b := onnxpb.NewBuilder(opset)
	b.AddInput("x", graphtest.TFloat, append([]int{onnxpb.Rows}, shape...)...)
	b.Output("y", graphtest.TFloat)
	b.Model().Graph.Output[0].Type = nil
	nodes(b)
	return b
}

// one adds the node y.
func one(op string, inputs []string, attrs ...onnxpb.Attr) func(b *onnxpb.Builder) {
	return func(b *onnxpb.Builder) { b.AddNode(op, inputs, "y", attrs...) }
}

// with adds a node y and before it constants.
func with(node, constants func(b *onnxpb.Builder)) func(b *onnxpb.Builder) {
	return func(b *onnxpb.Builder) { constants(b); node(b) }
}

// The rules of spatial operators and of signals, in their awkward forms, against the
// engine. linear: exact, not merely sound.
func TestSpatialRules(t *testing.T) {
	in, ints, text := graphtest.In, onnxpb.Ints, onnxpb.Text
	scales := func(v ...float64) func(b *onnxpb.Builder) {
		return func(b *onnxpb.Builder) { b.AddInit("scales", []int{len(v)}, v...) }
	}
	sizes := func(name string, v ...int64) func(b *onnxpb.Builder) {
		return func(b *onnxpb.Builder) { b.AddInts(name, v...) }
	}
	for _, c := range []struct {
		name   string
		opset  int64
		shape  []int
		nodes  func(b *onnxpb.Builder)
		linear bool
	}{
		{"mean pooling", 22, []int{2, 5}, one("AveragePool", in("x"), ints("kernel_shape", 2), ints("strides", 2)), true},
		{"mean pooling, pads and dilations", 22, []int{2, 5, 6}, one("AveragePool", in("x"), ints("kernel_shape", 2, 3), ints("pads", 1, 1, 0, 2), ints("dilations", 2, 1), ints("strides", 1, 2)), true},
		{"mean pooling, pads counted, rounded up", 22, []int{1, 5, 6}, one("AveragePool", in("x"), ints("kernel_shape", 3, 2), ints("pads", 1, 1, 1, 1), ints("strides", 2, 2), onnxpb.Int("count_include_pad", 1), onnxpb.Int("ceil_mode", 1)), true},
		{"mean pooling, same", 22, []int{1, 5}, one("AveragePool", in("x"), ints("kernel_shape", 4), text("auto_pad", "SAME_LOWER"), ints("strides", 2)), true},
		{"norm pooling", 22, []int{2, 5}, one("LpPool", in("x"), ints("kernel_shape", 3), onnxpb.Int("p", 3)), false},
		{"norm of all", 22, []int{2, 2, 3}, one("GlobalLpPool", in("x")), false},
		{"maximum pooling", 22, []int{2, 4, 5}, one("MaxPool", in("x"), ints("kernel_shape", 2, 2), ints("pads", 0, 1, 1, 0)), false},
		{"unpooling", 22, []int{2, 4, 6}, func(b *onnxpb.Builder) {
			b.AddNodes("", "MaxPool", in("x"), in("m", "at"), ints("kernel_shape", 2, 2), ints("strides", 2, 2), onnxpb.Int("storage_order", 1))
			b.AddNode("MaxUnpool", in("m", "at"), "y", ints("kernel_shape", 2, 2), ints("strides", 2, 2))
		}, false},
		{"transposed convolution", 22, []int{2, 3}, with(one("ConvTranspose", in("x", "w", "b")), func(b *onnxpb.Builder) { ramp(b, "w", 2, 3, 2); ramp(b, "b", 3) }), true},
		{"transposed convolution, groups, pads, dilations", 22, []int{4, 3, 2}, with(one("ConvTranspose", in("x", "w"), onnxpb.Int("group", 2), ints("strides", 2, 1), ints("pads", 1, 0, 0, 1), ints("dilations", 1, 2), ints("output_padding", 1, 0)), func(b *onnxpb.Builder) { ramp(b, "w", 4, 3, 3, 2) }), true},
		{"transposed convolution, larger than it covers", 22, []int{1, 3}, with(one("ConvTranspose", in("x", "w"), ints("output_shape", 9), ints("strides", 2)), func(b *onnxpb.Builder) { ramp(b, "w", 1, 2, 2) }), true},
		{"blocks to an image", 18, []int{8, 12}, with(one("Col2Im", in("x", "size", "block"), ints("strides", 1, 2), ints("pads", 0, 1, 1, 0)), func(b *onnxpb.Builder) { b.AddInts("size", 4, 6); b.AddInts("block", 2, 2) }), true},
		{"depth to space", 13, []int{8, 2, 3}, one("DepthToSpace", in("x"), onnxpb.Int("blocksize", 2)), true},
		{"depth to space, columns first", 13, []int{8, 2, 3}, one("DepthToSpace", in("x"), onnxpb.Int("blocksize", 2), text("mode", "CRD")), true},
		{"space to depth", 13, []int{2, 4, 6}, one("SpaceToDepth", in("x"), onnxpb.Int("blocksize", 2)), true},
		{"pad by reflection", 18, []int{4, 3}, with(one("Pad", in("x", "p", "", "axes"), text("mode", "reflect")), func(b *onnxpb.Builder) { b.AddInts("p", 5, -1); b.AddInts("axes", 1) }), true},
		{"pad by the edge", 18, []int{4}, with(one("Pad", in("x", "p"), text("mode", "edge")), sizes("p", 0, 2, 0, 3)), true},
		{"pad around", 19, []int{4, 2}, with(one("Pad", in("x", "p"), text("mode", "wrap")), sizes("p", 0, 5, 0, 0, 1, 3)), true},
		{"pad less than nothing", 18, []int{4, 3}, with(one("Pad", in("x", "p")), sizes("p", 0, -1, 2, 0, -2, -1)), true},
		{"crop and pad", 18, []int{5, 4}, with(one("CenterCropPad", in("x", "to"), ints("axes", 1, -1)), sizes("to", 2, 7)), true},
		{"nearest", 19, []int{1, 3, 4}, with(one("Resize", in("x", "", "scales")), scales(1, 1, 2, 0.6)), true},
		{"linear", 19, []int{1, 3, 4}, with(one("Resize", in("x", "", "scales"), text("mode", "linear")), scales(1, 1, 1.7, 0.6)), true},
		{"linear along one axis", 19, []int{1, 3, 4}, with(one("Resize", in("x", "", "", "sizes"), text("mode", "linear"), ints("axes", 2), text("coordinate_transformation_mode", "align_corners")), sizes("sizes", 5)), true},
		{"cubic without the border", 19, []int{1, 3, 4}, with(one("Resize", in("x", "", "scales"), text("mode", "cubic"), onnxpb.Int("exclude_outside", 1)), scales(1, 1, 1.7, 0.6)), true},
		{"cubic, antialias", 19, []int{1, 3, 8}, with(one("Resize", in("x", "", "scales"), text("mode", "cubic"), onnxpb.Int("antialias", 1)), scales(1, 1, 1.7, 0.4)), true},
		{"crop and resize", 19, []int{1, 3, 4}, with(one("Resize", in("x", "roi", "", "sizes"), text("mode", "linear"), text("coordinate_transformation_mode", "tf_crop_and_resize"), ints("axes", 2, 3), onnxpb.Float("extrapolation_value", 7)),
			func(b *onnxpb.Builder) { b.AddInit("roi", []int{4}, 0.2, -0.5, 0.9, 1.2); b.AddInts("sizes", 3, 5) }), true},
		{"upsample of old", 9, []int{1, 3, 4}, with(one("Upsample", in("x", "scales"), text("mode", "linear")), scales(1, 1, 2, 3)), true},
		{"grid of matrices", 20, []int{2, 3}, with(func(b *onnxpb.Builder) {
			b.AddNode("Shape", in("x"), "s")
			b.AddNode("Gather", in("s", "zero"), "n")
			b.AddNode("Concat", in("n", "rest"), "size", onnxpb.Int("axis", 0))
			b.AddNode("AffineGrid", in("x", "size"), "y", onnxpb.Int("align_corners", 1))
		}, func(b *onnxpb.Builder) { b.AddInts("zero", 0); b.AddInts("rest", 1, 3, 2) }), true},
		{"samples of a grid", 20, []int{2, 3, 4}, func(b *onnxpb.Builder) {
			b.AddInput("grid", graphtest.TFloat, onnxpb.Rows, 2, 1, 2)
			b.AddNode("GridSample", in("x", "grid"), "y", text("mode", "cubic"), text("padding_mode", "reflection"))
		}, false},
		{"samples of a grid in space", 20, []int{1, 2, 3, 2}, func(b *onnxpb.Builder) {
			b.AddInput("grid", graphtest.TFloat, onnxpb.Rows, 2, 1, 1, 3)
			b.AddNode("GridSample", in("x", "grid"), "y", onnxpb.Int("align_corners", 1), text("padding_mode", "border"))
		}, false},
		{"spectrum", 20, []int{3, 5, 1}, with(one("DFT", in("x", "length", "axis"), onnxpb.Int("onesided", 1)), func(b *onnxpb.Builder) { b.AddInts("length", 8); b.AddInts("axis", -2) }), true},
		{"spectrum along the first axis", 17, []int{6, 2, 2}, with(one("DFT", in("x", "length"), onnxpb.Int("inverse", 1)), sizes("length", 5)), true},
		{"signal of half a spectrum", 20, []int{2, 4, 2}, one("DFT", in("x"), onnxpb.Int("inverse", 1), onnxpb.Int("onesided", 1)), true},
		{"short-time spectrum", 17, []int{10, 1}, with(one("STFT", in("x", "step", "window")), func(b *onnxpb.Builder) { b.AddInts("step", 3); ramp(b, "window", 4) }), true},
		{"neighbouring channels", 13, []int{5, 2}, one("LRN", in("x"), onnxpb.Int("size", 4), onnxpb.Float("alpha", 1)), false},
		{"norm 1", 22, []int{3, 4}, one("LpNormalization", in("x"), onnxpb.Int("axis", 1), onnxpb.Int("p", 1)), false},
		{"mean and variance", 13, []int{2, 3, 2}, one("MeanVarianceNormalization", in("x"), ints("axes", 1, 3)), false},
		{"determinant", 22, []int{2, 3, 3}, one("Det", in("x")), false},
		{"regions", 22, []int{4}, with(func(b *onnxpb.Builder) {
			b.AddInput("k", graphtest.TInt64, onnxpb.Rows)
			b.AddNode("RoiAlign", in("images", "x", "k"), "y", onnxpb.Int("output_height", 2), onnxpb.Int("sampling_ratio", 2))
		}, func(b *onnxpb.Builder) { ramp(b, "images", 2, 3, 4, 5) }), false},
		{"causal convolution", 27, []int{2, 5}, func(b *onnxpb.Builder) {
			ramp(b, "w", 2, 1, 3)
			ramp(b, "b", 2)
			b.AddInput("past", graphtest.TFloat, onnxpb.Rows, 2, 2)
			b.AddNodes("", "CausalConvWithState", in("x", "w", "b", "past"), in("y", "state"))
			b.Output("state", graphtest.TFloat)
			b.Model().Graph.Output[1].Type = nil
		}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, err := graphtest.Load(graphtest.Bytes(t, image(c.opset, c.shape, c.nodes)))
			if err != nil {
				t.Fatal(err)
			}
			if linear := graphtest.CheckRules(t, g, 5); c.linear && linear != len(g.Nodes) {
				t.Errorf("%d of %d rules are linear", linear, len(g.Nodes))
			}
			for _, n := range g.Nodes {
				if r, err := operator.New[float64]().RuleOf(n); err != nil || r.Each == nil {
					t.Errorf("the rule of %s is opaque", n)
				}
			}
		})
	}
}

// What no test of the onnx package asks for; values by hand.
func TestSpatialValues(t *testing.T) {
	in, ints, text := graphtest.In, onnxpb.Ints, onnxpb.Text
	line := []float64{1, 2, 4, 8}
	for _, c := range []struct {
		name  string
		opset int64
		shape []int
		nodes func(b *onnxpb.Builder)
		x     []float64
		want  []float64
	}{
		{"pads of an average are not counted", 22, []int{1, 4}, one("AveragePool", in("x"), ints("kernel_shape", 3), ints("pads", 1, 1)), line, []float64{1.5, 7. / 3, 14. / 3, 6}},
		{"pads of an average are counted", 22, []int{1, 4}, one("AveragePool", in("x"), ints("kernel_shape", 3), ints("pads", 1, 1), onnxpb.Int("count_include_pad", 1)), line, []float64{1, 7. / 3, 14. / 3, 4}},
		{"what is rounded up is not counted", 22, []int{1, 4}, one("AveragePool", in("x"), ints("kernel_shape", 3), ints("strides", 2), onnxpb.Int("count_include_pad", 1), onnxpb.Int("ceil_mode", 1)), line, []float64{7. / 3, 6}},
		{"maximum pooling of integers", 12, []int{1, 4}, func(b *onnxpb.Builder) {
			b.AddNode("Cast", in("x"), "k", onnxpb.Int("to", 7))
			b.AddNode("MaxPool", in("k"), "m", ints("kernel_shape", 2), ints("pads", 1, 0))
			b.AddNode("Cast", in("m"), "y", onnxpb.Int("to", 1))
		}, []float64{-1, -2, -4, -8}, []float64{-1, -1, -2, -4}},
		{"unpooled", 22, []int{1, 4}, func(b *onnxpb.Builder) {
			b.AddNodes("", "MaxPool", in("x"), in("m", "at"), ints("kernel_shape", 2), ints("strides", 2))
			b.AddNode("MaxUnpool", in("m", "at"), "y", ints("kernel_shape", 2), ints("strides", 2))
		}, []float64{1, 3, 2, 2, 5, 4, -1, -2}, []float64{0, 3, 2, 0, 5, 0, -1, 0}},
		{"unpooled to an odd size", 22, []int{1, 5}, func(b *onnxpb.Builder) {
			b.AddNodes("", "MaxPool", in("x"), in("m", "at"), ints("kernel_shape", 2), ints("strides", 2))
			b.AddNode("Shape", in("x"), "size")
			b.AddNode("MaxUnpool", in("m", "at", "size"), "y", ints("kernel_shape", 2), ints("strides", 2))
		}, []float64{1, 3, 2, 2, 9}, []float64{0, 3, 2, 0, 0}},
		{"resized to the size of a shape", 13, []int{1, 2}, func(b *onnxpb.Builder) {
			b.AddNode("Shape", in("x"), "s")
			b.AddInts("zero", 0)
			b.AddInts("rest", 1, 4)
			b.AddNode("Gather", in("s", "zero"), "n")
			b.AddNode("Concat", in("n", "rest"), "sizes", onnxpb.Int("axis", 0))
			b.AddNode("Resize", in("x", "", "", "sizes"), "y", text("mode", "linear"))
		}, []float64{0, 4, 8, 0}, []float64{0, 1, 3, 4, 8, 6, 2, 0}},
		{"resized as of opset 10: up takes the place before, down the one behind", 10, []int{1, 5}, func(b *onnxpb.Builder) {
			b.AddInit("scales", []int{3}, 1, 1, 0.6)
			b.AddNode("Resize", in("x", "scales"), "y")
		}, []float64{1, 2, 3, 4, 5}, []float64{1, 3, 5}},
		{"reflected more than once", 18, []int{3}, func(b *onnxpb.Builder) {
			b.AddInts("p", 0, 5, 0, 0)
			b.AddNode("Pad", in("x", "p"), "y", text("mode", "reflect"))
		}, []float64{1, 2, 3}, []float64{2, 1, 2, 3, 2, 1, 2, 3}},
		{"norm 0", 22, []int{2}, one("LpNormalization", in("x")), []float64{3, 4, 0, 0}, []float64{0.6, 0.8, 0, 0}},
		{"determinant with rows exchanged", 22, []int{2, 2}, one("Det", in("x")), []float64{0, 2, 3, 1, 1, 2, 2, 4}, []float64{-6, 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, _ := evaluate(t, image(c.opset, c.shape, c.nodes), c.x)
			if len(got) != len(c.want) {
				t.Fatalf("%v, want %v", got, c.want)
			}
			for i, w := range c.want {
				if math.Abs(got[i]-w) > 1e-12 {
					t.Fatalf("%v, want %v", got, c.want)
				}
			}
		})
	}
}

// spatialJumps are samples of TestJumps.
var spatialJumps = map[string]struct {
	x, d, want float64
	nodes      func(b *onnxpb.Builder, op string)
}{
	// Of x and x + d the first is put back, as of equal numbers.
	"MaxPool": {1, 1e-9, 1, func(b *onnxpb.Builder, op string) {
		b.AddInts("axes", 1)
		b.AddInts("first", 0)
		b.AddNode("Concat", []string{"x", "h"}, "both", onnxpb.Int("axis", 1))
		b.AddNode("Unsqueeze", []string{"both", "axes"}, "image")
		b.AddNodes("", op, []string{"image"}, []string{"m", "at"}, onnxpb.Ints("kernel_shape", 2))
		b.AddNode("MaxUnpool", []string{"m", "at"}, "back", onnxpb.Ints("kernel_shape", 2))
		b.AddNode("Squeeze", []string{"back", "axes"}, "flat")
		b.AddNode("Gather", []string{"flat", "first"}, "y", onnxpb.Int("axis", 1))
	}},
	// The point 1 lies on the border of pixel 2 of three, and rounds to it.
	"GridSample": {1, 1e-9, 5, func(b *onnxpb.Builder, op string) {
		b.AddInts("pixels", -1, 1, 3)
		b.AddInts("points", -1, 1, 1)
		b.AddInit("values", []int{1, 3}, 3, 4, 5)
		b.AddNode("Mul", []string{"x", "values"}, "v")
		b.AddNode("Reshape", []string{"v", "pixels"}, "image")
		b.AddNode("Reshape", []string{"h", "points"}, "grid")
		b.AddNode(op, []string{"image", "grid"}, "y", onnxpb.Text("mode", "nearest"))
	}},
	// One sample for each pixel begun, of a region as wide as x.
	"RoiAlign": {1, 1e-9, 5, func(b *onnxpb.Builder, op string) {
		b.AddInit("images", []int{1, 1, 1, 2}, 5, 13)
		b.AddInit("bottom", []int{1, 4}, 0, 0, 0, 1)
		b.AddInit("right", []int{1, 4}, 0, 0, 1, 0)
		b.AddInit("zero", []int{1}, 0)
		b.AddInts("flat", -1)
		b.AddNode("Mul", []string{"x", "bottom"}, "r0")
		b.AddNode("Mul", []string{"h", "right"}, "r1")
		b.AddNode("Add", []string{"r0", "r1"}, "region")
		b.AddNode("Mul", []string{"x", "zero"}, "k0")
		b.AddNode("Cast", []string{"k0"}, "k1", onnxpb.Int("to", 7))
		b.AddNode("Reshape", []string{"k1", "flat"}, "k")
		b.AddNode(op, []string{"images", "region", "k"}, "y")
	}},
}
