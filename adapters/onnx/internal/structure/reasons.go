package structure

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
)

// What inspect says about a decision: which nodes, and why.

// inputsRead lists, by column, the inputs that predictor k reads it from.
func (d *discovery) inputsRead(k int) map[int][]*graph.Value {
	reads := map[int][]*graph.Value{}
	for _, a := range d.found[k].u.atoms {
		if c, ok := d.columnOf(a); ok && !slices.Contains(reads[c], a.Value) {
			reads[c] = append(reads[c], a.Value)
		}
	}
	return reads
}

// readers lists the nodes on predictor k's linear path that weigh column c on
// its way from the inputs, or those that read it if none does, and the names of
// the inputs.
func (d *discovery) readers(k, c int, inputs []*graph.Value) (nodes, names []string) {
	carries := map[*graph.Value]bool{}
	for _, v := range inputs {
		names = append(names, v.Name)
		carries[v] = true
	}
	var weigh, read []string
	for _, n := range d.found[k].u.path {
		if !slices.ContainsFunc(n.Inputs, func(v *graph.Value) bool { return carries[v] }) {
			continue
		}
		for _, v := range n.Outputs {
			if v != nil && d.dep.sets.contains(d.tensorSet(v), c) {
				carries[v] = true
			}
		}
		if carries[n.Outputs[0]] && d.dep.table.Of(n).Weighs {
			weigh = append(weigh, n.String())
		}
		if slices.ContainsFunc(n.Inputs, func(v *graph.Value) bool { return slices.Contains(inputs, v) }) {
			read = append(read, n.String())
		}
	}
	if len(weigh) > 0 {
		return weigh, names
	}
	return append([]string{}, read...), names
}

// tensorSet is the union of the columns that v's elements depend on.
func (d *discovery) tensorSet(v *graph.Value) int32 {
	if id, ok := d.whole[v]; ok {
		return id
	}
	dep := d.dep.of[v]
	id := dep.all
	for _, e := range dep.each {
		id = d.dep.sets.union(id, e)
	}
	d.whole[v] = id
	return id
}

func (d *discovery) deepReason(id int32, elements []Element, by string) string {
	tensors, nodes := sourcesOf(elements)
	if len(nodes) == 0 {
		nodes = []string{"input " + graph.QuotedList(tensors)}
	}
	subject, depend := fmt.Sprintf("%s of %s", graph.Plural(len(elements), "feature"), strings.Join(nodes, " and ")), "depend"
	if len(elements) == 1 {
		depend = "depends"
	}
	if trees := d.treesOf(elements); trees > 0 {
		subject = fmt.Sprintf("%s of %s: the sum over %s", graph.Plural(len(elements), "feature"), strings.Join(nodes, " and "), graph.Plural(trees, "tree"))
		depend = "depends"
	}
	n, all := d.dep.sets.size(id), d.dep.sets.size(d.all)
	switch {
	case d.o.NoStructure:
		return subject + ": no structure was asked for"
	case by != "":
		return fmt.Sprintf("%s: forced into the deep part by Options.Deep %q", subject, by)
	case d.declaredDeep[elements[0].Value]:
		return fmt.Sprintf("%s: declared by the file (%s) as the deep part", subject, declarationFormat)
	case n == 0:
		return subject + " " + depend + " on no column"
	case n == 1 && d.ofTensors(id):
		c := d.columnNames(id)[0]
		return fmt.Sprintf("%s %s on %s alone", subject, depend, d.inputOf(c))
	case d.ofTensors(id) && n <= d.maxOrder:
		return fmt.Sprintf("%s %s on %d columns (%s), with arrays among them", subject, depend, n, graph.QuotedList(d.columnNames(id)))
	case id == d.all && all == 1:
		return fmt.Sprintf("%s %s on %q, the model's only column", subject, depend, d.columnNames(id)[0])
	case id == d.all:
		return fmt.Sprintf("%s %s on all %d columns", subject, depend, all)
	}
	return fmt.Sprintf("%s %s on %d columns (%s), more than Options.MaxOrder %d", subject, depend, n, graph.QuotedList(d.columnNames(id)), d.maxOrder)
}

