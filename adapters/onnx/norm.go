package onnx

import (
	"errors"
	"fmt"
	"math"

	"github.com/pho-go/pho/internal/kernel"
)

// normOps normalise over axes other than the batch axis.
func normOps[T kernel.Float](t table[T]) {
	t["Softmax"] = softmaxOp[T](false)
	t["LogSoftmax"] = softmaxOp[T](true)
	t["BatchNormalization"] = operator[T]{min: 5, max: 5, outputs: 1, infer: inferBatchNorm, compile: compileBatchNorm[T]}
	t["LayerNormalization"] = operator[T]{min: 2, max: 3, outputs: 1, infer: inferLayerNorm, compile: compileLayerNorm[T]}
	t["InstanceNormalization"] = operator[T]{min: 3, max: 3, outputs: 1, infer: inferInstanceNorm, compile: compileInstanceNorm[T]}
}

// softmaxBlock is (outer, n, inner): the sum runs over n. Before opset 13 the
// tensor is taken as a matrix split at axis.
func softmaxBlock(n *Node, shape []int) (outer, size, inner int, err error) {
	def := int64(-1)
	if n.Version < 13 {
		def = 1
	}
	at, err := axis(n.attrInt("axis", def), len(shape))
	if err != nil {
		return 0, 0, 0, err
	}
	end := at + 1
	if n.Version < 13 {
		end = len(shape)
	}
	for _, d := range shape[at:end] {
		if d == Batch {
			return 0, 0, 0, fmt.Errorf("mixes rows: it sums over the batch axis of %s", showShape(shape))
		}
	}
	return product(shape[:at]), product(shape[at:end]), product(shape[end:]), nil
}

func softmaxOp[T kernel.Float](logarithm bool) operator[T] {
	return operator[T]{min: 1, max: 1, outputs: 1, inPlace: true,
		infer: func(c *nodeCheck) error {
			if err := c.floating(0); err != nil {
				return err
			}
			if _, _, _, err := softmaxBlock(c.Node, c.Inputs[0].Shape); err != nil {
				return err
			}
			return c.set(0, c.Inputs[0].Type, c.Inputs[0].Shape)
		},
		compile: func(n *Node) (step[T], error) {
			return func(x *exec[T]) error {
				outer, size, inner, err := softmaxBlock(n, x.in[0].shape)
				if err != nil || size == 0 {
					return err
				}
				in, out := x.in[0].f, x.out[0].f
				for o := range outer {
					for i := range inner {
						softmaxRun(out[o*size*inner+i:], in[o*size*inner+i:], size, inner, logarithm)
					}
				}
				return nil
			}, nil
		}}
}

// softmaxRun works on n elements a stride apart; dst may be src.
func softmaxRun[T kernel.Float](dst, src []T, n, stride int, logarithm bool) {
	top := src[0]
	for i := range n {
		top = max(top, src[i*stride])
	}
	sum := 0.0
	for i := range n {
		e := math.Exp(float64(src[i*stride] - top))
		sum += e
		if !logarithm {
			dst[i*stride] = T(e)
		}
	}
	log := T(math.Log(sum))
	for i := range n {
		if logarithm {
			dst[i*stride] = src[i*stride] - top - log
		} else {
			dst[i*stride] = T(float64(dst[i*stride]) / sum)
		}
	}
}

// channel requires input i to be a constant or value of shape [n].
func (c *nodeCheck) channel(i, n int) error {
	if v := c.Inputs[i]; len(v.Shape) != 1 || v.Shape[0] != n || !v.Type.Floating() {
		return fmt.Errorf("input %d (%q) must have shape [%d], has %s", i, v.Name, n, showShape(v.Shape))
	}
	return nil
}

func inferBatchNorm(c *nodeCheck) error {
	if c.attrInt("training_mode", 0) != 0 {
		return errors.New("is in training mode: it would normalise over the rows; export the model in evaluation mode")
	}
	in := c.Inputs[0].Shape
	if err := c.floating(0); err != nil {
		return err
	}
	if len(in) < 1 {
		return errors.New("needs a tensor with channels")
	}
	channels := 1
	if len(in) > 1 {
		channels = in[1]
	}
	if channels == Batch {
		return fmt.Errorf("mixes rows: its channels are the batch axis of %s", showShape(in))
	}
	for i := 1; i < 5; i++ {
		if err := c.channel(i, channels); err != nil {
			return err
		}
	}
	return c.set(0, c.Inputs[0].Type, in)
}

