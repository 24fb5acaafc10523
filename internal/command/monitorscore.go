package command

import (
	"fmt"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/family"
)

// scores say how far responses are from what is predicted for them.
type scores struct {
	family           family.Family
	response, offset string
	eta              []float64
}

// newScores takes the family from the decomposition. Of classes, and of times with censoring, errors are no
// differences of numbers.
func newScores(r *decompose.Result, response string) (*scores, error) {
	if r.Family == "" {
		return nil, fmt.Errorf("--response %q: the decomposition knows no family: decompose with --response", response)
	}
	var heads []string
	for _, p := range r.Predictors {
		heads = append(heads, p.Head)
	}
	f, err := family.Parse(r.Family, heads)
	if err != nil {
		return nil, fmt.Errorf("--response %q: %w", response, err)
	}
	_, classes := f.(family.Classifier)
	if classes || r.Event != "" || f.Predictors() != len(r.Predictors) {
		return nil, fmt.Errorf("--response %q: a response of family %s, which is of classes or of times, is not followed: leave it out", response, f.Name())
	}
	return &scores{f, response, r.Offset, make([]float64, len(r.Predictors))}, nil
}

func (s *scores) columns() []string {
	if s.offset != "" {
		return []string{s.response, s.offset}
	}
	return []string{s.response}
}

// of are the errors on the scale of the response, and the deviances; of families of several predictors
// -2 log-likelihood.
func (s *scores) of(parts *decompose.Parts) (errors, losses []float64, err error) {
	y, err := parts.Batch.Numeric(s.response)
	if err != nil {
		return nil, nil, err
	}
	var offset []float64
	if s.offset != "" {
		if offset, err = parts.Batch.Numeric(s.offset); err != nil {
			return nil, nil, err
		}
	}
	errors, losses = make([]float64, len(y)), make([]float64, len(y))
	for i, v := range y {
		if err := s.family.Check(v); err != nil {
			return nil, nil, fmt.Errorf("data row %d: response %q: %w", parts.Batch.Row(i), s.response, err)
		}
		for k := range s.eta {
			s.eta[k] = parts.Predictors[k].Eta[i]
		}
		if offset != nil {
			s.eta[0] += offset[i]
		}
		errors[i] = v - s.family.Mean(s.eta)
		if losses[i] = s.family.Deviance(v, 1, s.eta); len(s.eta) > 1 {
			losses[i] = -2 * s.family.LogLik(v, 1, s.eta, 1)
		}
	}
	return errors, losses, nil
}
