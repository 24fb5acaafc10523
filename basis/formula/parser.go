package formula

import (
	"slices"
	"strings"

	"github.com/pho-go/pho/internal/base/spelling"
)

// Parse reads one formula:
//
//	formula = [name "="] [response] "~" sum
//	response = name | "Surv(" name "," name ")"         a time, and whether the event was seen
//	sum     = ["+" | "-"] item {("+" | "-") item}       "-" before 0 and 1 and, with ".", a name
//	item    = "0" | "1" | "." | part {":" part}
//	part    = name | function "(" name {"," name} {"," argument "=" value} ")"
//	value   = [sign] number | string | TRUE | FALSE | name | "c(" value {"," value} ")"
//
// Names with other characters than letters, digits, "." and "_" stand in
// backquotes. A name of the form first..last may be a range of columns (WithRanges). A fault is an *Error with its place. The language does not nest,
// so neither does the parser.
func Parse(text string) (*Formula, error) {
	f := &Formula{Text: text, Intercept: true}
	tokens, err := f.lex()
	if err != nil {
		return nil, err
	}
	p := parser{f: f, tokens: tokens}
	if err := p.head(); err != nil {
		return nil, err
	}
	if err := p.sum(); err != nil {
		return nil, err
	}
	return f, nil
}

type parser struct {
	f      *Formula
	tokens []token
	at     int
}

func (p *parser) peek() token { return p.tokens[p.at] }

func (p *parser) next() token {
	t := p.tokens[p.at]
	if t.kind != tokenEnd {
		p.at++
	}
	return t
}

// accept takes the next token if it is the sign s.
func (p *parser) accept(s string) bool {
	if p.peek().is(s) {
		p.at++
		return true
	}
	return false
}

// head reads everything up to the tilde.
func (p *parser) head() error {
	f := p.f
	if !slices.ContainsFunc(p.tokens, func(t token) bool { return t.is("~") }) {
		if p.peek().kind == tokenEnd {
			return f.Errorf(0, `the formula is empty; "~ 1" is an intercept alone`)
		}
		if p.tokens[0].kind == tokenName && p.tokens[1].is("=") {
			return f.Errorf(p.tokens[1].end, `a formula needs a tilde, after the predictor's name too; write "%s = ~ ..."`, clip(p.tokens[0].text))
		}
		return f.Errorf(p.peek().pos, `a formula needs a tilde; write "~ %s", or "y ~ ..." with a response`, clip(strings.TrimSpace(f.Text)))
	}
	if len(p.tokens) > 1 && p.peek().kind == tokenName && p.tokens[1].is("=") {
		f.Predictor = p.peek().text
		p.at += 2
	}
	if p.peek().kind == tokenName {
		t := p.next()
		f.Response, f.ResponsePos = t.text, t.pos
		switch {
		case p.peek().is("(") && t.text == "Surv" && !t.quoted:
			if err := p.surv(); err != nil {
				return err
			}
		case p.peek().is("("):
			return f.Errorf(t.pos, "the response must be a column as it is: add the column %s(...) to the data and name that", clip(t.text))
		}
	}
	if t := p.peek(); !p.accept("~") {
		return f.Errorf(t.pos, "expected a tilde here, found %s", t)
	}
	return nil
}

// surv reads the arguments of Surv(time, event), R's name for a time that may be right
// censored.
func (p *parser) surv() error {
	f, columns := p.f, [2]token{}
	for i, sign := range []string{"(", ","} {
		if t := p.peek(); !p.accept(sign) {
			return f.Errorf(t.pos, `Surv takes two columns here, "Surv(time, event)": the time, and 1 for an event or 0 for a censored time`)
		}
		if columns[i] = p.next(); columns[i].kind != tokenName || columns[i].isDot() {
			return f.Errorf(columns[i].pos, "expected a column here, found %s", columns[i])
		}
	}
	if t := p.peek(); !p.accept(")") {
		if t.is(",") {
			return f.Errorf(t.pos, `Surv takes two columns here, "Surv(time, event)": times are right censored, or not, and begin at 0`)
		}
		return f.Errorf(t.pos, "expected a closing parenthesis here, found %s", t)
	}
	if columns[0].text == columns[1].text {
		return f.Errorf(columns[1].pos, "%q is the time; whether the event was seen then is another column", clip(columns[1].text))
	}
	f.Response, f.ResponsePos = columns[0].text, columns[0].pos
	f.Event, f.EventPos = columns[1].text, columns[1].pos
	return nil
}

