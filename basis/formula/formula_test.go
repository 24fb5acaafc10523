package formula

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// seeds are formulas that parse, with their canonical spelling.
var seeds = []struct{ text, want string }{
	{"~ 1", "~ 1"},
	{"~0", "~ 0"},
	{"~ -1", "~ 0"},
	{"~ - 0", "~ 1"},
	{"y~x", "y ~ x"},
	{" y ~ x1+x2 - 1 ", "y ~ x1 + x2 - 1"},
	{"~ x + 0", "~ x - 1"},
	{"~ 0 + x + 1", "~ x"},
	{"sigma=~ x", "sigma = ~ x"},
	{"mu = y ~ s(x)", "mu = y ~ s(x)"},
	{"~ + x", "~ x"},
	{"~ s(x2,k=20,bs='ps')", `~ s(x2, k = 20, bs = "ps")`},
	{"~ te(lon,lat,k=c(5,5), bs=c('cr',\"ps\"), fx=TRUE)", `~ te(lon, lat, k = c(5, 5), bs = c("cr", "ps"), fx = TRUE)`},
	{"~ ti(a,b) + t2(a,b, id=FALSE)", "~ ti(a, b) + t2(a, b, id = FALSE)"},
	{"~ s(hour, bs=\"cc\", period=c(0,24)) + s(id, bs=\"re\")", `~ s(hour, bs = "cc", period = c(0, 24)) + s(id, bs = "re")`},
	{"~ s(x, by=group, sp=-1) + origin:dest + factor(dow)", "~ s(x, by = group, sp = -1) + origin:dest + factor(dow)"},
	{"~ s(x):factor(g):`2z`", "~ s(x):factor(g):`2z`"},
	{"~ `wind speed`:`a\\`b\\\\` + `TRUE`", "~ `wind speed`:`a\\`b\\\\` + `TRUE`"},
	{"~ größe + x.1 + .y + _z", "~ größe + x.1 + .y + _z"},
	{"~ c + s + factor(te)", "~ c + s + factor(te)"},
	{"~ s(x, sp = +.5e-3, id='a\"b')", `~ s(x, sp = 0.0005, id = "a\"b")`},
	{"~ s(x, sp=-0)", "~ s(x, sp = 0)"},
	{"~ s(x, sp=1e300, pc=c(-1, 2.50))", "~ s(x, sp = 1e+300, pc = c(-1, 2.5))"},
	{"~\n x +\n\tz", "~ x + z"},
	{"~ s(x,by=ordered(g)) + s(x, by=factor(`a b`))", "~ s(x, by = ordered(g)) + s(x, by = factor(`a b`))"},
	{"~ factor(g, contr='sum') + te(x,z,d=c(1,1),np=FALSE)", `~ factor(g, contr = "sum") + te(x, z, d = c(1, 1), np = FALSE)`},
	{"`a b` ~ `1x`", "`a b` ~ `1x`"},
	{"Surv(time,status)~x", "Surv(time, status) ~ x"},
	{"mu = Surv(`a b`, e) ~ 1", "mu = Surv(`a b`, e) ~ 1"},
	{"Surv ~ x", "Surv ~ x"},
}

func TestParseCanonical(t *testing.T) {
	for _, c := range seeds {
		f, err := Parse(c.text)
		if err != nil {
			t.Errorf("Parse(%q): %v", c.text, err)
			continue
		}
		if got := f.String(); got != c.want {
			t.Errorf("Parse(%q).String() = %q, want %q", c.text, got, c.want)
		}
		again, err := Parse(c.want)
		if err != nil || !again.Equal(f) {
			t.Errorf("Parse(%q) is not equal to Parse(%q): %v", c.want, c.text, err)
		}
	}
}

// TestEqualTells: formulas of different canonical spelling are different.
func TestEqualTells(t *testing.T) {
	for _, a := range seeds {
		for _, b := range seeds {
			f, err := Parse(a.text)
			if err != nil {
				t.Fatal(err)
			}
			g, err := Parse(b.text)
			if err != nil {
				t.Fatal(err)
			}
			if f.Equal(g) != (a.want == b.want) {
				t.Errorf("Equal(%q, %q) = %v", a.text, b.text, f.Equal(g))
			}
		}
	}
}

