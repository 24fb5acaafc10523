package family

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/pho-go/pho/internal/base/spelling"
)

// Parse returns the family called name for a network with K = len(heads)
// predictors. heads[k] is the function that was taken off predictor k: "" for
// none, "sigmoid", "inv_cloglog", "softmax", "ordinal", "exp" or "softplus", or the last two with a
// number added, "softplus+0.1". A predictor without a head is taken to be on the family's link scale:
// the mean of a gaussian, the logarithm of its scale, log odds, the logarithm of a rate.
//
//	gaussian           K = 1 Gaussian, no head
//	                   K = 2 GaussianLS; the second head is none or exp, or softplus for SoftplusScale,
//	                   and a number added is its Floor
//	binomial           K = 1 Binomial; none or sigmoid, or inv_cloglog for its link cloglog
//	poisson            K = 1 Poisson; none or exp
//	gamma              K = 1 Gamma; none or exp
//	negative-binomial  K = 2 NegativeBinomial; none or exp
//	                   K = 1 the same with theta held
//	beta               K = 2 Beta; none or sigmoid, and none or exp
//	                   K = 1 the same with phi held
//	categorical        K classes, each with a predictor: softmax, logsoftmax or none of all;
//	                   K = 1 two classes: sigmoid or none; with link=identity K probabilities, no head
//	ordinal            K = 1 Ordinal, no head or ordinal; its thresholds are unknown
//	student-t          K = 3 StudentT; no head, and none or exp twice
//	                   K = 2, 1 the same with df, or sigma and df, held
//	tweedie            K = 1 Tweedie; none or exp
//	inverse-gaussian   K = 1 InverseGaussian; none or exp
//	zip                K = 2 ZIP; none or exp, and none or sigmoid
//	                   K = 1 the same with pi held
//	lognormal, weibull, log-logistic
//	                   K = 2 AFT; none or exp, twice
//	                   K = 1 the same with sigma, or scale, held
//	cox                K = 1 Cox; none or exp
//
// What is held may be given: negative-binomial(theta=2), beta(phi=30),
// student-t(df=4), student-t(sigma=0.5,df=4), tweedie(p=1.5), zip(pi=0.3),
// lognormal(sigma=1), weibull(scale=0.7), and how many intervals the baseline has,
// cox(intervals=10); and the link of binomial(link=cloglog) and categorical(link=identity). Without a number it is unknown (see Incomplete).
//
// Errors: an unknown name (with the nearest known one), another K, a head that
// is not the inverse of the family's link, a parameter that is unknown, not
// positive, or a predictor of the network.
func Parse(name string, heads []string) (Family, error) {
	k := len(heads)
	var f Family
	takes := ""
	name, given, err := arguments(name)
	switch {
	case err != nil:
		return nil, err
	case !slices.Contains(Names(), name):
		return nil, unknown(name)
	}
	switch name {
	case "gaussian":
		f, takes = Gaussian{}, "1 (the mean) or 2 (the mean and the scale)"
		if k == 2 {
			f = scaled(linkOfHead(heads[1]))
		}
	case "binomial":
		if f, err = linked(given, heads); err != nil {
			return nil, err
		}
		given, takes = nil, "1 (the log odds)"
	case "poisson":
		f, takes = Poisson{}, "1 (the logarithm of the mean)"
	case "gamma":
		f, takes = Gamma{}, "1 (the logarithm of the mean)"
	case "negative-binomial":
		f, takes = NegativeBinomial{}, "1 (the logarithm of the mean) or 2 (and that of theta)"
	case "beta":
		f, takes = Beta{}, "1 (the log odds of the mean) or 2 (and the logarithm of phi)"
	case "ordinal":
		f, takes = Ordinal{}, "1 (of cumulative logits)"
	case "categorical":
		return categorical(heads, given)
	case "student-t":
		f, takes = StudentT{}, "1 (the location), 2 (and the logarithm of the scale) or 3 (and that of df)"
	case "tweedie":
		if f, err = powered(given); err != nil {
			return nil, err
		}
		given, takes = nil, "1 (the logarithm of the mean)"
	case "inverse-gaussian":
		f, takes = InverseGaussian{}, "1 (the logarithm of the mean)"
	case "zip":
		f, takes = ZIP{}, "1 (the logarithm of Poisson's mean) or 2 (and the log odds of a zero beside it)"
	case "lognormal", "weibull", "log-logistic":
		d := []TimeDistribution{LogNormal, Weibull, LogLogistic}[slices.Index([]string{"lognormal", "weibull", "log-logistic"}, name)]
		f, takes = AFT{Distribution: d}, "1 (the location of log y) or 2 (and the logarithm of its scale)"
	case "cox":
		if f, err = divided(given); err != nil {
			return nil, err
		}
		given, takes = nil, "1 (the logarithm of the hazard ratio)"
	}
	shaped, ok := f.(Shaped)
	if ok && k > 0 && k < f.Predictors() {
		if f, err = hold(shaped, k, given); err != nil {
			return nil, err
		}
	} else if len(given) > 0 {
		return nil, notHeld(name, shaped, given)
	}
	if k != f.Predictors() {
		return nil, fmt.Errorf("family %s takes %s, but the model has %d predictors", name, takes, k)
	}
	for i, h := range heads {
		same := h
		if l := linkOfHead(h); l.Name != "" {
			same = l.Head() // its numbers as we write them
		}
		if fits := fitting(f, i); !slices.Contains(fits, same) {
			return nil, fmt.Errorf("family %s: predictor %d of the model ends in %q, which is not the inverse of the family's link: want %s", name, i+1, h, describe(fits))
		}
	}
	return f, nil
}

