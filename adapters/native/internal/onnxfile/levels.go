package onnxfile

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/pho-go/pho/internal/base/onnxpb"
)

// onehot is 1 where the column is the level, else 0: N x levels. Levels of text are
// their numbers.
func (w *writer) onehot(name, column string, levels []string, kind onnxpb.TensorProto_DataType) (string, error) {
	values := make([]float64, len(levels))
	for i, s := range levels {
		v, err := w.number(column, s)
		if err != nil {
			return "", err
		}
		values[i] = v
	}
	equal := w.node("Equal", name+".equal", []string{column, w.constant(name+".levels", []int{len(levels)}, values...)})
	return w.node("Cast", name+".onehot", []string{equal}, onnxpb.Int("to", int64(kind))), nil
}

// number is what the network reads for a level of the column, exactly.
func (w *writer) number(column, level string) (float64, error) {
	v, err := levelNumber(w.levels[column], level)
	if err != nil {
		return 0, fmt.Errorf("column %q: %w", column, err)
	}
	if w.kind == onnxpb.TensorProto_FLOAT && float64(float32(v)) != v {
		return 0, fmt.Errorf("column %q has the level %s, which is no float32: code the levels as whole numbers, or write the network in float64", column, level)
	}
	return v, nil
}

// levelNumber is what the network reads for a level: its place among those of a column
// of text, itself where there are none.
func levelNumber(text []string, level string) (float64, error) {
	if text == nil {
		v, err := strconv.ParseFloat(level, 64)
		if err != nil {
			return 0, fmt.Errorf("level %q is not a number", level)
		}
		return v, nil
	}
	if at := slices.Index(text, level); at >= 0 {
		return float64(at), nil
	}
	return 0, fmt.Errorf("level %q is not among the column's %.80q", level, text)
}
