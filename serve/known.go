package serve

import (
	"slices"

	"github.com/pho-go/pho/decompose"
)

// Known is what a decomposition says of a column's values in the rows that it was made of. The zero value: nothing,
// as of arrays, and of results without rows.
type Known struct {
	Levels []string    // all of them, of a column of categories; nil: it is another, or they are not known
	Seen   []string    // texts of some rows, sorted, where Levels are not known
	Range  *[2]float64 // the least and the largest number
	// Typical is the median, or the most frequent level; nil: not known.
	Typical any // float64 or string
}

// Known is what is known of a column of Columns.
func (e *Explainer) Known(column string) (k Known) {
	if at := slices.IndexFunc(e.result.Features, func(f decompose.Feature) bool { return f.Name == column }); at >= 0 {
		k = ofFeature(&e.result.Features[at])
	} else if x := e.result.Examples; x != nil {
		k = ofExamples(x, column)
	}
	if k.Levels == nil && e.labels != nil && len(e.labels.Columns[column]) > 0 {
		k.Levels, k.Seen = slices.Clone(e.labels.Columns[column]), nil
	}
	return k
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