// fitting are the heads that fit predictor k: none, and the inverse of the link.
func fitting(f Family, k int) []string {
	l := f.Link(k)
	fits := []string{"", l.Head()}
	switch {
	case f == GaussianLS{} && k == 1: // whose other scales are families of their own
		fits = append(fits, "softplus")
	case l.Name == "identity of log time": // of which the exponential is the time
		fits[1] = "exp"
	}
	return slices.Compact(fits)
}

// scaled is the gaussian family whose second predictor has that link; of another one than
// those of a scale, the family of a logarithm.
func scaled(l Link) Family {
	switch {
	case l == Link{Name: "log", Shift: l.Shift}:
		return GaussianLS{Floor: l.Shift}
	case l == Link{Name: "softplus", Shift: l.Shift}:
		return GaussianLS{SoftplusScale, l.Shift}
	}
	return GaussianLS{}
}

// linked is Binomial with the link that is given, or that the head of one predictor is.
func linked(given []argument, heads []string) (Family, error) {
	link := ""
	if len(heads) == 1 {
		link = linkOfHead(heads[0]).Name
	}
	for _, a := range given {
		switch {
		case a.name != "link":
			return nil, fmt.Errorf("family binomial has no parameter %q: it has link, as in binomial(link=cloglog)", a.name)
		case !slices.Contains(binomialLinks(), a.word):
			return nil, fmt.Errorf("family binomial: the link is %q: it is %s", a.word, strings.Join(binomialLinks(), " or "))
		}
		link = a.word
	}
	if link == "logit" || !slices.Contains(binomialLinks(), link) {
		link = ""
	}
	return Binomial{By: link}, nil
}

// categorical has a class for each predictor, or two for one.
func categorical(heads []string, given []argument) (Family, error) {
	if len(given) == 1 && given[0].name == "link" && given[0].word == "identity" {
		i := slices.IndexFunc(heads, func(h string) bool { return h != "" })
		switch {
		case len(heads) < 2:
			return nil, fmt.Errorf("family categorical: with the link identity it takes the probabilities of two classes or more, but the model has %d predictors", len(heads))
		case i >= 0:
			return nil, fmt.Errorf("family categorical: predictor %d of the model ends in %q, and with the link identity the predictors are the probabilities of the classes", i+1, heads[i])
		}
		return categoricalProbabilities(len(heads))
	}
	if len(given) > 0 {
		return nil, notHeld("categorical", nil, given)
	}
	fits := []string{"", "softmax", "logsoftmax"}
	classes, reference := len(heads), -1
	if len(heads) == 1 {
		fits, classes, reference = []string{"", "sigmoid", "softmax", "logsoftmax"}, 2, 0
	}
	for i, h := range heads {
		if !slices.Contains(fits, h) || h != heads[0] {
			return nil, fmt.Errorf("family categorical: predictor %d of the model ends in %q: want %s, the same for all classes", i+1, h, describe(fits))
		}
	}
	return NewCategorical(classes, reference)
}

// argument is a parameter with its number, as in df=4, or a word, as in link=cloglog.
type argument struct {
	name  string
	value float64
	word  string
}