// sumUp says in a sentence what kind of model the predictor is.
func (d *discovery) sumUp(k int) {
	info := &d.s.Predictors[k]
	say := func(format string, args ...any) { info.Reasons = append(info.Reasons, fmt.Sprintf(format, args...)) }
	if o := info.Ordinal; o != nil {
		say("cumulative logits of %d ordered classes: %s", len(o.Thresholds)+1, o.Formula())
	} else if info.Head != "" {
		say("the final %s is peeled off: the predictor is its input", info.Head)
		if r := Response(info.Head); r != "" {
			say("the network's output is %s, eta being the predictor", r)
		}
	}
	linear, declared := 0, len(d.claims[k])
	for _, t := range info.Terms {
		if t.Kind == "linear" && t.Declared == "" {
			linear++
		}
	}
	factors := len(d.coded[k])
	learned := len(info.Terms) - linear - declared - factors
	var terms []string
	if linear > 0 {
		terms = append(terms, graph.Plural(linear, "linear term"))
	}
	if declared > 0 {
		terms = append(terms, graph.Plural(declared, "declared term"))
	}
	if factors > 0 {
		terms = append(terms, graph.Plural(factors, "factor"))
	}
	if learned > 0 {
		terms = append(terms, graph.Plural(learned, "learned term"))
	}
	switch {
	case d.o.NoStructure:
		say("no structure was asked for: everything is deep")
	case len(terms) == 0 && info.Deep != nil:
		say("no additive structure: a black box; a formula supplies the structure")
		if info.Deep.Width == 1 {
			d.hintInside(k)
		}
	case info.Deep == nil && len(terms) == 0:
		say("constant: nothing to decompose")
	case info.Deep == nil && learned+declared > 0:
		say("additive (%s); nothing is left for the deep part, zeta = 0; Options.Deep NAME or a smaller Options.MaxOrder moves addends there", strings.Join(terms, ", "))
	case info.Deep == nil:
		say("linear; nothing is left for the deep part, zeta = 0")
	default:
		say("semi-structured: %s and a deep part", strings.Join(terms, ", "))
	}
}

// hintInside: a predictor that is one unit of a non-linear node may be a
// response whose structure lies behind it.
func (d *discovery) hintInside(k int) {
	info := &d.s.Predictors[k]
	n := d.s.Parts[k].Deep[0].Value.Producer
	if n == nil || d.treesOf(d.s.Parts[k].Deep) > 0 {
		return // trees read no response
	}
	el := d.s.Parts[k].Deep[0]
	if n.Op == "Log" && !el.Value.InFile() { // of a probability
		el = Element{n.Inputs[0], el.Index}
		if n = el.Value.Producer; n.Op == "Clip" && !el.Value.InFile() {
			el = Element{n.Inputs[0], el.Index}
			n = el.Value.Producer
		}
	}
	if said := d.oneVersusRest(n, el); said != "" {
		info.Reasons = append(info.Reasons, said)
		return
	}
	for _, v := range n.Inputs {
		if v != nil && v.Const == nil && v.Type.Floating() && v.Producer != nil {
			info.Reasons = append(info.Reasons, fmt.Sprintf("it is one unit of %s; if that is a response function, decompose what enters it with Options.Predictor %q", n.String(), v.Name))
			return
		}
	}
}

func describeAll(nodes []*graph.Node) []string {
	names := []string{}
	for _, n := range nodes {
		names = append(names, n.String())
	}
	return names
}

// inputOf names the input that a column is: picture "img", 3 x 64 x 64.
func (d *discovery) inputOf(column string) string {
	for _, in := range d.s.Inputs {
		if in.Whole != "" && in.Columns[0] == column {
			return in.Whole
		}
	}
	return fmt.Sprintf("%q", column)
}
