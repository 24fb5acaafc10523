package main

import (
	"math"
	"strings"

	"github.com/pho-go/pho/adapters/onnx"
)

// network is a file that networks.py writes.
type network struct {
	name, file string
	columns    int
	outputs    int  // 0: 1
	codes      int  // of the columns the last ones, that hold whole numbers from 0 to 99
	row        bool // one row to contributions is timed, too
	splines    bool // by a spline of each column, not by its own terms
	double     bool // the float32 file in our float64, too
	single     bool // there is no float64 file
	large      bool // with many rows only
	trees      bool
	work       work // for a bound; none: there is no bound
	units      bool // on matrix units, too, where there are some
}

var cases = []network{
	{name: "MLP 30-512-512-256-1", file: "wide", columns: 30, units: true, work: dense("", 30, 512, 512, 256, 1)},
	{name: "MLP 100-64-32-1, tanh", file: "tanh", columns: 100, work: dense("tanh", 100, 64, 32, 1)},
	{name: "MLP 100-64-32-1, SiLU", file: "silu", columns: 100, work: dense("SiLU", 100, 64, 32, 1)},
	{name: "MLP 100-64-32-1, GELU", file: "gelu", columns: 100, work: dense("GELU", 100, 64, 32, 1)},
	{name: "MLP 100-64-32-1, GELU of Div, Erf, Add, Mul", file: "gelu_spelled", columns: 100, work: work{adds: 100*64 + 64*32 + 32, function: "GELU", values: 64 + 32, spelled: true}},
	{name: "MLP 100-64-32-1, GELU by tanh", file: "gelu_tanh", columns: 100, work: dense("GELU by tanh", 100, 64, 32, 1)},
	{name: "MLP 100-64-32-1, batch norm and Relu", file: "batchnorm", columns: 100, work: dense("", 100, 64, 32, 1)},
	{name: "MLP 100-64-32-10, softmax", file: "softmax", columns: 100, outputs: 10, work: work{adds: 100*64 + 64*32 + 32*10, function: "exp", values: 10}},
	{name: "NAM 30 x (1-64-64-32-1)", file: "nam30", columns: 30, units: true, work: dense("", 1, 64, 64, 32, 1).times(30)},
	{name: "NAM 30 x (1-64-64-32-1) as grouped convolutions", file: "grouped_nam", columns: 30, units: true, work: dense("", 1, 64, 64, 32, 1).times(30)},
	{name: "grouped convolutions of 8 x 32, kernels of 5 and 3", file: "grouped_sensors", columns: 256, work: work{adds: 8*32*(8*5+8*8*3) + 64}},
	// The last of six layers is composed with the output.
	{name: "residual, width 256, 3 blocks", file: "residual", columns: 30, work: work{adds: 30*256 + 5*256*256 + 2*256}},
	{name: "embeddings of 10 columns, MLP 100-128-64-1", file: "embeddings", columns: 30, codes: 10, work: dense("", 100, 128, 64, 1)},
	{name: "100 trees of depth 6, 28 features", file: "trees_6", columns: 28, trees: true, single: true},
	{name: "1,000 trees of depth 3, 28 features", file: "trees_3", columns: 28, trees: true, single: true},
	{name: "MLP 10-200-200-1", file: "mlp", columns: 10, row: true, splines: true, double: true, units: true, work: dense("", 10, 200, 200, 1)},
	{name: "NAM 8 x (1-64-64-32-1)", file: "nam", columns: 8, row: true, double: true, units: true, work: dense("", 1, 64, 64, 32, 1).times(8)},
	{name: "LSTM 16 x 8, 32 units", file: "lstm", columns: 128, single: true, large: true},
	{name: "transformer of 10 features, width 16, 4 heads", file: "transformer", columns: 10, single: true, large: true},
	{name: "MLP 10-200-200-1 in QDQ form", file: "quantised", columns: 10, single: true, large: true},
}

// kind is the type of a network, here and there.
type kind struct {
	name      string // as printed
	suffix    string // of the file
	there     string
	precision onnx.Precision
	units     bool // products on matrix units
}

var (
	f32   = kind{"f32", "", "float32", onnx.Single, false}
	units = kind{"f32 on matrix units", "", "float32", onnx.Single, true}
	f64   = kind{"f64", ".f64", "float64", onnx.Double, false}
	mixed = kind{"f32 there and f64 here", "", "float32", onnx.Double, false}
)

// kinds lists how c is run with so many rows.
func (c *network) kinds(rows int) []kind {
	if c.large && rows < 1024 {
		return nil
	}
	list := []kind{f32}
	if c.units {
		list = append(list, units)
	}
	if !c.single {
		list = append(list, f64)
	}
	if c.double {
		list = append(list, mixed)
	}
	return list
}

// has reports whether p runs c: OpenVINO has no trees and no kernels for float64,
// LightGBM nothing but trees.
func (c *network) has(p *peer, k kind) bool {
	switch {
	case strings.HasPrefix(p.name, "OpenVINO"):
		return !c.trees && k.there == "float32"
	case strings.HasPrefix(p.name, "LightGBM"):
		return c.trees
	}
	return true
}

// wave is column j of row i. It has no period: a processor learns the way of rows that
// come again, and walks down trees three times as fast.
func wave(i, j int) float64 {
	return float64(float32(math.Sin(float64(i*i)*0.37 + float64((i+1)*j)*1.3)))
}

// values are the columns of the first rows, row by row.
func (c *network) values(rows int) []float64 {
	x := make([]float64, rows*c.columns)
	for i := range x {
		r, j := i/c.columns, i%c.columns
		if x[i] = wave(r, j); j >= c.columns-c.codes {
			x[i] = math.Floor((x[i] + 1) * 49.999)
		}
	}
	return x
}
