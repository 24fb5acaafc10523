package decompose

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose/internal/moments"
)

// maxJointColumns bounds the covariance of terms whose columns differ between networks:
// above it there are no standard errors.
const maxJointColumns = 4096

// decomposeApart decomposes networks whose columns differ: each by its own products, in a
// pass of its own, and then their mean, in two passes more. The networks run twice, and once
// more for rows whose outputs are not kept.
func (m *Members) decomposeApart(ctx context.Context, src data.Source, o *Options) (*Result, error) {
	p, err := newPlan(m)
	if err != nil {
		return nil, err
	}
	p = p.bare()
	cache, err := o.outputs(m, p)
	if err != nil {
		return nil, err
	}
	defer o.done(cache)
	stats, err := p.accumulate(ctx, m, src, o, cache)
	if err != nil {
		return nil, err
	}
	each := make([]*Result, len(m.members))
	for i, member := range m.members {
		if each[i], err = fitAlone(ctx, member.Model, src, o); err != nil {
			return nil, fmt.Errorf("network %q: %w", member.Name, err)
		}
	}
	total, err := stats.total()
	if err != nil {
		return nil, err
	}
	r := &Result{
		Format: Format, Rows: total.Positive, Method: each[0].Method, Route: each[0].Route,
		Weights: o.Weights, Response: o.Response, Offset: o.Offset,
		Networks: m.described(), Warnings: m.warnings(each), Features: []Feature{}, sum: stats.sum,
	}
	r.describe(o, stats, total)
	r.Terms = Fitted // as each network alone is
	for k := range m.predictors {
		if nesting(planned{blocks: m.blocks[k]}.terms()).Any() && o.Terms != Fitted {
			r.Warnings = append(r.Warnings, fmt.Sprintf("%s: terms stay as each network's projection has them: networks with columns of their own have no margins in common to be orthogonal to", m.predictors[k]))
		}
		r.Predictors = append(r.Predictors, m.meanPredictor(k, each))
	}
	r.state(o.Family)
	if err := p.measure(ctx, m, src, r, total, o, cache); err != nil {
		return nil, err
	}
	return r, p.explain(ctx, m, src, r, o, cache)
}

// bare is p without columns: a pass of it reads the rows, runs the networks and adds up
// what does not concern terms.
func (p *plan) bare() *plan {
	return &plan{index: map[Term]int{}, predictors: p.predictors,
		layout: moments.Layout{Predictors: make([][]int, len(p.predictors)), Responses: len(p.predictors)}}
}

// fitAlone fits one network, without what concerns the response.
func fitAlone(ctx context.Context, m Model, src data.Source, o *Options) (*Result, error) {
	alone := *o
	alone.Family, alone.Response, alone.Offset, alone.Visitors = nil, "", "", nil
	alone.Terms = Fitted
	p, err := newPlan(m)
	if err != nil {
		return nil, err
	}
	return p.fit(ctx, m, src, &alone, nil)
}

// warnings are those of all networks; what each of them has is said once.
func (m *Members) warnings(each []*Result) []string {
	out := []string{}
	for i, r := range each {
		for _, w := range r.Warnings {
			everywhere := !slices.ContainsFunc(each, func(o *Result) bool { return !slices.Contains(o.Warnings, w) })
			if !everywhere {
				w = fmt.Sprintf("network %q: %s", m.members[i].Name, w)
			}
			if !slices.Contains(out, w) {
				out = append(out, w)
			}
		}
	}
	return out
}

// meanPredictor is the mean of predictor k of the networks, but for the variances, which
// need rows.
func (m *Members) meanPredictor(k int, each []*Result) Predictor {
	own := make([]*Predictor, len(each))
	for i, r := range each {
		own[i] = &r.Predictors[k]
	}
	mean := func(of func(*Predictor) float64) (sum float64) {
		for _, d := range own {
			sum += of(d) / float64(len(own))
		}
		return sum
	}
	d := Predictor{
		Name: m.predictors[k], Uniqueness: own[0].Uniqueness, Rank: own[0].Rank, Columns: own[0].Columns, RankTolerance: own[0].RankTolerance, Status: own[0].Status,
		Intercept:       mean(func(d *Predictor) float64 { return d.Intercept }),
		InterceptBefore: mean(func(d *Predictor) float64 { return d.InterceptBefore }),
		InterceptMoved:  mean(func(d *Predictor) float64 { return d.InterceptMoved }),
		EDF:             mean(func(d *Predictor) float64 { return d.EDF }),
		Scale:           mean(func(d *Predictor) float64 { return d.Scale }),
		Aliased:         []string{}, Terms: []TermResult{}, Entangled: []Entanglement{}, Concurvity: []PairConcurvity{}, Importance: []Importance{},
	}
	for _, o := range own {
		d.Rank, d.Columns = min(d.Rank, o.Rank), max(d.Columns, o.Columns)
		d.Iterations, d.Orthogonality = max(d.Iterations, o.Iterations), math.Max(d.Orthogonality, o.Orthogonality)
		d.Aliased = union(d.Aliased, o.Aliased)
		d.addEntangled(o)
		d.addConcurvity(o)
		d.Members = append(d.Members, MemberResult{Intercept: o.Intercept, InterceptBefore: o.InterceptBefore, InterceptMoved: o.InterceptMoved,
			Scale: o.Scale, Variance: o.Variance, VarianceBefore: o.VarianceBefore})
	}
	for _, b := range m.blocks[k] {
		d.Terms = append(d.Terms, meanTerm(b, own))
	}
	d.meanCovariance(own)
	d.sumW, d.fit = own[0].sumW, &fitState{}
	return d
}

