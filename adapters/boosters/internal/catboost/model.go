// Package catboost reads the model files of CatBoost, binary (.cbm) and JSON, and refuses what it does not
// know how to evaluate. A model is
//
//	s = scale * (sum over trees of the leaf that the row comes to) + bias,    a vector of Dimension numbers,
//
// where a tree asks binary questions of the row (Split), some of them of statistics that its categories have (Table). Formats:
// CatBoost's catboost/libs/model/flatbuffers/model.fbs and ctr_data.fbs, and
// catboost/libs/model/model_export/json_model_helpers.cpp; keys: catboost/libs/model/hash.h.
package catboost

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
)

// Model is what a file holds, checked: indexes are within bounds.
type Model struct {
	Version     string // of the library, "" if the file does not say
	Floats      []Float
	Categorical []Categorical
	Names       map[int32]string // of categories by their Hash, those that the file has
	Tables      []Table
	Trees       []Tree
	Dimension   int
	Scale       float64
	Bias        []float64 // Dimension
	Loss        string    // the loss that it was trained with, "" if the file does not say
	Alpha       string    // of the loss MultiQuantile, by commas
	Classes     []string  // in the order of the scores; nil: none, or the file does not say
}

// Float is a column of numbers, which enter as float32.
type Float struct {
	Name    string
	Flat    int // position among the columns of both kinds
	Missing Missing
	borders []float32
}

// Missing is which answer a missing number gives to every question.
type Missing uint8

// AsIs: no missing number was seen in training; it answers as a number below all.
const (
	AsIs Missing = iota
	AsFalse
	AsTrue
)

// Categorical is a column of categories, by their Hash.
type Categorical struct {
	Name   string
	Flat   int
	Values []int32 // those that splits ask for
	// Counted are those that a table of the column alone has; which there are in other tables cannot be known.
	Counted []int32
}

// Split is a question: of a number or statistic whether it is above the border, of a category whether it is the value.
type Split struct {
	Of        Subject
	Column    int // of Floats, Categorical or Tables
	Statistic int // of a table
	Border    float32
	Value     int32
}

// Subject is what a split asks about.
type Subject uint8

// Number: of a Float. Category: of a Categorical. Statistic: of a Table.
const (
	Number Subject = iota
	Category
	Statistic
)

// Tree is a decision tree: of nodes, at hand or made when they are asked for, or symmetric, where level i asks splits[i] and the answer
// is bit i of the number of the leaf.
type Tree struct {
	nodes  []Node
	build  func(old []Node) ([]Node, error) // makes the nodes; it has done so once, without an error
	size   int                              // how many it makes
	splits []Split
	leaves []float64
}

// builtLater checks that build makes nodes, in the memory of old if it is large enough, and is the tree that has it in their place: they
// take several times the memory of the file.
func builtLater(old []Node, build func(old []Node) ([]Node, error)) ([]Node, Tree, error) {
	nodes, err := build(old)
	return nodes, Tree{build: build, size: len(nodes)}, err
}

// Node is a split with its children, or a leaf.
type Node struct {
	Split   Split
	No, Yes int32     // later nodes
	Leaf    []float64 // of a leaf: Dimension numbers; nil: a split
}

// bounds of what a file may ask for.
const (
	maxDepth     = 16 // of trees whose levels ask one question each
	maxDimension = 1 << 16
	maxNodes     = 1 << 28
)

// Is reports whether a file that begins with head is one of CatBoost: binary, or an object of JSON with the members that
// CatBoost writes, of which features_info comes first.
func Is(head []byte) bool { return isBinary(head) || isJSON(head) }

// Read reads a file of either kind.
func Read(file []byte) (*Model, error) {
	var m *Model
	var err error
	if isBinary(file) {
		m, err = readBinary(file)
	} else {
		m, err = readJSON(file)
	}
	if err != nil {
		return nil, err
	}
	return m, m.check()
}

