package basis

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pho-go/pho/basis/formula"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/base/spelling"
)

// Formula is a formula whose terms are ready for data (decompose.Prepare), one set of
// rows or many.
type Formula struct {
	Response  string // column left of the tilde; may be empty
	Event     string // of Surv(response, event) there; may be empty
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
	Event    string // the column of its events, likewise
	// Select lets smoothing take whole terms out: every penalised smooth has a penalty on its
	// null space, too (mgcv's select = TRUE); every number, factor and product a ridge penalty
	// of its own, which mgcv's select does not give them: numbers in units of their standard
	// deviation, factors and products of them on all levels, without contrasts.
	Select bool
	// Centred takes numbers in products about the middle of their range where they are far from 0 as against it, a year
	// or a time stamp, and the formula has all terms that this changes: a:b is (a - c)(b - d) then, next to a and b, of the
	// same functions, in digits that are otherwise lost. Split hierarchically the terms are the same; as
	// fitted, a and b are not.
	Centred bool
	// Classes are smooth classes of other packages that formulas may name in bs = "...";
	// nil: this package's own alone. Artifacts with their terms are read by
	// Classes.Decode.
	Classes Classes
}

// Parse reads a formula (see package formula for the language) and gives it its
// meaning on the columns of o.Schema: a bare categorical column (text, or listed
// in o.Factors) is a factor term, a bare numeric column a linear one, and a range of columns
// (WithRanges) is those. Without an
// intercept the first factor has a coefficient for every level, as in R. A fault
// of the text is a *formula.Error, which shows its place.
func Parse(text string, o *Options) (*Formula, error) {
	tree, err := formula.Parse(text)
	if err != nil {
		return nil, err
	}
	if o != nil && o.Schema != nil {
		if tree, err = WithRanges(tree, o.Schema, tree.Response, tree.Event, o.Response, o.Event); err != nil {
			return nil, err
		}
	}
	m, err := newInterpreter(tree, o)
	if err != nil {
		return nil, err
	}
	if tree.Response != "" {
		if _, err := m.column(formula.Name{Pos: tree.ResponsePos, Text: tree.Response}); err != nil {
			return nil, err
		}
	}
	if tree.Event != "" {
		if _, err := m.column(formula.Name{Pos: tree.EventPos, Text: tree.Event}); err != nil {
			return nil, err
		}
	}
	if tree.Others != nil && m.schema != nil {
		return nil, m.Errorf(tree.Others.Pos, `"." stands for terms that are chosen by the rows: expand it first (package basis/propose)`)
	}
	f := &Formula{Response: tree.Response, Event: tree.Event, Predictor: tree.Predictor, Intercept: tree.Intercept}
	m.full = !tree.Intercept
	m.parametric(tree.Summands)
	seen := map[string]bool{}
	for _, t := range tree.Summands {
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

// WithRanges is f with the columns written out that ranges stand for (data.Schema.Range), but
// for those of another role.
func WithRanges(f *formula.Formula, schema data.Schema, roles ...string) (*formula.Formula, error) {
	return f.WithRanges(func(name string) ([]string, bool, error) {
		columns, isRange, err := schema.Range(name)
		columns = slices.DeleteFunc(columns, func(c string) bool { return slices.Contains(roles, c) })
		if isRange && err == nil && len(columns) == 0 {
			err = fmt.Errorf("range %q: all of its columns have another role, as the response has", name)
		}
		return columns, isRange, err
	})
}

// interpreter turns the parts of one tree into specs.
type interpreter struct {
	*formula.Formula
	schema  data.Schema // nil: any name is a numeric column
	columns map[string]data.Column
	factors map[string]bool
	full    bool // the next factor has all levels

	classes  Classes // of other packages
	response string  // besides that of the left side
	event    string
	centred  bool
	selected bool            // smooths have a penalty on their null space
	ridges   map[string]bool // names of ridge terms
	products map[string]bool // the sets of columns of terms without smooths, as keys
}

func newInterpreter(tree *formula.Formula, o *Options) (*interpreter, error) {
	m := &interpreter{Formula: tree, factors: map[string]bool{}}
	if o == nil {
		return m, nil
	}
	if err := o.Classes.check(); err != nil {
		return nil, err
	}
	m.classes, m.selected, m.response, m.event = o.Classes, o.Select, o.Response, o.Event
	m.centred = o.Centred
	m.schema, m.columns = o.Schema, make(map[string]data.Column, len(o.Schema))
	for _, c := range o.Schema {
		m.columns[c.Name] = c
	}
	for _, name := range o.Factors {
		m.factors[name] = true
		if _, ok := m.columns[name]; !ok && m.schema != nil {
			return nil, fmt.Errorf("basis: there is no column %q to treat as a factor%s", name, m.nearest(name))
		}
	}
	return m, nil
}

// term gives a term's spec, and a key that equal terms share.
func (m *interpreter) term(t formula.Summand) (spec decompose.Spec, key string, err error) {
	if len(t.Calls) > 1 {
		return m.product(t)
	}
	c := t.Calls[0]
	switch c.Func {
	case "":
		col, err := m.explaining(c.Vars[0])
		if err != nil {
			return nil, "", err
		}
		if m.categorical(col) {
			return m.factor(c.Vars[0], "")
		}
		return linearSpec{col.Name, m.selected}, "linear " + col.Name, nil
	case "factor":
		return m.factor(c.Vars[0], "factor("+c.Vars[0].Text+")", c.Args...)
	case "onehot":
		return m.oneHot(c)
	case "ridge":
		return m.ridge(c)
	case "s":
		return m.smooth(c)
	case "te", "ti":
		return m.tensor(c)
	}
	return nil, "", m.Errorf(c.Pos, "%s() is not there yet: smooths are s(), te() and ti()", c.Func)
}

func (m *interpreter) factor(n formula.Name, label string, args ...formula.Arg) (decompose.Spec, string, error) {
	col, err := m.explaining(n)
	if err != nil {
		return nil, "", err
	}
	o, err := m.contrasts(args)
	if err != nil {
		return nil, "", err
	}
	o.Label = label
	return Factor(col.Name, o), "factor " + col.Name, nil
}

// contrasts reads the argument contr of a factor, and settles which factor has all levels.
func (m *interpreter) contrasts(args []formula.Arg) (*FactorOptions, error) {
	o := &FactorOptions{AllLevels: m.full, Select: m.selected}
	for _, a := range args { // contr alone
		switch a.Value.Text {
		case "sum":
			o.SumToZero = !m.full
		case "treatment":
		default:
			return nil, m.Errorf(a.Value.Pos, `contr is "treatment" (the default: the first level's coefficient is 0) or "sum" (the coefficients sum to 0)`)
		}
	}
	m.full = false
	return o, nil
}

// oneHot is a factor of several columns.
func (m *interpreter) oneHot(c formula.Call) (decompose.Spec, string, error) {
	var columns []string
	for _, n := range c.Vars {
		col, err := m.number(n)
		if err != nil {
			return nil, "", err
		}
		if slices.Contains(columns, col.Name) {
			return nil, "", m.Errorf(n.Pos, "column %q is there twice", n.Text)
		}
		columns = append(columns, col.Name)
	}
	o, err := m.contrasts(c.Args)
	if err != nil {
		return nil, "", err
	}
	return OneHot(columns, o), "onehot " + setKey(columns), nil
}

func (m *interpreter) column(n formula.Name) (data.Column, error) {
	if m.schema == nil {
		return data.Column{Name: n.Text, Numeric: true}, nil
	}
	c, ok := m.columns[n.Text]
	switch {
	case !ok:
		return c, &formula.Error{
			Text: m.Text, Pos: n.Pos, Msg: fmt.Sprintf("there is no column %q%s", n.Text, m.nearest(n.Text)),
			Err: &data.MissingColumnError{Column: n.Text, Where: "the data", Columns: m.schema.Names()},
		}
	case c.Width > 0:
		return c, m.Errorf(n.Pos, "%q holds %d numbers a row; a formula takes columns of one", n.Text, c.Width)
	}
	return c, nil
}

// explaining is column for the right-hand side.
func (m *interpreter) explaining(n formula.Name) (data.Column, error) {
	c, err := m.column(n)
	if err == nil && (c.Name == m.Response || c.Name == m.response) {
		err = m.Errorf(n.Pos, "%q is the response; it cannot explain itself", n.Text)
	} else if err == nil && (c.Name == m.Event && m.Event != "" || c.Name == m.event && m.event != "") {
		err = m.Errorf(n.Pos, "%q says which times are censored; it is part of the response and cannot explain it", n.Text)
	}
	return c, err
}

// number is explaining for one that must be numeric. Text that a network reads as numbers
// has no order.
func (m *interpreter) number(n formula.Name) (data.Column, error) {
	c, err := m.explaining(n)
	if err == nil && (!c.Numeric || c.Text != "") {
		err = m.Errorf(n.Pos, "column %q %s; a smooth takes numbers", n.Text, c.HoldsText())
	}
	return c, err
}

func (m *interpreter) categorical(c data.Column) bool {
	return c.Categorical || m.factors[c.Name]
}

// nearest suggests a column, or lists them.
func (m *interpreter) nearest(name string) string {
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
