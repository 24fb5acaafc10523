package boosters

import (
	"bytes"
	"fmt"
	"math"
	"slices"

	"github.com/pho-go/pho/adapters/boosters/internal/document"
	"github.com/pho-go/pho/adapters/internal/tree"
)

// treesFormat is the format of a forest whose library writes no files of its own: an object of JSON with
//
//	format   "pho.trees/1", the first member
//	library  who trained it
//	link     identity, log, logit or softmax
//	base     what the score of each target begins with
//	columns  of each its name and, if it holds texts, its categories, which enter as 0, 1, ...; other texts are missing
//	classes  of the link softmax
//	sets     numbers that a node may ask for, increasing
//	trees    of each its target and, for each node, lists of feature (-1: a leaf), threshold, set (-1: none), left, right,
//	         missing_left (where a missing number goes; 1 or 0) and value (of a leaf)
//
// A row goes left where its number is in the set or, without one, at most the threshold. Numbers are of float64.
const treesFormat = "pho.trees/1"

// isTrees looks for the format at the beginning.
func isTrees(head []byte) bool {
	return !document.IsUBJ(head) && bytes.Contains(head[:min(64, len(head))], []byte(`"`+treesFormat+`"`))
}

// plainTree is a tree as the file has it.
type plainTree struct {
	target                             float64
	feature, set, left, right, missing []int32
	threshold, value                   []float64
}

// plainForest is the file.
type plainForest struct {
	format, library, link string
	base                  []float64
	columns               []column
	classes               []string
	sets                  [][]float64
	trees                 []plainTree
}

func readTrees(file []byte, whole bool) (*model, error) {
	var p plainForest
	r := document.New(file)
	err := document.Fields(r, map[string]func() error{
		"format":  text(r, &p.format),
		"library": text(r, &p.library),
		"link":    text(r, &p.link),
		"base":    doubles(r, &p.base),
		"columns": func() error { return r.Array(func() error { return p.column(r) }) },
		"classes": texts(r, &p.classes),
		"sets": func() error {
			return r.Array(func() error {
				set, err := document.Doubles(r)
				p.sets = append(p.sets, set)
				return err
			})
		},
		"trees": func() error { return r.Array(func() error { return p.tree(r) }) },
	})
	if err == nil {
		err = r.End()
	}
	if err != nil {
		return nil, err
	}
	release(len(file))
	return p.model(whole)
}

func doubles(r document.Reader, to *[]float64) func() error {
	return func() (err error) {
		*to, err = document.Doubles(r)
		return err
	}
}

func (p *plainForest) column(r document.Reader) error {
	var c column
	var categories []string
	err := document.Fields(r, map[string]func() error{"name": text(r, &c.name), "categories": texts(r, &categories)})
	if categories != nil {
		code := map[string]float64{}
		for i, name := range categories {
			code[name] = float64(i)
		}
		c.texts = categories
		c.text = func(category string) float64 {
			if i, known := code[category]; known {
				return i
			}
			return math.NaN()
		}
	}
	p.columns = append(p.columns, c)
	return err
}

func (p *plainForest) tree(r document.Reader) error {
	var t plainTree
	err := document.Fields(r, map[string]func() error{
		"target": func() (err error) {
			t.target, err = r.Number()
			return err
		},
		"feature": ints(r, &t.feature), "set": ints(r, &t.set), "left": ints(r, &t.left), "right": ints(r, &t.right), "missing_left": ints(r, &t.missing),
		"threshold": doubles(r, &t.threshold), "value": doubles(r, &t.value),
	})
	p.trees = append(p.trees, t)
	return err
}

// model checks the file.
func (p *plainForest) model(whole bool) (*model, error) {
	k := len(p.base)
	m := &model{whole: whole, library: p.library, columns: p.columns, named: true, targets: k, outputs: targetNames(k)}
	switch {
	case k < 1 || k > maxTargets:
		return nil, fmt.Errorf("it has %d scores; 1 to %d are supported", k, maxTargets)
	case p.link == "identity":
	case p.link == "log":
		m.link = log
	case p.link == "logit":
		m.link = logit
	case p.link == "softmax" && k > 1:
		if m.link, m.outputs = softmax, []string{"probabilities"}; len(p.classes) == k && unique(p.classes) {
			m.classes = p.classes
		}
	default:
		return nil, fmt.Errorf("the link %.40q of %d scores is not supported", p.link, k)
	}
	for i, s := range p.sets {
		if !slices.IsSorted(s) || len(s) > 0 && math.IsNaN(s[0]) {
			return nil, fmt.Errorf("set %d does not increase", i)
		}
	}
	for _, b := range p.base {
		if math.IsNaN(b) || math.IsInf(b, 0) {
			return nil, fmt.Errorf("the base score is %v", b)
		}
	}
	f := &tree.Forest{Targets: k, Base: p.base, Sets: p.sets}
	m.grow(f)
	for i := range p.trees {
		if err := p.trees[i].add(f, len(p.columns)); err != nil {
			return nil, fmt.Errorf("tree %d: %w", i, err)
		}
	}
	return m, nil
}

// add adds the tree to the forest.
func (t *plainTree) add(f *tree.Forest, columns int) error {
	n, top := len(t.feature), int32(len(f.Nodes))
	for _, l := range []int{len(t.set), len(t.left), len(t.right), len(t.missing), len(t.threshold), len(t.value)} {
		if l != n || n == 0 {
			return fmt.Errorf("its lists have %d and %d entries", n, l)
		}
	}
	if target := int(t.target); float64(target) != t.target || target < 0 || target >= f.Targets {
		return fmt.Errorf("it adds to target %v of %d", t.target, f.Targets)
	}
	if n > maxNodes-int(top) {
		return fmt.Errorf("there are more than %d nodes", maxNodes)
	}
	f.Roots = append(f.Roots, top)
	for i := range n {
		own := tree.Node{Mode: tree.Leaf, From: int32(len(f.Weights)), To: int32(len(f.Weights)) + 1}
		if t.feature[i] == -1 {
			if math.IsNaN(t.value[i]) || math.IsInf(t.value[i], 0) {
				return fmt.Errorf("node %d adds %v", i, t.value[i])
			}
			f.Weights = append(f.Weights, tree.Weight{Target: int32(t.target), Value: t.value[i]})
			f.Nodes = append(f.Nodes, own)
			continue
		}
		if t.feature[i] < 0 || int(t.feature[i]) >= columns || t.left[i] < 0 || int(t.left[i]) >= n || t.right[i] < 0 || int(t.right[i]) >= n || t.set[i] < -1 || int(t.set[i]) >= len(f.Sets) || math.IsNaN(t.threshold[i]) {
			return fmt.Errorf("node %d splits feature %d of %d by set %d of %d or the threshold %v, with the children %d and %d of %d nodes", i, t.feature[i], columns, t.set[i], len(f.Sets), t.threshold[i], t.left[i], t.right[i], n)
		}
		own = tree.Node{Mode: tree.LEQ, Feature: t.feature[i], Value: t.threshold[i], True: top + t.left[i], False: top + t.right[i], MissingTrue: t.missing[i] != 0}
		if t.set[i] >= 0 {
			own.Mode, own.Set = tree.Member, t.set[i]
		}
		f.Nodes = append(f.Nodes, own)
	}
	return nil
}
