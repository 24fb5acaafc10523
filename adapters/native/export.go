package native

import (
	"io"

	"github.com/pho-go/pho/adapters/native/internal/onnxfile"
	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/family"
)

// ExportOptions are the choices of WriteONNX; nil and the zero value are the
// defaults.
type ExportOptions struct {
	// Double writes float64 tensors; else they are float32, as networks usually are. ONNX
	// Runtime has no float64 kernels for the operators of GELU and Softplus.
	Double bool
}

// WriteONNX writes the network as an ONNX file (opset 17). Its inputs are the data columns
// by their names, [N, 1] each; its outputs are the predictors by theirs, on the link scale,
// [N, 1] each. Of classes it is one output, "probability" [N, K]: the softmax of the
// predictors.
//
// The graph shows the terms. A linear term is its column times a number. A feature network
// ends in the tensor "f(x).basis", a spline in the tensor "s(x).basis" of its columns,
// which are exact piecewise polynomials in float64; a last linear layer has the
// coefficients of both, so that discovery finds them as learned terms. The file's metadata
// also declare the formula's terms, linear ones apart (onnx.Declaration): read back with a
// decoder, they are the terms of the formula again, with their penalties.
//
// A deep part that was orthogonalized online is written as Forward computes it, with the
// projection of the training rows folded into the coefficients: eta = X (beta - alpha) +
// zeta. So the coefficients in the file are not beta; decomposing it moves alpha back.
//
// A column of text is an input of numbers, the places of its levels: see Labels, which the
// metadata hold too (onnx.MetadataLabels). Of a family other than gaussian they hold its
// name and the response (onnx.MetadataResponse).
//
// What has no counterpart in ONNX is an error: smooths of another package's class that does
// not say what it computes (basis.Express); levels that are no float32, unless Double; and a
// model that reads no column, for a graph without inputs has no rows. Config.Export asks before
// training.
func (m *Model) WriteONNX(w io.Writer, o *ExportOptions) error {
	double := o != nil && o.Double
	return onnxfile.Write(w, m.file(), double)
}

// file is the model as it is written. A graph holds one set of coefficients for each
// basis, so X beta and -X alpha of a fixed projection are one there, X (beta - alpha).
func (m *Model) file() *onnxfile.Model {
	f := &onnxfile.Model{Columns: m.columns, Towers: m.net.Towers, Levels: m.levels, Ranges: m.ranges, Labels: m.Labels(), Response: m.trainedFor()}
	f.Softmax = family.TraitsOf(m.family).Nominal
	for k, name := range m.names {
		p := onnxfile.Predictor{Name: name, Intercept: m.intercept[k], Blocks: m.blocks[k]}
		if a := m.projected[k]; a != nil {
			p.Intercept, p.Blocks = p.Intercept-a.intercept, a.subtracted(p.Blocks)
		}
		f.Predictors = append(f.Predictors, p)
	}
	return f
}

// rangesOf are the least and the largest value of the columns that formula terms
// read.
func rangesOf(blocks [][]decompose.Block, b *data.Batch) map[string]onnx.Domain {
	out := map[string]onnx.Domain{}
	for _, own := range blocks {
		for _, block := range own {
			for _, c := range block.Term.Columns() {
				x, err := b.Numeric(c)
				if err != nil || len(x) == 0 { // text
					continue
				}
				at := onnx.Domain{From: x[0], To: x[0]}
				for _, v := range x {
					at.From, at.To = min(at.From, v), max(at.To, v)
				}
				out[c] = at
			}
		}
	}
	return out
}
