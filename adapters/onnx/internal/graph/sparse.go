package graph

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/pho-go/pho/internal/base/onnxpb"
)

// decodeSparse reads a constant of which the elements that are not 0 are listed, and
// makes it dense. Its name is that of its values.
func decodeSparse(raw []byte, what string, budget *budget) (name string, t *Tensor, err error) {
	values, indices, dims, err := sparseParts(raw)
	if err != nil {
		return "", nil, fmt.Errorf("onnx: %s is damaged: %w", what, err)
	}
	v, err := decodeTensor(values, what+": values", budget)
	if err != nil {
		return "", nil, err
	}
	at, err := decodeTensor(indices, what+": indices", budget)
	if err != nil {
		return "", nil, err
	}
	shape, n, err := shapeOf(dims)
	if err != nil {
		return "", nil, fmt.Errorf("onnx: %s: %w", what, err)
	}
	t = &Tensor{Type: v.Type, Shape: shape}
	places, err := sparsePlaces(at, len(v.F)+len(v.I), shape, n)
	if err != nil {
		return "", nil, fmt.Errorf("onnx: %s: %w", what, err)
	}
	if err := budget.take(n, what, shape); err != nil {
		return "", nil, fmt.Errorf("onnx: %w", err)
	}
	t.allocate(n)
	for i, p := range places {
		if t.F != nil {
			t.F[p] = v.F[i]
		} else {
			t.I[p] = v.I[i]
		}
	}
	return values.Name, t, nil
}

// sparsePlaces are the places of count elements in a tensor of n: at holds them, or their
// coordinates, in ascending order.
func sparsePlaces(at *Tensor, count int, shape []int, n int) ([]int64, error) {
	linear := len(at.Shape) == 1 && at.Shape[0] == count
	if at.Type != Int64 || !linear && (len(at.Shape) != 2 || at.Shape[0] != count || at.Shape[1] != len(shape)) {
		return nil, fmt.Errorf("indices of type %s and shape %v do not fit %d values of a tensor of shape %v", at.Type, at.Shape, count, shape)
	}
	places := at.I
	if !linear {
		places = make([]int64, count)
		for i := range places {
			for j, d := range shape {
				k := at.I[i*len(shape)+j]
				if k < 0 || k >= int64(d) {
					return nil, fmt.Errorf("index %d is outside axis %d of shape %v", k, j, shape)
				}
				places[i] = places[i]*int64(d) + k
			}
		}
	}
	last := int64(-1)
	for _, p := range places {
		if p <= last || p >= int64(n) {
			return nil, fmt.Errorf("index %d is outside a tensor of %d elements, or not in ascending order", p, n)
		}
		last = p
	}
	return places, nil
}

// sparseParts splits the message, which package onnxpb keeps as bytes.
func sparseParts(b []byte) (values, indices *onnxpb.TensorProto, dims []int64, err error) {
	values, indices = &onnxpb.TensorProto{}, &onnxpb.TensorProto{}
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return nil, nil, nil, protowire.ParseError(n)
		}
		b = b[n:]
		switch {
		case num <= 2 && typ == protowire.BytesType:
			raw, k := protowire.ConsumeBytes(b)
			if k < 0 {
				return nil, nil, nil, protowire.ParseError(k)
			}
			part := values
			if num == 2 {
				part = indices
			}
			if err := (proto.UnmarshalOptions{DiscardUnknown: true, Merge: true}).Unmarshal(raw, part); err != nil {
				return nil, nil, nil, err
			}
			n = k
		case num == 3:
			dims, n = appendVarints(dims, typ, b)
		default:
			n = protowire.ConsumeFieldValue(num, typ, b)
		}
		if n < 0 {
			return nil, nil, nil, protowire.ParseError(n)
		}
		b = b[n:]
	}
	return values, indices, dims, nil
}

// appendVarints reads a repeated field of integers, packed or not; n < 0: an error.
func appendVarints(to []int64, typ protowire.Type, b []byte) (_ []int64, n int) {
	if typ == protowire.VarintType {
		v, n := protowire.ConsumeVarint(b)
		return append(to, int64(v)), n
	}
	packed, n := protowire.ConsumeBytes(b)
	for len(packed) > 0 && n >= 0 {
		v, k := protowire.ConsumeVarint(packed)
		if k < 0 {
			return nil, k
		}
		to, packed = append(to, int64(v)), packed[k:]
	}
	return to, n
}
