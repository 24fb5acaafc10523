package ort

import (
	"bytes"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// Field numbers of onnx.proto.
const (
	modelGraph   = 7
	graphNode    = 1
	graphOutput  = 12
	nodeOperator = 4
	valueName    = 1
)

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

// mixesRows reports whether the file holds an operator whose definition takes the range
// of its whole input, all rows together: dynamic quantisation.
func mixesRows(file []byte) bool {
	found := false
	fields(file, modelGraph, func(graph []byte) {
		fields(graph, graphNode, func(node []byte) {
			fields(node, nodeOperator, func(name []byte) {
				found = found || bytes.HasPrefix(name, []byte("DynamicQuantize"))
			})
		})
	})
	return found
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
