package boosters

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pho-go/pho/adapters/boosters/internal/catboost"
	"github.com/pho-go/pho/adapters/internal/tree"
)

// readCatBoost is the model of a file: numbers enter as float32, categories as the position of their hash among those
// that splits ask for.
func readCatBoost(file []byte, whole bool) (*model, error) {
	c, err := catboost.Read(file)
	if err != nil {
		return nil, err
	}
	release(len(file))
	m := &model{whole: whole, library: "CatBoost", version: c.Version, single: true, wide: true, targets: c.Dimension}
	if m.link, err = catboostLink(c.Loss, c.Dimension); err != nil {
		return nil, err
	}
	m.outputs = catboostOutputs(c, m.link)
	if m.link == softmax && len(c.Classes) == c.Dimension && unique(c.Classes) {
		m.classes = c.Classes
	}
	at := m.catboostColumns(c)
	tables := m.catboostTables(c, at)
	return m, m.catboostTrees(c, at, tables)
}

// catboostLink is the response function with which predict answers: catboost/python-package/catboost/core.py,
// _get_default_prediction_type, and predict_proba of classifiers.
func catboostLink(loss string, scores int) (link, error) {
	switch loss {
	case "Logloss", "CrossEntropy", "Focal", "MultiClassOneVsAll", "MultiLogloss", "MultiCrossEntropy":
		return logit, nil
	case "MultiClass":
		if scores > 1 {
			return softmax, nil
		}
	case "Poisson", "Tweedie":
		return log, nil
	case "RMSEWithUncertainty":
		if scores == 2 {
			return meanAndVariance, nil
		}
	case "", "RMSE", "MAE", "Quantile", "GroupQuantile", "MultiQuantile", "LogLinQuantile", "MAPE", "Lq", "Huber", "Expectile", "LogCosh", "MultiRMSE", "MultiRMSEWithMissingValues",
		"Cox", "SurvivalAft", "QueryRMSE", "QuerySoftMax", "QueryCrossEntropy", "YetiRank", "YetiRankPairwise", "PairLogit", "PairLogitPairwise", "StochasticRank", "StochasticFilter", "LambdaMart",
		"UserPerObjMetric", "UserQuerywiseMetric", "PythonUserDefinedPerObject", "PythonUserDefinedMultiTarget":
		return identity, nil
	}
	return identity, fmt.Errorf("the loss %.60q with %d scores is not supported", loss, scores)
}

func catboostOutputs(c *catboost.Model, of link) []string {
	switch {
	case of == softmax:
		return []string{"probabilities"}
	case of == meanAndVariance:
		return []string{"mean", "variance"}
	case c.Loss == "MultiQuantile":
		return quantileNames(strings.Split(c.Alpha, ","), c.Dimension)
	case c.Dimension > 1 && len(c.Classes) == c.Dimension && unique(c.Classes):
		return c.Classes
	}
	return targetNames(c.Dimension)
}

// catboostColumns makes the columns, in the order in which the model is fed, and returns the column that each split asks:
// splits of numbers first, then of categories. Where the file has no names, columns of numbers alone go by their order.
func (m *model) catboostColumns(c *catboost.Model) []int32 {
	m.columns = make([]column, len(c.Floats)+len(c.Categorical))
	m.named = len(c.Categorical) > 0
	at := make([]int32, 0, len(m.columns))
	name := func(given string, flat int) {
		m.named = m.named || given != ""
		if m.columns[flat].name = given; given == "" {
			m.columns[flat].name = strconv.Itoa(flat)
		}
		at = append(at, int32(flat))
	}
	for _, f := range c.Floats {
		name(f.Name, f.Flat)
	}
	for _, k := range c.Categorical {
		name(k.Name, k.Flat)
		position := map[int32]float64{}
		for _, v := range k.Counted {
			position[v] = -1
		}
		for i, v := range k.Values {
			position[v] = float64(i)
		}
		m.columns[k.Flat].texts = named(k.Values, c.Names)
		// As find has it; where the file knows the categories of combinations alone, a truth value is its number.
		hash := func(category string) int32 {
			own := catboost.Hash(category)
			if _, known := position[own]; known {
				return own
			}
			number := catboost.Hash(truth(category))
			if _, known := position[number]; known || len(position) == 0 {
				return number
			}
			return own
		}
		m.columns[k.Flat].text = func(category string) float64 {
			if i, known := position[hash(category)]; known {
				return i
			}
			return -1
		}
		m.columns[k.Flat].code = func(category string) float64 { return float64(hash(category)) }
	}
	return at
}

