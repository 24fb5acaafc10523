package onnxbasis

import (
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/basis"
)

// product evaluates (a x b) C for rows a (p) and b (q), without their p q products: with C
// written as p matrices of q x k, it is the sum over i of a_i (b C_i).
func (w *Writer) product(name string, e basis.Product, c mat.Matrix) (string, error) {
	switch len(e) {
	case 0:
		return w.Times(name, basis.Joined{}, c)
	case 1:
		return w.Times(name, e[0], c)
	}
	a, b := e[0], basis.Expression(e[1:])
	if len(e) == 2 {
		b = e[1]
	}
	p, q := a.Width(), b.Width()
	dense := mat.DenseCopyOf(orIdentity(c, p*q))
	_, k := dense.Dims()
	outer, inner := a, b
	swapped := q == 1 || isTable(a) && !isTable(b) // a lookup in C costs less than a product with it
	if swapped {
		outer, inner = b, a
	}
	mixed := mat.NewDense(inner.Width(), outer.Width()*k, nil)
	for i := range p {
		for j := range q {
			to, at := j, i
			if swapped {
				to, at = i, j
			}
			copy(mixed.RawRowView(to)[at*k:(at+1)*k], dense.RawRowView(i*q+j))
		}
	}
	rows, err := w.Times(name+".outer", outer, nil)
	if err != nil {
		return "", err
	}
	effects, err := w.Times(name+".inner", inner, mixed)
	if err != nil {
		return "", err
	}
	return w.contract(name, rows, effects, outer.Width(), k), nil
}

// isTable tells whether e times a matrix is a lookup.
func isTable(e basis.Expression) bool {
	switch e.(type) {
	case basis.Indicators, basis.Combinations:
		return true
	}
	return false
}

// contract is sum_i a_i b_i, a N x p and b N x (p k), its i-th k columns being b_i.
func (w *Writer) contract(name, a, b string, p, k int) string {
	if p == 1 {
		return w.graph.Node("Mul", name+".product", []string{b, a})
	}
	if k == 1 {
		both := w.graph.Node("Mul", name+".products", []string{a, b})
		return w.graph.Node("MatMul", name+".product", []string{both, w.graph.Doubles(name+".ones", []int{p, 1}, slices.Repeat([]float64{1}, p)...)})
	}
	a = w.reshaped(name+".row", a, -1, 1, int64(p))
	b = w.reshaped(name+".rows", b, -1, int64(p), int64(k))
	return w.reshaped(name+".product", w.graph.Node("MatMul", name+".products", []string{a, b}), -1, int64(k))
}
