package boosters

import (
	"fmt"
	"io"
	"slices"

	"github.com/pho-go/pho/internal/base/onnxpb"
)

// ONNX is the model of a file, which Load reads, as a file of ONNX that any runtime computes: the same inputs, tensors and outputs, in operators of the
// standard alone (opset 21, version 5 of ai.onnx.ml). Numbers are compared as the library compares them. Texts that the model does not know are
// unknown to the file, too.
//
// Errors are Load's, and a column of texts of which the model's file has no names (CatBoost keeps their hashes).
func ONNX(r io.Reader) ([]byte, error) {
	m, _, err := read(r, nil, true)
	if err != nil {
		return nil, err
	}
	if len(m.tables) > 0 {
		return nil, fmt.Errorf("boosters: %s: the model counts categories (CTR), by hashes of them that no operator of ONNX computes, so that no file of ONNX can be written: train it with one_hot_max_size as large as a column has categories", m.library)
	}
	for i, c := range m.columns {
		if c.text != nil && c.texts == nil {
			return nil, fmt.Errorf("boosters: %s: the file has no names of the categories of column %d, %q, so that no file of ONNX can be written: save the model with them (of CatBoost as JSON, with its pool)", m.library, i, c.name)
		}
	}
	file, err := m.writer().write()
	if err != nil {
		return nil, fmt.Errorf("boosters: %w", err)
	}
	return file, nil
}

// encode writes the numbers of the texts of a column.
func (w *writer) encode(c column, name string) {
	texts := slices.Compact(slices.Sorted(slices.Values(slices.Concat(c.texts, truths()))))
	numbers := make([]float64, len(texts))
	for i, text := range texts {
		numbers[i] = c.text(text)
	}
	const double = onnxpb.TensorProto_DOUBLE
	w.AddNodes("ai.onnx.ml", "LabelEncoder", []string{c.name}, []string{name},
		onnxpb.Texts("keys_strings", texts...), onnxpb.TensorAttr("values_tensor", double, []int{len(numbers)}, numbers...), onnxpb.TensorAttr("default_tensor", double, []int{1}, c.text(other)))
}
