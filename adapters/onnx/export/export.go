// Package export writes a decomposition into the ONNX file of its network: the network's
// own graph and outputs as they are, and an output for every part of every predictor. Any
// runtime then computes predictions and contributions in one run.
//
// Nodes are added behind the file's, named pho/..., and parts are found by these names, so that
// taking them out again gives the network back, and writing twice is writing once. Sums of float32
// units stay float32 unless they are large: a cast of the units would take longer than the network
// and save no digit that they have. Trees of a part are written from their layout and not from the
// attributes in the file, which holds no tree of the branches of one part.
package export

import (
	"errors"
	"fmt"
	"io"
	"math"

	"google.golang.org/protobuf/proto"

	"github.com/pho-go/pho/adapters/internal/onnxbasis"
	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/adapters/onnx/internal/parts"
	"github.com/pho-go/pho/decompose"
)

// Write writes to w the file of the network m, with the parts of r as further outputs, each
// N x 1 and of the predictor's type (float64, else float32): TERM for every term, intercept,
// unstructured and eta, which is their sum; PREDICTOR/TERM and so on if there are several
// predictors. A name that the file uses otherwise becomes pho/NAME. The metadata entry
// onnx.MetadataStructure says which outputs are parts; package onnx passes them over.
//
// Terms are computed from the network's own inputs, in their types; in float64, and rounded
// at the end, but for sums of a network's float32 units and lines in its float32 inputs that
// vary less than the predictor. A column that it does not read becomes an input of its own, N x 1 and
// float64, or string if a level is no number. A level that a term does not know makes its
// value NaN. The file keeps its opset. A predictor, or a learned basis, inside of an operator
// of the file is computed beside it, as a function of tensors that the file has.
//
// file is what m was loaded from; parts that it holds already are replaced, and data that it
// keeps in other files come into this one. All that cannot be written is told at once.
func Write(w io.Writer, file File, m *onnx.Model, r *decompose.Result, o *Options) error {
	f, err := build(file, m, result(r), o)
	if err != nil {
		return err
	}
	out, err := proto.MarshalOptions{Deterministic: true}.Marshal(f.model)
	if err != nil {
		return err
	}
	_, err = w.Write(out)
	return err
}

// Check refuses what Write could not write of the network m, whose file that is, and of the
// terms of with: m itself, or m with the terms of formulas. It reads no rows.
func Check(file File, m *onnx.Model, with decompose.Model, o *Options) error {
	_, err := build(file, m, planned(with), o)
	return err
}

// Options say how the predictors that are written differ from the network's. nil, and the
// zero value: they do not.
type Options struct {
	// Mixtures has for each predictor that is written one number for each of the network's:
	// what it is made of, as classes that are centred are. nil: predictors are the
	// network's.
	Mixtures [][]float64
	// Joined names the taps of the network that a tap of the decomposition has side by side.
	Joined map[string][]string
}

// maxFile bounds an ONNX file: what reads it counts its bytes in int32.
const maxFile = math.MaxInt32

// fits refuses a file of more than limit bytes, before memory is asked for.
func (f *file) fits(limit int) error {
	if size := proto.Size(f.model); size > limit {
		return fmt.Errorf("onnx: the network with its parts in one file would take %d bytes, and an ONNX file holds %d: decompose it without writing that file", size, limit)
	}
	return nil
}

// File is what a network was loaded from.
type File struct {
	Model []byte // the ONNX file
	// External are the files that Model keeps data of its tensors in, by location, as
	// onnx.Graph.External has them; nil: none. Nothing is written to them.
	External map[string][]byte
}

// predictor is what is written of one.
type predictor struct {
	name      string
	intercept float64
	sd        float64 // of eta
	terms     []term
}

// term is a basis, its coefficients, what is subtracted from their product, and the standard
// deviation of that.
type term struct {
	of         decompose.Term
	coef       []float64
	center, sd float64
	margins    []decompose.Piece // added: what belongs to others
}

// result lists what r says.
func result(r *decompose.Result) []predictor {
	var out []predictor
	for _, p := range r.Predictors {
		own := predictor{name: p.Name, intercept: p.Intercept, sd: math.Sqrt(max(p.Variance.Total, 0))}
		for i := range p.Terms {
			t := &p.Terms[i]
			pieces := p.Pieces(i)
			own.terms = append(own.terms, term{t.Term(), pieces[0].Coef, t.Center, math.Sqrt(max(t.After.Variance, 0)), pieces[1:]})
		}
		out = append(out, own)
	}
	return out
}

// planned lists what a model will be decomposed into.
func planned(m decompose.Model) []predictor {
	var out []predictor
	for k, name := range m.Predictors() {
		own := predictor{name: name}
		for _, b := range m.Blocks(k) {
			own.terms = append(own.terms, term{of: b.Term, coef: make([]float64, b.Term.Dim())})
		}
		out = append(out, own)
	}
	return out
}

func build(raw File, m *onnx.Model, all []predictor, o *Options) (*file, error) {
	if o == nil {
		o = &Options{}
	}
	f, err := read(raw)
	if err != nil {
		return nil, err
	}
	f.imports("", fallback(f.model.GetIrVersion()))
	c, err := newColumns(f, m)
	if err != nil {
		return nil, err
	}
	c.basis = onnxbasis.New(c, c)
	w := &writer{columns: c, net: m, o: o, all: len(all)}
	if own := len(m.Predictors()); o.Mixtures == nil && len(all) != own || o.Mixtures != nil && len(all) != len(o.Mixtures) {
		return nil, fmt.Errorf("onnx: the decomposition has %d predictors and the network %d", len(all), len(m.Predictors()))
	}
	c.addInputs(all)
	var faults []error
	for k, p := range all {
		if err := w.predictor(k, p); err != nil {
			faults = append(faults, err)
		}
	}
	if err := errors.Join(append(faults, f.faults...)...); err != nil {
		return nil, fmt.Errorf("onnx: the decomposition cannot be written into the network's file: %w", err)
	}
	if err := (&parts.Parts{Inputs: c.inputs, Outputs: w.own}).Add(f.model, onnx.DeclarationFormat); err != nil {
		return nil, err
	}
	return f, f.fits(maxFile)
}

// fallback is an opset of ai.onnx for a file that imports none of it, of that IR version.
func fallback(ir int64) int64 {
	switch {
	case ir < 4:
		return 8
	case ir < 7:
		return 9
	}
	return 13
}
