package wiring

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/family"
)

// ownThresholds gives an ordinal family the thresholds of the networks, where they have
// some, and shows the response as the numbers of their classes, or finds its levels. It
// returns what is to be said of them.
func (q *Request) ownThresholds(ctx context.Context, networks []*onnx.Model) (note string, err error) {
	if len(networks) == 0 {
		return "", nil
	}
	own := networks[0].Structure().Predictors[0].Ordinal
	f, ok := q.Options.Family.(family.Ordered)
	if !ok || f.Levels() != nil || own == nil {
		return "", nil
	}
	for i, m := range networks {
		if other := m.Structure().Predictors[0].Ordinal; !reflect.DeepEqual(other, own) {
			return "", fmt.Errorf("model %q: its thresholds of ordered classes are others than the first network's, and one likelihood cannot have both: decompose the networks one by one, or without a response", q.networks()[i].Path)
		}
	}
	levels, err := q.orderedLevels(ctx, networks[0], own)
	if err != nil {
		return "", err
	}
	order := ""
	if own.Descending {
		slices.Reverse(levels)
		order = " in this order, so that a larger predictor means a lower class"
	}
	if q.Options.Family, err = family.NewOrdinal(levels, own.Thresholds); err != nil {
		return "", err
	}
	return fmt.Sprintf("family ordinal: the levels are %.6g%s, with the network's own thresholds of the predictor at %.6g", levels, order, own.Thresholds), nil
}

// orderedLevels are the responses of the classes in ascending order.
func (q *Request) orderedLevels(ctx context.Context, m *onnx.Model, own *onnx.OrdinalInfo) ([]float64, error) {
	response, k := q.Options.Response, len(own.Thresholds)+1
	if err := checkColumn(q.Rows.Schema(), response, false); err != nil {
		return nil, optionError("response", err)
	}
	column, _ := q.Rows.Schema().Lookup(response)
	names, err := labelsOf(m, numbered(k), own.Labels)
	if err != nil {
		return nil, err
	}
	if numbers := numbered(k); !column.Numeric || !slices.Equal(names, numbers) {
		q.Rows = classNumbers(q.Rows, response, names)
		return from(0, k), nil
	}
	seen, err := q.seen(ctx, response)
	if err != nil {
		return nil, err
	}
	within := func(levels []float64) bool {
		return !slices.ContainsFunc(seen, func(y float64) bool { return !slices.Contains(levels, y) })
	}
	switch {
	case within(from(0, k)):
		return from(0, k), nil
	case within(from(1, k)):
		return from(1, k), nil
	case len(seen) == k:
		return seen, nil
	}
	return nil, optionError("response", fmt.Errorf("column %q has %d different numbers (%.6g), and the network %d ordered classes: write them as 0 to %d", response, len(seen), seen[:min(len(seen), 20)], k, k-1))
}

// from are k whole numbers.
func from(first, k int) (levels []float64) {
	for i := range k {
		levels = append(levels, float64(first+i))
	}
	return levels
}

// seen are the different numbers of a column, in order; of very many, the smallest.
func (q *Request) seen(ctx context.Context, column string) ([]float64, error) {
	s := &responses{column: column}
	if err := q.scans(q.Rows).Scan(ctx, "response", []string{column}, []decompose.SummingScanner{s}); err != nil {
		return nil, err
	}
	return s.values, nil
}
