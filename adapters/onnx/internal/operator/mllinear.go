package operator

import (
	"fmt"
	"math"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

const (
	mlDomain = "ai.onnx.ml"
	// partDomain is the domain of operators that stand for parts of others and that no
	// other domain has.
	partDomain = "pho"
)

// linearOps are the linear models of ai.onnx.ml. A linear part is a Gemm; what follows it
// are nodes of their own, so that a head is seen.
func linearOps[T kernel.Float]() []Entry[T] {
	return []Entry[T]{
		replaced[T]("LinearRegressor", []int{1}, 1, 1, replaceLinearRegressor),
		replaced[T]("LinearClassifier", []int{1}, 1, 2, replaceLinearClassifier),
		{Operator: graph.Operator{Domain: partDomain, Name: "Probit", Versions: []int{1}, Min: 1, Max: 1, Outputs: 1, Check: checkFloating},
			Rule: elementwiseRule, Compile: elementByElement[T](probit)},
		{Operator: graph.Operator{Domain: partDomain, Name: "SoftmaxZero", Versions: []int{1}, Min: 1, Max: 1, Outputs: 1, Check: checkFeatures},
			Rule: rowRule, Compile: compileSoftmaxZero[T], Jumps: true},
	}
}

// replaced is an operator of ai.onnx.ml that is always replaced by others.
func replaced[T kernel.Float](name string, versions []int, inputs, outputs int, replace func(c *graph.Check) ([]*graph.Node, error)) Entry[T] {
	never := fmt.Errorf("stands for other nodes")
	return Entry[T]{
		Operator: graph.Operator{Domain: mlDomain, Name: name, Versions: versions, Min: inputs, Max: inputs, Outputs: outputs, Replace: replace, Check: func(*graph.Check) error { return never }},
		Rule:     replacedRule,
		Compile:  func(*graph.Node) Step[T] { return func(*Exec[T]) error { return never } },
	}
}

// replacedRule is never asked for.
func replacedRule(n *graph.Node) Rule { return elementwiseRule(n) }

// checkFeatures requires rows of features, [N, F] floating, and sets an output like them.
func checkFeatures(c *graph.Check) error {
	if err := c.Floating(0); err != nil {
		return err
	}
	if _, err := features(c, 0); err != nil {
		return err
	}
	return checkSame(c)
}

// features is the number of columns of input i, which must be rows of them.
func features(c *graph.Check, i int) (int, error) {
	v := c.Inputs[i]
	if len(v.Shape) != 2 || !graph.IsRows(v.Shape[0]) && v.Const == nil || graph.IsRows(v.Shape[1]) {
		return 0, fmt.Errorf("input %d (%q) must have shape [N, features], has %s", i, v.Name, graph.ShapeText(v.Shape))
	}
	return v.Shape[1], nil
}

// asFloat is input i as float, as the operators of ai.onnx.ml read it.
func asFloat(c *graph.Check, e *graph.Replacement, i int) *graph.Value {
	if v := c.Inputs[i]; v.Type == graph.Float32 {
		return v
	}
	return e.Then("", "Cast", "float", map[string]graph.Attr{"to": {Int: 1}}, c.Inputs[i])
}

// scores adds X B' + b for the rows of coefficients B, and returns it.
func scores(c *graph.Check, e *graph.Replacement, rows int, coefficients, intercepts []float64) (attrs map[string]graph.Attr, inputs []*graph.Value, err error) {
	width, err := features(c, 0)
	if err != nil {
		return nil, nil, err
	}
	if rows < 1 || width < 1 || len(coefficients)%rows != 0 || len(coefficients)/rows != width {
		return nil, nil, fmt.Errorf("has %d coefficients for %d outputs of %d features", len(coefficients), rows, width)
	}
	inputs = []*graph.Value{asFloat(c, e, 0), e.Floats("coefficients", []int{rows, width}, coefficients)}
	if len(intercepts) > 0 {
		if len(intercepts) != rows {
			return nil, nil, fmt.Errorf("has %d intercepts for %d outputs", len(intercepts), rows)
		}
		inputs = append(inputs, e.Floats("intercepts", []int{rows}, intercepts))
	}
	return map[string]graph.Attr{"transB": {Int: 1}}, inputs, nil
}

func replaceLinearRegressor(c *graph.Check) ([]*graph.Node, error) {
	e, targets := c.Replacement(), c.AttrInt("targets", 1)
	if targets < 1 || targets > 1<<20 {
		return nil, fmt.Errorf("impossible number of targets %d", targets)
	}
	gemm, inputs, err := scores(c, e, int(targets), c.Attrs["coefficients"].Floats, c.Attrs["intercepts"].Floats)
	if err != nil {
		return nil, err
	}
	post := postTransform(c)
	if post == "NONE" {
		e.Into(0, "", "Gemm", gemm, inputs...)
		return e.Nodes()
	}
	if targets == 1 && post != "PROBIT" {
		return nil, fmt.Errorf("post_transform %s of one target: ONNX Runtime leaves it out, the standard does not; export the model with NONE, and apply it behind", post)
	}
	if err := respond(e, post, 0, e.Then("", "Gemm", "scores", gemm, inputs...)); err != nil {
		return nil, err
	}
	return e.Nodes()
}

func postTransform(c *graph.Check) string {
	if a, ok := c.Attrs["post_transform"]; ok && a.String != "" {
		return a.String
	}
	return "NONE"
}

// respond computes output i from the scores of several classes or targets.
func respond(e *graph.Replacement, post string, i int, scores *graph.Value) error {
	switch post {
	case "NONE":
		e.Into(i, "", "Identity", nil, scores)
	case "LOGISTIC":
		e.Into(i, "", "Sigmoid", nil, scores)
	case "SOFTMAX":
		e.Into(i, "", "Softmax", nil, scores)
	case "SOFTMAX_ZERO":
		e.Into(i, partDomain, "SoftmaxZero", nil, scores)
	case "PROBIT":
		e.Into(i, partDomain, "Probit", nil, scores)
	default:
		return fmt.Errorf("unknown post_transform %q", post)
	}
	return nil
}

// replaceLinearClassifier: output 0 are the labels, output 1 the scores. One row of
// coefficients for two classes is the score of the second.
func replaceLinearClassifier(c *graph.Check) ([]*graph.Node, error) {
	labels, err := classLabels(c)
	if err != nil {
		return nil, err
	}
	e, intercepts := c.Replacement(), c.Attrs["intercepts"].Floats
	rows := len(intercepts)
	switch {
	case rows == 0:
		return nil, fmt.Errorf("has no intercepts")
	case rows == 1 && labels.count() != 2 || rows > 1 && labels.count() < rows:
		return nil, fmt.Errorf("has %d class labels for %d scores", labels.count(), rows)
	}
	gemm, inputs, err := scores(c, e, rows, c.Attrs["coefficients"].Floats, intercepts)
	if err != nil {
		return nil, err
	}
	s, post := e.Then("", "Gemm", "scores", gemm, inputs...), postTransform(c)
	if rows > 1 {
		pick := e.Then("", "ArgMax", "class", map[string]graph.Attr{"axis": {Int: 1}, "keepdims": {}}, s)
		labels.gather(e, pick)
		if err := respond(e, post, 1, s); err != nil {
			return nil, err
		}
		return e.Nodes()
	}
	positive := e.Then("", "Greater", "positive", nil, s, e.Floats("zero", []int{1}, []float64{0}))
	pick := e.Then("", "Cast", "class", map[string]graph.Attr{"to": {Int: 7}}, positive)
	labels.gather(e, e.Then("", "Squeeze", "classes", nil, pick, e.Integers("axes", []int{1}, []int64{1})))
	if err := twoClasses(e, post, s); err != nil {
		return nil, err
	}
	return e.Nodes()
}

// twoClasses gives the second class the score s [N, 1], transformed, and the first one
// less it.
func twoClasses(e *graph.Replacement, post string, s *graph.Value) error {
	switch post {
	case "LOGISTIC":
		s = e.Then("", "Sigmoid", "second", nil, s)
	case "NONE", "SOFTMAX", "SOFTMAX_ZERO": // which leave one number as it is
	case "PROBIT":
		return fmt.Errorf("post_transform PROBIT of one score for two classes is not defined; export scores for both classes")
	default:
		return fmt.Errorf("unknown post_transform %q", post)
	}
	first := e.Then("", "Sub", "first", nil, e.Floats("one", []int{1}, []float64{1}), s)
	e.Into(1, "", "Concat", map[string]graph.Attr{"axis": {Int: 1}}, first, s)
	return nil
}

// labelList holds the labels of classes, of one kind.
type labelList struct {
	ints  []int64
	texts []string
}

func (l labelList) count() int { return max(len(l.ints), len(l.texts)) }

// gather makes output 0 the labels at the positions.
func (l labelList) gather(e *graph.Replacement, pick *graph.Value) {
	var table *graph.Value
	if l.ints != nil {
		table = e.Integers("labels", []int{len(l.ints)}, l.ints)
	} else {
		table = e.Strings("labels", []int{len(l.texts)}, l.texts)
	}
	e.Into(0, "", "Gather", nil, table, pick)
}

// classLabels reads classlabels_ints or classlabels_strings.
func classLabels(c *graph.Check) (labelList, error) {
	l := labelList{c.Attrs["classlabels_ints"].Ints, c.Attrs["classlabels_strings"].Strings}
	if l.ints == nil {
		l.ints = c.Attrs["classlabels_int64s"].Ints // as SVMClassifier and ZipMap may have it
	}
	if (len(l.ints) == 0) == (len(l.texts) == 0) {
		return l, fmt.Errorf("has %d class labels that are integers and %d that are texts; one kind is needed", len(l.ints), len(l.texts))
	}
	return l, nil
}

// probit is the quantile function of the normal distribution as ONNX Runtime
// approximates it (Winitzki's formula for the inverse of erf).
func probit(p float64) float64 {
	const a = 0.147
	x := 2*p - 1
	l := math.Log((1 - x) * (1 + x))
	v := 2/(3.14159*a) + l/2
	return math.Copysign(math.Sqrt2*math.Sqrt(math.Sqrt(v*v-l/a)-v), x)
}

// elementByElement is the step of a function of one number.
func elementByElement[T kernel.Float](f func(float64) float64) func(*graph.Node) Step[T] {
	return func(*graph.Node) Step[T] {
		return func(x *Exec[T]) error {
			for i, v := range x.In[0].F {
				x.Out[0].F[i] = T(f(float64(v)))
			}
			return nil
		}
	}
}

// rowRule: each element of an output row [N, F] depends on all of the input's, where both
// are rows.
func rowRule(n *graph.Node) Rule {
	width := n.Inputs[0].Width()
	return Rule{Cost: width, Each: func(_, _ int, yield Link) {
		for i := range width {
			yield(0, i, 1)
		}
	}}
}

// compileSoftmaxZero is a softmax in which scores of zero have no probability.
func compileSoftmaxZero[T kernel.Float](n *graph.Node) Step[T] {
	width := n.Inputs[0].Shape[1]
	const zero = 1e-7
	return func(x *Exec[T]) error {
		in, out := x.In[0].F, x.Out[0].F
		for at := 0; at < len(in); at += width {
			row, to := in[at:at+width], out[at:at+width]
			most := math.Inf(-1)
			for _, v := range row {
				most = max(most, float64(v))
			}
			sum := 0.0
			for i, s := range row {
				v := float64(s)
				if v = v * math.Exp(-most); float32(s) > zero || float32(s) < -zero {
					v = math.Exp(float64(s) - most)
					sum += v
				}
				to[i] = T(v)
			}
			for i := range to {
				to[i] = T(float64(to[i]) / sum)
			}
		}
		return nil
	}
}
