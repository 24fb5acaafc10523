package wiring

import (
	"bytes"
	"context"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/data/files"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/family"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// sumOf is a model of a program, a + b.
type sumOf struct{}

func (sumOf) Eta(_ context.Context, dst *mat.Dense, b *data.Batch) error {
	for _, name := range []string{"a", "b"} {
		x, err := b.Numeric(name)
		if err != nil {
			return err
		}
		for i, v := range x {
			dst.Set(i, 0, dst.At(i, 0)+v)
		}
	}
	return nil
}

func programs(t *testing.T) decompose.Model {
	t.Helper()
	m, err := decompose.NewBlackBox(sumOf{}, []string{"a", "b"})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestModelOfAProgram: a model that is no file has nothing that only a file has, and is refused what a file would be asked for.
func TestModelOfAProgram(t *testing.T) {
	rows := FilesOf(table(t, "a", "b"))
	d, err := (&Request{Model: programs(t), Rows: rows, Open: new(onnx.Options), Formulas: []string{"~ a"}, Options: new(decompose.Options)}).Ready(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if said := strings.Join(d.Notes, ""); d.Graph != nil || said != "" || d.reference.Kind != Function || !slices.Equal(d.reference.Columns, []string{"a", "b"}) {
		t.Errorf("graph %v, notes %q, reference %+v", d.Graph, said, d.reference)
	}
	about := &Request{Model: programs(t), Rows: rows, Open: new(onnx.Options), Formulas: []string{"~ a"}, Options: &decompose.Options{Columns: decompose.Columns{Response: "y"}}}
	if d, err = about.Ready(t.Context()); err != nil || d.TrainedFor != "" || about.Options.Family == nil || about.Options.Family.Name() != "gaussian" {
		t.Errorf("about a response: %v, family %v", err, about.Options.Family)
	}
	for want, q := range map[string]*Request{
		`inputs: the model is no ONNX file, and reads the columns ["a" "b"] by their names`: {Inputs: map[string][]string{"x": {"a"}}, Rows: rows},
		`reference: the model is no ONNX file whose softmax would have a class "c"`:         {Class: "c", Rows: rows},
		`no column "b" in the data`: {Rows: FilesOf(table(t, "a"))},
	} {
		q.Model, q.Open, q.Options = programs(t), new(onnx.Options), new(decompose.Options)
		_, err := q.Ready(t.Context())
		option := new(OptionError)
		if errors.As(err, &option) {
			err = errors.New(option.Option + ": " + err.Error())
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestReference: a result says how its network was found and read: what was asked for, and what was decided in its place.
func TestReference(t *testing.T) {
	stumps, err := Load(filepath.Join("..", "..", "..", "testdata", "zoo", "networks", "lightgbm", "stumps.onnx"), 0)
	if err != nil {
		t.Fatal(err)
	}
	line := lineOf(t, nil)
	for _, c := range []struct {
		name    string
		network *Network
		columns []string
		inputs  map[string][]string
		open    onnx.Options
		want    Reference
	}{
		{"by name", line, []string{"b", "a"}, nil, onnx.Options{}, Reference{}},
		{"an input that is named", line, []string{"u", "b"}, map[string][]string{"a": {"u"}}, onnx.Options{}, Reference{BoundBy: map[string]string{"a": ByOption}}},
		{"by position", stumps, []string{"u", "v", "w", "x"}, nil, onnx.Options{MaxOrder: 2}, Reference{BoundBy: map[string]string{"X": ByPosition}, MaxOrder: 2}},
		{"trees of no order", stumps, []string{"u", "v", "w", "x"}, nil, onnx.Options{}, Reference{BoundBy: map[string]string{"X": ByPosition}, TreeOrder: onnx.DefaultTreeOrder}},
		{"trees as a whole", stumps, []string{"u", "v", "w", "x"}, nil, onnx.Options{NoStructure: true}, Reference{BoundBy: map[string]string{"X": ByPosition}, NoStructure: true}},
		{"what was asked for", line, []string{"a", "b"}, nil, onnx.Options{Deep: []string{"a"}, Learned: []string{"b"}, Predictor: []string{"eta"}, Clip: 0.01},
			Reference{Deep: []string{"a"}, Learned: []string{"b"}, Predictor: []string{"eta"}, Clip: 0.01}},
	} {
		q := &Request{Network: c.network, Rows: FilesOf(table(t, c.columns...)), Inputs: c.inputs, Open: &c.open, Options: &decompose.Options{Columns: decompose.Columns{Response: "y"}}}
		bind, err := q.bind(c.network)
		if err != nil {
			t.Fatal(err)
		}
		got := q.reference(bind, false)
		c.want.Path, c.want.SHA256, c.want.Inputs = c.network.Path, c.network.SHA256, got.Inputs
		if d := cmp.Diff(c.want, got, cmpopts.EquateEmpty()); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
	a, b := &Network{Graph: line.Graph, Path: filepath.Join("nets", "a.onnx"), SHA256: "1"}, &Network{Graph: line.Graph, Path: filepath.Join("nets", "b.onnx"), SHA256: "2"}
	q := &Request{Network: a, Others: []*Network{b}, Open: new(onnx.Options), Options: new(decompose.Options)}
	bind := onnx.Binding{{Input: "a", Columns: []string{"a"}}, {Input: "b", Columns: []string{"b"}}}
	if ref := q.reference(bind, false); ref.Path != "nets" || ref.SHA256 != "" || len(ref.Members) != 2 || ref.Members[1].SHA256 != "2" {
		t.Errorf("%+v", ref)
	}
}

// TestExplaining: "." stands for the columns that the network reads; for a model known by its predictions, for all that may explain these.
func TestExplaining(t *testing.T) {
	schema := data.Schema{{Name: "a", Numeric: true}, {Name: "g"}, {Name: "p", Numeric: true}, {Name: "y", Numeric: true}, {Name: "customer", Numeric: true},
		{Name: "picture", Width: 9}, {Name: "nested", Refused: true}, {Name: "Unnamed: 0", Numeric: true}}
	predicted, err := Predicted([][]string{{"p"}}, "identity", 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		network *Network
		want    []string
	}{{predicted[0], []string{"a", "g"}}, {&Network{}, []string{"a", "b"}}, {nil, []string{"a", "b"}}} {
		q := &Request{Network: c.network, Rows: FilesOf(held{schema: schema}), ID: "customer", Options: &decompose.Options{Columns: decompose.Columns{Response: "y"}}}
		if got := q.explaining(programs(t)); !slices.Equal(got, c.want) {
			t.Errorf("%v: %q, want %q", c.network, got, c.want)
		}
	}
}

// TestRanking: pairs are ranked unless nobody asks for the remainder; then rows are sampled for smooths that may grow alone.
func TestRanking(t *testing.T) {
	for _, c := range []struct {
		formula      string
		interactions int
		sampled      []string
		visitors     int
	}{
		{"~ a", 0, []string{"a", "b"}, 1},
		{"~ a", AutoInteractions, []string{"a", "b"}, 1},
		{"~ a", NoInteractions, nil, 0},
		{"~ .", NoInteractions, []string{"a", "b"}, 0},
	} {
		q := &Request{Network: lineOf(t, nil), Rows: FilesOf(table(t, "a", "b")), Open: new(onnx.Options), Formulas: []string{c.formula}, Interactions: c.interactions, Options: new(decompose.Options)}
		d, err := q.Ready(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var sampled []string
		if d.sample != nil {
			sampled = d.sample.Columns()
		}
		if got := len(d.Ranking()); got != c.visitors || !slices.Equal(sampled, c.sampled) {
			t.Errorf("%s, %d pairs: %d rankings of %q, want %d of %q", c.formula, c.interactions, got, sampled, c.visitors, c.sampled)
		}
	}
}

// secret is a term that does not say what it computes.
type secret struct{ decompose.Term }

// TestExport: what cannot be written into the network's file is refused if it is to be, and not otherwise.
func TestExport(t *testing.T) {
	for _, ask := range []bool{true, false} {
		q := &Request{Network: lineOf(t, nil), Rows: FilesOf(table(t, "a", "b", "c")), Open: new(onnx.Options), Formulas: []string{"~ c"}, Export: ask, Options: new(decompose.Options),
			Terms: func(_ string, made []decompose.Prepared) ([]decompose.Prepared, error) {
				for i := range made {
					for j := range made[i].Blocks {
						made[i].Blocks[j].Term = secret{made[i].Blocks[j].Term}
					}
				}
				return made, nil
			}}
		if _, err := q.Ready(t.Context()); (err != nil) != ask || ask && !strings.Contains(err.Error(), "does not say what it computes") {
			t.Errorf("to be written %t: %v", ask, err)
		}
	}
	q := &Request{Model: programs(t), Rows: FilesOf(table(t, "a", "b")), Open: new(onnx.Options), Formulas: []string{"~ a"}, Export: true, Options: new(decompose.Options)}
	if _, err := q.Ready(t.Context()); err != nil {
		t.Errorf("terms of a model of a program: %v", err)
	}
	predicted, err := Predicted([][]string{{"a"}}, "identity", 0)
	if err != nil {
		t.Fatal(err)
	}
	q = &Request{Network: predicted[0], Rows: FilesOf(table(t, "a", "b")), Open: new(onnx.Options), Formulas: []string{"~ b"}, Export: true, Options: new(decompose.Options)}
	if _, err := q.Ready(t.Context()); err != nil {
		t.Errorf("terms of predictions: %v", err)
	}
}

// scoresOf is a network of two numbers that has outputs without heads: one of three numbers, two of two, or three of one.
func scoresOf(t *testing.T, outputs ...string) *Network {
	t.Helper()
	b := onnxpb.NewBuilder(17)
	b.AddInput("x", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 2)
	width := 4 - len(outputs)
	for _, name := range outputs {
		b.AddInit("w of "+name, []int{2, width}, []float64{1, 2, -1, 0.5, 3, 1}[:2*width]...)
		b.AddNode("MatMul", []string{"x", "w of " + name}, name)
		b.Output(name, onnxpb.TensorProto_FLOAT, onnxpb.Rows, width)
	}
	raw, err := b.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	n, err := LoadFrom(bytes.NewReader(raw), 0)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestPlainClasses: several predictors of one output without a head are scores of classes if the family has classes.
func TestPlainClasses(t *testing.T) {
	for _, c := range []struct {
		network *Network
		family  string
		want    int // classes
	}{{scoresOf(t, "scores"), "categorical", 3}, {scoresOf(t, "scores"), "", 0}, {scoresOf(t, "mu", "sigma"), "categorical", 0}, {scoresOf(t, "a", "b", "c"), "categorical", 0}} {
		q := &Request{Network: c.network, Family: c.family, Rows: FilesOf(table(t, "a", "b")), Options: new(decompose.Options)}
		m, err := onnx.NewModel(c.network.Graph, onnx.Binding{{Input: "x", Columns: []string{"a", "b"}}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		ref, err := q.classes(m, "")
		got := 0
		if ref != nil {
			got = len(ref.Heads[0].Classes)
		}
		if err != nil || got != c.want {
			t.Errorf("family %q: %d classes of %q, want %d (%v)", c.family, got, m.Predictors(), c.want, err)
		}
	}
}

// TestSeen: a network judges missing numbers of its own columns, unless a term or a role reads them, too.
func TestSeen(t *testing.T) {
	for _, c := range []struct{ others, roles, want []string }{
		{nil, nil, []string{"a", "b"}}, {[]string{"a"}, nil, []string{"b"}}, {nil, []string{"b"}, []string{"a"}}, {[]string{"b"}, []string{"a"}, nil},
	} {
		if got := seen(programs(t), nil, c.others, c.roles, FilesOf(table(t, "a", "b"))).network; !slices.Equal(got, c.want) {
			t.Errorf("terms read %q, roles are %q: %q, want %q", c.others, c.roles, got, c.want)
		}
	}
}

// TestFamiliesOfPredictions: what cannot be said of a response by columns of predictions names the link as a way out, or the family.
func TestFamiliesOfPredictions(t *testing.T) {
	for _, c := range []struct {
		columns      []string
		link, family string
		want         string // of the error
	}{
		{[]string{"p"}, "identity", "", ""},
		{[]string{"p"}, "identity", "poisson", ""},
		{[]string{"p"}, "log", "poisson", ""},
		{[]string{"p"}, "log", "binomial", `the links of its predictors are ["logit"], and the predictions have the link log: name the family's link`},
		{[]string{"p", "q"}, "identity", "", `nothing says how "y" hangs on the 2 predictors of the model: name its family`},
		{[]string{"p", "q"}, "softmax", "", ""},
		{[]string{"p", "q"}, "softmax", "poisson", `predictor 1 of the model ends in "sigmoid", which is not the inverse of the family's link`},
		{[]string{"p", "q"}, "identity", "poisson", `family poisson takes 1 (the logarithm of the mean), but the model has 2 predictors`},
	} {
		nets, err := Predicted([][]string{c.columns}, c.link, 0)
		if err != nil {
			t.Fatal(err)
		}
		tab := data.NewTable(40)
		for j, name := range []string{"p", "q", "a", "y"} {
			x := make([]float64, 40)
			for i := range x {
				if x[i] = 0.25 + 0.5*float64(i%2); j%2 == 1 {
					x[i] = 1 - x[i]
				}
			}
			if err := tab.AddNumeric(name, x); err != nil {
				t.Fatal(err)
			}
		}
		q := &Request{Network: nets[0], Rows: FilesOf(tab), Open: new(onnx.Options), Formulas: []string{"~ a"}, Family: c.family, Options: &decompose.Options{Columns: decompose.Columns{Response: "y"}}}
		d, err := q.Ready(t.Context())
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q, link %s, family %q: %v, want %q", c.columns, c.link, c.family, err, c.want)
		}
		if err != nil {
			continue
		}
		asPredictors := slices.ContainsFunc(d.Notes, func(note string) bool { return strings.Contains(note, "takes them as predictors of its links") })
		if asPredictors != (c.link == "identity" && c.family == "poisson") {
			t.Errorf("%q, link %s, family %q: notes %q", c.columns, c.link, c.family, d.Notes)
		}
	}
}

// wide is a network with the learned functions of learned, and an array among its columns.
type wide struct{ learned }

func (wide) Columns() []string       { return []string{"a", "b", "c", "d", "img"} }
func (wide) Tensors() map[string]int { return map[string]int{"img": 9} }

// ofFour has learned functions of one column and of four.
type ofFour struct{ wide }

func (ofFour) Blocks(int) (all []decompose.Block) {
	for _, columns := range [][]string{{"a"}, {"a", "b", "c", "d"}} {
		all = append(all, decompose.Block{Term: &decompose.Tap{Tensor: "f", Features: columns, Width: 2}})
	}
	return all
}

// TestWideSample: rows are sampled for the means of learned functions of several columns, with weights, without arrays.
func TestWideSample(t *testing.T) {
	one := &Network{Path: "one.onnx"}
	for _, c := range []struct {
		model   decompose.Model
		others  []*Network
		terms   decompose.Terms
		weights string
		want    []string
	}{
		{wide{}, nil, "", "", []string{"a", "b", "c", "d"}},
		{wide{}, nil, "", "w", []string{"a", "b", "c", "d", "w"}},
		{wide{}, nil, decompose.Fitted, "", nil},
		{wide{}, []*Network{one}, "", "", nil},
		{programs(t), nil, "", "", nil},
		{ofFour{}, nil, "", "", nil},
	} {
		o := &decompose.Options{Projection: decompose.Projection{Terms: c.terms}, Columns: decompose.Columns{Weights: c.weights}}
		var got []string
		if s := (&Request{Network: one, Others: c.others, Options: o}).wideSample(c.model); s != nil {
			got = slices.Compact(s.Columns())
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%T of %d networks, terms %q, weights %q: %q, want %q", c.model, 1+len(c.others), c.terms, c.weights, got, c.want)
		}
	}
}

// TestFormulaUnasked: main effects that a learned function of two columns may hold go to terms of these columns, where they vary.
func TestFormulaUnasked(t *testing.T) {
	b := onnxpb.NewBuilder(17)
	for _, name := range []string{"a", "b", "c"} {
		b.AddInput(name, onnxpb.TensorProto_DOUBLE, onnxpb.Rows, 1)
	}
	b.AddNode("Add", []string{"a", "b"}, "sum")
	b.AddNode("Tanh", []string{"sum"}, "pair")
	b.AddNode("Add", []string{"pair", "c"}, "eta")
	b.Output("eta", onnxpb.TensorProto_DOUBLE, onnxpb.Rows, 1)
	raw, err := b.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	net, err := LoadFrom(bytes.NewReader(raw), 0)
	if err != nil {
		t.Fatal(err)
	}
	same := data.NewTable(120)
	for _, name := range []string{"a", "b", "c", "y"} {
		if err := same.AddNumeric(name, slices.Repeat([]float64{1}, 120)); err != nil {
			t.Fatal(err)
		}
	}
	terms := `~ s(a, bs = "bs", k = 5, knots = "quantiles") + s(b, bs = "bs", k = 5, knots = "quantiles")`
	for _, c := range []struct {
		rows            *data.Table
		chosen, leftOut []string
	}{{table(t, "a", "b", "c"), []string{terms}, nil}, {same, nil, []string{"a, b (constant)"}}} {
		q := &Request{Network: net, Rows: FilesOf(c.rows), Open: new(onnx.Options), Interactions: NoInteractions, Options: new(decompose.Options)}
		d, err := q.Ready(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(d.Chosen, c.chosen) || !slices.Equal(q.Formulas, c.chosen) || !slices.Equal(d.LeftOut, c.leftOut) {
			t.Errorf("%q, left out %q; want %q, %q", d.Chosen, d.LeftOut, c.chosen, c.leftOut)
		}
		for _, b := range d.Model.Blocks(0) {
			if tap, ok := b.Term.(*decompose.Tap); ok && (len(tap.Means) > 0) != (c.chosen != nil) {
				t.Errorf("%s has %d means over its columns", tap.Name(), len(tap.Means))
			}
		}
	}
}

// TestRowSize: a row has its number, 8 bytes for a number or a text, 4 for a code beside a number, and arrays as wide as they are.
func TestRowSize(t *testing.T) {
	schema := data.Schema{{Name: "x", Numeric: true}, {Name: "g", Categorical: true}, {Name: "both", Numeric: true, Categorical: true}, {Name: "img", Width: 10}}
	for _, c := range []struct {
		columns []string
		want    int64
	}{{nil, 8}, {[]string{"x"}, 16}, {[]string{"x", "g"}, 24}, {[]string{"both"}, 20}, {[]string{"img", "x"}, 96}} {
		if got := RowSize(schema, c.columns); got != c.want {
			t.Errorf("%q: %d bytes, want %d", c.columns, got, c.want)
		}
	}
}

// TestWithoutIntercept: a formula with 0, or less 1, leaves the intercept of its predictor, or of all, as the network has it.
func TestWithoutIntercept(t *testing.T) {
	three := map[string][]string{"x": {"a", "b"}}
	for _, c := range []struct {
		network *Network
		inputs  map[string][]string
		formula string
		want    []string
	}{
		{lineOf(t, nil), nil, "~ a", nil}, {lineOf(t, nil), nil, "~ 0 + a", []string{"eta"}}, {lineOf(t, nil), nil, "~ a - 1", []string{"eta"}},
		{scoresOf(t, "mu", "nu", "tau"), three, "~ 0 + a", []string{"mu", "nu", "tau"}}, {scoresOf(t, "mu", "nu", "tau"), three, "nu = ~ 0 + a", []string{"nu"}},
	} {
		q := &Request{Network: c.network, Rows: FilesOf(table(t, "a", "b")), Inputs: c.inputs, Open: new(onnx.Options), Formulas: []string{c.formula}, Options: new(decompose.Options)}
		if _, err := q.Ready(t.Context()); err != nil || !slices.Equal(q.Options.WithoutIntercept, c.want) {
			t.Errorf("%s: %q, want %q (%v)", c.formula, q.Options.WithoutIntercept, c.want, err)
		}
	}
}

// TestResponseOfClasses: texts of a response are the numbers of the classes; the family knows which class others are compared with.
func TestResponseOfClasses(t *testing.T) {
	classes := []string{"scores1", "scores2", "scores3"}
	for class, reference := range map[string]int{"": -1, "scores2": 1, "2": 2} {
		tab := data.NewTable(60)
		texts := make([]string, 60)
		for j, name := range []string{"a", "b"} {
			x := make([]float64, 60)
			for i := range x {
				x[i], texts[i] = math.Sin(float64(i*(j+2))), classes[i*i%3]
			}
			if err := tab.AddNumeric(name, x); err != nil {
				t.Fatal(err)
			}
		}
		if err := tab.AddTexts("y", texts); err != nil {
			t.Fatal(err)
		}
		q := &Request{Network: scoresOf(t, "scores"), Rows: FilesOf(tab), Inputs: map[string][]string{"x": {"a", "b"}}, Open: new(onnx.Options), Formulas: []string{"~ a"}, Class: class,
			Family: "categorical", Options: &decompose.Options{Columns: decompose.Columns{Response: "y"}}}
		d, err := q.Ready(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		want, err := family.NewCategorical(3, reference)
		predictors := slices.DeleteFunc(slices.Clone(classes), func(c string) bool { return reference >= 0 && c == classes[reference] })
		if err != nil || q.Options.Family != want || !slices.Equal(d.Base.Predictors(), predictors) {
			t.Errorf("reference %q: family %+v of %q, want %+v of %q (%v)", class, q.Options.Family, d.Base.Predictors(), want, predictors, err)
		}
		for b, err := range d.Rows.Batches(t.Context(), []string{"y"}) {
			if err != nil {
				t.Fatal(err)
			}
			y, err := b.Numeric("y")
			for i, v := range y {
				if classes[int(v)] != texts[b.Row(i)] {
					t.Fatalf("row %d is %g, and was %s", b.Row(i), v, texts[b.Row(i)])
				}
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestRowsThatFit: rows are read once if all that is read of them is known to stay in memory.
func TestRowsThatFit(t *testing.T) {
	rows := FilesOf(table(t, "a", "b")) // 120 of them
	unknown := FilesOf(held{schema: rows.Schema()})
	for _, c := range []struct {
		rows    files.Source
		limit   int64
		columns []string
		want    bool
	}{
		{rows, 120 * 16, []string{"a"}, true}, {rows, 120*16 - 1, []string{"a"}, false}, {rows, 120 * 16, []string{"a", "a"}, true},
		{rows, 120 * 16, []string{"a", "b"}, false}, {rows, 0, nil, false}, {unknown, 1 << 40, []string{"a"}, false},
	} {
		if got := cached(c.rows, c.limit).fits(c.columns); got != c.want {
			t.Errorf("%q in %d bytes: %t, want %t", c.columns, c.limit, got, c.want)
		}
	}
}
