package operator

import (
	"fmt"
	"math"

	"github.com/pho-go/pho/adapters/internal/tree"
	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// treeClasses is what a classifier has beside its trees.
type treeClasses struct {
	labels   []int64 // nil: text
	count    int
	scored   []bool // by class: some leaf adds to it
	positive bool   // no weight is negative
	only     bool   // leaves of one class alone have weights
	base     []float64
}

func checkTreeClassifier(c *graph.Check) error {
	if err := checkTreeInput(c); err != nil {
		return err
	}
	k := &treeClasses{labels: c.Attrs["classlabels_int64s"].Ints, positive: true}
	names := c.Attrs["classlabels_strings"].Strings
	k.count = max(len(k.labels), len(names))
	if k.count < 2 || len(k.labels) > 0 && len(names) > 0 {
		return fmt.Errorf("has %d labels that are numbers and %d that are text; two or more of one kind are supported", len(k.labels), len(names))
	}
	f, err := readForest(c, "class", k.count)
	if err != nil {
		return err
	}
	t := &Trees{Scores: 1, classes: k}
	if err := t.checkPost("", c.Attrs["post_transform"].String, k.count); err != nil {
		return err
	}
	if k.base, err = treeNumbers(c, "base_values"); err != nil {
		return err
	}
	if n := len(k.base); n != 0 && n != k.count && (n != 1 || k.count != 2) {
		return fmt.Errorf("%d base_values for %d classes", n, k.count)
	}
	if k.count > 2 && len(k.base) > 0 {
		t.Base = k.base
	}
	k.survey(f)
	if t.Transform == "PROBIT" && k.count == 2 && !k.scored[1] {
		return fmt.Errorf("post_transform PROBIT of two classes that share one sum is not defined; export the scores without it")
	}
	if err := treeWork(c, f); err != nil {
		return err
	}
	t.Ensemble = tree.New(f)
	if p := t.Ensemble.Presence(); k.count == 2 && p[1] == tree.Sometimes && len(k.base) == 1 {
		return fmt.Errorf("one base value for two classes, of which only some leaves have a weight for the second: what the scores are is not defined; export two base values")
	}
	if len(k.labels) > 0 {
		if err := c.Set(0, graph.Int64, []int{c.Inputs[0].Shape[0]}); err != nil {
			return err
		}
	} else {
		c.Outputs[0] = nil // text: not computed
	}
	return t.finish(c, graph.Float32, k.count)
}

// survey looks through the weights.
func (k *treeClasses) survey(f *tree.Forest) {
	k.scored = make([]bool, k.count)
	for _, w := range f.Weights {
		k.scored[w.Target] = true
		k.positive = k.positive && !(w.Value < 0)
	}
	n := 0
	for _, s := range k.scored {
		if s {
			n++
		}
	}
	k.only = n == 1
}

// classify writes the scores and labels of rows. scored says, if it is not nil, which
// classes a row has scores of.
func classify[T kernel.Float](t *Trees, m *treeMemory, scored []bool, scores []T, labels []int64, from, rows int) {
	k := t.classes
	has := make([]bool, k.count)
	for j := range has {
		has[j] = t.presence[j] == tree.Always
	}
	for r := range rows {
		s := m.scores[r*k.count : (r+1)*k.count]
		if scored != nil {
			has = scored[r*k.count : (r+1)*k.count]
		}
		var label int64
		if k.count == 2 {
			label = k.two(s, has, t.Transform)
		} else {
			label = k.many(s, has, t.Base, t.Transform)
		}
		if labels != nil {
			labels[from+r] = label
		}
		if scores != nil {
			for j, v := range s {
				scores[(from+r)*k.count+j] = T(v)
			}
		}
	}
}

// many makes the scores of more than two classes; the label is that of the first of the
// greatest.
func (k *treeClasses) many(s []float64, has []bool, base []float64, transform string) (label int64) {
	for j, b := range base {
		s[j] += b
	}
	best := -1
	for j, v := range s {
		if (has[j] || base != nil) && (best < 0 || v > s[best]) {
			best = j
		}
	}
	transformScores(transform, s)
	if k.labels == nil || best < 0 {
		return 0
	}
	return k.labels[best]
}

// two makes the scores and the label of two classes. ONNX leaves open what one sum, or
// base values, mean for two classes; this is what ONNX Runtime makes of them.
func (k *treeClasses) two(s []float64, has []bool, transform string) (label int64) {
	single := !has[1] && len(k.base) < 2
	switch {
	case len(k.base) == 2 && has[1]:
		s[1] = k.base[1] + s[0]
		s[0] = -s[1]
	case has[0] && len(k.base) > 0:
		s[0] += k.base[0]
	}
	for j := range s {
		if !has[j] {
			s[j] = 0
		}
	}
	decisive := s[0]
	if has[1] {
		decisive = s[1]
	}
	label = k.labelOf(decisive)
	switch {
	case single && transform == "LOGISTIC":
		s[0], s[1] = logistic(-s[0]), logistic(s[0])
	case single:
		s[0], s[1] = k.complement()-s[0], s[0]
	default:
		transformScores(transform, s)
	}
	return label
}

// labelOf is the label by the score that decides. With scores of both classes ONNX
// Runtime answers 0 or 1, whatever the labels are.
func (k *treeClasses) labelOf(score float64) int64 {
	limit := 0.0
	if k.only && k.positive {
		limit = 0.5
	}
	second := score > limit
	switch {
	case !k.only && second:
		return 1
	case !k.only || k.labels == nil:
		return 0
	case second:
		return k.labels[1]
	}
	return k.labels[0]
}

// complement: the sum of one class whose weights are never negative is a probability.
func (k *treeClasses) complement() float64 {
	if k.only && k.positive {
		return 1
	}
	return 0
}

func (k *treeClasses) pairedBase() float64 {
	if len(k.base) == 1 {
		return k.base[0]
	}
	return 0
}

// transformScores applies a transform to the scores of a row.
func transformScores(transform string, s []float64) {
	switch transform {
	case "LOGISTIC":
		for j, v := range s {
			s[j] = logistic(v)
		}
	case "PROBIT":
		for j, v := range s {
			s[j] = math.Sqrt2 * erfInverse(2*v-1)
		}
	case "SOFTMAX", "SOFTMAX_ZERO":
		softmaxScores(s, transform == "SOFTMAX_ZERO")
	}
}

func logistic(x float64) float64 {
	if x < 0 {
		e := math.Exp(x)
		return e / (1 + e)
	}
	return 1 / (1 + math.Exp(-x))
}

// erfInverse is Winitzki's approximation of the inverse error function, good to 2e-3:
// what ONNX Runtime computes for PROBIT.
func erfInverse(x float64) float64 {
	const a = 0.147
	log := math.Log((1 - x) * (1 + x))
	v := 2/(math.Pi*a) + 0.5*log
	return math.Copysign(math.Sqrt(math.Sqrt(v*v-log/a)-v), x)
}

// softmaxScores; with zeros, scores of 0 stay 0.
func softmaxScores(s []float64, zeros bool) {
	top := s[0]
	for _, v := range s {
		top = max(top, v)
	}
	sum := 0.0
	for j, v := range s {
		if zeros && math.Abs(v) <= 1e-7 {
			s[j] = v * math.Exp(-top)
		} else {
			s[j] = math.Exp(v - top)
		}
		sum += s[j]
	}
	for j := range s {
		s[j] /= sum
	}
}
