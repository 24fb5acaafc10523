package tree

// Forest is e as nodes again, for a file: Check and New make of it an ensemble that adds
// the same. Trees without a split are left out (see AddConstant). Sets are e's own.
func (e *Ensemble) Forest() *Forest {
	f := &Forest{Targets: e.Targets, Single: e.single, Sets: e.sets}
	for i := range e.trees {
		t := &e.trees[i]
		if t.depth == 0 {
			continue
		}
		top := int32(len(f.Nodes))
		f.Roots = append(f.Roots, top)
		for k := range t.size() {
			f.Nodes = append(f.Nodes, e.node(t, k, top))
		}
		t.eachLeaf(func(_, node int, weights []Weight) {
			n := &f.Nodes[top+int32(node)]
			n.From = int32(len(f.Weights))
			f.Weights = append(f.Weights, weights...)
			n.To = int32(len(f.Weights))
		})
	}
	return f
}

// node is node k of t, the first of which is node top of the forest.
func (e *Ensemble) node(t *walked, k int, top int32) Node {
	if t.isLeaf(k) {
		return Node{Mode: Leaf}
	}
	w := t.nodes[k]
	column := e.columns[w.column]
	left, right := top+int32(w.left), top+int32(w.left)+1
	n := Node{Feature: int32(column.feature), Value: w.threshold, True: right, False: left}
	s, missing := above, column.missing == highest
	if t.general {
		s, missing, n.Set = t.other[k].split, t.other[k].missing, t.other[k].set
	}
	n.MissingTrue = missing
	switch s {
	case above: // as most files have it
		n.Mode, n.True, n.False, n.MissingTrue = LEQ, left, right, !missing
	case equal:
		n.Mode = EQ
	case member:
		n.Mode = Member
	case less:
		n.Mode = LT
	case atLeast:
		n.Mode = GTE
	case more:
		n.Mode = GT
	case atMost:
		n.Mode = LEQ
	}
	return n
}
