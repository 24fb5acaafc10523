package basis

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pho-go/pho/basis/formula"
	"github.com/pho-go/pho/decompose"
)

// parametric notes which sets of columns are terms of their own, for R's rule
// about contrasts in products.
func (m *meaning) parametric(terms []formula.Term) {
	m.products = map[string]bool{}
	for _, t := range terms {
		var names []string
		for _, c := range t.Parts {
			if c.Func != "" && c.Func != "factor" {
				names = nil
				break
			}
			names = append(names, c.Vars[0].Text)
		}
		if names != nil {
			m.products[setKey(names)] = true
		}
	}
}

// setKey is the same for the same set of columns.
func setKey(names []string) string {
	names = slices.Clone(names)
	slices.Sort(names)
	return strings.Join(names, "\x00")
}

// product is an interaction of factors and numbers. A factor in it has contrasts
// if the product of the others is a term too, as in R: then the first level is in
// there.
func (m *meaning) product(t formula.Term) (decompose.Spec, string, error) {
	var parts []Part
	var names, labels []string
	for _, c := range t.Parts {
		if c.Func != "" && c.Func != "factor" {
			return nil, "", m.Errorf(c.Pos, "%s in an interaction: a smooth is multiplied by a column as in s(x, by = z), smooths by each other as in te(x, z)", c)
		}
		col, err := m.explaining(c.Vars[0])
		if err != nil {
			return nil, "", err
		}
		if len(c.Args) > 0 {
			return nil, "", m.Errorf(c.Args[0].Pos, "contr is for a factor on its own, not in an interaction")
		}
		p := Part{Column: col.Name, Factor: c.Func == "factor" || m.categorical(col)}
		label := col.Name
		if c.Func == "factor" {
			label = "factor(" + col.Name + ")"
		}
		parts, names, labels = append(parts, p), append(names, col.Name), append(labels, label)
	}
	if len(parts) > maxFactors {
		return nil, "", m.Errorf(t.Pos, "a product of %d columns: at most %d are possible", len(parts), maxFactors)
	}
	for i := range parts {
		others := slices.Delete(slices.Clone(names), i, i+1)
		parts[i].Contrast = parts[i].Factor && m.products[setKey(others)]
	}
	spec := Interaction(strings.Join(labels, ":"), parts...).(*cellSpec)
	if err := spec.check(); err != nil {
		return nil, "", m.Errorf(t.Pos, "%s: %v", t, err)
	}
	return spec, "product " + setKey(names), nil
}

// random is s(..., bs = "re").
func (m *meaning) random(c formula.Call) (decompose.Spec, string, error) {
	var parts []Part
	for _, v := range c.Vars {
		col, err := m.explaining(v)
		if err != nil {
			return nil, "", err
		}
		parts = append(parts, Part{Column: col.Name, Factor: m.categorical(col)})
	}
	var o SmoothOptions
	for _, a := range c.Args {
		var err error
		switch a.Name {
		case "bs":
		case "sp":
			o.SP, err = m.numbers(a)
		case "fx":
			o.Unpenalized, err = m.truth(a)
		case "by":
			err = m.by(&o, a)
		default:
			err = m.Errorf(a.Pos, "%s has no meaning for bs = \"re\", which has sp, fx and by", a.Name)
		}
		if err != nil {
			return nil, "", err
		}
	}
	spec := RandomEffect(&o, parts...).(*cellSpec)
	if err := spec.check(); err != nil {
		return nil, "", m.Errorf(c.Pos, "%s: %v", spec.name, err)
	}
	return spec, "smooth " + spec.name, nil
}

// factorSmooth is s(x, g, bs = "fs", xt = "cr").
func (m *meaning) factorSmooth(c formula.Call) (decompose.Spec, string, error) {
	var number, factor string
	for i, v := range c.Vars {
		col, err := m.explaining(v)
		switch {
		case err != nil:
			return nil, "", err
		case m.schema == nil && i == 1: // any column may be a factor then
			factor = col.Name
		case m.categorical(col) && factor == "":
			factor = col.Name
		case !m.categorical(col) && number == "":
			number = col.Name
		}
	}
	if len(c.Vars) != 2 || number == "" || factor == "" {
		return nil, "", m.Errorf(c.Pos, `bs = "fs" takes a number and a factor, as in s(x, g, bs = "fs")`)
	}
	base := TP{}.label()
	s := smoothArgs{}
	if a, ok := c.Arg("xt"); ok {
		if a.Value.Kind != formula.String || !slices.Contains(basisNames(), a.Value.Text) {
			return nil, "", m.Errorf(a.Value.Pos, "xt names the basis that fs takes for each level: %s", enumerate(basisNames()))
		}
		base = a.Value.Text
	}
	d, _ := definitionOf(base)
	if d.of == nil {
		return nil, "", m.Errorf(c.Pos, "fs takes bases of one column, which %s is not", base)
	}
	for _, a := range c.Args {
		if a.Name == "xt" {
			continue
		}
		if err := m.smoothArg(&s, c, d, a); err != nil {
			return nil, "", err
		}
	}
	u, err := d.of(&s)
	if err != nil {
		return nil, "", m.Errorf(c.Pos, "%s: %v", c, err)
	}
	spec := FactorSmooth(number, factor, u, &s.SmoothOptions).(*factorSmoothSpec)
	if err := spec.check(); err != nil {
		return nil, "", m.Errorf(c.Pos, "%s: %v", spec.name, err)
	}
	return spec, "smooth " + spec.name, nil
}

