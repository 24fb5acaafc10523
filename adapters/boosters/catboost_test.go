package boosters

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
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
	word := map[string]string{"counters": "counters of categories (CTR)", "text": "text", "embeddings": "embeddings"}
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

// FuzzCatBoost: no file makes the reader panic or take more than its size allows.
func FuzzCatBoost(f *testing.F) {
	for _, file := range tabledFiles(f, "catboost")[:1] {
		for i, c := range file.Cases {
			if i%6 == 0 {
				f.Add([]byte(c.CBM))
				f.Add([]byte(c.JSON))
			}
		}
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		if catboost.Is(file) {
			_, _ = Load(bytes.NewReader(file), &onnx.LoadOptions{MaxMemory: 1 << 28})
		}
	})
}

// TestCatBoostDamaged: each prefix of a file is an error, and so is each byte of a core that is turned round, or the
// model is another one.
func TestCatBoostDamaged(t *testing.T) {
	c := tabledFiles(t, "catboost")[0].Cases[3]
	for n := range len(c.CBM) {
		if _, err := catboost.Read(c.CBM[:n]); err == nil {
			t.Fatalf("%d of %d bytes are read", n, len(c.CBM))
		}
	}
	for i := range c.CBM {
		turned := slices.Clone(c.CBM)
		turned[i] ^= 0xff
		_, _ = Load(bytes.NewReader(turned), nil)
	}
	for n := range len(c.JSON) {
		if _, err := catboost.Read([]byte(c.JSON[:n])); err == nil {
			t.Fatalf("%d of %d bytes are read", n, len(c.JSON))
		}
	}
}
