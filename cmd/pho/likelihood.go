package main

import (
	"fmt"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/family"
)

// familyHelp lists the families for --family.
const familyHelp = "gaussian, binomial, poisson, negative-binomial, gamma, beta or student-t; numbers may be given, as negative-binomial(theta=2), beta(phi=9), student-t(df=4), else they are estimated"

// likelihood finds the family of the response; nil without a response.
func (d *decomposeFlags) likelihood(response string, structure *onnx.Structure) (family.Family, error) {
	if response == "" {
		return nil, nil
	}
	heads := make([]string, len(structure.Predictors))
	for k, p := range structure.Predictors {
		heads[k] = p.Head
	}
	name := d.family
	if name == "" {
		name = defaultFamily(heads)
	}
	f, err := family.Parse(name, heads)
	if err != nil {
		return nil, fmt.Errorf("--family %s: %w", name, err)
	}
	return f, nil
}

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

// defaultFamily is what the head of a single predictor suggests.
func defaultFamily(heads []string) string {
	if len(heads) == 1 {
		switch heads[0] {
		case "sigmoid":
			return "binomial"
		case "exp":
			return "poisson"
		}
	}
	return "gaussian"
}
