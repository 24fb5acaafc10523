package operator

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/internal/base/kernel"
)

// stringOps look into texts or make new ones.
func stringOps[T kernel.Float]() []Entry[T] {
	return []Entry[T]{
		{Operator: graph.Operator{Name: "StringNormalizer", Texts: true, Versions: []int{10}, Min: 1, Max: 1, Outputs: 1, Check: checkStringNormalizer},
			Rule: elementwiseRule, Compile: compileStringNormalizer[T]},
		{Operator: graph.Operator{Name: "StringConcat", Texts: true, Versions: []int{20}, Min: 2, Max: 2, Outputs: 1, Check: checkStringConcat},
			Rule: elementwiseRule, Compile: compileStringConcat[T]},
		{Operator: graph.Operator{Name: "RegexFullMatch", Texts: true, Versions: []int{20}, Min: 1, Max: 1, Outputs: 1, Check: checkRegexFullMatch},
			Rule: elementwiseRule, Compile: compileRegexFullMatch[T]},
		dynamic[T]("", "StringSplit", 20, 2),
		dynamic[T]("com.microsoft", "Tokenizer", 1, 1),
	}
}

// dynamic is an operator that cuts texts in pieces, as many as the longest of all rows
// has.
func dynamic[T kernel.Float](domain, name string, since, outputs int) Entry[T] {
	why := fmt.Errorf("mixes rows: how many pieces it cuts a text in depends on the texts of the other rows; cut the text before the network, or encode it as categories")
	return Entry[T]{
		Operator: graph.Operator{Domain: domain, Name: name, Texts: true, Versions: []int{since}, Min: 1, Max: 1, Outputs: outputs, Check: func(*graph.Check) error { return why }},
		Rule:     replacedRule,
		Compile:  func(*graph.Node) Step[T] { return func(*Exec[T]) error { return why } },
	}
}

func ofText(c *graph.Check) error {
	for i, v := range c.Inputs {
		if v.Type != graph.String {
			return fmt.Errorf("input %d (%q) must be text, is %s", i, v.Name, v.Type)
		}
	}
	return nil
}

func checkStringNormalizer(c *graph.Check) error {
	if err := ofText(c); err != nil {
		return err
	}
	if len(c.Attrs["stopwords"].Strings) > 0 {
		return fmt.Errorf("removes stopwords, and with them rows or columns of the tensor; remove them before the network")
	}
	switch action := c.Attrs["case_change_action"].String; action {
	case "", "NONE", "LOWER", "UPPER":
	default:
		return fmt.Errorf("unknown case_change_action %q", action)
	}
	return checkSame(c)
}

func compileStringNormalizer[T kernel.Float](n *graph.Node) Step[T] {
	change := func(s string) string { return s }
	switch n.Attrs["case_change_action"].String {
	case "LOWER":
		change = strings.ToLower
	case "UPPER":
		change = strings.ToUpper
	}
	return func(x *Exec[T]) (err error) {
		for i, k := range x.In[0].I {
			if x.Out[0].I[i], err = x.Texts.Number(change(x.Texts.Text(k))); err != nil {
				return err
			}
		}
		return nil
	}
}

func checkStringConcat(c *graph.Check) error {
	if err := ofText(c); err != nil {
		return err
	}
	shape, err := graph.Broadcast(c.Inputs[0].Shape, c.Inputs[1].Shape)
	if err != nil {
		return err
	}
	return c.Set(0, graph.String, shape)
}

func compileStringConcat[T kernel.Float](*graph.Node) Step[T] {
	return func(x *Exec[T]) (fault error) {
		join := func(a, b int64) int64 {
			if fault != nil {
				return 0
			}
			n, err := x.Texts.Number(x.Texts.Text(a) + x.Texts.Text(b))
			fault = err
			return n
		}
		a, b := x.In[0], x.In[1]
		zip(x.Out[0].I, x.Out[0].Shape, a.I, a.Shape, b.I, b.Shape, lift(join))
		return fault
	}
}

func checkRegexFullMatch(c *graph.Check) error {
	if err := ofText(c); err != nil {
		return err
	}
	text := c.Attrs["pattern"].String
	if _, err := regexp.Compile(text); err != nil { // by itself: it must not end the group below
		return fmt.Errorf("its pattern is not one of RE2: %w", err)
	}
	c.Resolved = regexp.MustCompile(`\A(?:` + text + `)\z`)
	return c.Set(0, graph.Bool, c.Inputs[0].Shape)
}

func compileRegexFullMatch[T kernel.Float](n *graph.Node) Step[T] {
	pattern := n.Resolved.(*regexp.Regexp)
	return func(x *Exec[T]) error {
		for i, k := range x.In[0].I {
			x.Out[0].I[i] = toInt(pattern.MatchString(x.Texts.Text(k)))
		}
		return nil
	}
}

// wordOps count n-grams.
func wordOps[T kernel.Float]() []Entry[T] {
	return []Entry[T]{
		{Operator: graph.Operator{Name: "TfIdfVectorizer", Texts: true, Versions: []int{9}, Min: 1, Max: 1, Outputs: 1, Check: checkTfIdf},
			Rule: tfIdfRule, Compile: compileTfIdf[T]},
	}
}

// grams is a tree of the n-grams that are counted.
type grams struct {
	edges    map[[2]int64]int64 // from a node by an item; node 0 is the root
	output   map[int64]int      // of the node that ends an n-gram
	weight   map[int64]float64
	mode     string
	min, max int
	skips    int
	items    int // of a row
	width    int
}

