package boosters

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/pho-go/pho/adapters/boosters/internal/ebm"
	"github.com/pho-go/pho/adapters/internal/tree"
)

// readEBM is the model of a file: a tree for each term, which searches the bins of one column after the other.
func readEBM(file []byte, whole bool) (*model, error) {
	e, err := ebm.Read(file)
	if err != nil {
		return nil, err
	}
	release(len(file))
	m := &model{whole: whole, library: "InterpretML", named: true, targets: len(e.Intercept), outputs: targetNames(len(e.Intercept))}
	switch {
	case e.Link == "identity":
	case e.Link == "log":
		m.link = log
	case e.Link == "logit" && m.targets == 1 && len(e.Classes) == 2:
		m.link = logit
	case e.Link == "mlogit" && m.targets > 1 && len(e.Classes) == m.targets:
		m.link, m.outputs, m.classes = softmax, []string{"probabilities"}, e.Classes
	default:
		return nil, fmt.Errorf("the link %.40q with %d scores and %d classes is not supported", e.Link, m.targets, len(e.Classes))
	}
	codes := make([]map[string]float64, len(e.Features))
	for i := range e.Features {
		codes[i] = ebmCodes(&e.Features[i])
		m.columns = append(m.columns, ebmColumn(&e.Features[i], codes[i]))
	}
	f := &tree.Forest{Targets: m.targets, Base: e.Intercept}
	m.grow(f)
	for i := range e.Terms {
		t := ebmTerm{Term: &e.Terms[i], forest: f, targets: m.targets}
		for k, feature := range t.Features {
			t.steps = append(t.steps, newEBMSteps(&e.Features[feature], codes[feature], len(t.Features), t.Sizes[k]))
		}
		f.Roots = append(f.Roots, int32(len(f.Nodes)))
		if t.place(0, 0); len(f.Nodes) > maxNodes {
			return nil, fmt.Errorf("its terms have more than %d bins", maxNodes)
		}
		if err := m.settle(piece); err != nil {
			return nil, err
		}
		*t.Term = ebm.Term{} // its memory is not needed any more
	}
	return m, nil
}

// maxNodes bounds the nodes of trees that are made here.
const maxNodes = 1 << 26

// ebmColumn: a category enters as its position among all that the column has, what is none of them as -1, and the
// empty text, if it is none, as a missing one.
func ebmColumn(f *ebm.Feature, codes map[string]float64) column {
	c := column{name: f.Name}
	if f.Continuous {
		return c
	}
	c.texts = slices.AppendSeq([]string{""}, maps.Keys(codes))
	c.text = func(category string) float64 {
		i, known := find(category, func(category string) (float64, bool) {
			i, known := codes[category]
			return i, known
		})
		switch {
		case known:
			return i
		case category == "":
			return math.NaN()
		}
		return -1
	}
	return c
}

// ebmCodes numbers the categories of a column, those of one bin of the finest list one after another.
func ebmCodes(f *ebm.Feature) map[string]float64 {
	codes := map[string]float64{}
	for _, bins := range f.Categories {
		for _, category := range slices.SortedFunc(maps.Keys(bins), func(a, b string) int { return cmp.Or(bins[a]-bins[b], strings.Compare(a, b)) }) {
			if _, known := codes[category]; !known {
				codes[category] = float64(len(codes))
			}
		}
	}
	return codes
}

// ebmTerm writes a term as a tree.
type ebmTerm struct {
	*ebm.Term
	steps   []ebmSteps // of each column
	forest  *tree.Forest
	targets int
}

// ebmSteps are the bins of a column: those of numbers below cuts[0], from it to cuts[1], ..., and from the last cut on.
type ebmSteps struct {
	cuts []float64
	bins []int
}

// newEBMSteps are those for terms of so many columns, in each of which f has size bins. Categories are their codes; what
// is none of them, -1 too, is in the last bin.
func newEBMSteps(f *ebm.Feature, codes map[string]float64, columns, size int) (s ebmSteps) {
	level := f.Level(columns)
	if f.Continuous {
		for i := range len(f.Cuts[level]) + 1 {
			s.bins = append(s.bins, 1+i)
		}
		s.cuts = f.Cuts[level]
		return s
	}
	last := size - 1
	of := slices.Repeat([]int{last}, len(codes)) // the bin of each code
	for category, bin := range f.Categories[level] {
		of[int(codes[category])] = bin
	}
	s.bins = []int{last}
	for code, bin := range of {
		if bin != s.bins[len(s.bins)-1] {
			s.cuts, s.bins = append(s.cuts, float64(code)), append(s.bins, bin)
		}
	}
	return s
}

func (t *ebmTerm) push(n tree.Node) int32 {
	t.forest.Nodes = append(t.forest.Nodes, n)
	return int32(len(t.forest.Nodes) - 1)
}

// place appends the nodes for column k of the term and those after it; at is the number of the bins of the columns before.
func (t *ebmTerm) place(k, at int) int32 {
	if k == len(t.Features) {
		n := tree.Node{Mode: tree.Leaf, From: int32(len(t.forest.Weights))}
		for target := range t.targets {
			t.forest.Weights = append(t.forest.Weights, tree.Weight{Target: int32(target), Value: t.Scores[at*t.targets+target]})
		}
		n.To = int32(len(t.forest.Weights))
		return t.push(n)
	}
	at *= t.Sizes[k]
	top := t.push(tree.Node{Mode: tree.LEQ, Feature: int32(t.Features[k]), Value: math.Inf(1)}) // missing values go to bin 0
	missing := t.place(k+1, at)
	values := t.search(k, at, t.steps[k])
	t.forest.Nodes[top].True, t.forest.Nodes[top].False = values, missing
	return top
}

// search appends a binary search for the bin of column k.
func (t *ebmTerm) search(k, at int, s ebmSteps) int32 {
	if len(s.cuts) == 0 {
		return t.place(k+1, at+s.bins[0])
	}
	middle := len(s.cuts) / 2
	top := t.push(tree.Node{Mode: tree.LT, Feature: int32(t.Features[k]), Value: s.cuts[middle]})
	below := t.search(k, at, ebmSteps{s.cuts[:middle], s.bins[:middle+1]})
	above := t.search(k, at, ebmSteps{s.cuts[middle+1:], s.bins[middle+1:]})
	t.forest.Nodes[top].True, t.forest.Nodes[top].False = below, above
	return top
}
