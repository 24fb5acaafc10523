package basis

import (
	"slices"

	"github.com/pho-go/pho/basis/formula"
	"github.com/pho-go/pho/decompose"
)

func (m *interpreter) smooth(c formula.Call) (decompose.Spec, string, error) {
	bs, err := m.basisName(c)
	if err != nil {
		return nil, "", err
	}
	switch bs {
	case "re":
		return m.random(c)
	case "fs":
		return m.factorSmooth(c)
	}
	class, _ := m.classes.find(bs)
	if len(c.Vars) > 1 && class.multivariate == nil {
		return nil, "", m.Errorf(c.Vars[1].Pos, "%s is a basis of one column; of several there are %s", bs, enumerate(m.classes.multivariates()))
	}
	s := smoothArgs{SmoothOptions: SmoothOptions{Select: m.selected}}
	for _, v := range c.Vars {
		x, err := m.number(v)
		if err != nil {
			return nil, "", err
		}
		s.Columns = append(s.Columns, x.Name)
	}
	for _, a := range c.Args {
		if err := m.smoothArg(&s, c, class, a); err != nil {
			return nil, "", err
		}
	}
	spec, err := s.spec(class)
	if err != nil {
		return nil, "", m.Errorf(c.Pos, "%s: %v", c, err)
	}
	if err := spec.check(); err != nil {
		return nil, "", m.Errorf(c.Pos, "%s: %v", spec.label(), err)
	}
	return spec, "smooth " + spec.label(), nil
}

// checkedSpec is a smooth's spec as Parse sees it.
type checkedSpec interface {
	decompose.Spec
	label() string
	check() error
}

// smoothArgs collects the arguments of one s().
type smoothArgs struct {
	SmoothOptions
	Arguments
	Cuts []float64 // nil: not given
}

// spec gives the spec of the smooth of the class.
func (s *smoothArgs) spec(c class) (checkedSpec, error) {
	if len(s.Columns) == 1 && c.univariate != nil {
		u, err := c.univariate(&s.Arguments)
		if err != nil {
			return nil, err
		}
		if s.Cuts != nil {
			u = Stepped{u, s.Cuts}
		}
		return Smooth(s.Columns[0], u, &s.SmoothOptions).(*smoothSpec), nil
	}
	u, err := c.multivariate(&s.Arguments)
	if err != nil {
		return nil, err
	}
	return Surface(s.Columns, u, &s.SmoothOptions).(*surfaceSpec), nil
}

func (m *interpreter) smoothArg(s *smoothArgs, c formula.Call, d class, a formula.Arg) (err error) {
	switch a.Name {
	case "bs":
	case "k":
		var k []int
		if k, err = m.integers(a); err == nil && (len(k) != 1 || k[0] < 1) {
			return m.Errorf(a.Value.Pos, "k is the number of basis functions of %s, a whole number such as k = 10", c)
		}
		if err == nil {
			s.K = k[0]
		}
	case "m":
		if !d.takesOrder {
			return m.Errorf(a.Pos, "m has no meaning for bs = %q", d.bs)
		}
		s.M, err = m.integers(a)
	case "knots":
		if a.Value.Kind == formula.String && a.Value.Text == "quantiles" {
			if s.Quantiles = d.bs == (BS{}).label(); !s.Quantiles {
				return m.Errorf(a.Value.Pos, `knots = "quantiles" is for bs = "bs"`)
			}
			return nil
		}
		s.Knots, err = m.numbers(a)
	case "cuts":
		if d.univariate == nil || len(s.Columns) != 1 {
			return m.Errorf(a.Pos, "cuts are of s() of one column, by a basis of this package")
		}
		s.Cuts, err = m.numbers(a)
	case "period":
		if !d.cyclic {
			return m.Errorf(a.Pos, "bs = %q is not periodic: cc and cp are", d.bs)
		}
		s.Period, err = m.numbers(a)
	case "pc":
		s.Point, err = m.numbers(a)
	case "id":
		s.Link, err = m.link(a)
	case "sp":
		s.SP, err = m.numbers(a)
	case "fx":
		s.Unpenalized, err = m.truth(a)
	case "by":
		err = m.by(&s.SmoothOptions, a)
	case "xt":
		if !d.takesExtra {
			return m.Errorf(a.Pos, `xt has no meaning for bs = %q: of the bases here only "fs" has it, for that of each level`, d.bs)
		}
		s.XT = &a.Value
	default:
		return m.noArgument(a)
	}
	return err
}

