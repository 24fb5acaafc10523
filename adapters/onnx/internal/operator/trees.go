package operator

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/pho-go/pho/adapters/internal/tree"
	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// treeOps are ensembles of decision trees.
func treeOps[T kernel.Float]() []Entry[T] {
	entry := func(name string, versions []int, outputs int, check func(*graph.Check) error) Entry[T] {
		return Entry[T]{
			Operator: graph.Operator{Domain: "ai.onnx.ml", Name: name, Versions: versions, Min: 1, Max: 1, Outputs: outputs, Check: check},
			Rule:     treesRule, Compile: compileTrees[T], Jumps: true,
			Missing: func(*graph.Node, *graph.Value) bool { return true }, // a split sends NaN one way
		}
	}
	return []Entry[T]{
		entry("TreeEnsembleRegressor", []int{1, 3, 5}, 1, checkTreeRegressor),
		entry("TreeEnsembleClassifier", []int{1, 3, 5}, 2, checkTreeClassifier),
		entry("TreeEnsemble", []int{5}, 1, checkTreeEnsemble),
	}
}

// Trees is what the check of an ensemble of trees resolves. The output Scores is, for
// each row, Transform(aggregate over the trees + Base).
type Trees struct {
	Ensemble  *tree.Ensemble
	Aggregate string    // SUM, AVERAGE, MIN or MAX
	Base      []float64 // by target; nil: zeros
	Transform string    // NONE, LOGISTIC, SOFTMAX, SOFTMAX_ZERO or PROBIT
	Scores    int       // output
	Rounded   bool      // sums begin with Base, and are rounded to float32 after each tree
	Counts    []int     // of one that was split: the trees behind each output,
	Groups    int       // and the number of groups of trees

	classes  *treeClasses // of a classifier
	used     [][]int32    // features, by target
	all      []int32      // by any
	presence []tree.Presence
	unscored bool // a target may go without a score, and that shows
}

// Form says how scores follow from sums over the trees.
type Form uint8

// The forms. With Paired, two classes have one sum s of target 0, base value included:
// LOGISTIC makes of it 1-p and p with p = logistic(s), other transforms Complement-s
// and s.
const (
	Whole Form = iota // not from sums, or not from them alone
	Apart             // Transform(sums, or means, + Base), target by target
	Paired
)

// Form is that of t.
func (t *Trees) Form() Form {
	switch {
	case t.Aggregate != "SUM" && t.Aggregate != "AVERAGE" || t.unscored:
		return Whole
	case t.classes == nil || t.classes.count > 2:
		return Apart
	case t.presence[0] == tree.Always && t.presence[1] == tree.Always && len(t.classes.base) == 0:
		return Apart
	case t.presence[0] == tree.Always && t.presence[1] == tree.Never && len(t.classes.base) < 2:
		return Paired
	}
	return Whole
}

// Complement is what the two scores of Paired add up to without LOGISTIC.
func (t *Trees) Complement() float64 { return t.classes.complement() }

// PairedBase is the base value of the sum of Paired.
func (t *Trees) PairedBase() float64 { return t.classes.pairedBase() }

// Scratch: what a step holds of a row.
func (t *Trees) Scratch() int { return t.Ensemble.Columns() + t.Ensemble.Targets }

// finish is called when all but what follows from it is set.
func (t *Trees) finish(c *graph.Check, typ graph.DType, width int) error {
	t.settle()
	for _, f := range t.all {
		if int(f) >= c.Inputs[0].Shape[1] {
			return fmt.Errorf("a tree splits feature %d, and input 0 (%q) has %d features", f, c.Inputs[0].Name, c.Inputs[0].Shape[1])
		}
	}
	c.Resolved = t
	return c.Set(t.Scores, typ, []int{c.Inputs[0].Shape[0], width})
}

func (t *Trees) settle() {
	t.used = t.Ensemble.TargetFeatures()
	for _, f := range t.used {
		t.all = append(t.all, f...)
	}
	slices.Sort(t.all)
	t.all = slices.Compact(t.all)
	t.presence = t.Ensemble.Presence()
	for k, p := range t.presence {
		t.unscored = t.unscored || p != tree.Always && t.showsUnscored(k)
	}
}

// showsUnscored: as in ONNX Runtime, one of several targets that no leaf adds to is 0,
// its base value not added, and not a class that a label is chosen from.
func (t *Trees) showsUnscored(k int) bool {
	switch {
	case t.classes == nil:
		return len(t.presence) > 1 && k < len(t.Base) && t.Base[k] != 0
	case t.classes.count == 2:
		return t.presence[k] == tree.Sometimes
	}
	return t.Base == nil
}