// arguments takes name(a=1,b=2) apart.
func arguments(text string) (name string, given []argument, err error) {
	name, rest, ok := strings.Cut(text, "(")
	if !ok {
		return text, nil, nil
	}
	inside, ok := strings.CutSuffix(rest, ")")
	if !ok {
		return name, nil, fmt.Errorf("family %q: the parenthesis is not closed", text)
	}
	for _, part := range strings.Split(inside, ",") {
		key, number, ok := strings.Cut(part, "=")
		if key = strings.TrimSpace(key); key == "link" {
			given = append(given, argument{name: key, word: strings.TrimSpace(number)})
			continue
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if !ok || err != nil || !(v > 0) || math.IsInf(v, 1) {
			return name, nil, fmt.Errorf("family %q: %q is not a parameter with a positive number, as in negative-binomial(theta=2)", text, strings.TrimSpace(part))
		}
		given = append(given, argument{name: key, value: v})
	}
	return name, given, nil
}

// powered is Tweedie with the power that is given.
func powered(given []argument) (Family, error) {
	var f Tweedie
	for _, a := range given {
		switch {
		case a.name != "p":
			return nil, fmt.Errorf("family tweedie has no parameter %q: it has p, as in tweedie(p=1.5)", a.name)
		case !(a.value > 1 && a.value < 2):
			return nil, fmt.Errorf("family tweedie: p is %g: it is a number between 1 and 2, both excluded; 1 is poisson, 2 gamma, 3 inverse-gaussian", a.value)
		}
		f.P = a.value
	}
	return f, nil
}

// divided is Cox with the number of intervals that is given.
func divided(given []argument) (Family, error) {
	const most = 1000
	var f Cox
	for _, a := range given {
		switch {
		case a.name != "intervals":
			return nil, fmt.Errorf("family cox has no parameter %q: it has intervals, as in cox(intervals=10)", a.name)
		case a.value != math.Trunc(a.value) || a.value > most:
			return nil, fmt.Errorf("family cox: intervals is %g: it is a whole number from 1 to %d", a.value, most)
		}
		f.Intervals = int(a.value)
	}
	return f, nil
}

// hold holds what is not among the k predictors.
func hold(f Shaped, k int, given []argument) (Family, error) {
	names := f.Parameters()[k:]
	values := make([]float64, len(names))
	for i := range values {
		values[i] = math.NaN()
	}
	for _, a := range given {
		i := slices.Index(names, a.name)
		if i < 0 {
			return nil, notHeld(f.Name(), f, []argument{a})
		}
		values[i] = a.value
	}
	return Hold(f, values...)
}

// notHeld is the error for numbers that the family cannot take.
func notHeld(name string, f Shaped, given []argument) error {
	switch {
	case f == nil:
		return fmt.Errorf("family %s has no parameter %q: it has none", name, given[0].name)
	case slices.Contains(f.Parameters(), given[0].name):
		return fmt.Errorf("family %s: %s is a predictor of the model, so no number can be given for it", name, given[0].name)
	}
	return fmt.Errorf("family %s has no parameter %q: it has %s, as in %s", name, given[0].name, strings.Join(f.Parameters()[1:], " and "), example(f))
}

// example is the family's name with a number.
func example(f Shaped) string {
	names := f.Parameters()
	number := "=4)"
	if names[len(names)-1] == proportion {
		number = "=0.3)"
	}
	return f.Name() + "(" + names[len(names)-1] + number
}

// describe lists heads as words.
func describe(heads []string) string {
	words := make([]string, len(heads))
	for i, h := range heads {
		words[i] = h
		if h == "" {
			words[i] = "no head"
		}
	}
	return strings.Join(words, " or ")
}

// Names are the families that Parse knows.
func Names() []string {
	return []string{"gaussian", "binomial", "poisson", "negative-binomial", "gamma", "beta", "student-t", "categorical", "ordinal", "tweedie", "inverse-gaussian", "zip", "lognormal", "weibull", "log-logistic", "cox"}
}

// unknown is the error for a name that Parse does not know.
func unknown(name string) error {
	known := Names()
	best, distance := "", len(name)/2+1 // further apart it is no misspelling
	for _, k := range known {
		d := spelling.Distance(name, k)
		if len(name) > 2 && strings.HasPrefix(k, strings.ToLower(name)) {
			d = 0 // an abbreviation
		}
		if d < distance {
			best, distance = k, d
		}
	}
	switch strings.ToLower(name) { // other words for the same
	case "normal":
		best = "gaussian"
	case "bernoulli", "logistic", "logit":
		best = "binomial"
	case "nb", "nb2", "negbin", "negbinomial":
		best = "negative-binomial"
	case "multinomial", "multinom", "softmax", "multiclass":
		best = "categorical"
	case "ocat", "polr", "cumulative":
		best = "ordinal"
	case "t", "scat":
		best = "student-t"
	case "betar":
		best = "beta"
	case "tw", "compound-poisson":
		best = "tweedie"
	case "ig", "invgauss", "wald", "inverse.gaussian":
		best = "inverse-gaussian"
	case "zero-inflated-poisson", "zeroinfl":
		best = "zip"
	case "log-normal", "lnorm":
		best = "lognormal"
	case "aft", "survreg", "exponential":
		best = "weibull"
	case "loglogistic":
		best = "log-logistic"
	case "coxph", "proportional-hazards", "survival":
		best = "cox"
	}
	if best != "" {
		return fmt.Errorf("unknown family %q: did you mean %s? (known: %s)", name, best, strings.Join(known, ", "))
	}
	return fmt.Errorf("unknown family %q (known: %s)", name, strings.Join(known, ", "))
}

// Suggested is the name of the family that the head of a single predictor suggests:
// binomial for those of its links, poisson for "exp", ordinal for "ordinal", else gaussian; several of a softmax are
// categorical, others gaussian.
func Suggested(heads []string) string {
	if len(heads) == 1 {
		if slices.Contains(binomialLinks(), linkOfHead(heads[0]).Name) {
			return "binomial"
		}
		switch heads[0] {
		case "ordinal":
			return "ordinal"
		case "exp":
			return "poisson"
		}
	}
	if len(heads) > 1 && (heads[0] == "softmax" || heads[0] == "logsoftmax") && len(slices.Compact(slices.Clone(heads))) == 1 {
		return "categorical"
	}
	return "gaussian"
}
