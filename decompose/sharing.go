package decompose

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/decompose/internal/projection"
)

// Sharing is a set of predictors with equal blocks (but see Apart) that get one lambda for each penalty:
// criteria are summed as if the rows of their deep parts were stacked, with one residual
// variance (penalty.Problem.Others). Coefficients, and with them residual variances and
// standard errors, remain each predictor's own. PHO, which has no penalties, is the same
// with and without.
type Sharing struct {
	Predictors []string
	// Independent is how many of the deep parts are independent: K-1 of K classes that
	// are centred in every row. 0: all.
	Independent int
	// By are the responses that lambda is chosen for, as mixtures (rows of By, one number for
	// each of Predictors) of the deep parts: of differences to a reference class, say, the
	// centred ones, so that lambda does not depend on the reference. nil: the deep
	// parts themselves.
	By *mat.Dense
	// Uniqueness is that of the predictors, for Predictor.Uniqueness: unless Convention is "", all
	// their terms have the verdict Convention.
	Uniqueness
	// Apart leaves each predictor its own lambdas, as it must where terms differ: there is
	// Uniqueness alone, and no PredictorSet.
	Apart bool
}

// sharing looks for sets that cannot be.
func (f *faults) sharing(o *Options, names []string) {
	owner := map[string]int{}
	for i, s := range o.Shared {
		if len(s.Predictors) == 0 {
			f.add("set %d of shared smoothing parameters has no predictor", i+1)
		}
		responses := len(s.Predictors)
		if s.By != nil {
			rows, columns := s.By.Dims()
			if responses = rows; columns != len(s.Predictors) {
				f.add("set %d of shared smoothing parameters mixes %d predictors, it has %d", i+1, columns, len(s.Predictors))
			}
		}
		if s.Independent < 0 || s.Independent > responses {
			f.add("set %d of shared smoothing parameters: %d of %d responses are independent", i+1, s.Independent, responses)
		}
		for _, p := range s.Predictors {
			if !contains(names, p) {
				f.add("no predictor %q to share smoothing parameters: the model has %q", p, names)
			}
			if j, ok := owner[p]; ok {
				f.add("predictor %q shares smoothing parameters twice, in sets %d and %d", p, j+1, i+1)
			}
			owner[p] = i
			if !s.Apart && o.withoutIntercept(p) != o.withoutIntercept(s.Predictors[0]) {
				f.add("predictors %q and %q share smoothing parameters: both have an intercept or none has", s.Predictors[0], p)
			}
		}
	}
}

// among are the solvers of the set's predictors.
func (s Sharing) among(all []*solver) (members []*solver) {
	for _, name := range s.Predictors {
		members = append(members, all[slices.IndexFunc(all, func(a *solver) bool { return a.d.name == name })])
	}
	return members
}

// share solves the projections of a set, so that project finds them done; of PHO, which
// has nothing to share, it checks that terms are the same.
func (s Sharing) share(ctx context.Context, all []*solver) error {
	members := s.among(all)
	for _, m := range members {
		m.out.Uniqueness = s.Uniqueness
	}
	if s.Apart {
		return nil
	}
	set := projection.Shared{Independent: float64(s.Independent)}
	for _, m := range members {
		if err := m.constrain(ctx); err != nil {
			return fmt.Errorf("decompose: predictor %q: %w", m.d.name, err)
		}
		first := members[0]
		if !first.columns.Same(m.columns) {
			return fmt.Errorf("decompose: predictors %q and %q cannot share smoothing parameters: their terms, constraints or penalties differ; give them the same formula", first.d.name, m.d.name)
		}
		if first.method != PHO {
			set.Problems = append(set.Problems, m.problem())
		}
	}
	first := members[0]
	if first.method == PHO {
		return nil
	}
	for _, response := range s.responses(all) {
		set.By = append(set.By, response.columns.Problem(first.intercept(), first.o.RefitTotal))
	}
	fits, err := set.Penalised(ctx, first.groups, first.o.Smoothing.Selection)
	if err != nil {
		return fmt.Errorf("decompose: predictors %q: %w", s.Predictors, err)
	}
	for i, m := range members {
		m.fit = fits[i]
	}
	return nil
}

// sharedResponse is one that a set's lambdas are chosen for: a mixture of its predictors.
type sharedResponse struct {
	columns *projection.Constrained
	of      []*solver
	mix     []float64 // of them
}

// responses are those of By; nil without.
func (s Sharing) responses(all []*solver) (out []sharedResponse) {
	if s.By == nil {
		return nil
	}
	members := s.among(all)
	columns := make([]*projection.Constrained, len(all))
	for _, m := range members {
		columns[m.k] = m.columns
	}
	first := members[0]
	rows, _ := s.By.Dims()
	for r := range rows {
		mix := make([]float64, first.moments.Layout.Responses) // others than the deep parts have no share
		for i, m := range members {
			mix[m.k] = s.By.At(r, i)
		}
		out = append(out, sharedResponse{first.columns.Mixture(first.moments, mix, columns), members, mat.Row(nil, r, s.By)})
	}
	return out
}

// mixed is the same mixture of coefficients.
func (r sharedResponse) mixed(of func(*solver) []float64) []float64 {
	var sum []float64
	for i, m := range r.of {
		coef := of(m)
		if sum == nil {
			sum = make([]float64, len(coef))
		}
		floats.AddScaled(sum, r.mix[i], coef)
	}
	return sum
}

// summed are the variances of a set that is solved.
func (s Sharing) summed(all []*solver) PredictorSet {
	set := PredictorSet{Predictors: slices.Clone(s.Predictors), Uniqueness: s.Uniqueness}
	if s.By == nil {
		for _, m := range s.among(all) {
			set.Variance.add(m.out.Variance)
			set.VarianceBefore.add(m.out.VarianceBefore)
		}
		return set
	}
	for _, r := range s.responses(all) {
		alpha := r.mixed(func(m *solver) []float64 { return m.alpha })
		set.Variance.add(Variance(r.columns.Variance(r.mixed(func(m *solver) []float64 { return m.after }), alpha)))
		set.VarianceBefore.add(Variance(r.columns.Variance(r.mixed(func(m *solver) []float64 { return m.beta }), make([]float64, len(alpha)))))
	}
	return set
}

func (v *Variance) add(o Variance) {
	v.Structured += o.Structured
	v.Unstructured += o.Unstructured
	v.TwiceCovariance += o.TwiceCovariance
	v.Total += o.Total
}
