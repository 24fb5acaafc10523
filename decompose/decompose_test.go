package decompose_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/decompose/decomposetest"
)

// collector keeps the parts of all rows.
type collector struct {
	columns      []string
	unstructured [][]float64 // by predictor
	eta          [][]float64
	terms        [][][]float64 // by predictor and row
	intercept    []float64
}

func (c *collector) Begin(r *decompose.Result) error {
	k := len(r.Predictors)
	c.unstructured, c.eta, c.terms = make([][]float64, k), make([][]float64, k), make([][][]float64, k)
	for _, p := range r.Predictors {
		c.intercept = append(c.intercept, p.Intercept)
	}
	return nil
}
func (c *collector) Columns() []string                   { return c.columns }
func (c *collector) End(*decompose.Result) error         { return nil }
func (c *collector) Map(p *decompose.Parts) (any, error) { return p.Clone(), nil }
func (c *collector) Reduce(part any) error {
	p := part.(*decompose.Parts)
	for k, d := range p.Predictors {
		c.unstructured[k] = append(c.unstructured[k], d.Unstructured...)
		c.eta[k] = append(c.eta[k], d.Eta...)
		for i := range d.Eta {
			c.terms[k] = append(c.terms[k], d.Row(i))
		}
	}
	return nil
}

func run(t testing.TB, m decompose.Model, src data.Source, o decompose.Options) (*decompose.Result, *collector) {
	t.Helper()
	c := &collector{}
	o.Visitors = append(o.Visitors, c)
	r, err := decompose.Decompose(context.Background(), m, src, &o)
	if err != nil {
		t.Fatal(err)
	}
	return r, c
}

// all reads a source as one batch.
func all(t testing.TB, src data.Source, rows int) *data.Batch {
	t.Helper()
	for b, err := range data.Rebatch(src.Batches(context.Background(), src.Schema().Names()), rows) {
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	t.Fatal("no rows")
	return nil
}

// encode gives the bytes of the artifact and of its moments.
func encode(t testing.TB, r *decompose.Result) (doc, moments []byte) {
	t.Helper()
	var m, d bytes.Buffer
	if err := r.EncodeMoments(&m); err != nil {
		t.Fatal(err)
	}
	if err := r.Encode(&d); err != nil {
		t.Fatal(err)
	}
	return d.Bytes(), m.Bytes()
}

func near(t testing.TB, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s is %.17g, want %.17g (tolerance %g)", what, got, want, tolerance)
	}
}

// leastSquares solves min |X a - z|_W by SVD of the weighted matrix: the
// pseudoinverse of the paper's algorithm 1, for comparison.
func leastSquares(t testing.TB, x *mat.Dense, z, w []float64) []float64 {
	t.Helper()
	n, p := x.Dims()
	wx, wz := mat.DenseCopyOf(x), mat.NewVecDense(n, nil)
	for i := range n {
		s := 1.0
		if w != nil {
			s = math.Sqrt(w[i])
		}
		floats.Scale(s, wx.RawRowView(i))
		wz.SetVec(i, s*z[i])
	}
	var svd mat.SVD
	if !svd.Factorize(wx, mat.SVDThin) {
		t.Fatal("SVD failed")
	}
	var a mat.Dense
	svd.SolveTo(&a, wz, svd.Rank(1e-10))
	out := make([]float64, p)
	mat.Col(out, 0, &a)
	return out
}

func TestPHOIsTheWeightedProjection(t *testing.T) { byRoute(t, testPHOIsTheWeightedProjection) }

