package report

import (
	"math"
	"strings"
	"testing"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/family"
)

// TestResponseOf: the head decides, else the family; what is no function of one number, or
// the identity, has no scale of the response.
func TestResponseOf(t *testing.T) {
	for _, c := range []struct {
		head, family string
		k            int
		want         string // function, name
		at           float64
		value        float64
	}{
		{"exp", "poisson", 0, "exp mean of y", 2, math.Exp(2)},
		{"", "poisson", 0, "exp mean of y", 2, math.Exp(2)},
		{"", "negative-binomial(theta=2)", 0, "exp mean of y", 0, 1},
		{"sigmoid", "binomial", 0, "sigmoid probability of y", 1, 1 / (1 + math.Exp(-1))},
		{"inv_cloglog", "binomial", 0, "inv_cloglog probability of y", -2, -math.Expm1(-math.Exp(-2))},
		{"sigmoid", "", 0, "sigmoid probability", -800, 0},
		{"sigmoid", "categorical", 0, "sigmoid probability of p0", 0, 0.5},
		{"exp", "weibull", 0, "exp exp of p0", 1, math.E},
		{"softplus+0.1", "gaussian", 1, "softplus softplus of p1", 800, 800.1},
		{"softplus(beta=2)", "", 0, "softplus softplus of p0", 0.5, math.Log(1+math.E) / 2},
		{"", "cox", 0, "exp hazard ratio", 0, 1},
		{"", "zip", 1, "sigmoid probability of a zero beside Poisson's", 0, 0.5},
		{"", "gaussian", 0, "", 0, 0},
		{"ordinal", "ordinal", 0, "", 0, 0},
		{"", "lognormal", 0, "", 0, 0},
		{"softplus(beta=x)", "", 0, "", 0, 0},
		{"softmax", "", 0, "", 0, 0}, // of no set of classes
	} {
		r := &decompose.Result{Family: c.family, Predictors: []decompose.Predictor{{Name: "p0"}, {Name: "p1"}}}
		if c.family != "" {
			r.Response = "y"
		}
		heads := make([]string, 2)
		heads[c.k] = c.head
		for n := len(heads); n > c.k; n-- { // as many predictors as the family has
			if f, err := family.Parse(c.family, heads[:n]); err == nil {
				l := f.Link(c.k)
				r.Predictors[c.k].Link = &l
			}
		}
		r.SetHeads(heads)
		s := responseOf(r, c.k)
		if s == nil {
			if c.want != "" {
				t.Errorf("%q of %q: nothing, want %s", c.head, c.family, c.want)
			}
			continue
		}
		if got := s.Function + " " + s.Name; got != c.want {
			t.Errorf("%q of %q: %q, want %q", c.head, c.family, got, c.want)
		}
		row := decompose.Example{Parts: []decompose.ExampleParts{{Eta: c.at}, {Eta: c.at}}}
		if got := s.of(row, c.k); !(math.Abs(got-c.value) <= 1e-12*math.Max(1, c.value)) {
			t.Errorf("%q at %v: %v, want %v", c.head, c.at, got, c.value)
		}
	}
}

// TestInversesOnPage: the page's script computes every link that is a function of one number.
func TestInversesOnPage(t *testing.T) {
	text, err := scripts.ReadFile("script/response.js")
	must(t, err)
	table, _, _ := strings.Cut(string(text), "};")
	for _, name := range family.LinkNames() {
		if l := (family.Link{Name: name}); l.Known() && !l.Identity() && !strings.Contains(table, "\n  "+l.Function()+": ") {
			t.Errorf("link %s: no function %q in the table of script/response.js", name, l.Function())
		}
	}
}

// TestSoftmaxOf: centred classes and differences to one give the same probabilities.
func TestSoftmaxOf(t *testing.T) {
	at := []float64{1, 2, 0.5}
	sum := 0.0
	for _, v := range at {
		sum += math.Exp(v)
	}
	for _, reference := range []string{"", "c"} {
		r := &decompose.Result{Predictors: []decompose.Predictor{{Name: "a"}, {Name: "b"}, {Name: "c"}}, Sets: []decompose.PredictorSet{{Predictors: []string{"a", "b", "c"}, Uniqueness: decompose.ClassContrast(reference)}}}
		row := decompose.Example{}
		for _, v := range at {
			if reference != "" {
				v -= at[2]
			} else {
				v -= (at[0] + at[1] + at[2]) / 3
			}
			row.Parts = append(row.Parts, decompose.ExampleParts{Eta: v})
		}
		if reference != "" {
			r.Predictors, row.Parts, r.Sets[0].Predictors = r.Predictors[:2], row.Parts[:2], []string{"a", "b"}
		}
		for k := range r.Predictors {
			s := responseOf(r, k)
			if s == nil || s.Name != "probability of "+r.Predictors[k].Name {
				t.Fatalf("reference %q: %+v", reference, s)
			}
			if got, want := s.of(row, k), math.Exp(at[k])/sum; math.Abs(got-want) > 1e-15 {
				t.Errorf("reference %q: class %d has %v, want %v", reference, k, got, want)
			}
		}
	}
}

// TestRounded: all points of a curve are equally fine, and numbers are JSON.
func TestRounded(t *testing.T) {
	for _, c := range []struct {
		v, unit float64
		want    string
	}{
		{123.456789, 200, "123.457"}, {0.000123456, 200, "0"}, {-0.0001, 200, "0"}, {1.5, 2, "1.5"}, {math.NaN(), 1, "null"}, {math.Inf(1), 0, "null"},
		{1.23456789, 0, "1.23457"}, {1e300, 1e300, "1e+300"}, {3e-20, 1e-20, "3e-20"}, {0, 0, "0"}, {-1234567.8, 1e7, "-1.23457e+06"},
	} {
		if got := rounded(c.v, c.unit); string(got) != c.want {
			t.Errorf("%v of size %v is %s, want %s", c.v, c.unit, got, c.want)
		}
	}
}
