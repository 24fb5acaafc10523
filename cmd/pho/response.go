package main

import (
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/family"
	"github.com/pho-go/pho/internal/wiring"
)

// familyHelp lists the families for --family.
const familyHelp = "gaussian, binomial, poisson, negative-binomial, gamma, beta, student-t, categorical or ordinal; numbers may be given, as negative-binomial(theta=2), beta(phi=9), student-t(df=4), else they are estimated"

// trainFamilyHelp lists those of pho train.
const trainFamilyHelp = "gaussian, binomial, poisson, negative-binomial, gamma, beta or student-t; numbers may be given, as negative-binomial(theta=2), beta(phi=9), student-t(df=4), else they are estimated"

// checkFamily finds faults that need no network. One plain head fits the mean of
// every family.
func (d *decomposeFlags) checkFamily(response string) error {
	if d.family == "" {
		return nil
	}
	if _, err := family.Parse(d.family, []string{""}); err != nil {
		return usagef("--family: %w", err)
	}
	if response == "" {
		return usagef("--family %s needs a response: give --response COLUMN or 'y ~ ...'", d.family)
	}
	return nil
}

// syntax checks the formulas before any file is read, and finds the response.
func (d *decomposeFlags) syntax(o *decompose.Options) error {
	if d.response != "" {
		o.Response = d.response
	}
	if err := wiring.CheckFormulas(d.formulas, o); err != nil {
		return usageError{err}
	}
	return nil
}
