package basis

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pho-go/pho/basis/formula"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/spelling"
)

// Formula is a formula whose terms are ready for data (decompose.Prepare), one set of
// rows or many.
type Formula struct {
	Response  string // column left of the tilde; may be empty
	Predictor string // from "sigma = ~ ..."; empty: every predictor
	Intercept bool   // false after "- 1" or "+ 0"
	// Specs are the terms in order of writing.
	Specs []decompose.Spec
}

// Options tell Parse about the data. The zero value and nil know no columns:
// then names are not checked and bare variables are numeric.
type Options struct {
	Schema  data.Schema // nil: columns are not checked
	Factors []string    // columns that are categories though they hold numbers
	// Response is the column to be explained if it is known from elsewhere than the left
	// side: no term may have it. "": the left side alone counts.
	Response string
	// Select gives every penalised smooth a penalty on its null space, so that it can
	// be taken out altogether (mgcv's select = TRUE).
	Select bool
}

// Parse reads a formula (see package formula for the language) and gives it its
// meaning on the columns of o.Schema: a bare categorical column (text, or listed
// in o.Factors) is a factor term, a bare numeric column a linear one. Without an
// intercept the first factor has a coefficient for every level, as in R. A fault
// is a *formula.Error, which shows its place.
func Parse(text string, o *Options) (*Formula, error) {
	tree, err := formula.Parse(text)
	if err != nil {
		return nil, err
	}
	m := meaning{Formula: tree, factors: map[string]bool{}}
	if o != nil {
		m.selected, m.response = o.Select, o.Response
		m.schema = o.Schema
		m.columns = make(map[string]data.Column, len(o.Schema))
		for _, c := range o.Schema {
			m.columns[c.Name] = c
		}
		for _, name := range o.Factors {
			m.factors[name] = true
			if _, ok := m.columns[name]; !ok && m.schema != nil {
				return nil, fmt.Errorf("basis: there is no column %q to treat as a factor%s", name, m.nearest(name))
			}
		}
	}
	if tree.Response != "" {
		if _, err := m.column(formula.Name{Pos: tree.ResponsePos, Text: tree.Response}); err != nil {
			return nil, err
		}
	}
	f := &Formula{Response: tree.Response, Predictor: tree.Predictor, Intercept: tree.Intercept}
	m.full = !tree.Intercept
	m.parametric(tree.Terms)
	seen := map[string]bool{}
	for _, t := range tree.Terms {
		spec, key, err := m.term(t)
		if err != nil {
			return nil, err
		}
		if seen[key] {
			return nil, m.Errorf(t.Pos, "the term %s is there twice: leave one out", t)
		}
		seen[key] = true
		f.Specs = append(f.Specs, spec)
	}
	return f, nil
}

// meaning turns the parts of one tree into specs.
type meaning struct {
	*formula.Formula
	schema  data.Schema // nil: any name is a numeric column
	columns map[string]data.Column
	factors map[string]bool
	full    bool // the next factor has all levels

	response string          // besides that of the left side
	selected bool            // smooths have a penalty on their null space
	products map[string]bool // the sets of columns of terms without smooths, as keys
}

// term gives a term's spec, and a key that equal terms share.
func (m *meaning) term(t formula.Term) (spec decompose.Spec, key string, err error) {
	if len(t.Parts) > 1 {
		return m.product(t)
	}
	c := t.Parts[0]
	switch c.Func {
	case "":
		col, err := m.explaining(c.Vars[0])
		if err != nil {
			return nil, "", err
		}
		if m.categorical(col) {
			return m.factor(c.Vars[0], "")
		}
		return Linear(col.Name), "linear " + col.Name, nil
	case "factor":
		return m.factor(c.Vars[0], "factor("+c.Vars[0].Text+")", c.Args...)
	case "s":
		return m.smooth(c)
	case "te", "ti":
		return m.tensor(c)
	}
	return nil, "", m.Errorf(c.Pos, "%s() is not there yet: smooths are s(), te() and ti()", c.Func)
}

func (m *meaning) factor(n formula.Name, label string, args ...formula.Arg) (decompose.Spec, string, error) {
	col, err := m.explaining(n)
	if err != nil {
		return nil, "", err
	}
	o := FactorOptions{Label: label, AllLevels: m.full}
	for _, a := range args { // contr alone
		switch a.Value.Text {
		case "sum":
			o.SumToZero = !m.full
		case "treatment":
		default:
			return nil, "", m.Errorf(a.Value.Pos, `contr is "treatment" (the default: the first level's coefficient is 0) or "sum" (the coefficients sum to 0)`)
		}
	}
	m.full = false
	return Factor(col.Name, &o), "factor " + col.Name, nil
}

