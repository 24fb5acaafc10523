package decompose_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// formulaModel is newFake(k) without terms of its own, extended by those of a formula.
func formulaModel(t *testing.T, formula string, tab *data.Table, k int) decompose.Model {
	t.Helper()
	f := newFake(k)
	f.beta, f.offset = nil, 0
	m, err := decompose.With(f, map[string][]decompose.Block{"": builtBlocks(t, formula, tab)})
	must(t, err)
	return m
}

func decomposed(t *testing.T, m decompose.Model, tab data.Source, o *decompose.Options) *decompose.Result {
	t.Helper()
	r, err := decompose.Decompose(context.Background(), m, tab, o)
	must(t, err)
	return r
}

// TestClusters compares with sums by cluster, row by row; the rows of a cluster are spread
// over the file, and over chunks.
func TestClusters(t *testing.T) {
	tab := sandwichTable(t, 9000)
	for _, c := range []struct{ cluster, weights string }{{"g", ""}, {"g", "w"}, {"year", "w"}} {
		for k := 1; k <= 2; k++ {
			m := formulaModel(t, `~ s(x0,bs="ps",k=9) + x1 + day + s(x2,k=6)`, tab, k)
			o := &decompose.Options{Columns: decompose.Columns{Cluster: c.cluster, Weights: c.weights}}
			o.Selection.WithoutVc = true
			r := decomposed(t, m, tab, o)
			b := all(t, tab, tab.Rows())
			names := make([]string, tab.Rows())
			if c.cluster == "year" {
				v, _ := b.Numeric("year")
				for i := range v {
					names[i] = fmt.Sprint(v[i])
				}
			} else {
				codes, err := b.Codes("g")
				must(t, err)
				for i, l := range codes.Index {
					names[i] = codes.Levels[l]
				}
			}
			for k := range r.Predictors {
				d := &r.Predictors[k]
				cov, got, cross, variance := r.Covariances(k)
				x, rest, w := rowsOfParts(t, r, m, tab, k, c.weights)
				p, sumW := cov.SymmetricDim(), 0.0
				sums := map[string]*mat.VecDense{}
				for i, name := range names {
					sumW += w[i]
					if w[i] == 0 {
						continue
					}
					if sums[name] == nil {
						sums[name] = mat.NewVecDense(p+1, nil)
					}
					row := mat.NewVecDense(p+1, nil)
					for j := range p {
						row.SetVec(j, x.At(i, j)-r.Means(k)[j])
					}
					row.SetVec(p, 1)
					sums[name].AddScaledVec(sums[name], w[i]*rest[i], row)
				}
				g := float64(len(sums))
				if r.Clusters != int64(len(sums)) || r.Cluster != c.cluster {
					t.Errorf("%d clusters %q, want %d", r.Clusters, r.Cluster, len(sums))
				}
				middle := mat.NewDense(p+1, p+1, nil)
				for _, u := range sums {
					var outer mat.Dense
					outer.Outer(g/(g-1), u, u)
					middle.Add(middle, &outer)
				}
				// Influences: A^-1 on the columns, 1/sum w on the intercept.
				in := mat.NewDense(p+1, p+1, nil)
				in.Slice(0, p, 0, p).(*mat.Dense).Scale(1/d.Scale, cov)
				in.Set(p, p, 1/sumW)
				var half, want mat.Dense
				half.Mul(in, middle)
				want.Mul(&half, in)
				bias := smoothingBias(cov, d.Scale, x, w, r.Means(k))
				sum := mat.NewSymDense(p, nil)
				for i := range p {
					near(t, "covariance with the intercept", cross[i], want.At(i, p), 1e-8*math.Sqrt(want.At(p, p)*(want.At(i, i)+want.At(p, p))))
					for j := i; j < p; j++ {
						sum.SetSym(i, j, want.At(i, j)+bias.At(i, j))
					}
				}
				sameSym(t, "clustered covariance", got, sum, 1e-8)
				near(t, "variance of the intercept", variance, want.At(p, p), 1e-9*want.At(p, p))
			}
		}
	}
}

// smoothingBias is phi (A^-1 - A^-1 X'WX A^-1).
func smoothingBias(cov *mat.SymDense, phi float64, x *mat.Dense, w, mean []float64) *mat.Dense {
	n, p := x.Dims()
	h := mat.NewDense(p, p, nil)
	for i := range n {
		row := mat.NewVecDense(p, nil)
		row.SubVec(x.RowView(i), mat.NewVecDense(p, mean))
		var outer mat.Dense
		outer.Outer(w[i], row, row)
		h.Add(h, &outer)
	}
	var ch, chc mat.Dense
	ch.Mul(cov, h)
	chc.Mul(&ch, cov)
	chc.Scale(-1/phi, &chc)
	chc.Add(cov, &chc)
	return &chc
}

