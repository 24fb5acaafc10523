// Package nam analyses neural additive models (Agarwal et al. 2021), with or
// without a deep part: eta = b + sum_j f_j(x_j) + zeta, where each f_j = Phi_j beta_j
// has the last hidden layer of a network of its own as basis. Any decompose.Model
// with learned terms is one, whoever trained it.
//
// PHO applied to such a model is PHONAM (Rügamer 2023, section on COVID-19). Two
// projections go by that name; Result.PHONAM says which one was made:
//
//   - Learned projects the deep part on the learned bases themselves. Their columns are
//     as a rule strongly correlated, so that without a penalty tiny variations in the data
//     would decide the split between features (a limitation that the paper names). Each
//     learned term therefore has a ridge on what moves to it, in columns of standard
//     deviation 1, with a parameter that REML chooses.
//   - Spline leaves the learned curves as they are and projects the deep part on a
//     spline of each feature, as the authors' published code does. A feature's curve is
//     then the sum of the two: see Shapes.
//
// Surrogate shows a black box through the terms of another model. Main effects and
// interactions are decompose.Options.Orders.
package nam

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// Variant is what the deep part of a neural additive model is projected on.
type Variant string

const (
	// Learned is the projection on the learned bases, each with a ridge:
	// alpha = (X'WX + sum_j lambda_j D_j^2)^-1 X'W zeta, D_j the columns' weighted
	// standard deviations.
	Learned Variant = "learned"
	// Spline is the projection on a penalised spline of each learned term's features.
	Spline Variant = "spline"
)

// Options of PHONAM. The zero value and nil are sensible.
type Options struct {
	// Decompose are the options of the projection; nil: the defaults, REML and no weights.
	Decompose *decompose.Options
	// Basis of the splines: "tp" or any other bs of the formula language that
	// takes numbers. "": tp.
	Basis string
	// K is the basis dimension of a spline of one feature before it is centred. 0: 10.
	K int
	// PairK is that of each margin of a pair's tensor product. 0: 5.
	PairK int
	// Scans looks at the rows to place knots; nil: those of the source given, which otherwise only tells
	// the schema. The looks are called "numbers of values", "splines", "splines 2", ...
	Scans decompose.Scans
}

func (o *Options) orDefault() Options {
	var v Options
	if o != nil {
		v = *o
	}
	if v.Basis == "" {
		v.Basis = "tp"
	}
	if v.K == 0 {
		v.K = 10
	}
	if v.PairK == 0 {
		v.PairK = 5
	}
	return v
}

// PHONAM decomposes the neural additive model m over all rows of src: Prepare, then
// decompose.Decompose. Result.PHONAM names the variant; Result.Warnings has the notes of
// Prepare and NearCopies. A model without a learned term is an error, and so is the method
// pho, which has no penalty.
func PHONAM(ctx context.Context, m decompose.Model, src data.Source, v Variant, o *Options) (*decompose.Result, error) {
	prepared, notes, err := Prepare(ctx, m, src, v, o)
	if err != nil {
		return nil, err
	}
	r, err := decompose.Decompose(ctx, prepared, src, o.orDefault().Decompose)
	if err != nil {
		return nil, err
	}
	r.PHONAM = string(v)
	r.Warnings = append(append(r.Warnings, notes...), NearCopies(r)...)
	return r, nil
}

// Prepare returns m with the terms and penalties of variant v, for those who call
// decompose.Decompose themselves, and notes for the reader of the result. The model
// returned shares m.
//
// Learned gives learned terms that have no penalty a ridge; all other terms stay.
// It does not read src, which may be nil.
//
// Spline keeps the learned terms as they are. If a formula has added terms to a predictor
// of m (decompose.With: blocks without coefficients), the deep part is projected on those.
// Else a spline is made for each feature of a learned term, and a tensor product for each
// pair; src is read to place their knots. A linear term of a feature that gets a spline is
// kept too, for the spline contains the line.
func Prepare(ctx context.Context, m decompose.Model, src data.Source, v Variant, o *Options) (_ decompose.Model, notes []string, err error) {
	opts := o.orDefault()
	var faults []error
	if v != Learned && v != Spline {
		faults = append(faults, fmt.Errorf("nam: unknown variant %q of PHONAM: it is learned or spline", string(v)))
	}
	if opts.Decompose != nil && opts.Decompose.Method == decompose.PHO {
		faults = append(faults, errors.New("nam: PHONAM is a penalised projection, method phogam: for pho on the learned bases use decompose.Decompose"))
	}
	if opts.K < 3 || opts.PairK < 3 {
		faults = append(faults, fmt.Errorf("nam: splines of dimension %d and %d: 3 is the least", opts.K, opts.PairK))
	}
	if !hasLearned(m) {
		faults = append(faults, errors.New("nam: the model has no learned term, so it is no neural additive model: "+
			"look at the structure that was found in the model, or use a formula without PHONAM"))
	}
	if err := errors.Join(faults...); err != nil {
		return nil, nil, err
	}
	if v == Learned {
		return withRidges(m), nil, nil
	}
	return withSplines(ctx, m, src, opts)
}

// NearCopies are warnings, one for each pair of learned terms of r that are nearly functions
// of one another on the rows: at least 99 % of the one can be expressed by the other
// (observed concurvity). Then only the sum of what moves to the two is well determined; the
// ridges decide how it is shared.
func NearCopies(r *decompose.Result) []string {
	var out []string
	for _, d := range r.Predictors {
		kind := map[string]decompose.Kind{}
		for _, t := range d.Terms {
			kind[t.Name] = t.Kind
		}
		said := map[[2]string]bool{}
		for _, c := range d.Concurvity {
			pair := [2]string{min(c.Term, c.With), max(c.Term, c.With)}
			if kind[c.Term] != decompose.Learned || kind[c.With] != decompose.Learned || c.Observed < 0.99 || said[pair] {
				continue
			}
			said[pair] = true
			out = append(out, fmt.Sprintf("%s: %s and %s are nearly the same functions of the rows (concurvity %.4f): how much of the deep part each of them gets is the ridge's choice, only the sum is well determined",
				d.Name, pair[0], pair[1], c.Observed))
		}
	}
	return out
}

func hasLearned(m decompose.Model) bool {
	for k := range m.Predictors() {
		if slices.ContainsFunc(m.Blocks(k), learned) {
			return true
		}
	}
	return false
}

func learned(b decompose.Block) bool { return b.Term.Kind() == decompose.Learned }

// withBlocks is a model with other blocks.
type withBlocks struct {
	decompose.Model
	blocks [][]decompose.Block
}

// Tensors are the model's.
func (r *withBlocks) Tensors() map[string]int { return decompose.TensorsOf(r.Model) }

func (r *withBlocks) Blocks(k int) []decompose.Block { return slices.Clone(r.blocks[k]) }
