package network

import "testing"

// TestApart: networks side by side go apart if workers can share them out about evenly, and
// if nothing looks at several of them.
func TestApart(t *testing.T) {
	side := func(groups int) *Plan {
		return &Plan{Name: "t", Columns: make([][]string, groups), Numeric: 1, Predictors: []int{0}, Hidden: []int{8, 4}, ProductOf: -1, Units: 4}
	}
	with := func(p *Plan, f func(p *Plan)) *Plan {
		f(p)
		return p
	}
	for _, c := range []struct {
		what    string
		plans   []*Plan
		columns int
		parts   int
		want    bool
	}{
		{"ten, one worker", []*Plan{side(10)}, 0, 1, true},
		{"ten, two workers", []*Plan{side(10)}, 0, 2, true},
		{"ten, three workers: one has four, two have three", []*Plan{side(10)}, 0, 3, false},
		{"fifteen, two workers", []*Plan{side(15)}, 0, 2, true},
		{"three, two workers", []*Plan{side(3)}, 0, 2, false},
		{"more workers than networks", []*Plan{side(2)}, 0, 3, false},
		{"one network", []*Plan{side(1)}, 0, 1, false},
		{"a network beside", []*Plan{side(10), side(1)}, 0, 1, false},
		{"pairs beside", []*Plan{side(10), side(4)}, 0, 2, true},
		{"nothing", nil, 0, 1, false},
		{"products", []*Plan{side(10), with(side(2), func(p *Plan) { p.ProductOf, p.Pairs = 0, [][2]int{{0, 1}, {1, 2}} })}, 0, 1, false},
		{"factors", []*Plan{with(side(10), func(p *Plan) { p.Factors = []Factor{{Width: 2}} })}, 0, 1, false},
		{"batch norm", []*Plan{with(side(10), func(p *Plan) { p.BatchNorm = true })}, 0, 1, false},
		{"projected", []*Plan{with(side(10), func(p *Plan) { p.Orthogonalize = true })}, 0, 1, false},
		{"few columns of a formula", []*Plan{side(50)}, 2, 1, true},
		{"many columns of a formula", []*Plan{side(50)}, 50, 1, false},
	} {
		m := New[float64]([]Predictor{{Name: "y", Columns: c.columns, Intercept: true}}, c.plans, 1)
		if got := m.Apart(c.parts); got != c.want {
			t.Errorf("%s: %t", c.what, got)
		}
	}
}
