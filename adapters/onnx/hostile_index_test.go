package onnx_test

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// Files that ask operators which pick, place, order, select and compare for what mixes
// rows, has no fixed size or does not fit: each is refused with the node and the reason.
func TestHostileIndexes(t *testing.T) {
	names := func(s string) []string { return strings.Fields(s) }
	for _, c := range []struct {
		name  string
		nodes func(b *onnxpb.Builder)
		want  string
	}{
		{"GatherND names rows", func(b *onnxpb.Builder) {
			b.AddNode("GatherND", names("x k2"), "y")
		}, `(GatherND): mixes rows: its indices name rows, the batch axis 0 of [N 3]`},
		{"GatherND beyond", func(b *onnxpb.Builder) {
			b.AddInts("at", 9)
			b.AddNode("Transpose", names("x"), "t")
			b.AddNode("GatherND", names("t at"), "y")
		}, `(GatherND): axis 0 of the tensor: index 9 is outside an axis of size 3`},
		{"GatherND, the least integer", func(b *onnxpb.Builder) {
			b.AddInts("at", math.MinInt64)
			b.AddNode("Transpose", names("x"), "t")
			b.AddNode("GatherND", names("t at"), "y")
		}, `index -9223372036854775808 is outside an axis of size 3`},
		{"GatherND with too many batch axes", func(b *onnxpb.Builder) {
			b.AddNode("GatherND", names("x k2"), "y", onnxpb.Int("batch_dims", math.MaxInt64))
		}, `(GatherND): indices [N 2] with 9223372036854775807 batch axes do not address [N 3]`},
		{"GatherND by numbers that are not whole", func(b *onnxpb.Builder) {
			b.AddNode("GatherND", names("x x"), "y")
		}, `(GatherND): indices must be integers, are float`},
		{"GatherND of a scalar", func(b *onnxpb.Builder) {
			b.AddNode("Squeeze", names("one"), "s")
			b.AddNode("GatherND", names("s k2"), "y")
		}, `(GatherND): needs a tensor and indices with axes, has [] and [N 2]`},
		{"ScatterND into one tensor", func(b *onnxpb.Builder) {
			b.AddInit("table", []int{3, 3}, 1, 2, 3, 4, 5, 6, 7, 8, 9)
			b.AddNode("Unsqueeze", names("k1 one"), "kk")
			b.AddNode("ScatterND", names("table kk x"), "y")
		}, `(ScatterND): mixes rows: the updates of all rows go into one tensor [3 3]`},
		{"ScatterND names rows", func(b *onnxpb.Builder) {
			b.AddInts("flat", 0)
			b.AddNode("Unsqueeze", names("flat one"), "kk")
			b.AddNode("ScatterND", names("x kk x"), "y")
		}, `(ScatterND): mixes rows: its indices name rows, the batch axis 0 of [N 3]`},
		{"ScatterElements along the rows", func(b *onnxpb.Builder) {
			b.AddNode("ScatterElements", names("x k2 k2"), "y")
		}, `(ScatterElements): inputs 0 ("x") and 2 ("k2") have types float and int64`},
		{"ScatterElements names rows", func(b *onnxpb.Builder) {
			b.AddNode("ScatterElements", names("k2 k2 k2"), "y")
		}, `(ScatterElements): mixes rows: its indices name rows, the batch axis 0 of [N 2]`},
		{"ScatterElements with a fixed number of rows", func(b *onnxpb.Builder) {
			b.AddInts("flat", 0, 1)
			b.AddInts("zero", 0)
			b.AddNode("Unsqueeze", names("flat zero"), "at")
			b.AddNode("ScatterElements", names("k2 at at"), "y", onnxpb.Int("axis", 1))
		}, `(ScatterElements): the batch axis meets a fixed size (indices of shape [1 2] for [N 2]); export the model with a dynamic batch axis`},
		{"an unknown reduction", func(b *onnxpb.Builder) {
			b.AddNode("ScatterElements", names("k2 k2 k2"), "y", onnxpb.Int("axis", 1), onnxpb.Text("reduction", "median"))
		}, `(ScatterElements): reduction "median" is not known: none, add, mul, max and min are`},
		{"TopK of the rows", func(b *onnxpb.Builder) {
			b.AddNodes("", "TopK", names("x one"), names("y i"), onnxpb.Int("axis", 0))
		}, `(TopK): mixes rows: it orders the rows, axis 0 of [N 3]`},
		{"TopK of too many", func(b *onnxpb.Builder) {
			b.AddInts("k", math.MaxInt64)
			b.AddNodes("", "TopK", names("x k"), names("y i"))
		}, `(TopK): asks for 9223372036854775807 of 3 elements along axis 1`},
		{"TopK of a number of the data", func(b *onnxpb.Builder) {
			b.AddNodes("", "TopK", names("x k1"), names("y i"))
		}, `(TopK): input 1 ("k1") must be a constant`},
		{"TopK without a number", func(b *onnxpb.Builder) {
			b.AddNodes("", "TopK", names("x"), names("y i"))
		}, `(TopK): input 1, the number of elements, is left out`},
		{"Trilu over rows", func(b *onnxpb.Builder) {
			b.AddNode("Trilu", names("x"), "y")
		}, `(Trilu): mixes rows: what it keeps of a row would depend on the row's number, axis 0 of [N 3]`},
		{"EyeLike of rows", func(b *onnxpb.Builder) {
			b.AddNode("EyeLike", names("x"), "y")
		}, `(EyeLike): mixes rows: a row of the identity matrix would depend on the row's number; export the model with a matrix of fixed shape`},
		{"Compress by the data", func(b *onnxpb.Builder) {
			b.AddNode("Greater", names("x x"), "on")
			b.AddNode("Compress", names("x on"), "y", onnxpb.Int("axis", 1))
		}, `(Compress): the number of its outputs depends on the data ("on"), so that rows would get different numbers of them; export the model with a constant there, or with a choice of fixed size (Where, TopK)`},
		{"Compress of rows", func(b *onnxpb.Builder) {
			b.AddNode("Equal", names("one one"), "on")
			b.AddNode("Compress", names("x on"), "y", onnxpb.Int("axis", 0))
		}, `(Compress): mixes rows: it keeps some of the rows, axis 0 of [N 3]`},
		{"Unique of the data", func(b *onnxpb.Builder) {
			b.AddNode("Unique", names("x"), "y")
		}, `(Unique): the number of its outputs depends on the data ("x")`},
		{"boxes of the data", func(b *onnxpb.Builder) {
			b.AddNode("NonMaxSuppression", names("x x"), "y")
		}, `(NonMaxSuppression): the number of its outputs depends on the data ("x")`},
		{"boxes without coordinates", func(b *onnxpb.Builder) {
			b.AddInit("boxes", []int{1, 2, 3}, 0, 0, 1, 1, 0, 0)
			b.AddNode("NonMaxSuppression", names("boxes boxes"), "y")
		}, `(NonMaxSuppression): boxes of shape [1 2 3] and scores of shape [1 2 3]`},
		{"reversed rows", func(b *onnxpb.Builder) {
			b.AddInts("n", 1, 1, 1)
			b.AddNode("ReverseSequence", names("x n"), "y")
		}, `(ReverseSequence): mixes rows: it reverses the rows, axis 0 of [N 3]`},
		{"a sequence longer than the tensor", func(b *onnxpb.Builder) {
			b.AddInts("n", 4, 0, 0)
			b.AddInit("m", []int{3, 2}, 1, 2, 3, 4, 5, 6)
			b.AddNode("ReverseSequence", names("m n"), "y", onnxpb.Int("batch_axis", 0), onnxpb.Int("time_axis", 1))
		}, `(ReverseSequence): a sequence of length 4 along axis 1 of size 2`},
		{"CumProd of rows", func(b *onnxpb.Builder) {
			b.AddInts("zero", 0)
			b.AddNode("CumProd", names("x zero"), "y")
		}, `(CumProd): mixes rows: it accumulates along the batch axis 0`},
		{"bits of numbers that are not whole", func(b *onnxpb.Builder) {
			b.AddNode("BitwiseAnd", names("x x"), "y")
		}, `(BitwiseAnd): inputs must be integers, are float`},
		{"a shift to nowhere", func(b *onnxpb.Builder) {
			b.AddNode("BitShift", names("k2 k2"), "y", onnxpb.Text("direction", "UP"))
		}, `(BitShift): direction "UP" is neither LEFT nor RIGHT`},
		{"bits that do not fit", func(b *onnxpb.Builder) {
			b.AddNode("BitCast", names("x"), "y", onnxpb.Int("to", 7))
		}, `(BitCast): the bits of float are none of int64: the types must be of one size, float, double, bool or integers`},
		{"the mean loss", func(b *onnxpb.Builder) {
			b.AddNode("SoftmaxCrossEntropyLoss", names("x k1"), "y")
		}, `(SoftmaxCrossEntropyLoss): mixes rows: it is the mean over all rows; export it with reduction "none", or without the loss`},
		{"a loss of classes that are rows", func(b *onnxpb.Builder) {
			b.AddNode("Transpose", names("x"), "t")
			b.AddInts("c", 0, 0, 0)
			b.AddNode("NegativeLogLikelihoodLoss", names("t c"), "y", onnxpb.Text("reduction", "none"))
		}, `(NegativeLogLikelihoodLoss): mixes rows: the batch axis 1 of [3 N] is that of the classes`},
		{"weights of other classes", func(b *onnxpb.Builder) {
			b.AddInit("w", []int{2}, 1, 2)
			b.AddNode("SoftmaxCrossEntropyLoss", names("x k1 w"), "y", onnxpb.Text("reduction", "none"))
		}, `(SoftmaxCrossEntropyLoss): input 2 ("w") must have shape [3], has [2]`},
		{"Einsum over rows", func(b *onnxpb.Builder) {
			b.AddNode("Einsum", names("x x x"), "y", onnxpb.Text("equation", "ni,nj,nk->ijk"))
		}, `(Einsum): mixes rows: it sums over the batch axis (label 'n')`},
		{"Einsum of pairs of rows", func(b *onnxpb.Builder) {
			b.AddNode("Einsum", names("x x x"), "y", onnxpb.Text("equation", "ni,mi,ni->nm"))
		}, `(Einsum): mixes rows: its output would have two batch axes`},
		{"Einsum without a bound", func(b *onnxpb.Builder) {
			in := strings.Repeat("big ", 12)
			eq := "ab,cd,ef,gh,ij,kl,mo,pq,rs,tu,vw,xy,nz->nabcdefghijklmopqrstuvwxy"
			b.AddInit("big", []int{60, 60}, make([]float64, 3600)...)
			b.AddNode("Einsum", names(in+"x"), "y", onnxpb.Text("equation", eq))
		}, `(Einsum): `},
		{"Einsum with an ellipsis summed", func(b *onnxpb.Builder) {
			b.AddNode("Einsum", names("x"), "y", onnxpb.Text("equation", "n...->n"))
		}, `(Einsum): equation "n...->n" sums over an ellipsis; write it into the output`},
		{"Einsum with two ellipses in a term", func(b *onnxpb.Builder) {
			b.AddNode("Einsum", names("x"), "y", onnxpb.Text("equation", "......->n"))
		}, `(Einsum): `},
		{"Einsum of a tensor with fewer axes", func(b *onnxpb.Builder) {
			b.AddNode("Einsum", names("x"), "y", onnxpb.Text("equation", "abc...->..."))
		}, `(Einsum): labels "abc..." for a tensor of 2 axes`},
		{"Einsum with the diagonal of an oblong", func(b *onnxpb.Builder) {
			b.AddNode("Einsum", names("x"), "y", onnxpb.Text("equation", "nn->n"))
		}, `(Einsum): the diagonal of label 'n' in [N 3]`},
		{"Einsum whose output repeats", func(b *onnxpb.Builder) {
			b.AddNode("Einsum", names("x"), "y", onnxpb.Text("equation", "ni->nii"))
		}, `(Einsum): the output repeats label 'i'`},
		{"Einsum of no letters", func(b *onnxpb.Builder) {
			b.AddNode("Einsum", names("x"), "y", onnxpb.Text("equation", "\x80\x81->\x80"))
		}, `is no letter`},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := onnxpb.NewBuilder(26)
			b.AddInput("x", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 3)
			b.AddInput("k1", onnxpb.TensorProto_INT64, onnxpb.Rows)
			b.AddInput("k2", onnxpb.TensorProto_INT64, onnxpb.Rows, 2)
			b.AddInts("one", 1)
			c.nodes(b)
			b.Output("y", onnxpb.TensorProto_FLOAT)
			b.Model().Graph.Output[0].Type = nil
			raw, err := b.Marshal()
			if err != nil {
				t.Fatal(err)
			}
			_, err = onnx.Load(bytes.NewReader(raw), &onnx.LoadOptions{MaxMemory: 1 << 24, MaxWork: 1e8})
			if err == nil || !strings.HasPrefix(err.Error(), `onnx: node "y" (`) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v\nwant %s", err, c.want)
			}
		})
	}
}