// tensor is te(...) or ti(...).
func (m *meaning) tensor(c formula.Call) (decompose.Spec, string, error) {
	t, err := m.tensorArgs(c)
	if err != nil {
		return nil, "", err
	}
	var margins []Margin
	from, cyclic := 0, 0
	for i, d := range t.d {
		vars := c.Vars[from : from+d]
		from += d
		a := smoothArgs{k: t.k[i]}
		if t.m != nil {
			a.m = t.m[i : i+1]
		}
		bs, explicit := "cr", t.bs != nil
		switch {
		case explicit:
			bs = t.bs[i]
		case d > 1:
			bs = TP{}.label()
		}
		margin := Margin{Uncentred: t.mc != nil && !t.mc[i]}
		for _, v := range vars {
			col, err := m.explaining(v)
			switch {
			case err != nil:
				return nil, "", err
			case bs == "re" && m.schema != nil && !m.categorical(col):
				return nil, "", m.Errorf(v.Pos, `column %q is a number, and a margin bs = "re" takes a factor`, col.Name)
			case bs != "re":
				if col, err = m.number(v); err != nil {
					return nil, "", err
				}
			}
			margin.Columns = append(margin.Columns, col.Name)
		}
		if bs == "re" {
			if d > 1 {
				return nil, "", m.Errorf(vars[0].Pos, `a margin bs = "re" takes one factor`)
			}
			margins = append(margins, margin)
			continue
		}
		def, ok := definitionOf(bs)
		if !ok {
			return nil, "", m.Errorf(t.bsPos, "%q is no basis for a margin: there are %s", bs, enumerate(append(basisNames(), "re")))
		}
		if t.m != nil && !def.takesOrder {
			a.m = nil
		}
		if def.cyclic {
			if n := 2 * cyclic; len(t.period) >= n+2 {
				a.period = t.period[n : n+2]
			}
			cyclic++
		}
		switch {
		case d == 1 && def.of != nil:
			margin.Basis, err = def.of(&a)
		case def.surface != nil:
			margin.Surface, err = def.surface(&a)
		default:
			err = fmt.Errorf("%s is a basis of one column; of several there are %s", bs, haveSurfaces())
		}
		if err != nil {
			return nil, "", m.Errorf(vars[0].Pos, "%v", err)
		}
		margins = append(margins, margin)
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

func (m *meaning) tensorArgs(c formula.Call) (*tensorArgs, error) {
	t := &tensorArgs{TensorOptions: TensorOptions{Interaction: c.Func == "ti", SmoothOptions: SmoothOptions{Select: m.selected}}}
	var err error
	if a, ok := c.Arg("d"); ok {
		sum := 0
		if t.d, err = m.integers(a); err != nil {
			return nil, err
		}
		for _, d := range t.d {
			if d < 1 {
				return nil, m.Errorf(a.Value.Pos, "d says how many columns each margin has, as in d = c(2, 1)")
			}
			sum += d
		}
		if sum != len(c.Vars) {
			return nil, m.Errorf(a.Value.Pos, "d adds up to %d, but %s has %d columns", sum, c, len(c.Vars))
		}
	} else {
		for range c.Vars {
			t.d = append(t.d, 1)
		}
	}
	n := len(t.d)
	spread := func(a formula.Arg, got int) error {
		if got != 1 && got != n {
			return m.Errorf(a.Value.Pos, "%s has %d values for %d margins: give one for all, or one for each", a.Name, got, n)
		}
		return nil
	}
	each := func(a formula.Arg) ([]int, error) {
		v, err := m.integers(a)
		if err == nil {
			err = spread(a, len(v))
		}
		for err == nil && len(v) < n {
			v = append(v, v[0])
		}
		return v, err
	}
	for _, d := range t.d {
		k := 5
		for range min(d, 5) - 1 {
			k *= 5
		}
		t.k = append(t.k, k)
	}
	for _, a := range c.Args {
		switch a.Name {
		case "d":
		case "k":
			if t.k, err = each(a); err == nil && slices.Min(t.k) < 1 {
				err = m.Errorf(a.Value.Pos, "k is the number of basis functions of each margin, as in k = c(5, 8)")
			}
		case "m":
			t.m, err = each(a)
		case "bs":
			t.bsPos = a.Value.Pos
			items := []formula.Value{a.Value}
			if a.Value.Kind == formula.Vector {
				items = a.Value.Items
			}
			for _, v := range items {
				if v.Kind != formula.String {
					return nil, m.Errorf(v.Pos, `bs is the name of a basis in quotes, or one for each margin, as in bs=c("cr", "cc")`)
				}
				t.bs = append(t.bs, v.Text)
			}
			err = spread(a, len(t.bs))
			for err == nil && len(t.bs) < n {
				t.bs = append(t.bs, t.bs[0])
			}
		case "mc":
			if c.Func != "ti" {
				return nil, m.Errorf(a.Pos, "mc is an argument of ti(): it says which margins are centred")
			}
			items := []formula.Value{a.Value}
			if a.Value.Kind == formula.Vector {
				items = a.Value.Items
			}
			for _, v := range items {
				if v.Kind != formula.Bool && v.Kind != formula.Number {
					return nil, m.Errorf(v.Pos, "mc is TRUE or FALSE for each margin, as in mc = c(TRUE, FALSE)")
				}
				t.mc = append(t.mc, v.Bool || v.Number != 0)
			}
			if len(t.mc) != n {
				return nil, m.Errorf(a.Value.Pos, "mc has %d values for %d margins", len(t.mc), n)
			}
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
		if err != nil {
			return nil, err
		}
	}
	return t, nil
}
