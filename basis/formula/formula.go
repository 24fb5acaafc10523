// Package formula reads the formula language: Wilkinson notation with mgcv's
// smooth calls, as in
//
//	y ~ x1 + factor(dow) + s(x2, k=20, bs="ps") + s(x, by=group) - 1
//
// It knows the words of the language and where they stand in the text, not
// what columns or bases exist: package basis gives a formula its meaning.
package formula

import (
	"slices"
	"strconv"
	"strings"
)

// Formula is the syntax tree of one formula. Positions in it are byte offsets
// into Text.
type Formula struct {
	Text      string    // what was parsed
	Predictor string    // from "sigma = ~ ..."; empty: every predictor
	Response  string    // left of the tilde; may be empty
	Event     string    // of Surv(response, event) there; may be empty
	Intercept bool      // false after "- 1" or "+ 0"
	Summands  []Summand // in order of writing; none for "~ 1"
	Others    *Others   // "." on the right-hand side; nil without

	ResponsePos, EventPos int
}

// Others is the term ".", which stands for terms of the columns that no other part of the
// formula names. Which terms they are is for the reader of the data to choose (Expand).
type Others struct {
	Pos     int
	Without []Name // columns taken away by "- name"
}

// Summand is one term of the right-hand side: one call, or several joined by ":" for an
// interaction.
type Summand struct {
	Pos, End int
	Calls    []Call
}

// Call is a bare variable (Func is empty, one entry in Vars and no Args) or a
// function of variables.
type Call struct {
	Pos, End int
	Func     string // "", or one of Functions
	Vars     []Name // positional arguments, at least one
	Args     []Arg  // named arguments in order of writing, no name twice
}

// Name is a column's name, without the backquotes it may be written in.
type Name struct {
	Pos, End int
	Text     string
}

// Arg is a named argument.
type Arg struct {
	Pos   int
	Name  string // one of Arguments
	Value Value
}

// ValueKind tells which field of a Value counts.
type ValueKind uint8

// The kinds of argument values.
const (
	Number     ValueKind = iota // Value.Number, finite
	String                      // Value.Text, written "text" or 'text'
	Bool                        // Value.Bool, written TRUE or FALSE
	Identifier                  // Value.Text, a column's name; Value.Func "", "factor" or "ordered" around it
	Vector                      // Value.Items, written c(...): not empty, no vectors in it
)

// Value is the value of a named argument.
type Value struct {
	Pos, End int
	Kind     ValueKind
	Number   float64
	Text     string
	Func     string
	Bool     bool
	Items    []Value
}

// Functions lists the functions of the language. The last, mgcv's t2, is parsed so that
// it can be refused with a reason; messages do not recommend it.
func Functions() []string { return []string{"factor", "onehot", "ridge", "s", "te", "ti", "t2"} }

// Arguments lists the named arguments of the smooth functions; factor and onehot have
// contr alone.
func Arguments() []string {
	return []string{"bs", "k", "m", "by", "id", "sp", "fx", "pc", "knots", "cuts", "period", "d", "np", "mc", "xt"}
}

// Arg finds a named argument.
func (c *Call) Arg(name string) (Arg, bool) {
	for _, a := range c.Args {
		if a.Name == name {
			return a, true
		}
	}
	return Arg{}, false
}

// Equal reports whether two formulas say the same, term by term in the same
// order; positions and spelling (spaces, quotes, digits of numbers) are ignored.
func (f *Formula) Equal(g *Formula) bool {
	return f.Predictor == g.Predictor && f.Response == g.Response && f.Event == g.Event && f.Intercept == g.Intercept && equalOthers(f.Others, g.Others) &&
		slices.EqualFunc(f.Summands, g.Summands, func(a, b Summand) bool {
			return slices.EqualFunc(a.Calls, b.Calls, equalCalls)
		})
}

func equalOthers(a, b *Others) bool {
	if a == nil || b == nil {
		return a == b
	}
	return slices.EqualFunc(a.Without, b.Without, func(x, y Name) bool { return x.Text == y.Text })
}

