package family_test

import (
	"fmt"

	"github.com/pho-go/pho/family"
)

// How much of a count's log-likelihood is lost without one term of its predictor.
func Example() {
	f, err := family.Parse("poisson", []string{"exp"})
	if err != nil {
		fmt.Println(err)
		return
	}
	y := []float64{0, 3, 8}
	eta := []float64{-0.5, 1, 2}
	without := []float64{0.8, 1, 1.2}
	var full, reduced float64
	for i := range y {
		full += f.LogLik(y[i], 1, eta[i:i+1], 1)
		reduced += f.LogLik(y[i], 1, without[i:i+1], 1)
	}
	fmt.Printf("log-likelihood %.2f, without the term %.2f, McFadden %.2f\n", full, reduced, 1-full/reduced)
	// Output: log-likelihood -4.11, without the term -8.06, McFadden 0.49
}

func ExampleParse() {
	f, err := family.Parse("gaussian", []string{"", "softplus"})
	fmt.Printf("%#v %v\n", f, err)
	_, err = family.Parse("binomal", []string{"sigmoid"})
	fmt.Println(err)
	// Output:
	// family.GaussianLS{Scale:0x1, Floor:0} <nil>
	// unknown family "binomal": did you mean binomial? (known: gaussian, binomial, poisson, negative-binomial, gamma, beta, student-t, categorical, ordinal, tweedie, inverse-gaussian, zip, lognormal, weibull, log-logistic, cox)
}

func ExampleFamily_check() {
	fmt.Println(family.Poisson{}.Check(2.5))
	// Output: family poisson: response 2.5 is outside the support, the non-negative integers
}

// A proportion counts as its trials.
func ExampleBinomial() {
	eta := []float64{0.4}
	f := family.Binomial{}
	rows := 3*f.LogLik(1, 1, eta, 1) + f.LogLik(0, 1, eta, 1)
	group := f.LogLik(0.75, 4, eta, 1)
	fmt.Printf("%.4f %.4f\n", rows, group)
	// Output: -2.4521 -2.4521
}
