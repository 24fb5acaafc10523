package oip

import (
	"slices"
)

// Reset empties the request, and keeps its memory.
func (r *Request) Reset() {
	r.ID, r.BinaryOutput, r.Rows = "", false, -1
	r.Inputs, r.Outputs, r.Parameters, r.Passed = r.Inputs[:0], r.Outputs[:0], r.Parameters[:0], r.Passed[:0]
	r.numbers, r.codes = r.numbers[:0], r.codes[:0]
}

// Parse reads a request into r, which it resets first. header is how many bytes of the
// body are JSON (the header field Inference-Header-Content-Length); the rest is the binary
// data of the tensors in their order; negative: all of it is JSON. The body may be
// overwritten afterwards. An *Error is the client's fault.
func (r *Request) Parse(body []byte, header int) error {
	r.Reset()
	if header < 0 {
		header = len(body)
	}
	if header > len(body) {
		return errorf("the header field Inference-Header-Content-Length says %d, and the body has %d bytes", header, len(body))
	}
	p := parser{scanner{b: body[:header], scratch: r.scratch}, r}
	err := p.request()
	r.scratch = p.scratch
	if err != nil {
		return err
	}
	return r.tensors(body[header:])
}

// parser reads a request's JSON.
type parser struct {
	scanner
	r *Request
}

// once remembers that a field was there, and refuses it a second time.
func once(seen *uint8, bit uint8, name []byte) error {
	if *seen&(1<<bit) != 0 {
		return errorf("there are two fields %q in one object", name)
	}
	*seen |= 1 << bit
	return nil
}

func (p *parser) request() error {
	var seen uint8
	err := p.object("an object, the request", func(name []byte) error {
		switch string(name) {
		case "id":
			if err := once(&seen, 0, name); err != nil {
				return err
			}
			id, err := p.text()
			p.r.ID = string(id)
			return err
		case "inputs":
			if err := once(&seen, 1, name); err != nil {
				return err
			}
			return p.array("an array, the inputs", p.input)
		case "rows":
			if err := once(&seen, 4, name); err != nil {
				return err
			}
			return p.rows()
		case "outputs":
			if err := once(&seen, 2, name); err != nil {
				return err
			}
			return p.array("an array, the outputs", p.output)
		case "parameters":
			if err := once(&seen, 3, name); err != nil {
				return err
			}
			return p.object("an object, the parameters", p.parameter)
		}
		return p.skip(1)
	})
	if err != nil {
		return err
	}
	if p.peek() != 0 || p.at < len(p.b) {
		return p.fail("its end; with binary data behind the JSON, the header field Inference-Header-Content-Length says where that begins: it")
	}
	switch seen & (1<<1 | 1<<4) {
	case 0:
		return errorf("the request has no inputs and no rows")
	case 1<<1 | 1<<4:
		return errorf("the request has inputs and rows: one of them is too many")
	}
	return nil
}

// grow is a slice with one element more, whose memory may have been used before.
func grow[T any](s []T) ([]T, *T) {
	if len(s) < cap(s) {
		s = s[:len(s)+1]
	} else {
		var zero T
		s = append(s, zero)
	}
	return s, &s[len(s)-1]
}

// same is the text as a string: old, if that says the same.
func same(old string, text []byte) string {
	if old == string(text) {
		return old
	}
	return string(text)
}

func (p *parser) input() error {
	var t *Tensor
	p.r.Inputs, t = grow(p.r.Inputs)
	*t = Tensor{Name: t.Name, Shape: t.Shape[:0], Levels: t.Levels, binary: -1}
	var seen uint8
	err := p.object("an object, a tensor", func(name []byte) error {
		switch string(name) {
		case "name":
			if err := once(&seen, 0, name); err != nil {
				return err
			}
			text, err := p.text()
			t.Name = same(t.Name, text)
			return err
		case "datatype":
			if err := once(&seen, 1, name); err != nil {
				return err
			}
			text, err := p.text()
			if err != nil {
				return err
			}
			var known bool
			if t.Datatype, known = datatype(text); !known {
				return errorf("datatype %.40q is none of BOOL, UINT8 to UINT64, INT8 to INT64, FP16, FP32, FP64 and BYTES", text)
			}
			return nil
		case "shape":
			if err := once(&seen, 2, name); err != nil {
				return err
			}
			return p.array("an array, the shape", func() error {
				d, err := p.whole("a whole number, a length")
				if len(t.Shape) == 16 {
					return errorf("a shape of more than 16 dimensions")
				}
				t.Shape = append(t.Shape, d)
				return err
			})
		case "data":
			if err := once(&seen, 3, name); err != nil {
				return err
			}
			return p.data(t)
		case "parameters":
			if err := once(&seen, 4, name); err != nil {
				return err
			}
			return p.object("an object, the parameters", func(name []byte) error {
				if string(name) != "binary_data_size" {
					return p.skip(1)
				}
				var err error
				t.binary, err = p.whole("a number of bytes")
				return err
			})
		}
		return p.skip(1)
	})
	if err != nil {
		return err
	}
	for bit, name := range []string{"name", "datatype", "shape"} {
		if seen&(1<<bit) == 0 {
			return errorf("input %d of the request has no %s", len(p.r.Inputs), name)
		}
	}
	return nil
}

func (p *parser) output() error {
	var o *Output
	p.r.Outputs, o = grow(p.r.Outputs)
	*o = Output{Name: o.Name}
	named := false
	err := p.object("an object, an output", func(name []byte) error {
		switch string(name) {
		case "name":
			named = true
			text, err := p.text()
			o.Name = same(o.Name, text)
			return err
		case "parameters":
			return p.object("an object, the parameters", func(name []byte) error {
				switch string(name) {
				case "binary_data":
					v, err := p.boolean()
					o.Binary = No
					if v {
						o.Binary = Yes
					}
					return err
				case "classification":
					return errorf("output %q: there is no classification of outputs here", o.Name)
				}
				return p.skip(1)
			})
		}
		return p.skip(1)
	})
	if err == nil && !named {
		err = errorf("output %d of the request has no name", len(p.r.Outputs))
	}
	return err
}

// parameter reads a parameter of the request. Others than scalars are passed over.
func (p *parser) parameter(name []byte) error {
	own := Parameter{Name: string(name)}
	var err error
	switch p.peek() {
	case '"':
		var text []byte
		text, err = p.text()
		own.Value = string(text)
	case 't', 'f':
		own.Value, err = p.boolean()
	case '{', '[', 'n':
		return p.skip(1)
	default:
		own.Value, err = p.number()
	}
	if err != nil {
		return err
	}
	if slices.ContainsFunc(p.r.Parameters, func(o Parameter) bool { return o.Name == own.Name }) {
		return errorf("there are two parameters %.40q", own.Name)
	}
	if own.Name == "binary_data_output" {
		yes, ok := own.Value.(bool)
		if !ok {
			return errorf("the parameter binary_data_output is true or false")
		}
		p.r.BinaryOutput = yes
		return nil
	}
	p.r.Parameters = append(p.r.Parameters, own)
	return nil
}
