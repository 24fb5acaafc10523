package interaction

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/decompose/sumstest"
	"github.com/pho-go/pho/internal/base/wire"
)

// partsKept is a visitor that keeps all parts.
type partsKept struct{ parts []*decompose.Parts }

func (v *partsKept) Begin(*decompose.Result) error       { return nil }
func (v *partsKept) Columns() []string                   { return nil }
func (v *partsKept) Map(p *decompose.Parts) (any, error) { return p.Clone(), nil }
func (v *partsKept) Reduce(part any) error {
	v.parts = append(v.parts, part.(*decompose.Parts))
	return nil
}
func (v *partsKept) End(*decompose.Result) error { return nil }

// shardCase is a decomposition whose remainder is ranked, the way it was and to be done
// again.
type shardCase struct {
	result *decompose.Result
	parts  []*decompose.Parts
	sample *Sample
}

// begun is a ranking about to see the rows.
func (c *shardCase) begun(t testing.TB) *Ranking {
	t.Helper()
	v := NewRanking(c.sample).WithID("name")
	mustDo(t, v.Begin(c.result))
	return v
}

func mustDo(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// shardCases are of one predictor with candidates for several rounds, and of two with
// weights, levels and missing values.
func shardCases(t testing.TB, n int) map[string]*shardCase {
	t.Helper()
	rounds := correlated(3, n, 6, 0.3)
	levels := correlated(4, n, 4, 0.3)
	u := uniform(11)
	one, mu, sigma, w, group := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n), make([]string, n)
	for i := range n {
		one[i] = 2*rounds[0][i]*rounds[0][i] + rounds[1][i]*rounds[2][i] + 0.3*rounds[3][i]*rounds[4][i] + 0.2*u.normal()
		g := i % 11 * (i % 7) % 5
		group[i], w[i] = string(rune('a'+g)), float64(i%4)
		mu[i] = levels[0][i]*float64(g%3) + levels[1][i]*levels[2][i] + 0.2*u.normal()
		sigma[i] = levels[2][i]*levels[3][i] + 0.2*u.normal()
	}
	tab := rows(t, levels, mu, sigma)
	mustDo(t, tab.AddNumeric("w", w))
	mustDo(t, tab.AddTexts("group", group))
	return map[string]*shardCase{
		"several rounds": ofCase(t, n, rows(t, rounds, one), []string{"eta"}, names(6), "~ x0 + x1 + x2 + x3 + x4 + x5", ""),
		"two predictors": ofCase(t, n, tab, []string{"eta", "eta1"}, append(names(4), "group"), smooths(4)+" + group", "w"),
	}
}

func ofCase(t testing.TB, n int, tab *data.Table, etas, among []string, formula, weights string) *shardCase {
	t.Helper()
	name := make([]string, n)
	for i := range name {
		name[i] = "row " + string(rune('a'+i%26))
	}
	mustDo(t, tab.AddTexts("name", name))
	f, err := basis.Parse(formula, &basis.Options{Schema: tab.Schema()})
	mustDo(t, err)
	c := &shardCase{sample: NewSample(among, weights)}
	blocks, err := decompose.Prepare(t.Context(), tab, append(f.Specs, c.sample), nil)
	mustDo(t, err)
	m, err := decompose.With(columns(etas), map[string][]decompose.Block{"": blocks})
	mustDo(t, err)
	k := &partsKept{}
	o := &decompose.Options{Columns: decompose.Columns{Weights: weights}, Visitors: []decompose.Visitor{k, NewRanking(c.sample).WithID("name")}}
	c.result, err = decompose.Decompose(t.Context(), m, tab, o)
	mustDo(t, err)
	c.parts = k.parts
	return c
}

