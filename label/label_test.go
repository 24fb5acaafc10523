package label

import (
	"math"
	"strings"
	"testing"
)

const bikes = `{
  "columns": {
    "hr": {"name": "Hour of day", "unit": "h"},
    "temp": {"name": "Temperature", "unit": "°C", "back_transform": {"scale": 41}},
    "income": {"name": "Income", "unit": "$", "back_transform": {"function": "exp", "scale": 0.5, "shift": 10}},
    "dow": {"name": "Day", "levels": {"0": "Sunday", "1": "Monday"}},
    "a": {"name": "Alpha"}, "b": {"unit": "m"},
    "yr_0": {"name": "2011"}, "yr_1": {"name": "2012"}
  },
  "predictors": {"eta": "Log rentals"},
  "terms": {"te(temp,hr)": "Weather and hour"}
}`

func read(t *testing.T, text string) *Labels {
	t.Helper()
	l, err := Read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestWhatThingsAreCalled(t *testing.T) {
	l := read(t, bikes)
	for got, want := range map[string]string{
		l.Feature("hr"): "Hour of day", l.Feature("hum"): "hum", l.Axis("temp"): "Temperature (°C)", l.Axis("b"): "b (m)", l.Axis("dow"): "Day",
		l.Level("dow", "1"): "Monday", l.Level("dow", "6"): "6", l.Level("temp", "0.5"): "20.5", l.Level("temp", "warm"): "warm",
		l.Value("dow", 1): "Monday", l.Value("hr", 17): "17 h", l.Value("temp", 0.24): "9.84 °C", l.Value("income", 0): "22030 $",
		l.Predictor("eta"): "Log rentals", l.Predictor("mu"): "mu",
		l.ValueText("dow", "1"): "Monday", l.ValueText("temp", "0.5"): "20.5 °C", l.ValueText("temp", "warm"): "warm", l.ValueText("", ""): "",
		l.LevelOf([]string{"yr_0", "yr_1"}, "yr_1"): "2012", l.LevelOf([]string{"dow", "hr"}, "1:7"): "Monday:7", l.LevelOf([]string{"yr_0", "yr_1"}, "(none)"): "(none)",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestTermsAreCalledByTheirColumns(t *testing.T) {
	l := read(t, bikes)
	for _, c := range []struct {
		term Term
		want string
	}{
		{Term{Name: "s(hr)", Features: []string{"hr"}}, "s(Hour of day)"},
		{Term{Name: "hr", Features: []string{"hr"}}, "Hour of day"},
		{Term{Name: "s(hum)", Features: []string{"hum"}}, "s(hum)"},
		{Term{Name: "ti(hum,wind)", Features: []string{"hum", "wind"}}, "ti(hum,wind)"},
		{Term{Name: "te(temp,hr)", Features: []string{"temp", "hr"}}, "Weather and hour"},
		{Term{Name: "ti(temp,hr)", Features: []string{"temp", "hr"}}, "ti(Temperature, Hour of day)"},
		{Term{Name: "a:b", Features: []string{"a", "b"}}, "Alpha:b"},
		{Term{Name: "factor(a):b", Features: []string{"a", "b"}}, "factor(Alpha):b"},
		{Term{Name: "s(temp):dow1", Features: []string{"temp", "dow"}, By: "dow", Level: "1"}, "s(Temperature):Day = Monday"},
		{Term{Name: "s(temp):hum3", Features: []string{"temp", "hum"}, By: "hum", Level: "3"}, "s(Temperature):hum3"},
		{Term{Name: "s(hum):a", Features: []string{"hum", "a"}, By: "a"}, "s(hum):Alpha"},
		{Term{Name: "onehot(yr_0..yr_1)", Features: []string{"yr_0", "yr_1"}}, "onehot(2011..2012)"},
		{Term{Name: "s(a)", Features: []string{"s(a)"}}, "s(a)"}, // a column of that name
		{Term{Name: "a + s(a)", Features: []string{"a"}}, "Alpha + s(Alpha)"},
	} {
		if got := l.Term(c.term); got != c.want {
			t.Errorf("%q: %q, want %q", c.term.Name, got, c.want)
		}
	}
}

// Labels that are not there say nothing.
func TestNothingIsCalledOtherwiseWithoutLabels(t *testing.T) {
	for _, l := range []*Labels{nil, {}, read(t, `{}`), read(t, `{"columns": {}}`)} {
		if !l.IsEmpty() || l.Check(Known{Columns: []string{}, Predictors: []string{}, Terms: []Term{}}) != nil {
			t.Errorf("%+v is not empty", l)
		}
		if l.Feature("x") != "x" || l.Axis("x") != "x" || l.Level("x", "1") != "1" || l.Shown("x", 2.5) != 2.5 || l.Value("x", 2.5) != "2.5" ||
			l.Predictor("eta") != "eta" || l.Term(Term{Name: "te(a,b)"}) != "te(a,b)" || l.Scale("x") != nil || l.Unit("x") != "" {
			t.Errorf("%+v changes names", l)
		}
	}
}

func TestBackTransforms(t *testing.T) {
	for _, b := range []*BackTransform{nil, {}, {Scale: 41}, {Shift: -3}, {Function: Linear, Scale: -2, Shift: 1}, {Function: Exp, Scale: 0.5, Shift: 10}, {Function: Exp10}, {Function: Expm1, Scale: 2}} {
		for _, v := range []float64{-1.5, 0, 0.25, 3} {
			if back := b.Value(b.Shown(v)); math.Abs(back-v) > 1e-12 {
				t.Errorf("%+v: %g is shown as %g, which is %g", b, v, b.Shown(v), back)
			}
		}
	}
	for _, c := range []struct {
		b       BackTransform
		v, want float64
	}{
		{BackTransform{Scale: 41}, 0.5, 20.5}, {BackTransform{Scale: 2, Shift: 1}, 3, 7}, {BackTransform{Function: Exp, Shift: 1}, -1, 1},
		{BackTransform{Function: Exp10, Scale: 2}, 1, 100}, {BackTransform{Function: Expm1}, 0, 0},
	} {
		if got := c.b.Shown(c.v); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%+v of %g: %g, want %g", c.b, c.v, got, c.want)
		}
	}
}

// Faults of a file are told together, each with its place.
func TestFaultsOfAFile(t *testing.T) {
	long := strings.Repeat("x", 61)
	for _, c := range []struct {
		text string
		want []string
	}{
		{``, []string{"line 1 is not JSON: it ends too early"}},
		{"{\n\"columns\": {\n", []string{"it ends too early"}},
		{"{\"columns\": {}\n,}", []string{"line 2 is not JSON"}},
		{`[]`, []string{"it must be an object, { ... }, not []"}},
		{`null`, []string{"it must be an object, { ... }, not null"}},
		{`{} {}`, []string{"more follows the closing bracket: {}"}},
		{"\xff", []string{"not UTF-8"}},
		{`{"colums": {}, "extra": 1}`, []string{`unknown field "colums"; did you mean "columns"?`, `unknown field "extra"; there are "columns", "predictors", "terms"`}},
		{`{"columns": {"a": {"nam": "A"}, "b": {"name": ""}, "c": {"name": " C"}, "d": {"name": "a\nb"}, "e": {"name": "` + long + `"}, "f": {"name": 3}}}`, []string{
			`column "a": unknown field "nam"; did you mean "name"?`, `column "b", name: the text is empty`, `column "c", name: " C" begins or ends with a space`,
			`column "d", name: "a\nb" has characters that do not print`, `column "e", name: "xxx`, `has 61 characters, and there is room for 60`, `column "f", name: it must be a text in quotes, not 3`}},
		{`{"columns": {"a": {"name": "A"}, "a": {"name": "B"}}}`, []string{`columns: "a" is there twice: keep one`}},
		{`{"columns": {"a": {"name": "A"}, "b": {"name": "A"}, "c": {"levels": {"1": "x", "2": "x"}}}, "terms": {"s(a)": "T", "s(b)": "T"}}`, []string{
			`columns "a" and "b" are both called "A"`, `levels of column "c" "1" and "2" are both called "x"`, `terms "s(a)" and "s(b)" are both called "T"`}},
		{`{"columns": {"a": {"back_transform": {"function": "sqrt", "scale": 0, "shift": "x", "mean": 1}}}}`, []string{
			`column "a", back_transform: function "sqrt": it is one of linear, exp, exp10, expm1, so that shown = function(scale * value + shift)`,
			`scale 0 would show all values as one`, `shift must be a number, not "x"`, `unknown field "mean"`}},
		{`{"columns": {"a": {"back_transform": null, "levels": [1]}}, "terms": {"s(x)": null}}`, []string{
			`column "a", back_transform: it must be an object`, `column "a", levels: it must be an object`, `terms, "s(x)": it must be a text in quotes, not null`}},
		{strings.Repeat(" ", MaxFile+1), []string{"more than 1048576 bytes"}},
	} {
		_, err := Read(strings.NewReader(c.text))
		if err == nil {
			t.Errorf("%.60s: no fault", c.text)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%.60s:\n%v\nlacks %q", c.text, err, want)
			}
		}
	}
	var many strings.Builder
	for i := range 1000 {
		many.WriteString(`"` + strings.Repeat("y", i+1) + `": 1,`)
	}
	if _, err := Read(strings.NewReader("{" + many.String() + `"z": 1}`)); err == nil || strings.Count(err.Error(), "\n") > maxFaults || !strings.Contains(err.Error(), "and 981 faults more") {
		t.Errorf("many faults: %v", err)
	}
}

func TestCheckRefusesWhatDoesNotExist(t *testing.T) {
	l := read(t, bikes)
	columns := []string{"hr", "temp", "income", "dow", "a", "b", "yr_0", "yr_1", "cnt"}
	terms := []Term{{Name: "te(temp,hr)", Features: []string{"temp", "hr"}}, {Name: "s(temp)", Features: []string{"temp"}}}
	if err := l.Check(Known{Columns: columns, Predictors: []string{"eta"}, Terms: terms}); err != nil {
		t.Error(err)
	}
	err := l.Check(Known{Columns: append([]string{"temperature", "hrs"}, columns[2:]...), Predictors: []string{"etha"}, Terms: []Term{{Name: "te(temp,hrs)", Features: []string{"temp", "hrs"}}}})
	for _, want := range []string{`there is no column "hr"; did you mean "hrs"?`, `there is no column "temp"`, `there is no predictor "eta"; did you mean "etha"?`, `there is no term "te(temp,hr)"; did you mean "te(temp,hrs)"?`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v\nlacks %q", err, want)
		}
	}
	// A result knows some of the data's columns.
	if err := l.Check(Known{Columns: []string{"hr", "temp"}, Part: true}); err != nil {
		t.Error(err)
	}
	if err := l.Check(Known{Columns: []string{"hr", "temp", "incom"}, Part: true}); err == nil || !strings.Contains(err.Error(), `there is no column "income"; did you mean "incom"?`) {
		t.Error(err)
	}
}