// sum reads the right-hand side.
func (p *parser) sum() error {
	f := p.f
	if p.peek().kind == tokenEnd {
		return f.Errorf(p.peek().pos, `nothing follows the tilde; "~ 1" is an intercept alone`)
	}
	var without []token
	for first := true; ; first = false {
		t := p.peek()
		minus := t.is("-")
		switch {
		case minus || t.is("+"):
			p.next()
		case first:
		case t.kind == tokenEnd:
			return p.takeAway(without)
		default:
			return p.unexpected(t)
		}
		item := p.peek()
		switch {
		case item.kind == tokenNumber && (item.number == 0 || item.number == 1):
			p.next()
			f.Intercept = (item.number == 1) != minus
		case item.kind == tokenNumber:
			return f.Errorf(item.pos, "%s is not a term; of numbers only 1 and 0 have a meaning, with and without intercept", clip(item.text))
		case item.isDot() && (minus || f.Others != nil):
			return f.Errorf(item.pos, `"." stands once, with a plus before it`)
		case item.isDot():
			p.next()
			f.Others = &Others{Pos: item.pos}
		case minus && item.kind == tokenName:
			without = append(without, p.next())
		default:
			s, err := p.summand()
			if err != nil {
				return err
			}
			f.Summands = append(f.Summands, s)
		}
	}
}

// takeAway notes the columns that "." leaves out.
func (p *parser) takeAway(without []token) error {
	if len(without) > 0 && p.f.Others == nil {
		return p.f.Errorf(without[0].pos, `only the intercept can be taken away, by - 1, and columns from "."; leave the term out instead`)
	}
	for _, t := range without {
		n, err := p.name(t)
		if err != nil {
			return err
		}
		p.f.Others.Without = append(p.f.Others.Without, n)
	}
	return nil
}

// unexpected explains what cannot follow a term.
func (p *parser) unexpected(t token) error {
	switch {
	case t.is("~"):
		return p.f.Errorf(t.pos, "a second tilde; one formula has one")
	case t.is("*"):
		return p.f.Errorf(t.pos, `"*" is not in the language; write a + b + a:b`)
	case t.is("^"), t.is("/"), t.is("%"):
		return p.f.Errorf(t.pos, "%q is not in the language; add the computed column to the data and name it", t.text)
	case t.is("|"):
		return p.f.Errorf(t.pos, `"|" is not in the language; a random effect is s(group, bs="re")`)
	case t.kind == tokenName, t.kind == tokenNumber, t.kind == tokenString:
		return p.f.Errorf(t.pos, `expected "+" between terms, found %s`, t)
	}
	return p.f.Errorf(t.pos, `expected "+" or the end, found %s`, t)
}

func (p *parser) summand() (Summand, error) {
	t := Summand{Pos: p.peek().pos}
	for {
		c, err := p.part()
		if err != nil {
			return Summand{}, err
		}
		t.Calls, t.End = append(t.Calls, c), c.End
		if !p.accept(":") {
			return t, nil
		}
	}
}

func (p *parser) part() (Call, error) {
	f, t := p.f, p.next()
	switch {
	case t.is("("):
		return Call{}, f.Errorf(t.pos, "terms are not grouped by parentheses; write the terms one by one")
	case t.kind == tokenName && !t.quoted && p.peek().is("("):
		return p.call(t)
	case t.kind != tokenName:
		return Call{}, f.Errorf(t.pos, "expected a term, found %s", t)
	}
	n, err := p.name(t)
	if err != nil {
		return Call{}, err
	}
	return Call{Pos: t.pos, End: t.end, Vars: []Name{n}}, nil
}

// name checks that a name token can be a column's name.
func (p *parser) name(t token) (Name, error) {
	if !t.quoted {
		switch t.text {
		case "TRUE", "FALSE":
			return Name{}, p.f.Errorf(t.pos, "%s is a truth value, not a column; a column of that name goes into backquotes", t.text)
		case ".":
			return Name{}, p.f.Errorf(t.pos, `"." stands for the other columns as a term of its own only, as in "~ . + te(a, b)"; name them here`)
		}
	}
	return Name{Pos: t.pos, End: t.end, Text: t.text}, nil
}

// hint tells what to do instead of a function other tools have.
func hint(function string) string {
	switch function {
	case "I", "log", "exp", "sqrt":
		return "add the computed column to the data and name it"
	case "poly":
		return "use a smooth, s(x)"
	case "offset":
		return "offsets are given apart from the formula"
	}
	return ""
}

func (p *parser) call(fn token) (Call, error) {
	f := p.f
	if !slices.Contains(Functions(), fn.text) {
		if h := hint(fn.text); h != "" {
			return Call{}, f.Errorf(fn.pos, "%s() is not in the language: %s", fn.text, h)
		}
		return Call{}, f.Errorf(fn.pos, "unknown function %q%s", clip(fn.text), suggest(fn.text, Functions()[:len(Functions())-1], "the functions are"))
	}
	c := Call{Pos: fn.pos, Func: fn.text}
	p.next() // "("
	if t := p.peek(); t.is(")") {
		return Call{}, f.Errorf(t.pos, "%s() needs a column", c.Func)
	}
	for {
		if err := p.argument(&c); err != nil {
			return Call{}, err
		}
		t := p.next()
		if t.is(")") {
			c.End = t.end
			break
		}
		if !t.is(",") {
			return Call{}, f.Errorf(t.pos, `expected "," or ")" in %s(...), found %s`, c.Func, t)
		}
	}
	if len(c.Vars) == 0 {
		return Call{}, f.Errorf(c.Pos, "%s() needs a column before its named arguments", c.Func)
	}
	switch {
	case c.Func == "factor" && len(c.Vars) > 1:
		return Call{}, f.Errorf(c.Vars[1].Pos, "factor() takes one column")
	case c.Func == "onehot" && len(c.Vars) < 2 && !strings.Contains(c.Vars[0].Text, ".."): // else a range, perhaps
		return Call{}, f.Errorf(c.End, "onehot() takes the columns of a factor, two or more of them")
	}
	return c, nil
}

