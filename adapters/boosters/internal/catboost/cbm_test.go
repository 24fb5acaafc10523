package catboost

import "testing"

// TestSteps: a tree of steps ends in its nodes' own leaves, and one that leads out of itself is refused.
func TestSteps(t *testing.T) {
	m := &Model{Dimension: 1}
	splits := make([]Split, 2)
	leaves := []float64{3, 4}
	tree, err := m.steps(nil, splits, []byte{0, 0, 1, 0, 0, 0, 0, 0}, []int32{0, 1}, leaves) // no: its own leaf; yes: the next node
	if err != nil || len(tree) != 3 || tree[tree[0].No].Leaf[0] != 3 || tree[tree[0].Yes].Leaf[0] != 4 {
		t.Errorf("%v %v", tree, err)
	}
	for name, c := range map[string]struct {
		splits []Split
		steps  []byte
		ids    []int32
	}{
		"no nodes":    {nil, nil, nil},
		"a node past": {splits, []byte{1, 0, 2, 0, 0, 0, 0, 0}, []int32{0, 1}},
		"a leaf past": {splits, []byte{0, 0, 1, 0, 0, 0, 0, 0}, []int32{0, 2}},
		"no split":    {[]Split{{Column: -1}, {}}, []byte{0, 0, 1, 0, 0, 0, 0, 0}, []int32{0, 1}},
		"below zero":  {splits, []byte{0, 0, 1, 0, 0, 0, 0, 0}, []int32{-1, 0}},
	} {
		if _, err := m.steps(nil, c.splits, c.steps, c.ids, leaves); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
