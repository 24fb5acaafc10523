package catboost

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
)

var magic = []byte("CBM1")

func isBinary(head []byte) bool { return bytes.HasPrefix(head, magic) }

// readBinary reads a .cbm file: the magic, the size of the core, the core as FlatBuffers, and further parts.
func readBinary(file []byte) (*Model, error) {
	if len(file) < 8 || uint64(binary.LittleEndian.Uint32(file[4:])) > uint64(len(file)-8) {
		return nil, errDamaged
	}
	reading := &reading{left: reads * len(file)}
	end := 8 + int(binary.LittleEndian.Uint32(file[4:]))
	r := binaryReader{m: &Model{}, floats: map[int32]int{}, categorical: map[int32]int{}, counts: map[string]*counts{}, parts: file[end:], most: perByte * len(file), reading: reading}
	err := r.core(rootTable(file[8:end], reading))
	if reading.fault != nil {
		return nil, reading.fault
	}
	return r.m, err
}

// binaryReader knows the columns by the numbers that the file gives them.
type binaryReader struct {
	m                   *Model
	floats, categorical map[int32]int
	counts              map[string]*counts // by name
	parts               []byte             // what follows the core
	most                int                // numbers of tables
	*reading
}

// The fields of TModelCore, TModelTrees and the tables of columns, by their order in model.fbs.
const (
	coreFormat, coreTrees, coreInfo, coreParts          = 0, 1, 2, 3
	dimension, treeSplits, treeSizes, treeStarts        = 0, 1, 2, 3
	catFeatures, floatFeatures, oneHotFeatures          = 4, 5, 6
	ctrFeatures, leafValues, stepNodes, leafIDs         = 7, 8, 10, 11
	textFeatures, estimatedFeatures, scaleField, biasID = 12, 13, 14, 15
	multiBias, embeddingFeatures                        = 16, 18
)

func (r *binaryReader) core(core table) error {
	if format := core.text(coreFormat); format != "FlabuffersModel_v1" {
		return fmt.Errorf("its format is %.40q; FlabuffersModel_v1 is supported", format)
	}
	t, m := core.table(coreTrees), r.m
	m.Dimension, m.Scale, m.Bias = int(t.int32(dimension, 0)), t.float64(scaleField, 1), t.float64s(multiBias)
	if m.Dimension < 1 || m.Dimension > maxDimension {
		return fmt.Errorf("it has %d scores; 1 to %d are supported", m.Dimension, maxDimension)
	}
	if len(m.Bias) == 0 {
		m.Bias = make([]float64, m.Dimension)
		m.Bias[0] = t.float64(biasID, 0)
	}
	if err := refused(t.count(textFeatures), t.count(embeddingFeatures), t.count(estimatedFeatures)); err != nil {
		return err
	}
	splits, err := r.columns(t)
	if err != nil {
		return err
	}
	if err := r.readParts(core.texts(coreParts)); err != nil {
		return err
	}
	statistics, err := r.statistics(t)
	if err != nil {
		return err
	}
	own, err := m.tables(statistics, r.most)
	if err != nil {
		return err
	}
	info := map[string]string{}
	core.each(coreInfo, func(kv table) { info[kv.text(0)] = kv.text(1) })
	if err := m.trained([]byte(info["params"]), []byte(info["class_params"])); err != nil {
		return err
	}
	m.Version = version(info["catboost_version_info"])
	return m.trees(t, append(splits, own...))
}

// columns reads the columns and returns what splits may ask of them: the borders of numbers, then the values of categories.
func (r *binaryReader) columns(t table) ([]Split, error) {
	var splits []Split
	m := r.m
	t.each(floatFeatures, func(f table) {
		c := Float{Name: f.text(4), Flat: int(f.int32(2, -1)), Missing: Missing(f.uint8(5, 0)), borders: f.float32s(3)}
		for _, b := range c.borders {
			splits = append(splits, Split{Column: len(m.Floats), Border: b})
		}
		r.floats[f.int32(1, -1)] = len(m.Floats)
		m.Floats = append(m.Floats, c)
	})
	t.each(catFeatures, func(c table) {
		r.categorical[c.int32(0, -1)] = len(m.Categorical)
		m.Categorical = append(m.Categorical, Categorical{Name: c.text(2), Flat: int(c.int32(1, -1))})
	})
	var err error
	t.each(oneHotFeatures, func(o table) {
		c, known := r.categorical[o.int32(0, -1)]
		if !known {
			err = fmt.Errorf("categories are of column %d, which is none of the categorical ones", o.int32(0, -1))
			return
		}
		for _, v := range o.int32s(1) {
			m.Categorical[c].Values = append(m.Categorical[c].Values, v)
			splits = append(splits, Split{Of: Category, Column: c, Value: v})
		}
	})
	for _, f := range m.Floats {
		if f.Missing > AsTrue {
			return nil, fmt.Errorf("column %q treats missing numbers in way %d, which is unknown", f.Name, f.Missing)
		}
	}
	return splits, err
}

