package catboost

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pho-go/pho/adapters/boosters/internal/document"
)

func isJSON(head []byte) bool {
	keys := document.Keys(head, 1)
	return len(keys) > 0 && slices.Contains([]string{"features_info", "ctr_data", "oblivious_trees", "model_info"}, keys[0])
}

type jsonSplit struct {
	Type        string  `json:"split_type"`
	Index       int     `json:"split_index"` // among those of all borders and values
	Border      float32 `json:"border"`
	Float       *int    `json:"float_feature_index"`
	Categorical *int    `json:"cat_feature_index"`
	Value       int64   `json:"value"`
}

type jsonNode struct {
	Split       *jsonSplit `json:"split"`
	Left, Right *jsonNode
	Value       json.RawMessage `json:"value"`
}

type jsonFloat struct {
	Index   int       `json:"feature_index"`
	Flat    int       `json:"flat_feature_index"`
	ID      string    `json:"feature_id"`
	Borders []float32 `json:"borders"`
	Missing string    `json:"nan_value_treatment"`
}

type jsonCategorical struct {
	Index  int     `json:"feature_index"`
	Flat   int     `json:"flat_feature_index"`
	ID     string  `json:"feature_id"`
	Values []int64 `json:"values"`
}

// jsonElement is of a combination.
type jsonElement struct {
	Kind        string  `json:"combination_element"`
	Categorical int     `json:"cat_feature_index"`
	Value       int64   `json:"value"`
	Float       int     `json:"float_feature_index"`
	Border      float32 `json:"border"`
}

type jsonStatistic struct {
	Elements []jsonElement `json:"elements"`
	Type     string        `json:"ctr_type"`
	Class    int           `json:"target_border_idx"`
	Prior    float32       `json:"prior_numerator"`
	Weight   float32       `json:"prior_denomerator"`
	Shift    float32       `json:"shift"`
	Scale    float32       `json:"scale"`
	Borders  []float32     `json:"borders"`
}

// jsonCounts are rows of Stride numbers: a key, which is text, and what was counted; of a mean the sum and the number of rows.
type jsonCounts struct {
	Rows        []json.Number `json:"hash_map"`
	Stride      int           `json:"hash_stride"`
	Denominator int32         `json:"counter_denominator"`
}

type jsonModel struct {
	Features struct {
		Floats      []jsonFloat       `json:"float_features"`
		Categorical []jsonCategorical `json:"categorical_features"`
		Text        []json.RawMessage `json:"text_features"`
		Embedding   []json.RawMessage `json:"embedding_features"`
		Statistics  []jsonStatistic   `json:"ctrs"`
		Hashes      []struct {
			Hash  int64  `json:"hash"`
			Value string `json:"value"`
		} `json:"cat_features_hash"` // of a file that was saved with its pool
	} `json:"features_info"`
	Counts    map[string]jsonCounts `json:"ctr_data"` // by the identifier, which is JSON of its own
	Oblivious []struct {
		Leaves []float64   `json:"leaf_values"`
		Splits []jsonSplit `json:"splits"`
	} `json:"oblivious_trees"`
	Trees        []*jsonNode        `json:"trees"`
	ScaleAndBias [2]json.RawMessage `json:"scale_and_bias"`
	Info         struct {
		Version    string          `json:"catboost_version_info"`
		Parameters json.RawMessage `json:"params"`
		Classes    json.RawMessage `json:"class_params"`
	} `json:"model_info"`
}

func readJSON(file []byte) (*Model, error) {
	var j jsonModel
	if err := json.Unmarshal(file, &j); err != nil {
		return nil, fmt.Errorf("%w: %w", errDamaged, err)
	}
	m := &Model{Version: version(j.Info.Version), Names: map[int32]string{}}
	if err := refused(len(j.Features.Text), len(j.Features.Embedding), 0); err != nil {
		return nil, err
	}
	if err := m.scaleAndBias(j.ScaleAndBias); err != nil {
		return nil, err
	}
	if err := m.trained(quotedJSON(j.Info.Parameters), quotedJSON(j.Info.Classes)); err != nil {
		return nil, err
	}
	r := jsonReader{m: m, floats: map[int]int{}, categorical: map[int]int{}}
	if err := r.columns(&j); err != nil {
		return nil, err
	}
	for _, h := range j.Features.Hashes {
		if hash := Hash(h.Value); hash == int32(h.Hash) {
			m.Names[hash] = h.Value
		}
	}
	statistics, err := r.statistics(&j)
	if err != nil {
		return nil, err
	}
	if r.statisticSplits, err = m.tables(statistics, perByte*len(file)); err != nil {
		return nil, err
	}
	return m, r.trees(&j)
}

// quotedJSON is JSON that may be written as a text of it.
func quotedJSON(raw json.RawMessage) []byte {
	var s string
	if len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &s) == nil {
		return []byte(s)
	}
	return raw
}

