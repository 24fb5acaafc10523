package catboost

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

var magic = []byte("CBM1")

func isBinary(head []byte) bool { return bytes.HasPrefix(head, magic) }

// readBinary reads a .cbm file: the magic, the size of the core, the core as FlatBuffers, and further parts.
func readBinary(file []byte) (*Model, error) {
	if len(file) < 8 || uint64(binary.LittleEndian.Uint32(file[4:])) > uint64(len(file)-8) {
		return nil, errDamaged
	}
	var fault error
	core := rootTable(file[8:8+binary.LittleEndian.Uint32(file[4:])], &fault)
	m, err := readCore(core)
	if fault != nil {
		return nil, fault
	}
	return m, err
}

// The fields of TModelCore, TModelTrees and the tables of columns, by their order in model.fbs.
const (
	coreFormat, coreTrees, coreInfo                     = 0, 1, 2
	dimension, treeSplits, treeSizes, treeStarts        = 0, 1, 2, 3
	catFeatures, floatFeatures, oneHotFeatures          = 4, 5, 6
	ctrFeatures, leafValues, stepNodes, leafIDs         = 7, 8, 10, 11
	textFeatures, estimatedFeatures, scaleField, biasID = 12, 13, 14, 15
	multiBias, embeddingFeatures                        = 16, 18
)

func readCore(core table) (*Model, error) {
	if format := core.text(coreFormat); format != "FlabuffersModel_v1" {
		return nil, fmt.Errorf("its format is %.40q; FlabuffersModel_v1 is supported", format)
	}
	t := core.table(coreTrees)
	m := &Model{Dimension: int(t.int32(dimension, 0)), Scale: t.float64(scaleField, 1), Bias: t.float64s(multiBias)}
	if m.Dimension < 1 || m.Dimension > maxDimension {
		return nil, fmt.Errorf("it has %d scores; 1 to %d are supported", m.Dimension, maxDimension)
	}
	if len(m.Bias) == 0 {
		m.Bias = make([]float64, m.Dimension)
		m.Bias[0] = t.float64(biasID, 0)
	}
	if err := refused(t.count(textFeatures), t.count(embeddingFeatures), t.count(estimatedFeatures), t.count(ctrFeatures)); err != nil {
		return nil, err
	}
	splits, err := m.columns(t)
	if err != nil {
		return nil, err
	}
	info := map[string]string{}
	core.each(coreInfo, func(kv table) { info[kv.text(0)] = kv.text(1) })
	if err := m.trained([]byte(info["params"]), []byte(info["class_params"])); err != nil {
		return nil, err
	}
	m.Version = version(info["catboost_version_info"])
	return m, m.trees(t, splits)
}

// columns reads the columns and returns what splits may ask: the borders of numbers, then the values of categories.
func (m *Model) columns(t table) ([]Split, error) {
	var splits []Split
	t.each(floatFeatures, func(f table) {
		c := Float{Name: f.text(4), Flat: int(f.int32(2, -1)), Missing: Missing(f.uint8(5, 0)), borders: f.float32s(3)}
		for _, b := range c.borders {
			splits = append(splits, Split{Column: len(m.Floats), Border: b})
		}
		m.Floats = append(m.Floats, c)
	})
	at := map[int32]int{}
	t.each(catFeatures, func(c table) {
		at[c.int32(0, -1)] = len(m.Categorical)
		m.Categorical = append(m.Categorical, Categorical{Name: c.text(2), Flat: int(c.int32(1, -1))})
	})
	var err error
	t.each(oneHotFeatures, func(o table) {
		c, known := at[o.int32(0, -1)]
		if !known {
			err = fmt.Errorf("categories are of column %d, which is none of the categorical ones", o.int32(0, -1))
			return
		}
		for _, v := range o.int32s(1) {
			m.Categorical[c].Values = append(m.Categorical[c].Values, v)
			splits = append(splits, Split{Categorical: true, Column: c, Value: v})
		}
	})
	for _, f := range m.Floats {
		if f.Missing > AsTrue {
			return nil, fmt.Errorf("column %q treats missing numbers in way %d, which is unknown", f.Name, f.Missing)
		}
	}
	return splits, err
}

