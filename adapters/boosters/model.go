package boosters

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/pho-go/pho/adapters/internal/onnxtree"
	"github.com/pho-go/pho/adapters/internal/tree"
	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// model is what every reader makes of its file. With x the columns as they enter,
//
//	s_k = (sum over the ensembles and linear functions of x)/divisor,  eta_k = scale s_k,  prediction = link^-1(eta)
type model struct {
	library, version string
	columns          []column
	tables           []*table // further features, behind the columns
	named            bool     // the file has the names of its columns
	single           bool     // numbers enter as float32
	wide             bool     // and are summed as float64
	targets          int
	ensembles        []*ensemble
	linear           *linear // nil: none
	divisor, scale   float64 // 0: 1
	link             link
	outputs          []string // a name for each target; of the link softmax one for all
	classes          []string // of the link softmax, if the file names them
	notes            []string
	whole            bool // it will be written out in operators of the standard, trees and all; else trees are laid out as they are read
}

// column is a feature of the model.
type column struct {
	name   string
	enters entry
	levels []string // the texts or numbers that the codes 0, 1, ... stand for; nil: it enters as it is
	// text is the number as which a text enters, NaN for a missing one; nil: the column holds numbers. Such columns have names.
	text func(string) float64
	code func(string) float64 // the whole number by which tables know a text
	// texts are those of which, truths apart, text says something else than of all others, which are as the text other; nil: the
	// file does not tell.
	texts []string
}

// other is a text that no column knows.
const other = "\x00"

// find finds a category; a truth value, if it is none, by its number.
func find(category string, in func(string) (code float64, known bool)) (float64, bool) {
	if code, known := in(category); known || truth(category) == category {
		return code, known
	}
	return in(truth(category))
}

// truth is a category; of a truth value as text files have it the number that libraries take it for.
func truth(category string) string {
	if ways := data.Truths(category); ways != nil {
		return ways[0]
	}
	return category
}

// truths are the texts that truth makes numbers of.
func truths() []string { return slices.Concat(data.Truths("1")[1:], data.Truths("0")[1:]) }

// entry is how a number of a column enters.
type entry uint8

const (
	asItIs        entry = iota
	floored             // the next integer below
	truncated           // the next integer towards 0
	zeroAsMissing       // missing, if it is 0 to 1e-35
)

// zeroTo is how far from 0 a number is 0 for LightGBM, which has it as a float.
var zeroTo = float64(float32(1e-35))

// ensemble is trees. They are read into forest; unless the model is whole, those of forest go on to grown whenever they are many, so
// that a file's trees are never all there in both forms. Each target k of the model is one of theirs; further ones are multiplied: number
// targets (1 + j) + k of the forest adds to target k times column times[j], 0 where that is missing.
type ensemble struct {
	forest *tree.Forest
	grown  *tree.Builder // nil: forest has all
	before int           // trees of grown
	times  []int32
}

// piece is how many nodes are laid out together.
const piece = 1 << 15

// grow begins an ensemble of the model, whose first trees f has.
func (m *model) grow(f *tree.Forest) {
	e := &ensemble{forest: f}
	if f.Name = e.name; !m.whole {
		e.grown = tree.NewBuilder(f.Single)
	}
	m.ensembles = append(m.ensembles, e)
}

// name names a node of forest by its tree: those of a tree follow its root.
func (e *ensemble) name(node int32) string {
	t, found := slices.BinarySearch(e.forest.Roots, node)
	if !found {
		t--
	}
	return fmt.Sprintf("tree %d, node %d", e.before+t, node-e.forest.Roots[t])
}

// settle lays out the trees of each ensemble in which they have at least so many nodes. It makes errors of what a damaged file may hold.
func (m *model) settle(least int) error {
	features := len(m.columns)
	for _, t := range m.tables {
		features += t.width
	}
	for _, e := range m.ensembles {
		if len(e.forest.Nodes) < least || e.grown == nil && least > 0 {
			continue
		}
		if err := e.settle(features); err != nil {
			return err
		}
	}
	return nil
}

func (e *ensemble) settle(features int) error {
	f := e.forest
	for i := range f.Nodes {
		if n := &f.Nodes[i]; n.Mode != tree.Leaf && int(n.Feature) >= features {
			return fmt.Errorf("%s splits feature %d of %d", f.Name(int32(i)), n.Feature, features)
		}
	}
	if e.grown == nil {
		return nil
	}
	if err := f.Check(); err != nil {
		return err
	}
	e.grown.Add(f)
	e.before += len(f.Roots)
	f.Nodes, f.Weights, f.Roots, f.Sets = f.Nodes[:0], f.Weights[:0], f.Roots[:0], f.Sets[:0]
	return nil
}

