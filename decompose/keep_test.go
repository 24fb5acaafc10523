package decompose_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/penalty"
)

// changed is a fake with its blocks changed, or left out, by f.
type changed struct {
	*fake
	f func(b decompose.Block) (decompose.Block, bool)
}

func (c *changed) Blocks(k int) []decompose.Block {
	var out []decompose.Block
	for _, b := range c.fake.Blocks(k) {
		if b, ok := c.f(b); ok {
			out = append(out, b)
		}
	}
	return out
}

// A penalty in standardised columns is lambda a'D^2a, D the weighted standard
// deviations of the columns: compared with the normal equations written out.
func TestStandardisedRidge(t *testing.T) { byRoute(t, testStandardisedRidge) }

func testStandardisedRidge(t *testing.T, route decompose.Route) {
	const n, lambda = 400, 37.5
	tab := table(t, n, 5)
	m := &changed{newFake(1).withTap(), func(b decompose.Block) (decompose.Block, bool) {
		if b.Term.Kind() == decompose.Learned {
			b.Penalty = penalty.Penalty{S: []mat.Symmetric{penalty.Ridge(4)}, SP: []float64{lambda}}
			b.Coordinates = decompose.Standardised()
		}
		return b, true
	}}
	r, err := decompose.Decompose(t.Context(), m, tab, &decompose.Options{Columns: decompose.Columns{Weights: "w"}, Projection: decompose.Projection{Route: route}})
	if err != nil {
		t.Fatal(err)
	}
	for b, err := range tab.Batches(t.Context(), []string{"x0", "x1", "x2", "w"}) {
		if err != nil {
			t.Fatal(err)
		}
		w, _ := b.Numeric("w")
		out := &decompose.Outputs{Zeta: mat.NewDense(n, 1, nil), Eta: mat.NewDense(n, 1, nil), Taps: map[string]*mat.Dense{"hidden": mat.NewDense(n, 4, nil)}}
		if err := m.Forward(t.Context(), out, b); err != nil {
			t.Fatal(err)
		}
		rows := b.Slice(0, n)
		if err := rows.SetTensor("hidden", out.Taps["hidden"]); err != nil {
			t.Fatal(err)
		}
		var terms []decompose.Term
		for _, b := range m.Blocks(0) {
			terms = append(terms, b.Term)
		}
		x := designMatrix(t, terms, rows)
		_, p := x.Dims()
		var wx, gram mat.Dense
		wx.CloneFrom(x)
		for i := range n {
			floats.Scale(w[i], wx.RawRowView(i))
		}
		gram.Mul(x.T(), &wx)
		sum := floats.Sum(w)
		for l := p - 4; l < p; l++ {
			mean := gram.At(0, l) / sum
			gram.Set(l, l, gram.At(l, l)+lambda*(gram.At(l, l)/sum-mean*mean))
		}
		var cross, alpha mat.VecDense
		cross.MulVec(wx.T(), out.Zeta.ColView(0))
		if err := alpha.SolveVec(&gram, &cross); err != nil {
			t.Fatal(err)
		}
		at := 1
		for _, term := range r.Predictors[0].Terms {
			for _, a := range term.Alpha {
				if want := alpha.AtVec(at); math.Abs(a-want) > 1e-9*(1+math.Abs(want)) {
					t.Errorf("%s: alpha %g, normal equations %g", term.Name, a, want)
				}
				at++
			}
		}
	}
	if sp := r.Predictors[0].Terms[3].SP; len(sp) != 1 || sp[0] != lambda {
		t.Errorf("sp %v, want %v unscaled", sp, lambda)
	}
}

// A kept term does not move, and the others are split as if it were not there.
func TestKeptTermStays(t *testing.T) { byRoute(t, testKeptTermStays) }

