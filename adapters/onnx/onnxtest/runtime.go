package onnxtest

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing/fstest"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/adapters/onnx/onnxruntime"
)

// Runtime is an onnxruntime.Runtime that computes by onnx.GoEngine in float32, for tests of what is computed by ONNX Runtime
// where there is none. It is fed as that is: tensors of one number of rows, their memory as the file says.
type Runtime struct {
	Apart float64 // how far its outputs are from what they should be
}

// Version is none of ONNX Runtime's.
func (Runtime) Version() string { return "0.0.0" }

// Open is onnxruntime.Runtime's, for networks of floats whose first axis is the rows'.
func (r Runtime) Open(n onnxruntime.Network) (onnxruntime.Session, error) {
	beside := fstest.MapFS{}
	for location, content := range n.External {
		beside[location] = &fstest.MapFile{Data: content}
	}
	g, err := onnx.Load(bytes.NewReader(n.File), &onnx.LoadOptions{External: beside})
	if err != nil {
		return nil, err
	}
	var names []string
	for _, t := range n.Outputs {
		names = append(names, t.Name)
	}
	e, err := onnx.GoEngine{Precision: onnx.Single}.Prepare(g, names)
	if err != nil {
		return nil, err
	}
	return &session{n, e, r.Apart}, nil
}

type session struct {
	of    onnxruntime.Network
	e     onnx.Evaluator
	apart float64
}

func (s *session) Close() error { return nil }

func (s *session) NewCall() (onnxruntime.Call, error) {
	in, err := onnxruntime.Memory(s.of.Inputs)
	if err != nil {
		return nil, err
	}
	out, err := onnxruntime.Memory(s.of.Outputs)
	return &call{s, in, out}, err
}

type call struct {
	*session
	in, out [][]byte
}

func (c *call) In(i int) []byte  { return c.in[i] }
func (c *call) Out(i int) []byte { return c.out[i] }

func (c *call) Run() error {
	floats := func(b []byte) []float64 {
		x := make([]float64, len(b)/4)
		for i := range x {
			x[i] = float64(math.Float32frombits(binary.NativeEndian.Uint32(b[4*i:])))
		}
		return x
	}
	var in, out [][]float64
	for _, b := range c.in {
		in = append(in, floats(b))
	}
	for _, b := range c.out {
		out = append(out, floats(b))
	}
	if err := c.e.Run(out, in, int(c.of.Inputs[0].Shape[0])); err != nil {
		return err
	}
	for k, x := range out {
		for i, v := range x {
			binary.NativeEndian.PutUint32(c.out[k][4*i:], math.Float32bits(float32(v+c.apart)))
		}
	}
	return nil
}