// PartOf is a node's Trees whose outputs are the sums of the ensemble's targets alone.
func PartOf(e *tree.Ensemble) *Trees {
	t := &Trees{Ensemble: e, Aggregate: "SUM", Transform: "NONE"}
	t.settle()
	return t
}

// checkTreeInput: rows of numbers.
func checkTreeInput(c *graph.Check) error {
	v := c.Inputs[0]
	if v.Type == graph.Bool {
		return fmt.Errorf("input 0 (%q) must be numbers, is bool", v.Name)
	}
	if len(v.Shape) != 2 || graph.IsRows(v.Shape[1]) {
		return fmt.Errorf("input 0 (%q) must have shape [N, features], has %s", v.Name, graph.ShapeText(v.Shape))
	}
	return nil
}

// checkPost reads what is done with the scores.
func (t *Trees) checkPost(aggregate, transform string, targets int) error {
	if aggregate == "" {
		aggregate = "SUM"
	}
	if transform == "" {
		transform = "NONE"
	}
	if !slices.Contains([]string{"SUM", "AVERAGE", "MIN", "MAX"}, aggregate) {
		return fmt.Errorf("unknown aggregate_function %q; it is SUM, AVERAGE, MIN or MAX", aggregate)
	}
	if !slices.Contains([]string{"NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO", "PROBIT"}, transform) {
		return fmt.Errorf("unknown post_transform %q; it is NONE, LOGISTIC, SOFTMAX, SOFTMAX_ZERO or PROBIT", transform)
	}
	t.Aggregate, t.Transform = aggregate, transform
	return nil
}

// maxTargets bounds what is kept for each target.
const maxTargets = 1 << 20

func treeTargets(c *graph.Check) (int, error) {
	n := c.AttrInt("n_targets", 1)
	switch {
	case n > maxTargets:
		return 0, fmt.Errorf("n_targets is %d; at most %d are supported", n, maxTargets)
	case n < 1:
		return 0, fmt.Errorf("n_targets is %d", n)
	}
	return int(n), nil
}

func checkTreeRegressor(c *graph.Check) error {
	if err := checkTreeInput(c); err != nil {
		return err
	}
	targets, err := treeTargets(c)
	if err != nil {
		return err
	}
	base, err := treeNumbers(c, "base_values")
	if err != nil {
		return err
	}
	if n := len(base); n != 0 && n != targets {
		return fmt.Errorf("%d base_values for %d targets", n, targets)
	}
	f, err := readForest(c, "target", targets)
	if err != nil {
		return err
	}
	t := &Trees{Base: base}
	if err := t.checkPost(c.Attrs["aggregate_function"].String, c.Attrs["post_transform"].String, targets); err != nil {
		return err
	}
	t.oneTarget(targets)
	if err := treeWork(c, f); err != nil {
		return err
	}
	t.Ensemble = tree.New(f)
	return t.finish(c, graph.Float32, targets)
}

// oneTarget: of transforms, one target takes PROBIT alone, as ONNX Runtime has it.
func (t *Trees) oneTarget(targets int) {
	if targets == 1 && t.Transform != "PROBIT" {
		t.Transform = "NONE"
	}
}

// treeWork accounts for a row's way down the trees, at most the nodes that there are.
func treeWork(c *graph.Check, f *tree.Forest) error {
	if err := f.Check(); err != nil {
		return err
	}
	return c.MultiplyAdds([]int{len(f.Nodes)}, 1)
}

// treesRule: a score depends on the features that its trees split, a label on all. After
// a transform over the targets so does a score.
func treesRule(n *graph.Node) Rule {
	t := n.Resolved.(*Trees)
	apart := t.Transform == "NONE" || t.Transform == "LOGISTIC" || t.Transform == "PROBIT"
	apart = apart && t.classes == nil
	cost := len(t.all)
	if apart {
		cost = 0
		for _, f := range t.used {
			cost = max(cost, len(f))
		}
	}
	return Rule{Cost: cost, Each: func(out, e int, yield Link) {
		features := t.all
		if apart {
			features = t.used[e]
		}
		for _, f := range features {
			yield(0, int(f), 1)
		}
	}}
}

// treeMemory is what a step works in.
type treeMemory struct {
	x, scores []float64
}