// TestBandsDoNotDependOnThePass: workers and batches change no bit of robust bands.
func TestBandsDoNotDependOnThePass(t *testing.T) {
	for _, of := range []struct {
		cluster string
		method  decompose.Method // predictors share leverages by PHO
	}{{"", ""}, {"g", ""}, {"", decompose.PHO}, {"g", decompose.PHO}} {
		var first []byte
		for _, c := range []struct{ workers, batch int }{{1, 4096}, {3, 1000}, {7, 37}} {
			tab := sandwichTable(t, 13000)
			tab.BatchRows = c.batch
			o := &decompose.Options{Columns: decompose.Columns{Weights: "w", Cluster: of.cluster}, Resources: decompose.Resources{Workers: c.workers}}
			o.Method = of.method
			r := decomposed(t, formulaModel(t, `~ s(x0,bs="ps",k=20) + x1 + g + te(x1,x2,k=4)`, tab, 2), tab, o)
			_, moments := encode(t, r)
			if first == nil {
				first = moments
			} else if !bytes.Equal(first, moments) {
				t.Errorf("cluster %q, method %q: other bytes with %d workers and batches of %d rows", of.cluster, of.method, c.workers, c.batch)
			}
		}
	}
}

// TestBandsAreRead: a result read back has the same bands, an artifact without them those
// of the projection.
func TestBandsAreRead(t *testing.T) {
	tab := sandwichTable(t, 600)
	for _, o := range []decompose.Options{{}, {Bands: decompose.ProjectionBands}, {Bands: decompose.NoBands},
		{Columns: decompose.Columns{Cluster: "g"}}, {Projection: decompose.Projection{WithoutIntercept: []string{"eta"}}}} {
		m := formulaModel(t, `~ s(x0,bs="ps",k=9) + x1`, tab, 1)
		r := decomposed(t, m, tab, &o)
		doc, moments := encode(t, r)
		again, err := decompose.Read(bytes.NewReader(doc), bytes.NewReader(moments), basis.Decode)
		must(t, err)
		b := all(t, tab, 50)
		for j := range 2 {
			one, err := mustApplier(t, r, m).SimultaneousEffect(context.Background(), 0, []int{j}, b, 3)
			must(t, err)
			two, err := mustApplier(t, again, m).SimultaneousEffect(context.Background(), 0, []int{j}, b, 3)
			must(t, err)
			if o.Bands == decompose.NoBands {
				if !math.IsNaN(one.SE[0]) || !math.IsNaN(two.SE[0]) || !math.IsNaN(one.Simultaneous[0]) {
					t.Errorf("bands none: %g %g", one.SE[0], two.SE[0])
				}
				continue
			}
			if !slices.Equal(one.SE, two.SE) || !slices.Equal(one.Simultaneous, two.Simultaneous) || !(one.SE[0] > 0) {
				t.Errorf("bands %q: term %d: %v and %v", o.Bands, j, one.SE[:3], two.SE[:3])
			}
		}
	}
	// Both sections are whole, or it is an error.
	r := decomposed(t, formulaModel(t, `~ x1`, tab, 1), tab, nil)
	doc, moments := encode(t, r)
	for _, cut := range []int{1, 8, 20, 30, 33} {
		without := strings.Replace(string(doc), r.MomentsSHA256, "", 1)
		signed, err := decompose.Sign([]byte(without))
		must(t, err)
		if _, err := decompose.Read(bytes.NewReader(signed), bytes.NewReader(moments[:len(moments)-cut]), basis.Decode); err == nil {
			t.Errorf("moments without the last %d bytes are read", cut)
		}
	}
}