// catboostTables makes the tables and returns the feature of each one's first number.
func (m *model) catboostTables(c *catboost.Model, at []int32) []int32 {
	var first []int32
	next := int32(len(at))
	for _, k := range c.Tables {
		t := &table{mixer: catboost.Mixer, width: k.Width}
		for _, column := range k.Categorical {
			t.digits = append(t.digits, digit{column: at[len(c.Floats)+column]})
		}
		for _, s := range k.Splits {
			d := digit{kind: isAbove, column: at[s.Column], border: float64(s.Border)}
			if s.Of == catboost.Category {
				d = digit{kind: isValue, column: at[len(c.Floats)+s.Column], value: int64(s.Value)}
			} else {
				d.missing = c.Floats[s.Column].Missing == catboost.AsTrue
			}
			t.digits = append(t.digits, d)
		}
		for _, key := range k.Keys {
			t.keys = append(t.keys, int64(key))
		}
		for _, v := range k.Values {
			t.values = append(t.values, float64(v))
		}
		m.tables, first = append(m.tables, t), append(first, next)
		next += int32(k.Width)
	}
	return first
}

// catboostTrees adds the trees; at are the columns by split, tables the first features of tables. An answer is yes where a
// number is above the border, or where the category is the one that is asked for.
func (m *model) catboostTrees(c *catboost.Model, at, tables []int32) error {
	f := &tree.Forest{Targets: c.Dimension, Single: true, Base: c.Bias}
	m.grow(f)
	var nodes []catboost.Node
	for i := range c.Trees {
		top := int32(len(f.Nodes))
		f.Roots = append(f.Roots, top)
		nodes = c.Trees[i].Nodes(nodes)
		c.Trees[i] = catboost.Tree{} // its memory is not needed any more
		for _, n := range nodes {
			own := tree.Node{Mode: tree.Leaf}
			switch s := n.Split; {
			case n.Leaf != nil:
				own.From = int32(len(f.Weights))
				for k, v := range n.Leaf {
					f.Weights = append(f.Weights, tree.Weight{Target: int32(k), Value: c.Scale * v})
				}
				own.To = int32(len(f.Weights))
			case s.Of == catboost.Statistic:
				own = tree.Node{Mode: tree.GT, Feature: tables[s.Column] + int32(s.Statistic), Value: float64(s.Border), True: top + n.Yes, False: top + n.No}
			case s.Of == catboost.Category:
				k := c.Categorical[s.Column]
				own = tree.Node{Mode: tree.EQ, Feature: at[len(c.Floats)+s.Column], Value: float64(slices.Index(k.Values, s.Value)), True: top + n.Yes, False: top + n.No}
				if own.Value < 0 {
					return fmt.Errorf("tree %d: a split asks for a category of column %q that is not among those it lists", i, k.Name)
				}
			default:
				own = tree.Node{Mode: tree.GT, Feature: at[s.Column], Value: float64(s.Border), True: top + n.Yes, False: top + n.No, MissingTrue: c.Floats[s.Column].Missing == catboost.AsTrue}
			}
			f.Nodes = append(f.Nodes, own)
		}
		if len(f.Weights) > maxWeights {
			return errors.New("the trees have more leaves than are supported")
		}
		if err := m.settle(piece); err != nil {
			return err
		}
	}
	return nil
}

// maxWeights bounds the numbers in leaves.
const maxWeights = 1 << 30

// named lists the texts of categories that splits ask for; nil: one has no name.
func named(values []int32, names map[int32]string) []string {
	texts := []string{}
	for _, v := range values {
		name, known := names[v]
		if !known {
			return nil
		}
		texts = append(texts, name)
	}
	return texts
}