func testPHOIsTheWeightedProjection(t *testing.T, route decompose.Route) {
	for _, weights := range []string{"", "w"} {
		m := newFake(2).withTap()
		tab := table(t, 3000, 1)
		r, c := run(t, m, tab, decompose.Options{Projection: decompose.Projection{Route: route}, Columns: decompose.Columns{Weights: weights}})
		b := all(t, tab, 3000)
		var w []float64
		if weights != "" {
			w, _ = b.Numeric(weights)
		}
		out := decompose.Outputs{Zeta: mat.NewDense(3000, 2, nil), Eta: mat.NewDense(3000, 2, nil), Taps: map[string]*mat.Dense{"hidden": mat.NewDense(3000, 4, nil)}}
		if err := m.Forward(context.Background(), &out, b); err != nil {
			t.Fatal(err)
		}
		if err := b.SetTensor("hidden", out.Taps["hidden"]); err != nil {
			t.Fatal(err)
		}
		for k := range 2 {
			var terms []decompose.Term
			for _, block := range m.Blocks(k) {
				terms = append(terms, block.Term)
			}
			x := designMatrix(t, terms, b)
			zeta := mat.Col(nil, k, out.Zeta)
			alpha := leastSquares(t, x, zeta, w)
			var fit mat.VecDense
			fit.MulVec(x, mat.NewVecDense(len(alpha), alpha))
			for i := range zeta {
				near(t, "unstructured", c.unstructured[k][i], zeta[i]-fit.AtVec(i), 1e-9)
			}
			near(t, "intercept moved", r.Predictors[k].InterceptMoved, alpha[0], 1e-8)
			// X'W eta_unstr = 0, the intercept included.
			for j := range len(alpha) {
				var dot, size float64
				for i, u := range c.unstructured[k] {
					wi := 1.0
					if w != nil {
						wi = w[i]
					}
					dot += wi * x.At(i, j) * u
					size += wi * math.Abs(x.At(i, j)*u)
				}
				near(t, "relative X'W unstructured", dot/size, 0, 1e-10)
			}
			v := r.Predictors[k].Variance
			near(t, "covariance", v.TwiceCovariance/v.Total, 0, 1e-12)
			near(t, "orthogonality", r.Predictors[k].Orthogonality, 0, 1e-10)
			if e := *r.Predictors[k].ReconstructionError; e > 1e-13 {
				t.Errorf("reconstruction error %g", e)
			}
		}
	}
}

func TestZeroWeightsAreAbsentRows(t *testing.T) { byRoute(t, testZeroWeightsAreAbsentRows) }

func testZeroWeightsAreAbsentRows(t *testing.T, route decompose.Route) {
	tab := table(t, 2000, 2)
	b := all(t, tab, 2000)
	w, _ := b.Numeric("w")
	kept := data.NewTable(1500)
	for _, name := range []string{"x0", "x1", "x2", "w"} {
		v, _ := b.Numeric(name)
		var some []float64
		for i := range v {
			if w[i] > 0 {
				some = append(some, v[i])
			}
		}
		if err := kept.AddNumeric(name, some); err != nil {
			t.Fatal(err)
		}
	}
	a, _ := run(t, newFake(1), tab, decompose.Options{Projection: decompose.Projection{Route: route}, Columns: decompose.Columns{Weights: "w"}})
	c, _ := run(t, newFake(1), kept, decompose.Options{Projection: decompose.Projection{Route: route}, Columns: decompose.Columns{Weights: "w"}})
	if a.Rows != c.Rows {
		t.Errorf("rows %d and %d: rows of weight 0 do not count", a.Rows, c.Rows)
	}
	for j := range a.Predictors[0].Terms {
		near(t, "alpha", a.Predictors[0].Terms[j].Alpha[0], c.Predictors[0].Terms[j].Alpha[0], 1e-12)
	}
	near(t, "scale", a.Predictors[0].Scale, c.Predictors[0].Scale, 1e-12)
}

// adapted is m after a decomposition: its structured coefficients and deep part
// as the result has them.
type adapted struct {
	decompose.Model
	r *decompose.Result
	a *decompose.Applier
}

