package onnx_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/adapters/onnx/internal/graphtest"
	"github.com/pho-go/pho/decompose"
)

// zooHeads are the heads of those networks of testdata/zoo that spell one in several
// nodes, and of some that end in no known one.
var zooHeads = map[string][]string{
	"jax/cumsum":                           {"softplus", "", "", "", ""},
	"jax/logaddexp":                        {"softplus"},
	"jax/rate":                             {"exp"},
	"torch_dynamo/counts":                  {"", "softplus", "sigmoid"},
	"torch_dynamo/head_cloglog":            {"inv_cloglog"},
	"torch_dynamo/head_elu_plus_one":       {""},
	"torch_dynamo/head_exp_clamped":        {"exp"},
	"torch_dynamo/head_probit":             {""},
	"torch_dynamo/head_sigmoid_hand":       {"sigmoid"},
	"torch_dynamo/head_sigmoid_tanh":       {"sigmoid"},
	"torch_dynamo/head_softmax_hand":       {"softmax", "softmax", "softmax"},
	"torch_dynamo/head_softmax_logsumexp":  {"logsoftmax", "logsoftmax", "logsoftmax"},
	"torch_dynamo/head_softplus":           {"softplus"},
	"torch_dynamo/head_softplus_beta":      {"softplus(beta=2)"},
	"torch_dynamo/head_softplus_floor":     {"softplus+0.001"},
	"torch_dynamo/head_softplus_logaddexp": {"softplus"},
	"torch_dynamo/head_softplus_stable":    {"softplus"},
	"torch_dynamo/head_softplus_where":     {"softplus"},
	"torch_dynamo/head_squareplus":         {""},
	"torch_dynamo/hazards":                 {"sigmoid", "sigmoid", "sigmoid", "sigmoid", "exp", "exp", "exp", "exp"},
	"torch_dynamo/ordinal":                 {"ordinal"},
	"torch_dynamo/ssn_heads":               {"", "softplus+0.001"},
	"torch_legacy/head_softplus_beta":      {"softplus(beta=2)"},
	"torch_legacy/head_softplus_where":     {"softplus"},
	"torch_legacy/ssn_heads":               {"", "softplus+0.001"},
}

// Heads of real exports: the response computed from the predictors is the output that
// ONNX Runtime computes. Networks that our engine refuses are passed over.
func TestZooHeads(t *testing.T) {
	compared, named := 0, 0
	for _, n := range zooNetworks(t) {
		g, err := onnx.LoadFile(n.file, nil)
		if err != nil {
			continue
		}
		m, err := onnx.NewModel(g, onnx.Unbound(g), nil)
		if err != nil {
			continue
		}
		v, err := n.values()
		if err != nil {
			t.Fatal(err)
		}
		eta, err := n.predictors(m, v)
		if err != nil {
			continue // NaN enters
		}
		var heads []string
		for _, p := range m.Structure().Predictors {
			heads = append(heads, p.Head)
		}
		if want, ok := zooHeads[n.exporter+"/"+n.Name]; ok {
			if named++; !slices.Equal(heads, want) {
				t.Errorf("%s/%s: heads %q, want %q", n.exporter, n.Name, heads, want)
			}
		}
		for k, p := range m.Structure().Predictors {
			if p.Head == "" {
				continue
			}
			compared++
			got := responseOf(m.Structure().Predictors, eta, k)
			if miss := n.miss(v, p.Output, got); miss > max(1e-5, n.Tolerance) {
				t.Errorf("%s/%s: the %s of predictor %q is %g off output %q", n.exporter, n.Name, p.Head, p.Name, miss, p.Output)
			}
		}
	}
	if compared < 80 || named != len(zooHeads) {
		t.Errorf("only %d heads, %d of %d networks named here", compared, named, len(zooHeads))
	}
}

// predictors are those of the model, rows x K.
func (n *zooNetwork) predictors(m *onnx.Model, v *zooValues) (*mat.Dense, error) {
	batch, err := n.batch(m, v)
	if err != nil {
		return nil, err
	}
	k := len(m.Predictors())
	out := &decompose.Outputs{Zeta: mat.NewDense(v.rows, k, nil), Eta: mat.NewDense(v.rows, k, nil), Taps: map[string]*mat.Dense{}}
	for name, width := range m.Taps() {
		out.Taps[name] = mat.NewDense(v.rows, width, nil)
	}
	return out.Eta, m.Forward(context.Background(), out, batch)
}

// miss is the largest difference from the element of the output that is nearest.
func (n *zooNetwork) miss(v *zooValues, output string, got []float64) float64 {
	i := slices.IndexFunc(n.Outputs, func(o zooTensor) bool { return o.Name == output })
	if i < 0 {
		return math.Inf(1)
	}
	want := v.outputs[i].Numbers
	width, best := len(want)/v.rows, math.Inf(1)
	for e := range width {
		worst := 0.0
		for r, x := range got {
			if y := want[r*width+e]; x != y {
				worst = max(worst, math.Abs(x-y)/(1+math.Abs(y)))
			}
		}
		best = min(best, worst)
	}
	return best
}

// responseOf is the response function of predictor k on its rows, as its name says.
func responseOf(all []onnx.PredictorInfo, eta *mat.Dense, k int) []float64 {
	var among []int
	for j, p := range all {
		if p.Output == all[k].Output && p.Tensor == all[k].Tensor {
			among = append(among, j)
		}
	}
	var thresholds []float64
	if o := all[k].Ordinal; o != nil {
		thresholds = o.Thresholds
	}
	return graphtest.Response(all[k].Head, eta, k, among, thresholds)
}
