package family

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pho-go/pho/internal/spelling"
)

// Parse returns the family called name for a network with K = len(heads)
// predictors. heads[k] is the function that was taken off predictor k: "" for
// none, "sigmoid", "softmax", "exp" or "softplus". A predictor without a head is
// taken to be on the family's link scale: the mean of a gaussian, the logarithm
// of its scale, log odds, the logarithm of a rate.
//
//	gaussian  K = 1   Gaussian, no head
//	gaussian  K = 2   GaussianLS; the second head is none or exp, or softplus for SoftplusScale
//	binomial  K = 1   Binomial; none or sigmoid
//	poisson   K = 1   Poisson; none or exp
//	gamma     K = 1   Gamma; none or exp
//
// Errors: an unknown name (with the nearest known one), another K, a head that
// is not the inverse of the family's link.
func Parse(name string, heads []string) (Family, error) {
	k := len(heads)
	var f Family
	var fits [][]string // heads that fit predictor k
	takes := ""
	switch name {
	case "gaussian":
		f, fits, takes = Gaussian{}, [][]string{{""}}, "1 (the mean) or 2 (the mean and the scale)"
		if k == 2 {
			f, fits = GaussianLS{}, [][]string{{""}, {"", "exp", "softplus"}}
			if heads[1] == "softplus" {
				f = GaussianLS{Scale: SoftplusScale}
			}
		}
	case "binomial":
		f, fits, takes = Binomial{}, [][]string{{"", "sigmoid"}}, "1 (the log odds)"
	case "poisson":
		f, fits, takes = Poisson{}, [][]string{{"", "exp"}}, "1 (the logarithm of the mean)"
	case "gamma":
		f, fits, takes = Gamma{}, [][]string{{"", "exp"}}, "1 (the logarithm of the mean)"
	default:
		return nil, unknown(name)
	}
	if k != len(fits) {
		return nil, fmt.Errorf("family %s takes %s, but the network has %d predictors", name, takes, k)
	}
	for i, h := range heads {
		if !slices.Contains(fits[i], h) {
			return nil, fmt.Errorf("family %s: predictor %d of the network ends in %q, which is not the inverse of the family's link: want %s", name, i+1, h, describe(fits[i]))
		}
	}
	return f, nil
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

// unknown is the error for a name that Parse does not know.
func unknown(name string) error {
	known := []string{"gaussian", "binomial", "poisson", "gamma"}
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
	}
	if best != "" {
		return fmt.Errorf("unknown family %q: did you mean %s? (known: %s)", name, best, strings.Join(known, ", "))
	}
	return fmt.Errorf("unknown family %q (known: %s)", name, strings.Join(known, ", "))
}