func testKeptTermStays(t *testing.T, route decompose.Route) {
	tab := table(t, 500, 6)
	for _, method := range []decompose.Method{decompose.PHO, decompose.PHOGAM} {
		fit := func(drop, ridge bool) decompose.Predictor {
			m := &changed{newFake(1).withTap(), func(b decompose.Block) (decompose.Block, bool) {
				switch {
				case b.Term.Kind() == decompose.Learned:
					b.Constraint = decompose.Kept()
					return b, !drop
				case ridge && b.Term.Name() == "x1":
					b.Penalty.S = []mat.Symmetric{penalty.Ridge(1)}
				}
				return b, true
			}}
			o := &decompose.Options{Projection: decompose.Projection{Method: method, Route: route}, Columns: decompose.Columns{Weights: "w"}}
			if drop { // the parts then miss the learned term, which is not the question here
				o.ReconstructionTolerance = 1e9
			}
			r, err := decompose.Decompose(t.Context(), m, tab, o)
			if err != nil {
				t.Fatal(err)
			}
			return r.Predictors[0]
		}
		ridge := method == decompose.PHOGAM
		with, without := fit(false, ridge), fit(true, ridge)
		last := with.Terms[3]
		if floats.Norm(last.Alpha, math.Inf(1)) != 0 || last.EDF != 0 || last.Columns != 0 || len(last.SP) != 0 || !last.Identified {
			t.Errorf("%s: the kept term has alpha %v, edf %g, %d columns, sp %v, identified %v", method, last.Alpha, last.EDF, last.Columns, last.SP, last.Identified)
		}
		if last.Before != last.After || !(last.Before.Variance > 0) {
			t.Errorf("%s: the kept term moved from %+v to %+v", method, last.Before, last.After)
		}
		for j, want := range without.Terms {
			if d := floats.Distance(with.Terms[j].Alpha, want.Alpha, 2); d > 1e-9 {
				t.Errorf("%s: %s differs by %g", method, want.Name, d)
			}
		}
		if with.Rank != without.Rank || with.Columns != without.Columns || math.Abs(with.EDF-without.EDF) > 1e-9 || len(with.Aliased) != 0 {
			t.Errorf("%s: rank %d of %d, edf %g, aliased %v; without the term %d of %d, %g", method,
				with.Rank, with.Columns, with.EDF, with.Aliased, without.Rank, without.Columns, without.EDF)
		}
		if ridge && math.Abs(*with.Score-*without.Score) > 1e-9*math.Abs(*without.Score) {
			t.Errorf("score %g, without the term %g", *with.Score, *without.Score)
		}
		if last.Concurvity != (decompose.Concurvity{}) || len(with.Concurvity) != len(without.Concurvity) {
			t.Errorf("%s: concurvity of the kept term %+v, pairs %+v, without it %+v", method, last.Concurvity, with.Concurvity, without.Concurvity)
		}
		if with.RankTolerance != 1e-6 {
			t.Errorf("rank tolerance %g: no learned basis is projected on", with.RankTolerance)
		}
	}
}

// A kept term with a penalty is an error, and so are documents that say two things of a
// block which exclude each other.
func TestKeptTermRefuses(t *testing.T) {
	for _, change := range []func(b *decompose.Block){
		func(b *decompose.Block) { b.Penalty.S = []mat.Symmetric{penalty.Ridge(4)} },
		func(b *decompose.Block) { b.Coordinates = decompose.Standardised() },
		func(b *decompose.Block) { b.Coordinates = decompose.Mapped(mat.NewDense(4, 2, nil)) },
		func(b *decompose.Block) { b.Select = true },
	} {
		const want = `decompose: predictor "eta": term "f(x0)" is kept as it is: it takes no map, penalty or constraint`
		m := &changed{newFake(1).withTap(), func(b decompose.Block) (decompose.Block, bool) {
			if b.Term.Kind() == decompose.Learned {
				b.Constraint = decompose.Kept()
				change(&b)
			}
			return b, true
		}}
		if _, err := decompose.Decompose(t.Context(), m, table(t, 50, 1), nil); err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

func TestBlockThatExcludesItself(t *testing.T) {
	decode := func(decompose.Kind, json.RawMessage) (decompose.Term, error) {
		return &decompose.LinearTerm{Column: "x"}, nil
	}
	const zero, one = "AAAAAAAAAAA=", "AAAAAAAA8D8="
	for field, want := range map[string]string{
		`"keep": true`: "",
		`"standardised": true, "penalties": [{"dim": 1, "s": "` + one + `"}]`:          "",
		`"constraint": "orthogonal", "normal": "` + zero + `"`:                         "",
		`"keep": true, "constraint": "sum-to-zero"`:                                    `it is kept as it is, and takes no constraint "sum-to-zero"`,
		`"keep": true, "penalties": [{"dim": 1, "s": "` + one + `"}]`:                  "it takes no map, penalty or constraint",
		`"standardised": true, "map": {"rows": 1, "cols": 1, "values": "` + one + `"}`: "a map and standardised coordinates",
		`"penalties": [{"dim": 1, "s": ""}]`:                                           "its penalty 1: 0 numbers, want 1",
		`"map": {"rows": 1, "cols": 1, "values": ""}`:                                  "its map: 0 numbers, want 1",
		`"base": [3]`:          "it refers to term 4 of 1",
		`"constraint": "kept"`: `the constraint "kept" is not known to this version`,
	} {
		doc := `{"terms": [{"kind": "linear", "spec": {}}], "predictors": [[{"term": 0, ` + field + `}]]}`
		_, err := decompose.DecodeBlocks(json.RawMessage(doc), decode)
		if (want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", field, err, want)
		}
	}
}
