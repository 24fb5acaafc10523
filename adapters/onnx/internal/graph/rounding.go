package graph

import "slices"

// Conversion is what the check of an operator resolves that gives its first input
// another type before it does anything else with it.
type Conversion struct {
	Rounds bool // the numbers, as they entered: see settleRounding
}

// Rounds reports whether n is a conversion that rounds numbers as they entered.
func (n *Node) Rounds() bool {
	c, ok := n.Resolved.(*Conversion)
	return ok && c.Rounds
}

// settleRounding decides where the numbers of each input are rounded by the Casts that
// they meet before any arithmetic. If every way into the network leads through a Cast
// to one narrower type, then at the door, so that the network stays linear in what
// enters it. Else each such Cast rounds; discovery takes it for the function it is.
//
// A Cast of floating numbers that the network has computed rounds, too, to the types of 16
// bits always, to float where something behind it jumps: elsewhere its rounding is no
// larger than the rounding of the file's own arithmetic, which runs in the engine's
// precision throughout, and it would hide linearity. Nodes that jump round for themselves.
func (g *Graph) settleRounding(ops Operators) {
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
		to, casts := g.firstReaders(v, readers, ops)
		if len(to) == 1 && to[0] != v.Type {
			v.roundedTo = to[0]
			continue
		}
		for _, n := range casts {
			// Integers that float does not hold are taken to be rare, those that the
			// types of 16 bits do not hold are not.
			n.Resolved.(*Conversion).Rounds = n.Inputs[0].Type.Floating() || n.Outputs[0].Type.Bits() == 16
		}
	}
	g.roundComputed(ops)
}

// roundComputed lets the Casts round whose numbers were not rounded so at the door.
func (g *Graph) roundComputed(ops Operators) {
	jump := g.leadToJumps(ops)
	atDoor := map[*Value]DType{}
	for _, v := range g.Inputs {
		if v.roundedTo != 0 {
			atDoor[v] = v.roundedTo
		}
	}
	for _, n := range g.Nodes {
		if c, ok := n.Resolved.(*Conversion); ok && n.Domain == "" && n.Outputs[0] != nil {
			from, to := n.Inputs[0].Type, n.Outputs[0].Type
			c.Rounds = c.Rounds || Narrows(from, to) && (to.Bits() == 16 || from.Floating() && jump[n.Outputs[0]]) && atDoor[n.Inputs[0]] != to
		}
		t, ok := DType(0), true
		for _, v := range n.Inputs {
			if v != nil && v.Const == nil && moves(ops.Find(n.Key()), n, v) {
				ok = ok && atDoor[v] != 0 && (t == 0 || atDoor[v] == t)
				t = atDoor[v]
			}
		}
		for _, v := range n.Outputs {
			if v != nil && ok && t != 0 {
				atDoor[v] = t
			}
		}
	}
}

// leadToJumps are the tensors behind which a node jumps (Operators.Jumps); a Cast between
// floating types is none.
func (g *Graph) leadToJumps(ops Operators) map[*Value]bool {
	leads := map[*Value]bool{}
	for _, n := range slices.Backward(g.Nodes) {
		jumps := ops.Jumps(n.Key()) && !(converts(n) && n.Outputs[0] != nil && n.Outputs[0].Type.Floating())
		if jumps || slices.ContainsFunc(n.Outputs, func(v *Value) bool { return v != nil && leads[v] }) {
			for _, v := range n.Inputs {
				if v != nil {
					leads[v] = true
				}
			}
		}
	}
	return leads
}

// firstReaders follows an input's numbers through nodes that only move them, and lists
// the types that they are read as, the input's own if as they entered, and the nodes
// that make them narrower.
func (g *Graph) firstReaders(in *Value, readers map[*Value][]*Node, ops Operators) (to []DType, casts []*Node) {
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
			case converts(n) && out != nil && Narrows(v.Type, out.Type):
				casts = append(casts, n)
				read(out.Type)
			case moves(ops.Find(n.Key()), n, v):
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

func converts(n *Node) bool {
	_, ok := n.Resolved.(*Conversion)
	return ok
}

// moves reports whether the outputs of n hold numbers of v as they are.
func moves(op *Operator, n *Node, v *Value) bool { return op.Moves != nil && op.Moves(n, v) }
