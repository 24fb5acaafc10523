package operator

import (
	"math"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// attending is an attention at work: its memory, and the bias that is added to scores.
type attending[T kernel.Float] struct {
	*attention
	x                              *Exec[T]
	queries, keysT, values, result []T
	scores, bias                   []T
	biased                         bool // there is a bias
}

func compileAttention[T kernel.Float](n *graph.Node) Step[T] {
	a := n.Resolved.(*attention)
	return func(x *Exec[T]) error {
		w := attending[T]{attention: a, x: x, biased: a.mask != nil || a.valid || a.bounded()}
		temp := x.temp(a.Scratch())
		for _, part := range []struct {
			of *[]T
			n  int
		}{{&w.queries, a.q.length * a.q.size}, {&w.keysT, a.keys * a.q.size}, {&w.values, a.keys * a.v.size},
			{&w.scores, a.q.length * a.keys}, {&w.bias, a.q.length * a.keys}, {&w.result, a.q.length * a.v.size}} {
			*part.of, temp = temp[:part.n], temp[part.n:]
		}
		shared := a.q.count / a.k.count
		for b := range x.In[0].Shape[0] {
			for h := range a.q.count {
				if w.biased && (b == 0 && h == 0 || a.seesBatch && h == 0 || a.seesHead) {
					w.fillBias(b, h)
				}
				if h%shared == 0 {
					w.gatherKeys(b, h/shared)
				}
				w.head(b, h)
			}
		}
		return nil
	}
}

// operand is an input's numbers, nil if it is left out.
func (w *attending[T]) operand(i int) []T {
	if i >= len(w.x.In) {
		return nil
	}
	return w.x.In[i].F
}

// shown is an output's numbers, nil if nobody asks for it.
func (w *attending[T]) shown(i int) []T {
	if i >= len(w.x.Out) {
		return nil
	}
	return w.x.Out[i].F
}

// gatherKeys copies a head's values, and its keys turned, and shows both.
func (w *attending[T]) gatherKeys(b, h int) {
	size := w.v.size
	for j := range w.keys {
		copy(w.values[j*size:(j+1)*size], w.entry(b, h, j, 2, attentionPastValue, w.v))
		for d, x := range w.entry(b, h, j, 1, attentionPastKey, w.k) {
			w.keysT[d*w.keys+j] = x
		}
	}
	if present := w.shown(1); present != nil {
		for j := range w.keys {
			copy(present[((b*w.k.count+h)*w.keys+j)*w.k.size:], w.entry(b, h, j, 1, attentionPastKey, w.k))
		}
	}
	if present := w.shown(2); present != nil {
		copy(present[(b*w.v.count+h)*w.keys*size:], w.values)
	}
}

// entry is key or value j of a head.
func (w *attending[T]) entry(b, h, j, in, past int, of heads) []T {
	if j < w.past {
		at := ((b*of.count+h)*w.past + j) * of.size
		return w.operand(past)[at : at+of.size]
	}
	at := of.row(b, h, j-w.past)
	return w.operand(in)[at : at+of.size]
}

// head computes softmax(scale Q K' + bias) V of a head.
func (w *attending[T]) head(b, h int) {
	scale := T(w.scale)
	for i := range w.q.length {
		at := w.q.row(b, h, i)
		q := w.queries[i*w.q.size : (i+1)*w.q.size]
		for d, x := range w.operand(0)[at : at+w.q.size] {
			q[d] = x * scale
		}
	}
	kernel.Gemm(w.scores, w.queries, w.keysT, w.q.length, w.keys, w.q.size)
	w.show(b, h, 0)
	if w.cap > 0 {
		limit := []T{T(w.cap)}
		kernel.Div(w.scores, w.scores, limit)
		kernel.Tanh(w.scores, w.scores)
		kernel.Mul(w.scores, w.scores, limit)
	}
	w.show(b, h, 1)
	if w.biased {
		kernel.Add(w.scores, w.scores, w.bias)
	}
	w.show(b, h, 2)
	w.softmax()
	w.show(b, h, 3)
	kernel.Gemm(w.result, w.scores, w.values, w.q.length, w.v.size, w.keys)
	out := w.x.Out[0].F
	for i := range w.q.length {
		copy(out[w.out.row(b, h, i):], w.result[i*w.v.size:(i+1)*w.v.size])
	}
}

// show copies the scores to the output that shows them, if it does so at this stage. The
// raw ones are those of a file that shows capped ones without a cap.
func (w *attending[T]) show(b, h int, stage int64) {
	if out := w.shown(3); out != nil && w.mode == stage {
		copy(out[(b*w.q.count+h)*len(w.scores):], w.scores)
	}
}

// softmax overwrites the scores with weights, which sum to 1 for each query: all are 0 if
// it may see nothing. The exponentials of all queries are one call: rows are short.
func (w *attending[T]) softmax() {
	n := w.keys
	if n == 0 {
		return
	}
	hidden := T(math.Inf(-1))
	for i := range w.q.length {
		row := w.scores[i*n : (i+1)*n]
		top := row[0]
		for _, s := range row {
			top = max(top, s)
		}
		if top == hidden || w.biased && nothingSeen(w.bias[i*n:(i+1)*n]) {
			for j := range row {
				row[j] = hidden
			}
			continue
		}
		for j, s := range row {
			row[j] = s - top
		}
	}
	kernel.Exp(w.scores, w.scores)
	for i := range w.q.length {
		row := w.scores[i*n : (i+1)*n]
		sum := 0.0
		for _, e := range row {
			sum += float64(e)
		}
		if sum == 0 {
			continue
		}
		factor := T(1 / sum)
		for j := range row {
			row[j] *= factor
		}
	}
}

func nothingSeen[T kernel.Float](bias []T) bool {
	for _, b := range bias {
		if !math.IsInf(float64(b), -1) {
			return false
		}
	}
	return true
}

// fillBias sets what is added to the scores of a head: the mask, and -Inf where a key is
// out of reach or padding.
func (w *attending[T]) fillBias(b, h int) {
	const far = 1 << 40 // beyond any key, and without overflow
	valid := int64(w.keys)
	if w.valid {
		valid = min(max(w.x.In[attentionValid].I[b], -far), far)
	}
	offset, hidden := w.before(valid), T(math.Inf(-1))
	for i := range w.q.length {
		row := w.bias[i*w.keys : (i+1)*w.keys]
		w.maskRow(row, b, h, i)
		for j := range row {
			if int64(j) >= valid || w.bounded() && !w.seen(i, j, offset) {
				row[j] += hidden
			}
		}
	}
}

// maskRow sets the row to the mask of a query.
func (w *attending[T]) maskRow(row []T, b, h, i int) {
	clear(row)
	if w.mask == nil {
		return
	}
	in := w.x.In[attentionMask]
	at, hidden := 0, T(math.Inf(-1))
	for axis, k := range []int{b, h, i} {
		if d := w.mask[axis]; d != 1 {
			at = at*w.sizeOf(axis) + k
		}
	}
	at *= w.maskKeys
	for j := range row {
		switch {
		case j >= w.maskKeys:
			row[j] = hidden
		case !w.boolean:
			row[j] = in.F[at+j]
		case in.I[at+j] == 0:
			row[j] = hidden
		}
	}
}

// sizeOf is the size of an axis of the scores.
func (w *attending[T]) sizeOf(axis int) int {
	return []int{w.x.In[0].Shape[0], w.q.count, w.q.length}[axis]
}
