package wiring

import (
	"context"
	"slices"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/interaction"
)

// learnedPairs are the columns of which the model has learned functions of two.
func learnedPairs(m decompose.Model) (columns []string) {
	for k := range m.Predictors() {
		for _, b := range m.Blocks(k) {
			if b.Term.Kind() == decompose.Learned && len(b.Term.Columns()) == 2 {
				columns = append(columns, b.Term.Columns()...)
			}
		}
	}
	slices.Sort(columns)
	return slices.Compact(columns)
}

// impure are the columns of learned pairs whose main effects terms of these columns are to take; nil: there are none, or terms stay
// as they are fitted.
func (q *Request) impure(m decompose.Model) []string {
	if q.Options.Terms == decompose.Fitted || len(q.networks()) > 1 {
		return nil
	}
	return learnedPairs(m)
}

// wideSample samples the model's columns, but for tensors, and those of its learned pairs.
func (q *Request) wideSample(m decompose.Model, pairs []string) *interaction.Sample {
	columns := append(slices.Clone(m.Columns()), pairs...)
	if q.Options.Weights != "" {
		columns = append(columns, q.Options.Weights)
	}
	slices.Sort(columns)
	tensors := decompose.TensorsOf(m)
	columns = slices.DeleteFunc(slices.Compact(columns), func(c string) bool { return tensors[c] > 0 })
	return interaction.NewWideSample(columns, q.Options.Weights)
}

// withMeans is m whose learned pairs have their means over either column, by the sample.
func withMeans(ctx context.Context, m decompose.Model, s *interaction.Sample, pairs []string) (decompose.Model, error) {
	rows, err := s.Independent(pairs, decompose.TensorsOf(m))
	if err != nil || rows == nil {
		return m, err
	}
	return decompose.WithMeans(ctx, m, rows)
}
