package boosters

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/pho-go/pho/adapters/boosters/internal/catboost"
	"github.com/pho-go/pho/adapters/onnx"
)

// tabled is a file of testdata whose rows are columns with names.
type tabled struct {
	Version string
	Cases   []tabledCase
	Refused []struct {
		Name      string
		CBM, JSON digits
	}
	Hashes map[string]uint32
}

type tabledCase struct {
	Name            string
	CBM             digits
	JSON            string
	Text            []string // columns of text
	Columns         [][]any
	Score, Response [][]string
}

// digits are bytes as hexadecimal digits: files with much in common then pack well.
type digits []byte

func (d *digits) UnmarshalText(text []byte) error {
	*d = make([]byte, hex.DecodedLen(len(text)))
	_, err := hex.Decode(*d, text)
	return err
}

// tabledFiles are the files of one library.
func tabledFiles(t testing.TB, library string) []tabled { return unpacked[tabled](t, library+"-*") }

// compute runs the model on the rows of the case, whose columns are in the order of the inputs.
func (c *tabledCase) compute(t testing.TB, g *onnx.Graph, tensors []string) [][]float64 {
	t.Helper()
	e, err := onnx.GoEngine{}.Prepare(g, tensors)
	if err != nil {
		t.Fatal(err)
	}
	rows := len(c.Columns[0])
	var dst, numbers [][]float64
	var texts [][]string
	for _, name := range tensors {
		v, ok := g.Tensor(name)
		if !ok {
			t.Fatalf("no tensor %q", name)
		}
		dst = append(dst, make([]float64, rows*v.Width()))
	}
	at := 0
	for _, v := range g.Inputs() {
		var own []float64
		var text []string
		for r := range rows {
			for _, column := range c.Columns[at : at+v.Width()] {
				switch x := column[r].(type) {
				case string:
					text = append(text, x)
				case float64:
					own = append(own, x)
				default:
					if v.Type == "string" {
						text = append(text, "")
					} else {
						own = append(own, math.NaN())
					}
				}
			}
		}
		at += v.Width()
		if text != nil {
			own = nil
		}
		numbers, texts = append(numbers, own), append(texts, text)
	}
	if err := e.(onnx.TextEvaluator).RunTexts(dst, numbers, texts, rows); err != nil {
		t.Fatal(err)
	}
	return dst
}

// compare compares scores and responses with the library's, to the relative error.
func (c *tabledCase) compare(t *testing.T, file []byte, within float64) {
	t.Helper()
	g, err := Load(bytes.NewReader(file), nil)
	if err != nil {
		t.Fatal(err)
	}
	tensors := []string{"pho/score"}
	for _, o := range g.Outputs() {
		tensors = append(tensors, o.Name)
	}
	got := c.compute(t, g, tensors)
	rows := len(c.Columns[0])
	check := func(what string, got []float64, want [][]string) {
		t.Helper()
		flat := parse(t, want)
		if len(got) != len(flat) {
			t.Fatalf("%s: %d numbers, want %d", what, len(got), len(flat))
		}
		for i, w := range flat {
			if !(math.Abs(got[i]-w) <= within*max(math.Abs(w), 1)) {
				var row []any
				for _, column := range c.Columns {
					row = append(row, column[i/(len(flat)/rows)])
				}
				t.Fatalf("%s %d of row %d: %v, want %v; the row is %q", what, i%(len(flat)/rows), i/(len(flat)/rows), got[i], w, row)
			}
		}
	}
	check("score", got[0], c.Score)
	check("response", answers("", "", got[1:], rows), c.Response)
}

// TestCatBoost: the binary file and its JSON predict what the library predicts. Numbers are sums of float64 in the
// library's order, but for the bias, which it adds last.
func TestCatBoost(t *testing.T) {
	cases := 0
	for _, f := range tabledFiles(t, "catboost") {
		for _, c := range f.Cases {
			cases++
			t.Run(fmt.Sprintf("%s/%s", f.Version, c.Name), func(t *testing.T) {
				c.compare(t, c.CBM, 1e-14)
				if c.JSON != "" {
					c.compare(t, []byte(c.JSON), 1e-14)
				}
				binary, err := catboost.Read(c.CBM)
				if err != nil || binary.Version != "" && binary.Version != f.Version { // not every release says it
					t.Errorf("%v: written by version %q", err, binary.Version)
				}
			})
		}
	}
	if cases < 100 && remade == "" {
		t.Errorf("%d cases", cases)
	}
}

