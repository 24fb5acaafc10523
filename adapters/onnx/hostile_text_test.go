package onnx

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/pho-go/pho/adapters/onnx/internal/graphtest"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// texts is an attribute of several texts.
func texts(name string, v ...string) onnxpb.Attr {
	return func() (*onnxpb.AttributeProto, error) {
		a := &onnxpb.AttributeProto{Name: name, Type: onnxpb.AttributeProto_STRINGS}
		for _, s := range v {
			a.Strings = append(a.Strings, []byte(s))
		}
		return a, nil
	}
}

// mlFile is a model with inputs x [N 3], k (int64 [N]) and s (text [N 1]).
func mlFile(t *testing.T, nodes func(b *onnxpb.Builder)) []byte {
	t.Helper()
	b := onnxpb.NewBuilder(20)
	b.Import("ai.onnx.ml", 3)
	b.Import("pho", 1)
	b.Import("com.microsoft", 1)
	b.AddInput("x", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 3)
	b.AddInput("k", onnxpb.TensorProto_INT64, onnxpb.Rows)
	b.AddInput("s", onnxpb.TensorProto_STRING, onnxpb.Rows, 1)
	nodes(b)
	if len(b.Model().Graph.Output) == 0 {
		b.Model().Graph.Output = append(b.Model().Graph.Output, &onnxpb.ValueInfoProto{Name: "y"})
	}
	file, err := proto.Marshal(b.Model())
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// Files that lie about texts, classes, categories and machines are refused by node, with
// the reason.
func TestHostileText(t *testing.T) {
	ml := func(op, input string, attrs ...onnxpb.Attr) func(b *onnxpb.Builder) {
		return func(b *onnxpb.Builder) {
			b.AddNodes("ai.onnx.ml", op, strings.Fields(input), []string{"y"}, attrs...)
		}
	}
	plain := func(op, input string, attrs ...onnxpb.Attr) func(b *onnxpb.Builder) {
		return func(b *onnxpb.Builder) { b.AddNode(op, strings.Fields(input), "y", attrs...) }
	}
	part := func(op, input string, attrs ...onnxpb.Attr) func(b *onnxpb.Builder) {
		return func(b *onnxpb.Builder) { b.AddNodes("pho", op, strings.Fields(input), []string{"y"}, attrs...) }
	}
	svm := func(attrs ...onnxpb.Attr) func(b *onnxpb.Builder) {
		return ml("SVMClassifier", "x", append([]onnxpb.Attr{onnxpb.Floats("kernel_params", 1, 0, 2), onnxpb.Text("kernel_type", "RBF"), onnxpb.Ints("classlabels_ints", 1, 2)}, attrs...)...)
	}
	constant := func(data [][]byte, raw []byte, dims ...int64) func(b *onnxpb.Builder) {
		return func(b *onnxpb.Builder) {
			b.Model().Graph.Initializer = append(b.Model().Graph.Initializer, &onnxpb.TensorProto{Name: "c", DataType: int32(onnxpb.TensorProto_STRING), Dims: dims, StringData: data, RawData: raw})
			b.Model().Graph.Node = append(b.Model().Graph.Node, &onnxpb.NodeProto{OpType: "Equal", Input: []string{"s", "c"}, Output: []string{"y"}})
		}
	}
	for name, c := range map[string]struct {
		nodes func(b *onnxpb.Builder)
		want  string
	}{
		"arithmetic on text": {plain("Add", "s s"), `input 0 ("s") is text, and the operator is computed of numbers alone`},
		"text as positions":  {plain("Gather", "x s", onnxpb.Int("axis", 1)), `indices must be integers, are string`},
		"text and numbers":   {plain("Equal", "s k"), `have types string and int64`},
		"text as a shape": {func(b *onnxpb.Builder) {
			b.AddNode("Constant", nil, "c", texts("value_strings", "a"))
			b.AddNode("Reshape", []string{"x", "c"}, "y")
		}, `onnx: node "y" (Reshape)`},
		"too few texts":          {constant([][]byte{[]byte("a")}, nil, 3), `initializer "c": 1 texts, but shape [3] needs 3`},
		"raw texts":              {constant(nil, []byte("abc"), 3), `initializer "c": 0 texts, but shape [3] needs 3`},
		"a shape that overflows": {constant(nil, nil, 1<<40, 1<<40), `overflows`},
		"a negative size":        {constant(nil, nil, -1), `impossible size -1`},
		"no such pattern":        {plain("RegexFullMatch", "s", onnxpb.Text("pattern", "(a")), `its pattern is not one of RE2`},
		"a pattern that escapes": {plain("RegexFullMatch", "s", onnxpb.Text("pattern", "a)|(?:b")), `its pattern is not one of RE2`},
		"stopwords":              {plain("StringNormalizer", "s", texts("stopwords", "a")), `removes stopwords`},
		"numbers normalised":     {plain("StringNormalizer", "x"), `input 0 ("x") must be text, is float`},
		"pieces":                 {plain("StringSplit", "s"), `mixes rows: how many pieces`},
		"tokens":                 {func(b *onnxpb.Builder) { b.AddNodes("com.microsoft", "Tokenizer", []string{"s"}, []string{"y"}) }, `mixes rows: how many pieces`},
		"keys without values":    {ml("LabelEncoder", "s", texts("keys_strings", "a", "b"), onnxpb.Ints("values_int64s", 1)), `has 2 keys and 1 values`},
		"no keys":                {ml("LabelEncoder", "s", onnxpb.Ints("values_int64s", 1)), `has 0 lists of keys, needs one`},
		"two kinds of keys":      {ml("LabelEncoder", "s", texts("keys_strings", "a"), onnxpb.Ints("keys_int64s", 1), onnxpb.Ints("values_int64s", 1)), `has 2 lists of keys`},
		"keys of another kind":   {ml("LabelEncoder", "x", texts("keys_strings", "a"), onnxpb.Ints("values_int64s", 1)), `its keys are string and its input ("x") is float`},
		"categories without end": {ml("OneHotEncoder", "s"), `has 0 categories that are texts and 0 that are integers`},
		"categories of numbers":  {ml("OneHotEncoder", "s", onnxpb.Ints("cats_int64s", 1)), `its categories are of another kind`},
		"mapper":                 {ml("CategoryMapper", "s", texts("cats_strings", "a", "b"), onnxpb.Ints("cats_int64s", 1)), `has 2 keys and 1 values`},
		"imputed widths":         {ml("Imputer", "x", onnxpb.Floats("imputed_value_floats", 1, 2)), `has 2 values of type float to put in for 3 columns`},
		"nothing imputed":        {ml("Imputer", "x"), `has 0 values`},
		"norm":                   {ml("Normalizer", "x", onnxpb.Text("norm", "L7")), `unknown norm "L7"`},
		"norm over rows":         {ml("Normalizer", "k"), `needs columns of numbers`},
		"position outside": {func(b *onnxpb.Builder) {
			b.AddInts("p", 0, 3)
			b.AddNodes("ai.onnx.ml", "ArrayFeatureExtractor", []string{"x", "p"}, []string{"y"})
		}, `position 3 is outside 3 columns`},
		"negative position": {func(b *onnxpb.Builder) {
			b.AddInts("p", -1)
			b.AddNodes("ai.onnx.ml", "ArrayFeatureExtractor", []string{"x", "p"}, []string{"y"})
		}, `position -1 is outside 3 columns`},
		"positions by row":     {ml("ArrayFeatureExtractor", "x k"), `mixes rows`},
		"coefficients":         {ml("LinearRegressor", "x", onnxpb.Floats("coefficients", 1, 2)), `has 2 coefficients for 1 outputs of 3 features`},
		"targets":              {ml("LinearRegressor", "x", onnxpb.Int("targets", 1<<40), onnxpb.Floats("coefficients", 1)), `impossible number of targets`},
		"intercepts":           {ml("LinearRegressor", "x", onnxpb.Floats("coefficients", 1, 2, 3), onnxpb.Floats("intercepts", 1, 2)), `has 2 intercepts for 1 outputs`},
		"one target, logistic": {ml("LinearRegressor", "x", onnxpb.Floats("coefficients", 1, 2, 3), onnxpb.Text("post_transform", "LOGISTIC")), `post_transform LOGISTIC of one target`},
		"transform":            {ml("LinearRegressor", "x", onnxpb.Floats("coefficients", 1, 2, 3, 4, 5, 6), onnxpb.Int("targets", 2), onnxpb.Text("post_transform", "EVIL")), `unknown post_transform "EVIL"`},
		"classes of no kind":   {ml("LinearClassifier", "x", onnxpb.Floats("coefficients", 1, 2, 3), onnxpb.Floats("intercepts", 1)), `one kind is needed`},
		"classes for scores":   {ml("LinearClassifier", "x", onnxpb.Floats("coefficients", 1, 2, 3), onnxpb.Floats("intercepts", 1), onnxpb.Ints("classlabels_ints", 1, 2, 3)), `has 3 class labels for 1 scores`},
		"zipped classes":       {ml("ZipMap", "x", onnxpb.Ints("classlabels_int64s", 1, 2)), `has 2 class labels for 3 columns`},
		"support vectors":      {svm(onnxpb.Ints("vectors_per_class", 1, 1), onnxpb.Floats("support_vectors", 1)), `has 1 numbers of support vectors for 2 vectors of 3 features`},
		"negative vectors":     {svm(onnxpb.Ints("vectors_per_class", -1, 1)), `a class with -1 support vectors`},
		"many vectors":         {svm(onnxpb.Ints("vectors_per_class", 1<<40, 1)), `support vectors`},
		"machine of other rho": {svm(onnxpb.Ints("vectors_per_class", 1, 1), onnxpb.Floats("support_vectors", 1, 2, 3, 4, 5, 6), onnxpb.Floats("coefficients", 1, 2), onnxpb.Floats("rho", 1, 2)), `which do not fit`},
		"kernel":               {ml("SVMRegressor", "x", onnxpb.Int("n_supports", 1), onnxpb.Floats("rho", 1), onnxpb.Text("kernel_type", "MAGIC"), onnxpb.Floats("support_vectors", 1, 2, 3)), `unknown kernel_type "MAGIC"`},
		"one class":            {ml("SVMRegressor", "x", onnxpb.Int("one_class", 1), onnxpb.Floats("rho", 1)), `one_class`},
		"grams of no mode":     {plain("TfIdfVectorizer", "s"), `unknown mode ""`},
		"grams that end early": {plain("TfIdfVectorizer", "s", onnxpb.Text("mode", "TF"), texts("pool_strings", "a"), onnxpb.Ints("ngram_counts", 0, 9), onnxpb.Ints("ngram_indexes", 0)), `n-grams of length 1 reach from 0 to 9 of a pool of 1 items`},
		"grams of huge output": {plain("TfIdfVectorizer", "s", onnxpb.Text("mode", "TF"), texts("pool_strings", "a"), onnxpb.Ints("ngram_counts", 0), onnxpb.Ints("ngram_indexes", 1<<30)), `MaxMemory`},
		"grams of huge length": {plain("TfIdfVectorizer", "s", onnxpb.Text("mode", "TF"), onnxpb.Int("max_gram_length", 1<<40)), `are not possible`},
		"grams of rows":        {plain("TfIdfVectorizer", "k", onnxpb.Text("mode", "TF")), `mixes rows`},
		"a part by itself":     {part("Coupling", "x", onnxpb.Int("classes", 7)), `needs a number for each pair of 7 classes, has 3`},
		"votes of integers":    {part("Votes", "k", onnxpb.Int("classes", 2)), `must have shape [N, features]`},
		"kernel of rows":       {part("Kernel", "x x"), `needs a constant matrix of support vectors`},
		"probit of integers":   {part("Probit", "k"), `must be floating point`},
		"output of text":       {plain("Identity", "s"), ``},
	} {
		t.Run(name, func(t *testing.T) {
			g, err := Load(bytes.NewReader(mlFile(t, c.nodes)), &LoadOptions{MaxMemory: 1 << 26})
			if c.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				if _, err := (GoEngine{}).Prepare(g, []string{"y"}); name == "output of text" && (err == nil || err.Error() != `onnx: tensor "y" is text; only numbers can be asked for`) {
					t.Error(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
}

// A text that doubles with each node ends in an error, not in all memory.
func TestTextsAreBounded(t *testing.T) {
	file := mlFile(t, func(b *onnxpb.Builder) {
		from := "s"
		for _, to := range strings.Fields("a b c d e f g h i j k2 l m n o p q r u v w") {
			b.AddNode("StringConcat", []string{from, from}, to)
			from = to
		}
		b.AddNodes("ai.onnx.ml", "OneHotEncoder", []string{from}, []string{"y"}, texts("cats_strings", "a"))
	})
	g, err := Load(bytes.NewReader(file), nil)
	if err != nil {
		t.Fatal(err)
	}
	e, err := GoEngine{}.Prepare(g, []string{"y"})
	if err != nil {
		t.Fatal(err)
	}
	run := func(s string) error {
		return e.(TextEvaluator).RunTexts([][]float64{make([]float64, 1)}, [][]float64{nil, nil, nil}, [][]string{nil, nil, {s}}, 1)
	}
	if err := run(strings.Repeat("x", 1000)); err == nil || !errors.Is(err, ErrMemory) {
		t.Errorf("%v, want an error of memory", err)
	}
	if err := run("x"); err != nil {
		t.Errorf("after the error: %v", err)
	}
}

// Outputs that cannot be computed are left out, as long as a predictor remains; asked for
// by name, their reason is the error.
func TestPrunedOutputs(t *testing.T) {
	outputs := func(names ...string) func(b *onnxpb.Builder) {
		return func(b *onnxpb.Builder) {
			b.AddNode("Relu", graphtest.In("x"), "y")
			b.AddNodes("com.microsoft", "Magic", graphtest.In("y"), graphtest.In("label"))
			b.AddNode("Identity", graphtest.In("label"), "named")
			b.AddNode("Cast", graphtest.In("y"), "count", onnxpb.Int("to", 7))
			for _, n := range names {
				b.Model().Graph.Output = append(b.Model().Graph.Output, &onnxpb.ValueInfoProto{Name: n})
			}
		}
	}
	g, err := Load(bytes.NewReader(mlFile(t, outputs("named", "y", "label"))), nil)
	if err != nil {
		t.Fatal(err)
	}
	if out := g.Outputs(); len(out) != 1 || out[0].Name != "y" {
		t.Errorf("outputs %v", out)
	}
	s, err := Discover(g, Unbound(g), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := `output "named" is left out, it cannot be computed: node "label" (com.microsoft.Magic): operator "Magic" of domain com.microsoft`
	if len(s.Notes) != 2 || !strings.HasPrefix(s.Notes[0], want) {
		t.Errorf("notes %q, want %s", s.Notes, want)
	}
	for _, name := range []string{"named", "label"} {
		_, err = Discover(g, Unbound(g), &Options{Predictor: []string{name}})
		if err == nil || !strings.Contains(err.Error(), `onnx: Options.Predictor "`+name+`" cannot be computed: node "label" (com.microsoft.Magic)`) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, left := range [][]string{{"named"}, {"named", "count"}} {
		if _, err := Load(bytes.NewReader(mlFile(t, outputs(left...))), nil); err == nil || !strings.HasPrefix(err.Error(), `onnx: node "label" (com.microsoft.Magic)`) {
			t.Errorf("outputs %q: %v", left, err)
		}
	}
}

// Text columns feed inputs of text and no others.
func TestBindText(t *testing.T) {
	g, err := Load(bytes.NewReader(mlFile(t, func(b *onnxpb.Builder) {
		b.AddNodes("ai.onnx.ml", "OneHotEncoder", graphtest.In("s"), graphtest.In("y"), texts("cats_strings", "a"))
	})), nil)
	if err != nil {
		t.Fatal(err)
	}
	text := func(name string) data.Column { return data.Column{Name: name, Categorical: true} }
	numbers := map[string][]string{"x": {"k", "k", "k"}, "k": {"k"}}
	for _, c := range []struct {
		why    string
		schema data.Schema
		extra  []string
		want   string
	}{
		{"by name", append(numericSchema("k"), text("s")), nil, ""},
		{"the text column left", append(numericSchema("k", "more"), text("city")), nil, ""},
		{"numbers held as categories", append(numericSchema("k"), data.Column{Name: "s", Numeric: true, Categorical: true}), nil, ""},
		{"numbers", append(numericSchema("k", "s"), text("city")), []string{"s"}, `onnx: column "s" holds numbers and cannot feed input "s", which takes text; hold the column as categories (Factors)`},
		{"text for numbers", append(numericSchema("k"), text("s"), text("t")), nil, ``},
	} {
		columns := map[string][]string{"x": numbers["x"], "k": numbers["k"]}
		if c.extra != nil {
			columns["s"] = c.extra
		}
		b, err := Bind(g, c.schema, columns)
		if c.want == "" && err == nil {
			if _, err := NewModel(g, b, nil); err != nil {
				t.Errorf("%s: %v", c.why, err)
			}
			continue
		}
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, want %s", c.why, err, c.want)
		}
	}
	_, err = NewModel(g, Binding{{"x", []string{"a", "b", "s"}}, {"k", []string{"a"}}, {"s", []string{"s"}}}, nil)
	if want := `onnx: column "s" is bound to an input of text and to input "x", which takes float; bind a column of numbers to that`; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
