package operator

import (
	"strings"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// maxLabels bounds the labels of a product, as strided does.
const maxLabels = 4 * graph.MaxRank

// pairProduct is the sum of products of two tensors, and the order of labels in it.
type pairProduct struct {
	in                   []string
	out                  string
	stack, rows, cols, k string
}

func newPair(in []string, out string) *pairProduct {
	e := &pairProduct{in: in, out: out}
	for i := range len(out) {
		switch a, b := strings.IndexByte(in[0], out[i]) >= 0, strings.IndexByte(in[1], out[i]) >= 0; {
		case a && b:
			e.stack += out[i : i+1]
		case a:
			e.rows += out[i : i+1]
		default:
			e.cols += out[i : i+1]
		}
	}
	for _, s := range in {
		for i := range len(s) {
			if strings.IndexByte(out, s[i]) < 0 && strings.IndexByte(e.k, s[i]) < 0 {
				e.k += s[i : i+1]
			}
		}
	}
	return e
}

// product of the labels' sizes in tensors of shapes a and b.
func (e *pairProduct) product(labels string, a, b []int) int {
	n := 1
	for i := range len(labels) {
		n *= e.size(labels[i], a, b)
	}
	return n
}

func (e *pairProduct) dimensions(a, b []int) (stack, rows, cols, k int) {
	return e.product(e.stack, a, b), e.product(e.rows, a, b), e.product(e.cols, a, b), e.product(e.k, a, b)
}

// memory is the number of elements that run works in.
func (e *pairProduct) memory(a, b []int) int {
	stack, rows, cols, k := e.dimensions(a, b)
	return stack * (rows*k + k*cols + rows*cols)
}

// runPair brings both operands to [stack, m, k] and [stack, k, n], multiplies, and
// orders the result. Labels of one operand that the output lacks are part of k, repeated
// in the other.
func runPair[T kernel.Float](e *pairProduct, dst, buf []T, a, b Operand[T]) {
	stack, rows, cols, k := e.dimensions(a.Shape, b.Shape)
	pa, rest := buf[:stack*rows*k], buf[stack*rows*k:]
	pb, pc := rest[:stack*k*cols], rest[stack*k*cols:stack*(k*cols+rows*cols)]
	arrange(e, pa, a.F, e.in[0], e.stack+e.rows+e.k, a.Shape, b.Shape)
	arrange(e, pb, b.F, e.in[1], e.stack+e.k+e.cols, a.Shape, b.Shape)
	for s := range stack {
		kernel.Gemm(pc[s*rows*cols:(s+1)*rows*cols], pa[s*rows*k:], pb[s*k*cols:], rows, cols, k)
	}
	arrange(e, dst, pc, e.stack+e.rows+e.cols, e.out, a.Shape, b.Shape)
}

func (e *pairProduct) size(label byte, a, b []int) int {
	if i := strings.IndexByte(e.in[0], label); i >= 0 {
		return a[i]
	}
	return b[strings.IndexByte(e.in[1], label)]
}

// stridesFor gives the sizes of axes to, and their strides in a dense tensor
// with axes from; labels that from lacks have stride 0.
func (e *pairProduct) stridesFor(from, to string, a, b []int, size, stride []int) {
	for i := range len(to) {
		size[i] = e.size(to[i], a, b)
		stride[i] = 0
		s := 1
		for j := len(from) - 1; j >= 0; j-- {
			if from[j] == to[i] {
				stride[i] = s
				break
			}
			s *= e.size(from[j], a, b)
		}
	}
}

// arrange copies src, with axes from, to dst with axes to.
func arrange[T kernel.Float](e *pairProduct, dst, src []T, from, to string, a, b []int) {
	var size, stride [maxLabels]int
	e.stridesFor(from, to, a, b, size[:], stride[:])
	strided(dst, src, 0, size[:len(to)], stride[:len(to)])
}
