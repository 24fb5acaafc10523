package tree

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// random is a forest of trees of any mode; simple ones compare with <= and the like.
func random(r *rand.Rand, trees, depth, features, targets int, simple bool) *Forest {
	f := &Forest{Targets: targets}
	var grow func(depth int) int32
	grow = func(depth int) int32 {
		i := int32(len(f.Nodes))
		f.Nodes = append(f.Nodes, Node{Mode: Leaf})
		if depth == 0 || r.IntN(6) == 0 {
			from := len(f.Weights)
			for k := range targets {
				if targets == 1 || r.IntN(3) > 0 {
					f.Weights = append(f.Weights, Weight{int32(k), r.NormFloat64()})
				}
			}
			f.Nodes[i].From, f.Nodes[i].To = int32(from), int32(len(f.Weights))
			return i
		}
		n := Node{Feature: int32(r.IntN(features)), Value: math.Round(4*r.NormFloat64()) / 2, MissingTrue: r.IntN(2) == 0, Mode: Mode(r.IntN(4))}
		if !simple {
			if n.Mode = Mode(r.IntN(7)); r.IntN(8) == 0 {
				n.Value = []float64{math.Inf(1), math.Inf(-1), math.NaN()}[r.IntN(3)]
			}
		}
		if n.Mode == Member {
			n.Set = int32(len(f.Sets))
			f.Sets = append(f.Sets, []float64{-1, 0.5, 2})
		}
		n.True, n.False = grow(depth-1), grow(depth-1)
		f.Nodes[i] = n
		return i
	}
	for range trees {
		f.Roots = append(f.Roots, grow(depth))
	}
	return f
}

// end is the leaf that x comes to, as the definition of the operators has it.
func (f *Forest) end(i int32, x []float64) *Node {
	for {
		n := &f.Nodes[i]
		v, t := 0.0, n.Value
		if n.Mode != Leaf {
			v = x[n.Feature]
		}
		var yes bool
		switch n.Mode {
		case Leaf:
			return n
		case LEQ:
			yes = v <= t
		case LT:
			yes = v < t
		case GTE:
			yes = v >= t
		case GT:
			yes = v > t
		case EQ:
			yes = v == t
		case NEQ:
			yes = v != t
		case Member:
			yes = slices.Contains(f.Sets[n.Set], v)
		}
		if i = n.False; yes || math.IsNaN(v) && n.MissingTrue {
			i = n.True
		}
	}
}

// rows draws rows on and beside the values that trees compare with.
func rows(r *rand.Rand, n, features int) []float64 {
	x := make([]float64, n*features)
	for i := range x {
		switch r.IntN(12) {
		case 0:
			x[i] = math.NaN()
		case 1:
			x[i] = math.Inf(2*r.IntN(2) - 1)
		default:
			x[i] = math.Round(4*r.NormFloat64()) / 2
			if r.IntN(3) == 0 {
				x[i] = math.Nextafter(x[i], x[i]+1)
			}
		}
	}
	return x
}

// read is x as the walks take it.
func (e *Ensemble) read(x []float64, n, features int) []float64 {
	out := make([]float64, n*e.Columns())
	for r := range n {
		for c := range e.Columns() {
			if f := e.Feature(c); f >= 0 {
				if out[r*e.Columns()+c] = x[r*features+f]; math.IsNaN(x[r*features+f]) {
					out[r*e.Columns()+c] = e.Missing(c)
				}
			}
		}
	}
	return out
}

func equal64(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) })
}

// The layout walks to the leaves of the definition: sums, least and greatest values, and
// what is scored, for rows in blocks and alone.
func TestWalksAsDefined(t *testing.T) {
	const features = 5
	for seed := range uint64(120) {
		r := rand.New(rand.NewPCG(seed, 7))
		targets := 1 + int(seed%3)
		f := random(r, 1+int(seed%11), 1+int(seed%9), features, targets, seed%2 == 0)
		if err := f.Check(); err != nil {
			t.Fatal(err)
		}
		e := New(f)
		n := []int{1, 3, 4, 67, 130}[seed%5]
		x := rows(r, n, features)
		in := e.read(x, n, features)
		sum, low, high, scored := make([]float64, n*targets), make([]float64, n*targets), make([]float64, n*targets), make([]bool, n*targets)
		for i := range n {
			for _, root := range f.Roots {
				leaf := f.end(root, x[i*features:(i+1)*features])
				for _, w := range f.Weights[leaf.From:leaf.To] {
					k := i*targets + int(w.Target)
					if sum[k] += w.Value; !scored[k] || w.Value < low[k] {
						low[k] = w.Value
					}
					if !scored[k] || w.Value > high[k] {
						high[k] = w.Value
					}
					scored[k] = true
				}
			}
		}
		got := make([]float64, n*targets)
		e.Sum(got, in, n)
		if !equal64(got, sum) {
			t.Fatalf("seed %d: sums %v, want %v", seed, got, sum)
		}
		for i := range n {
			alone := make([]float64, targets)
			e.Sum(alone, in[i*e.Columns():(i+1)*e.Columns()], 1)
			if !equal64(alone, sum[i*targets:(i+1)*targets]) {
				t.Fatalf("seed %d: row %d alone sums to %v, want %v", seed, i, alone, sum[i*targets:(i+1)*targets])
			}
		}
		if e.Best(got, in, n, false); !equal64(got, low) {
			t.Fatalf("seed %d: least %v, want %v", seed, got, low)
		}
		if e.Best(got, in, n, true); !equal64(got, high) {
			t.Fatalf("seed %d: greatest %v, want %v", seed, got, high)
		}
		if got := e.Scored(in, n); !slices.Equal(got, scored) {
			t.Fatalf("seed %d: scored %v, want %v", seed, got, scored)
		}
		for k, p := range e.Presence() {
			for i := range n {
				if s := scored[i*targets+k]; p == Always && !s || p == Never && s {
					t.Fatalf("seed %d: row %d of target %d is scored: %v, with presence %d", seed, i, k, s, p)
				}
			}
		}
	}
}

