package onnx

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/pho-go/pho/adapters/onnx/internal/graphtest"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// Spatial operators and signals that lie about sizes, or mix rows, are refused with a
// message that says what and where, before memory is taken.
func TestHostileSpatial(t *testing.T) {
	in, ints, number, text := graphtest.In, onnxpb.Ints, onnxpb.Int, onnxpb.Text
	huge := int64(math.MaxInt64)
	for _, c := range []struct {
		name  string
		shape []int
		opset int64
		nodes func(b *onnxpb.Builder)
		want  string // behind the node's name
	}{
		{"no window", []int{1, 4}, 22, func(b *onnxpb.Builder) { b.AddNode("AveragePool", in("x"), "y") }, `has no kernel_shape`},
		{"window of none", []int{1, 4}, 22, func(b *onnxpb.Builder) { b.AddNode("AveragePool", in("x"), "y", ints("kernel_shape", 0)) }, `kernel_shape [0] must be between 1 and 1048576`},
		{"window of other axes", []int{1, 4}, 22, func(b *onnxpb.Builder) { b.AddNode("MaxPool", in("x"), "y", ints("kernel_shape", 2, 2)) }, `kernel_shape [2 2] for 1 spatial axes`},
		{"window beyond the image", []int{1, 4}, 22, func(b *onnxpb.Builder) { b.AddNode("MaxPool", in("x"), "y", ints("kernel_shape", 5)) }, `kernel [5] does not fit input [N 1 4]: it spans 5 of 4`},
		{"windows of padding alone", []int{1, 4}, 22, func(b *onnxpb.Builder) {
			b.AddNode("AveragePool", in("x"), "y", ints("kernel_shape", 2), ints("pads", 2, 0))
		}, `under the window at place 0 of axis 2 lies nothing but padding; export the model with smaller pads`},
		{"windows overflow", []int{1, 1, 1, 1, 1, 1}, 22, func(b *onnxpb.Builder) {
			k := []int64{1 << 20, 1 << 20, 1 << 20, 1 << 20, 1 << 20}
			b.AddNode("LpPool", in("x"), "y", ints("kernel_shape", k...), ints("pads", append(k, k...)...))
		}, `kernel [1048576 1048576 1048576 1048576 1048576] overflows`},
		{"strides of 0", []int{1, 4}, 22, func(b *onnxpb.Builder) {
			b.AddNode("MaxPool", in("x"), "y", ints("kernel_shape", 2), ints("strides", 0))
		}, `strides [0] must be between 1 and 1048576`},
		{"pads that nobody can hold", []int{1, 4}, 22, func(b *onnxpb.Builder) {
			b.AddNode("MaxPool", in("x"), "y", ints("kernel_shape", 2), ints("pads", huge, huge))
		}, `pads [9223372036854775807 9223372036854775807] must be between 0 and 1048576`},
		{"what runtimes do not agree on", []int{1, 4}, 22, func(b *onnxpb.Builder) {
			b.AddNode("MaxPool", in("x"), "y", ints("kernel_shape", 2), ints("dilations", 2), text("auto_pad", "SAME_UPPER"))
		}, `auto_pad SAME_UPPER with dilations [2] and ceil_mode false: runtimes differ from the definition and from each other; export the model with pads`},
		{"power of no norm", []int{1, 4}, 22, func(b *onnxpb.Builder) { b.AddNode("GlobalLpPool", in("x"), "y", number("p", 0)) }, `p 0 is not the power of a norm: it must be at least 1`},
		{"indices for others", []int{1, 4}, 22, func(b *onnxpb.Builder) {
			b.AddNodes("", "MaxPool", in("x"), in("m", "at"), ints("kernel_shape", 2))
			b.AddNode("Cast", in("at"), "y", number("to", 1))
		}, `mixes rows: its Indices count through the elements of all rows, so they are followed into MaxUnpool alone; export the model without them`},
		{"indices from elsewhere", []int{1, 2}, 22, func(b *onnxpb.Builder) {
			b.AddNode("Cast", in("x"), "k", number("to", 7))
			b.AddNode("MaxUnpool", in("x", "k"), "y", ints("kernel_shape", 2), ints("strides", 2))
		}, `mixes rows: indices that are not those of a MaxPool in the same network may lead from one row to another; export pool and unpool together`},
		{"unpooled to another size", []int{1, 5}, 22, func(b *onnxpb.Builder) {
			b.AddNodes("", "MaxPool", in("x"), in("m", "at"), ints("kernel_shape", 2), ints("strides", 2))
			b.AddNode("MaxUnpool", in("m", "at"), "y", ints("kernel_shape", 2), ints("strides", 2))
		}, `mixes rows: its indices count through images of [5], and its output has [4]; give it the output_shape of what was pooled`},
		{"constant indices outside", []int{4}, 22, func(b *onnxpb.Builder) {
			b.AddInit("v", []int{1, 1, 2}, 1, 2)
			b.AddInts("k0", 0, 9)
			b.AddInts("s", 1, 1, 2)
			b.AddNode("Reshape", in("k0", "s"), "k")
			b.AddNode("MaxUnpool", in("v", "k"), "u", ints("kernel_shape", 2), ints("strides", 2))
			b.AddNode("Add", in("x", "u"), "y")
		}, `index 9 is outside the 4 elements of the output`},
		{"padding of nobody's memory", []int{1, 1, 1}, 22, func(b *onnxpb.Builder) {
			b.AddInit("w", []int{1, 1, 2, 2}, 1, 2, 3, 4)
			b.AddNode("Conv", in("x", "w"), "y", ints("dilations", 1<<20, 1<<20), ints("pads", 1<<19, 1<<19, 1<<19, 1<<19))
		}, `the padded image [1 1048577 1048577] needs more memory than is allowed (MaxMemory)`},
		{"transposed convolution of other channels", []int{2, 4}, 22, func(b *onnxpb.Builder) {
			b.AddInit("w", []int{3, 1, 2}, 1, 2, 3, 4, 5, 6)
			b.AddNode("ConvTranspose", in("x", "w"), "y")
		}, `weights [3 1 2] and 1 groups do not fit input [N 2 4]`},
		{"pads take all", []int{1, 2}, 22, func(b *onnxpb.Builder) {
			b.AddInit("w", []int{1, 1, 2}, 1, 2)
			b.AddNode("ConvTranspose", in("x", "w"), "y", ints("pads", 2, 2))
		}, `the pads leave nothing of axis 2, which has 3`},
		{"output_shape of nobody's memory", []int{1, 2}, 22, func(b *onnxpb.Builder) {
			b.AddInit("w", []int{1, 1, 2}, 1, 2)
			b.AddNode("ConvTranspose", in("x", "w"), "y", ints("output_shape", huge))
		}, `impossible output_shape [9223372036854775807]`},
		{"transposed rows", []int{2, 4}, 22, func(b *onnxpb.Builder) {
			b.AddInit("w", []int{2, 1, 2}, 1, 2, 3, 4)
			b.AddNode("Transpose", in("x"), "t", ints("perm", 1, 0, 2))
			b.AddNode("ConvTranspose", in("t", "w"), "y")
		}, `mixes rows: the batch axis of [2 N 4] is not the first; transpose it there`},
		{"blocks that do not fill", []int{5, 3}, 18, func(b *onnxpb.Builder) {
			b.AddInts("s", 2, 2)
			b.AddNode("Col2Im", in("x", "s", "s"), "y", text("auto_pad", "SAME_UPPER"))
		}, `input [N 5 3] does not hold blocks of 4 at [2 2] places`},
		{"channels that are no blocks", []int{6, 1, 1}, 13, func(b *onnxpb.Builder) { b.AddNode("DepthToSpace", in("x"), "y", number("blocksize", 2)) }, `6 channels are no multiple of the block size 2 squared`},
		{"no block size", []int{6, 1, 1}, 13, func(b *onnxpb.Builder) { b.AddNode("SpaceToDepth", in("x"), "y") }, `impossible blocksize 0`},
		{"pad of nothing by reflection", []int{3}, 18, func(b *onnxpb.Builder) {
			b.AddInts("p", 0, -3, 0, 4)
			b.AddNode("Pad", in("x", "p"), "y", text("mode", "reflect"))
		}, `axis 1: mode "reflect" has no element to repeat`},
		{"pads take more than there is", []int{3}, 18, func(b *onnxpb.Builder) {
			b.AddInts("p", 0, -2, 0, -2)
			b.AddNode("Pad", in("x", "p"), "y")
		}, `pads [0 -2 0 -2] are huge, or take away more than axis 1 has (3)`},
		{"pad of rows", []int{3}, 18, func(b *onnxpb.Builder) {
			b.AddInts("p", 1, 0, 0, 0)
			b.AddNode("Pad", in("x", "p"), "y", text("mode", "wrap"))
		}, `mixes rows: it pads the batch axis 0`},
		{"rows cut", []int{3}, 18, func(b *onnxpb.Builder) {
			b.AddInts("to", 2, 2)
			b.AddNode("CenterCropPad", in("x", "to"), "y")
		}, `mixes rows: it gives the batch axis 0 the fixed size 2; name the other axes in the attribute axes`},
		{"cropped beyond memory", []int{3}, 18, func(b *onnxpb.Builder) {
			b.AddInts("to", 1<<39)
			b.AddNode("CenterCropPad", in("x", "to"), "y", ints("axes", 1))
		}, `the output [N 549755813888] needs more memory than is allowed (MaxMemory)`},
		{"rows resized", []int{1, 4}, 19, func(b *onnxpb.Builder) {
			b.AddInit("s", []int{3}, 2, 1, 1)
			b.AddNode("Resize", in("x", "", "s"), "y")
		}, `mixes rows: it scales the batch axis by 2`},
		{"a fixed number of rows", []int{1, 4}, 19, func(b *onnxpb.Builder) {
			b.AddInts("s", 8, 1, 2)
			b.AddNode("Resize", in("x", "", "", "s"), "y")
		}, `mixes rows: it gives the batch axis a size of 8; export the model with a dynamic batch axis`},
		{"scales of nothing", []int{1, 4}, 19, func(b *onnxpb.Builder) {
			b.AddInit("s", []int{3}, 1, 1, 0)
			b.AddNode("Resize", in("x", "", "s"), "y")
		}, `impossible scale 0`},
		{"scales without an end", []int{1, 4}, 19, func(b *onnxpb.Builder) {
			b.AddInit("s", []int{3}, 1, 1, math.Inf(1))
			b.AddNode("Resize", in("x", "", "s"), "y")
		}, `scales ("s") holds +Inf`},
		{"larger than memory", []int{1, 4}, 19, func(b *onnxpb.Builder) {
			b.AddInit("s", []int{3}, 1, 1, 5e8)
			b.AddNode("Resize", in("x", "", "s"), "y", text("mode", "linear"))
		}, `the output [N 1 2000000000] needs more memory than is allowed (MaxMemory)`},
		{"scales and sizes", []int{1, 4}, 19, func(b *onnxpb.Builder) {
			b.AddInit("s", []int{3}, 1, 1, 2)
			b.AddInts("z", 1, 1, 2)
			b.AddNode("Resize", in("x", "", "s", "z"), "y")
		}, `has both scales and sizes`},
		{"a fraction of an element between corners", []int{1, 5}, 19, func(b *onnxpb.Builder) {
			b.AddInit("s", []int{3}, 1, 1, 1.5)
			b.AddNode("Resize", in("x", "", "s"), "y", text("mode", "linear"), text("coordinate_transformation_mode", "align_corners"))
		}, `coordinate_transformation_mode "align_corners" with a scale that makes 7.5 elements of 5: runtimes differ on what a fraction of an element means; export the model with sizes in place of scales`},
		{"a mode nobody knows", []int{1, 5}, 19, func(b *onnxpb.Builder) {
			b.AddInit("s", []int{3}, 1, 1, 1.5)
			b.AddNode("Resize", in("x", "", "s"), "y", text("mode", "lanczos"))
		}, `mode "lanczos" is none of nearest, linear and cubic`},
		{"a grid of other rows", []int{1, 3, 3}, 20, func(b *onnxpb.Builder) {
			b.AddInit("g", []int{1, 1, 1, 2}, 0, 0)
			b.AddNode("GridSample", in("x", "g"), "y")
		}, `grid [1 1 1 2] does not fit input [N 1 3 3]: both need the same rows, and the grid a coordinate for each of the 2 axes`},
		{"regions of rows", []int{1, 3, 3}, 16, func(b *onnxpb.Builder) {
			b.AddInit("r", []int{1, 4}, 0, 0, 1, 1)
			b.AddInts("k", 0)
			b.AddNode("RoiAlign", in("x", "r", "k"), "y")
		}, `mixes rows: batch_indices may take a region of one row out of the image of another; crop with Resize (tf_crop_and_resize) or GridSample, whose regions belong to their rows`},
		{"regions without an end", []int{4}, 16, func(b *onnxpb.Builder) {
			b.AddInit("i", []int{1, 1, 1, 1}, 1)
			b.AddInit("r", []int{1, 4}, 0, 0, 1e30, 1)
			b.AddInts("k", 0)
			b.AddNode("RoiAlign", in("i", "r", "k"), "a")
			b.AddNode("Add", in("x", "a"), "y")
		}, `region 0 of 0 to 1.0000000150474662e+30 by 0 to 1 needs more than 4096 samples along an element; set sampling_ratio`},
		{"images that are not there", []int{4}, 16, func(b *onnxpb.Builder) {
			b.AddInit("i", []int{1, 1, 1, 1}, 1)
			b.AddInit("r", []int{1, 4}, 0, 0, 1, 1)
			b.AddInts("k", 3)
			b.AddNode("RoiAlign", in("i", "r", "k"), "a")
			b.AddNode("Add", in("x", "a"), "y")
		}, `batch index 3 is outside the 1 images`},
		{"a transform of rows", []int{3, 1}, 17, func(b *onnxpb.Builder) { b.AddNode("DFT", in("x"), "y", number("axis", 0)) }, `mixes rows: it transforms along the batch axis 0`},
		{"a transform of parts", []int{3, 1}, 17, func(b *onnxpb.Builder) { b.AddNode("DFT", in("x"), "y", number("axis", 2)) }, `axis 2 holds the parts of the numbers`},
		{"a long transform", []int{3, 1}, 17, func(b *onnxpb.Builder) {
			b.AddInts("n", huge)
			b.AddNode("DFT", in("x", "n"), "y")
		}, `impossible length 9223372036854775807 of a transform`},
		{"one side of complex numbers", []int{3, 2}, 17, func(b *onnxpb.Builder) { b.AddNode("DFT", in("x"), "y", number("onesided", 1)) }, `a one-sided transform needs real numbers`},
		{"frames beyond the signal", []int{3, 1}, 17, func(b *onnxpb.Builder) {
			b.AddInts("step", 1)
			b.AddInts("n", 9)
			b.AddNode("STFT", in("x", "step", "", "n"), "y")
		}, `frames of 9, 1 apart, do not fit a signal of 3`},
		{"a window of rows", []int{1}, 17, func(b *onnxpb.Builder) {
			b.AddNode("Cast", in("x"), "k", number("to", 7))
			b.AddNode("HannWindow", in("k"), "y")
		}, `input 0 ("k") must be a constant`},
		{"a window larger than memory", []int{1}, 17, func(b *onnxpb.Builder) {
			b.AddInts("n", math.MaxInt32)
			b.AddNode("HannWindow", in("n"), "w")
			b.AddNode("Add", in("x", "w"), "y")
		}, `output "w" of shape [2147483647] needs more than 4294967296 bytes (MaxMemory)`},
		{"bands beyond the spectrum", []int{1}, 17, func(b *onnxpb.Builder) {
			b.AddInts("bands", 2)
			b.AddInts("n", 8)
			b.AddInts("rate", 16)
			b.AddInit("low", []int{}, 0)
			b.AddInit("high", []int{}, 16)
			b.AddNode("MelWeightMatrix", in("bands", "n", "rate", "low", "high"), "w")
			b.AddNode("MatMul", in("x", "w"), "y")
		}, `16 hertz lie beyond the 5 bins of the spectrogram`},
		{"norm of rows", []int{3}, 22, func(b *onnxpb.Builder) { b.AddNode("LpNormalization", in("x"), "y", number("axis", 0)) }, `mixes rows: it normalises along the batch axis 0`},
		{"mean of rows", []int{3, 2, 2}, 13, func(b *onnxpb.Builder) { b.AddNode("MeanVarianceNormalization", in("x"), "y") }, `mixes rows: it normalises over the batch axis 0; give it axes without that one`},
		{"matrices that are not square", []int{3, 2}, 11, func(b *onnxpb.Builder) { b.AddNode("Det", in("x"), "y") }, `needs square matrices, has [N 3 2]`},
		{"neighbours of no channel", []int{3, 2}, 13, func(b *onnxpb.Builder) { b.AddNode("LRN", in("x"), "y") }, `impossible size 0`},
		{"offsets of other places", []int{1, 3, 3}, 19, func(b *onnxpb.Builder) {
			b.AddInit("w", []int{1, 1, 1, 1}, 1)
			b.AddNode("DeformConv", in("x", "w", "x"), "y")
		}, `input 2 ("x") must have shape [N 2 3 3], has [N 1 3 3]`},
		{"a state of another length", []int{1, 3}, 27, func(b *onnxpb.Builder) {
			b.AddInit("w", []int{1, 1, 2}, 1, 2)
			b.AddNode("CausalConvWithState", in("x", "w", "", "x"), "y")
		}, `past_state ("x") has shape [N 1 3], needs [N 1 1]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := onnxpb.NewBuilder(c.opset)
			b.AddInput("x", graphtest.TFloat, append([]int{onnxpb.Rows}, c.shape...)...)
			b.Output("y", graphtest.TFloat)
			b.Model().Graph.Output[0].Type = nil
			c.nodes(b)
			g, err := Load(bytes.NewReader(graphtest.Bytes(t, b)), nil)
			if err == nil {
				t.Fatalf("loaded with outputs %v", g.Outputs())
			}
			if !strings.HasPrefix(err.Error(), "onnx: node ") || !strings.HasSuffix(err.Error(), "): "+c.want) {
				t.Fatalf("error\n  %s\nwant\n  %s", err, c.want)
			}
		})
	}
}