func TestPositions(t *testing.T) {
	text := "sigma = y ~ größe + s(`a b`, k=c(5, -2), by=z):w"
	f, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	smooth := f.Summands[1].Calls[0]
	k := smooth.Args[0].Value
	for want, at := range map[string][2]int{
		"größe":                        {f.Summands[0].Pos, f.Summands[0].End},
		"s(`a b`, k=c(5, -2), by=z):w": {f.Summands[1].Pos, f.Summands[1].End},
		"s(`a b`, k=c(5, -2), by=z)":   {smooth.Pos, smooth.End},
		"`a b`":                        {smooth.Vars[0].Pos, smooth.Vars[0].End},
		"c(5, -2)":                     {k.Pos, k.End},
		"-2":                           {k.Items[1].Pos, k.Items[1].End},
		"by=z):w":                      {smooth.Args[1].Pos, len(text)},
		"y ~ größe + s(`a b`, k=c(5, -2), by=z)": {f.ResponsePos, smooth.End},
	} {
		if got := text[at[0]:at[1]]; got != want {
			t.Errorf("at %v stands %q, want %q", at, got, want)
		}
	}
}

func TestErrorShowsItsPlace(t *testing.T) {
	long := "~ " + strings.Repeat("größe + ", 40) + "§ + " + strings.Repeat("x + ", 40) + "x"
	for text, want := range map[string]string{
		"~ x +\n\ty $ z": "formula, line 2, character 4: expected \"+\" or the end, found \"$\"\n   y $ z\n     ^",
		long: "formula, character 323: '§' is not part of a formula; a column's name with such characters goes into backquotes\n" +
			"  ...e + " + strings.Repeat("größe + ", 7) + "§ + " + strings.Repeat("x + ", 14) + "...\n" +
			"  " + strings.Repeat(" ", 63) + "^",
		"Surv(a) ~ x":         "formula, character 7: Surv takes two columns here, \"Surv(time, event)\": the time, and 1 for an event or 0 for a censored time\n  Surv(a) ~ x\n        ^",
		"Surv(a, b, c) ~ x":   "formula, character 10: Surv takes two columns here, \"Surv(time, event)\": times are right censored, or not, and begin at 0\n  Surv(a, b, c) ~ x\n           ^",
		"Surv(a, a) ~ x":      "formula, character 9: \"a\" is the time; whether the event was seen then is another column\n  Surv(a, a) ~ x\n          ^",
		"Surv(a, b == 1) ~ x": "formula, character 11: expected a closing parenthesis here, found \"=\"\n  Surv(a, b == 1) ~ x\n            ^",
		"Surv(a, 1) ~ x":      "formula, character 9: expected a column here, found the number 1\n  Surv(a, 1) ~ x\n          ^",
		"`Surv`(a, b) ~ x":    "formula, character 1: the response must be a column as it is: add the column Surv(...) to the data and name that\n  `Surv`(a, b) ~ x\n  ^",
		"~ \x00":              "formula, character 3: '\\x00' is not part of a formula; a column's name with such characters goes into backquotes\n  ~ ?\n    ^",
		"~ `a\\b`":            "formula, character 5: a \\ may only stand before another \\ or the closing quote; write \\\\\n  ~ `a\\b`\n      ^",
		"~ `a\\":              "formula, character 5: a \\ may only stand before another \\ or the closing quote; write \\\\\n  ~ `a\\\n      ^",
		"~ 2x":                "formula, character 3: a number runs into a name here; a column whose name begins with a digit goes into backquotes\n  ~ 2x\n    ^",
		"sigma = x":           "formula, character 8: a formula needs a tilde, after the predictor's name too; write \"sigma = ~ ...\"\n  sigma = x\n         ^",
	} {
		_, err := Parse(text)
		if err == nil || err.Error() != want {
			t.Errorf("Parse(%q):\n%v\nwant\n%s", text, err, want)
		}
	}
	_, err := Parse("~ " + strings.Repeat("x", MaxLength))
	var e *Error
	if !errors.As(err, &e) || e.Pos != MaxLength || len(err.Error()) > 1000 {
		t.Errorf("too long: %v", err)
	}
}