// The parts of an ensemble depend on the features that they are said to, and no others,
// and add up to it.
func TestSplitAddsUp(t *testing.T) {
	const features, n = 5, 70
	single := 0
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 8))
		targets := 1 + int(seed%3)
		f := random(r, 12, 1+int(seed%3), features, targets, seed%2 == 0)
		e := New(f)
		group := map[string]int{}
		of := make([][]int, e.Len())
		number := func(features []int32) int {
			key := encode(slices.Sorted(slices.Values(features)))
			if _, ok := group[key]; !ok {
				group[key] = len(group)
			}
			return group[key]
		}
		for i := range of {
			paths := e.Leaves(i)
			switch {
			case len(e.Features(i)) == 0:
			case i%2 == 0:
				of[i] = []int{number(e.Features(i))}
			default:
				for _, p := range paths {
					of[i] = append(of[i], number(p))
				}
			}
		}
		s, parts := e.Split(func(i int) []int { return of[i] })
		base := make([]float64, targets)
		e.AddConstant(base)
		x := rows(r, n, features)
		in := e.read(x, n, features)
		whole, split := make([]float64, n*targets), make([]float64, n*len(parts))
		e.Sum(whole, in, n)
		s.Sum(split, in, n)
		for i := range n {
			sum := slices.Clone(base)
			for k, p := range parts {
				sum[p.Target] += split[i*len(parts)+k]
			}
			for k, v := range sum {
				if math.Abs(v-whole[i*targets+k]) > 1e-12 {
					t.Fatalf("seed %d: the parts of row %d add up to %v, the whole is %v", seed, i, v, whole[i*targets+k])
				}
			}
		}
		uses := s.TargetFeatures()
		for feature := range features {
			moved := slices.Clone(x)
			for i := range n {
				moved[i*features+feature] = rows(r, 1, 1)[0]
			}
			after := make([]float64, len(split))
			s.Sum(after, s.read(moved, n, features), n)
			for k := range parts {
				if slices.Contains(uses[k], int32(feature)) {
					continue
				}
				for i := range n {
					if after[i*len(parts)+k] != split[i*len(parts)+k] {
						t.Fatalf("seed %d: part %d moves with feature %d, and is said to depend on %v", seed, k, feature, uses[k])
					}
				}
			}
		}
		for _, u := range uses {
			if len(u) == 1 {
				single++
			}
		}
	}
	if single < 50 {
		t.Errorf("only %d parts of one feature", single)
	}
}

func encode(features []int32) string {
	var b strings.Builder
	for _, f := range features {
		b.WriteByte(byte('a' + f))
	}
	return b.String()
}

