package boosters

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/pho-go/pho/adapters/boosters/internal/ebm"
	"github.com/pho-go/pho/adapters/onnx"
)

// TestEBM: predictions are InterpretML's, whose sums of float64 are in the same order.
func TestEBM(t *testing.T) {
	cases := 0
	for _, f := range tabledFiles(t, "interpret") {
		for _, c := range f.Cases {
			cases++
			t.Run(fmt.Sprintf("%s/%s", f.Version, c.Name), func(t *testing.T) { c.compare(t, []byte(c.JSON), 1e-14) })
		}
	}
	if cases < 40 {
		t.Errorf("%d cases", cases)
	}
}

// TestEBMStructure: a machine is additive, a term for each of its own, with nothing left for a deep part.
func TestEBMStructure(t *testing.T) {
	for _, f := range tabledFiles(t, "interpret") {
		i := slices.IndexFunc(f.Cases, func(c tabledCase) bool { return c.Name == "categories, pairs" })
		g, err := Load(bytes.NewReader([]byte(f.Cases[i].JSON)), nil)
		if err != nil {
			t.Fatal(err)
		}
		own, err := ebm.Read([]byte(f.Cases[i].JSON))
		if err != nil {
			t.Fatal(err)
		}
		s, err := onnx.Discover(g, onnx.Unbound(g), nil)
		if err != nil {
			t.Fatal(err)
		}
		if p := s.Predictors[0]; p.Deep != nil || len(p.Terms) != len(own.Terms) || p.Intercept != own.Intercept[0] {
			t.Errorf("%s: %d terms of %d, deep %v, intercept %v of %v", f.Version, len(p.Terms), len(own.Terms), p.Deep, p.Intercept, own.Intercept)
		}
	}
}

// TestEBMCategories: a column has any number of categories, and a truth value that is none is a number. The column's
// name is no sign of another library.
func TestEBMCategories(t *testing.T) {
	const n = 6000
	categories, scores := make([]string, n), make([]string, n+2)
	for i := range scores {
		scores[i] = strconv.Itoa(i)
	}
	for i := range categories {
		categories[i] = strconv.Quote(strconv.Itoa(i))
	}
	file := fmt.Sprintf(`{"version":"1.0","ebm":{"outputs":[{"link":"identity"}],"intercept":[0],"features":[{"name":"learner","type":"nominal","categories":[[%s]]}],"terms":[{"term_features":["learner"],"scores":[%s]}]}}`,
		strings.Join(categories, ","), strings.Join(scores, ","))
	g, err := Load(strings.NewReader(file), nil)
	if err != nil {
		t.Fatal(err)
	}
	c := tabledCase{Text: []string{"learner"}, Columns: [][]any{{"", "0", "4999", "5999", "6000", "True", "false", "yes"}}}
	if y := c.compute(t, g, []string{"prediction"})[0]; !slices.Equal(y, []float64{0, 1, 5000, 6000, n + 1, 2, 1, n + 1}) {
		t.Error(y)
	}
}

// TestEBMDamaged: each prefix of a file is an error.
func TestEBMDamaged(t *testing.T) {
	c := tabledFiles(t, "interpret")[0].Cases[2]
	for n := range len(c.JSON) {
		if _, err := ebm.Read([]byte(c.JSON[:n])); err == nil {
			t.Fatalf("%d of %d bytes are read", n, len(c.JSON))
		}
	}
}