// TestCatBoostRefuses: what is not read is named.
func TestCatBoostRefuses(t *testing.T) {
	word := map[string]string{"several targets": "several targets", "text": "text", "embeddings": "embeddings"}
	for _, f := range tabledFiles(t, "catboost") {
		for _, c := range f.Refused {
			for _, file := range [][]byte{c.CBM, c.JSON} {
				if file == nil {
					continue
				}
				if _, err := Load(bytes.NewReader(file), nil); err == nil || !strings.Contains(err.Error(), word[c.Name]) {
					t.Errorf("%s %s: %v", f.Version, c.Name, err)
				}
			}
		}
	}
}

// TestCatBoostHash: categories have CatBoost's numbers, at every length at which the hash works otherwise.
func TestCatBoostHash(t *testing.T) {
	for _, f := range tabledFiles(t, "catboost") {
		if len(f.Hashes) < 25 {
			t.Errorf("%d hashes", len(f.Hashes))
		}
		for category, want := range f.Hashes {
			if got := uint32(catboost.Hash(category)); got != want {
				t.Errorf("%d bytes %.20q: %d, want %d", len(category), category, got, want)
			}
		}
	}
}

// TestCatBoostDamaged: each prefix of a file is an error, and so is each byte of it that is turned round, or the
// model is another one: of one with statistics some of them.
func TestCatBoostDamaged(t *testing.T) {
	cases := tabledFiles(t, "catboost")[0].Cases
	damage := func(c *tabledCase, step int) {
		for n := 0; n < len(c.CBM); n += step {
			if _, err := catboost.Read(c.CBM[:n]); err == nil {
				t.Fatalf("%s: %d of %d bytes are read", c.Name, n, len(c.CBM))
			}
			turned := slices.Clone(c.CBM)
			turned[n] ^= 0xff
			_, _ = Load(bytes.NewReader(turned), nil)
		}
		for n := 0; n < len(c.JSON); n += 5 * step {
			if _, err := catboost.Read([]byte(c.JSON[:n])); err == nil {
				t.Fatalf("%s: %d of %d bytes are read", c.Name, n, len(c.JSON))
			}
		}
	}
	damage(&cases[3], 1)
	damage(&cases[slices.IndexFunc(cases, func(c tabledCase) bool { return c.Name == "statistics, all kinds" })], 13)
}

// statisticsFile is a model of x, c and k. Tree 0 asks for the share of a target by c, (3 + 0.5)/(4 + 1) of "a" and 0.1 of "b",
// whether it is above 0.4; tree 1 for the rows with c, k and x > 1, 5 of the 10 of the most frequent combination for
// "a", "1" and yes, whether 5/(10 + 1) is above 0.2.
func statisticsFile() string {
	key := func(b ...int32) (key uint64) {
		for _, b := range b {
			key = catboost.Mixer * (key + catboost.Mixer*uint64(int64(b)))
		}
		return key
	}
	a, b, one := catboost.Hash("a"), catboost.Hash("b"), catboost.Hash("1")
	c := `{"cat_feature_index":0,"combination_element":"cat_feature_value"}`
	three := c + `,{"cat_feature_index":1,"combination_element":"cat_feature_value"},{"border":1,"combination_element":"float_feature","float_feature_index":0}`
	identifier := func(elements, kind string) string {
		return strconv.Quote(fmt.Sprintf(`{"identifier":[%s],"type":"%s"}`, elements, kind))
	}
	statistic := func(elements, kind, border, prior string) string {
		return fmt.Sprintf(`{"borders":[%s],"ctr_type":"%s","elements":[%s],"prior_denomerator":1,"prior_numerator":%s,"scale":1,"shift":0,"target_border_idx":0}`, border, kind, elements, prior)
	}
	return fmt.Sprintf(`{"ctr_data":{%s:{"counter_denominator":0,"hash_map":["%d",1,3,"18446744073709551615",9,9,"%d",4,0],"hash_stride":3},`+
		`%s:{"counter_denominator":10,"hash_map":["%d",5],"hash_stride":2}},`+
		`"features_info":{"categorical_features":[{"feature_id":"c","feature_index":0,"flat_feature_index":1},{"feature_id":"k","feature_index":1,"flat_feature_index":2}],`+
		`"ctrs":[%s,%s],"float_features":[{"borders":[1],"feature_id":"x","feature_index":0,"flat_feature_index":0,"nan_value_treatment":"AsFalse"}]},`+
		`"oblivious_trees":[{"leaf_values":[10,20],"splits":[{"border":0.4,"split_index":1,"split_type":"OnlineCtr"}]},{"leaf_values":[0,1],"splits":[{"border":0.2,"split_index":2,"split_type":"OnlineCtr"}]}],`+
		`"scale_and_bias":[1,[0]]}`,
		identifier(c, "Borders"), key(a), key(b), identifier(three, "Counter"), key(a, one, 1), statistic(c, "Borders", "0.4", "0.5"), statistic(three, "Counter", "0.2", "0"))
}

