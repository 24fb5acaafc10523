package command

import (
	"strings"

	"github.com/pho-go/pho/decompose"
)

// links are the link functions of a family's predictors, in order, as R names them; those
// of further predictors than the list has are not known.
func links(family string) []string {
	name, _, _ := strings.Cut(family, "(")
	switch name {
	case "gaussian", "student-t":
		return []string{"identity", "log", "log"}
	case "binomial":
		return []string{"logit"}
	case "beta":
		return []string{"logit", "log"}
	case "poisson", "gamma", "negative-binomial", "tweedie", "inverse-gaussian":
		return []string{"log", "log"}
	case "zip":
		return []string{"log", "logit"}
	case "lognormal", "weibull", "log-logistic":
		return []string{"identity of log time", "log"}
	case "cox":
		return []string{"log hazard ratio"}
	case "ordinal":
		return []string{"cumulative logit"}
	}
	return nil
}

// linkWords name the links of r's predictors; "" where the result does not say.
func linkWords(r *decompose.Result) string {
	if strings.HasPrefix(r.Family, "categorical") {
		if len(r.Predictors) == 1 {
			return "logit"
		}
		return "multinomial logit, " + conventionWords(r)
	}
	known := links(r.Family)
	if len(known) == 0 {
		return ""
	}
	var out []string
	for k := range r.Predictors {
		if k < len(known) {
			out = append(out, known[k])
		}
	}
	return strings.Join(out, " ")
}

// conventionWords say what makes predictors of classes unique.
func conventionWords(r *decompose.Result) string {
	for i := range r.Predictors {
		if c := r.Predictors[i].Convention; c != "" {
			return shown(c)
		}
	}
	return "as the network has them"
}
