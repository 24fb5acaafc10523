package onnx_test

import (
	"fmt"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/pho-go/pho/adapters/onnx"
)

// TestZooRows runs the networks of the zoo on their rows one by one and in the opposite
// order: each row gives to the bit what it gives among the others, since a row's sums are
// ordered by the row alone.
func TestZooRows(t *testing.T) {
	count := 0
	for _, n := range zooNetworks(t) {
		run, err := n.rowsApart()
		if err != nil {
			t.Errorf("%s/%s (%s): %v", n.exporter, n.Name, n.Why, err)
		}
		if run {
			count++
		}
	}
	t.Logf("%d networks", count)
	if count < 450 && zooNetworksDir() == zooDir {
		t.Errorf("only %d networks were run", count)
	}
}

// rowsApart compares rows alone, and turned round, with all of them. run is false for a
// network that is refused, or reads text.
func (n *zooNetwork) rowsApart() (run bool, err error) {
	f, err := os.Open(n.file)
	if err != nil {
		return false, err
	}
	defer f.Close()
	o, refusal := openNetwork(f, onnx.Beside(n.file), n.Constants)
	if refusal != nil {
		return false, nil
	}
	v, err := n.values()
	if err != nil {
		return false, err
	}
	answers, refusal := n.answers(o, v)
	if refusal != nil {
		return false, nil
	}
	var wanted []openedTensor
	for _, a := range answers {
		if a.got.folded == nil && a.got.axis() >= 0 {
			wanted = append(wanted, a.got)
		}
	}
	var inputs [][]float64
	for _, in := range o.inputs {
		at := slices.IndexFunc(n.Inputs, func(t zooTensor) bool { return t.Name == in.name })
		if v.inputs[at].Text != nil {
			return false, nil
		}
		inputs = append(inputs, v.inputs[at].Numbers)
	}
	var names []string
	for _, t := range wanted {
		names = append(names, t.name)
	}
	engine, refusal := onnx.GoEngine{}.Prepare(o.graph, names)
	if refusal != nil || len(wanted) == 0 {
		return false, nil
	}
	on := func(inputs [][]float64, rows int) ([][]float64, error) {
		var out [][]float64
		for _, t := range wanted {
			out = append(out, make([]float64, rows*t.width()))
		}
		return out, engine.Run(out, inputs, rows)
	}
	together, refusal := on(inputs, v.rows)
	if refusal != nil {
		return false, nil
	}
	compare := func(how string, i, row int, got []float64) error {
		want := together[i][row*len(got):]
		for e, x := range got {
			if math.Float64bits(x) != math.Float64bits(want[e]) && !(math.IsNaN(x) && math.IsNaN(want[e])) {
				return fmt.Errorf("row %d %s, output %q, element %d: %g, among all rows %g", row, how, wanted[i].name, e, x, want[e])
			}
		}
		return nil
	}
	rowOf := func(x []float64, row int) []float64 { w := len(x) / v.rows; return x[row*w : (row+1)*w] }
	var turned [][]float64
	for _, x := range inputs {
		var t []float64
		for row := range v.rows {
			t = append(t, rowOf(x, v.rows-1-row)...)
		}
		turned = append(turned, t)
	}
	back, err := on(turned, v.rows)
	if err != nil {
		return false, err
	}
	for row := range v.rows {
		var one [][]float64
		for _, x := range inputs {
			one = append(one, rowOf(x, row))
		}
		alone, err := on(one, 1)
		if err != nil {
			return false, err
		}
		for i := range wanted {
			if err := compare("alone", i, row, alone[i]); err != nil {
				return false, err
			}
			if err := compare("turned round", i, row, rowOf(back[i], v.rows-1-row)); err != nil {
				return false, err
			}
		}
	}
	return true, nil
}