// Expand is the formula with terms in place of ".", after its own. Positions are those of
// its own text, written anew.
func (f *Formula) Expand(terms []Summand) (*Formula, error) {
	g := *f
	g.Others, g.Summands = nil, slices.Concat(f.Summands, terms)
	return Parse(g.String())
}

// Names lists the columns that terms of the right-hand side name, by included, and those
// taken away.
func (f *Formula) Names() []string {
	var names []string
	for _, t := range f.Summands {
		for _, c := range t.Calls {
			for _, v := range c.Vars {
				names = append(names, v.Text)
			}
			if by, ok := c.Arg("by"); ok && by.Value.Kind == Identifier {
				names = append(names, by.Value.Text)
			}
		}
	}
	if f.Others != nil {
		for _, n := range f.Others.Without {
			names = append(names, n.Text)
		}
	}
	return names
}

func equalCalls(a, b Call) bool {
	return a.Func == b.Func &&
		slices.EqualFunc(a.Vars, b.Vars, func(x, y Name) bool { return x.Text == y.Text }) &&
		slices.EqualFunc(a.Args, b.Args, func(x, y Arg) bool {
			return x.Name == y.Name && equalValues(x.Value, y.Value)
		})
}

func equalValues(a, b Value) bool {
	return a.Kind == b.Kind && a.Number == b.Number && a.Text == b.Text && a.Func == b.Func && a.Bool == b.Bool &&
		slices.EqualFunc(a.Items, b.Items, equalValues)
}

// String writes the formula in canonical spelling; parsing that gives an equal
// formula.
func (f *Formula) String() string {
	var w strings.Builder
	if f.Predictor != "" {
		w.WriteString(quoteName(f.Predictor))
		w.WriteString(" = ")
	}
	switch {
	case f.Event != "":
		w.WriteString("Surv(" + quoteName(f.Response) + ", " + quoteName(f.Event) + ") ")
	case f.Response != "":
		w.WriteString(quoteName(f.Response) + " ")
	}
	w.WriteString("~ ")
	var items []string
	if f.Others != nil {
		items = append(items, ".")
	}
	for _, t := range f.Summands {
		items = append(items, t.String())
	}
	w.WriteString(strings.Join(items, " + "))
	if f.Others != nil {
		for _, n := range f.Others.Without {
			w.WriteString(" - " + quoteName(n.Text))
		}
	}
	switch {
	case len(items) > 0 && !f.Intercept:
		w.WriteString(" - 1")
	case len(items) == 0 && f.Intercept:
		w.WriteString("1")
	case len(items) == 0:
		w.WriteString("0")
	}
	return w.String()
}

// String writes the summand in canonical spelling.
func (t Summand) String() string {
	parts := make([]string, len(t.Calls))
	for i, c := range t.Calls {
		parts[i] = c.String()
	}
	return strings.Join(parts, ":")
}

// String writes the call in canonical spelling.
func (c Call) String() string {
	items := make([]string, 0, len(c.Vars)+len(c.Args))
	for _, v := range c.Vars {
		items = append(items, quoteName(v.Text))
	}
	for _, a := range c.Args {
		items = append(items, a.Name+" = "+a.Value.String())
	}
	if c.Func == "" {
		return strings.Join(items, ", ")
	}
	return c.Func + "(" + strings.Join(items, ", ") + ")"
}

// String writes the value in canonical spelling.
func (v Value) String() string {
	switch v.Kind {
	case Number:
		return strconv.FormatFloat(v.Number, 'g', -1, 64)
	case String:
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(v.Text) + `"`
	case Bool:
		return strings.ToUpper(strconv.FormatBool(v.Bool))
	case Identifier:
		if v.Func != "" {
			return v.Func + "(" + quoteName(v.Text) + ")"
		}
		return quoteName(v.Text)
	}
	items := make([]string, len(v.Items))
	for i, x := range v.Items {
		items[i] = x.String()
	}
	return "c(" + strings.Join(items, ", ") + ")"
}

// quoteName writes a column's name so that it reads back as a name.
func quoteName(s string) string {
	if isName(s) {
		return s
	}
	return "`" + strings.NewReplacer(`\`, `\\`, "`", "\\`").Replace(s) + "`"
}
