package structure_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pho-go/pho/adapters/onnx/internal/graphtest"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// Linear operators on images and signals are seen through: linear terms have the
// coefficients that they add up to, and learned terms stay apart.
func TestDiscoverSpatial(t *testing.T) {
	in := graphtest.In
	for _, c := range []struct {
		name  string
		opset int64
		nodes func(b *onnxpb.Builder)
		want  []string
	}{
		// Three columns as an image, means of neighbours, each spread by
		// (1, 2), and the first and the last number added up.
		{"pooled and spread", 22, func(b *onnxpb.Builder) {
			b.AddInts("image", -1, 1, 3)
			b.AddInts("flat", -1, 3)
			b.AddInit("w", []int{1, 1, 2}, 1, 2)
			b.AddInit("v", []int{3, 1}, 1, 0, 1)
			b.AddNode("Reshape", in("x", "image"), "i")
			b.AddNode("AveragePool", in("i"), "p", onnxpb.Ints("kernel_shape", 2))
			b.AddNode("ConvTranspose", in("p", "w"), "s")
			b.AddNode("Reshape", in("s", "flat"), "f")
			b.AddNode("MatMul", in("f", "v"), "y")
		}, []string{"eta[] = 0 + 0.5 x[0] + 1.5 x[1] + 1 x[2]"}},
		{"resized, padded, transformed", 20, func(b *onnxpb.Builder) {
			b.AddInts("image", -1, 1, 3)
			b.AddInts("signal", -1, 8, 1)
			b.AddInts("flat", -1, 10)
			b.AddInit("scales", []int{3}, 1, 1, 2)
			b.AddInit("v", []int{10, 1}, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0) // the sum of all
			b.AddNode("Reshape", in("x", "image"), "i")
			b.AddNode("Resize", in("i", "", "scales"), "r", onnxpb.Text("mode", "linear"))
			b.AddInts("pads3", 0, 0, 1, 0, 0, 1)
			b.AddNode("Pad", in("r", "pads3"), "p", onnxpb.Text("mode", "edge"))
			b.AddNode("Reshape", in("p", "signal"), "s")
			b.AddNode("DFT", in("s"), "d", onnxpb.Int("onesided", 1))
			b.AddNode("Reshape", in("d", "flat"), "f")
			b.AddNode("MatMul", in("f", "v"), "y")
		}, []string{"eta[] = 0 + 3 x[0] + 2 x[1] + 3 x[2]"}},
		{"one function of each column, pooled by itself", 22, func(b *onnxpb.Builder) {
			b.AddInts("image", -1, 3, 1)
			b.AddInts("flat", -1, 3)
			b.AddInit("w", []int{3, 1, 4}, 1, 2, 3, 4, -1, -2, -3, -4, 1, -1, 1, -1)
			b.AddInit("v", []int{3, 1}, 1, 2, 3)
			b.AddNode("Reshape", in("x", "image"), "i")
			b.AddNode("ConvTranspose", in("i", "w"), "h", onnxpb.Int("group", 3))
			b.AddNode("Tanh", in("h"), "t")
			b.AddNode("MaxPool", in("t"), "m", onnxpb.Ints("kernel_shape", 4))
			b.AddNode("Reshape", in("m", "flat"), "f")
			b.AddNode("MatMul", in("f", "v"), "y")
		}, []string{"eta[] = 0 + f(x[0]):1 + f(x[1]):1 + f(x[2]):1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := find(t, load(t, graphtest.Model(c.opset, c.nodes)), nil)
			if d := cmp.Diff(c.want, graphtest.Brief(f)); d != "" {
				t.Error(d)
			}
			checkSums(t, f, 1e-12)
		})
	}
}
