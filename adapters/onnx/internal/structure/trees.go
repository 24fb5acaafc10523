package structure

import (
	"fmt"
	"slices"

	"github.com/pho-go/pho/adapters/internal/tree"
	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/adapters/onnx/internal/operator"
)

// maxPartWeights bounds the matrix that adds up the parts of an ensemble.
const maxPartWeights = 1 << 22

// SplitTrees is g with the additive structure of its ensembles of trees in sight. A sum
// over trees is one over sets of columns, of the trees that depend on them: each
// ensemble becomes one with an output for every set of at most maxOrder columns
// and target, and one for all other trees together; a product that adds these up; and a
// head in nodes of its own. The graph computes the same, up to the order of the sums.
// Without ensembles it is g.
//
// A tree of depth two on three columns is cut into its branches, a sum over pairs. Deeper ones are
// not: that would trade one column of the deep part for thousands of terms. Where a predictor adds
// up several ensembles, nodes behind the split ones add up what they have of each set.
func SplitTrees(g *graph.Graph, bound [][]string, maxOrder int, l Limits) (*graph.Graph, error) {
	ensembles := Ensembles(g)
	if ensembles == 0 {
		return g, nil
	}
	id := map[string]int{}
	columns := make([][]int, len(bound))
	for i := range bound {
		for _, c := range bound[i] {
			if _, known := id[c]; !known {
				id[c] = len(id)
			}
			columns[i] = append(columns[i], id[c])
		}
	}
	dep, err := NewDependencies(g, len(id), columns, l)
	if err != nil {
		return nil, err
	}
	s := &treeSplitter{graph.NewRewrite(g, dep.table), g, dep, maxOrder, ensembles > 1}
	for _, n := range g.Nodes {
		t, ok := n.Resolved.(*operator.Trees)
		if ok {
			if ok, err = s.split(n, t); err != nil {
				return nil, err
			}
		}
		if !ok {
			s.Keep(n, n.Outputs)
		}
	}
	return s.Graph(g.Outputs), nil
}

// Ensembles counts the ensembles of trees in a graph.
func Ensembles(g *graph.Graph) (count int) {
	for _, n := range g.Nodes {
		if _, ok := n.Resolved.(*operator.Trees); ok {
			count++
		}
	}
	return count
}

// Copy is a graph of the same nodes, to which Discover may add some.
func Copy(g *graph.Graph) *graph.Graph {
	r := graph.NewRewrite(g, operator.NewFloat64())
	for _, n := range g.Nodes {
		r.Keep(n, n.Outputs)
	}
	return r.Graph(g.Outputs)
}

// treeSplitter rewrites a graph.
type treeSplitter struct {
	*graph.Rewrite
	g        *graph.Graph
	dep      *dependencies
	maxOrder int
	several  bool // ensembles, whose parts may add up: see mergeTrees
}

// split writes the nodes that n becomes; false: it stays as it is.
func (s *treeSplitter) split(n *graph.Node, t *operator.Trees) (bool, error) {
	form := t.Form()
	if form == operator.Whole || t.Scores >= len(n.Outputs) || n.Outputs[t.Scores] == nil || t.Transform == "PROBIT" || t.Transform == "SOFTMAX_ZERO" {
		return false, nil
	}
	group, groups := s.groups(n.Inputs[0], t.Ensemble)
	if groups < 2 && !s.several && form == operator.Apart && t.Transform == "NONE" {
		return false, nil
	}
	e, parts := t.Ensemble.Split(func(i int) []int { return group[i] })
	targets := t.Ensemble.Targets
	if form == operator.Paired {
		targets = 1
	}
	if len(parts) == 0 || len(parts) > maxPartWeights/targets {
		return false, nil
	}
	part := operator.PartOf(e)
	for _, p := range parts {
		part.Counts = append(part.Counts, p.Trees)
	}
	part.Groups = groups
	y := s.Value(n.Outputs[t.Scores])
	columns := s.value(y, "trees", y.Type, len(parts))
	s.Append(&graph.Node{Name: n.Name, Op: n.Op, Domain: n.Domain, Version: n.Version, Inputs: s.Values(n.Inputs), Outputs: []*graph.Value{columns}, Resolved: part})
	weights, base := sumWeights(t, parts, targets)
	if err := s.finish(n, t, form, columns, weights, base, y); err != nil {
		return false, err
	}
	if t.Scores > 0 && n.Outputs[0] != nil {
		s.Keep(n, []*graph.Value{n.Outputs[0], nil}) // the label
	}
	return true, nil
}

