package graph

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// message describes, for the wire scan, which fields of a message hold messages.
type message struct {
	name   string
	fields map[protowire.Number]*message
}

// wireSchema is the nesting of an ONNX file, subgraphs and functions included.
func wireSchema() *message {
	leaf := func(name string) *message { return &message{name: name} }
	tensor := &message{"tensor", map[protowire.Number]*message{13: leaf("external_data")}}
	sparse := &message{"sparse tensor", map[protowire.Number]*message{1: tensor, 2: tensor}}
	attribute := &message{name: "attribute"}
	node := &message{"node", map[protowire.Number]*message{5: attribute}}
	shape := &message{"shape", map[protowire.Number]*message{1: leaf("dimension")}}
	value := &message{"value", map[protowire.Number]*message{2: {"type", map[protowire.Number]*message{
		1: {"tensor type", map[protowire.Number]*message{2: shape}}}}}}
	graph := &message{"graph", map[protowire.Number]*message{1: node, 5: tensor, 11: value, 12: value, 13: value, 15: sparse}}
	attribute.fields = map[protowire.Number]*message{5: tensor, 6: graph, 10: tensor, 11: graph, 22: sparse}
	function := &message{"function", map[protowire.Number]*message{7: node, 9: leaf("opset_import"), 11: attribute}}
	return &message{"model", map[protowire.Number]*message{7: graph, 8: leaf("opset_import"), 25: function}}
}

// scanWire walks the wire format without allocating: lengths must fit, groups
// (which the format does not use) are refused, and the number of messages,
// names and dimensions as well as the depth are bounded before decoding.
func scanWire(b []byte, maxElements int) error {
	s := wireScan{left: maxElements, max: maxElements}
	return s.message(b, wireSchema(), 1)
}

type wireScan struct{ left, max int }

func (s *wireScan) message(b []byte, m *message, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("onnx: messages nest deeper than %d levels (in %s)", maxDepth, m.name)
	}
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return fmt.Errorf("onnx: not an ONNX model or damaged: bad tag in %s: %w", m.name, protowire.ParseError(n))
		}
		b = b[n:]
		if typ == protowire.StartGroupType || typ == protowire.EndGroupType {
			return fmt.Errorf("onnx: not an ONNX model: field %d of %s is a group", num, m.name)
		}
		if typ != protowire.BytesType {
			n = protowire.ConsumeFieldValue(num, typ, b)
			if n < 0 {
				return fmt.Errorf("onnx: the model is truncated or damaged: field %d of %s: %w", num, m.name, protowire.ParseError(n))
			}
			b = b[n:]
			continue
		}
		v, n := protowire.ConsumeBytes(b)
		if n < 0 {
			return fmt.Errorf("onnx: the model is truncated or damaged: field %d of %s: %w", num, m.name, protowire.ParseError(n))
		}
		b = b[n:]
		// Every length-delimited field becomes at least a slice header or an
		// object when decoded, whatever its length: all of them count.
		if s.left--; s.left < 0 {
			return fmt.Errorf("onnx: the model has more than %d nodes, tensors, attributes and names (MaxElements)", s.max)
		}
		if sub := m.fields[num]; sub != nil {
			if err := s.message(v, sub, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}