// trees reads the trees, whose levels ask one question each if there are no step nodes.
func (m *Model) trees(t table, splits []Split) error {
	asked, sizes, starts := t.int32s(treeSplits), t.int32s(treeSizes), t.int32s(treeStarts)
	steps, ids, leaves := t.vector(stepNodes, 4), t.int32s(leafIDs), t.float64s(leafValues)
	if *t.fault != nil {
		return *t.fault
	}
	if len(starts) != len(sizes) {
		return fmt.Errorf("it has %d sizes and %d starts of trees", len(sizes), len(starts))
	}
	nodes := 0
	for i, size := range sizes {
		start := starts[i]
		if start < 0 || size < 0 || int(start) > len(asked) || int(size) > len(asked)-int(start) {
			return fmt.Errorf("tree %d: %w", i, errDamaged)
		}
		own := make([]Split, size)
		for k, s := range asked[start : start+size] {
			if s < 0 || int(s) >= len(splits) {
				if len(steps) > 0 { // of a leaf, which asks nothing
					own[k].Column = -1
					continue
				}
				return fmt.Errorf("tree %d: split %d of %d", i, s, len(splits))
			}
			own[k] = splits[s]
		}
		var tree Tree
		var err error
		if len(steps) > 0 {
			if len(steps)/4 < int(start+size) || len(ids) < int(start+size) {
				return fmt.Errorf("tree %d: %w", i, errDamaged)
			}
			tree, err = m.steps(own, steps[4*start:4*(start+size)], ids[start:start+size], leaves)
		} else {
			n := m.Dimension << min(size, maxDepth)
			if n > len(leaves) {
				return fmt.Errorf("tree %d: %w", i, errDamaged)
			}
			tree, err = m.oblivious(own, leaves[:n])
			leaves = leaves[n:]
		}
		if err != nil {
			return fmt.Errorf("tree %d: %w", i, err)
		}
		if nodes += len(tree.Nodes); nodes > maxNodes {
			return fmt.Errorf("the trees have more than %d nodes", maxNodes)
		}
		m.Trees = append(m.Trees, tree)
	}
	return nil
}

// steps is the tree whose node i goes on to a node that is left, or right, so many nodes further on; where that is
// none, its own leaf, of leaf numbers from ids[i] on, is the end.
func (m *Model) steps(splits []Split, steps []byte, ids []int32, leaves []float64) (Tree, error) {
	var t Tree
	if len(splits) == 0 {
		return t, errors.New("it has no nodes")
	}
	index := make([]int32, len(splits)) // of nodes of the file among those of t
	for i := range splits {
		index[i] = int32(len(t.Nodes))
		t.Nodes = append(t.Nodes, Node{})
		no, yes := binary.LittleEndian.Uint16(steps[4*i:]), binary.LittleEndian.Uint16(steps[4*i+2:])
		if no == 0 != (yes == 0) {
			t.Nodes = append(t.Nodes, Node{})
		}
	}
	for i, split := range splits {
		no, yes := int(binary.LittleEndian.Uint16(steps[4*i:])), int(binary.LittleEndian.Uint16(steps[4*i+2:]))
		if i+max(no, yes) >= len(splits) {
			return t, fmt.Errorf("node %d of %d goes on to node %d", i, len(splits), i+max(no, yes))
		}
		own := &t.Nodes[index[i]]
		if no == 0 || yes == 0 {
			from := int64(uint32(ids[i]))
			if from+int64(m.Dimension) > int64(len(leaves)) {
				return t, fmt.Errorf("node %d has the leaf %d of %d numbers", i, from, len(leaves))
			}
			leaf := leaves[from : from+int64(m.Dimension)]
			if no == yes {
				own.Leaf = leaf
				continue
			}
			t.Nodes[index[i]+1].Leaf = leaf
		}
		if split.Column < 0 {
			return t, fmt.Errorf("node %d asks none of the splits", i)
		}
		*own = Node{Split: split, No: index[i+no], Yes: index[i+yes]}
		if no == 0 {
			own.No = index[i] + 1
		}
		if yes == 0 {
			own.Yes = index[i] + 1
		}
	}
	return t, nil
}
