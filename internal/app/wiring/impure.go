package wiring

import (
	"context"
	"math"
	"slices"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/interaction"
)

// jointly are the columns of which the model has learned functions of so many columns together.
func jointly(m decompose.Model, least, most int) (columns []string) {
	for k := range m.Predictors() {
		for _, b := range m.Blocks(k) {
			if c := b.Term.Columns(); b.Term.Kind() == decompose.Learned && least <= len(c) && len(c) <= most {
				columns = append(columns, c...)
			}
		}
	}
	slices.Sort(columns)
	return slices.Compact(columns)
}

// impure are the columns of learned functions of several whose main effects terms of these columns are to take, since the model has
// one function of the column alone, or none; nil: there are none such, or terms stay as they are fitted.
func (q *Request) impure(m decompose.Model) []string {
	if !q.splits() {
		return nil
	}
	rich := map[string]bool{}
	for k := range m.Predictors() {
		for _, b := range m.Blocks(k) {
			if c := b.Term.Columns(); len(c) == 1 && b.Term.Dim() > 1 {
				rich[c[0]] = true
			}
		}
	}
	return slices.DeleteFunc(jointly(m, 2, math.MaxInt), func(c string) bool { return rich[c] })
}

// splits tells whether learned functions are split from main effects: several networks keep their own split.
func (q *Request) splits() bool {
	return q.Options.Terms != decompose.Fitted && len(q.networks()) == 1
}

// wideSample samples the model's columns, but for tensors, if it has learned functions that withMeans is for; else it is nil.
func (q *Request) wideSample(m decompose.Model) *interaction.Sample {
	joint := jointly(m, 2, 3)
	if joint == nil || !q.splits() {
		return nil
	}
	columns := append(slices.Clone(m.Columns()), joint...)
	if q.Options.Weights != "" {
		columns = append(columns, q.Options.Weights)
	}
	slices.Sort(columns)
	tensors := decompose.TensorsOf(m)
	columns = slices.DeleteFunc(slices.Compact(columns), func(c string) bool { return tensors[c] > 0 })
	return interaction.NewWideSample(columns, q.Options.Weights)
}

// withMeans is m whose learned functions of two and of three columns have their means over all but one, by the sample.
func withMeans(ctx context.Context, m decompose.Model, s *interaction.Sample) (decompose.Model, error) {
	for _, strength := range []int{2, 3} {
		columns := jointly(m, strength, strength)
		if columns == nil {
			continue
		}
		rows, err := s.Independent(columns, strength, decompose.TensorsOf(m))
		if err != nil {
			return nil, err
		}
		if rows == nil {
			continue
		}
		if m, err = decompose.WithMeans(ctx, m, rows); err != nil {
			return nil, err
		}
	}
	return m, nil
}