// groups numbers sets of at most maxOrder columns that trees depend on, in the order in
// which they are met, and gives each tree's: see tree.Ensemble.Split. The group of all
// other trees comes last; trees without a split are in none.
func (s *treeSplitter) groups(x *graph.Value, e *tree.Ensemble) (of [][]int, count int) {
	number := map[int32]int{}
	numbered := func(set int32) int {
		if _, ok := number[set]; !ok {
			number[set] = len(number)
		}
		return number[set]
	}
	var rest []int
	of = make([][]int, e.Len())
	for i := range of {
		features := e.Features(i)
		if len(features) == 0 {
			continue
		}
		set, few := s.columns(x, features, s.maxOrder)
		if !few || s.dep.sets.size(set) > pair {
			for _, branch := range s.branches(x, e, i) {
				of[i] = append(of[i], numbered(branch))
			}
		}
		switch {
		case of[i] != nil:
		case few:
			of[i] = []int{numbered(set)}
		default:
			rest = append(rest, i)
		}
	}
	count = len(number)
	for _, i := range rest {
		of[i] = []int{count}
	}
	if len(rest) > 0 {
		count++
	}
	return of, count
}

// columns is the set of columns that features of x depend on, if they are at most limit.
func (s *treeSplitter) columns(x *graph.Value, features []int32, limit int) (set int32, ok bool) {
	in := s.dep.of[x]
	for _, f := range features {
		if set = s.dep.sets.union(set, in.at(int(f))); s.dep.sets.size(set) > limit {
			return set, false
		}
	}
	return set, true
}

const pair = 2

// branches gives each leaf of tree i, which depends on more columns than a pair, those of
// the branch that it belongs to, if branches have at most two: then the tree is a sum over
// pairs, as 1[x0 <= t] g(x1) + 1[x0 > t] h(x2). nil: it stays whole.
func (s *treeSplitter) branches(x *graph.Value, e *tree.Ensemble, i int) []int32 {
	if s.maxOrder < pair {
		return nil
	}
	sets := s.dep.sets
	paths := e.Leaves(i)
	own := make([]int32, len(paths))
	var branches []int32
	for k, p := range paths {
		var ok bool
		if own[k], ok = s.columns(x, p, pair); !ok {
			return nil
		}
		if sets.size(own[k]) == pair && !slices.Contains(branches, own[k]) {
			branches = append(branches, own[k])
		}
	}
	for k, set := range own {
		if j := slices.IndexFunc(branches, func(b int32) bool { return sets.union(b, set) == b }); j >= 0 {
			own[k] = branches[j]
		}
	}
	return own
}

// sumWeights is the product that makes scores of parts: weights, parts x targets, and
// what is added.
func sumWeights(t *operator.Trees, parts []tree.Part, targets int) (weights, base []float64) {
	base = make([]float64, t.Ensemble.Targets)
	t.Ensemble.AddConstant(base)
	share := 1.0
	if t.Aggregate == "AVERAGE" {
		share = 1 / float64(t.Ensemble.Trees)
	}
	for k := range base {
		base[k] *= share
		if t.Base != nil {
			base[k] += t.Base[k]
		}
	}
	if t.Form() == operator.Paired {
		base[0] += t.PairedBase()
	}
	weights = make([]float64, len(parts)*targets)
	for i, p := range parts {
		weights[i*targets+p.Target] = share
	}
	return weights, base[:targets]
}