// Positions and classes that only the rows know are told when they come.
func TestHostileRows(t *testing.T) {
	for _, c := range []struct {
		name, op string
		in       []string
		attrs    []onnxpb.Attr
		at       float64
		want     string
	}{
		{"a position", "GatherND", []string{"table", "k2"}, nil, 3, `index 3 is outside an axis of size 3`},
		{"a position before the first", "GatherND", []string{"table", "k2"}, nil, -4, `index -4 is outside an axis of size 3`},
		{"a place", "ScatterElements", []string{"k2", "k2", "k2"}, []onnxpb.Attr{onnxpb.Int("axis", 1)}, 2, `index 2 is outside an axis of size 2`},
		{"a class", "SoftmaxCrossEntropyLoss", []string{"scores", "k2"}, []onnxpb.Attr{onnxpb.Text("reduction", "none")}, 3, `class 3 of 3`},
		{"a length", "ReverseSequence", []string{"scores", "kmax"}, []onnxpb.Attr{onnxpb.Int("batch_axis", 0), onnxpb.Int("time_axis", 1)}, 7, `a sequence of length 7 along axis 1 of size 3`},
	} {
		b := onnxpb.NewBuilder(26)
		b.AddInput("k2", onnxpb.TensorProto_INT64, onnxpb.Rows, 2)
		b.AddInit("table", []int{3, 3}, 1, 2, 3, 4, 5, 6, 7, 8, 9)
		b.AddInit("ones", []int{1, 3, 1}, 1, 2, 3)
		b.AddInts("one", 1)
		b.AddNode("Cast", []string{"k2"}, "f", onnxpb.Int("to", 1))
		b.AddNode("Unsqueeze", []string{"f", "one"}, "u")
		b.AddNode("Mul", []string{"u", "ones"}, "scores")
		b.AddNode("ReduceMax", []string{"k2", "one"}, "kmax", onnxpb.Int("keepdims", 0))
		b.AddNode(c.op, c.in, "y", c.attrs...)
		b.Output("y", onnxpb.TensorProto_FLOAT)
		b.Model().Graph.Output[0].Type = nil
		raw, err := b.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		g, err := onnx.Load(bytes.NewReader(raw), nil)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		e, err := onnx.GoEngine{}.Prepare(g, []string{"y"})
		if err != nil {
			t.Fatal(err)
		}
		out := mat.NewDense(2, 16, nil).RawMatrix().Data
		run := func(at float64) error {
			width := 2
			switch c.op {
			case "GatherND":
				width = 1
			case "ReverseSequence":
				width = 6
			}
			return e.Run([][]float64{out[:2*width]}, [][]float64{{0, 1, at, 1}}, 2)
		}
		if err := run(1); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if err := run(c.at); err == nil || !strings.Contains(err.Error(), `node "y" (`+c.op+`)`) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
}
