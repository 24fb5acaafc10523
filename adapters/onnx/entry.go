package onnx

import (
	"fmt"
	"math"
	"slices"

	"github.com/pho-go/pho/internal/kernel"
)

// round is the value of floating type t that is nearest to x, ties to even: infinite
// beyond the type's range. Types that hold no fractions leave x as it is.
func (t DType) round(x float64) float64 {
	switch t {
	case Float32:
		return float64(float32(x))
	case Float16:
		return roundBits(x, 11, -13, 65504)
	case BFloat16:
		return roundBits(x, 8, -125, 0x1.fep127)
	}
	return x
}

// roundBits rounds x = f 2^e, f in [1/2, 1), to a multiple of 2^(e - bits), e being at
// least smallest.
func roundBits(x float64, bits, smallest int, largest float64) float64 {
	if x == 0 || math.IsNaN(x) || math.IsInf(x, 0) {
		return x
	}
	_, e := math.Frexp(x)
	ulp := math.Ldexp(1, max(e, smallest)-bits)
	r := math.RoundToEven(x/ulp) * ulp
	if math.Abs(r) > largest {
		return math.Inf(int(math.Copysign(1, x)))
	}
	return r
}

// largest is the largest finite value of a floating type; of others that of float64.
func (t DType) largest() float64 {
	switch t {
	case Float32:
		return math.MaxFloat32
	case Float16:
		return 65504
	case BFloat16:
		return 0x1.fep127
	}
	return math.MaxFloat64
}

// enter rounds numbers to type t on their way into a tensor: dst[i*stride] is src[i].
func enter[T kernel.Float](dst []T, stride int, src []float64, t DType) {
	switch t {
	case Float32:
		for i, x := range src {
			dst[i*stride] = T(float32(x))
		}
	case Float16, BFloat16:
		for i, x := range src {
			dst[i*stride] = T(t.round(x))
		}
	default:
		for i, x := range src {
			dst[i*stride] = T(x)
		}
	}
}

// operand is how a node that jumps (a comparison, Floor, a Cast to integers) reads
// numbers of type t: rounded to it, so that the engine's further digits do not decide
// on which side of the jump a number falls. nil: the engine holds no further digits.
func operand[T kernel.Float](t DType) func(T) T {
	_, single := any(T(0)).(float32)
	if t == Float64 || !t.Floating() || single && t == Float32 {
		return nil
	}
	return func(x T) T { return T(t.round(float64(x))) }
}

// entryType is the type that the numbers of a graph input are rounded to: the one it
// declares, or that of the Cast which all its readers are.
func (v *Value) entryType() DType {
	if v.entry != 0 {
		return v.entry
	}
	return v.Type
}

// narrows reports whether a conversion may change a number.
func narrows(from, to DType) bool {
	return to.Floating() && from.digits() > to.digits()
}

// digits is how many binary digits numbers of the type have.
func (t DType) digits() int {
	switch t {
	case Float16:
		return 11
	case BFloat16:
		return 8
	case Float32:
		return 24
	case Float64:
		return 53
	case Int64:
		return 53 // more do not enter
	case Int32:
		return 32
	}
	return 1
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
