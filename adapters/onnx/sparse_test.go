package onnx_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// sparse is the message of a tensor of which elements are listed.
func sparse(t *testing.T, values *onnxpb.TensorProto, indices *onnxpb.TensorProto, dims ...int64) []byte {
	t.Helper()
	var out []byte
	for i, p := range []*onnxpb.TensorProto{values, indices} {
		raw, err := proto.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		out = protowire.AppendBytes(protowire.AppendTag(out, protowire.Number(i+1), protowire.BytesType), raw)
	}
	var packed []byte
	for _, d := range dims {
		packed = protowire.AppendVarint(packed, uint64(d))
	}
	return protowire.AppendBytes(protowire.AppendTag(out, 3, protowire.BytesType), packed)
}

func sparseNetwork(t *testing.T, w []byte) []byte {
	t.Helper()
	b := onnxpb.NewBuilder(17)
	b.AddInput("x", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 3)
	b.AddInit("w", []int{3, 1}, 0, 0, 0)
	b.AddNode("MatMul", []string{"x", "w"}, "y")
	b.Output("y", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 1)
	b.Model().Graph.Initializer = nil
	b.Model().Graph.SparseInitializer = [][]byte{w}
	raw, err := proto.Marshal(b.Model())
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// Sparse tensors are made dense; whatever does not fit their shape is refused.
func TestSparseInitializers(t *testing.T) {
	values := func(name string, v ...float64) *onnxpb.TensorProto {
		p, err := onnxpb.NewTensor(name, onnxpb.TensorProto_FLOAT, []int{len(v)}, v)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	at := func(shape []int, v ...int64) *onnxpb.TensorProto {
		p, err := onnxpb.NewTensor("", onnxpb.TensorProto_INT64, shape, v)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	for _, c := range []struct {
		w    []byte
		want float64
		err  string
	}{
		{w: sparse(t, values("w", 4, 6), at([]int{2}, 0, 2), 3, 1), want: 604},
		{w: sparse(t, values("w", 4, 6), at([]int{2, 2}, 0, 0, 2, 0), 3, 1), want: 604},
		{w: sparse(t, values("w"), at([]int{0}), 3, 1), want: 0},
		{w: sparse(t, values("", 4), at([]int{1}, 0), 3, 1), err: `onnx: sparse initializer 0 has no name of its own ("")`},
		{w: sparse(t, values("w", 4, 6), at([]int{2}, 2, 0), 3, 1), err: "onnx: sparse initializer 0: index 0 is outside a tensor of 3 elements, or not in ascending order"},
		{w: sparse(t, values("w", 4, 6), at([]int{2}, 2, 2), 3, 1), err: "onnx: sparse initializer 0: index 2 is outside a tensor of 3 elements, or not in ascending order"},
		{w: sparse(t, values("w", 4), at([]int{1}, 3), 3, 1), err: "onnx: sparse initializer 0: index 3 is outside a tensor of 3 elements, or not in ascending order"},
		{w: sparse(t, values("w", 4), at([]int{1}, -1), 3, 1), err: "onnx: sparse initializer 0: index -1 is outside a tensor of 3 elements, or not in ascending order"},
		{w: sparse(t, values("w", 4), at([]int{1, 2}, 0, 1), 3, 1), err: "onnx: sparse initializer 0: index 1 is outside axis 1 of shape [3 1]"},
		{w: sparse(t, values("w", 4), at([]int{2}, 0, 1), 3, 1), err: "onnx: sparse initializer 0: indices of type int64 and shape [2] do not fit 1 values of a tensor of shape [3 1]"},
		{w: sparse(t, values("w", 4), values("", 1), 3, 1), err: "onnx: sparse initializer 0: indices of type float and shape [1] do not fit 1 values of a tensor of shape [3 1]"},
		{w: sparse(t, values("w", 4), at([]int{1}, 0), 1<<40, 1<<40), err: "onnx: sparse initializer 0: shape [1099511627776 1099511627776] overflows"},
		{w: sparse(t, values("w", 4), at([]int{1}, 0), -3, 1), err: "onnx: sparse initializer 0: axis 0 has impossible size -3"},
		{w: sparse(t, values("w", 4), at([]int{1}, 0), 1<<31, 1), err: "onnx: sparse initializer 0 of shape [2147483648 1] needs more than 1048576 bytes (MaxMemory)"},
		{w: nil, err: "onnx: sparse initializer 0: values: unknown element type 0"},
		{w: []byte{0x1a, 1, 0x80}, err: "onnx: sparse initializer 0 is damaged: unexpected EOF"},
	} {
		g, err := onnx.Load(bytes.NewReader(sparseNetwork(t, c.w)), &onnx.LoadOptions{MaxMemory: 1 << 20})
		switch {
		case c.err != "":
			if err == nil || err.Error() != c.err {
				t.Errorf("%v, want\n%s", err, c.err)
			}
		case err != nil:
			t.Error(err)
		case product(t, g) != c.want:
			t.Errorf("y is %g, want %g", product(t, g), c.want)
		}
		if strings.Contains(c.err, "MaxMemory") && !errors.Is(err, onnx.ErrMemory) {
			t.Error("no ErrMemory")
		}
	}
}
