package onnxruntime

import (
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// Field numbers of onnx.proto.
const (
	modelGraph  = 7
	graphInput  = 11
	graphOutput = 12
	valueName   = 1
	valueType   = 2
	typeTensor  = 1
	tensorShape = 2
	shapeAxis   = 1
	axisSize    = 1
)

// description is what a file of ONNX says of its graph's door.
type description struct {
	inputs  map[string][]int64 // the sizes of their axes; 0: not fixed
	outputs map[string]bool    // whether they are tensors
}

// read describes a file, which package onnx has checked.
func read(file []byte) description {
	d := description{inputs: map[string][]int64{}, outputs: map[string]bool{}}
	fields(file, modelGraph, func(graph []byte) {
		fields(graph, graphInput, func(value []byte) {
			name, _, axes := describeValue(value)
			d.inputs[name] = axes
		})
		fields(graph, graphOutput, func(value []byte) {
			name, isTensor, _ := describeValue(value)
			d.outputs[name] = isTensor
		})
	})
	return d
}

// describeValue reads a ValueInfoProto. A value without a type is a tensor.
func describeValue(value []byte) (name string, isTensor bool, axes []int64) {
	isTensor = true
	fields(value, valueName, func(b []byte) { name = string(b) })
	fields(value, valueType, func(kind []byte) {
		isTensor = false
		fields(kind, typeTensor, func(tensor []byte) {
			isTensor = true
			fields(tensor, tensorShape, func(shape []byte) {
				fields(shape, shapeAxis, func(axis []byte) { axes = append(axes, size(axis)) })
			})
		})
	})
	return name, isTensor, axes
}

// size is the fixed size of an axis; 0: it has a name, or nothing.
func size(axis []byte) (n int64) {
	for len(axis) > 0 {
		field, kind, tag := protowire.ConsumeTag(axis)
		if tag < 0 {
			return 0
		}
		if field == axisSize && kind == protowire.VarintType {
			v, _ := protowire.ConsumeVarint(axis[tag:])
			n = int64(v)
		}
		length := protowire.ConsumeFieldValue(field, kind, axis[tag:])
		if length < 0 {
			return 0
		}
		axis = axis[tag+length:]
	}
	return n
}

// withOutputs is the file of a network that has these tensors as further outputs; file
// is not changed. A message that stands twice in a protobuf file is the union of both, so
// they are appended to the file.
func withOutputs(file []byte, tensors []string) []byte {
	if len(tensors) == 0 {
		return file
	}
	var graph []byte
	for _, name := range tensors {
		var value []byte
		value = protowire.AppendTag(value, valueName, protowire.BytesType)
		value = protowire.AppendString(value, name)
		graph = protowire.AppendTag(graph, graphOutput, protowire.BytesType)
		graph = protowire.AppendBytes(graph, value)
	}
	out := protowire.AppendTag(slices.Clip(file), modelGraph, protowire.BytesType)
	return protowire.AppendBytes(out, graph)
}

// fields calls f with each field of that number that holds bytes. A message that cannot
// be read ends it: opening the network says what is wrong.
func fields(message []byte, number protowire.Number, f func([]byte)) {
	for len(message) > 0 {
		field, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return
		}
		message = message[n:]
		size := protowire.ConsumeFieldValue(field, kind, message)
		if size < 0 {
			return
		}
		if field == number && kind == protowire.BytesType {
			if b, n := protowire.ConsumeBytes(message); n >= 0 {
				f(b)
			}
		}
		message = message[size:]
	}
}
