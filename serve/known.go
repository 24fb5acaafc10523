package serve

import (
	"slices"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/app/wiring"
)

// Known is what a decomposition says of a column's values in the rows that it was made of. The zero value: nothing,
// as of arrays, and of results without rows.
type Known struct {
	Levels []string    // all of them, of a column of categories; nil: it is another, or they are not known
	Seen   []string    // texts of some rows, sorted, where Levels are not known
	Range  *[2]float64 // the least and the largest number
	// Prediction: it is the model's own prediction, of a model that is no file and that rows must bring.
	Prediction bool
	// Typical is the median, or the most frequent level; nil: not known.
	Typical any // float64 or string
}

// Known is what is known of a column of Columns.
func (e *Explainer) Known(column string) (k Known) {
	if e.opened.Kind == wiring.Columns && slices.Contains(e.network.Columns(), column) {
		return Known{Prediction: true}
	}
	if at := slices.IndexFunc(e.result.Features, func(f decompose.Feature) bool { return f.Name == column }); at >= 0 {
		k = ofFeature(&e.result.Features[at])
	} else if x := e.result.Examples; x != nil {
		k = ofExamples(x, column)
	}
	if k.Levels != nil {
		return k
	}
	if t := e.factor(column); t != nil {
		k.of(t.Levels())
	} else if e.labels != nil {
		k.of(e.labels.Columns[column])
	}
	return k
}

// levelled is a term with levels, by column of its basis.
type levelled interface{ Levels() []string }

// factor is a term that is the factor of the column; nil: there is none.
func (e *Explainer) factor(column string) levelled {
	for _, p := range e.result.Predictors {
		for i := range p.Terms {
			t := &p.Terms[i]
			if own, ok := t.Term().(levelled); ok && t.Kind == decompose.Factor && slices.Equal(t.Features, []string{column}) {
				return own
			}
		}
	}
	return nil
}

// of makes the levels those of the column, of which the median is one if it held numbers.
func (k *Known) of(levels []string) {
	if len(levels) == 0 {
		return
	}
	typical, _ := k.Typical.(string)
	if v, ok := k.Typical.(float64); ok {
		typical = data.LevelText(v)
	}
	*k = Known{Levels: slices.Clone(levels), Typical: levels[max(0, slices.Index(levels, typical))]}
}

func ofFeature(f *decompose.Feature) (k Known) {
	if len(f.Levels) > 0 {
		k.Levels = slices.Clone(f.Levels)
		if len(f.Counts) == len(f.Levels) {
			k.Typical = f.Levels[slices.Index(f.Counts, slices.Max(f.Counts))]
		}
		return k
	}
	k.Range, k.Typical = &[2]float64{f.Min, f.Max}, f.Mean
	if n := len(f.Quantiles); n > 0 {
		k.Typical = f.Quantiles[n/2]
	}
	return k
}

// ofExamples is what stored rows say of a column that no term reads. Their least and largest number are not those of
// all rows.
func ofExamples(x *decompose.Examples, column string) (k Known) {
	at := slices.Index(x.Columns, column)
	if at < 0 || len(x.Rows) == 0 {
		return k
	}
	var numbers []float64
	count := map[string]int{}
	for _, row := range x.Rows[max(0, min(x.Largest, len(x.Rows)-1)):] { // the sample, if there is one
		if at >= len(row.Values) { // somebody wrote the file otherwise
			continue
		}
		switch v := row.Values[at].(type) {
		case float64:
			numbers = append(numbers, v)
		case string:
			count[v]++
			k.Seen = append(k.Seen, v)
		}
	}
	slices.Sort(k.Seen)
	k.Seen = slices.Compact(k.Seen)
	if len(k.Seen) > 0 {
		k.Typical = slices.MaxFunc(k.Seen, func(a, b string) int { return count[a] - count[b] })
	} else if len(numbers) > 0 {
		slices.Sort(numbers)
		k.Typical = numbers[len(numbers)/2]
	}
	return k
}