// Splits that the splits above them decide, and splits with equal ends, do not count.
func TestFeaturesThatMatter(t *testing.T) {
	leaf := func(v float64) (Node, Weight) { return Node{Mode: Leaf}, Weight{0, v} }
	build := func(values []float64, nodes ...Node) *Ensemble {
		f := &Forest{Roots: []int32{0}, Targets: 1, Nodes: nodes}
		for i, v := range values {
			n, w := leaf(v)
			n.From, n.To = int32(i), int32(i+1)
			f.Nodes, f.Weights = append(f.Nodes, n), append(f.Weights, w)
		}
		if err := f.Check(); err != nil {
			t.Fatal(err)
		}
		return New(f)
	}
	for _, c := range []struct {
		name   string
		e      *Ensemble
		want   []int32
		leaves int
	}{
		// x0 <= 1 ? (x0 <= 2 ? a : (feature 1 that nobody reaches)) : b
		{"decided above", build([]float64{1, 2, 3, 4},
			Node{Mode: LEQ, Feature: 0, Value: 1, True: 1, False: 6}, Node{Mode: LEQ, Feature: 0, Value: 2, True: 3, False: 2},
			Node{Mode: LEQ, Feature: 1, Value: 0, True: 4, False: 5}), []int32{0}, 2},
		// the same, but a missing x0 gets there: both splits send it to the second child
		{"missing decides", build([]float64{1, 2, 3, 4},
			Node{Mode: LEQ, Feature: 0, Value: 1, True: 1, False: 6, MissingTrue: true}, Node{Mode: LEQ, Feature: 0, Value: 2, True: 3, False: 2},
			Node{Mode: LEQ, Feature: 1, Value: 0, True: 4, False: 5}), []int32{0, 1}, 4},
		{"equal ends", build([]float64{5, 5, 7},
			Node{Mode: LEQ, Feature: 0, Value: 1, True: 1, False: 4}, Node{Mode: GT, Feature: 3, Value: 2, True: 2, False: 3}), []int32{0}, 2},
		{"constant", build([]float64{5, 5}, Node{Mode: LEQ, Feature: 2, Value: 1, True: 1, False: 2}), nil, 1},
	} {
		if got := c.e.Features(0); !slices.Equal(got, c.want) {
			t.Errorf("%s: depends on %v, want %v", c.name, got, c.want)
		}
		if got := (c.e.trees[0].size() + 1) / 2; got != c.leaves {
			t.Errorf("%s: %d leaves, want %d", c.name, got, c.leaves)
		}
	}
}

// What is no tree is an error that names the node.
func TestCheckForest(t *testing.T) {
	leafs := func(n ...Node) []Node { return append(n, Node{Mode: Leaf}, Node{Mode: Leaf}) }
	chain := make([]Node, 2*maxDepth+1)
	for i := range maxDepth {
		chain[2*i] = Node{True: int32(2*i + 1), False: int32(2*i + 2)}
		chain[2*i+1].Mode = Leaf
	}
	chain[2*maxDepth].Mode = Leaf
	for _, c := range []struct {
		name string
		f    Forest
		want string
	}{
		{"cycle", Forest{Nodes: leafs(Node{True: 1, False: 2}, Node{True: 0, False: 3}), Roots: []int32{0}}, "node 0 is reached twice, from node 1 again"},
		{"itself", Forest{Nodes: leafs(Node{True: 0, False: 1}), Roots: []int32{0}}, "node 0 is reached twice, from node 0 again"},
		{"shared", Forest{Nodes: leafs(Node{True: 1, False: 1}), Roots: []int32{0}}, "node 1 is reached twice"},
		{"unreached", Forest{Nodes: leafs(), Roots: []int32{0}}, "node 1 cannot be reached"},
		{"root inside", Forest{Nodes: leafs(Node{True: 1, False: 2}), Roots: []int32{0, 2}}, "node 2 is the root of a tree and belongs to another one"},
		{"deep", Forest{Nodes: chain, Roots: []int32{0}}, "levels below the root"},
	} {
		if err := c.f.Check(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	chain[2*maxDepth-2] = Node{Mode: Leaf}
	ok := Forest{Nodes: chain[:2*maxDepth-1], Roots: []int32{0}, Targets: 1}
	if err := ok.Check(); err != nil {
		t.Fatal(err)
	}
	New(&ok)
}

// Categories that are asked for one after another are a set, as one node would have it.
func TestEqualsAreJoined(t *testing.T) {
	leaf := func(i int32) Node { return Node{Mode: Leaf, From: i, To: i + 1} }
	chain := Forest{Targets: 1, Roots: []int32{0}, Weights: []Weight{{0, 1}, {0, 2}, {0, 3}}, Nodes: []Node{
		{Mode: EQ, Value: 4, True: 1, False: 2}, {Mode: LEQ, Feature: 1, Value: 0, True: 4, False: 5},
		{Mode: EQ, Value: 1, True: 1, False: 3}, {Mode: EQ, Value: 7, True: 1, False: 6, MissingTrue: true}, leaf(0), leaf(1), leaf(2)}}
	if err := chain.Check(); err != nil {
		t.Fatal(err)
	}
	e := New(&chain)
	if got := e.Features(0); !slices.Equal(got, []int32{0, 1}) {
		t.Errorf("depends on %v", got)
	}
	x := []float64{4, -1, 1, 1, 7, -1, 5, 1, math.NaN(), 1}
	got := make([]float64, 5)
	e.Sum(got, e.read(x, 5, 2), 5)
	if want := []float64{1, 2, 1, 3, 2}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	// A ring of such nodes stays one.
	ring := Forest{Targets: 1, Roots: []int32{0}, Nodes: []Node{{Mode: EQ, True: 2, False: 1}, {Mode: EQ, Value: 1, True: 2, False: 0}, {Mode: Leaf}}}
	if err := ring.Check(); err == nil || !strings.Contains(err.Error(), "is reached twice") {
		t.Errorf("%v", err)
	}
}