// compileBatchNorm is y = scale (x - mean)/sqrt(var + eps) + bias per channel.
func compileBatchNorm[T kernel.Float](n *Node) (step[T], error) {
	eps := n.attrFloat("epsilon", 1e-5)
	return func(x *exec[T]) error {
		in, out := x.in[0], x.out[0]
		scale, bias, mean, variance := x.in[1].f, x.in[2].f, x.in[3].f, x.in[4].f
		channels := len(scale)
		outer, inner := 1, 1
		if len(in.shape) > 1 {
			outer, inner = in.shape[0], product(in.shape[2:])
		} else {
			outer = in.shape[0]
		}
		ab := x.temp(2 * channels)
		a, b := ab[:channels], ab[channels:]
		for c := range channels {
			s := float64(scale[c]) / math.Sqrt(float64(variance[c])+eps)
			a[c], b[c] = T(s), T(float64(bias[c])-s*float64(mean[c]))
		}
		for o := range outer {
			for c := range channels {
				from := (o*channels + c) * inner
				for i := from; i < from+inner; i++ {
					out.f[i] = T(a[c]*in.f[i]) + b[c]
				}
			}
		}
		return nil
	}, nil
}

func inferLayerNorm(c *nodeCheck) error {
	if err := c.floating(0); err != nil {
		return err
	}
	in := c.Inputs[0].Shape
	at, err := axis(c.attrInt("axis", -1), len(in))
	if err != nil {
		return err
	}
	for _, d := range in[at:] {
		if d == Batch {
			return fmt.Errorf("mixes rows: it normalises over the batch axis of %s", showShape(in))
		}
	}
	size, _ := elements(in[at:])
	for i := 1; i < len(c.Inputs); i++ {
		if v := c.Inputs[i]; v != nil {
			if n, _ := elements(v.Shape); n != size || v.BatchAxis() >= 0 || !v.Type.Floating() {
				return fmt.Errorf("input %d (%q) has shape %s; only the %d normalised elements are supported", i, v.Name, showShape(v.Shape), size)
			}
		}
	}
	return c.set(0, c.Inputs[0].Type, in)
}

func compileLayerNorm[T kernel.Float](n *Node) (step[T], error) {
	eps := n.attrFloat("epsilon", 1e-5)
	at, err := axis(n.attrInt("axis", -1), len(n.Inputs[0].Shape))
	return func(x *exec[T]) error {
		in, out, scale := x.in[0], x.out[0], x.in[1].f
		size := product(in.shape[at:])
		if size == 0 {
			return nil
		}
		var bias []T
		if len(x.in) > 2 {
			bias = x.in[2].f
		}
		for from := 0; from < len(in.f); from += size {
			row, dst := in.f[from:from+size], out.f[from:from+size]
			mean, sd := meanSD(row, eps)
			for i, v := range row {
				y := (float64(v) - mean) / sd * float64(scale[i])
				if bias != nil {
					y += float64(bias[i])
				}
				dst[i] = T(y)
			}
		}
		return nil
	}, err
}

// meanSD is the mean and sqrt(variance + eps), dividing by n.
func meanSD[T kernel.Float](v []T, eps float64) (mean, sd float64) {
	for _, x := range v {
		mean += float64(x)
	}
	mean /= float64(len(v))
	s := 0.0
	for _, x := range v {
		d := float64(x) - mean
		s += float64(d * d)
	}
	return mean, math.Sqrt(s/float64(len(v)) + eps)
}

func inferInstanceNorm(c *nodeCheck) error {
	if err := c.floating(0); err != nil {
		return err
	}
	in := c.Inputs[0].Shape
	if len(in) < 3 {
		return fmt.Errorf("needs a tensor [rows, channels, ...], has %s", showShape(in))
	}
	for _, d := range in[1:] {
		if d == Batch {
			return fmt.Errorf("mixes rows: the batch axis of %s is not the first", showShape(in))
		}
	}
	if err := errors.Join(c.channel(1, in[1]), c.channel(2, in[1])); err != nil {
		return err
	}
	return c.set(0, c.Inputs[0].Type, in)
}

func compileInstanceNorm[T kernel.Float](n *Node) (step[T], error) {
	eps := n.attrFloat("epsilon", 1e-5)
	return func(x *exec[T]) error {
		in, out, scale, bias := x.in[0], x.out[0], x.in[1].f, x.in[2].f
		size := product(in.shape[2:])
		if size == 0 {
			return nil
		}
		for k := range len(in.f) / size {
			row, dst := in.f[k*size:(k+1)*size], out.f[k*size:(k+1)*size]
			mean, sd := meanSD(row, eps)
			c := k % len(scale)
			for i, v := range row {
				dst[i] = T((float64(v)-mean)/sd*float64(scale[c]) + float64(bias[c]))
			}
		}
		return nil
	}, nil
}