func (m *adapted) Intercept(k int) float64 {
	return m.Model.Intercept(k) + m.r.Predictors[k].InterceptMoved
}
func (m *adapted) Blocks(k int) []decompose.Block {
	blocks := append([]decompose.Block(nil), m.Model.Blocks(k)...)
	for j := range blocks {
		coef := append([]float64(nil), m.r.Predictors[k].Terms[j].Beta...)
		floats.Add(coef, m.r.Predictors[k].Terms[j].Alpha)
		blocks[j].Coef = coef
	}
	return blocks
}
func (m *adapted) Forward(ctx context.Context, dst *decompose.Outputs, b *data.Batch) error {
	if err := m.Model.Forward(ctx, dst, b); err != nil {
		return err
	}
	parts, err := m.a.Parts(ctx, b)
	if err != nil {
		return err
	}
	for k, d := range parts.Predictors {
		dst.Zeta.SetCol(k, d.Unstructured)
	}
	return nil
}

func TestSecondPHOMovesNothing(t *testing.T) {
	m := newFake(2).withTap()
	tab := table(t, 2500, 3)
	r, _ := run(t, m, tab, decompose.Options{})
	a, err := r.Applier(m)
	if err != nil {
		t.Fatal(err)
	}
	again, _ := run(t, &adapted{m, r, a}, tab, decompose.Options{})
	for k, d := range again.Predictors {
		near(t, "intercept moved again", d.InterceptMoved, 0, 1e-11)
		for _, term := range d.Terms {
			for _, v := range term.Alpha {
				near(t, "alpha of "+term.Name+" the second time", v, 0, 1e-9)
			}
		}
		near(t, "unstructured variance", d.Variance.Unstructured, r.Predictors[k].Variance.Unstructured, 1e-12)
	}
}

// mapped is a basis times an invertible matrix.
type mapped struct {
	decompose.Term
	by *mat.Dense
}

func (m *mapped) Eval(dst *mat.Dense, b *data.Batch) error {
	x := mat.NewDense(b.Rows(), m.Dim(), nil)
	if err := m.Term.Eval(x, b); err != nil {
		return err
	}
	dst.Mul(x, m.by)
	return nil
}

func TestUnstructuredDoesNotDependOnTheBasis(t *testing.T) {
	m := newFake(1).withTap()
	tab := table(t, 2000, 4)
	_, want := run(t, m, tab, decompose.Options{Projection: decompose.Projection{RankTolerance: 1e-6}})
	by := mat.NewDense(4, 4, []float64{2, 1, 0, 0, 0, -1, 3, 0, 1, 0, 1, 0.5, 0, 0, 0, 4})
	other, err := decompose.With(&blackBox{m}, map[string][]decompose.Block{"": {
		{Term: &mapped{m.tap, by}}, {Term: &mapped{m.linear("x0"), mat.NewDense(1, 1, []float64{-3})}},
		{Term: m.linear("x1")}, {Term: m.linear("x2")},
	}})
	if err != nil {
		t.Fatal(err)
	}
	_, got := run(t, other, tab, decompose.Options{Projection: decompose.Projection{RankTolerance: 1e-6}})
	for i := range want.unstructured[0] {
		near(t, "unstructured", got.unstructured[0][i], want.unstructured[0][i], 1e-8)
	}
}

// blackBox hides the structure: everything is deep.
type blackBox struct{ *fake }

func (b *blackBox) Blocks(int) []decompose.Block { return nil }
func (b *blackBox) Intercept(int) float64        { return 0 }
func (b *blackBox) Forward(ctx context.Context, dst *decompose.Outputs, d *data.Batch) error {
	if err := b.fake.Forward(ctx, dst, d); err != nil {
		return err
	}
	dst.Zeta.Copy(dst.Eta)
	return nil
}

func TestSameBytesForAnyBatchesAndWorkers(t *testing.T) {
	byRoute(t, testSameBytesForAnyBatchesAndWorkers)
}