// TestSumsInAnyOrder: the sums of chunks have the same bytes in any order and grouping, and rank
// pairs like one pass over all rows in order.
func TestSumsInAnyOrder(t *testing.T) {
	if testing.Short() {
		t.Skip("some seconds")
	}
	for name, c := range shardCases(t, 4000) {
		t.Run(name, func(t *testing.T) {
			chunks := sumstest.Chunks(t, c.parts, 400)
			chunks = append(chunks[:3:3], append([]*decompose.Parts{sumstest.Empty(t, chunks[0]), nil}, chunks[3:]...)...)
			of := func(v *Ranking) func(i int) decompose.Sums {
				return func(i int) decompose.Sums {
					if chunks[i] == nil {
						return nil
					}
					s, err := v.Map(chunks[i])
					mustDo(t, err)
					return s.(decompose.Sums)
				}
			}
			v := c.begun(t)
			sumstest.AnyOrder(t, len(chunks), 3, of(v), DecodeSums)
			total := sumstest.Bytes(t, sumstest.Total(t, len(chunks), of(v)))
			t.Logf("%d bytes", len(total))
			inOrder := c.begun(t)
			for i := range chunks {
				if s := of(inOrder)(i); s != nil {
					mustDo(t, inOrder.Reduce(s))
				}
			}
			alike(t, inOrder.sums, total)
			s, err := DecodeSums(pairsKind, total)
			mustDo(t, err)
			mustDo(t, v.Reduce(s))
			got := remainders(t, v, c.result)
			if diff := cmp.Diff(plain(t, c.result), got, cmpopts.EquateApprox(1e-7, 1e-10)); diff != "" {
				t.Errorf("other findings: %s", diff)
			}
		})
	}
}

// alike compares sums that were added one after the other with those added in a tree.
func alike(t testing.TB, a *sums, raw []byte) {
	t.Helper()
	back, err := DecodeSums(pairsKind, raw)
	mustDo(t, err)
	b, close := back.(*sums), cmpopts.EquateApprox(1e-10, 1e-10)
	if diff := cmp.Diff(a, b, close, cmp.AllowUnexported(sums{}, tables{}, kept{}, values{}, worstRow{}), cmpopts.IgnoreFields(sums{}, "spare"), cmpopts.EquateNaNs()); diff != "" {
		t.Errorf("in order of rows, and in a tree: %s", diff)
	}
}

// remainders are what v writes.
func remainders(t testing.TB, v *Ranking, r *decompose.Result) any {
	t.Helper()
	out := *r
	out.Predictors = slices.Clone(r.Predictors)
	mustDo(t, v.End(&out))
	return plain(t, &out)
}

func plain(t testing.TB, r *decompose.Result) (all any) {
	t.Helper()
	var of []*decompose.Remainder
	for k := range r.Predictors {
		of = append(of, r.Predictors[k].Remainder)
	}
	raw, err := json.Marshal(of)
	mustDo(t, err)
	mustDo(t, json.Unmarshal(raw, &all))
	return all
}

// TestOtherSumsAreRefused: sums of other columns are not added, damaged ones are not read.
func TestOtherSumsAreRefused(t *testing.T) {
	var all []decompose.Sums
	for _, c := range shardCases(t, 900) {
		s, err := c.begun(t).Map(c.parts[0])
		mustDo(t, err)
		all = append(all, s.(decompose.Sums))
	}
	for _, s := range all {
		before := sumstest.Bytes(t, s)
		sumstest.Damaged(t, pairsKind, before, DecodeSums)
		for _, other := range all {
			if s != other {
				if err := s.Add(other); err == nil || !bytes.Equal(sumstest.Bytes(t, s), before) {
					t.Errorf("other sums were added, or left traces: %v", err)
				}
			}
		}
	}
}

// TestMemoryIsUsedAgain: sums that were added to others leave their memory to later chunks.
func TestMemoryIsUsedAgain(t *testing.T) {
	c := shardCases(t, 900)["two predictors"]
	v := c.begun(t)
	mapped := func() *sums {
		s, err := v.Map(c.parts[0])
		mustDo(t, err)
		return s.(*sums)
	}
	a, b := mapped(), mapped()
	given, want := b.tables, sumstest.Bytes(t, a)
	mustDo(t, a.Add(b))
	if d := mapped(); d.tables != given || !bytes.Equal(sumstest.Bytes(t, d), want) {
		t.Error("tables are not used again, or not cleared")
	}
}

