package graph

import "github.com/pho-go/pho/internal/base/onnxpb"

// Origin is what a file says of itself, whatever of it the outputs need.
type Origin struct {
	Producer, Version string // of the program that wrote it
	IR                int64
	Opsets            map[string]int // by domain; "": ai.onnx
	Operators         map[string]int // how many nodes have each, with its domain
	Parameters        int64          // numbers in the initializers of floating types
}

func origin(m *onnxpb.ModelProto, opsets map[string]int) Origin {
	o := Origin{Producer: m.ProducerName, Version: m.ProducerVersion, IR: m.IrVersion, Opsets: opsets, Operators: map[string]int{}}
	for _, n := range m.Graph.Node {
		name := n.OpType
		if d := domain(n.Domain); d != "" {
			name = d + "." + name
		}
		o.Operators[name]++
	}
	for _, p := range m.Graph.Initializer {
		if t, err := TypeOf(p.DataType); err != nil || !t.Floating() {
			continue
		}
		size := int64(1)
		for _, d := range p.Dims {
			size *= d // fits: the initializer was decoded
		}
		o.Parameters += size
	}
	return o
}