// linear is a linear function for each target, of columns in which 0 stands for what is missing.
type linear struct {
	weights []float64 // columns x targets
	bias    []float64
}

// link is the response function of a model, as a node of ONNX.
type link uint8

const (
	identity link = iota
	logit         // p = 1/(1 + exp(-eta))
	log           // mu = exp(eta)
	softplus      // mu = log(1 + exp(eta))
	softmax       // p_k = exp(eta_k)/sum exp(eta_j)
	// mu = eta_1, sigma^2 = exp(2 eta_2): of two scores
	meanAndVariance
)

func (l link) operator() string {
	return [...]string{"Identity", "Sigmoid", "Exp", "Softplus", "Softmax"}[l]
}

// bounds of what a file may ask for.
const (
	maxColumns = 100_000
	maxTargets = 1 << 16
)

// targetNames are the names of k predictors that the file does not name.
func targetNames(k int) []string {
	if k == 1 {
		return []string{"prediction"}
	}
	var names []string
	for i := range k {
		names = append(names, fmt.Sprintf("target%d", i))
	}
	return names
}

// quantileNames are the names of k predictors that are quantiles of these levels.
func quantileNames(levels []string, k int) []string {
	names := make([]string, len(levels))
	for i, level := range levels {
		names[i] = "quantile" + level
	}
	if k > 1 && len(names) == k && unique(names) {
		return names
	}
	return targetNames(k)
}

// unique reports whether names differ and none is empty.
func unique(names []string) bool {
	sorted := slices.Sorted(slices.Values(names))
	return sorted[0] != "" && len(slices.Compact(sorted)) == len(names)
}

// check makes errors of what a damaged file may hold.
func (m *model) check() error {
	if len(m.columns) == 0 || len(m.columns) > maxColumns {
		return fmt.Errorf("it has %d features; 1 to %d are supported", len(m.columns), maxColumns)
	}
	seen := map[string]bool{}
	for _, c := range m.columns {
		if m.named && (c.name == "" || seen[c.name]) {
			return fmt.Errorf("the feature name %q is empty or there twice", c.name)
		}
		if m.named && strings.HasPrefix(c.name, prefix) {
			return fmt.Errorf("the feature name %q begins with %q, as the network's own tensors do; call the feature otherwise in the model and in the data", c.name, prefix)
		}
		seen[c.name] = true
	}
	for _, t := range m.tables {
		if err := t.check(); err != nil {
			return err
		}
	}
	return m.settle(0)
}

// writer writes a model as a graph of ONNX.
type writer struct {
	*model
	*onnxpb.Builder
	t    onnxpb.TensorProto_DataType
	x    string // the columns as they enter, rows x columns
	full string // the same with 0 for what is missing; "": not written yet
	// texts are the functions of columns of text, and sums the trees, by the node that computes them; empty if all is in the file.
	texts map[string]func(string) float64
	sums  map[string]*tree.Sum
}

// score is the tensor of the scores s; names of tensors begin with pho/, as columns of text files seldom do.
const (
	prefix = "pho/"
	score  = prefix + "score"
)

func (m *model) load(sha256 string, o *onnx.LoadOptions) (*onnx.Graph, error) {
	w := m.writer()
	file, err := w.write()
	if err != nil {
		return nil, fmt.Errorf("boosters: %w", err)
	}
	a := onnx.Assembly{File: file, Sums: w.sums, Texts: w.texts, Classes: m.classes, Notes: m.notes, SHA256: sha256}
	return a.Load(o)
}

func (m *model) writer() *writer {
	w := &writer{model: m, Builder: onnxpb.NewBuilder(21), t: onnxpb.TensorProto_DOUBLE, x: prefix + "features", sums: map[string]*tree.Sum{}}
	w.Import("ai.onnx.ml", 5)
	w.Model().ProducerName, w.Model().ProducerVersion = m.library, m.version
	if m.single {
		w.t = onnxpb.TensorProto_FLOAT
	}
	return w
}

func (w *writer) write() ([]byte, error) {
	w.inputs()
	w.scores()
	w.respond()
	if err := w.labels(); err != nil {
		return nil, err
	}
	return w.Marshal()
}

