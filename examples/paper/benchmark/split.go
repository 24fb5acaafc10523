package main

import (
	"context"
	"fmt"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/family"
	"github.com/pho-go/pho/importance"
)

// explained decomposes m, whose splines are part of it, by PHO and measures how
// much of its predictor is interpretable.
func explained(ctx context.Context, m decompose.Model, train, test data.Source) ([]measure, error) {
	out, _, err := split(ctx, m, train, test, "", &decompose.Options{Projection: decompose.Projection{Method: decompose.PHO}})
	return out, err
}

// blackBox decomposes m by PHOGAM on a formula, and tells the importance of its
// features.
func blackBox(ctx context.Context, m decompose.Model, formula string, train, test data.Source, name string) ([]measure, *decompose.Result, error) {
	f, err := basis.Parse(formula, &basis.Options{Schema: train.Schema()})
	if err != nil {
		return nil, nil, err
	}
	blocks, err := decompose.Prepare(ctx, train, f.Specs, nil)
	if err != nil {
		return nil, nil, err
	}
	with, err := decompose.With(m, map[string][]decompose.Block{"": blocks})
	if err != nil {
		return nil, nil, err
	}
	return split(ctx, with, train, test, name, nil)
}

// split returns the shares of the variance of m's predictor that are structured and
// unstructured on the training rows (EV), and that which its training coefficients
// explain on the test rows. It fails if the parts do not sum to m's own output.
func split(ctx context.Context, m decompose.Model, train, test data.Source, name string, o *decompose.Options) ([]measure, *decompose.Result, error) {
	if o == nil {
		o = &decompose.Options{}
	}
	o.Response, o.Family, o.Workers, o.ReconstructionTolerance = "y", family.Gaussian{}, 1, 1e-8
	o.Visitors = []decompose.Visitor{importance.New(o.Family)}
	r, err := decompose.Decompose(ctx, m, train, o)
	if err != nil {
		return nil, nil, err
	}
	apply, err := r.Applier(m)
	if err != nil {
		return nil, nil, err
	}
	var eta, rest []float64
	for p, err := range apply.All(ctx, test) {
		if err != nil {
			return nil, nil, err
		}
		eta = append(eta, p.Predictors[0].Eta...)
		rest = append(rest, p.Predictors[0].Unstructured...)
	}
	ev := importance.ExplainedVariance(r.Predictors[0].Variance)
	return []measure{
		{"ev_structured" + name, ev.Structured}, {"ev_unstructured" + name, ev.Unstructured},
		{"ev_test" + name, 1 - stat.Variance(rest, nil)/stat.Variance(eta, nil)},
	}, r, nil
}

// featureImportance are the joint figures of each feature.
func featureImportance(r *decompose.Result) []measure {
	var out []measure
	for _, i := range r.Predictors[0].Importance {
		if i.Feature == "" {
			continue
		}
		out = append(out, measure{"variance_share " + i.Feature, i.VarianceShare})
		if i.DevianceR2 != nil {
			out = append(out, measure{"deviance_r2 " + i.Feature, *i.DevianceR2})
		}
	}
	return out
}

// interpret tells how much of a fitted predictor is a sum of functions of single
// features, and of single ones and pairs, and what each feature is worth: PHOGAM on
// splines with REML.
func interpret(ctx context.Context, m decompose.Model, train rows, src, held data.Source) ([]measure, error) {
	distinct := train.distinct()
	formula := "~ " + mains(train.names, distinct, 20)
	out, r, err := blackBox(ctx, m, formula, src, held, "")
	if err != nil {
		return nil, err
	}
	out = append(out, featureImportance(r)...)
	const additive = 0.99 // nothing is left for pairs
	if len(train.names) > 10 || out[0].value > additive {
		return out, nil
	}
	single, two := 20, 8
	if len(train.names) > 3 { // 28 pairs and more
		single, two = 9, 4
	}
	more, _, err := blackBox(ctx, m, "~ "+mains(train.names, distinct, single)+" + "+pairs(train.names, distinct, two), src, held, " with pairs")
	return append(out, more...), err
}

// pairs is a sum of ti() interactions of all pairs.
func pairs(names []string, distinct []int, k int) string {
	var terms []string
	for i, a := range names {
		for j := i + 1; j < len(names); j++ {
			terms = append(terms, fmt.Sprintf("ti(%s,%s,k=c(%d,%d))", a, names[j], min(k, distinct[i]-1), min(k, distinct[j]-1)))
		}
	}
	return strings.Join(terms, " + ")
}