func testSameBytesForAnyBatchesAndWorkers(t *testing.T, route decompose.Route) {
	const n = 10_000 // three chunks, the last one short
	tab := table(t, n, 5)
	var doc, moments []byte
	for _, batch := range []int{n, 1, 7, 4096} {
		for _, workers := range []int{1, 8} {
			if batch == 1 && workers == 8 {
				continue
			}
			tab.BatchRows = batch
			r, _ := run(t, newFake(2).withTap(), tab, decompose.Options{Projection: decompose.Projection{Route: route}, Resources: decompose.Resources{Workers: workers, OutputMemory: int64(workers) - 8}, Columns: decompose.Columns{Weights: "w"}})
			d, m := encode(t, r)
			if doc == nil {
				doc, moments = d, m
			}
			if !bytes.Equal(d, doc) {
				t.Errorf("batches of %d rows, %d workers: other bytes of decomposition.json: %s", batch, workers, cmp.Diff(string(doc), string(d)))
			}
			if !bytes.Equal(m, moments) {
				t.Errorf("batches of %d rows, %d workers: other bytes of moments.bin", batch, workers)
			}
		}
	}
}

func TestAlignedShardsMergeToTheSameBytes(t *testing.T) {
	byRoute(t, testAlignedShardsMergeToTheSameBytes)
}