// TestOddBands: a level of one row, saturated columns, all of the remainder in one row, more
// columns than rows, zeta in the span.
func TestOddBands(t *testing.T) {
	tab := sandwichTable(t, 300)
	t.Run("a level of one row", func(t *testing.T) {
		m := formulaModel(t, `~ x1 + g`, tab, 1)
		r := decomposed(t, m, tab, &decompose.Options{Projection: decompose.Projection{Method: decompose.PHO}})
		d := r.Predictors[0]
		for _, term := range d.Terms {
			if want := int64(0); term.Name == "g" {
				want = 1
				if term.PinnedRows < want {
					t.Errorf("%d pinned rows of g", term.PinnedRows)
				}
			} else if term.PinnedRows != want {
				t.Errorf("%d pinned rows of %s", term.PinnedRows, term.Name)
			}
		}
		e, err := mustApplier(t, r, m).Effect(context.Background(), 0, 1, all(t, tab, 1)) // the row itself
		must(t, err)
		if !(e.SE[0] > 0.9*math.Sqrt(d.Scale)) {
			t.Errorf("standard error %g where one row is all there is, scale %g", e.SE[0], d.Scale)
		}
	})
	t.Run("rank n", func(t *testing.T) {
		small := sandwichTable(t, 9)
		m := formulaModel(t, `~ te(x0,x1,bs="ps",k=5) + x1 + x2`, small, 1)
		r := decomposed(t, m, small, &decompose.Options{Projection: decompose.Projection{Method: decompose.PHO}})
		e, err := mustApplier(t, r, m).SimultaneousEffect(context.Background(), 0, []int{0}, all(t, small, 9), 1)
		must(t, err)
		if !math.IsNaN(e.SE[0]) || !math.IsNaN(e.Simultaneous[0]) {
			t.Errorf("standard error %g without a remainder", e.SE[0])
		}
		encode(t, r)
	})
	t.Run("more columns than rows", func(t *testing.T) {
		small := sandwichTable(t, 30)
		m := formulaModel(t, `~ s(x0,bs="ps",k=20,sp=3) + te(x1,x2,bs="ps",k=6,sp=c(4,5))`, small, 1)
		r := decomposed(t, m, small, nil)
		e, err := mustApplier(t, r, m).SimultaneousEffect(context.Background(), 0, []int{0}, all(t, small, 30), 1)
		must(t, err)
		for i := range e.SE {
			if !(e.SE[i] > 0 && e.Simultaneous[i] > e.SE[i]) {
				t.Fatalf("standard error %g, band %g", e.SE[i], e.Simultaneous[i])
			}
		}
	})
	t.Run("one row has all of the remainder", func(t *testing.T) {
		one := data.NewTable(200)
		x, y, w := make([]float64, 200), make([]float64, 200), make([]float64, 200)
		for i := range x {
			x[i], w[i] = float64(i%20), float64(i%3)
		}
		y[76] = 5
		must(t, one.AddNumeric("x0", x))
		must(t, one.AddNumeric("zeta", y))
		must(t, one.AddNumeric("w", w))
		m, err := decompose.With(&responses{[]string{"eta"}, []string{"zeta"}}, map[string][]decompose.Block{"": builtBlocks(t, `~ s(x0,bs="ps",k=8)`, one)})
		must(t, err)
		for _, weights := range []string{"", "w"} {
			r := decomposed(t, m, one, &decompose.Options{Columns: decompose.Columns{Weights: weights}})
			e, err := mustApplier(t, r, m).SimultaneousEffect(context.Background(), 0, []int{0}, all(t, one, 20), 1)
			must(t, err)
			if !(slices.Max(e.SE) > 0) || slices.ContainsFunc(e.Simultaneous, math.IsNaN) {
				t.Errorf("standard errors %v", e.SE)
			}
		}
	})
	t.Run("nothing remains", func(t *testing.T) {
		f := newFake(1)
		f.deep = func(_ int, x []float64) float64 { return 2 * x[1] }
		r := decomposed(t, f, tab, nil)
		e, err := mustApplier(t, r, f).SimultaneousEffect(context.Background(), 0, []int{1}, all(t, tab, 10), 1)
		must(t, err)
		if !(e.SE[0] < 1e-12) || !(e.Simultaneous[0] < 1e-11) {
			t.Errorf("standard error %g", e.SE[0])
		}
	})
	t.Run("one cluster", func(t *testing.T) {
		one := sandwichTable(t, 50)
		must(t, one.AddTexts("same", slices.Repeat([]string{"a"}, 50)))
		_, err := decompose.Decompose(context.Background(), newFake(1), one, &decompose.Options{Columns: decompose.Columns{Cluster: "same"}})
		if err == nil || !strings.Contains(err.Error(), `"same"`) {
			t.Errorf("one cluster: %v", err)
		}
	})
	t.Run("a level in one cluster", func(t *testing.T) {
		one := sandwichTable(t, 400)
		text, where := make([]string, 400), make([]string, 400)
		for i := range text {
			text[i], where[i] = fmt.Sprint("a", i%3), fmt.Sprint(i%40)
			if i%40 == 7 {
				text[i] = "alone"
			}
		}
		must(t, one.AddTexts("level", text))
		must(t, one.AddTexts("where", where))
		m := formulaModel(t, `~ level + x1`, one, 1)
		r := decomposed(t, m, one, &decompose.Options{Columns: decompose.Columns{Cluster: "where"}})
		if len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "1 of 4 columns of level") {
			t.Errorf("warnings %q", r.Warnings)
		}
		if r := decomposed(t, m, one, &decompose.Options{Columns: decompose.Columns{Cluster: "day"}}); !strings.Contains(strings.Join(r.Warnings, " "), "3 clusters of \"day\" are few") {
			t.Errorf("warnings %q", r.Warnings)
		}
	})
	t.Run("options", func(t *testing.T) {
		for _, o := range []decompose.Options{{Bands: "wide"}, {Bands: decompose.NoBands, Columns: decompose.Columns{Cluster: "g"}}, {Columns: decompose.Columns{Cluster: "missing"}}} {
			if _, err := decompose.Decompose(context.Background(), newFake(1), tab, &o); err == nil {
				t.Errorf("%+v is taken", o)
			}
		}
	})
}

