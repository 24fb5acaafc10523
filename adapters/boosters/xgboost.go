package boosters

import (
	stdjson "encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pho-go/pho/adapters/boosters/internal/document"
	"github.com/pho-go/pho/adapters/internal/tree"
	"github.com/pho-go/pho/data"
)

// isXGBoost: an object whose first members are a learner and XGBoost's version, in either order.
func isXGBoost(head []byte) bool {
	keys := document.Keys(head, 2)
	return len(keys) > 0 && (keys[0] == "learner" || slices.Equal(keys, []string{"version", "learner"}))
}

// xgboost is the file, as far as predictions need it.
type xgboost struct {
	version    []int32
	attributes map[string]string
	names      []string
	types      []string
	model      map[string]string // learner_model_param
	objective  string
	parameters map[string]string // of the objective
	booster    string            // gbtree, dart or gblinear
	parallel   int               // trees of a round and target
	info       []int32           // the target of each tree
	rounds     []int32           // where the trees of each round begin
	trees      []xgboostTree
	drop       []float32  // weights of dart's trees
	weights    []float32  // of gblinear
	levels     [][]string // of columns that are categories, by column; nil: the file has none
}

// xgboostTree has its nodes in parallel lists.
type xgboostTree struct {
	left, right, feature, missingLeft, kind []int32
	condition                               []float32 // or what a leaf adds
	vectors, nodeVectors                    []float32 // what leaves, or nodes, add to several targets
	width                                   int       // of those
	categories, nodes, segments, sizes      []int32   // sets of categories
}

func readXGBoost(file []byte, whole bool) (*model, error) {
	x := &xgboost{}
	r := document.New(file)
	err := document.Fields(r, map[string]func() error{
		"version": ints(r, &x.version),
		"learner": func() error { return x.learner(r) },
	})
	if err == nil {
		err = r.End()
	}
	if err != nil {
		return nil, err
	}
	release(len(file))
	return x.read(whole)
}

// The fields of a document that are kept as they are.
func ints(r document.Reader, to *[]int32) func() error {
	return func() (err error) {
		*to, err = document.Ints(r)
		return err
	}
}

func floats(r document.Reader, to *[]float32) func() error {
	return func() (err error) {
		*to, err = document.Floats(r)
		return err
	}
}

func text(r document.Reader, to *string) func() error {
	return func() (err error) {
		*to, err = r.Text()
		return err
	}
}

func texts(r document.Reader, to *[]string) func() error {
	return func() (err error) {
		*to, err = document.Texts(r)
		return err
	}
}

// parameters are the texts of an object, and of objects in it: XGBoost writes numbers as texts.
func parameters(r document.Reader, to *map[string]string) func() error {
	*to = map[string]string{}
	var read func() error
	read = func() error {
		return r.Object(func(key string) error {
			switch r.Kind() {
			case document.Object:
				return read()
			case document.Text:
				s, err := r.Text()
				(*to)[key] = s
				return err
			}
			return r.Skip()
		})
	}
	return read
}

func (x *xgboost) learner(r document.Reader) error {
	return document.Fields(r, map[string]func() error{
		"attributes":          parameters(r, &x.attributes),
		"feature_names":       texts(r, &x.names),
		"feature_types":       texts(r, &x.types),
		"learner_model_param": parameters(r, &x.model),
		"objective":           parameters(r, &x.parameters),
		"gradient_booster":    func() error { return x.gradientBooster(r) },
	})
}

func (x *xgboost) gradientBooster(r document.Reader) error {
	var inner string
	return document.Fields(r, map[string]func() error{
		"name":        text(r, &x.booster),
		"weight_drop": floats(r, &x.drop),
		"model":       func() error { return x.ensemble(r) },
		"gbtree": func() error {
			return document.Fields(r, map[string]func() error{"name": text(r, &inner), "model": func() error { return x.ensemble(r) }})
		},
	})
}

func (x *xgboost) ensemble(r document.Reader) error {
	var param map[string]string
	err := document.Fields(r, map[string]func() error{
		"gbtree_model_param": parameters(r, &param),
		"tree_info":          ints(r, &x.info),
		"iteration_indptr":   ints(r, &x.rounds),
		"weights":            floats(r, &x.weights),
		"cats": func() error {
			return document.Fields(r, map[string]func() error{"enc": func() error { return x.categories(r) }})
		},
		"trees": func() error {
			return r.Array(func() error {
				t := xgboostTree{}
				err := t.read(r)
				x.trees = append(x.trees, t)
				return err
			})
		},
	})
	x.parallel, _ = strconv.Atoi(param["num_parallel_tree"])
	return err
}