func checkTfIdf(c *graph.Check) error {
	in := c.Inputs[0]
	if in.Type.Floating() || in.Type == graph.Bool {
		return fmt.Errorf("items must be texts or integers, are %s", in.Type)
	}
	if len(in.Shape) == 0 || len(in.Shape) > 2 || graph.IsRows(in.Shape[len(in.Shape)-1]) {
		return fmt.Errorf("mixes rows: it counts the items of a row, and the shape is %s; give it items as columns", graph.ShapeText(in.Shape))
	}
	g := &grams{mode: c.Attrs["mode"].String, items: in.Shape[len(in.Shape)-1]}
	if !slices.Contains([]string{"TF", "IDF", "TFIDF"}, g.mode) {
		return fmt.Errorf("unknown mode %q", g.mode)
	}
	lengths := [3]int64{c.AttrInt("min_gram_length", 1), c.AttrInt("max_gram_length", 1), c.AttrInt("max_skip_count", 0)}
	if lengths[0] < 1 || lengths[1] < lengths[0] || lengths[1] > 1000 || lengths[2] < 0 || lengths[2] > 1000 {
		return fmt.Errorf("n-grams of length %d to %d with up to %d skips are not possible", lengths[0], lengths[1], lengths[2])
	}
	g.min, g.max, g.skips = int(lengths[0]), int(lengths[1]), int(lengths[2])
	if err := g.read(c); err != nil {
		return err
	}
	if err := c.MultiplyAdds([]int{g.items, g.skips + 1}, g.max); err != nil {
		return err
	}
	c.Resolved = g
	return c.Set(0, graph.Float32, append(slices.Clone(in.Shape[:len(in.Shape)-1]), g.width))
}

// read makes the tree of the pool's n-grams.
func (g *grams) read(c *graph.Check) error {
	pool, texts := c.Attrs["pool_int64s"].Ints, c.Attrs["pool_strings"].Strings
	if (len(texts) > 0) != (c.Inputs[0].Type == graph.String) {
		return fmt.Errorf("its pool is of another kind than its input %q, which is %s", c.Inputs[0].Name, c.Inputs[0].Type)
	}
	if texts != nil {
		t, err := textTensor(c.Node, []int{len(texts)}, texts...)
		if err != nil {
			return err
		}
		pool = t.I
	}
	counts, outputs, weights := c.Attrs["ngram_counts"].Ints, c.Attrs["ngram_indexes"].Ints, c.Attrs["weights"].Floats
	for _, o := range outputs {
		if o < 0 || o >= 1<<31 {
			return fmt.Errorf("impossible ngram_index %d", o)
		}
		g.width = max(g.width, int(o)+1)
	}
	if g.width == 0 || len(weights) > 0 && len(weights) != len(outputs) {
		return fmt.Errorf("has %d ngram_indexes and %d weights", len(outputs), len(weights))
	}
	g.edges, g.output, g.weight = map[[2]int64]int64{}, map[int64]int{}, map[int64]float64{}
	gram := 0
	for n, from := range counts {
		to := int64(len(pool))
		if n+1 < len(counts) {
			to = counts[n+1]
		}
		if from < 0 || to < from || to > int64(len(pool)) || (to-from)%int64(n+1) != 0 {
			return fmt.Errorf("n-grams of length %d reach from %d to %d of a pool of %d items", n+1, from, to, len(pool))
		}
		for ; from < to; from += int64(n + 1) {
			if gram >= len(outputs) {
				return fmt.Errorf("has more n-grams than its %d ngram_indexes", len(outputs))
			}
			if n+1 >= g.min && n+1 <= g.max {
				end := g.add(pool[from : from+int64(n+1)])
				g.output[end], g.weight[end] = int(outputs[gram]), 1
				if len(weights) > 0 {
					g.weight[end] = weights[gram]
				}
			}
			gram++
		}
	}
	return nil
}

func (g *grams) add(items []int64) int64 {
	node := int64(0)
	for _, k := range items {
		next, ok := g.edges[[2]int64{node, k}]
		if !ok {
			next = int64(len(g.edges) + 1)
			g.edges[[2]int64{node, k}] = next
		}
		node = next
	}
	return node
}

// each visits the n-grams of a row. Single items are counted once, whatever the skips.
func (g *grams) each(row []int64, visit func(node int64)) {
	least := g.min
	for step := 1; step <= g.skips+1; step++ {
		for start := range row {
			if start+step*(least-1) >= len(row) {
				break
			}
			node := int64(0)
			for n, at := 1, start; n <= g.max && at < len(row); n, at = n+1, at+step {
				next, ok := g.edges[[2]int64{node, row[at]}]
				if !ok {
					break
				}
				if node = next; n >= least {
					visit(node)
				}
			}
		}
		if least == 1 {
			if least++; least > g.max {
				return
			}
		}
	}
}

func compileTfIdf[T kernel.Float](n *graph.Node) Step[T] {
	g := n.Resolved.(*grams)
	return func(x *Exec[T]) error {
		in, out := x.In[0].I, x.Out[0].F
		clear(out)
		for r := range len(out) / g.width {
			to := out[r*g.width : (r+1)*g.width]
			g.each(in[r*g.items:(r+1)*g.items], func(node int64) {
				o, counted := g.output[node]
				switch {
				case !counted:
				case g.mode == "TF":
					to[o]++
				case g.mode == "IDF":
					to[o] = T(g.weight[node])
				default:
					to[o] += T(g.weight[node])
				}
			})
		}
		return nil
	}
}

// tfIdfRule: every count depends on all items of the row.
func tfIdfRule(n *graph.Node) Rule {
	g := n.Resolved.(*grams)
	return Rule{Cost: g.items, Each: func(_, e int, yield Link) {
		for i := range g.items {
			yield(0, e/g.width*g.items+i, 1)
		}
	}}
}