func (m *interpreter) noArgument(a formula.Arg) error {
	return m.Errorf(a.Pos, "s() has no argument %s; it has bs, k, m, by, sp, fx, knots, cuts, period, pc and id", a.Name)
}

// basisName reads bs=; the default is tp, as in mgcv.
func (m *interpreter) basisName(c formula.Call) (string, error) {
	a, ok := c.Arg("bs")
	if !ok {
		return TP{}.label(), nil
	}
	if a.Value.Kind != formula.String {
		return "", m.Errorf(a.Value.Pos, `bs is the name of a basis in quotes, as in bs="ps"`)
	}
	bs := a.Value.Text
	if err := m.classes.known(bs); err != nil {
		return "", m.Errorf(a.Value.Pos, "%v", err)
	}
	return bs, nil
}

// random is s(..., bs = "re").
func (m *interpreter) random(c formula.Call) (decompose.Spec, string, error) {
	var parts []Variable
	for _, v := range c.Vars {
		col, err := m.explaining(v)
		if err != nil {
			return nil, "", err
		}
		parts = append(parts, Variable{Column: col.Name, Factor: m.categorical(col)})
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
		case "id":
			o.Link, err = m.link(a)
		case "by":
			err = m.by(&o, a)
		default:
			err = m.Errorf(a.Pos, "%s has no meaning for bs = \"re\", which has sp, fx, id and by", a.Name)
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
func (m *interpreter) factorSmooth(c formula.Call) (decompose.Spec, string, error) {
	number, factor, err := m.numberAndFactor(c)
	if err != nil {
		return nil, "", err
	}
	d, err := m.classOfLevels(c)
	if err != nil {
		return nil, "", err
	}
	s := smoothArgs{Arguments: Arguments{Columns: []string{number}}}
	for _, a := range c.Args {
		if a.Name == "xt" {
			continue
		}
		if a.Name == "cuts" {
			return nil, "", m.Errorf(a.Pos, `cuts has no meaning for bs = "fs"`)
		}
		if err := m.smoothArg(&s, c, d, a); err != nil {
			return nil, "", err
		}
	}
	u, err := d.univariate(&s.Arguments)
	if err != nil {
		return nil, "", m.Errorf(c.Pos, "%s: %v", c, err)
	}
	spec := FactorSmooth(number, factor, u, &s.SmoothOptions).(*factorSmoothSpec)
	if err := spec.check(); err != nil {
		return nil, "", m.Errorf(c.Pos, "%s: %v", spec.name, err)
	}
	return spec, "smooth " + spec.name, nil
}

// numberAndFactor tells the two columns of fs apart.
func (m *interpreter) numberAndFactor(c formula.Call) (number, factor string, err error) {
	for i, v := range c.Vars {
		col, err := m.explaining(v)
		switch {
		case err != nil:
			return "", "", err
		case m.schema == nil && i == 1: // any column may be a factor then
			factor = col.Name
		case m.categorical(col) && factor == "":
			factor = col.Name
		case !m.categorical(col) && number == "":
			number = col.Name
		}
	}
	if len(c.Vars) != 2 || number == "" || factor == "" {
		return "", "", m.Errorf(c.Pos, `bs = "fs" takes a number and a factor, as in s(x, g, bs = "fs")`)
	}
	return number, factor, nil
}

// classOfLevels is the class that xt names for the smooth of each level; by default tp.
func (m *interpreter) classOfLevels(c formula.Call) (class, error) {
	base := TP{}.label()
	if a, ok := c.Arg("xt"); ok {
		if _, other := m.classes[a.Value.Text]; other && a.Value.Kind == formula.String {
			return class{}, m.Errorf(a.Value.Pos, "fs takes smooth classes of package basis, which %q is not", a.Value.Text)
		}
		if a.Value.Kind != formula.String || !slices.Contains(ownNames(), a.Value.Text) {
			return class{}, m.Errorf(a.Value.Pos, "xt names the basis that fs takes for each level: %s", enumerate(ownNames()))
		}
		base = a.Value.Text
	}
	d, _ := m.classes.find(base)
	if d.univariate == nil {
		return class{}, m.Errorf(c.Pos, "fs takes bases of one column, which %s is not", base)
	}
	return d, nil
}