// categories are the levels of each column: texts as their bytes, which offsets cut, or numbers. Version 3.1 and
// later write them; of columns without any both lists are empty.
func (x *xgboost) categories(r document.Reader) error {
	return r.Array(func() error {
		var offsets []int32
		var values []float64
		err := document.Fields(r, map[string]func() error{
			"offsets": ints(r, &offsets),
			"values": func() (err error) {
				values, err = document.Doubles(r)
				return err
			},
		})
		if err != nil {
			return err
		}
		var levels []string
		if offsets == nil {
			for _, v := range values {
				levels = append(levels, data.LevelText(v))
			}
		}
		text := make([]byte, len(values))
		for i, v := range values {
			text[i] = byte(int(v))
		}
		for i := 0; i+1 < len(offsets); i++ {
			from, to := offsets[i], offsets[i+1]
			if from < 0 || from > to || int(to) > len(text) {
				return fmt.Errorf("a category is the bytes %d to %d of %d", from, to, len(text))
			}
			levels = append(levels, string(text[from:to]))
		}
		if slices.ContainsFunc(levels, func(l string) bool { return !utf8.ValidString(l) }) { // cut by characters: version 3.2 and pandas
			levels = nil
		}
		x.levels = append(x.levels, levels)
		return nil
	})
}

func (t *xgboostTree) read(r document.Reader) error {
	var param map[string]string
	err := document.Fields(r, map[string]func() error{
		"base_weights":        floats(r, &t.nodeVectors),
		"left_children":       ints(r, &t.left),
		"right_children":      ints(r, &t.right),
		"split_indices":       ints(r, &t.feature),
		"default_left":        ints(r, &t.missingLeft),
		"split_type":          ints(r, &t.kind),
		"split_conditions":    floats(r, &t.condition),
		"leaf_weights":        floats(r, &t.vectors),
		"categories":          ints(r, &t.categories),
		"categories_nodes":    ints(r, &t.nodes),
		"categories_segments": ints(r, &t.segments),
		"categories_sizes":    ints(r, &t.sizes),
		"tree_param":          parameters(r, &param),
	})
	if err != nil {
		return err
	}
	n := len(t.left)
	for _, l := range []struct {
		name string
		n    int
	}{{"right_children", len(t.right)}, {"split_indices", len(t.feature)}, {"default_left", len(t.missingLeft)}, {"split_conditions", len(t.condition)}} {
		if l.n != n || n == 0 {
			return fmt.Errorf("left_children has %d entries, %s %d", n, l.name, l.n)
		}
	}
	if t.kind != nil && len(t.kind) != n {
		return fmt.Errorf("left_children has %d entries, split_type %d", n, len(t.kind))
	}
	if t.width, err = strconv.Atoi(param["size_leaf_vector"]); err != nil || t.width < 0 {
		return fmt.Errorf("size_leaf_vector is %q", param["size_leaf_vector"])
	}
	if t.width < 2 {
		t.nodeVectors = nil
	}
	return nil
}

func (x *xgboost) read(whole bool) (*model, error) {
	x.objective = x.parameters["name"]
	o, known := xgboostObjectives()[x.objective]
	if !known {
		return nil, fmt.Errorf("the objective %q is not supported", x.objective)
	}
	if !slices.Contains([]string{"gbtree", "dart", "gblinear"}, x.booster) {
		return nil, fmt.Errorf("the booster %q is not supported; gbtree, dart and gblinear are", x.booster)
	}
	m := &model{whole: whole, library: "XGBoost", version: x.versionText(), single: true, link: o.link}
	if err := x.features(m); err != nil {
		return nil, err
	}
	targets, err := x.targets()
	if err != nil {
		return nil, err
	}
	if o.link == softmax && targets < 2 {
		return nil, fmt.Errorf("the objective %s has %d classes", x.objective, targets)
	}
	if m.outputs = x.outputs(targets); m.link == softmax {
		m.outputs = []string{"probabilities"}
	}
	base, err := x.base(targets, o.margin)
	if err != nil {
		return nil, err
	}
	if m.targets = targets; x.booster == "gblinear" {
		m.linear, err = x.linear(len(m.columns), base)
	} else if err = x.stopped(m); err == nil {
		err = x.grow(m, base)
	}
	if err != nil {
		return nil, err
	}
	if o.note != "" {
		m.notes = append(m.notes, o.note)
	}
	return m, nil
}