// addEntangled adds the groups of o that d does not have.
func (d *Predictor) addEntangled(o *Predictor) {
	for _, e := range o.Entangled {
		if !slices.ContainsFunc(d.Entangled, func(have Entanglement) bool { return slices.Equal(have.Terms, e.Terms) }) {
			d.Entangled = append(d.Entangled, e)
		}
	}
}

// addConcurvity keeps the worst of each pair of terms.
func (d *Predictor) addConcurvity(o *Predictor) {
	for _, c := range o.Concurvity {
		i := slices.IndexFunc(d.Concurvity, func(have PairConcurvity) bool { return have.Term == c.Term && have.With == c.With })
		switch {
		case i < 0:
			d.Concurvity = append(d.Concurvity, c)
		case c.Worst > d.Concurvity[i].Worst:
			d.Concurvity[i] = c
		}
	}
}

// named is the term of that name.
func (d *Predictor) named(name string) *TermResult {
	for j := range d.Terms {
		if d.Terms[j].Name == name {
			return &d.Terms[j]
		}
	}
	return nil
}

// meanTerm is the mean of a term of several networks: b is its block in their mean.
func meanTerm(b Block, own []*Predictor) TermResult {
	verdicts := []Verdict{Sum, Weak, Convention, Identified} // that of the network that says least
	name, d, n := b.Term.Name(), b.Term.Dim(), float64(len(own))
	t := TermResult{Name: name, Kind: b.Term.Kind(), Features: b.Term.Columns(), SP: []float64{}, AliasedWith: []string{}, Identified: true,
		Beta: make([]float64, d), Alpha: make([]float64, d), term: b.Term}
	_, joint := b.Term.(*jointTerm)
	at := 0
	for _, p := range own {
		o := p.named(name)
		t.Columns, t.Identified = max(t.Columns, o.Columns), t.Identified && o.Identified
		t.EDF += o.EDF / n
		if slices.Index(verdicts, o.Verdict) < slices.Index(verdicts, t.Verdict) || t.Verdict == "" {
			t.Verdict, t.Why, t.Because = o.Verdict, o.Why, o.Because
		}
		t.AliasedWith = union(t.AliasedWith, o.AliasedWith)
		t.Concurvity.Worst = math.Max(t.Concurvity.Worst, o.Concurvity.Worst)
		t.Concurvity.Observed = math.Max(t.Concurvity.Observed, o.Concurvity.Observed)
		t.Concurvity.Estimate += o.Concurvity.Estimate / n
		floats.AddScaled(t.Beta[at:at+len(o.Beta)], 1/n, o.Beta)
		floats.AddScaled(t.Alpha[at:at+len(o.Alpha)], 1/n, o.Alpha)
		t.Before.Mean += o.Before.Mean / n
		t.After.Mean += o.After.Mean / n
		t.Moved.Mean += o.Moved.Mean / n
		t.Members = append(t.Members, MemberTerm{At: at, Beta: o.Beta, Alpha: o.Alpha, Before: o.Before, After: o.After, Moved: o.Moved})
		if joint {
			at += len(o.Beta)
		}
	}
	t.Center = t.After.Mean
	if enc, ok := b.Term.(interface{ MarshalJSON() ([]byte, error) }); ok {
		t.Spec, _ = enc.MarshalJSON() // Encode refuses terms without one
	}
	return t
}

// meanCovariance sets the covariance by which a band of the mean's terms has the mean of
// the networks' variances: with x the columns of all of them side by side, an entry is the
// mean of those of the networks that have both columns.
func (d *Predictor) meanCovariance(own []*Predictor) {
	width, start := 0, make([]int, len(d.Terms))
	for j := range d.Terms {
		start[j] = width
		width += len(d.Terms[j].Alpha)
	}
	if width == 0 || width > maxJointColumns || slices.ContainsFunc(own, func(o *Predictor) bool { return o.cov == nil }) {
		return
	}
	cov := mat.NewSymDense(width, nil)
	d.cov, d.mean = cov, make([]float64, width)
	for i, o := range own {
		var place []int // of o's columns
		for _, t := range o.Terms {
			j := slices.IndexFunc(d.Terms, func(u TermResult) bool { return u.Name == t.Name })
			for c := range t.Alpha {
				place = append(place, start[j]+d.Terms[j].Members[i].At+c)
			}
		}
		for a, to := range place {
			d.mean[to] = o.mean[a]
			for b := a; b < len(place); b++ {
				cov.SetSym(to, place[b], cov.At(to, place[b])+o.cov.At(a, b)/float64(len(own)))
			}
		}
	}
}