// treeRows is the number of rows whose numbers and scores a step holds at a time: few
// enough for the second cache.
func treeRows(e *tree.Ensemble) int {
	const cache = 1 << 15 // numbers
	return tree.Block * max(1, min(4, cache/(tree.Block*(e.Columns()+e.Targets))))
}

func compileTrees[T kernel.Float](n *graph.Node) Step[T] {
	t := n.Resolved.(*Trees)
	read := readTreeRows[T](t.Ensemble, n.Inputs[0].Type)
	block := treeRows(t.Ensemble)
	var pool sync.Pool
	return func(x *Exec[T]) error {
		in := x.In[0]
		m, ok := pool.Get().(*treeMemory)
		if !ok {
			m = &treeMemory{}
		}
		defer pool.Put(m)
		for from := 0; from < in.Shape[0]; from += block {
			rows := min(block, in.Shape[0]-from)
			m.x = slices.Grow(m.x[:0], rows*t.Ensemble.Columns())[:rows*t.Ensemble.Columns()]
			m.scores = slices.Grow(m.scores[:0], rows*t.Ensemble.Targets)[:rows*t.Ensemble.Targets]
			read(m.x, in, from, rows)
			t.aggregate(m, rows)
			var scored []bool
			if t.unscored {
				scored = t.Ensemble.Scored(m.x, rows)
			}
			var scores []T
			if k := t.Scores; k < len(x.Out) { // nil: nobody asks
				scores = x.Out[k].F
			}
			if t.classes != nil {
				var labels []int64
				if len(x.Out) > 0 {
					labels = x.Out[0].I
				}
				classify(t, m, scored, scores, labels, from, rows)
				continue
			}
			finishScores(t, m.scores, scored, scores, from, rows)
		}
		return nil
	}
}

// aggregate is the sum over the trees, or what takes its place, without base values.
func (t *Trees) aggregate(m *treeMemory, rows int) {
	if t.Rounded {
		for i := range m.scores {
			m.scores[i] = t.Base[i%len(t.Base)]
		}
		t.Ensemble.SumRounded(m.scores, m.x, rows)
		return
	}
	clear(m.scores)
	switch t.Aggregate {
	case "MIN", "MAX":
		t.Ensemble.Best(m.scores, m.x, rows, t.Aggregate == "MAX")
		return
	}
	t.Ensemble.Sum(m.scores, m.x, rows)
	if t.Aggregate == "AVERAGE" {
		for i := range m.scores {
			m.scores[i] /= float64(t.Ensemble.Trees)
		}
	}
}

// finishScores adds base values, transforms, and writes rows from on.
func finishScores[T kernel.Float](t *Trees, scores []float64, scored []bool, dst []T, from, rows int) {
	k := t.Ensemble.Targets
	if t.Base != nil && !t.Rounded {
		for r := range rows {
			for j, b := range t.Base {
				if scored == nil || scored[r*k+j] {
					scores[r*k+j] += b
				}
			}
		}
	}
	if t.Transform != "NONE" {
		for r := range rows {
			transformScores(t.Transform, scores[r*k:(r+1)*k])
		}
	}
	for i, v := range scores[:rows*k] {
		dst[from*k+i] = T(v)
	}
}

// readsSingle: of this type trees read numbers of float32.
func readsSingle(typ graph.DType) bool { return typ != graph.Float64 }

// readTreeRows copies the features that trees read, rounded to the input's type, or to
// float if it is of integers: those are compared as float.
func readTreeRows[T kernel.Float](e *tree.Ensemble, typ graph.DType) func(dst []float64, in Operand[T], from, rows int) {
	n := e.Columns()
	feature, missing := make([]int, n), make([]float64, n)
	for c := range n {
		feature[c], missing[c] = max(0, e.Feature(c)), e.Missing(c)
	}
	narrow := readsSingle(typ)
	return func(dst []float64, in Operand[T], from, rows int) {
		width := in.Shape[1]
		if width == 0 {
			clear(dst)
			return
		}
		for r := range rows {
			to := dst[r*n : (r+1)*n]
			if in.F == nil {
				row := in.I[(from+r)*width:][:width]
				for c, f := range feature {
					to[c] = float64(float32(row[f]))
				}
				continue
			}
			row := in.F[(from+r)*width:][:width]
			for c, f := range feature {
				v := float64(row[f])
				if narrow {
					v = float64(float32(v))
				}
				if v != v {
					v = missing[c]
				}
				to[c] = v
			}
		}
	}
}

var errNoTrees = errors.New("has no nodes")