// constant adds numbers of the network's type.
func (w *writer) constant(name string, shape []int, v ...float64) string {
	if w.t == onnxpb.TensorProto_FLOAT {
		w.AddInit(prefix+name, shape, v...)
	} else {
		w.AddDouble(prefix+name, shape, v...)
	}
	return prefix + name
}

// node adds a node whose output has that name.
func (w *writer) node(name, op string, inputs ...string) string {
	w.AddNode(op, inputs, prefix+name)
	return prefix + name
}

// inputs writes the columns as they enter.
func (w *writer) inputs() {
	if w.named {
		var names []string
		for _, c := range w.columns {
			if c.text != nil {
				w.AddInput(c.name, onnxpb.TensorProto_STRING, onnxpb.Rows, 1)
				names = append(names, w.number(c))
				continue
			}
			w.AddInput(c.name, w.t, onnxpb.Rows, 1)
			names = append(names, c.name)
		}
		for k, t := range w.tables {
			names = append(names, w.table(k, t))
		}
		w.AddNode("Concat", names, w.x, onnxpb.Int("axis", 1))
	} else {
		w.x = "features"
		w.AddInput(w.x, w.t, onnxpb.Rows, len(w.columns))
	}
	w.enter("floored", floored, func() string { return w.node("floors", "Floor", w.x) })
	w.enter("truncated", truncated, func() string {
		below := w.node("negative", "Less", w.x, w.constant("zero", nil, 0))
		return w.node("integers", "Where", below, w.node("up", "Ceil", w.x), w.node("down", "Floor", w.x))
	})
	w.enter("without zeros", zeroAsMissing, func() string {
		zero := w.node("is zero", "LessOrEqual", w.node("size", "Abs", w.x), w.constant("zero to", nil, zeroTo))
		return w.node("zeros", "Where", zero, w.constant("missing", nil, math.NaN()), w.x)
	})
	if w.wide && w.t == onnxpb.TensorProto_FLOAT {
		w.t = onnxpb.TensorProto_DOUBLE
		w.AddNode("Cast", []string{w.x}, prefix+"wide", onnxpb.Int("to", int64(w.t)))
		w.x = prefix + "wide"
	}
}

// number writes the numbers of a column of text.
func (w *writer) number(c column) string {
	name := prefix + "number of " + c.name
	if w.whole {
		w.encode(c, name)
	} else {
		name = w.textNumber("number of "+c.name, c.name, c.text)
	}
	if w.t == onnxpb.TensorProto_DOUBLE {
		return name
	}
	w.AddNode("Cast", []string{name}, name+", rounded", onnxpb.Int("to", int64(w.t)))
	return name + ", rounded"
}

// textNumber writes a function of a column of text.
func (w *writer) textNumber(name, column string, of func(string) float64) string {
	if w.texts == nil {
		w.Import("pho", 1)
		w.texts = map[string]func(string) float64{}
	}
	w.texts[prefix+name] = of
	w.AddNodes("pho", "TextNumbers", []string{column}, []string{prefix + name})
	return prefix + name
}

// enter lets the columns of that entry enter as write says.
func (w *writer) enter(name string, as entry, write func() string) {
	if !slices.ContainsFunc(w.columns, func(c column) bool { return c.enters == as }) {
		return
	}
	mask := make([]int64, len(w.columns))
	for i, c := range w.columns {
		if c.enters == as {
			mask[i] = 1
		}
	}
	w.AddIntegers(prefix+name+"?", onnxpb.TensorProto_BOOL, []int{1, len(mask)}, mask...)
	w.x = w.node(name, "Where", prefix+name+"?", write(), w.x)
}

// complete is the columns with 0 for what is missing.
func (w *writer) complete() string {
	if w.full == "" {
		w.full = w.node("complete", "Where", w.node("is missing", "IsNaN", w.x), w.constant("none", nil, 0), w.x)
	}
	return w.full
}

func (w *writer) trees(name string, e *ensemble) {
	var attrs []onnxpb.Attr
	if w.whole {
		attrs = onnxtree.Attributes(e.forest, w.t == onnxpb.TensorProto_DOUBLE)
	} else {
		w.sums[name] = &tree.Sum{Ensemble: e.grown.Ensemble(), Nodes: e.grown.Nodes(), Base: e.forest.Base, Rounded: e.forest.Rounded}
	}
	w.AddNodes("ai.onnx.ml", "TreeEnsemble", []string{w.x}, []string{name}, attrs...)
}

