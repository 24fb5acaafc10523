package decompose

import (
	"math"
	"slices"
	"strconv"

	"github.com/pho-go/pho/label"
)

// labelledFeature is a column in the words and numbers of the labels: its range, quantiles and
// sample too. Levels keep their order, so that places in them stay what they are.
func labelledFeature(l *label.Labels, f Feature) Feature {
	column, s := f.Name, l.Scale(f.Name)
	f.Name = l.Feature(column)
	if f.Levels != nil {
		f.Levels = label.Each(f.Levels, func(level string) string { return l.Level(column, level) })
		return f
	}
	if s == nil {
		return f
	}
	raw := f
	f.Min, f.Max = s.Range(raw.Min, raw.Max)
	f.Mean = s.Shown(raw.Mean)
	f.Quantiles = s.Ascending(raw.Quantiles)
	f.Sample = label.Each(raw.Sample, s.Shown)
	f.Counts = shownCounts(s, raw.Counts, raw.Min, raw.Max, f.Min, f.Max)
	return f
}

// shownCounts is a histogram over [min, max] as one over the shown range [from, to], in as many
// bins: the same bins of a linear scale, and of others what falls into each if rows lie evenly
// within a bin.
func shownCounts(s *label.BackTransform, counts []int64, min, max, from, to float64) []int64 {
	if counts == nil {
		return nil
	}
	if s.IsLinear() {
		out := slices.Clone(counts)
		if s.Decreasing() {
			slices.Reverse(out)
		}
		return out
	}
	n := len(counts)
	below := func(v float64) int64 { // rows of less than v, a number of the data
		at := math.Min(math.Max((v-min)/(max-min), 0), 1) * float64(n)
		sum := 0.0
		for i, c := range counts {
			sum += float64(c) * math.Min(math.Max(at-float64(i), 0), 1)
		}
		return int64(math.Round(sum))
	}
	out := make([]int64, n)
	last := below(s.Value(from))
	for i := range out {
		edge := to
		if i+1 < n {
			edge = from + (to-from)*float64(i+1)/float64(n)
		}
		next := below(s.Value(edge))
		if out[i] = next - last; s.Decreasing() {
			out[i] = -out[i]
		}
		last = next
	}
	return out
}

// labelledSupport is where rows lie in the words and numbers of the labels. Cells are left out:
// they are bins of the data's own numbers. Level has its Position in the shown feature, so that
// of a column of numbers it is one.
func labelledSupport(l *label.Labels, s *Support, features []Feature) *Support {
	out := *s
	out.By, out.Level, out.Cells = l.Feature(s.By), l.Level(s.By, s.Level), nil
	for i := range features {
		if f := &features[i]; f.Name == s.By && f.Levels == nil && s.Level != "" {
			out.Level = strconv.FormatFloat(l.Shown(s.By, f.Position(s.Level)), 'g', -1, 64)
		}
	}
	out.Sides = slices.Clone(s.Sides)
	for i := range out.Sides {
		side, scale := &out.Sides[i], l.Scale(s.Sides[i].Feature)
		side.Feature = l.Feature(side.Feature)
		if scale != nil && side.Quantiles != nil {
			side.Min, side.Max = scale.Range(side.Min, side.Max)
			side.Quantiles = scale.Ascending(side.Quantiles)
		}
	}
	return &out
}

// labelledExamples are rows whose values are names of levels, texts with their unit or, of a
// column without either, numbers as they are shown.
func labelledExamples(l *label.Labels, e *Examples, response string) *Examples {
	if e == nil {
		return nil
	}
	out := *e
	out.Columns, out.Rows = l.Features(e.Columns), slices.Clone(e.Rows)
	for i := range out.Rows {
		row := &out.Rows[i]
		row.Values = slices.Clone(row.Values)
		for j := range min(len(row.Values), len(e.Columns)) {
			row.Values[j] = labelledValue(l, e.Columns[j], row.Values[j])
		}
		if row.Response != nil {
			y := l.Shown(response, *row.Response)
			row.Response = &y
		}
	}
	return &out
}

func labelledValue(l *label.Labels, column string, value any) any {
	switch v := value.(type) {
	case string:
		return l.Level(column, v)
	case float64:
		if l.IsText(column, v) {
			return l.Value(column, v)
		}
		return l.Shown(column, v)
	}
	return value
}
