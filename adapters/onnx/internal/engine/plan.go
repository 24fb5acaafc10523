package engine

import (
	"slices"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/adapters/onnx/internal/operator"
)

// runPlan says which nodes to run and where every tensor lives: tensors that
// are never alive together share memory, views share their source's, and
// elementwise nodes write over an operand nobody reads again.
type runPlan struct {
	table  operator.Table[float64]
	nodes  []*graph.Node
	isView map[*graph.Node]bool
	slot   map[*graph.Value]int
	slots  []slotSize
	double bool // computes in float64: asked for, or some tensor is declared so
}

// slotSize is the room that a slot needs, in elements per row.
type slotSize struct {
	floating bool
	width    int
}

// Needed lists the nodes of g that want needs, in the order of evaluation.
func Needed(g *graph.Graph, want []*graph.Value) []*graph.Node {
	p := &runPlan{}
	p.keepNeeded(g, want)
	return p.nodes
}

// planRun keeps the nodes that want needs, joins those that one can stand for unless they
// are to be run apart, and assigns memory by liveness.
func planRun(g *graph.Graph, want []*graph.Value, o Options) *runPlan {
	p := &runPlan{table: operator.NewFloat64(), isView: map[*graph.Node]bool{}, slot: map[*graph.Value]int{}}
	p.keepNeeded(g, want)
	p.double = p.double || o.Precision == Double
	if !o.Apart {
		p.nodes = fused(p.table, p.nodes, want, p.double, !o.LayerByLayer)
	}
	l := &liveness{runPlan: p, root: map[*graph.Value]*graph.Value{}, last: map[*graph.Value]int{}}
	l.find(want)
	for _, v := range g.Inputs {
		if _, used := l.last[v]; used {
			l.place(v)
		}
	}
	for i, n := range p.nodes {
		l.node(i, n)
	}
	// Views, and tensors written in place, live where their root lives.
	for v, r := range l.root {
		p.slot[v] = p.slot[r]
	}
	return p
}

func (p *runPlan) keepNeeded(g *graph.Graph, want []*graph.Value) {
	needed := map[*graph.Node]bool{}
	visit := func(v *graph.Value) {
		if v != nil && v.Producer != nil {
			needed[v.Producer] = true
		}
	}
	for _, v := range want {
		visit(v)
		p.double = p.double || v.Type == graph.Float64
	}
	// Topological order: whoever needs a node comes after it.
	for _, n := range slices.Backward(g.Nodes) {
		if !needed[n] {
			continue
		}
		p.nodes = append(p.nodes, n)
		for _, v := range n.Inputs {
			visit(v)
			p.double = p.double || v != nil && v.Const == nil && v.Type == graph.Float64
		}
	}
	slices.Reverse(p.nodes)
}

// batchFirst reports whether v has memory of a floating type in which its rows follow
// each other.
func (p *runPlan) batchFirst(v *graph.Value) bool {
	if _, used := p.slot[v]; !used {
		return false
	}
	outer, _ := graph.Around(v.Shape)
	return outer == 1 && v.Type.Floating()
}

// liveness assigns slots while walking the nodes in order.
type liveness struct {
	*runPlan
	root map[*graph.Value]*graph.Value // a view's, or an overwriting tensor's, storage
	last map[*graph.Value]int          // root -> the last node that reads it
	free []int                         // slots nobody lives in
}

// running reports values that have memory at run time.
func running(v *graph.Value) bool { return v != nil && v.Const == nil && v.BatchAxis() >= 0 }

func (l *liveness) rootOf(v *graph.Value) *graph.Value {
	if r, ok := l.root[v]; ok {
		return r
	}
	return v
}

// find marks views and records when each storage is read last.
func (l *liveness) find(want []*graph.Value) {
	for i, n := range l.nodes {
		view := l.table.Of(n).View
		if view != nil && running(n.Inputs[0]) && view(n) {
			l.isView[n] = true
			l.root[n.Outputs[0]] = l.rootOf(n.Inputs[0])
		}
		for _, v := range n.Inputs {
			if running(v) {
				l.last[l.rootOf(v)] = i
			}
		}
		for _, v := range n.Outputs {
			if running(v) {
				l.last[l.rootOf(v)] = i
			}
		}
	}
	for _, v := range want {
		l.last[l.rootOf(v)] = len(l.nodes)
	}
}

func (l *liveness) node(i int, n *graph.Node) {
	if !l.isView[n] {
		if over := l.overwrites(i, n); over != nil {
			l.replace(n.Outputs[0], over)
		} else {
			for _, v := range n.Outputs {
				if running(v) {
					l.place(v)
				}
			}
		}
	}
	for _, list := range [][]*graph.Value{n.Inputs, n.Outputs} {
		for _, v := range list {
			if !running(v) {
				continue
			}
			if r := l.rootOf(v); l.last[r] == i {
				l.free = append(l.free, l.slot[r])
				l.last[r] = -1 // freed once
			}
		}
	}
}

// overwrites is the storage that node n may write its output over: its first
// input's, if that is read here for the last time and by this input only.
func (l *liveness) overwrites(i int, n *graph.Node) *graph.Value {
	out := n.Outputs[0]
	if !l.table.Of(n).InPlace || out == nil || len(n.Outputs) != 1 || !running(n.Inputs[0]) {
		return nil
	}
	in := n.Inputs[0]
	r := l.rootOf(in)
	if l.last[r] != i || in.Width() != out.Width() || in.Type.Floating() != out.Type.Floating() {
		return nil
	}
	for _, v := range n.Inputs[1:] {
		if running(v) && l.rootOf(v) == r {
			return nil
		}
	}
	return r
}

// replace lets out take over the storage of old. Views of out made so far (none
// have run) follow through rootOf when they are placed: they point at out.
func (l *liveness) replace(out, old *graph.Value) {
	l.slot[out] = l.slot[old]
	l.last[old] = -1
}

// place gives v a slot: the smallest free one that is large enough, else the
// largest free one, grown, else a new one.
func (l *liveness) place(v *graph.Value) {
	floating, width := v.Type.Floating(), v.Width()
	best := -1
	// Looking at a bounded number keeps planning linear.
	for k := len(l.free) - 1; k >= max(0, len(l.free)-64); k-- {
		s := l.slots[l.free[k]]
		if s.floating != floating {
			continue
		}
		if best < 0 {
			best = k
			continue
		}
		b := l.slots[l.free[best]]
		if fits := s.width >= width; fits && (b.width < width || s.width < b.width) || !fits && b.width < width && s.width > b.width {
			best = k
		}
	}
	if best < 0 {
		l.slots = append(l.slots, slotSize{floating, width})
		l.slot[v] = len(l.slots) - 1
		return
	}
	s := l.free[best]
	l.free = slices.Delete(l.free, best, best+1)
	l.slots[s].width = max(l.slots[s].width, width)
	l.slot[v] = s
}