func (m *meaning) smooth(c formula.Call) (decompose.Spec, string, error) {
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
	def, _ := definitionOf(bs)
	if len(c.Vars) > 1 && def.surface == nil {
		return nil, "", m.Errorf(c.Vars[1].Pos, "%s is a basis of one column; of several there are %s", bs, haveSurfaces())
	}
	names := make([]string, len(c.Vars))
	for i, v := range c.Vars {
		x, err := m.number(v)
		if err != nil {
			return nil, "", err
		}
		names[i] = x.Name
	}
	s := smoothArgs{SmoothOptions: SmoothOptions{Select: m.selected}}
	for _, a := range c.Args {
		if err := m.smoothArg(&s, c, def, a); err != nil {
			return nil, "", err
		}
	}
	spec, err := s.spec(def, names)
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

// spec gives the spec of a smooth of the columns.
func (s *smoothArgs) spec(d definition, columns []string) (checkedSpec, error) {
	if len(columns) == 1 && d.of != nil {
		u, err := d.of(s)
		if err != nil {
			return nil, err
		}
		return Smooth(columns[0], u, &s.SmoothOptions).(*smoothSpec), nil
	}
	u, err := d.surface(s)
	if err != nil {
		return nil, err
	}
	return Surface(columns, u, &s.SmoothOptions).(*surfaceSpec), nil
}

// smoothArgs collects the arguments of one s().
type smoothArgs struct {
	SmoothOptions
	k      int
	m      []int
	knots  []float64
	period []float64
}

func (m *meaning) smoothArg(s *smoothArgs, c formula.Call, d definition, a formula.Arg) (err error) {
	switch a.Name {
	case "bs":
	case "k":
		var k []int
		if k, err = m.integers(a); err == nil && (len(k) != 1 || k[0] < 1) {
			return m.Errorf(a.Value.Pos, "k is the number of basis functions of %s, a whole number such as k = 10", c)
		}
		if err == nil {
			s.k = k[0]
		}
	case "m":
		if !d.takesOrder {
			return m.Errorf(a.Pos, "m has no meaning for bs = %q", d.bs)
		}
		s.m, err = m.integers(a)
	case "knots":
		s.knots, err = m.numbers(a)
	case "period":
		if !d.cyclic {
			return m.Errorf(a.Pos, "bs = %q is not periodic: cc and cp are", d.bs)
		}
		s.period, err = m.numbers(a)
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
	default:
		return m.Errorf(a.Pos, "s() has no argument %s; it has bs, k, m, by, sp, fx, knots, period, pc and id", a.Name)
	}
	return err
}

// by reads by=, a column, factor(column) or ordered(column).
func (m *meaning) by(o *SmoothOptions, a formula.Arg) error {
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
func (m *meaning) truth(a formula.Arg) (bool, error) {
	if a.Value.Kind != formula.Bool {
		return false, m.Errorf(a.Value.Pos, "%s is TRUE or FALSE", a.Name)
	}
	return a.Value.Bool, nil
}

// link reads id=, which may be a number or text.
func (m *meaning) link(a formula.Arg) (string, error) {
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

// basisName reads bs=; the default is tp, as in mgcv.
func (m *meaning) basisName(c formula.Call) (string, error) {
	a, ok := c.Arg("bs")
	if !ok {
		return TP{}.label(), nil
	}
	if a.Value.Kind != formula.String {
		return "", m.Errorf(a.Value.Pos, `bs is the name of a basis in quotes, as in bs="ps"`)
	}
	bs := a.Value.Text
	have := append(basisNames(), "re", "fs")
	later := []string{"ad", "gp", "sos"}
	switch {
	case slices.Contains(have, bs):
		return bs, nil
	case slices.Contains(later, bs):
		return "", m.Errorf(a.Value.Pos, "the basis %q is not there yet: there are %s", bs, enumerate(have))
	}
	if near := spelling.Nearest(bs, have); near != "" {
		return "", m.Errorf(a.Value.Pos, "unknown basis %q; did you mean %q? There are %s", bs, near, enumerate(have))
	}
	return "", m.Errorf(a.Value.Pos, "unknown basis %q: there are %s", bs, enumerate(have))
}

// column finds a column in the schema.
func (m *meaning) column(n formula.Name) (data.Column, error) {
	if m.schema == nil {
		return data.Column{Name: n.Text, Numeric: true}, nil
	}
	c, ok := m.columns[n.Text]
	switch {
	case !ok:
		return c, m.Errorf(n.Pos, "there is no column %q%s", n.Text, m.nearest(n.Text))
	case c.Width > 0:
		return c, m.Errorf(n.Pos, "%q is a tensor of width %d; a formula takes columns", n.Text, c.Width)
	}
	return c, nil
}

// explaining is column for the right-hand side.
func (m *meaning) explaining(n formula.Name) (data.Column, error) {
	c, err := m.column(n)
	if err == nil && (c.Name == m.Response || c.Name == m.response) {
		err = m.Errorf(n.Pos, "%q is the response; it cannot explain itself", n.Text)
	}
	return c, err
}

// number is explaining for one that must be numeric.
func (m *meaning) number(n formula.Name) (data.Column, error) {
	c, err := m.explaining(n)
	if err == nil && !c.Numeric {
		err = m.Errorf(n.Pos, "column %q %s; a smooth takes numbers", n.Text, c.HoldsText())
	}
	return c, err
}

func (m *meaning) categorical(c data.Column) bool {
	return c.Categorical || m.factors[c.Name]
}

// nearest suggests a column, or lists them.
func (m *meaning) nearest(name string) string {
	names := m.schema.Names()
	if near := spelling.Nearest(name, names); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	const shown = 10
	list := make([]string, 0, shown+1)
	for i, n := range names {
		if i == shown {
			list = append(list, fmt.Sprintf("... (%d in all)", len(names)))
			break
		}
		list = append(list, fmt.Sprintf("%q", n))
	}
	return "; the columns are " + strings.Join(list, ", ")
}

// numbers reads a number or a vector of numbers.
func (m *meaning) numbers(a formula.Arg) ([]float64, error) {
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
func (m *meaning) integers(a formula.Arg) ([]int, error) {
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
