package decompose_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// networks are n fakes of k predictors that differ in deep part and coefficients.
func networks(n, k int, change func(i int, f *fake)) []decompose.Member {
	var out []decompose.Member
	for i := range n {
		f, own := newFake(k), float64(i)
		base := f.deep
		f.deep = func(k int, x []float64) float64 {
			return base(k, x) + 0.3*own*math.Cos(x[0]+own) - 0.2*own*x[1]*x[2] + 0.05*own*own
		}
		for p := range f.beta {
			f.beta[p] = []float64{1 + 0.1*own, -2 + 0.3*own, 0.25 - 0.2*own}
		}
		f.offset = 0.5 + 0.1*own
		if change != nil {
			change(i, f)
		}
		out = append(out, decompose.Member{Name: fmt.Sprintf("net%d", i), Model: f})
	}
	return out
}

// withTerms gives all networks the formula's terms.
func withTerms(t testing.TB, src *data.Table, members []decompose.Member, formula string) []decompose.Member {
	t.Helper()
	f, err := basis.Parse(formula, &basis.Options{Schema: src.Schema()})
	if err != nil {
		t.Fatal(err)
	}
	blocks, err := decompose.Prepare(context.Background(), src, f.Specs, nil)
	if err != nil {
		t.Fatal(err)
	}
	var out []decompose.Member
	for _, m := range members {
		with, err := decompose.With(m.Model, map[string][]decompose.Block{"": blocks})
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, decompose.Member{Name: m.Name, Model: with})
	}
	return out
}

