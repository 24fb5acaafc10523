package structure

import "github.com/pho-go/pho/adapters/onnx/internal/graph"

// spreadCounts writes sums of elements that codes are counted in, as sums of look-ups: with
// y = data, y[code_j] += update_j for all j of a row,
//
//	sum_e w_e y_e = sum_e w_e data_e + sum_j w[code_j] update_j
//
// so that a linear layer behind counts (of a bag, a multi-hot) is additive in the codes.
func (d *discovery) spreadCounts() error {
	if d.o.NoStructure {
		return nil
	}
	for k := range d.found {
		u := &d.found[k].u
		weights := map[*graph.Value][]float64{}
		var from []Element
		var coef []float64
		for i, a := range u.atoms {
			if !isCounts(a.Value) {
				from, coef = append(from, a), append(coef, u.coef[i])
				continue
			}
			if weights[a.Value] == nil {
				weights[a.Value] = make([]float64, a.Value.Width())
			}
			weights[a.Value][a.Index] = u.coef[i]
		}
		for _, n := range d.g.Nodes {
			w := weights[n.Outputs[0]]
			if w == nil {
				continue
			}
			added, err := d.lookedUp(n, w)
			if err != nil {
				return err
			}
			for e, weight := range w {
				from, coef = append(from, Element{n.Inputs[0], e}), append(coef, weight)
			}
			for j := range added.Width() {
				from, coef = append(from, Element{added, j}), append(coef, 1)
			}
		}
		if len(weights) == 0 {
			continue
		}
		spread := d.dep.unrollAll(from, coef)
		spread.constant, spread.path = spread.constant+u.constant, append(u.path, spread.path...)
		*u = spread
	}
	return nil
}

// isCounts: the updates of a row are added at places along it that depend on the data.
func isCounts(v *graph.Value) bool {
	n := v.Producer
	if n == nil || n.Key() != "ScatterElements" || n.Attrs["reduction"].String != "add" || len(v.Shape) != 2 || v.Shape[0] != graph.Batch || !v.Type.Floating() {
		return false
	}
	axis := n.AttrInt("axis", 0)
	return axis == 1 || axis == -1
}

// lookedUp is w[code_j] update_j of each update j that n adds.
func (d *discovery) lookedUp(n *graph.Node, w []float64) (*graph.Value, error) {
	y := n.Outputs[0]
	rows, err := d.insert(y, "Gather", nil, d.matrix(y, "weights", w, len(w)), n.Inputs[1])
	if err != nil {
		return nil, err
	}
	return d.insert(y, "Mul", nil, rows, n.Inputs[2])
}