// versionText is the version of the library that wrote the file.
func (x *xgboost) versionText() string {
	var parts []string
	for _, v := range x.version {
		parts = append(parts, strconv.Itoa(int(v)))
	}
	return strings.Join(parts, ".")
}

// xgboostObjective is what an objective makes of scores, and of the base score.
type xgboostObjective struct {
	link   link
	margin link // the base score is a response of this link
	note   string
}

// xgboostObjectives: src/objective of XGBoost, PredTransform and ProbToMargin.
func xgboostObjectives() map[string]xgboostObjective {
	all := map[string]xgboostObjective{
		"binary:hinge":    {identity, identity, "the predictor is the score of binary:hinge; XGBoost answers 1 where it is above 0, and 0 elsewhere"},
		"binary:logitraw": {},
		"multi:softmax":   {softmax, identity, ""},
		"multi:softprob":  {softmax, identity, ""},
	}
	for _, name := range []string{"reg:squarederror", "reg:linear", "reg:squaredlogerror", "reg:absoluteerror", "reg:pseudohubererror", "reg:quantileerror", "rank:ndcg", "rank:map", "rank:pairwise"} {
		all[name] = xgboostObjective{}
	}
	for _, name := range []string{"reg:logistic", "binary:logistic"} {
		all[name] = xgboostObjective{logit, logit, ""}
	}
	for _, name := range []string{"count:poisson", "reg:gamma", "reg:tweedie", "survival:cox", "survival:aft"} {
		all[name] = xgboostObjective{log, log, ""}
	}
	return all
}

func (x *xgboost) features(m *model) error {
	n, err := strconv.Atoi(x.model["num_feature"])
	if err != nil || n < 1 || n > maxColumns {
		return fmt.Errorf("num_feature is %q; 1 to %d are supported", x.model["num_feature"], maxColumns)
	}
	m.named = len(x.names) > 0
	if m.named && len(x.names) != n || len(x.types) > 0 && len(x.types) != n {
		return fmt.Errorf("there are %d feature names and %d types for %d features", len(x.names), len(x.types), n)
	}
	m.columns = make([]column, n)
	for i, name := range x.names {
		m.columns[i].name = name
	}
	if len(x.levels) != 0 && len(x.levels) != n {
		return fmt.Errorf("there are categories of %d columns for %d features", len(x.levels), n)
	}
	var coded []string
	for i, kind := range x.types {
		if kind != "c" {
			continue
		}
		m.columns[i].enters = floored
		if len(x.levels) > 0 && len(x.levels[i]) > 0 {
			m.columns[i].levels = x.levels[i]
		} else {
			coded = append(coded, strconv.Quote(m.columns[i].name))
		}
	}
	if len(coded) > 0 {
		m.notes = append(m.notes, fmt.Sprintf("the categories of %s are codes 0, 1, ..., as XGBoost was given them: the file does not have their names", strings.Join(coded[:min(len(coded), 20)], ", ")))
	}
	return nil
}

// targets is how many scores a row has.
func (x *xgboost) targets() (int, error) {
	classes, _ := strconv.Atoi(x.model["num_class"])
	targets, _ := strconv.Atoi(x.model["num_target"])
	k := max(classes, targets, 1)
	if k > maxTargets {
		return 0, fmt.Errorf("there are %d classes or targets; at most %d are supported", k, maxTargets)
	}
	return k, nil
}

// linear is gblinear's function: a row of weights for each column, and one of biases. Of several base scores
// gblinear takes the first for each target.
func (x *xgboost) linear(columns int, base []float64) (*linear, error) {
	k := len(base)
	if len(x.weights) != (columns+1)*k {
		return nil, fmt.Errorf("gblinear has %d weights for %d features and %d targets", len(x.weights), columns, k)
	}
	l := &linear{weights: make([]float64, columns*k), bias: slices.Repeat(base[:1], k)}
	for i, w := range x.weights {
		if i < len(l.weights) {
			l.weights[i] = float64(w)
		} else {
			l.bias[i-len(l.weights)] += float64(w)
		}
	}
	return l, nil
}

