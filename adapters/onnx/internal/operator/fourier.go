package operator

import (
	"errors"
	"fmt"
	"math"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// fourierOps are discrete Fourier transforms.
func fourierOps[T kernel.Float]() []Entry[T] {
	return []Entry[T]{
		{Operator: graph.Operator{Name: "DFT", Versions: []int{17, 20}, Min: 1, Max: 3, Outputs: 1, Check: checkDFT},
			Rule: dftRule, Compile: compileDFT[T]},
		{Operator: graph.Operator{Name: "STFT", Versions: []int{17}, Min: 2, Max: 4, Outputs: 1, Check: checkSTFT},
			Rule: stftRule, Compile: compileSTFT[T]},
	}
}

// fourier is a transform of length n along an axis. Numbers are pairs, real and imaginary
// part, or real alone.
type fourier struct {
	n, axis         int
	size            int // of the axis
	in, out         int // numbers that are read and written along it
	inPart, outPart int // 1 or 2: parts of each
	inverse         bool
	half            bool // what is left out of the input mirrors it
	cos, sin        []float64
	short           bool // enough to be multiplied as a matrix
}

// oneInteger reads input i, a constant integer.
func oneInteger(c *graph.Check, i int) (int64, error) {
	v, err := c.Ints(i)
	if err != nil {
		return 0, err
	}
	if len(v) != 1 {
		return 0, fmt.Errorf("input %d (%q) must be one integer, has %d", i, c.Inputs[i].Name, len(v))
	}
	return v[0], nil
}

func checkDFT(c *graph.Check) error {
	if err := c.Floating(0); err != nil {
		return err
	}
	in := c.Inputs[0].Shape
	last := len(in) - 1
	if last < 1 || in[last] != 1 && in[last] != 2 {
		return fmt.Errorf("needs numbers of one part (real) or two along the last axis, has %s", graph.ShapeText(in))
	}
	at, err := transformedAxis(c, in)
	if err != nil {
		return err
	}
	f := &fourier{axis: at, size: in[at], inPart: in[last], outPart: 2, inverse: c.AttrInt("inverse", 0) != 0}
	oneSided := c.AttrInt("onesided", 0) != 0
	f.half = f.inverse && oneSided
	length := int64(in[at])
	if f.half {
		length = 2 * (length - 1)
	}
	if c.Has(1) {
		if length, err = oneInteger(c, 1); err != nil {
			return err
		}
	}
	if err := f.resolve(c, length, oneSided); err != nil {
		return err
	}
	out := append([]int{}, in...)
	out[at], out[last] = f.out, f.outPart
	c.Resolved = f
	if err := c.Set(0, c.Inputs[0].Type, out); err != nil {
		return err
	}
	return c.MultiplyAdds(out, f.in*f.inPart)
}

// transformedAxis is the axis of a DFT: an attribute, or since opset 20 an input.
func transformedAxis(c *graph.Check, in []int) (int, error) {
	axis := c.AttrInt("axis", 1)
	if c.Version >= 20 {
		axis = -2
		if c.Has(2) {
			var err error
			if axis, err = oneInteger(c, 2); err != nil {
				return 0, err
			}
		}
	}
	at, err := graph.Axis(axis, len(in))
	switch {
	case err != nil:
		return 0, err
	case at == len(in)-1:
		return 0, fmt.Errorf("axis %d holds the parts of the numbers", at)
	case graph.IsRows(in[at]):
		return 0, fmt.Errorf("mixes rows: it transforms along the batch axis %d", at)
	}
	return at, nil
}

// maxMatrix bounds the weights of a transform that is computed as a product of matrices.
const maxMatrix = 1 << 20

// matrix is the weights of the parts of a line, times a window if there is one, in those
// of its transform.
func matrix[T kernel.Float](f *fourier, window []float64) *kernel.Weights[T] {
	k, n := f.in*f.inPart, f.out*f.outPart
	w := make([]T, 0, k*n)
	for i := range k {
		scale := 1.0
		if window != nil {
			scale = window[i/f.inPart]
		}
		for o := range n {
			w = append(w, T(scale*f.weight(o/f.outPart, o%f.outPart, i/f.inPart, i%f.inPart)))
		}
	}
	return kernel.Pack(k, n, w, false)
}

// resolve settles the lengths and tabulates the angles.
func (f *fourier) resolve(c *graph.Check, length int64, oneSided bool) error {
	if length < 1 || length > 1<<24 {
		return fmt.Errorf("impossible length %d of a transform", length)
	}
	if err := c.Fits(2*int(length), "the angles", []int{int(length)}); err != nil {
		return err
	}
	f.n, f.out = int(length), int(length)
	f.in = min(f.size, f.n)
	switch {
	case f.half && f.inPart != 2:
		return errors.New("the inverse of a one-sided transform needs numbers of two parts")
	case f.half:
		f.in, f.outPart = min(f.size, f.n/2+1), 1
	case oneSided && f.inPart != 1:
		return errors.New("a one-sided transform needs real numbers")
	case oneSided:
		f.out = f.n/2 + 1
	}
	weights := []int{f.out, f.outPart, f.in, f.inPart}
	n, _ := graph.Elements(weights)
	f.short = n <= maxMatrix && c.Fits(n, "the weights", weights) == nil
	for k := range f.n {
		sin, cos := math.Sincos(2 * math.Pi * float64(k) / float64(f.n))
		f.cos, f.sin = append(f.cos, cos), append(f.sin, sin)
	}
	return nil
}

// weight is what part q of number j of the input counts in part p of number k of the output.
func (f *fourier) weight(k, p, j, q int) float64 {
	cos, sin := f.cos[k*j%f.n], -f.sin[k*j%f.n]
	if f.inverse {
		cos, sin = cos/float64(f.n), -sin/float64(f.n)
	}
	if f.half && j > 0 && 2*j != f.n { // its mirror image counts as much
		cos, sin = 2*cos, 2*sin
	}
	switch {
	case p == q:
		return cos
	case p == 0:
		return -sin
	}
	return sin
}

func compileDFT[T kernel.Float](n *graph.Node) Step[T] {
	f := n.Resolved.(*fourier)
	var weights *kernel.Weights[T]
	if f.short && f.axis == len(n.Inputs[0].Shape)-2 {
		weights = matrix[T](f, nil)
	}
	return func(x *Exec[T]) error {
		in, out := x.In[0], x.Out[0]
		if weights != nil {
			weights.Mul(out.F, f.out*f.outPart, in.F, f.size*f.inPart, graph.Product(in.Shape[:f.axis]), nil)
			return nil
		}
		outer, inner := graph.Product(in.Shape[:f.axis]), graph.Product(in.Shape[f.axis+1:len(in.Shape)-1])
		for o := range outer {
			for i := range inner {
				transform(f, out.F[(o*f.out*inner+i)*f.outPart:], in.F[(o*f.size*inner+i)*f.inPart:], inner)
			}
		}
		return nil
	}
}

// transform computes the numbers of one line, which are apart by a stride.
func transform[T kernel.Float](f *fourier, dst, src []T, stride int) {
	sign, scale := -1.0, 1.0
	if f.inverse {
		sign, scale = 1, 1/float64(f.n)
	}
	for k := range f.out {
		var re, im float64
		for j, angle := 0, 0; j < f.in; j++ {
			cos, sin := f.cos[angle], sign*f.sin[angle]
			if angle += k; angle >= f.n {
				angle -= f.n
			}
			if f.half && j > 0 && 2*j != f.n {
				cos, sin = 2*cos, 2*sin
			}
			a := float64(src[j*stride*f.inPart])
			re += float64(a * cos)
			im += float64(a * sin)
			if f.inPart == 2 {
				b := float64(src[j*stride*2+1])
				re -= float64(b * sin)
				im += float64(b * cos)
			}
		}
		dst[k*stride*f.outPart] = T(re * scale)
		if f.outPart == 2 {
			dst[k*stride*2+1] = T(im * scale)
		}
	}
}

func dftRule(n *graph.Node) Rule {
	f, ok := n.Resolved.(*fourier)
	if !ok {
		return opaque(n)
	}
	in := n.Inputs[0].RowShape()
	inner := graph.Product(in[f.axis+1 : len(in)-1])
	return Rule{Linear: true, Cost: f.in * f.inPart, Each: func(_, e int, yield Link) {
		p, i, k, o := e%f.outPart, e/f.outPart%inner, e/f.outPart/inner%f.out, e/f.outPart/inner/f.out
		for j := range f.in {
			for q := range f.inPart {
				yield(0, ((o*f.size+j)*inner+i)*f.inPart+q, f.weight(k, p, j, q))
			}
		}
	}}
}

// shortTime is an STFT: the transform of frames of the signal, step apart, each times a
// window.
type shortTime struct {
	*fourier
	frames, step int
	window       []float64 // nil: ones
}

// Scratch holds a frame. (It would do for all rows.)
func (s *shortTime) Scratch() int { return s.in * s.inPart }

// checkSTFT: [rows, length, parts] becomes [rows, frames, numbers, 2].
func checkSTFT(c *graph.Check) error {
	if err := c.Floating(0); err != nil {
		return err
	}
	in := c.Inputs[0].Shape
	if len(in) != 3 || graph.IsRows(in[1]) || in[2] != 1 && in[2] != 2 {
		return fmt.Errorf("needs a signal [rows, length, 1 or 2 parts], has %s", graph.ShapeText(in))
	}
	step, err := oneInteger(c, 1)
	if err != nil {
		return err
	}
	s := &shortTime{fourier: &fourier{axis: 1, inPart: in[2], outPart: 2}, step: int(min(step, math.MaxInt32))}
	length, err := s.frameLength(c)
	if err != nil {
		return err
	}
	if step < 1 || length < 1 || length > int64(in[1]) {
		return fmt.Errorf("frames of %d, %d apart, do not fit a signal of %d", length, step, in[1])
	}
	s.size = int(length)
	if err := s.resolve(c, length, c.AttrInt("onesided", 1) != 0); err != nil {
		return err
	}
	s.frames = (in[1]-s.size)/s.step + 1
	c.Resolved = s
	out := []int{in[0], s.frames, s.out, 2}
	if err := c.Set(0, c.Inputs[0].Type, out); err != nil {
		return err
	}
	return c.MultiplyAdds(out, s.in*s.inPart)
}

// frameLength reads the window and the length of the frames, which must be the same.
func (s *shortTime) frameLength(c *graph.Check) (int64, error) {
	length := int64(-1)
	if c.Has(2) {
		v := c.Inputs[2]
		if v.Const == nil || !v.Type.Floating() || len(v.Shape) != 1 {
			return 0, fmt.Errorf("the window (%q) must be a constant vector of floating numbers", v.Name)
		}
		s.window, length = v.Const.F, int64(len(v.Const.F))
	}
	if !c.Has(3) {
		return length, nil
	}
	n, err := oneInteger(c, 3)
	if err == nil && s.window != nil && n != length {
		err = fmt.Errorf("a window of %d for frames of %d", length, n)
	}
	return n, err
}

func compileSTFT[T kernel.Float](n *graph.Node) Step[T] {
	s := n.Resolved.(*shortTime)
	if s.short {
		return compileFrames[T](s)
	}
	return func(x *Exec[T]) error {
		frame := x.temp(s.in * s.inPart)
		length := x.In[0].Shape[1]
		for k := range x.In[0].Shape[0] * s.frames {
			from := (k/s.frames*length + k%s.frames*s.step) * s.inPart
			for i, v := range x.In[0].F[from : from+len(frame)] {
				if s.window != nil {
					v *= T(s.window[i/s.inPart])
				}
				frame[i] = v
			}
			transform(s.fourier, x.Out[0].F[k*s.out*2:], frame, 1)
		}
		return nil
	}
}

// compileFrames multiplies the frames of each row, which overlap in memory, by the matrix.
func compileFrames[T kernel.Float](s *shortTime) Step[T] {
	weights := matrix[T](s.fourier, s.window)
	return func(x *Exec[T]) error {
		length, width := x.In[0].Shape[1]*s.inPart, s.frames*s.out*2
		for r := range x.In[0].Shape[0] {
			weights.Mul(x.Out[0].F[r*width:], s.out*2, x.In[0].F[r*length:], s.step*s.inPart, s.frames, nil)
		}
		return nil
	}
}

func stftRule(n *graph.Node) Rule {
	s, ok := n.Resolved.(*shortTime)
	if !ok {
		return opaque(n)
	}
	return Rule{Linear: true, Cost: s.in * s.inPart, Each: func(_, e int, yield Link) {
		p, k, frame := e%2, e/2%s.out, e/2/s.out
		for i := range s.in * s.inPart {
			w := s.weight(k, p, i/s.inPart, i%s.inPart)
			if s.window != nil {
				w *= s.window[i/s.inPart]
			}
			yield(0, frame*s.step*s.inPart+i, w)
		}
	}}
}