func join(t testing.TB, members []decompose.Member) *decompose.Members {
	t.Helper()
	m, err := decompose.Join(members, decompose.Resamples)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func fittedTo(t testing.TB, m decompose.Model, src data.Source, o *decompose.Options) *decompose.Result {
	t.Helper()
	r, err := decompose.Decompose(context.Background(), m, src, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// agree compares numbers relative to the largest of want, or to 1.
func agree(t *testing.T, what string, got, want []float64, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d numbers, want %d", what, len(got), len(want))
	}
	scale := math.Max(1, floats.Norm(want, math.Inf(1)))
	for i := range got {
		if !(math.Abs(got[i]-want[i]) <= tolerance*scale) {
			t.Errorf("%s [%d]: %.12g, want %.12g", what, i, got[i], want[i])
			return
		}
	}
}

// TestMembersAreEach: a network among others has the results of a decomposition of it alone at the
// same smoothing parameters, by every route, with aliased terms, weights, two predictors and a
// refit of the total; the mean's is the mean.
func TestMembersAreEach(t *testing.T) {
	tab := table(t, 700, 3)
	for _, c := range []struct {
		name, formula string
		predictors    int
		o             decompose.Options
		tolerance     float64
	}{
		{"pho", "~ day", 1, decompose.Options{}, 1e-9},
		{"smooth", `~ s(x0, bs="ps", k=10) + s(x1) + day`, 1, decompose.Options{}, 1e-8},
		{"weights", `~ s(x0) + day`, 2, decompose.Options{Columns: decompose.Columns{Weights: "w"}}, 1e-8},
		{"total", `~ s(x0) + s(x2)`, 1, decompose.Options{Projection: decompose.Projection{RefitTotal: true}}, 1e-8},
		{"qr", `~ s(x0) + s(x2)`, 1, decompose.Options{Projection: decompose.Projection{Route: decompose.QR}}, 1e-8},
		{"qr pho", `~ day`, 1, decompose.Options{Projection: decompose.Projection{Route: decompose.QR}}, 1e-9},
		{"no intercept", `~ s(x0)`, 1, decompose.Options{Projection: decompose.Projection{WithoutIntercept: []string{"eta"}}}, 1e-8},
		{"own terms alone", ``, 2, decompose.Options{}, 1e-9},
	} {
		t.Run(c.name, func(t *testing.T) {
			members := networks(4, c.predictors, nil)
			if c.formula != "" {
				members = withTerms(t, tab, members, c.formula)
			}
			o := c.o
			joined := join(t, members)
			if !joined.Shared() {
				t.Fatal("the columns are the same, and not shared")
			}
			r := fittedTo(t, joined, tab, &o)
			o.SP = map[string][]float64{}
			for _, term := range r.Predictors[0].Terms {
				if len(term.SP) > 0 {
					o.SP[term.Name] = term.SP
				}
			}
			fixed := fittedTo(t, joined, tab, &o)
			for k := range fixed.Predictors {
				d := &fixed.Predictors[k]
				mean := 0.0
				for i := range members {
					alone := &fittedTo(t, members[i].Model, tab, &o).Predictors[k]
					own := d.Members[i]
					agree(t, "intercepts", []float64{own.Intercept, own.InterceptBefore, own.InterceptMoved}, []float64{alone.Intercept, alone.InterceptBefore, alone.InterceptMoved}, c.tolerance)
					agree(t, "scale", []float64{own.Scale}, []float64{alone.Scale}, c.tolerance)
					agree(t, "variance", []float64{own.Variance.Structured, own.Variance.Unstructured, own.VarianceBefore.Total}, []float64{alone.Variance.Structured, alone.Variance.Unstructured, alone.VarianceBefore.Total}, c.tolerance)
					for j := range alone.Terms {
						m := d.Terms[j].Members[i]
						agree(t, "beta of "+alone.Terms[j].Name, m.Beta, alone.Terms[j].Beta, 1e-15)
						agree(t, "sd of "+alone.Terms[j].Name, []float64{m.After.Variance, m.Moved.Variance, m.Before.Variance}, []float64{alone.Terms[j].After.Variance, alone.Terms[j].Moved.Variance, alone.Terms[j].Before.Variance}, c.tolerance)
					}
					mean += own.Intercept / float64(len(members))
				}
				agree(t, "mean intercept", []float64{d.Intercept}, []float64{mean}, 1e-10)
			}
		})
	}
}

// TestMembersWithoutTerms: black boxes and no formula.
func TestMembersWithoutTerms(t *testing.T) {
	var members []decompose.Member
	for _, m := range networks(3, 2, nil) {
		members = append(members, decompose.Member{Name: m.Name, Model: &blackBox{m.Model.(*fake)}})
	}
	r := fittedTo(t, join(t, members), table(t, 200, 4), nil)
	for i, own := range r.Predictors[1].Members {
		alone := fittedTo(t, members[i].Model, table(t, 200, 4), nil).Predictors[1]
		agree(t, "alone", []float64{own.Intercept, own.Variance.Unstructured, own.Scale}, []float64{alone.Intercept, alone.Variance.Unstructured, alone.Scale}, 1e-12)
	}
}

// curves are the effects of term j of each network alone at the rows of b.
func curves(t testing.TB, members []decompose.Member, src data.Source, o *decompose.Options, j int, b *data.Batch) (before, after [][]float64, sd []float64) {
	t.Helper()
	sd = make([]float64, b.Rows())
	for _, m := range members {
		a, err := fittedTo(t, m.Model, src, o).Applier(m.Model)
		if err != nil {
			t.Fatal(err)
		}
		e, err := a.Effect(context.Background(), 0, j, b)
		if err != nil {
			t.Fatal(err)
		}
		before, after = append(before, e.Before), append(after, e.After)
		for i, se := range e.SE {
			sd[i] += se * se / float64(len(members))
		}
	}
	for i := range sd {
		sd[i] = math.Sqrt(sd[i])
	}
	return before, after, sd
}

// kindsOfMembers are formulas for networks by what is special about them: their own columns
// are the same or learned, or terms have margins.
func kindsOfMembers() map[string]string {
	return map[string]string{"shared": "", "learned": "", "margins": `~ day + day:x2 + half + half:day + x0:x1 + half:x0:x1`}
}

// membersOf are three networks of k outputs, of a kind of kindsOfMembers: the columns that
// "learned" ones find themselves have coefficients that differ by network.
func membersOf(t *testing.T, tab *data.Table, kind, formula string, k int) []decompose.Member {
	t.Helper()
	members := networks(3, k, func(i int, f *fake) {
		if kind == "learned" {
			f.withTap()
			f.gamma = []float64{1, -1 + float64(i), 0.5, 2}
		}
	})
	if formula != "" {
		members = withTerms(t, tab, members, formula)
	}
	return members
}

// addHalf adds a second factor to the rows, half.
func addHalf(t *testing.T, tab *data.Table) {
	t.Helper()
	half := make([]string, tab.Rows())
	for i := range half {
		half[i] = []string{"first", "second"}[i*i%7%2]
	}
	if err := tab.AddTexts("half", half); err != nil {
		t.Fatal(err)
	}
}

// TestMembersEffects: curves, their mean, the sd between them at a point and over the rows,
// and the mean of the projection's variances, with shared columns and with a basis that
// each network learned itself.
func TestMembersEffects(t *testing.T) {
	tab := table(t, 600, 5)
	addHalf(t, tab)
	b := all(t, tab, 600)
	for name, formula := range kindsOfMembers() {
		learned := name == "learned"
		t.Run(name, func(t *testing.T) {
			members := membersOf(t, tab, name, formula, 1)
			joined := join(t, members)
			if joined.Shared() == learned {
				t.Fatalf("shared %t", joined.Shared())
			}
			c := &collector{}
			o := &decompose.Options{}
			if learned {
				o.Bands = decompose.ProjectionBands // there is no A for all
			}
			with := *o
			with.Visitors = []decompose.Visitor{c}
			r := fittedTo(t, joined, tab, &with)
			if (r.Predictors[0].Hierarchy != nil) != (formula != "") {
				t.Fatal("hierarchical terms are not where margins are")
			}
			a, err := r.Applier(joined)
			if err != nil {
				t.Fatal(err)
			}
			for j := range r.Predictors[0].Terms {
				term := &r.Predictors[0].Terms[j]
				before, after, se := curves(t, members, tab, o, j, b)
				e, err := a.Effect(context.Background(), 0, j, b)
				if err != nil {
					t.Fatal(err)
				}
				agree(t, "se of "+term.Name, e.SE, se, 1e-8)
				var rowsB, rowsA float64
				for i := range b.Rows() {
					var at, was []float64
					for m := range members {
						at, was = append(at, after[m][i]), append(was, before[m][i])
					}
					agree(t, term.Name, []float64{e.After[i], e.Before[i], e.Networks.SD[i], e.Networks.SDBefore[i]},
						[]float64{stat.Mean(at, nil), stat.Mean(was, nil), stat.StdDev(at, nil), stat.StdDev(was, nil)}, 1e-8)
					rowsA += stat.Variance(at, nil) / float64(b.Rows())
					rowsB += stat.Variance(was, nil) / float64(b.Rows())
				}
				for m := range members {
					agree(t, term.Name, e.Networks.After[m], after[m], 1e-8)
				}
				agree(t, "between sd of "+term.Name, []float64{term.BetweenSD.Before, term.BetweenSD.After}, []float64{math.Sqrt(rowsB), math.Sqrt(rowsA)}, 1e-8)
				agree(t, "variance of "+term.Name, []float64{term.After.Variance}, []float64{stat.PopVariance(e.After, nil)}, 1e-8)
				agree(t, "variance before of "+term.Name, []float64{term.Before.Variance}, []float64{stat.PopVariance(e.Before, nil)}, 1e-8)
			}
			v := r.Predictors[0].Variance
			agree(t, "total variance", []float64{v.Total, r.Predictors[0].VarianceBefore.Total}, []float64{stat.PopVariance(c.eta[0], nil), stat.PopVariance(c.eta[0], nil)}, 1e-9)
		})
	}
}

// TestMembersArtifact: written and read again the result is the same, gives the same parts
// and effects, and those of every network, which sum to its own output.
func TestMembersArtifact(t *testing.T) {
	tab := table(t, 300, 6)
	addHalf(t, tab)
	for name, formula := range kindsOfMembers() {
		t.Run(name, func(t *testing.T) {
			members := membersOf(t, tab, name, formula, 2)
			joined := join(t, members)
			r := fittedTo(t, joined, tab, nil)
			var moments, doc bytes.Buffer
			if err := r.EncodeMoments(&moments); err != nil {
				t.Fatal(err)
			}
			if err := r.Encode(&doc); err != nil {
				t.Fatal(err)
			}
			again, err := decompose.Read(bytes.NewReader(doc.Bytes()), &moments, basis.Decode)
			if err != nil {
				t.Fatal(err)
			}
			if again.Networks.From != decompose.Resamples || strings.Join(again.Networks.Names, " ") != "net0 net1 net2" {
				t.Errorf("networks %v", again.Networks)
			}
			var second bytes.Buffer
			if err := again.Encode(&second); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(doc.Bytes(), second.Bytes()) {
				t.Error("written again it differs")
			}
			for i, m := range members {
				own, err := again.Network(joined, i)
				if err != nil {
					t.Fatal(err)
				}
				a, err := own.Applier(m.Model)
				if err != nil {
					t.Fatal(err)
				}
				parts, err := a.Parts(context.Background(), all(t, tab, 300))
				if err != nil {
					t.Fatal(err)
				}
				for _, p := range parts.Predictors {
					for row := range p.Eta {
						agree(t, "parts", []float64{p.Intercept + floats.Sum(p.Row(row)) + p.Unstructured[row]}, []float64{p.Eta[row]}, 1e-10)
					}
				}
			}
			damaged := bytes.Replace(doc.Bytes(), []byte(`"net2"`), []byte(`"net2", "net3"`), 1)
			signed, err := decompose.Sign(damaged)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := decompose.Read(bytes.NewReader(signed), nil, basis.Decode); err == nil || !strings.Contains(err.Error(), "networks") {
				t.Errorf("a network too many: %v", err)
			}
		})
	}
}

// TestMembersDoNotDependOn: workers, batches, kept outputs and the order of the networks
// change nothing, the latter up to rounding.
func TestMembersDoNotDependOn(t *testing.T) {
	tab := table(t, 9000, 7)
	addHalf(t, tab)
	encode := func(m decompose.Model, o *decompose.Options) string {
		r := fittedTo(t, m, tab, o)
		var b bytes.Buffer
		if err := r.EncodeMoments(&b); err != nil {
			t.Fatal(err)
		}
		if err := r.Encode(&b); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	for name, formula := range kindsOfMembers() {
		t.Run(name, func(t *testing.T) {
			members := membersOf(t, tab, name, formula, 1)
			m := join(t, members)
			first := encode(m, &decompose.Options{Resources: decompose.Resources{Workers: 1}})
			for _, o := range []decompose.Resources{{Workers: 3}, {Workers: 2, OutputMemory: -1}} {
				if encode(m, &decompose.Options{Resources: o}) != first {
					t.Errorf("%+v changes bytes", o)
				}
			}
			turned := join(t, []decompose.Member{members[2], members[0], members[1]})
			a, b := fittedTo(t, m, tab, nil), fittedTo(t, turned, tab, nil)
			for j := range a.Predictors[0].Terms {
				x, y := a.Predictors[0].Terms[j], b.Predictors[0].Terms[j]
				agree(t, "turned", []float64{x.After.Variance, x.BetweenSD.After, x.BetweenSD.Before, x.EDF}, []float64{y.After.Variance, y.BetweenSD.After, y.BetweenSD.Before, y.EDF}, 1e-9)
			}
		})
	}
}
