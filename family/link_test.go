package family

import (
	"math"
	"slices"
	"testing"
)

// etas are predictors between the tails and far into them.
var etas = []float64{-700, -40, -20, -5, -1.3, -0.2, 0, 0.4, 1, 2.5, 3.5, 20, 40, 700}

// TestLinks: the inverse undoes the link, the slope is the inverse's, and both keep their
// digits in the tails.
func TestLinks(t *testing.T) {
	for _, name := range LinkNames() {
		for _, l := range []Link{{Name: name}, {Name: name, Beta: 2, Shift: 0.25}, {Name: name, Scale: 3, Shift: -1}} {
			if !l.Known() {
				if !math.IsNaN(l.Inverse(0)) || !math.IsNaN(l.Predictor(0)) || !math.IsNaN(l.Slope(0)) {
					t.Errorf("%s: a function of several numbers has values", l)
				}
				continue
			}
			for _, eta := range etas {
				theta, slope := l.Inverse(eta), l.Slope(eta)
				if math.IsNaN(theta) || !(slope >= 0) {
					t.Errorf("%s at %v: %v with slope %v", l, eta, theta, slope)
				}
				const h = 1e-6
				if got := (l.Inverse(eta+h) - l.Inverse(eta-h)) / (2 * h); math.Abs(eta) <= 5 && math.Abs(got-slope) > 1e-8*(1+math.Abs(theta)) {
					t.Errorf("%s at %v: slope %v, differences say %v", l, eta, slope, got)
				}
				if back := l.Predictor(theta); slope > 1e-3 && math.Abs(eta) <= 5 && math.Abs(back-eta) > 1e-9*(1+math.Abs(eta)) {
					t.Errorf("%s at %v: the way back of %v is %v", l, eta, theta, back)
				}
			}
		}
	}
	for _, c := range []struct {
		what      string
		got, want float64
	}{
		{"logit slope at -40", Link{Name: "logit"}.Slope(-40), math.Exp(-40)},
		{"logit slope at 40", Link{Name: "logit"}.Slope(40), math.Exp(-40)},
		{"logit slope at 700", Link{Name: "logit"}.Slope(700), math.Exp(-700)},
		{"cloglog at -700", Link{Name: "cloglog"}.Inverse(-700), math.Exp(-700)},
		{"cloglog slope at -700", Link{Name: "cloglog"}.Slope(-700), math.Exp(-700)},
		{"cloglog slope at 6.5", Link{Name: "cloglog"}.Slope(6.5), math.Exp(6.5 - math.Exp(6.5))},
		{"cloglog slope at 800", Link{Name: "cloglog"}.Slope(800), 0},
		{"cloglog of 1e-300", Link{Name: "cloglog"}.Predictor(1e-300), math.Log(1e-300)},
		{"softplus at -700", Link{Name: "softplus"}.Inverse(-700), math.Exp(-700)},
		{"softplus at 800", Link{Name: "softplus"}.Inverse(800), 800},
		{"softplus of 800", Link{Name: "softplus"}.Predictor(800), 800},
		{"softplus of 1e-300", Link{Name: "softplus"}.Predictor(1e-300), math.Log(1e-300)},
		{"softplus, sharper, at 0.5", Link{Name: "softplus", Beta: 2, Shift: 0.1}.Inverse(0.5), math.Log(1+math.E)/2 + 0.1},
	} {
		if !near(c.got, c.want, 1e-13) && math.Abs(c.got-c.want) > 1e-13*c.want {
			t.Errorf("%s: %v, want %v", c.what, c.got, c.want)
		}
	}
}

// TestFamiliesStateLinks: each family has a known name for every predictor, and where the
// link gives the mean it is that of the family.
func TestFamiliesStateLinks(t *testing.T) {
	three, err := NewCategorical(3, -1)
	if err != nil {
		t.Fatal(err)
	}
	two, err := NewCategorical(2, 0)
	if err != nil {
		t.Fatal(err)
	}
	families := []Family{three, two, Ordinal{}}
	for _, e := range differentiable() {
		families = append(families, e.f)
	}
	for _, f := range families {
		for k := range f.Predictors() {
			if l := f.Link(k); !slices.Contains(LinkNames(), l.Name) {
				t.Errorf("%s: predictor %d has the link %q", f.Name(), k, l.Name)
			}
		}
		l := f.Link(0)
		_, zeros := f.(ZIP)
		if h, ok := f.(Held); ok {
			_, zeros = h.Of().(ZIP)
		}
		if l.Of != Mean && l.Of != Probability || zeros { // whose link is of Poisson's mean
			continue
		}
		for _, eta := range []float64{-3, -0.2, 0.7, 2} {
			at := append([]float64{eta}, 0.3, 1.5)[:f.Predictors()]
			if got, want := l.Inverse(eta), f.Mean(at); !near(got, want, 1e-14) {
				t.Errorf("%s: the link gives %v at %v, the mean is %v", f.Name(), got, eta, want)
			}
		}
	}
}

// TestEnding: what a network ends in, under the family's name for it.
func TestEnding(t *testing.T) {
	softmax, err := NewCategorical(3, -1)
	if err != nil {
		t.Fatal(err)
	}
	two, err := NewCategorical(2, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		own  Link
		head string
		want Link
	}{
		{Link{}, "", Link{}},
		{Link{}, "exp", Link{Name: "log"}},
		{Link{}, "sigmoid", Link{Name: "logit", Of: Probability}},
		{Link{}, "softplus+0.1", Link{Name: "softplus", Shift: 0.1}},
		{Link{}, "softplus(beta=2)+1e-05", Link{Name: "softplus", Shift: 1e-5, Beta: 2}},
		{Link{}, "logsoftmax", Link{Name: "multinomial logit", Of: ClassProbability}},
		{Link{}, "ordinal", Link{Name: "cumulative logit"}},
		{Link{}, "softplus(beta=x)", Link{}},
		{Link{}, "softplus+NaN", Link{}},
		{Link{}, "relu", Link{}},
		{Poisson{}.Link(0), "", Link{Name: "log", Of: Mean}},
		{Poisson{}.Link(0), "exp", Link{Name: "log", Of: Mean}},
		{Cox{}.Link(0), "exp", Link{Name: "log hazard ratio", Of: HazardRatio}},
		{Beta{}.Link(0), "sigmoid", Link{Name: "logit", Of: Mean}},
		{AFT{}.Link(0), "", Link{Name: "identity of log time"}},
		{AFT{}.Link(0), "exp", Link{Name: "log"}},
		{Ordinal{}.Link(0), "ordinal", Link{Name: "cumulative logit"}},
		{softmax.Link(1), "softmax", Link{Name: "multinomial logit", Of: ClassProbability}},
		{two.Link(0), "softmax", Link{Name: "logit", Of: ClassProbability}},
		{Gaussian{}.Link(0), "relu", Link{}},
	} {
		if got := c.own.Ending(c.head); got != c.want {
			t.Errorf("%v that ends in %q is %+v, want %+v", c.own, c.head, got, c.want)
		}
	}
	for head, want := range map[string]string{"exp": "log", "softplus(beta=2)+0.1": "softplus(beta=2)+0.1", "inv_cloglog": "cloglog"} {
		l := linkOfHead(head)
		if l.String() != want || l.Head() != head {
			t.Errorf("head %q is link %q with head %q", head, l, l.Head())
		}
	}
	if got := (Link{Name: "log", Scale: 2, Shift: -1}).String(); got != "2*log-1" {
		t.Error(got)
	}
}