// argument reads one positional or named argument into c.
func (p *parser) argument(c *Call) error {
	f, t := p.f, p.next()
	if t.kind == tokenNumber || t.kind == tokenString || t.is("-") {
		return f.Errorf(t.pos, "expected a column or name = value in %s(...), found %s; as in k = 20", c.Func, t)
	}
	if t.kind != tokenName {
		return f.Errorf(t.pos, "expected a column or name = value in %s(...), found %s", c.Func, t)
	}
	if !p.peek().is("=") {
		if p.peek().is("(") {
			return f.Errorf(t.pos, "columns in %s(...) are named as they are: add the column %s(...) to the data", c.Func, clip(t.text))
		}
		if len(c.Args) > 0 {
			return f.Errorf(t.pos, "a column after named arguments; columns come first")
		}
		n, err := p.name(t)
		if err != nil {
			return err
		}
		c.Vars = append(c.Vars, n)
		return nil
	}
	p.next() // "="
	switch _, twice := c.Arg(t.text); {
	case (c.Func == "factor" || c.Func == "onehot") && t.text != "contr":
		return f.Errorf(t.pos, `%s() has no arguments but its columns and contr, as in contr = "sum"`, c.Func)
	case c.Func != "factor" && c.Func != "onehot" && !slices.Contains(Arguments(), t.text):
		return f.Errorf(t.pos, "unknown argument %q of %s()%s", clip(t.text), c.Func, suggest(t.text, Arguments(), "the arguments are"))
	case twice:
		return f.Errorf(t.pos, "the argument %s is given twice", t.text)
	}
	v, err := p.value(true)
	if err != nil {
		return err
	}
	c.Args = append(c.Args, Arg{Pos: t.pos, Name: t.text, Value: v})
	return nil
}

// value reads the value of an argument; vectors do not nest.
func (p *parser) value(vector bool) (Value, error) {
	f, t := p.f, p.next()
	v := Value{Pos: t.pos, End: t.end}
	if sign := t; sign.is("-") || sign.is("+") {
		if t = p.next(); t.kind != tokenNumber {
			return v, f.Errorf(t.pos, "expected a number after the sign, found %s", t)
		}
		v.End = t.end
		if sign.is("-") {
			t.number = 0 - t.number // not -0, which would not read back equal
		}
	}
	switch {
	case t.kind == tokenNumber:
		v.Kind, v.Number = Number, t.number
	case t.kind == tokenString:
		v.Kind, v.Text = String, t.text
	case t.kind == tokenName && !t.quoted && (t.text == "TRUE" || t.text == "FALSE"):
		v.Kind, v.Bool = Bool, t.text == "TRUE"
	case t.kind == tokenName && !t.quoted && p.peek().is("("):
		if t.text == "factor" || t.text == "ordered" {
			return p.coded(v, t.text)
		}
		if t.text != "c" {
			return v, f.Errorf(t.pos, "unknown function %q in a value; several values are written c(...)", clip(t.text))
		}
		if !vector {
			return v, f.Errorf(t.pos, "c(...) within c(...); write one list")
		}
		return p.vector(v)
	case t.kind == tokenName:
		n, err := p.name(t)
		if err != nil {
			return v, err
		}
		v.Kind, v.Text = Identifier, n.Text
	default:
		return v, f.Errorf(t.pos, "expected a value, found %s", t)
	}
	return v, nil
}

// coded reads the rest of factor(g) or ordered(g) as a value.
func (p *parser) coded(v Value, function string) (Value, error) {
	p.next() // "("
	t := p.next()
	if t.kind != tokenName {
		return v, p.f.Errorf(t.pos, "expected a column in %s(...), found %s", function, t)
	}
	n, err := p.name(t)
	if err != nil {
		return v, err
	}
	end := p.next()
	if !end.is(")") {
		return v, p.f.Errorf(end.pos, `expected ")" after the column in %s(...), found %s`, function, end)
	}
	v.Kind, v.Text, v.Func, v.End = Identifier, n.Text, function, end.end
	return v, nil
}

// vector reads the rest of c(...).
func (p *parser) vector(v Value) (Value, error) {
	v.Kind = Vector
	p.next() // "("
	for {
		item, err := p.value(false)
		if err != nil {
			return v, err
		}
		v.Items = append(v.Items, item)
		t := p.next()
		if t.is(")") {
			v.End = t.end
			return v, nil
		}
		if !t.is(",") {
			return v, p.f.Errorf(t.pos, `expected "," or ")" in c(...), found %s`, t)
		}
	}
}

// suggest names the nearest known name, or all of them.
func suggest(name string, known []string, all string) string {
	if best := spelling.Nearest(name, known); best != "" {
		return "; did you mean " + best + "?"
	}
	return "; " + all + " " + strings.Join(known, ", ")
}