// genName draws any non-empty UTF-8 name.
func genName() *rapid.Generator[string] {
	return rapid.OneOf(rapid.StringMatching(`[a-zäß._][a-zA-Z0-9._]{0,6}`), rapid.SampledFrom([]string{"TRUE", "FALSE", "c", "s", ".", ".1", "factor"}), rapid.StringN(1, 8, 40))
}

func genValue(vectors bool) *rapid.Generator[Value] {
	return rapid.Custom(func(t *rapid.T) Value {
		top := Identifier
		if vectors {
			top = Vector
		}
		v := Value{Kind: ValueKind(rapid.IntRange(0, int(top)).Draw(t, "kind"))}
		switch v.Kind {
		case Number:
			v.Number = rapid.Float64().Draw(t, "number") + 0
		case String:
			v.Text = rapid.String().Draw(t, "string")
		case Bool:
			v.Bool = rapid.Bool().Draw(t, "bool")
		case Identifier:
			v.Text = genName().Draw(t, "identifier")
		case Vector:
			v.Items = rapid.SliceOfN(genValue(false), 1, 4).Draw(t, "items")
		}
		return v
	})
}

func genCall() *rapid.Generator[Call] {
	return rapid.Custom(func(t *rapid.T) Call {
		c := Call{Func: rapid.SampledFrom(append(Functions(), "")).Draw(t, "function")}
		n := 1
		if c.Func == "onehot" {
			n = 2
		} else if c.Func != "" && c.Func != "factor" {
			n = rapid.IntRange(1, 3).Draw(t, "variables")
			for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom(Arguments()), 0, 4, rapid.ID).Draw(t, "arguments") {
				c.Args = append(c.Args, Arg{Name: name, Value: genValue(true).Draw(t, name)})
			}
		}
		for range n {
			c.Vars = append(c.Vars, Name{Text: genName().Draw(t, "name")})
		}
		return c
	})
}

// TestRoundTrip: whatever the tree, its spelling reads back as the same tree.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := &Formula{Intercept: rapid.Bool().Draw(t, "intercept")}
		if rapid.Bool().Draw(t, "has response") {
			f.Response = genName().Draw(t, "response")
			if e := genName().Draw(t, "event"); e != f.Response && rapid.Bool().Draw(t, "has event") {
				f.Event = e
			}
		}
		if rapid.Bool().Draw(t, "has predictor") {
			f.Predictor = genName().Draw(t, "predictor")
		}
		for range rapid.IntRange(0, 4).Draw(t, "terms") {
			f.Summands = append(f.Summands, Summand{Calls: rapid.SliceOfN(genCall(), 1, 3).Draw(t, "parts")})
		}
		if rapid.Bool().Draw(t, "others") {
			f.Others = &Others{}
			for range rapid.IntRange(0, 2).Draw(t, "without") {
				f.Others.Without = append(f.Others.Without, Name{Text: genName().Draw(t, "without")})
			}
		}
		g, err := Parse(f.String())
		if err != nil {
			t.Fatalf("%s\n%v", f, err)
		}
		if !g.Equal(f) {
			t.Fatalf("%s reads back as %s", f, g)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, s := range seeds {
		f.Add(s.text)
	}
	for _, s := range []string{"", "~", "~ s(x, k=", "~ `", "~ x:", "y ~ x ~", "~ 1e", "~ s(x, bs='a\\'b')", "~ \xff", "~ x\u0301"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		tree, err := Parse(text)
		if err != nil {
			if e := new(Error); !errors.As(err, &e) || e.Pos < 0 || e.Pos > len(text) || e.Error() == "" {
				t.Fatalf("%#v", err)
			}
			return
		}
		again, err := Parse(tree.String())
		if err != nil {
			t.Fatalf("Parse(%q) is read as %q, which is an error: %v", text, tree, err)
		}
		if !again.Equal(tree) || again.String() != tree.String() {
			t.Fatalf("Parse(%q) is read as %q, then as %q", text, tree, again)
		}
	})
}