// TestCatBoostStatistics: trees that ask for statistics are terms of the columns whose categories, and answers, have them.
func TestCatBoostStatistics(t *testing.T) {
	g, err := Load(strings.NewReader(statisticsFile()), nil)
	if err != nil {
		t.Fatal(err)
	}
	rows := tabledCase{Columns: [][]any{{2., 1., 2., 2., math.NaN(), 2.}, {"a", "a", "b", "new", "a", "a"}, {"1", "1", "1", "1", "1", "True"}}}
	if y, want := rows.compute(t, g, []string{"prediction"})[0], []float64{21, 20, 10, 20, 20, 21}; !slices.Equal(y, want) {
		t.Errorf("%v, want %v", y, want)
	}
	s, err := onnx.Discover(g, onnx.Unbound(g), nil)
	if err != nil {
		t.Fatal(err)
	}
	var terms []string
	for _, term := range s.Predictors[0].Terms {
		terms = append(terms, term.Name)
	}
	if want := []string{"f(c)", "f(x,c,k)"}; !slices.Equal(terms, want) {
		t.Errorf("the terms are %q, want %q", terms, want)
	}
}

// TestCatBoostStatisticsDamaged: what a file says of statistics is checked.
func TestCatBoostStatisticsDamaged(t *testing.T) {
	for from, c := range map[string]struct{ to, want string }{
		`"ctr_type":"Borders"`:                     {`"ctr_type":"New"`, `of the kind "New"`},
		`"ctr_type":"Counter"`:                     {`"ctr_type":"Buckets"`, "no counts"},
		`"target_border_idx":0`:                    {`"target_border_idx":1`, "class 1 of 2"},
		`"target_border_idx":0},`:                  {`"target_border_idx":-1},`, "class -1 of 2"},
		`"hash_stride":3`:                          {`"hash_stride":4`, "damaged"},
		`"hash_stride":2`:                          {`"hash_stride":1`, "damaged"},
		`,1,3,`:                                    {`,1,3e9,`, "the count"},
		`"split_index":1`:                          {`"split_index":2`, "border"},
		`"split_index":2`:                          {`"split_index":-2`, "border"},
		`"cat_feature_index":0,`:                   {`"cat_feature_index":7,`, "column"},
		`"combination_element":"float_feature"`:    {`"combination_element":"text"`, `the kind "text"`},
		`"cat_feature_value"}],"prior_denomerator`: {`"cat_feature_exact_value"}],"prior_denomerator`, "no categorical column"},
		`"prior_denomerator":1`:                    {`"prior_denomerator":0`, "Inf"},
		`"ctrs":[`:                                 {`"ctrs":[{"borders":[0.4],"ctr_type":"Borders","elements":[{"cat_feature_index":0,"combination_element":"cat_feature_value"}],"prior_denomerator":1,"prior_numerator":0.5,"scale":1},`, "several targets"},
	} {
		file := strings.Replace(statisticsFile(), from, c.to, 1)
		if file == statisticsFile() {
			t.Errorf("the file has no %s", from)
		}
		if _, err := Load(strings.NewReader(file), nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.to, err, c.want)
		}
	}
}
