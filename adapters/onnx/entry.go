package onnx

import (
	"fmt"
	"math"
	"slices"

	"github.com/pho-go/pho/internal/kernel"
)

// round is the value of type t that is nearest to x, ties to even: for float infinite
// beyond its range. Types other than float leave x as it is: double holds it, and what
// integers hold is checked (integer).
func (t DType) round(x float64) float64 {
	if t == Float32 {
		return float64(float32(x))
	}
	return x
}

// largest is the largest finite value of a floating type; of others that of double.
func (t DType) largest() float64 {
	if t == Float32 {
		return math.MaxFloat32
	}
	return math.MaxFloat64
}

// enter rounds numbers to type t on their way into a tensor: dst[i*stride] is src[i].
func enter[T kernel.Float](dst []T, stride int, src []float64, t DType) {
	if t == Float32 {
		for i, x := range src {
			dst[i*stride] = T(float32(x))
		}
		return
	}
	for i, x := range src {
		dst[i*stride] = T(x)
	}
}

// operand is how a node that jumps (a comparison, Floor, a Cast to integers) reads
// numbers of type t: rounded to it, so that the engine's further digits do not decide
// on which side of the jump a number falls. nil: the engine holds no further digits.
func operand[T kernel.Float](t DType) func(T) T {
	if _, single := any(T(0)).(float32); single || t != Float32 {
		return nil
	}
	return func(x T) T { return T(float32(x)) }
}

// entryType is the type that the numbers of a graph input are rounded to: the one it
// declares, or that of the Cast which all its readers are.
func (v *Value) entryType() DType {
	if v.entry != 0 {
		return v.entry
	}
	return v.Type
}

// narrows reports whether a conversion may change a number: float holds the integers
// up to 2^24 alone.
func narrows(from, to DType) bool {
	return to == Float32 && (from == Float64 || from == Int64 || from == Int32)
}

// settleEntries decides where the numbers of each input are rounded by the Casts that
// they meet before any arithmetic. If every way into the network leads through a Cast
// to one narrower type, then at the door, so that the network stays linear in what
// enters it. Else each such Cast rounds; discovery takes it for the function it is.
//
// A Cast of numbers that the network has computed rounds nothing: arithmetic is done
// in the engine's precision throughout, and nodes that jump round for themselves.
func (g *Graph) settleEntries() {
	readers := map[*Value][]*Node{}
	for _, n := range g.Nodes {
		for _, v := range n.Inputs {
			if v == nil || v.Const != nil {
				continue
			}
			if r := readers[v]; len(r) == 0 || r[len(r)-1] != n { // once, if it reads v twice
				readers[v] = append(r, n)
			}
		}
	}
	for _, v := range g.Inputs {
		to, casts := g.firstReaders(v, readers)
		if len(to) == 1 && to[0] != v.Type {
			v.entry = to[0]
			continue
		}
		for _, n := range casts {
			n.rounds = n.Inputs[0].Type.Floating()
		}
	}
}

// firstReaders follows an input's numbers through nodes that only move them, and lists
// the types that they are read as, the input's own if as they entered, and the nodes
// that make them narrower.
func (g *Graph) firstReaders(in *Value, readers map[*Value][]*Node) (to []DType, casts []*Node) {
	read := func(t DType) {
		if !slices.Contains(to, t) {
			to = append(to, t)
		}
	}
	seen := map[*Value]bool{in: true}
	next := []*Value{in}
	for len(next) > 0 {
		v := next[len(next)-1]
		next = next[:len(next)-1]
		if slices.Contains(g.Outputs, v) {
			read(in.Type)
		}
		for _, n := range readers[v] {
			out := n.Outputs[0]
			switch {
			case converts(n) && out != nil && narrows(v.Type, out.Type):
				casts = append(casts, n)
				read(out.Type)
			case moves(n, v):
				for _, o := range n.Outputs {
					if o != nil && !seen[o] {
						seen[o] = true
						next = append(next, o)
					}
				}
			default:
				read(in.Type)
			}
		}
	}
	return to, casts
}

// converts reports whether n gives its first input another type before it does
// anything else with it.
func converts(n *Node) bool {
	switch opKey(n) {
	case "Cast", "CastLike", "ai.onnx.ml.FeatureVectorizer", "ai.onnx.ml.Scaler":
		return true
	}
	return false
}

// moves reports whether the outputs of n hold numbers of v as they are.
func moves(n *Node, v *Value) bool {
	switch opKey(n) {
	case "Concat":
		return true
	case "Cast", "CastLike":
		return n.Inputs[0] == v && n.Outputs[0] != nil && n.Outputs[0].Type.Floating()
	case "Identity", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Transpose", "Split", "Slice", "Gather", "GatherElements", "Expand", "Tile", "Dropout":
		return n.Inputs[0] == v && !slices.Contains(n.Inputs[1:], v)
	}
	return false
}

// entries are the types that data columns are rounded to on their way into the
// network, by column. A column that different inputs would round differently is an
// error: the network would see two numbers where its terms have one.
func entries(g *Graph, bind Binding) (map[string]DType, error) {
	types, from := map[string]DType{}, map[string]*Value{}
	for i, v := range g.Inputs {
		t := v.entryType()
		if !t.Floating() || i >= len(bind) {
			continue
		}
		for _, c := range bind[i].Columns {
			if have, ok := types[c]; ok && have != t {
				return nil, fmt.Errorf("onnx: column %q is bound to input %q, which takes %s, and to input %q, which takes %s: these round it differently; bind a copy of the column to one of them",
					c, from[c].Name, have, v.Name, t)
			}
			types[c], from[c] = t, v
		}
	}
	return types, nil
}
