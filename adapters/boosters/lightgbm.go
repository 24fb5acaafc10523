package boosters

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/pho-go/pho/adapters/internal/tree"
	"github.com/pho-go/pho/data"
)

// isLightGBM: the first line is "tree", the second its version.
func isLightGBM(head []byte) bool {
	first, rest, _ := bytes.Cut(head, []byte("\n"))
	return string(bytes.TrimRight(first, "\r")) == "tree" && bytes.HasPrefix(rest, []byte("version="))
}

// lightGBM is the head of a file: its lines KEY=VALUE.
type lightGBM struct {
	head      map[string]string
	objective []string // its name, and what follows, as sigmoid:1
	columns   int
	perRound  int // trees, one for each score
	trees     int
	decisions []uint8 // by column: what nodes that split it do with missing numbers
	linear    bool
	of        [][]int32 // the columns of each ensemble: see ensemble
}

// A node's decision_type.
const (
	categorical = 1 << iota
	defaultLeft
	zeroMissing
	nanMissing
)

// lightGBMTree is one tree: inner nodes in parallel lists, and leaves. A child below 0 is leaf -child-1.
type lightGBMTree struct {
	leaves           int
	feature          []int32
	threshold        []float64
	decision         []int32
	left, right      []int32
	value            []float64
	boundaries, bits []uint64 // sets of categories: set i is the bits of the words from boundaries[i] on
	constant         []float64
	counts           []int32 // of features of each leaf with a linear function
	features         []int32
	coefficients     []float64
	isLinear         bool
	first            []int32 // of the features of each leaf, and their number
}

func readLightGBM(file []byte, whole bool) (*model, error) {
	if !bytes.Contains(file, []byte("\nend of trees")) {
		return nil, errors.New(`the file ends before the line "end of trees"; copy it, or save the model, again`)
	}
	l := &lightGBM{head: map[string]string{}}
	next, stop := iter.Pull(lines(file))
	defer stop()
	line, more := next()
	for ; more && !bytes.HasPrefix(line, []byte("Tree=")) && string(line) != "end of trees"; line, more = next() {
		key, value, _ := strings.Cut(string(line), "=")
		l.head[key] = value
	}
	m, err := l.begin()
	if err != nil {
		return nil, err
	}
	m.whole = whole
	for ; more && string(line) != "end of trees"; line, more = next() {
		if !bytes.HasPrefix(line, []byte("Tree=")) {
			continue
		}
		var t lightGBMTree
		if err := t.read(next); err != nil {
			return nil, fmt.Errorf("tree %d: %w", l.trees, err)
		}
		if err := l.add(m, &t); err != nil {
			return nil, fmt.Errorf("tree %d: %w", l.trees, err)
		}
		l.trees++
		if err := m.settle(piece); err != nil {
			return nil, err
		}
	}
	for ; more; line, more = next() {
		if categories, ok := bytes.CutPrefix(line, []byte("pandas_categorical:")); ok {
			if err := l.categories(m, categories); err != nil {
				return nil, err
			}
		}
	}
	return m, l.end(m)
}

// lines are those of a file, without their ends.
func lines(file []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for line := range bytes.Lines(file) {
			if !yield(bytes.TrimRight(line, "\r\n")) {
				return
			}
		}
	}
}

