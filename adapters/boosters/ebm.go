package boosters

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/pho-go/pho/adapters/boosters/internal/ebm"
	"github.com/pho-go/pho/adapters/internal/tree"
)

// readEBM is the model of a file: a tree for each term, which searches the bins of one column after the other.
func readEBM(file []byte) (*model, error) {
	e, err := ebm.Read(file)
	if err != nil {
		return nil, err
	}
	m := &model{library: "InterpretML", named: true, targets: len(e.Intercept), outputs: targetNames(len(e.Intercept))}
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
	for i := range e.Features {
		m.columns = append(m.columns, ebmColumn(&e.Features[i]))
	}
	f := &tree.Forest{Targets: m.targets, Base: e.Intercept}
	f.Name = treeNames(f)
	for i := range e.Terms {
		t := ebmTerm{Term: &e.Terms[i], features: e.Features, forest: f, targets: m.targets}
		f.Roots = append(f.Roots, int32(len(f.Nodes)))
		if t.place(0, 0); len(f.Nodes) > maxNodes {
			return nil, fmt.Errorf("its terms have more than %d bins", maxNodes)
		}
	}
	m.ensembles = []*ensemble{{forest: f}}
	return m, nil
}

// maxNodes bounds the nodes of trees that are made here.
const maxNodes = 1 << 26

// ebmColumn: a category enters as its position among all that the column has, what is none of them as -1, and the
// empty text, if it is none, as a missing one.
func ebmColumn(f *ebm.Feature) column {
	c := column{name: f.Name}
	if f.Continuous {
		return c
	}
	codes := ebmCodes(f)
	c.text = func(category string) float64 {
		if i, known := codes[category]; known {
			return i
		}
		if category == "" {
			return math.NaN()
		}
		return -1
	}
	return c
}

// ebmCodes numbers the categories of a column by the finest list of bins.
func ebmCodes(f *ebm.Feature) map[string]float64 {
	codes := map[string]float64{}
	for _, bins := range f.Categories {
		for _, category := range slices.Sorted(maps.Keys(bins)) {
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
	features []ebm.Feature
	forest   *tree.Forest
	targets  int
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
	feature := int32(t.Features[k])
	f, at := &t.features[feature], at*t.Sizes[k]
	level := f.Level(len(t.Features))
	top := t.push(tree.Node{Mode: tree.LEQ, Feature: feature, Value: math.Inf(1)}) // missing values go to bin 0
	missing := t.place(k+1, at)
	values := int32(0)
	if f.Continuous {
		values = t.search(k, at+1, feature, f.Cuts[level])
	} else {
		values = t.categories(k, at, feature, f, level)
	}
	t.forest.Nodes[top].True, t.forest.Nodes[top].False = values, missing
	return top
}

// search appends a binary search for the bins from first on, which cuts separate: those from a cut on are above it.
func (t *ebmTerm) search(k, first int, feature int32, cuts []float64) int32 {
	if len(cuts) == 0 {
		return t.place(k+1, first)
	}
	middle := len(cuts) / 2
	top := t.push(tree.Node{Mode: tree.LT, Feature: feature, Value: cuts[middle]})
	below := t.search(k, first, feature, cuts[:middle])
	above := t.search(k, first+middle+1, feature, cuts[middle+1:])
	t.forest.Nodes[top].True, t.forest.Nodes[top].False = below, above
	return top
}

// categories appends a question for each bin, whose categories are a set; the last bin is that of all others.
func (t *ebmTerm) categories(k, at int, feature int32, f *ebm.Feature, level int) int32 {
	codes := ebmCodes(f)
	sets := make([][]float64, t.Sizes[k])
	for category, bin := range f.Categories[level] {
		sets[bin] = append(sets[bin], codes[category])
	}
	top, last := int32(-1), int32(-1)
	link := func(node int32) {
		if last >= 0 {
			t.forest.Nodes[last].False = node
		} else {
			top = node
		}
	}
	for bin := 1; bin < t.Sizes[k]-1; bin++ {
		own := t.push(tree.Node{Mode: tree.Member, Feature: feature, Set: int32(len(t.forest.Sets))})
		slices.Sort(sets[bin])
		t.forest.Sets = append(t.forest.Sets, sets[bin])
		link(own)
		in := t.place(k+1, at+bin)
		t.forest.Nodes[own].True = in
		last = own
	}
	link(t.place(k+1, at+t.Sizes[k]-1))
	return top
}