func TestCheckRefusesNamesThatOthersHave(t *testing.T) {
	for text, want := range map[string]string{
		`{"columns": {"a": {"name": "b"}}}`: `column "a" is called "b", which is another column`,
		`{"predictors": {"mu": "sigma"}}`:   `predictor "mu" is called "sigma", which is another predictor`,
		`{"terms": {"s(a)": "s(b)"}}`:       `terms "s(a)" and "s(b)" are both called "s(b)"`,
	} {
		known := Known{Columns: []string{"a", "b"}, Predictors: []string{"mu", "sigma"}, Terms: []Term{{Name: "s(a)", Features: []string{"a"}}, {Name: "s(b)", Features: []string{"b"}}}}
		if err := read(t, text).Check(known); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	swapped := `{"columns": {"a": {"name": "b"}, "b": {"name": "a"}}}`
	if err := read(t, swapped).Check(Known{Columns: []string{"a", "b"}}); err != nil {
		t.Errorf("names that are exchanged: %v", err)
	}
}

// What is read is safe to show, and reading it again gives the same.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{bikes, `{}`, `{"columns": {"a": {"levels": {"1": "x"}}}}`, `{"terms": {"s(x)": "S"}`, `{"columns":{"":{}}}`, "\xef\xbb\xbf{}", `{"columns":{"a":{"back_transform":{"scale":1e999}}}}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		l, err := Read(strings.NewReader(text))
		if err != nil {
			if l != nil || err.Error() == "" {
				t.Errorf("%v with %v", l, err)
			}
			return
		}
		for name, c := range l.Columns {
			if len([]rune(c.Name)) > maxName || strings.ContainsAny(c.Name+c.Unit, "\n\x1b") {
				t.Errorf("%q is called %q (%q)", name, c.Name, c.Unit)
			}
			if v := c.BackTransform.Shown(1); c.BackTransform.IsLinear() && (math.IsNaN(v)) {
				t.Errorf("%+v shows 1 as %g", c.BackTransform, v)
			}
			l.Term(Term{Name: "s(" + name + ")", Features: []string{name}})
		}
	})
}
