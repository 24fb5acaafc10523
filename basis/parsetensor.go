package basis

import (
	"fmt"
	"slices"

	"github.com/pho-go/pho/basis/formula"
	"github.com/pho-go/pho/decompose"
)

// tensor is te(...) or ti(...).
func (m *interpreter) tensor(c formula.Call) (decompose.Spec, string, error) {
	t, err := m.tensorArgs(c)
	if err != nil {
		return nil, "", err
	}
	var margins []Margin
	vars, cyclic := c.Vars, 0
	for i, d := range t.d {
		margin, err := m.margin(t, i, vars[:d], &cyclic)
		if err != nil {
			return nil, "", err
		}
		margins, vars = append(margins, margin), vars[d:]
	}
	if len(t.period) != 0 && len(t.period) != 2*cyclic {
		return nil, "", m.Errorf(c.Pos, "period has %d numbers for %d cyclic margins (cc and cp): two for each", len(t.period), cyclic)
	}
	spec := Tensor(margins, &t.TensorOptions).(*tensorSpec)
	if err := spec.check(); err != nil {
		return nil, "", m.Errorf(c.Pos, "%s: %v", spec.name, err)
	}
	return spec, "smooth " + spec.name, nil
}

// margin is margin i, of the variables; cyclic counts the cyclic ones before.
func (m *interpreter) margin(t *tensorArgs, i int, vars []formula.Name, cyclic *int) (Margin, error) {
	margin := Margin{Uncentred: t.mc != nil && !t.mc[i]}
	bs := t.class(i)
	for _, v := range vars {
		col, err := m.marginColumn(v, bs)
		if err != nil {
			return margin, err
		}
		margin.Columns = append(margin.Columns, col)
	}
	if bs == "re" {
		if len(vars) > 1 {
			return margin, m.Errorf(vars[0].Pos, `a margin bs = "re" takes one factor`)
		}
		return margin, nil
	}
	class, ok := m.classes.find(bs)
	if !ok {
		return margin, m.Errorf(t.bsPos, "%q is no basis for a margin: there are %s", bs, enumerate(append(m.classes.names(), "re")))
	}
	a := Arguments{Columns: margin.Columns, K: t.k[i]}
	if t.m != nil && class.takesOrder {
		a.M = t.m[i : i+1]
	}
	if class.cyclic {
		if n := 2 * *cyclic; len(t.period) >= n+2 {
			a.Period = t.period[n : n+2]
		}
		*cyclic++
	}
	var err error
	switch {
	case len(vars) == 1 && class.univariate != nil:
		margin.Basis, err = class.univariate(&a)
	case class.multivariate != nil:
		margin.Surface, err = class.multivariate(&a)
	default:
		err = fmt.Errorf("%s is a basis of one column; of several there are %s", bs, enumerate(m.classes.multivariates()))
	}
	if err != nil {
		return margin, m.Errorf(vars[0].Pos, "%v", err)
	}
	return margin, nil
}

// marginColumn is a column of a margin: of numbers, or for re a factor.
func (m *interpreter) marginColumn(v formula.Name, bs string) (string, error) {
	col, err := m.explaining(v)
	switch {
	case err != nil:
		return "", err
	case bs == "re" && m.schema != nil && !m.categorical(col):
		return "", m.Errorf(v.Pos, `column %q is a number, and a margin bs = "re" takes a factor`, col.Name)
	case bs != "re":
		col, err = m.number(v)
	}
	return col.Name, err
}

// tensorArgs collects the arguments of te() and ti(), one entry per margin.
type tensorArgs struct {
	TensorOptions
	d, k   []int
	m      []int    // nil: not given
	bs     []string // nil: not given
	mc     []bool   // nil: all
	period []float64
	bsPos  int
}

// class is the smooth class of margin i.
func (t *tensorArgs) class(i int) string {
	switch {
	case t.bs != nil:
		return t.bs[i]
	case t.d[i] > 1:
		return TP{}.label()
	}
	return "cr"
}