func (m *Model) check() error {
	if len(m.Bias) != m.Dimension {
		return fmt.Errorf("there are %d biases for %d scores", len(m.Bias), m.Dimension)
	}
	numbers := append([]float64{m.Scale}, m.Bias...)
	for _, v := range numbers {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return errors.New("its scale and biases are not all finite")
		}
	}
	seen := make([]bool, len(m.Floats)+len(m.Categorical))
	for _, flat := range m.flats() {
		if flat < 0 || flat >= len(seen) || seen[flat] {
			return fmt.Errorf("column %d of %d is there twice, or none", flat, len(seen))
		}
		seen[flat] = true
	}
	nodes := 0
	for i := range m.Trees {
		if nodes += m.Trees[i].Size(); nodes > maxNodes {
			return fmt.Errorf("the trees have more than %d nodes", maxNodes)
		}
	}
	return nil
}

// flats are the positions of all columns.
func (m *Model) flats() (out []int) {
	for _, f := range m.Floats {
		out = append(out, f.Flat)
	}
	for _, c := range m.Categorical {
		out = append(out, c.Flat)
	}
	return out
}

// symmetric is the tree of these levels.
func (m *Model) symmetric(splits []Split, leaves []float64) (Tree, error) {
	if len(splits) > maxDepth || len(leaves) != m.Dimension<<len(splits) {
		return Tree{}, fmt.Errorf("it has %d levels and %d numbers in leaves of %d", len(splits), len(leaves), m.Dimension)
	}
	return Tree{splits: splits, leaves: leaves}, nil
}

// Size is the number of nodes.
func (t *Tree) Size() int {
	switch {
	case t.nodes != nil:
		return len(t.nodes)
	case t.build != nil:
		return t.size
	}
	return 2<<len(t.splits) - 1
}

// Nodes are the nodes from the root on, in the memory of old if it is large enough. Those of a symmetric tree take many times its memory.
func (t *Tree) Nodes(old []Node) []Node {
	switch {
	case t.nodes != nil:
		return append(old[:0], t.nodes...)
	case t.build != nil:
		nodes, _ := t.build(old)
		return nodes
	}
	depth := len(t.splits)
	nodes, width := slices.Grow(old[:0], t.Size())[:t.Size()], len(t.leaves)>>depth
	for level := range depth { // the last level of the file is the root: its bit is the highest
		for i := 1<<level - 1; i < 2<<level-1; i++ {
			nodes[i] = Node{Split: t.splits[depth-1-level], No: int32(2*i + 1), Yes: int32(2*i + 2)}
		}
	}
	for i := range 1 << depth {
		nodes[1<<depth-1+i] = Node{Leaf: t.leaves[i*width : (i+1)*width]}
	}
	return nodes
}

// trained takes what the parameters of training say.
func (m *Model) trained(parameters, classes []byte) error {
	var p struct {
		Loss struct {
			Type   string          `json:"type"`
			Params json.RawMessage `json:"params"`
		} `json:"loss_function"`
	}
	if len(parameters) > 0 {
		if err := json.Unmarshal(parameters, &p); err != nil {
			return fmt.Errorf("its parameters of training: %w", err)
		}
	}
	m.Loss = p.Loss.Type
	var own struct {
		Alpha string `json:"alpha"`
	}
	if len(p.Loss.Params) > 0 && json.Unmarshal(p.Loss.Params, &own) == nil {
		m.Alpha = own.Alpha
	}
	var c struct {
		Names  []any     `json:"class_names"`
		Labels []float64 `json:"class_to_label"`
	}
	if len(classes) > 0 {
		if err := json.Unmarshal(classes, &c); err != nil {
			return fmt.Errorf("its classes: %w", err)
		}
	}
	for _, n := range c.Names {
		m.Classes = append(m.Classes, fmt.Sprint(n))
	}
	return nil
}

// refused names what a model has that is not read.
func refused(texts, embeddings, estimated int) error {
	switch {
	case texts > 0:
		return fmt.Errorf("it has %d columns of text (text_features), which are not supported: give its predictions", texts)
	case embeddings > 0:
		return fmt.Errorf("it has %d columns of embeddings (embedding_features), which are not supported: give its predictions", embeddings)
	case estimated > 0:
		return fmt.Errorf("it has %d estimated features, which are not supported: give its predictions", estimated)
	}
	return nil
}