func (x *xgboost) outputs(targets int) []string {
	var alpha []float64
	if x.objective != "reg:quantileerror" || stdjson.Unmarshal([]byte(x.parameters["quantile_alpha"]), &alpha) != nil {
		return targetNames(targets)
	}
	var levels []string
	for _, a := range alpha {
		levels = append(levels, strconv.FormatFloat(a, 'g', -1, 64))
	}
	return quantileNames(levels, targets)
}

// base is what the sum for each target begins with: the base score, which is one of responses, as a number of
// float32 on the scale of scores.
func (x *xgboost) base(targets int, of link) ([]float64, error) {
	var given []float32
	for s := range strings.SplitSeq(strings.Trim(x.model["base_score"], "[]"), ",") {
		v, err := strconv.ParseFloat(strings.TrimSpace(s), 32)
		if err != nil {
			return nil, fmt.Errorf("base_score is %q", x.model["base_score"])
		}
		given = append(given, float32(v))
	}
	if len(given) != 1 && len(given) != targets {
		return nil, fmt.Errorf("base_score has %d numbers for %d targets", len(given), targets)
	}
	base := make([]float64, targets)
	for k := range base {
		v := given[k%len(given)]
		switch of {
		case logit: // -log(1/p - 1)
			v = float32(-math.Log(float64(1/v - 1)))
		case log:
			v = float32(math.Log(float64(v)))
		}
		if base[k] = float64(v); math.IsNaN(base[k]) || math.IsInf(base[k], 0) {
			return nil, fmt.Errorf("base_score %q of objective %s is no finite score", x.model["base_score"], x.objective)
		}
	}
	return base, nil
}

// stopped leaves out the trees after the best round where scikit-learn's estimator, which predicts without
// them, wrote the file: it notes itself among the attributes. A Booster predicts with all trees.
func (x *xgboost) stopped(m *model) error {
	best, early := x.attributes["best_iteration"]
	if _, estimator := x.attributes["scikit_learn"]; !estimator || !early || len(x.trees) == 0 {
		return nil
	}
	round, err := strconv.Atoi(best)
	if err != nil || round < 0 {
		return fmt.Errorf("best_iteration is %q", best)
	}
	if len(x.rounds) == 0 { // before version 2
		for at := 0; at <= len(x.trees); at += max(x.parallel, 1) * m.targets {
			x.rounds = append(x.rounds, int32(at))
		}
	}
	if round+1 >= len(x.rounds) {
		return fmt.Errorf("best_iteration is %d of %d rounds", round, len(x.rounds)-1)
	}
	all, keep := len(x.trees), int(x.rounds[round+1])
	if keep < 0 || keep > min(all, len(x.info)) {
		return fmt.Errorf("round %d ends at tree %d of %d", round, keep, all)
	}
	x.trees, x.info, x.drop = x.trees[:keep], x.info[:keep], x.drop[:min(keep, len(x.drop))]
	if keep < all {
		m.notes = append(m.notes, fmt.Sprintf("training stopped early: the first %d of %d trees are used, as the estimator that wrote the file predicts", keep, all))
	}
	return nil
}

// grow adds the trees to the model.
func (x *xgboost) grow(m *model, base []float64) error {
	if len(x.info) != len(x.trees) {
		return fmt.Errorf("tree_info has %d entries for %d trees", len(x.info), len(x.trees))
	}
	if x.booster == "dart" && len(x.drop) != len(x.trees) {
		return fmt.Errorf("weight_drop has %d entries for %d trees", len(x.drop), len(x.trees))
	}
	f := &tree.Forest{Targets: m.targets, Single: true, Base: base, Rounded: true}
	m.grow(f)
	for i := range x.trees {
		weight := float32(1)
		if x.booster == "dart" {
			weight = x.drop[i]
		}
		if x.info[i] < 0 || int(x.info[i]) >= m.targets {
			return fmt.Errorf("tree %d adds to target %d of %d", i, x.info[i], m.targets)
		}
		if err := x.trees[i].add(f, x.info[i], weight); err != nil {
			return fmt.Errorf("tree %d: %w", i, err)
		}
		x.trees[i] = xgboostTree{} // its memory is not needed any more
		if err := m.settle(piece); err != nil {
			return err
		}
	}
	return nil
}