// TestProjectionBandsAreAsTheyWere: Solve gives them, and the last pass leaves them if asked.
func TestProjectionBandsAreAsTheyWere(t *testing.T) {
	tab := sandwichTable(t, 500)
	m := formulaModel(t, `~ s(x0,bs="ps",k=9) + x1 + g`, tab, 1)
	o := &decompose.Options{Bands: decompose.ProjectionBands}
	s, err := decompose.Accumulate(context.Background(), m, tab, o)
	must(t, err)
	r, err := decompose.Solve(context.Background(), m, s, o)
	must(t, err)
	b := all(t, tab, 20)
	solved, err := mustApplier(t, r, m).Effect(context.Background(), 0, 0, b)
	must(t, err)
	must(t, decompose.Explain(context.Background(), m, tab, r, o))
	explained, err := mustApplier(t, r, m).Effect(context.Background(), 0, 0, b)
	must(t, err)
	if !slices.Equal(solved.SE, explained.SE) || r.Bands != "" {
		t.Error("the last pass changed the projection's standard errors")
	}
	must(t, decompose.Explain(context.Background(), m, tab, r, nil))
	robust, err := mustApplier(t, r, m).Effect(context.Background(), 0, 0, b)
	must(t, err)
	if slices.Equal(solved.SE, robust.SE) || r.Bands != decompose.RobustBands {
		t.Error("the last pass did not change them when asked to")
	}
}

// TestSandwichesOfShardsMerge: the sums of two shards merge to the bytes of one pass.
func TestSandwichesOfShardsMerge(t *testing.T) {
	tab := sandwichTable(t, 11000)
	m := formulaModel(t, `~ s(x0,bs="ps",k=12) + x1 + s(x2,k=6)`, tab, 2)
	o := &decompose.Options{}
	r := decomposed(t, m, tab, o)
	rows, err := decompose.ChunkRows(m)
	must(t, err)
	ctx, b := context.Background(), all(t, tab, tab.Rows())
	sums := func(b data.Source, o *decompose.Options) *decompose.Explanation {
		e, err := decompose.NewExplaining(m, r, o)
		must(t, err)
		s, err := e.Accumulate(ctx, b)
		must(t, err)
		return s
	}
	second := *o
	second.FirstChunk = 1
	one, first, rest := sums(tab, o), sums(part(t, b, 0, rows), o), sums(part(t, b, rows, tab.Rows()), &second)
	must(t, first.Merge(rest))
	if !bytes.Equal(decompose.BandBytes(first), decompose.BandBytes(one)) {
		t.Error("other bytes")
	}
}

// FuzzMomentsFile: bytes from elsewhere behind the moments are an error or bands, never a
// panic.
func FuzzMomentsFile(f *testing.F) {
	tab := table(f, 60, 2)
	r, err := decompose.Decompose(context.Background(), newFake(2), tab, nil)
	if err != nil {
		f.Fatal(err)
	}
	var moments, doc bytes.Buffer
	if err := errors.Join(r.EncodeMoments(&moments), r.Encode(&doc)); err != nil {
		f.Fatal(err)
	}
	signed, err := decompose.Sign([]byte(strings.Replace(doc.String(), r.MomentsSHA256, "", 1)))
	if err != nil {
		f.Fatal(err)
	}
	whole := moments.Bytes()
	at := bytes.LastIndex(whole, []byte("robust/1\n"))
	if at < 0 {
		f.Fatal("no robust bands in the moments")
	}
	f.Add(whole[at:])
	f.Add(whole[at : len(whole)-1])
	f.Add([]byte{})
	f.Add([]byte("robust/2\n"))
	f.Fuzz(func(t *testing.T, tail []byte) {
		again, err := decompose.Read(bytes.NewReader(signed), bytes.NewReader(append(whole[:at:at], tail...)), decodeFake)
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := again.EncodeMoments(&b); err != nil {
			t.Error(err)
		} else if !bytes.Equal(b.Bytes()[at:], tail) {
			t.Error("what was read is written as other bytes")
		}
	})
}