// read reads the lines of a tree, up to an empty one.
func (t *lightGBMTree) read(next func() ([]byte, bool)) (err error) {
	for line, more := next(); more && len(line) > 0; line, more = next() {
		key, value, _ := bytes.Cut(line, []byte("="))
		switch string(key) {
		case "num_leaves":
			t.leaves, err = strconv.Atoi(string(value))
		case "split_feature":
			t.feature, err = integers(value)
		case "threshold":
			t.threshold, err = numbers(value)
		case "decision_type":
			t.decision, err = integers(value)
		case "left_child":
			t.left, err = integers(value)
		case "right_child":
			t.right, err = integers(value)
		case "leaf_value":
			t.value, err = numbers(value)
		case "cat_boundaries":
			t.boundaries, err = words(value)
		case "cat_threshold":
			t.bits, err = words(value)
		case "is_linear":
			t.isLinear = string(value) == "1"
		case "leaf_const":
			t.constant, err = numbers(value)
		case "num_features":
			t.counts, err = integers(value)
		case "leaf_features":
			t.features, err = integers(value)
		case "leaf_coeff":
			t.coefficients, err = numbers(value)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	inner := t.leaves - 1
	switch {
	case t.leaves < 1 || t.leaves > math.MaxInt32/4:
		return fmt.Errorf("num_leaves is %d", t.leaves)
	case len(t.feature) != inner || len(t.threshold) != inner || len(t.left) != inner || len(t.right) != inner || len(t.decision) != inner && len(t.decision) != 0:
		return fmt.Errorf("for %d leaves there are %d features, %d thresholds, %d decision types, %d left and %d right children", t.leaves, len(t.feature), len(t.threshold), len(t.decision), len(t.left), len(t.right))
	case len(t.value) != t.leaves:
		return fmt.Errorf("leaf_value has %d entries for %d leaves", len(t.value), t.leaves)
	}
	return t.checkLinear()
}

func (t *lightGBMTree) checkLinear() error {
	if !t.isLinear {
		t.features = nil
		return nil
	}
	total, first := 0, []int32{0}
	for _, n := range t.counts {
		if n < 0 {
			return fmt.Errorf("num_features has %d", n)
		}
		if total += int(n); total > len(t.features) {
			break
		}
		first = append(first, int32(total))
	}
	t.first = first
	if len(t.constant) != t.leaves || len(t.counts) != t.leaves || len(t.features) != total || len(t.coefficients) != total {
		return fmt.Errorf("for %d leaves there are %d constants, %d numbers of features, %d features and %d coefficients", t.leaves, len(t.constant), len(t.counts), len(t.features), len(t.coefficients))
	}
	return nil
}

// list reads numbers with blanks between them.
func list[T any](value []byte, parse func(string) (T, error)) ([]T, error) {
	out := make([]T, 0, bytes.Count(value, []byte(" "))+1)
	for field := range bytes.FieldsSeq(value) {
		v, err := parse(string(field))
		if err != nil {
			return nil, fmt.Errorf("%.40q is no number that belongs there", field)
		}
		out = append(out, v)
	}
	return out, nil
}

func numbers(value []byte) ([]float64, error) {
	return list(value, func(s string) (float64, error) {
		v, err := strconv.ParseFloat(s, 64)
		if errors.Is(err, strconv.ErrRange) {
			err = nil
		}
		return v, err
	})
}

func integers(value []byte) ([]int32, error) {
	return list(value, func(s string) (int32, error) {
		v, err := strconv.ParseInt(s, 10, 32)
		return int32(v), err
	})
}

func words(value []byte) ([]uint64, error) {
	return list(value, func(s string) (uint64, error) { return strconv.ParseUint(s, 10, 32) })
}

// begin is the model without its trees.
func (l *lightGBM) begin() (*model, error) {
	last, err := strconv.Atoi(l.head["max_feature_idx"])
	if err != nil || last < 0 || last >= maxColumns {
		return nil, fmt.Errorf("max_feature_idx is %q; 0 to %d are supported", l.head["max_feature_idx"], maxColumns-1)
	}
	l.columns = last + 1
	names := strings.Fields(l.head["feature_names"])
	if len(names) != l.columns {
		return nil, fmt.Errorf("there are %d feature names for %d features", len(names), l.columns)
	}
	if l.perRound, err = strconv.Atoi(l.head["num_tree_per_iteration"]); err != nil || l.perRound < 1 || l.perRound > maxTargets {
		return nil, fmt.Errorf("num_tree_per_iteration is %q", l.head["num_tree_per_iteration"])
	}
	m := &model{library: "LightGBM", version: l.head["version"], columns: make([]column, l.columns), targets: l.perRound, outputs: targetNames(l.perRound)}
	for i, name := range names {
		m.columns[i].name = name
		m.named = m.named || name != fmt.Sprintf("Column_%d", i)
	}
	l.decisions = make([]uint8, l.columns)
	l.objective = strings.Fields(l.head["objective"])
	return m, l.respond(m)
}

// respond says what becomes of scores: ConvertOutput of the objectives in LightGBM's src/objective.
func (l *lightGBM) respond(m *model) error {
	if len(l.objective) == 0 { // the caller's own, or none
		return nil
	}
	given := func(key string) (float64, error) {
		for _, p := range l.objective[1:] {
			if value, ok := strings.CutPrefix(p, key+":"); ok {
				v, err := strconv.ParseFloat(value, 64)
				if err != nil || !(v > 0) || math.IsInf(v, 0) {
					return 0, fmt.Errorf("%s of objective %q is %q", key, l.objective[0], value)
				}
				return v, nil
			}
		}
		return 1, nil
	}
	var err error
	switch name := l.objective[0]; name {
	case "regression", "regression_l2":
		if slices.Contains(l.objective, "sqrt") {
			m.notes = append(m.notes, "the predictor is a score s: trained with reg_sqrt, LightGBM answers s |s|")
		}
	case "regression_l1", "huber", "fair", "quantile", "mape", "lambdarank", "rank_xendcg", "custom":
	case "poisson", "gamma", "tweedie":
		m.link = log
	case "binary":
		m.link = logit
		m.scale, err = given("sigmoid")
	case "multiclassova":
		m.link = logit
		m.scale, err = given("sigmoid")
	case "multiclass":
		if m.link = softmax; l.perRound < 2 {
			return fmt.Errorf("the objective multiclass has %d classes", l.perRound)
		}
		m.outputs = []string{"probabilities"}
	case "cross_entropy", "xentropy":
		m.link = logit
	case "cross_entropy_lambda", "xentlambda":
		m.link = softplus
	default:
		return fmt.Errorf("the objective %q is not supported", name)
	}
	return err
}

// end is what follows from all trees.
func (l *lightGBM) end(m *model) error {
	if l.trees%l.perRound != 0 || l.trees == 0 {
		return fmt.Errorf("there are %d trees, and %d in a round", l.trees, l.perRound)
	}
	if _, ok := l.head["average_output"]; ok {
		m.divisor = float64(l.trees / l.perRound)
	}
	for i, d := range l.decisions {
		if d&zeroMissing != 0 {
			if m.columns[i].enters = zeroAsMissing; d != zeroMissing {
				return fmt.Errorf("some trees take 0 of feature %q as missing, and others do not; such a model is not supported", m.columns[i].name)
			}
		}
		if d&categorical != 0 {
			if m.columns[i].enters = truncated; d != categorical {
				return fmt.Errorf("some trees take feature %q as categories, and others as numbers; such a model is not supported", m.columns[i].name)
			}
		}
	}
	if l.linear && slices.ContainsFunc(m.columns, func(c column) bool { return c.enters == zeroAsMissing }) {
		return errors.New("linear leaves together with zero_as_missing are not supported")
	}
	return nil
}

func (l *lightGBM) add(m *model, t *lightGBMTree) error {
	e, err := l.ensemble(m, t)
	if err != nil {
		return err
	}
	f, target := e.forest, int32(l.trees%l.perRound)
	top := int32(len(f.Nodes))
	f.Roots = append(f.Roots, top)
	f.Nodes = append(f.Nodes, tree.Node{})
	type place struct{ child, at int32 }
	first := place{0, top}
	if t.leaves == 1 {
		first.child = -1
	}
	for open := []place{first}; len(open) > 0; {
		here := open[len(open)-1]
		open = open[:len(open)-1]
		if here.child < 0 {
			leaf := -int(here.child) - 1
			if leaf >= t.leaves {
				return fmt.Errorf("a node leads to leaf %d of %d", leaf, t.leaves)
			}
			t.leaf(e, leaf, here.at, target, int32(l.perRound))
			continue
		}
		i := int(here.child)
		if i >= t.leaves-1 {
			return fmt.Errorf("a node leads to node %d of %d", i, t.leaves-1)
		}
		n, err := l.node(f, t, i)
		if err != nil {
			return fmt.Errorf("node %d: %w", i, err)
		}
		left := int32(len(f.Nodes))
		if len(f.Nodes)-int(top) > 2*t.leaves+len(t.features)*2 || left > math.MaxInt32/2 {
			return fmt.Errorf("node %d: the nodes share children, and form no tree", i)
		}
		n.True, n.False = left, left+1
		f.Nodes[here.at] = n
		f.Nodes = append(f.Nodes, tree.Node{}, tree.Node{})
		open = append(open, place{t.right[i], left + 1}, place{t.left[i], left})
	}
	return nil
}

// node is an inner node: NumericalDecision and CategoricalDecision of LightGBM's tree.h.
func (l *lightGBM) node(f *tree.Forest, t *lightGBMTree, i int) (n tree.Node, err error) {
	feature := t.feature[i]
	if feature < 0 || int(feature) >= l.columns {
		return n, fmt.Errorf("it splits feature %d of %d", feature, l.columns)
	}
	var decision int32
	if len(t.decision) > 0 {
		decision = t.decision[i]
	}
	n = tree.Node{Mode: tree.LEQ, Feature: feature, Value: aroundZero(t.threshold[i]), MissingTrue: decision&defaultLeft != 0}
	switch missing := decision & (zeroMissing | nanMissing); {
	case decision&categorical != 0: // truncated, and in the set; what is missing goes right
		l.decisions[feature] |= categorical
		n.Mode, n.MissingTrue, n.Set = tree.Member, false, int32(len(f.Sets))
		set, err := t.set(t.threshold[i])
		if err != nil {
			return n, err
		}
		f.Sets = append(f.Sets, set)
	case missing == 0: // NaN is 0
		l.decisions[feature] |= nanMissing
		n.MissingTrue = 0 <= n.Value
	case missing == zeroMissing: // 0, as what is missing
		l.decisions[feature] |= zeroMissing
	case missing == nanMissing:
		l.decisions[feature] |= nanMissing
	default:
		return n, fmt.Errorf("its decision type is %d", decision)
	}
	if math.IsNaN(n.Value) {
		return n, errors.New("its threshold is no number")
	}
	return n, nil
}

// aroundZero is a threshold that sends a number as the threshold t sends 0, if the number is within zeroTo of 0: LightGBM
// reads such numbers as 0.
func aroundZero(t float64) float64 {
	switch {
	case t >= 0 && t <= zeroTo:
		return zeroTo
	case t < 0 && t >= -zeroTo:
		return math.Nextafter(-zeroTo, math.Inf(-1))
	}
	return t
}

func (t *lightGBMTree) set(number float64) ([]float64, error) {
	i := int(number)
	if float64(i) != number || i < 0 || i+1 >= len(t.boundaries) || t.boundaries[i] > t.boundaries[i+1] || t.boundaries[i+1] > uint64(len(t.bits)) {
		return nil, fmt.Errorf("it has the set of categories %v, which is not there", number)
	}
	var set []float64
	for w, word := range t.bits[t.boundaries[i]:t.boundaries[i+1]] {
		for bit := range 32 {
			if word>>bit&1 != 0 {
				set = append(set, float64(32*w+bit))
			}
		}
	}
	return set, nil
}

// leaf writes a leaf to node at. Of a linear one it is below nodes that ask whether its features are there; where
// one is not, the leaf's constant value counts.
func (t *lightGBMTree) leaf(e *ensemble, leaf int, at, target, targets int32) {
	f := e.forest
	end := func(at int32, weights ...tree.Weight) {
		from := int32(len(f.Weights))
		f.Weights = append(f.Weights, weights...)
		f.Nodes[at] = tree.Node{Mode: tree.Leaf, From: from, To: int32(len(f.Weights))}
	}
	value := tree.Weight{Target: target, Value: t.value[leaf]}
	if !t.isLinear {
		end(at, value)
		return
	}
	own := []tree.Weight{{Target: target, Value: t.constant[leaf]}}
	for i := t.first[leaf]; i < t.first[leaf+1]; i++ {
		there := int32(len(f.Nodes))
		f.Nodes[at] = tree.Node{Mode: tree.LEQ, Feature: t.features[i], Value: math.MaxFloat64, True: there, False: there + 1}
		f.Nodes = append(f.Nodes, tree.Node{}, tree.Node{})
		end(there+1, value)
		at = there
		own = append(own, tree.Weight{Target: targets*(1+int32(slices.Index(e.times, t.features[i]))) + target, Value: t.coefficients[i]})
	}
	end(at, own...)
}

// ensemble is the one that the tree belongs to. Trees with linear leaves are apart by the columns that they
// depend on, if these are at most two: a product of a part of a sum over trees could not be taken apart later.
func (l *lightGBM) ensemble(m *model, t *lightGBMTree) (*ensemble, error) {
	var columns []int32
	if t.isLinear {
		for _, c := range t.features {
			if c < 0 || int(c) >= l.columns {
				return nil, fmt.Errorf("a linear leaf has feature %d of %d", c, l.columns)
			}
		}
		l.linear = true
		columns = slices.Concat(t.feature, t.features)
		slices.Sort(columns)
		if columns = slices.Compact(columns); len(columns) > 2 {
			columns = []int32{-1}
		}
	}
	at := slices.IndexFunc(l.of, func(of []int32) bool { return slices.Equal(of, columns) })
	if at < 0 {
		at = len(l.of)
		l.of = append(l.of, columns)
		m.grow(&tree.Forest{Targets: l.perRound})
	}
	e := m.ensembles[at]
	for _, c := range t.features {
		if !slices.Contains(e.times, c) {
			e.times = append(e.times, c)
			e.forest.Targets += l.perRound
		}
	}
	return e, nil
}

// categories names the categories of columns that were pandas' own: one list for each such column.
func (l *lightGBM) categories(m *model, text []byte) error {
	var lists [][]any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&lists); err != nil {
		return fmt.Errorf("pandas_categorical: the file is damaged or ends too early (%w); copy it, or save the model, again", err)
	}
	if len(lists) == 0 { // also null
		return nil
	}
	var of []int // columns of categories: their values follow each other by colons
	infos := strings.Fields(l.head["feature_infos"])
	for i, info := range infos {
		if info != "none" && !strings.HasPrefix(info, "[") {
			of = append(of, i)
		}
	}
	if len(of) != len(lists) || len(infos) != l.columns {
		return fmt.Errorf("pandas_categorical has categories of %d columns, and %d features are known to be categories: which have which is not told by the file; train on categories that are not ordered, and on columns that vary, or on their codes", len(lists), len(of))
	}
	for k, categories := range lists {
		c := &m.columns[of[k]]
		for _, v := range categories {
			switch v := v.(type) {
			case string:
				c.levels = append(c.levels, v)
			case json.Number:
				x, err := v.Float64()
				if err != nil {
					return fmt.Errorf("pandas_categorical: %w", err)
				}
				c.levels = append(c.levels, data.LevelText(x))
			case bool:
				c.levels = append(c.levels, strings.ToUpper(fmt.Sprint(v)[:1])+fmt.Sprint(v)[1:]) // as pandas writes them
			default:
				return fmt.Errorf("pandas_categorical: a category of %q is %v", c.name, v)
			}
		}
	}
	return nil
}