func testAlignedShardsMergeToTheSameBytes(t *testing.T, route decompose.Route) {
	const n = 6*4096 + 100
	tab := table(t, n, 6)
	m := newFake(1).withTap()
	rows, err := decompose.ChunkRows(m)
	if err != nil || rows != 4096 {
		t.Fatal(rows, err)
	}
	whole, _ := run(t, m, tab, decompose.Options{Projection: decompose.Projection{Route: route}})
	want, wantMoments := encode(t, whole)
	b := all(t, tab, n)
	for _, cuts := range [][]int{{1}, {3}, {1, 2, 5}, {1, 2, 3, 4, 5, 6}} {
		var total *decompose.Statistics
		for i := 0; i <= len(cuts); i++ {
			lo, hi := 0, n
			if i > 0 {
				lo = cuts[i-1] * rows
			}
			if i < len(cuts) {
				hi = cuts[i] * rows
			}
			s, err := decompose.Accumulate(context.Background(), m, part(t, b, lo, hi), &decompose.Options{Projection: decompose.Projection{Route: route}, Resources: decompose.Resources{FirstChunk: lo / rows}})
			if err != nil {
				t.Fatal(err)
			}
			if total == nil {
				total = s
			} else if err := total.Merge(s); err != nil {
				t.Fatal(err)
			}
		}
		r, err := decompose.Solve(t.Context(), m, total, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := decompose.Explain(context.Background(), m, tab, r, nil); err != nil {
			t.Fatal(err)
		}
		got, gotMoments := encode(t, r)
		if !bytes.Equal(got, want) || !bytes.Equal(gotMoments, wantMoments) {
			t.Errorf("shards cut at blocks %v: other bytes: %s", cuts, cmp.Diff(string(want), string(got)))
		}
	}
}

// part copies rows of a batch into a table.
func part(t testing.TB, b *data.Batch, lo, hi int) *data.Table {
	t.Helper()
	tab := data.NewTable(hi - lo)
	for _, name := range []string{"x0", "x1", "x2"} {
		v, _ := b.Numeric(name)
		if err := tab.AddNumeric(name, v[lo:hi]); err != nil {
			t.Fatal(err)
		}
	}
	return tab
}

func TestArtifactRoundTrip(t *testing.T) { byRoute(t, testArtifactRoundTrip) }

func testArtifactRoundTrip(t *testing.T, route decompose.Route) {
	m := newFake(2).withTap()
	tab := table(t, 3000, 7)
	r, c := run(t, m, tab, decompose.Options{Projection: decompose.Projection{Route: route}})
	doc, moments := encode(t, r)
	read, err := decompose.Read(bytes.NewReader(doc), bytes.NewReader(moments), decodeFake)
	if err != nil {
		t.Fatal(err)
	}
	again, againMoments := encode(t, read)
	if !bytes.Equal(doc, again) || !bytes.Equal(moments, againMoments) {
		t.Errorf("read and written again: other bytes: %s", cmp.Diff(string(doc), string(again)))
	}
	a, err := read.Applier(m)
	if err != nil {
		t.Fatal(err)
	}
	row := 0
	for parts, err := range a.All(context.Background(), tab) {
		if err != nil {
			t.Fatal(err)
		}
		for i := range parts.Batch.Rows() {
			for k, d := range parts.Predictors {
				if d.Unstructured[i] != c.unstructured[k][row] || !floats.Equal(d.Row(i), c.terms[k][row]) {
					t.Fatalf("row %d, predictor %d: applied parts differ from those of the fit", row, k)
				}
				near(t, "sum of parts", parts.Sum(k, i), d.Eta[i], 1e-12)
			}
			row++
		}
	}
	if row != 3000 {
		t.Errorf("%d rows", row)
	}
	e1, err1 := mustApplier(t, r, m).Effect(context.Background(), 0, 3, all(t, tab, 50))
	e2, err2 := a.Effect(context.Background(), 0, 3, all(t, tab, 50))
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	if diff := cmp.Diff(e1, e2); diff != "" {
		t.Error(diff)
	}
	if !(e1.SE[0] > 0) {
		t.Errorf("standard error %v", e1.SE[0])
	}

	edited := func(old, new string) string {
		doc, err := decompose.Sign([]byte(strings.Replace(string(doc), old, new, 1)))
		if err != nil {
			t.Fatal(err)
		}
		return string(doc)
	}
	for name, c := range map[string]struct{ doc, moments, want string }{
		"garbage":       {"{", "", "not a decomposition"},
		"other format":  {`{"format":"pho.decomposition/9"}`, "", "later version"},
		"other moments": {string(doc), string(moments[:len(moments)-8]), "do not belong together"},
		"no digest":     {`{"format":"pho.decomposition/1"}`, "", "digest"},
		"not signed":    {strings.Replace(string(doc), `"alpha": [`, `"alpha": [1,`, 1), "", "digest"},
		"two documents": {string(doc) + string(doc), "", "not a decomposition"},
		"no predictor":  {edited(`"predictors": `, `"forecasts": `), "", "no predictors"},
		"coefficients":  {edited(`"alpha": [`, `"alpha": [1,`), "", "coefficients"},
		"unknown kind":  {edited(`"kind": "linear"`, `"kind": "magic"`), "", "magic"},
	} {
		var mom *strings.Reader
		if c.moments != "" {
			mom = strings.NewReader(c.moments)
			_, err = decompose.Read(strings.NewReader(c.doc), mom, decodeFake)
		} else {
			_, err = decompose.Read(strings.NewReader(c.doc), nil, decodeFake)
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want an error with %q", name, err, c.want)
		}
	}
}

func mustApplier(t testing.TB, r *decompose.Result, m decompose.Model) *decompose.Applier {
	t.Helper()
	a, err := r.Applier(m)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func decodeFake(kind decompose.Kind, spec json.RawMessage) (decompose.Term, error) {
	switch kind {
	case decompose.Linear:
		var t struct{ Column string }
		err := json.Unmarshal(spec, &t)
		return &decompose.LinearTerm{Column: t.Column}, err
	case decompose.Learned:
		t := &decompose.Tap{}
		return t, json.Unmarshal(spec, t)
	}
	return nil, errors.New("unknown kind " + string(kind))
}

func TestChecksAreSeenToFail(t *testing.T) {
	tab := table(t, 1000, 8)
	ctx := context.Background()
	b := all(t, tab, 1000)

	t.Run("sound", func(t *testing.T) {
		if err := decomposetest.Model(newFake(2).withTap(), b, 1e-12); err != nil {
			t.Error(err)
		}
	})
	t.Run("tap", func(t *testing.T) {
		m := newFake(1).withTap()
		m.corruptTap = true
		_, err := decompose.Decompose(ctx, m, tab, nil)
		if err == nil || !strings.Contains(err.Error(), "miss the model's own output") {
			t.Errorf("reconstruction did not notice a corrupt tap: %v", err)
		}
		if err := decomposetest.Model(m, b, 1e-9); err == nil {
			t.Error("conformance did not notice a corrupt tap")
		}
	})
	t.Run("alpha", func(t *testing.T) {
		m := newFake(1)
		_, c := run(t, m, tab, decompose.Options{})
		x := designMatrix(t, []decompose.Term{m.linear("x0")}, b)
		dot := func(u []float64) (s float64) {
			for i := range u {
				s += x.At(i, 1) * u[i]
			}
			return s / floats.Norm(u, 2)
		}
		if d := dot(c.unstructured[0]); math.Abs(d) > 1e-9 {
			t.Errorf("not orthogonal: %g", d)
		}
		r, _ := run(t, m, tab, decompose.Options{})
		r.Predictors[0].Terms[0].Alpha[0] += 1e-3
		var bad []float64
		for parts, err := range mustApplier(t, r, m).All(ctx, tab) {
			if err != nil {
				t.Fatal(err)
			}
			bad = append(bad, parts.Predictors[0].Unstructured...)
		}
		if d := dot(bad); math.Abs(d) < 1e-4 {
			t.Errorf("orthogonality did not notice a corrupt alpha: %g", d)
		}
	})
	t.Run("centring", func(t *testing.T) {
		m := newFake(1)
		r, _ := run(t, m, tab, decompose.Options{})
		r.Predictors[0].Terms[1].Center += 0.01
		err := decompose.Explain(ctx, m, tab, r, nil)
		if err == nil || !strings.Contains(err.Error(), "miss the model's own output") {
			t.Errorf("reconstruction did not notice a corrupt centre: %v", err)
		}
	})
	t.Run("eta", func(t *testing.T) {
		m := newFake(1)
		m.corruptEta = true
		if _, err := decompose.Decompose(ctx, m, tab, nil); err == nil {
			t.Error("reconstruction did not notice that the network says something else")
		}
	})
}

func TestOneForwardPerRowAndPass(t *testing.T) {
	tab := table(t, 5000, 9)
	tab.BatchRows = 999
	for _, c := range []struct {
		keep int64
		want int64
	}{{-1, 40}, {0, 20}, {4096 * 16, 24}} { // ceil(4096/256) + ceil(904/256) blocks a pass
		var calls atomic.Int64
		m := newFake(1)
		m.forwards = func() { calls.Add(1) }
		run(t, m, tab, decompose.Options{Resources: decompose.Resources{OutputMemory: c.keep}})
		if calls.Load() != c.want {
			t.Errorf("keep %d: %d calls of Forward, want %d", c.keep, calls.Load(), c.want)
		}
	}
}

func TestCancelAndProgress(t *testing.T) {
	tab := table(t, 20_000, 10)
	var last decompose.Progress
	run(t, newFake(1), tab, decompose.Options{Progress: func(p decompose.Progress) { last = p }})
	if want := (decompose.Progress{Pass: "contributions", Rows: 20_000}); last != want {
		t.Errorf("last progress %v, want %v", last, want)
	}
	ctx, cancel := context.WithCancel(context.Background())
	_, err := decompose.Decompose(ctx, newFake(1), tab, &decompose.Options{Progress: func(decompose.Progress) { cancel() }})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled run: %v", err)
	}
	stats, err := decompose.Accumulate(t.Context(), newFake(1), tab, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := decompose.Solve(ctx, newFake(1), stats, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled solution: %v", err)
	}
}