func (w *writer) scores() {
	var sum []string
	last := w.linear == nil && len(w.ensembles) == 1 && w.divisor == 0 // s is the sum over trees
	for g, e := range w.ensembles {
		name := fmt.Sprintf("trees %d", g)
		if last && len(e.times) == 0 {
			name = "score"
		}
		w.trees(prefix+name, e)
		if len(e.times) == 0 {
			sum = append(sum, prefix+name)
			continue
		}
		var parts []string
		for j := range 1 + len(e.times) {
			parts = append(parts, fmt.Sprintf("%s, %d", prefix+name, j))
		}
		w.AddNodes("", "Split", []string{prefix + name}, parts, onnxpb.Int("axis", 1), onnxpb.Int("num_outputs", int64(len(parts))))
		sum = append(sum, parts[0])
		for j, c := range e.times {
			w.AddInts(fmt.Sprintf("%s, column %d", prefix+name, j), int64(c))
			column := fmt.Sprintf("%s, number %d", name, j)
			w.AddNode("Gather", []string{w.complete(), fmt.Sprintf("%s, column %d", prefix+name, j)}, prefix+column, onnxpb.Int("axis", 1))
			sum = append(sum, w.node(fmt.Sprintf("%s, product %d", name, j), "Mul", parts[1+j], prefix+column))
		}
	}
	if l := w.linear; l != nil {
		sum = append(sum, w.node("products", "Gemm", w.complete(), w.constant("weights", []int{len(w.columns), w.targets}, l.weights...), w.constant("bias", []int{w.targets}, l.bias...)))
	}
	if len(sum) == 1 && sum[0] == score {
		return
	}
	if w.divisor == 0 {
		w.AddNode("Sum", sum, score)
		return
	}
	w.node("score", "Div", w.node("sum", "Sum", sum...), w.constant("divisor", nil, w.divisor))
}

func (w *writer) respond() {
	eta := score
	if w.scale != 0 && w.scale != 1 {
		eta = w.node("scaled", "Mul", score, w.constant("scale", nil, w.scale))
	}
	switch {
	case w.link == softmax:
		w.AddNode("Softmax", []string{eta}, w.outputs[0], onnxpb.Int("axis", 1))
		w.Output(w.outputs[0], w.t, onnxpb.Rows, w.targets)
	case w.link == meanAndVariance:
		w.AddNodes("", "Split", []string{eta}, []string{prefix + "mean", prefix + "log deviation"}, onnxpb.Int("axis", 1), onnxpb.Int("num_outputs", 2))
		w.AddNode("Identity", []string{prefix + "mean"}, w.outputs[0])
		w.AddNode("Exp", []string{w.node("log variance", "Mul", prefix+"log deviation", w.constant("two", nil, 2))}, w.outputs[1])
		w.Output(w.outputs[0], w.t, onnxpb.Rows, 1)
		w.Output(w.outputs[1], w.t, onnxpb.Rows, 1)
	case w.targets == 1 && w.link == softplus && w.whole: // max(eta, 0) + log(1 + exp(-|eta|)): ONNX Runtime has no Softplus of float64
		tail := w.node("exponential", "Exp", w.node("negative size", "Neg", w.node("size of eta", "Abs", eta)))
		w.AddNode("Add", []string{w.node("positive part", "Relu", eta), w.node("logarithm", "Log", w.node("one and exponential", "Add", w.constant("one", nil, 1), tail))}, w.outputs[0])
		w.Output(w.outputs[0], w.t, onnxpb.Rows, 1)
	case w.targets == 1:
		w.AddNode(w.link.operator(), []string{eta}, w.outputs[0])
		w.Output(w.outputs[0], w.t, onnxpb.Rows, 1)
	default:
		w.AddNodes("", "Split", []string{w.node("response", w.link.operator(), eta)}, w.outputs, onnxpb.Int("axis", 1), onnxpb.Int("num_outputs", int64(w.targets)))
		for _, name := range w.outputs {
			w.Output(name, w.t, onnxpb.Rows, 1)
		}
	}
}

func (w *writer) labels() error {
	own := onnx.Labels{Columns: map[string][]string{}}
	for _, c := range w.columns {
		if len(c.levels) > 0 {
			if !w.named {
				return errors.New("boosters: the file names categories of columns without names")
			}
			own.Columns[c.name] = c.levels
		}
	}
	if len(own.Columns) == 0 {
		return nil
	}
	text, err := own.Encode()
	if err != nil {
		return fmt.Errorf("boosters: %w", err)
	}
	w.AddMetadata(onnx.MetadataLabels, text)
	return nil
}
