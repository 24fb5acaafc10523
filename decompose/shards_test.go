package decompose_test

import (
	"bytes"
	"context"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// shardTable has the columns that the formulas below read, in rows numbered from
// first: two shards of it have other ranges, other points and other levels.
func shardTable(t *testing.T, n int, seed uint64, levels ...string) *data.Table {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	tab := data.NewTable(n)
	for _, name := range []string{"x0", "x1", "x2"} {
		v := make([]float64, n)
		for i := range v {
			v[i] = r.Float64()
		}
		must(t, tab.AddNumeric(name, v))
	}
	text := make([]string, n)
	for i := range text {
		text[i] = levels[i%len(levels)]
	}
	must(t, tab.AddTexts("g", text))
	return tab
}

// builtBlocks are the blocks of a formula, from the rows of one table.
func builtBlocks(t *testing.T, formula string, tab *data.Table) []decompose.Block {
	t.Helper()
	f, err := basis.Parse(formula, &basis.Options{Schema: tab.Schema()})
	must(t, err)
	blocks, err := decompose.Prepare(context.Background(), tab, f.Specs, nil)
	must(t, err)
	return blocks
}

func shard(t *testing.T, m decompose.Model, blocks []decompose.Block, tab *data.Table, first int) (*decompose.Statistics, decompose.Model) {
	t.Helper()
	m, err := decompose.With(m, map[string][]decompose.Block{"": blocks})
	must(t, err)
	s, err := decompose.Accumulate(context.Background(), m, tab, &decompose.Options{Resources: decompose.Resources{FirstChunk: first}})
	must(t, err)
	return s, m
}

// TestShardsOfOtherTermsAreRefused: shards whose terms were found in each one's own
// rows have columns of the same names and numbers, but not the same columns.
func TestShardsOfOtherTermsAreRefused(t *testing.T) {
	for _, c := range []struct{ formula, term, part string }{
		{`~ s(x0,bs="ps",k=8) + x1`, `"s(x0)"`, "knots"},
		{`~ x1 + s(x0,bs="cr",k=6)`, `"s(x0)"`, "knots"},
		{`~ s(x0,k=8)`, `"s(x0)"`, "basis.points"},
		{`~ s(x0,x1,k=12)`, `"s(x0,x1)"`, "basis.points"},
		{`~ te(x0,x1,bs="ps",k=4)`, `"te(x0,x1)"`, "margins.1.knots"},
		{`~ g`, `"g"`, "levels"},
		{`~ s(g,bs="re")`, `"s(g)"`, "levels"},
		{`~ s(x0,bs="rbf",k=5)`, `"s(x0)"`, "basis"},
		{`~ s(x0,g,bs="fs",k=4)`, `"s(x0,g)"`, "smooth"},
	} {
		one, two := shardTable(t, 4096, 1, "a", "b", "c"), shardTable(t, 900, 2, "a", "b", "d")
		a, _ := shard(t, newFake(1), builtBlocks(t, c.formula, one), one, 0)
		own := builtBlocks(t, c.formula, two)
		b, other := shard(t, newFake(1), own, two, 1)
		before := bytesOf(t, a)
		sent := new(decompose.Statistics)
		must(t, sent.UnmarshalBinary(bytesOf(t, b)))
		for _, next := range []*decompose.Statistics{b, sent} {
			err := a.Merge(next)
			if err == nil {
				t.Errorf("%s: shards with terms of their own rows merge", c.formula)
				continue
			}
			for _, part := range []string{c.term, c.part, "EncodeBlocks"} {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%s: %v; it does not say %s", c.formula, err, part)
				}
			}
		}
		if !bytes.Equal(bytesOf(t, a), before) {
			t.Errorf("%s: a refused merge changed the statistics", c.formula)
		}
		if _, err := decompose.Solve(t.Context(), other, a, nil); err == nil || !strings.Contains(err.Error(), c.term) {
			t.Errorf("%s: solved for terms that the statistics are not of: %v", c.formula, err)
		}
		if _, err := decompose.Constrain(other, a, 0); err == nil || !strings.Contains(err.Error(), c.term) {
			t.Errorf("%s: coordinates of terms that the statistics are not of: %v", c.formula, err)
		}

		// Terms that were sent as JSON are the same.
		doc, err := decompose.EncodeBlocks([][]decompose.Block{builtBlocks(t, c.formula, one)})
		must(t, err)
		shared, err := decompose.DecodeBlocks(doc, basis.Decode)
		must(t, err)
		if c.term == `"g"` || c.term == `"s(g)"` || strings.Contains(c.term, ",g") {
			two = shardTable(t, 900, 2, "a", "b") // levels that the terms do not have are refused by themselves
		}
		b, same := shard(t, newFake(1), shared[0], two, 1)
		if err := a.Merge(b); err != nil {
			t.Errorf("%s: %v", c.formula, err)
		}
		if _, err := decompose.Solve(t.Context(), same, a, nil); err != nil {
			t.Errorf("%s: %v", c.formula, err)
		}
	}
}

// TestOneDigitOfABasisIsSeen: the last bits of one weight of a thin plate spline
// make other columns.
func TestOneDigitOfABasisIsSeen(t *testing.T) {
	tab := shardTable(t, 4096, 3, "a")
	blocks := builtBlocks(t, `~ s(x0,k=6)`, tab)
	a, _ := shard(t, newFake(1), blocks, tab, 0)
	spec, err := blocks[0].Term.(json.Marshaler).MarshalJSON()
	must(t, err)
	at := bytes.Index(spec, []byte(`"weights":"`)) + len(`"weights":"`)
	// Another letter of base64: the lowest bits of a mantissa.
	if spec[at] == 'A' {
		spec[at] = 'B'
	} else {
		spec[at] = 'A'
	}
	term, err := basis.Decode(decompose.Smooth, spec)
	must(t, err)
	block := blocks[0]
	block.Term = term
	b, _ := shard(t, newFake(1), []decompose.Block{block}, tab, 1)
	if err := a.Merge(b); err == nil || !strings.Contains(err.Error(), "basis.weights") {
		t.Errorf("another weight: %v", err)
	}
}

// TestShardsOfOtherNetworksAreRefused: what a model says of itself is compared.
func TestShardsOfOtherNetworksAreRefused(t *testing.T) {
	tab := shardTable(t, 4096, 4, "a")
	of := func(change func(*fake)) *decompose.Statistics {
		m := newFake(2).withTap()
		change(m)
		s, _ := shard(t, m, nil, tab, 0)
		next := new(decompose.Statistics)
		must(t, next.UnmarshalBinary(bytesOf(t, s)))
		return next
	}
	for name, c := range map[string]struct {
		change func(*fake)
		part   string
	}{
		"predictor":   {func(f *fake) { f.names = []string{"mu", "tau"} }, "predictors"},
		"intercept":   {func(f *fake) { f.offset = 0.75 }, "intercepts"},
		"coefficient": {func(f *fake) { f.beta[1][2]++ }, "coefficients"},
		"column":      {func(f *fake) { f.columns = []string{"x1", "x0", "x2"} }, "columns"},
		"tap":         {func(f *fake) { f.tap.Tensor = "other" }, "taps"},
	} {
		a, _ := shard(t, newFake(2).withTap(), nil, tab, 1)
		if err := a.Merge(of(c.change)); err == nil || !strings.Contains(err.Error(), c.part) || !strings.Contains(err.Error(), "do not merge") {
			t.Errorf("%s: %v", name, err)
		}
		if err := a.Merge(of(func(*fake) {})); err != nil {
			t.Errorf("%s: the same network: %v", name, err)
		}
	}
}