// base is what a TModelCtrBase counts: a combination and a kind.
func (r *binaryReader) base(t table) (counts, error) {
	var own counts
	k := int(t.uint8(1, 0))
	if k >= len(kinds()) {
		_, err := kindOf(strconv.Itoa(k))
		return own, err
	}
	own.kind, own.targets = kinds()[k], t.int32(2, 0)
	combination := t.table(0)
	for _, i := range combination.int32s(0) {
		c, known := r.categorical[i]
		if !known {
			return own, errNoColumn
		}
		own.Categorical = append(own.Categorical, c)
	}
	for of, at := range []map[int32]int{Number: r.floats, Category: r.categorical} {
		for b := combination.vector(1+of, 8); len(b) > 0; b = b[8:] {
			column, known := at[int32(binary.LittleEndian.Uint32(b))]
			if !known {
				return own, errNoColumn
			}
			s := Split{Of: Subject(of), Column: column}
			if value := binary.LittleEndian.Uint32(b[4:]); s.Of == Number {
				s.Border = math.Float32frombits(value)
			} else {
				s.Value = int32(value)
			}
			own.Splits = append(own.Splits, s)
		}
	}
	if len(own.Categorical) == 0 {
		return own, errNoCategories
	}
	return own, nil
}

// statistics reads those that splits ask for.
func (r *binaryReader) statistics(t table) (all []statistic, err error) {
	t.each(ctrFeatures, func(f table) {
		c := f.table(0)
		base, fault := r.base(c.table(0))
		own := r.counts[base.name()]
		if fault == nil && own == nil {
			fault = errNoCounts
		}
		if err = cmp.Or(err, fault); err != nil {
			return
		}
		all = append(all, statistic{
			counts: own, class: int(c.int32(1, 0)), prior: c.float32(2, 0), weight: c.float32(3, 1), shift: c.float32(4, 0), scale: c.float32(5, 1),
			borders: f.float32s(1),
		})
	})
	return all, err
}

// readParts reads what follows the core.
func (r *binaryReader) readParts(names []string) error {
	for _, name := range names {
		if name != "static_provider_v1" {
			return fmt.Errorf("it has a part %.40q; static_provider_v1 is supported", name)
		}
		n, ok := r.length()
		for range n {
			var size int
			if size, ok = r.length(); !ok || size > len(r.parts) {
				return errDamaged
			}
			if err := r.readCounts(rootTable(r.parts[:size], r.reading)); err != nil {
				return err
			}
			r.parts = r.parts[size:]
		}
		if !ok {
			return errDamaged
		}
	}
	return nil
}

// length takes a number from the parts.
func (r *binaryReader) length() (int, bool) {
	if len(r.parts) < 4 {
		return 0, false
	}
	n := binary.LittleEndian.Uint32(r.parts)
	r.parts = r.parts[4:]
	return int(n), n < math.MaxUint32 // where 64 bits follow
}

// readCounts reads a TCtrValueTable: buckets of a hash table, of 8 bytes of a key and 4 of its number, and by number what was
// counted, of which a mean has the sum, as a float, first.
func (r *binaryReader) readCounts(t table) error {
	own, err := r.base(t.table(0))
	if err != nil {
		return err
	}
	own.denominator = t.int32(3, 0)
	if own.classes = 1; !own.kind.isMean() && !own.kind.isCount() {
		own.classes = int(t.int32(4, 0))
	}
	blob := int32s(t.vector(2, 1))
	each := own.classes
	if own.kind.isMean() {
		each = 2
	}
	table := t.vector(1, 1)
	if each < 1 || len(table)%bucketSize != 0 {
		return errDamaged
	}
	for b := table; len(b) > 0; b = b[bucketSize:] {
		key, number := binary.LittleEndian.Uint64(b), int(binary.LittleEndian.Uint32(b[8:]))
		if key == noKey {
			continue
		}
		if number >= len(blob)/each {
			return errDamaged
		}
		rows := blob[number*each : (number+1)*each]
		if own.kind.isMean() {
			own.sums = append(own.sums, math.Float32frombits(uint32(rows[0])))
			rows = rows[1:]
		}
		own.keys, own.rows = append(own.keys, key), append(own.rows, rows...)
	}
	r.counts[own.name()] = &own
	return nil
}