// scaleAndBias: earlier releases write one bias as a number.
func (m *Model) scaleAndBias(raw [2]json.RawMessage) error {
	if raw[0] == nil || raw[1] == nil {
		return fmt.Errorf("scale_and_bias is missing: %w", errDamaged)
	}
	if err := json.Unmarshal(raw[0], &m.Scale); err != nil {
		return fmt.Errorf("the scale: %w", err)
	}
	var err error
	if m.Bias, err = numbers(raw[1]); err != nil {
		return fmt.Errorf("the bias: %w", err)
	}
	if m.Dimension = len(m.Bias); m.Dimension < 1 || m.Dimension > maxDimension {
		return fmt.Errorf("it has %d scores; 1 to %d are supported", m.Dimension, maxDimension)
	}
	return nil
}

// numbers are one, or a list.
func numbers(raw json.RawMessage) ([]float64, error) {
	var one float64
	if json.Unmarshal(raw, &one) == nil {
		return []float64{one}, nil
	}
	var all []float64
	return all, json.Unmarshal(raw, &all)
}

// jsonReader knows the columns by the numbers that the file gives them.
type jsonReader struct {
	m                   *Model
	floats, categorical map[int]int
	others              int // splits before those of statistics, by index
	statisticSplits     []Split
}

func (r *jsonReader) columns(j *jsonModel) error {
	for _, f := range j.Features.Floats {
		own := Float{Name: f.ID, Flat: f.Flat, borders: f.Borders}
		switch f.Missing {
		case "", "AsIs":
		case "AsFalse":
			own.Missing = AsFalse
		case "AsTrue":
			own.Missing = AsTrue
		default:
			return fmt.Errorf("column %q treats missing numbers as %q, which is unknown", f.ID, f.Missing)
		}
		r.others += len(f.Borders)
		r.floats[f.Index] = len(r.m.Floats)
		r.m.Floats = append(r.m.Floats, own)
	}
	for _, c := range j.Features.Categorical {
		own := Categorical{Name: c.ID, Flat: c.Flat}
		for _, v := range c.Values {
			own.Values = append(own.Values, int32(v))
		}
		r.others += len(c.Values)
		r.categorical[c.Index] = len(r.m.Categorical)
		r.m.Categorical = append(r.m.Categorical, own)
	}
	return nil
}

// base is what those elements and that type count: cells of columns come first, then splits of numbers, then of categories.
func (r *jsonReader) base(elements []jsonElement, ctrType string) (own counts, err error) {
	if own.kind, err = kindOf(ctrType); err != nil {
		return own, err
	}
	for _, e := range elements {
		s := Split{Of: Category, Value: int32(e.Value)}
		at, index := r.categorical, e.Categorical
		switch e.Kind {
		case "cat_feature_value", "cat_feature_exact_value":
		case "float_feature":
			s = Split{Border: e.Border}
			at, index = r.floats, e.Float
		default:
			return own, fmt.Errorf("a combination of categories (CTR) has an element of the kind %.40q, which is not supported", e.Kind)
		}
		var known bool
		if s.Column, known = at[index]; !known {
			return own, errNoColumn
		}
		if e.Kind == "cat_feature_value" {
			own.Categorical = append(own.Categorical, s.Column)
		} else {
			own.Splits = append(own.Splits, s)
		}
	}
	slices.SortStableFunc(own.Splits, func(a, b Split) int { return cmp.Compare(a.Of, b.Of) })
	if len(own.Categorical) == 0 {
		return own, errNoCategories
	}
	return own, nil
}

// errTargets: of several responses JSON has the counts of one, and the library itself misreads it.
var errTargets = errors.New("JSON does not say which of several targets its statistics of categories (CTR) count: save the model as .cbm")

// statistics reads the statistics that splits ask for, with their counts.
func (r *jsonReader) statistics(j *jsonModel) ([]statistic, error) {
	known := map[string]*counts{}
	for identifier, counted := range j.Counts {
		var of struct {
			Elements []jsonElement `json:"identifier"`
			Type     string        `json:"type"`
		}
		if err := json.Unmarshal([]byte(identifier), &of); err != nil {
			return nil, fmt.Errorf("the statistic %.200q: %w", identifier, err)
		}
		own, err := r.base(of.Elements, of.Type)
		if err == nil {
			err = own.read(&counted)
		}
		if err != nil {
			return nil, err
		}
		known[own.name()] = &own
	}
	several := []string{"MultiRMSE", "MultiRMSEWithMissingValues", "MultiLogloss", "MultiCrossEntropy"}
	if len(j.Features.Statistics) > 0 && slices.Contains(several, r.m.Loss) {
		return nil, errTargets
	}
	seen := map[string]bool{}
	var all []statistic
	for _, s := range j.Features.Statistics {
		own, err := r.base(s.Elements, s.Type)
		if err != nil {
			return nil, err
		}
		counted := known[own.name()]
		if counted == nil {
			return nil, errNoCounts
		}
		key := fmt.Sprint(own.name(), s.Class, s.Prior, s.Weight, s.Shift, s.Scale)
		if seen[key] {
			return nil, errTargets
		}
		seen[key] = true
		all = append(all, statistic{counts: counted, class: s.Class, prior: s.Prior, weight: s.Weight, shift: s.Shift, scale: s.Scale, borders: s.Borders})
	}
	return all, nil
}

