package onnxfile

import (
	"encoding/json"
	"fmt"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// term writes a block of predictor k.
func (w *writer) term(k int, block decompose.Block) error {
	name := block.Term.Name()
	at := fmt.Sprintf("%s.%d", name, k)
	switch t := block.Term.(type) {
	case *decompose.LinearTerm:
		w.effect(k, at, t.Column, block.Coef)
		return nil
	case *decompose.Tap:
		x, ok := w.bases[name]
		if !ok {
			return fmt.Errorf("term %q has no network", name)
		}
		w.effect(k, at, x, block.Coef)
		return nil
	}
	x, err := w.shared(block.Term)
	if err != nil {
		return fmt.Errorf("term %q: %w", name, err)
	}
	w.declared[k] = append(w.declared[k], onnx.DeclaredTerm{Tensor: x, Block: block})
	coef := name + fmt.Sprintf(".%d.coef", k)
	w.b.AddDouble(coef, []int{len(block.Coef), 1}, block.Coef...)
	w.sums[k] = append(w.sums[k], w.single(at+".effect", w.node("MatMul", at+".product", []string{x, coef})))
	return nil
}

// shared is the basis of a formula term, which predictors share if it is the same in all that
// decides its columns. Terms of one name need not be: s(x, k=10) and s(x, k=5) are s(x) both.
func (w *writer) shared(t decompose.Term) (string, error) {
	definition, err := json.Marshal(t)
	if err != nil {
		return "", err
	}
	key := t.Name() + "\x00" + string(t.Kind()) + string(definition)
	if x, ok := w.shares[key]; ok {
		return x, nil
	}
	name := t.Name()
	for n := 2; w.b.Has(name + ".basis"); n++ {
		name = fmt.Sprintf("%s#%d", t.Name(), n)
	}
	x, err := w.basis(name, t)
	if err != nil {
		return "", err
	}
	// A Clip without bounds marks the columns as a basis: the structure is the spline
	// space and not the larger one of all piecewise polynomials.
	w.shares[key] = w.node("Clip", name+".basis", []string{x})
	return w.shares[key], nil
}

// Formula terms are computed in float64, whatever the type of the network: their
// values are then the terms' own, and the declaration in the metadata holds exactly.

// double is a tensor of the network's type as float64.
func (w *writer) double(x string) string {
	if w.kind == onnxpb.TensorProto_DOUBLE {
		return x
	}
	if to, ok := w.doubles[x]; ok {
		return to
	}
	w.doubles[x] = w.node("Cast", x+".double", []string{x}, onnxpb.Int("to", int64(onnxpb.TensorProto_DOUBLE)))
	return w.doubles[x]
}

// single is a float64 tensor in the network's type.
func (w *writer) single(name, x string) string {
	if w.kind == onnxpb.TensorProto_DOUBLE {
		return x
	}
	return w.node("Cast", name, []string{x}, onnxpb.Int("to", int64(w.kind)))
}

// What package basis makes of formulas, as far as it can be written.
type (
	smooth interface {
		Plain() *basis.SmoothTerm
		By() (column, level string)
	}
	product interface {
		Margins() ([]*basis.SmoothTerm, bool)
		By() (column, level string)
	}
)

// basis writes the columns of a term in float64, N x d; tensors are called by name.
func (w *writer) basis(name string, t decompose.Term) (string, error) {
	switch t := t.(type) {
	case *basis.FactorTerm:
		return w.onehot(name, t.Columns()[0], t.Levels(), onnxpb.TensorProto_DOUBLE)
	case smooth:
		x, err := w.spline(name, t.Plain())
		if err != nil {
			return "", err
		}
		return w.by(name, x, t)
	case product:
		margins, ok := t.Margins()
		if !ok {
			break
		}
		x, width := "", 1
		for i, m := range margins {
			at := fmt.Sprintf("%s.margin%d", name, i)
			own, err := w.spline(at, m)
			if err != nil {
				return "", err
			}
			if x == "" {
				x, width = own, m.Dim()
				continue
			}
			x = w.rowProduct(at, x, width, own, m.Dim())
			width *= m.Dim()
		}
		return w.by(name, x, t)
	}
	e, err := basis.Express(t)
	if err != nil {
		return "", err
	}
	return w.splines.Times(name, e, nil)
}

// by multiplies the columns x of a smooth with its by column, or with the
// indicator of its level.
func (w *writer) by(name, x string, t interface{ By() (column, level string) }) (string, error) {
	column, level := t.By()
	if column == "" {
		return x, nil
	}
	factor := w.double(column)
	if level != "" {
		var err error
		if factor, err = w.onehot(name+".by", column, []string{level}, onnxpb.TensorProto_DOUBLE); err != nil {
			return "", err
		}
	}
	return w.node("Mul", name+".times", []string{x, factor}), nil
}

// rowProduct is the row-wise tensor product of a (N x p) and b (N x q).
func (w *writer) rowProduct(name, a string, p int, b string, q int) string {
	left, right := make([]int64, p*q), make([]int64, p*q)
	for i := range left {
		left[i], right[i] = int64(i/q), int64(i%q)
	}
	w.b.AddInts(name+".left", left...)
	w.b.AddInts(name+".right", right...)
	a = w.node("Gather", name+".a", []string{a, name + ".left"}, onnxpb.Int("axis", 1))
	b = w.node("Gather", name+".b", []string{b, name + ".right"}, onnxpb.Int("axis", 1))
	return w.node("Mul", name+".product", []string{a, b})
}