func (m *interpreter) tensorArgs(c formula.Call) (*tensorArgs, error) {
	t := &tensorArgs{TensorOptions: TensorOptions{Interaction: c.Func == "ti", SmoothOptions: SmoothOptions{Select: m.selected}}}
	var err error
	if t.d, err = m.marginSizes(c); err != nil {
		return nil, err
	}
	for _, d := range t.d {
		k := 5
		for range min(d, 5) - 1 {
			k *= 5
		}
		t.k = append(t.k, k)
	}
	for _, a := range c.Args {
		if err := m.tensorArg(t, c, a); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// marginSizes reads d=, how many columns each margin has.
func (m *interpreter) marginSizes(c formula.Call) ([]int, error) {
	a, ok := c.Arg("d")
	if !ok {
		return slices.Repeat([]int{1}, len(c.Vars)), nil
	}
	sizes, err := m.integers(a)
	if err != nil {
		return nil, err
	}
	sum := 0
	for _, d := range sizes {
		if d < 1 {
			return nil, m.Errorf(a.Value.Pos, "d says how many columns each margin has, as in d = c(2, 1)")
		}
		sum += d
	}
	if sum != len(c.Vars) {
		return nil, m.Errorf(a.Value.Pos, "d adds up to %d, but %s has %d columns", sum, c, len(c.Vars))
	}
	return sizes, nil
}

func (m *interpreter) tensorArg(t *tensorArgs, c formula.Call, a formula.Arg) (err error) {
	switch a.Name {
	case "d":
	case "k":
		if t.k, err = m.eachMargin(a, len(t.d)); err == nil && slices.Min(t.k) < 1 {
			err = m.Errorf(a.Value.Pos, "k is the number of basis functions of each margin, as in k = c(5, 8)")
		}
	case "m":
		t.m, err = m.eachMargin(a, len(t.d))
	case "bs":
		t.bsPos = a.Value.Pos
		t.bs, err = m.marginClasses(a, len(t.d))
	case "mc":
		if c.Func != "ti" {
			return m.Errorf(a.Pos, "mc is an argument of ti(): it says which margins are centred")
		}
		t.mc, err = m.centredMargins(a, len(t.d))
	case "np":
		var np bool
		np, err = m.truth(a)
		t.Raw = !np
	case "period":
		t.period, err = m.numbers(a)
	case "sp":
		t.SP, err = m.numbers(a)
	case "fx":
		t.Unpenalized, err = m.truth(a)
	case "by":
		err = m.by(&t.SmoothOptions, a)
	case "pc":
		t.Point, err = m.numbers(a)
	case "id":
		t.Link, err = m.link(a)
	default:
		err = m.Errorf(a.Pos, "%s() has no argument %s; it has bs, k, m, d, np, by, sp, fx, period, pc, id and, for ti, mc", c.Func, a.Name)
	}
	return err
}

// items are the entries of c(...), or the one value.
func items(a formula.Arg) []formula.Value {
	if a.Value.Kind == formula.Vector {
		return a.Value.Items
	}
	return []formula.Value{a.Value}
}

// forMargins repeats one value for all of n margins, or takes one for each.
func forMargins[T any](m *interpreter, a formula.Arg, values []T, n int) ([]T, error) {
	switch len(values) {
	case n:
		return values, nil
	case 1:
		return slices.Repeat(values, n), nil
	}
	return nil, m.Errorf(a.Value.Pos, "%s has %d values for %d margins: give one for all, or one for each", a.Name, len(values), n)
}

func (m *interpreter) eachMargin(a formula.Arg, n int) ([]int, error) {
	v, err := m.integers(a)
	if err != nil {
		return nil, err
	}
	return forMargins(m, a, v, n)
}

func (m *interpreter) marginClasses(a formula.Arg, n int) ([]string, error) {
	var bs []string
	for _, v := range items(a) {
		if v.Kind != formula.String {
			return nil, m.Errorf(v.Pos, `bs is the name of a basis in quotes, or one for each margin, as in bs=c("cr", "cc")`)
		}
		bs = append(bs, v.Text)
	}
	return forMargins(m, a, bs, n)
}

func (m *interpreter) centredMargins(a formula.Arg, n int) ([]bool, error) {
	var mc []bool
	for _, v := range items(a) {
		if v.Kind != formula.Bool && v.Kind != formula.Number {
			return nil, m.Errorf(v.Pos, "mc is TRUE or FALSE for each margin, as in mc = c(TRUE, FALSE)")
		}
		mc = append(mc, v.Bool || v.Number != 0)
	}
	if len(mc) != n {
		return nil, m.Errorf(a.Value.Pos, "mc has %d values for %d margins", len(mc), n)
	}
	return mc, nil
}
