package graph

import (
	"encoding/binary"
	"slices"
	"strconv"

	"github.com/pho-go/pho/internal/base/onnxpb"
)

// classLabels are the lists of classes that a file names: what classifiers and ZipMaps of
// ai.onnx.ml hold, and the constants that the place of a largest score chooses from. Each
// list is there once, in the order of the file. It reads the file as it is, since a label
// that is text may be of an output that is left out.
func classLabels(g *onnxpb.GraphProto, ops Operators) [][]string {
	l := labelReader{ops: ops, constants: map[string]*onnxpb.TensorProto{}, places: map[string]bool{}}
	for _, p := range g.Initializer {
		l.constants[p.Name] = p
	}
	for _, n := range g.Node {
		l.node(n)
	}
	return l.lists
}

// labelReader follows the places of largest scores through a file.
type labelReader struct {
	ops       Operators
	constants map[string]*onnxpb.TensorProto
	places    map[string]bool // tensors that hold such a place
	lists     [][]string
}

func (l *labelReader) node(n *onnxpb.NodeProto) {
	reads := func(i int) bool { return i < len(n.Input) && l.places[n.Input[i]] }
	switch n.OpType {
	case "Constant":
		for _, a := range n.Attribute {
			if a.Name == "value" && a.T != nil && len(n.Output) > 0 {
				l.constants[n.Output[0]] = a.T
			}
		}
	case "ArgMax":
		l.marks(n)
	case "Gather", "GatherND", "ArrayFeatureExtractor":
		if reads(1) {
			l.add(textsOf(l.constants[n.Input[0]]))
		}
	case "LabelEncoder":
		if reads(0) {
			l.add(encoded(n))
		}
	default:
		if op := l.ops.Find(operatorKey(domain(n.Domain), n.OpType)); op != nil && op.Is&Reshaping != 0 && reads(0) {
			l.marks(n)
		}
	}
	for _, a := range n.Attribute {
		switch a.Name {
		case "classlabels_strings":
			l.add(textList(a.Strings))
		case "classlabels_ints", "classlabels_int64s":
			l.add(numberList(a.Ints))
		}
	}
}

func (l *labelReader) marks(n *onnxpb.NodeProto) {
	for _, o := range n.Output {
		l.places[o] = true
	}
}

func (l *labelReader) add(list []string) {
	if len(list) > 1 && !slices.ContainsFunc(l.lists, func(o []string) bool { return slices.Equal(o, list) }) {
		l.lists = append(l.lists, list)
	}
}

// encoded are the texts that a LabelEncoder gives the places 0, 1, 2, ...
func encoded(n *onnxpb.NodeProto) []string {
	var keys []int64
	var values []string
	for _, a := range n.Attribute {
		switch a.Name {
		case "keys_int64s":
			keys = a.Ints
		case "values_strings":
			values = textList(a.Strings)
		case "values_int64s":
			values = numberList(a.Ints)
		}
	}
	for i, k := range keys {
		if k != int64(i) {
			return nil
		}
	}
	if len(keys) != len(values) {
		return nil
	}
	return values
}

// textsOf are the elements of a constant of text or whole numbers; nil of others.
func textsOf(p *onnxpb.TensorProto) []string {
	switch {
	case p == nil:
		return nil
	case p.DataType == int32(onnxpb.TensorProto_STRING):
		return textList(p.StringData)
	case p.DataType == int32(onnxpb.TensorProto_INT64) && len(p.RawData) > 0:
		var x []int64
		for raw := p.RawData; len(raw) >= 8; raw = raw[8:] {
			x = append(x, int64(binary.LittleEndian.Uint64(raw)))
		}
		return numberList(x)
	case p.DataType == int32(onnxpb.TensorProto_INT64):
		return numberList(p.Int64Data)
	case p.DataType == int32(onnxpb.TensorProto_INT32) && len(p.RawData) > 0:
		var x []int64
		for raw := p.RawData; len(raw) >= 4; raw = raw[4:] {
			x = append(x, int64(int32(binary.LittleEndian.Uint32(raw))))
		}
		return numberList(x)
	case p.DataType == int32(onnxpb.TensorProto_INT32):
		var x []int64
		for _, v := range p.Int32Data {
			x = append(x, int64(v))
		}
		return numberList(x)
	}
	return nil
}

func textList(texts [][]byte) (list []string) {
	for _, t := range texts {
		list = append(list, string(t))
	}
	return list
}

func numberList(numbers []int64) (list []string) {
	for _, v := range numbers {
		list = append(list, strconv.FormatInt(v, 10))
	}
	return list
}
