package operator

import (
	"fmt"
	"math"
	"slices"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// svmOps are support vector machines: kernels of a row with the support vectors, and
// linear forms of these, which are Gemms.
func svmOps[T kernel.Float]() []Entry[T] {
	return []Entry[T]{
		replaced[T]("SVMRegressor", []int{1}, 1, 1, replaceSVMRegressor),
		replaced[T]("SVMClassifier", []int{1}, 1, 2, replaceSVMClassifier),
		{Operator: graph.Operator{Domain: partDomain, Name: "Kernel", Versions: []int{1}, Min: 2, Max: 2, Outputs: 1, Check: checkKernel},
			Rule: rowRule, Compile: compileKernel[T]},
		{Operator: graph.Operator{Domain: partDomain, Name: "Votes", Versions: []int{1}, Min: 1, Max: 1, Outputs: 1, Check: checkVotes},
			Rule: rowRule, Compile: compileVotes[T]},
		{Operator: graph.Operator{Domain: partDomain, Name: "Coupling", Versions: []int{1}, Min: 1, Max: 1, Outputs: 1, Check: checkCoupling},
			Rule: rowRule, Compile: compileCoupling[T]},
	}
}

// machine is what both kinds of machine have.
type machine struct {
	kernel            string
	gamma, shift, deg float64
	vectors           []float64 // count x width
	count, width      int
}

func readMachine(c *graph.Check, count int64) (*machine, error) {
	width, err := features(c, 0)
	if err != nil {
		return nil, err
	}
	m := &machine{kernel: "LINEAR", vectors: c.Attrs["support_vectors"].Floats, count: int(count), width: width, deg: 3}
	if a, ok := c.Attrs["kernel_type"]; ok && a.String != "" {
		m.kernel = a.String
	}
	if !slices.Contains([]string{"LINEAR", "POLY", "RBF", "SIGMOID"}, m.kernel) {
		return nil, fmt.Errorf("unknown kernel_type %q", m.kernel)
	}
	if p := c.Attrs["kernel_params"].Floats; len(p) == 3 {
		m.gamma, m.shift, m.deg = p[0], p[1], p[2]
	} else if len(p) != 0 || m.kernel != "LINEAR" {
		return nil, fmt.Errorf("has %d kernel_params, needs gamma, coef0 and degree", len(p))
	}
	if count < 1 || count > 1<<30 || width < 1 || len(m.vectors)%width != 0 || int64(len(m.vectors)/width) != count {
		return nil, fmt.Errorf("has %d numbers of support vectors for %d vectors of %d features", len(m.vectors), count, width)
	}
	return m, nil
}

// forms adds the linear forms of the kernels, a row of weights each, and gives the
// attributes and inputs of their Gemm. With a linear kernel they are linear in the
// features.
func (m *machine) forms(c *graph.Check, e *graph.Replacement, weights []float64, rho []float64) (attrs map[string]graph.Attr, inputs []*graph.Value, err error) {
	rows := len(rho)
	attrs = map[string]graph.Attr{"transB": {Int: 1}}
	if err := c.Fits(rows*max(m.width, m.count), "its weights", []int{rows, m.count}); err != nil {
		return nil, nil, err
	}
	x, bias := asFloat(c, e, 0), e.Floats("rho", []int{rows}, rho)
	if m.kernel != "LINEAR" {
		k := e.Then(partDomain, "Kernel", "kernels", map[string]graph.Attr{"type": {String: m.kernel}, "gamma": {Float: m.gamma}, "shift": {Float: m.shift}, "degree": {Float: m.deg}},
			x, e.Floats("vectors", []int{m.count, m.width}, m.vectors))
		return attrs, []*graph.Value{k, e.Floats("weights", []int{rows, m.count}, weights), bias}, nil
	}
	if err := c.MultiplyAdds([]int{rows, m.width}, m.count); err != nil {
		return nil, nil, err
	}
	linear := make([]float64, rows*m.width)
	for r := range rows {
		for s := range m.count {
			if w := weights[r*m.count+s]; w != 0 {
				for j, v := range m.vectors[s*m.width:][:m.width] {
					linear[r*m.width+j] += w * v
				}
			}
		}
	}
	return attrs, []*graph.Value{x, e.Floats("weights", []int{rows, m.width}, linear), bias}, nil
}

func replaceSVMRegressor(c *graph.Check) ([]*graph.Node, error) {
	coef, rho := c.Attrs["coefficients"].Floats, c.Attrs["rho"].Floats
	switch {
	case len(rho) != 1:
		return nil, fmt.Errorf("has %d values of rho, needs one", len(rho))
	case postTransform(c) != "NONE":
		return nil, fmt.Errorf("post_transform %s: ONNX Runtime leaves it out, the standard does not; export the model with NONE, and apply it behind", postTransform(c))
	case c.AttrInt("one_class", 0) != 0:
		return nil, fmt.Errorf("one_class: its output is on which side of a boundary a row lies, which has no additive predictor; export the decision function")
	}
	e := c.Replacement()
	if c.AttrInt("n_supports", 0) == 0 {
		gemm, inputs, err := scores(c, e, 1, coef, rho)
		if err != nil {
			return nil, err
		}
		e.Into(0, "", "Gemm", gemm, inputs...)
		return e.Nodes()
	}
	m, err := readMachine(c, c.AttrInt("n_supports", 0))
	if err != nil {
		return nil, err
	}
	if len(coef) != m.count {
		return nil, fmt.Errorf("has %d coefficients for %d support vectors", len(coef), m.count)
	}
	gemm, inputs, err := m.forms(c, e, coef, rho)
	if err != nil {
		return nil, err
	}
	e.Into(0, "", "Gemm", gemm, inputs...)
	return e.Nodes()
}

// replaceSVMClassifier: one decision for each pair of classes, positive for the first of
// them; votes give the label, and coupled probabilities the scores, if it has prob_a.
func replaceSVMClassifier(c *graph.Check) ([]*graph.Node, error) {
	labels, err := classLabels(c)
	if err != nil {
		return nil, err
	}
	per := c.Attrs["vectors_per_class"].Ints
	classes := labels.count()
	if len(per) == 0 {
		return nil, fmt.Errorf("has no support vectors; export a linear model as LinearClassifier")
	}
	if post := postTransform(c); post != "NONE" {
		return nil, fmt.Errorf("post_transform %s of a support vector machine is not supported; export it with NONE", post)
	}
	count := int64(0)
	for _, n := range per {
		if n < 0 || n > 1<<30 {
			return nil, fmt.Errorf("a class with %d support vectors", n)
		}
		count += n
	}
	m, err := readMachine(c, count)
	if err != nil {
		return nil, err
	}
	coef, rho := c.Attrs["coefficients"].Floats, c.Attrs["rho"].Floats
	pairs := classes * (classes - 1) / 2
	if classes < 2 || classes > 1000 || len(per) != classes || len(rho) != pairs || len(coef) != (classes-1)*m.count {
		return nil, fmt.Errorf("has %d classes, %d groups of support vectors, %d values of rho and %d coefficients of %d vectors, which do not fit", classes, len(per), len(rho), len(coef), m.count)
	}
	if err := c.Fits(pairs*m.count, "its decisions", []int{pairs, m.count}); err != nil {
		return nil, err
	}
	e := c.Replacement()
	gemm, inputs, err := m.forms(c, e, pairWeights(coef, per, m.count), rho)
	if err != nil {
		return nil, err
	}
	decisions := e.Then("", "Gemm", "decisions", gemm, inputs...)
	labels.gather(e, e.Then(partDomain, "Votes", "class", map[string]graph.Attr{"classes": {Int: int64(classes)}}, decisions))
	return svmScores(c, e, decisions, classes)
}

// pairWeights are the weights of the support vectors in the decision between each pair of
// classes i < j: row j-1 of the coefficients for vectors of i, row i for those of j.
func pairWeights(coef []float64, per []int64, count int) []float64 {
	first := make([]int, len(per)+1)
	for i, n := range per {
		first[i+1] = first[i] + int(n)
	}
	var out []float64
	for i := range per {
		for j := i + 1; j < len(per); j++ {
			w := make([]float64, count)
			copy(w[first[i]:first[i+1]], coef[(j-1)*count+first[i]:])
			copy(w[first[j]:first[j+1]], coef[i*count+first[j]:])
			out = append(out, w...)
		}
	}
	return out
}

// svmScores gives output 1: with Platt's A and B the probabilities, without them the
// decisions, of two classes minus the decision and the decision.
func svmScores(c *graph.Check, e *graph.Replacement, decisions *graph.Value, classes int) ([]*graph.Node, error) {
	a, b := c.Attrs["prob_a"].Floats, c.Attrs["prob_b"].Floats
	pairs := classes * (classes - 1) / 2
	switch {
	case len(a) == 0 && classes == 2:
		minus := e.Then("", "Neg", "minus", nil, decisions)
		e.Into(1, "", "Concat", map[string]graph.Attr{"axis": {Int: 1}}, minus, decisions)
	case len(a) == 0:
		e.Into(1, "", "Identity", nil, decisions)
	case len(a) != pairs || len(b) != pairs:
		return nil, fmt.Errorf("has %d values of prob_a and %d of prob_b for %d pairs of classes", len(a), len(b), pairs)
	default:
		scaled := e.Then("", "Mul", "scaled", nil, decisions, e.Floats("prob_a", []int{pairs}, a))
		logits := e.Then("", "Add", "logits", nil, scaled, e.Floats("prob_b", []int{pairs}, b))
		second := e.Then("", "Sigmoid", "second", nil, logits) // of the pair
		// Of two classes the coupling is nearly what enters it: as in ONNX Runtime, its
		// iteration stops early.
		e.Into(1, partDomain, "Coupling", map[string]graph.Attr{"classes": {Int: int64(classes)}}, second)
	}
	return e.Nodes()
}

func checkKernel(c *graph.Check) error {
	v := c.Inputs[1]
	if v.Const == nil || len(v.Shape) != 2 {
		return fmt.Errorf("needs a constant matrix of support vectors")
	}
	width, err := features(c, 0)
	if err != nil {
		return err
	}
	if err := c.Floating(0); err != nil {
		return err
	}
	if !v.Type.Floating() || v.Shape[1] != width {
		return fmt.Errorf("has support vectors of %s for %d features", graph.ShapeText(v.Shape), width)
	}
	out := []int{c.Inputs[0].Shape[0], v.Shape[0]}
	if err := c.MultiplyAdds(out, width); err != nil {
		return err
	}
	return c.Set(0, c.Inputs[0].Type, out)
}

func compileKernel[T kernel.Float](n *graph.Node) Step[T] {
	gamma, shift, degree, kind := n.AttrFloat("gamma", 0), n.AttrFloat("shift", 0), n.AttrFloat("degree", 3), n.Attrs["type"].String
	return func(x *Exec[T]) error {
		in, vectors, out := x.In[0], x.In[1], x.Out[0].F
		width, count := vectors.Shape[1], vectors.Shape[0]
		for r := range len(out) / max(1, count) {
			row := in.F[r*width : (r+1)*width]
			for s := range count {
				v := vectors.F[s*width : (s+1)*width]
				out[r*count+s] = T(kernelOf(kind, gamma, shift, degree, row, v))
			}
		}
		return nil
	}
}

func kernelOf[T kernel.Float](kind string, gamma, shift, degree float64, a, b []T) float64 {
	sum := 0.0
	if kind == "RBF" {
		for i, v := range a {
			d := float64(v - b[i])
			sum += d * d
		}
		return math.Exp(-gamma * sum)
	}
	for i, v := range a {
		sum += float64(v) * float64(b[i])
	}
	switch kind {
	case "POLY":
		return math.Pow(gamma*sum+shift, degree)
	case "SIGMOID":
		return math.Tanh(gamma*sum + shift)
	}
	return sum
}

// pairsOf requires a decision for each pair of its classes, and returns the classes.
func pairsOf(c *graph.Check) (int, error) {
	width, err := features(c, 0)
	if err != nil {
		return 0, err
	}
	k := c.AttrInt("classes", 0)
	if k < 2 || k > 1000 || int(k*(k-1)/2) != width || !c.Inputs[0].Type.Floating() {
		return 0, fmt.Errorf("needs a number for each pair of %d classes, has %d", k, width)
	}
	return int(k), nil
}

func checkVotes(c *graph.Check) error {
	if _, err := pairsOf(c); err != nil {
		return err
	}
	return c.Set(0, graph.Int64, c.Inputs[0].Shape[:1])
}

// compileVotes: the class that most pairs decide for, the first of several.
func compileVotes[T kernel.Float](n *graph.Node) Step[T] {
	k := int(n.AttrInt("classes", 2))
	return func(x *Exec[T]) error {
		votes, pair := make([]int, k), 0
		for r := range x.Out[0].I {
			clear(votes)
			for i := range k {
				for j := i + 1; j < k; j++ {
					d := x.In[0].F[pair] // rounding does not change its sign
					if pair++; d > 0 {
						votes[i]++
					} else {
						votes[j]++
					}
				}
			}
			x.Out[0].I[r] = int64(slices.Index(votes, slices.Max(votes)))
		}
		return nil
	}
}

func checkCoupling(c *graph.Check) error {
	k, err := pairsOf(c)
	if err != nil {
		return err
	}
	if err := c.MultiplyAdds([]int{graph.Batch, k}, 100*k); err != nil {
		return err
	}
	return c.Set(0, c.Inputs[0].Type, []int{c.Inputs[0].Shape[0], k})
}

// compileCoupling makes probabilities of classes of those of pairs, which are of the
// second of each.
func compileCoupling[T kernel.Float](n *graph.Node) Step[T] {
	k := int(n.AttrInt("classes", 2))
	pairs := k * (k - 1) / 2
	return func(x *Exec[T]) error {
		r, q, p := make([]float64, k*k), make([]float64, k*k), make([]float64, k)
		for row := range len(x.Out[0].F) / k {
			at := row * pairs
			for i := range k {
				for j := i + 1; j < k; j++ {
					v := min(max(1-float64(x.In[0].F[at]), 1e-7), 1-1e-7)
					r[i*k+j], r[j*k+i] = v, 1-v
					at++
				}
			}
			couple(p, q, r)
			for i, v := range p {
				x.Out[0].F[row*k+i] = T(v)
			}
		}
		return nil
	}
}

// couple is the second approach of Wu, Lin and Weng (2004) to probabilities of classes
// from those of pairs, iterated as libsvm does: it stops when p'Qp differs from Qp by
// less than 0.005/k, or after 100 rounds.
func couple(p, q, r []float64) {
	k := len(p)
	for t := range k {
		p[t] = 1 / float64(k)
		q[t*k+t] = 0
		for j := range k {
			if j != t {
				q[t*k+t] += r[j*k+t] * r[j*k+t]
				q[t*k+j] = -r[j*k+t] * r[t*k+j]
			}
		}
	}
	qp := make([]float64, k)
	for range 100 {
		pqp, worst := 0.0, 0.0
		for t := range k {
			qp[t] = 0
			for j := range k {
				qp[t] += q[t*k+j] * p[j]
			}
			pqp += p[t] * qp[t]
		}
		for t := range k {
			worst = max(worst, math.Abs(qp[t]-pqp))
		}
		if worst < 0.005/float64(k) {
			return
		}
		for t := range k {
			diff := (pqp - qp[t]) / q[t*k+t]
			p[t] += diff
			pqp = (pqp + diff*(diff*q[t*k+t]+2*qp[t])) / (1 + diff) / (1 + diff)
			for j := range k {
				qp[j] = (qp[j] + diff*q[t*k+j]) / (1 + diff)
				p[j] /= 1 + diff
			}
		}
	}
}