const bucketSize = 12

// trees reads the trees, whose levels ask one question each if there are no step nodes.
func (m *Model) trees(t table, splits []Split) error {
	asked, sizes, starts := t.int32s(treeSplits), t.int32s(treeSizes), t.int32s(treeStarts)
	steps, ids, leaves := t.vector(stepNodes, 4), t.int32s(leafIDs), t.float64s(leafValues)
	if t.fault != nil {
		return t.fault
	}
	if len(starts) != len(sizes) {
		return fmt.Errorf("it has %d sizes and %d starts of trees", len(sizes), len(starts))
	}
	var scratch []Node
	left := len(asked) // no two trees have a split in common
	for i, size := range sizes {
		start := starts[i]
		if start < 0 || size < 0 || int(start) > len(asked) || int(size) > len(asked)-int(start) || int(size) > left {
			return fmt.Errorf("tree %d: %w", i, errDamaged)
		}
		left -= int(size)
		own := func() ([]Split, error) {
			own := make([]Split, size)
			for k, s := range asked[start : start+size] {
				if s < 0 || int(s) >= len(splits) {
					if len(steps) > 0 { // of a leaf, which asks nothing
						own[k].Column = -1
						continue
					}
					return nil, fmt.Errorf("split %d of %d", s, len(splits))
				}
				own[k] = splits[s]
			}
			return own, nil
		}
		var tree Tree
		var err error
		if len(steps) > 0 {
			if len(steps)/4 < int(start+size) || len(ids) < int(start+size) {
				return fmt.Errorf("tree %d: %w", i, errDamaged)
			}
			scratch, tree, err = builtLater(scratch, func(nodes []Node) ([]Node, error) {
				splits, err := own()
				if err != nil {
					return nil, err
				}
				return m.steps(nodes, splits, steps[4*start:4*(start+size)], ids[start:start+size], leaves)
			})
		} else {
			n := m.Dimension << min(size, maxDepth)
			if n > len(leaves) {
				return fmt.Errorf("tree %d: %w", i, errDamaged)
			}
			var splits []Split
			if splits, err = own(); err == nil {
				tree, err = m.symmetric(splits, leaves[:n])
			}
			leaves = leaves[n:]
		}
		if err != nil {
			return fmt.Errorf("tree %d: %w", i, err)
		}
		m.Trees = append(m.Trees, tree)
	}
	return nil
}

// steps is the tree whose node i goes on to a node that is left, or right, so many nodes further on; where that is
// none, its own leaf, of leaf numbers from ids[i] on, is the end.
func (m *Model) steps(nodes []Node, splits []Split, steps []byte, ids []int32, leaves []float64) ([]Node, error) {
	nodes = nodes[:0]
	if len(splits) == 0 {
		return nil, errors.New("it has no nodes")
	}
	index := make([]int32, len(splits)) // of nodes of the file among nodes
	for i := range splits {
		index[i] = int32(len(nodes))
		nodes = append(nodes, Node{})
		no, yes := binary.LittleEndian.Uint16(steps[4*i:]), binary.LittleEndian.Uint16(steps[4*i+2:])
		if no == 0 != (yes == 0) {
			nodes = append(nodes, Node{})
		}
	}
	for i, split := range splits {
		no, yes := int(binary.LittleEndian.Uint16(steps[4*i:])), int(binary.LittleEndian.Uint16(steps[4*i+2:]))
		if i+max(no, yes) >= len(splits) {
			return nil, fmt.Errorf("node %d of %d goes on to node %d", i, len(splits), i+max(no, yes))
		}
		own := &nodes[index[i]]
		if no == 0 || yes == 0 {
			from := int64(uint32(ids[i]))
			if from+int64(m.Dimension) > int64(len(leaves)) {
				return nil, fmt.Errorf("node %d has the leaf %d of %d numbers", i, from, len(leaves))
			}
			leaf := leaves[from : from+int64(m.Dimension)]
			if no == yes {
				own.Leaf = leaf
				continue
			}
			nodes[index[i]+1].Leaf = leaf
		}
		if split.Column < 0 {
			return nil, fmt.Errorf("node %d asks none of the splits", i)
		}
		*own = Node{Split: split, No: index[i+no], Yes: index[i+yes]}
		if no == 0 {
			own.No = index[i] + 1
		}
		if yes == 0 {
			own.Yes = index[i] + 1
		}
	}
	return nodes, nil
}