// keptOfTwo are two rows of a number and a factor.
func keptOfTwo(predictors int, weighted bool) *kept {
	s := &kept{values: values{numbers: [][]float64{{1, math.NaN()}, nil}, codes: [][]uint8{nil, {0, missing}}}}
	for range predictors {
		s.r = append(s.r, []float64{3, -4})
	}
	if weighted {
		s.w = []float64{1, 2}
	}
	return s
}

func FuzzDecodeSums(f *testing.F) {
	t := newTables(1, 1, true)
	w := worst{{row: 5, r: -2, eta: 1, weight: 1, codes: []uint8{1, 8}, id: "five"}, {row: 7, r: 1, eta: 1, weight: 1}}
	for _, s := range []*sums{{}, {worst: []worst{w}, tables: t}, {kept: keptOfTwo(1, true)}, {kept: keptOfTwo(2, false)}} {
		f.Add(sumstest.Bytes(f, s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) { sumstest.Read(t, pairsKind, raw, DecodeSums) })
}

// TestRowNamedTwice: among those of the largest remainder; neither written nor read, next to
// each other or not.
func TestRowNamedTwice(t *testing.T) {
	twice := worst{{row: 5, r: -3}, {row: 70001, r: 2}, {row: 5, r: 1}}
	for _, rows := range []worst{twice, twice[1:]} {
		rows = slices.Clone(rows)
		rows[0].row = 5
		if _, err := (&sums{worst: []worst{rows}}).MarshalBinary(); err == nil || !strings.Contains(err.Error(), "data row 6 ") {
			t.Errorf("written: %v", err)
		}
		rows[0].row = 70002
		raw := bytes.ReplaceAll(sumstest.Bytes(t, &sums{worst: []worst{rows}}), wire.AppendInt(nil, 70002), wire.AppendInt(nil, 5))
		if _, err := DecodeSums(pairsKind, raw); err == nil || !strings.Contains(err.Error(), "data row 6 ") {
			t.Errorf("read: %v", err)
		}
	}
}

// TestShapesMustAgree: of predictors, of tables and of rows, each by itself; where one
// side has no rows, the other's sums stay.
func TestShapesMustAgree(t *testing.T) {
	other := keptOfTwo(1, true)
	other.numbers[1], other.codes[1] = other.numbers[0], nil
	for what, pair := range map[string][2]*sums{
		"predictors":       {{worst: make([]worst, 1)}, {worst: make([]worst, 2)}},
		"pairs":            {{tables: newTables(1, 1, false)}, {tables: newTables(3, 1, false)}},
		"in tables":        {{tables: newTables(1, 1, false)}, {tables: newTables(1, 2, false)}},
		"weights":          {{tables: newTables(1, 1, false)}, {tables: newTables(1, 1, true)}},
		"weights of rows":  {{kept: keptOfTwo(1, false)}, {kept: keptOfTwo(1, true)}},
		"remainders":       {{kept: keptOfTwo(1, true)}, {kept: keptOfTwo(2, true)}},
		"kinds of columns": {{kept: keptOfTwo(1, true)}, {kept: other}},
	} {
		for _, p := range [][2]*sums{pair, {pair[1], pair[0]}} {
			if err := p[0].Add(p[1]); err == nil {
				t.Errorf("sums of other %s were added", what)
			}
		}
	}
	for _, s := range []*sums{{kept: keptOfTwo(1, true)}, {}} {
		raw := sumstest.Bytes(t, &sums{kept: keptOfTwo(1, true)})
		mustDo(t, s.Add(&sums{}))
		if s.kept == nil {
			mustDo(t, s.Add(&sums{kept: keptOfTwo(1, true)}))
		}
		if !bytes.Equal(sumstest.Bytes(t, s), raw) {
			t.Error("sums of no rows change others")
		}
	}
}