// finish writes what makes the scores y of the parts.
func (s *treeSplitter) finish(n *graph.Node, t *operator.Trees, form operator.Form, parts *graph.Value, weights, base []float64, y *graph.Value) error {
	targets := len(base)
	sum := y
	if form == operator.Paired || t.Transform != "NONE" {
		sum = s.value(y, "sum", y.Type, targets)
	}
	add := func(op string, attrs map[string]graph.Attr, out *graph.Value, in ...*graph.Value) error {
		if attrs == nil {
			attrs = map[string]graph.Attr{}
		}
		return s.Add(&graph.Node{Name: fmt.Sprintf("%s of %s", op, n.Name), Op: op, Version: 13, Inputs: in, Outputs: []*graph.Value{out}, Attrs: attrs})
	}
	if err := add("Gemm", nil, sum, parts, s.constant(y, "weights", weights, len(weights)/targets, targets), s.constant(y, "base", base, targets)); err != nil {
		return err
	}
	switch {
	case form == operator.Paired && t.Transform == "LOGISTIC":
		p, q := s.value(y, "second", y.Type, 1), s.value(y, "first", y.Type, 1)
		if err := add("Sigmoid", nil, p, sum); err != nil {
			return err
		}
		if err := add("Sub", nil, q, s.constant(y, "one", []float64{1}, 1, 1), p); err != nil {
			return err
		}
		return add("Concat", map[string]graph.Attr{"axis": {Int: 1}}, y, q, p)
	case form == operator.Paired:
		return add("Gemm", nil, y, sum, s.constant(y, "pair", []float64{-1, 1}, 1, 2), s.constant(y, "complement", []float64{t.Complement(), 0}, 2))
	case t.Transform == "LOGISTIC":
		return add("Sigmoid", nil, y, sum)
	case t.Transform == "SOFTMAX":
		return add("Softmax", map[string]graph.Attr{"axis": {Int: -1}}, y, sum)
	}
	return nil
}

// newName is a name that g does not use yet, after that of a tensor.
func newName(g *graph.Graph, of *graph.Value, what string) string {
	name := of.Name + "/" + what
	for {
		if _, taken := g.Value(name); !taken {
			return name
		}
		name += "_"
	}
}

func (s *treeSplitter) value(of *graph.Value, what string, t graph.DType, width int) *graph.Value {
	return graph.NewInner(newName(s.g, of, what), t, graph.Batch, width)
}

func (s *treeSplitter) constant(of *graph.Value, what string, v []float64, shape ...int) *graph.Value {
	c := graph.NewInner(newName(s.g, of, what), of.Type, shape...)
	c.Const = &graph.Tensor{Type: of.Type, Shape: shape, F: v}
	return c
}

// isPart reports whether the elements of v are parts of an ensemble of trees that was
// split: one that depends on all columns is a term as well, since others do not.
func isPart(v *graph.Value) bool {
	if v.Producer == nil {
		return false
	}
	t, ok := v.Producer.Resolved.(*operator.Trees)
	return ok && t.Groups > 1
}

// treesOf counts the trees behind elements; 0: some are not of parts of ensembles.
func (d *discovery) treesOf(elements []Element) int {
	count := 0
	for _, el := range elements {
		if merged := d.treeCount[el]; merged > 0 {
			count += merged
			continue
		}
		if el.Value.Producer == nil {
			return 0
		}
		t, ok := el.Value.Producer.Resolved.(*operator.Trees)
		if !ok || t.Counts == nil {
			return 0
		}
		count += t.Counts[el.Index]
	}
	return count
}

func treesReason(trees int, columns []string) string {
	which := "the trees that depend"
	if trees == 1 {
		which = "the tree that depends"
	}
	alone := " alone"
	if len(columns) > 1 {
		alone = " together"
	}
	return fmt.Sprintf("the sum over %s on %s%s: %s", which, graph.QuotedList(columns), alone, graph.Plural(trees, "tree"))
}