// read takes what was counted.
func (c *counts) read(j *jsonCounts) error {
	c.classes, c.denominator = j.Stride-1, j.Denominator
	if c.kind.isMean() || c.kind.isCount() {
		c.classes = 1
	}
	stride := 1 + c.classes
	if c.kind.isMean() {
		stride++
	}
	if c.classes < 1 || stride != j.Stride || len(j.Rows)%stride != 0 {
		return fmt.Errorf("the counts of a statistic of categories (CTR): %w", errDamaged)
	}
	for row := j.Rows; len(row) > 0; row = row[stride:] {
		key, err := strconv.ParseUint(row[0].String(), 10, 64)
		if err != nil {
			return fmt.Errorf("the key of a category: %w", err)
		}
		if key == noKey {
			continue
		}
		c.keys = append(c.keys, key)
		own := row[1:stride]
		if c.kind.isMean() {
			sum, err := strconv.ParseFloat(own[0].String(), 32)
			if err != nil {
				return fmt.Errorf("the sum of a category: %w", err)
			}
			c.sums, own = append(c.sums, float32(sum)), own[1:]
		}
		for _, n := range own {
			count, err := strconv.ParseInt(n.String(), 10, 32)
			if err != nil {
				return fmt.Errorf("the count of a category: %w", err)
			}
			c.rows = append(c.rows, int32(count))
		}
	}
	return nil
}

func (r *jsonReader) split(s *jsonSplit) (Split, error) {
	switch {
	case s.Type == "FloatFeature" && s.Float != nil:
		if c, ok := r.floats[*s.Float]; ok {
			return Split{Column: c, Border: s.Border}, nil
		}
	case s.Type == "OneHotFeature" && s.Categorical != nil:
		if c, ok := r.categorical[*s.Categorical]; ok {
			return Split{Of: Category, Column: c, Value: int32(s.Value)}, nil
		}
	case s.Type == "EstimatedFeature":
		return Split{}, errors.New("splits of estimated features, which are of texts or embeddings, are not supported: give its predictions")
	case s.Type == "OnlineCtr":
		if k := s.Index - r.others; k >= 0 && k < len(r.statisticSplits) && r.statisticSplits[k].Border == s.Border {
			return r.statisticSplits[k], nil
		}
		return Split{}, fmt.Errorf("split %d, of a statistic of categories (CTR), has not the border that the file lists: %w", s.Index, errDamaged)
	case s.Type != "FloatFeature" && s.Type != "OneHotFeature":
		return Split{}, fmt.Errorf("splits of the kind %.40q are not supported", s.Type)
	}
	return Split{}, fmt.Errorf("a split is of a column that the file does not list")
}

func (r *jsonReader) trees(j *jsonModel) error {
	if j.Oblivious != nil && j.Trees != nil {
		return fmt.Errorf("it has both oblivious_trees and trees: %w", errDamaged)
	}
	for i, t := range j.Oblivious {
		own := make([]Split, len(t.Splits))
		for k := range t.Splits {
			var err error
			if own[k], err = r.split(&t.Splits[k]); err != nil {
				return fmt.Errorf("tree %d: %w", i, err)
			}
		}
		tree, err := r.m.symmetric(own, t.Leaves)
		if err != nil {
			return fmt.Errorf("tree %d: %w", i, err)
		}
		r.m.Trees = append(r.m.Trees, tree)
	}
	for i, top := range j.Trees {
		var t Tree
		if _, err := r.node(&t, top); err != nil {
			return fmt.Errorf("tree %d: %w", i, err)
		}
		r.m.Trees = append(r.m.Trees, t)
	}
	return nil
}

// node adds a node and what is below to t. JSON bounds the depth.
func (r *jsonReader) node(t *Tree, n *jsonNode) (int32, error) {
	if n == nil {
		return 0, errDamaged
	}
	at := int32(len(t.nodes))
	t.nodes = append(t.nodes, Node{})
	if n.Split == nil {
		leaf, err := numbers(n.Value)
		if err != nil || len(leaf) != r.m.Dimension {
			return 0, fmt.Errorf("a leaf has not the %d numbers of a score", r.m.Dimension)
		}
		t.nodes[at].Leaf = leaf
		return at, nil
	}
	own, err := r.split(n.Split)
	if err != nil {
		return 0, err
	}
	no, err := r.node(t, n.Left)
	if err != nil {
		return 0, err
	}
	yes, err := r.node(t, n.Right)
	t.nodes[at] = Node{Split: own, No: no, Yes: yes}
	return at, err
}

// version is the release in what CatBoost says of itself.
func version(info string) string {
	_, after, found := strings.Cut(info, "Branch: tags/v")
	if !found {
		return ""
	}
	v, _, _ := strings.Cut(after, "\n")
	return v
}
