package basis

import "github.com/pho-go/pho/basis/formula"

// by reads by=, a column, factor(column) or ordered(column).
func (m *interpreter) by(o *SmoothOptions, a formula.Arg) error {
	if a.Value.Kind != formula.Identifier {
		return m.Errorf(a.Value.Pos, "by is a column, as in by = group")
	}
	col, err := m.explaining(formula.Name{Pos: a.Value.Pos, Text: a.Value.Text})
	if err != nil {
		return err
	}
	o.By, o.ByFactor = col.Name, m.categorical(col) || a.Value.Func != ""
	o.ByOrdered = a.Value.Func == "ordered"
	return nil
}

// truth reads TRUE or FALSE.
func (m *interpreter) truth(a formula.Arg) (bool, error) {
	if a.Value.Kind != formula.Bool {
		return false, m.Errorf(a.Value.Pos, "%s is TRUE or FALSE", a.Name)
	}
	return a.Value.Bool, nil
}

// link reads id=, which may be a number or text.
func (m *interpreter) link(a formula.Arg) (string, error) {
	switch a.Value.Kind {
	case formula.Number, formula.Identifier:
		return a.Value.String(), nil
	case formula.String:
		if a.Value.Text != "" {
			return a.Value.Text, nil
		}
	}
	return "", m.Errorf(a.Value.Pos, `id is a name that smooths with the same smoothing parameters share, as in id = "a" or id = 1`)
}

// numbers reads a number or a vector of numbers.
func (m *interpreter) numbers(a formula.Arg) ([]float64, error) {
	items := []formula.Value{a.Value}
	if a.Value.Kind == formula.Vector {
		items = a.Value.Items
	}
	out := make([]float64, len(items))
	for i, v := range items {
		if v.Kind != formula.Number {
			return nil, m.Errorf(v.Pos, "%s takes a number, or several as c(...); found %s", a.Name, v)
		}
		out[i] = v.Number
	}
	return out, nil
}

// integers reads whole numbers of moderate size.
func (m *interpreter) integers(a formula.Arg) ([]int, error) {
	x, err := m.numbers(a)
	if err != nil {
		return nil, err
	}
	out := make([]int, len(x))
	for i, v := range x {
		if out[i] = int(min(max(v, -1e6), 1e6)); float64(out[i]) != v {
			return nil, m.Errorf(a.Value.Pos, "%s takes whole numbers; found %v", a.Name, v)
		}
	}
	return out, nil
}
