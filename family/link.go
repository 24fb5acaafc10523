package family

import (
	"cmp"
	"math"
	"strconv"
	"strings"
)

// Link says how a parameter theta of the response hangs on its predictor eta:
//
//	theta = Shift + Scale h(Beta eta)/Beta
//
// where h is the inverse of the function that Name names. The zero value: not known.
//
// A result holds the link of each predictor: the one that the network's head spells, else the
// family's. Whoever shows a response reads it there and knows neither heads nor families.
type Link struct {
	Name  string  `json:"name"`            // as R has it: see LinkNames
	Shift float64 `json:"shift,omitempty"` // added
	Scale float64 `json:"scale,omitempty"` // 0: 1
	Beta  float64 `json:"beta,omitempty"`  // how sharp a softplus is, log(1 + exp(Beta eta))/Beta; 0: 1
	// Of is what theta is; "": a parameter that has no further name.
	Of Quantity `json:"of,omitempty"`
}

// Quantity is what is predicted on the scale of the response.
type Quantity string

// The quantities: the first two are of the response, ClassProbability is of the class that
// the predictor is named after. Others name themselves.
const (
	Mean             Quantity = "mean"
	Probability      Quantity = "probability"
	ClassProbability Quantity = "probability of the class"
	HazardRatio      Quantity = "hazard ratio"
	ExtraZero        Quantity = "probability of a zero beside Poisson's"
)

// function is a link at Shift 0, Scale 1 and Beta 1.
type function struct {
	name string   // of the link
	head string   // of the inverse, as networks end in it; "": the identity
	of   Quantity // what a network gives that ends so, if nobody says more
	// link is g, inverse h and slope dh/deta; nil where h takes more than one number.
	link, inverse, slope func(float64) float64
}

// functions are all links. Of several with one head, it spells the first.
func functions() []function {
	return []function{
		{"identity", "", "", same, same, one},
		{"log", "exp", "", math.Log, math.Exp, math.Exp},
		{"logit", "sigmoid", Probability, logit, logistic, func(eta float64) float64 { return logistic(eta) * logistic(-eta) }},
		{"cloglog", "inv_cloglog", Probability, cloglog, cloglogInverse, cloglogSlope},
		{"softplus", "softplus", "", softplusLink, softplus, logistic},
		{"log hazard ratio", "exp", "", math.Log, math.Exp, math.Exp},
		{"identity of log time", "", "", same, same, one},
		{"cumulative logit", "ordinal", "", nil, nil, nil},
		{"multinomial logit", "softmax", ClassProbability, nil, nil, nil},
	}
}

func same(x float64) float64 { return x }

func one(float64) float64 { return 1 }

// softplusLink is log(exp(mu) - 1) without overflow.
func softplusLink(mu float64) float64 { return mu + math.Log(-math.Expm1(-mu)) }

// cloglog is log(-log(1 - p)).
func cloglog(p float64) float64 { return math.Log(-math.Log1p(-p)) }

// cloglogInverse is 1 - exp(-exp(eta)).
func cloglogInverse(eta float64) float64 { return -math.Expm1(-math.Exp(eta)) }

// cloglogSlope is exp(eta - exp(eta)).
func cloglogSlope(eta float64) float64 {
	if eta > 7 { // exp(-exp(7)) is 0
		return 0
	}
	return math.Exp(eta - math.Exp(eta))
}

// function is the link's; all nil of a name that is not known.
func (l Link) function() function {
	for _, f := range functions() {
		if f.name == l.Name {
			return f
		}
	}
	return function{}
}

// LinkNames are the names of all links.
func LinkNames() []string {
	var names []string
	for _, f := range functions() {
		names = append(names, f.name)
	}
	return names
}

// Known reports whether theta is a known function of eta alone: not of ordered classes, whose
// thresholds belong to it, nor of a softmax.
func (l Link) Known() bool { return l.function().inverse != nil }

// Identity reports whether theta is eta.
func (l Link) Identity() bool {
	return l.Known() && l.function().head == "" && l.Shift == 0 && cmp.Or(l.Scale, 1) == 1
}

// Function names the inverse, as networks end in it, without its numbers: "exp", "sigmoid",
// "softplus"; "" of the identity and of no name that is known.
func (l Link) Function() string { return l.function().head }

// Predictor is eta at theta, g((theta - Shift)/Scale): NaN where there is none, or it is not Known.
func (l Link) Predictor(theta float64) float64 {
	f, beta := l.function(), cmp.Or(l.Beta, 1)
	if f.link == nil {
		return math.NaN()
	}
	return f.link(beta*(theta-l.Shift)/cmp.Or(l.Scale, 1)) / beta
}

// Inverse is theta at eta: NaN if it is not Known.
func (l Link) Inverse(eta float64) float64 {
	f, beta := l.function(), cmp.Or(l.Beta, 1)
	if f.inverse == nil {
		return math.NaN()
	}
	return l.Shift + cmp.Or(l.Scale, 1)*f.inverse(beta*eta)/beta
}

// Slope is d theta/d eta: NaN if it is not Known.
func (l Link) Slope(eta float64) float64 {
	f := l.function()
	if f.slope == nil {
		return math.NaN()
	}
	return cmp.Or(l.Scale, 1) * f.slope(cmp.Or(l.Beta, 1)*eta)
}

// String is the name with what numbers there are: "softplus(beta=2)+0.1", "log". That of the
// function instead of the link's is the head of a network.
func (l Link) String() string { return l.spelled(l.Name) }

func (l Link) spelled(name string) string {
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	if cmp.Or(l.Scale, 1) != 1 {
		name = number(l.Scale) + "*" + name
	}
	if cmp.Or(l.Beta, 1) != 1 {
		name += "(beta=" + number(l.Beta) + ")"
	}
	switch {
	case l.Shift > 0:
		name += "+" + number(l.Shift)
	case l.Shift < 0:
		name += number(l.Shift)
	}
	return name
}

// Head is how a network spells the link: "sigmoid", "softplus+0.1"; "" for the identity.
func (l Link) Head() string { return l.spelled(l.Function()) }

// linkOfHead is the link of a predictor whose network ends in head: "" for the identity,
// "exp", "softplus(beta=2)+0.1". The zero value if no link is spelled like that.
func linkOfHead(head string) Link {
	var l Link
	number := func(text string) float64 { // 0: it is no positive number
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || !(v > 0) || math.IsInf(v, 1) {
			return 0
		}
		return v
	}
	name, shift, shifted := strings.Cut(head, "+")
	name, beta, sharp := strings.Cut(name, "(beta=")
	if shifted {
		l.Shift = number(shift)
	}
	if sharp {
		l.Beta = number(strings.TrimSuffix(beta, ")"))
	}
	if shifted && l.Shift == 0 || sharp && l.Beta == 0 {
		return Link{}
	}
	if name == "logsoftmax" {
		name = "softmax"
	}
	for _, f := range functions() {
		if f.head == name {
			l.Name, l.Of = f.name, f.of
			return l
		}
	}
	return Link{}
}

// Ending is the link of a predictor for which a family states l (zero: none does), in a network
// that ends in head: what the head spells, under the name that l has for it. l itself without
// a head, and for those of several numbers. The zero value: not known.
func (l Link) Ending(head string) Link {
	spelled := linkOfHead(head)
	if head == "" || l.Name != "" && spelled.Name != "" && (!spelled.Known() || spelled.Head() == l.Head()) {
		return l
	}
	return spelled
}
