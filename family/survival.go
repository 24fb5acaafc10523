package family

import "fmt"

// A time that is right censored is known to be longer than y and no more. For such rows a family of
// times has another family of the same predictors: its LogLik is the logarithm of the survival
// function at y, and its Deviance is measured from a predictor under which survival is certain; so
// no method has a further argument.

// survival is a family of times.
type survival interface {
	Family
	censor() Family
}

// Censored is what rows of f say whose response is right censored: nil if the responses
// of f are no times. Information, where f is Differentiable, is -d2 LogLik/d eta^2 as
// observed, or 0 where that is negative: how long a censored row would have lasted
// nobody knows.
// So no method has a further argument, families without times know nothing of events, and whoever
// goes through rows takes one of the two families.
func Censored(f Family) Family {
	switch f := f.(type) {
	case Held:
		of, ok := Censored(f.of).(Shaped)
		if !ok {
			return nil
		}
		f.of = of
		return f
	case survival:
		return f.censor()
	}
	return nil
}

// ByEvent is f at place 1, for rows with an event, and Censored(f) at place 0.
func ByEvent(f Family) [2]Family { return [2]Family{Censored(f), f} }

// CheckEvent accepts 1, the event was seen at the time y, and 0, it was not until then.
func CheckEvent(v float64) error {
	if v == 0 || v == 1 {
		return nil
	}
	return fmt.Errorf("%v is neither 1, for an event, nor 0, for a censored time", v)
}

// NoTimes is the error for an event column with a family whose responses are no times.
func NoTimes(f Family) error {
	return fmt.Errorf("family %s knows no censored responses: events belong to weibull, lognormal, log-logistic and cox", f.Name())
}
