package command

import (
	"strings"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/family"
	"github.com/pho-go/pho/internal/app/wiring"
)

// familyHelp lists the families for --family.
func familyHelp() string {
	return strings.Join(family.Names(), ", ") + "; numbers may be given, as negative-binomial(theta=2), tweedie(p=1.5), weibull(scale=0.7), else they are estimated"
}

// eventHelp is for --event.
const eventHelp = "`COLUMN` that says of a response that is a time: 1 the event was seen then, 0 censored (or write 'Surv(time, event) ~ ...')"

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
