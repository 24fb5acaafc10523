package onnxbasis

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// levels looks the row's level up in c; what is no level is not a number.
func (w *Writer) levels(name string, e basis.Indicators, c mat.Matrix) (string, error) {
	code, err := w.code(e)
	if err != nil {
		return "", err
	}
	return w.gather(name+".effect", w.table(name, c, len(e.Levels), math.NaN()), code), nil
}

// table is c (n x k; nil: the identity) below a row for what is not in it.
func (w *Writer) table(name string, c mat.Matrix, n int, other float64) string {
	c = orIdentity(c, n)
	_, k := c.Dims()
	values := slices.Repeat([]float64{other}, k)
	values = append(values, mat.DenseCopyOf(c).RawMatrix().Data...)
	return w.graph.Doubles(name+".table", []int{n + 1, k}, values...)
}

// code is that of Rows, asked for once.
func (w *Writer) code(e basis.Indicators) (string, error) {
	var err error
	x := w.once(fmt.Sprintf("code %q", e), func() (x string) {
		x, err = w.rows.Code(e)
		return x
	})
	return x, err
}

// maxExact is what float64 counts to without a gap.
const maxExact = 1 << 53

// combinations numbers the rows' cells, finds the numbers among those that have a column,
// and looks them up in c. Other cells of known levels add nothing.
func (w *Writer) combinations(name string, e basis.Combinations, c mat.Matrix) (string, error) {
	stride, strides, number := 1.0, []float64{}, ""
	for i, f := range e.Factors {
		code, err := w.code(f)
		if err != nil {
			return "", err
		}
		places := []float64{math.NaN()}
		for at := range f.Levels {
			places = append(places, stride*float64(at))
		}
		at := fmt.Sprintf("%s.factor%d", name, i+1)
		own := w.gather(at+".place", w.graph.Doubles(at+".places", []int{len(places), 1}, places...), code)
		if number == "" {
			number = own
		} else {
			number = w.graph.Node("Add", at+".number", []string{number, own})
		}
		strides = append(strides, stride)
		if stride *= float64(len(f.Levels)); stride > maxExact {
			return "", fmt.Errorf("its factors have more than 2^53 combinations of levels, which float64 does not count: leave a factor out")
		}
	}
	numbers := make([]float64, len(e.Cells))
	for j, cell := range e.Cells {
		for i, at := range cell {
			numbers[j] += strides[i] * float64(at)
		}
	}
	found := w.once(fmt.Sprintf("cell %q %v", e.Factors, e.Cells), func() string { return w.Find(name+".cell", number, numbers) })
	effect := w.gather(name+".effect", w.table(name, c, len(e.Cells), 0), found)
	unknown := w.graph.Node("Mul", name+".unknown", []string{number, w.scalar("zero", 0)}) // 0, or not a number
	return w.graph.Node("Add", name+".known", []string{effect, unknown}), nil
}

// TextLevels writes Rows.Code for a column of text (N x 1), by LabelEncoder of the version
// of ai.onnx.ml.
func TextLevels(g Graph, name, x string, levels []string, version int64) string {
	places := make([]int64, len(levels))
	for i := range places {
		places[i] = int64(i)
	}
	attrs := []onnxpb.Attr{onnxpb.Texts("keys_strings", levels...), onnxpb.Ints("values_int64s", places...), onnxpb.Int("default_int64", -1)}
	if version == 1 {
		attrs = []onnxpb.Attr{onnxpb.Texts("classes_strings", levels...), onnxpb.Int("default_int64", -1)}
	}
	x = g.Node("ai.onnx.ml.LabelEncoder", name+".label", []string{x}, attrs...)
	x = g.Node("Reshape", name+".labels", []string{x, g.Ints(name+".shape", -1)})
	return g.Node("Add", name+".place", []string{x, g.Ints(name+".one", 1)})
}