// add adds the tree to the forest: a row goes left where its number is below the condition, or where its category is
// none of the node's. Nodes that no row reaches are those that pruning has left.
func (t *xgboostTree) add(f *tree.Forest, target int32, weight float32) error {
	sets, err := t.sets()
	if err != nil {
		return err
	}
	n, top := len(t.left), int32(len(f.Nodes))
	f.Roots = append(f.Roots, top)
	f.Nodes = append(f.Nodes, tree.Node{})
	type place struct{ of, at int32 } // node of the file, and of the forest
	for open := []place{{0, top}}; len(open) > 0; {
		here := open[len(open)-1]
		open = open[:len(open)-1]
		i := here.of
		left, right := t.left[i], t.right[i]
		if left == -1 {
			from := int32(len(f.Weights))
			if err := t.leaf(f, i, target, weight); err != nil {
				return err
			}
			f.Nodes[here.at] = tree.Node{Mode: tree.Leaf, From: from, To: int32(len(f.Weights))}
			continue
		}
		next := int32(len(f.Nodes))
		switch {
		case left < 0 || int(left) >= n || right < 0 || int(right) >= n || t.feature[i] < 0:
			return fmt.Errorf("node %d has the children %d and %d of %d nodes, and splits feature %d", i, left, right, n, t.feature[i])
		case int(next-top)+2 > n || next > math.MaxInt32/2:
			return fmt.Errorf("node %d: the nodes share children, and form no tree", i)
		}
		at := tree.Node{Mode: tree.LT, Feature: t.feature[i], Value: float64(t.condition[i]), True: next, False: next + 1, MissingTrue: t.missingLeft[i] != 0}
		if t.kind != nil && t.kind[i] == 1 {
			at = tree.Node{Mode: tree.Member, Feature: at.Feature, Set: int32(len(f.Sets)), True: next + 1, False: next, MissingTrue: t.missingLeft[i] == 0}
			set, ok := sets[i]
			if !ok {
				return fmt.Errorf("node %d splits categories and has none", i)
			}
			f.Sets = append(f.Sets, set)
		}
		f.Nodes[here.at] = at
		f.Nodes = append(f.Nodes, tree.Node{}, tree.Node{})
		open = append(open, place{right, next + 1}, place{left, next})
	}
	return nil
}

// leaf adds what node i adds to a target, or to each.
func (t *xgboostTree) leaf(f *tree.Forest, i, target int32, weight float32) error {
	if t.width < 2 {
		f.Weights = append(f.Weights, tree.Weight{Target: target, Value: float64(weight * t.condition[i])})
		return nil
	}
	at, all := int(i), t.nodeVectors // one for each node until version 3.1, then one for each leaf, which right numbers
	if t.vectors != nil {
		at, all = int(t.right[i]), t.vectors
	}
	if at < 0 || at >= len(all)/t.width || t.width > f.Targets {
		return fmt.Errorf("leaf %d has no vector of %d numbers for %d targets", i, t.width, f.Targets)
	}
	for k, v := range all[at*t.width : (at+1)*t.width] {
		f.Weights = append(f.Weights, tree.Weight{Target: int32(k), Value: float64(weight * v)})
	}
	return nil
}

// sets are the categories of nodes, ascending.
func (t *xgboostTree) sets() (map[int32][]float64, error) {
	if len(t.segments) != len(t.nodes) || len(t.sizes) != len(t.nodes) {
		return nil, fmt.Errorf("categories_nodes has %d entries, categories_segments %d, categories_sizes %d", len(t.nodes), len(t.segments), len(t.sizes))
	}
	sets := map[int32][]float64{}
	for k, node := range t.nodes {
		from, n := int(t.segments[k]), int(t.sizes[k])
		if from < 0 || n < 0 || from > len(t.categories) || n > len(t.categories)-from {
			return nil, fmt.Errorf("node %d has %d categories from %d on, of %d", node, n, from, len(t.categories))
		}
		set := make([]float64, n)
		for j, c := range t.categories[from : from+n] {
			set[j] = float64(c)
		}
		slices.Sort(set)
		sets[node] = set
	}
	return sets, nil
}
