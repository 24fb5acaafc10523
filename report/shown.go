package report

import (
	"math"
	"slices"

	"github.com/pho-go/pho/decompose"
)

// shown are the curves of an effect as they are drawn: of the outcome.
type shown struct {
	after, before              []float64
	low, high, simLow, simHigh []float64   // of the bands at a point and of the whole curve; nil: none, NaN: not there
	networks                   [][]float64 // after, of each of several
}

// shown are the curves of e, one of the effects of the predictor. Surfaces are drawn as they are.
func (d *drawing) shown(e *Effect) *shown {
	if v, ok := d.known[e]; ok {
		return v
	}
	v := &shown{after: e.After, before: e.Before}
	limit := func(half func(i int) float64, sign float64) []float64 {
		out := make([]float64, len(e.After))
		for i := range out {
			out[i] = math.NaN()
			if !notFinite(e.SE[i]) {
				out[i] = e.After[i] + sign*half(i)
			}
		}
		return out
	}
	v.low, v.high = limit(e.half, -1), limit(e.half, 1)
	if e.Sim != nil {
		sim := func(i int) float64 { return e.Sim[i] }
		v.simLow, v.simHigh = limit(sim, -1), limit(sim, 1)
	}
	if e.Networks != nil {
		v.networks = e.Networks.After
	}
	if d.outcome.told != differences && e.X2 == nil {
		v = d.carried(e, v)
	}
	if d.known != nil {
		d.known[e] = v
	}
	return v
}

// drawsResponse tells whether the pictures of e are on the scale of the response.
func (d *drawing) drawsResponse(e *Effect) bool {
	return d.outcome.told != differences && e.X2 == nil && (d.classes == nil || d.probabilities(e) != nil)
}

// carried are the curves on the scale of the response. Where those of classes cannot be, for want
// of another class's effect, they stay as they are.
func (d *drawing) carried(e *Effect, v *shown) *shown {
	if d.classes != nil {
		if p := d.probabilities(e); p != nil {
			return p
		}
		return v
	}
	at := func(curve []float64) []float64 {
		if curve == nil {
			return nil
		}
		out := make([]float64, len(curve))
		for i := range out {
			out[i] = d.at(curve[i])
		}
		return out
	}
	out := &shown{after: at(v.after), before: at(v.before), low: at(v.low), high: at(v.high), simLow: at(v.simLow), simHigh: at(v.simHigh)}
	for _, f := range v.networks {
		out.networks = append(out.networks, at(f))
	}
	return out
}

// weak tells whether the rows hardly tell what is drawn of terms of p, one or a sum: a probability of a class hangs
// on the predictors of all.
func (d *drawing) weak(p *decompose.Predictor, terms []*decompose.TermResult) bool {
	var names []string
	for _, t := range terms {
		names = append(names, t.Name)
	}
	return isWeak(p, names) && !slices.ContainsFunc(d.classes, func(c class) bool { return !isWeak(c.of, names) })
}

// isWeak tells whether the rows hardly tell the term of p or the sum of terms; true of those that p does not have.
func isWeak(p *decompose.Predictor, names []string) bool {
	if e := sumOf(p, names); e != nil {
		return e.Weak != nil
	}
	return !slices.ContainsFunc(p.Terms, func(t decompose.TermResult) bool {
		return t.Name == names[0] && verdict(&t) != decompose.Weak
	})
}

// class is a predictor that a softmax takes, with its effects by term.
type class struct {
	of      *decompose.Predictor
	effects map[string]*Effect
}

// classesOf are those that a softmax takes together; nil of another response.
func classesOf(r *decompose.Result, of response, effects []Effect) (out []class) {
	for _, k := range of.With {
		c := class{&r.Predictors[k], map[string]*Effect{}}
		for i := range effects {
			if e := &effects[i]; e.Predictor == c.of.Name && e.Note == "" {
				c.effects[e.Term] = e
			}
		}
		out = append(out, c)
	}
	return out
}

// alongside are the classes' own effects of e's term, on its grid: nil of a class that has not the term. nil: another class has
// it on another grid.
func (d *drawing) alongside(e *Effect) []*Effect {
	out := make([]*Effect, len(d.classes))
	for l, c := range d.classes {
		other := c.effects[e.Term]
		if c.of.Name == e.Predictor {
			other = e
		}
		if other == nil && slices.ContainsFunc(c.of.Terms, func(t decompose.TermResult) bool { return t.Name == e.Term || slices.Contains(e.Sum, t.Name) }) {
			return nil
		}
		if other != nil && (len(other.After) != len(e.After) || !slices.Equal(other.X.Values, e.X.Values) || !slices.Equal(other.X.Levels, e.X.Levels)) {
			return nil
		}
		out[l] = other
	}
	return out
}

// probabilities are those of a class along an effect, all classes moving with the feature, each by
// its own effect of the same term. There is no band, which would need to know how classes' errors
// hang together. nil: another class has the term on another grid.
func (d *drawing) probabilities(e *Effect) *shown {
	effects := d.alongside(e)
	if effects == nil {
		return nil
	}
	own := slices.IndexFunc(d.classes, func(c class) bool { return c.of == d.of })
	at := func(values func(e *Effect) []float64) []float64 {
		out := make([]float64, len(e.After))
		for i := range out {
			eta := make([]float64, len(effects))
			for l, other := range effects {
				eta[l] = d.classes[l].of.Intercept
				if other != nil {
					eta[l] += values(other)[i]
				}
			}
			out[i] = softmax(eta, own, d.outcome.of.Reference)
		}
		return out
	}
	return &shown{after: at(func(e *Effect) []float64 { return e.After }), before: at(func(e *Effect) []float64 { return e.Before })}
}

// softmax is the share of one of etas; reference: with a class besides whose eta is 0.
func softmax(etas []float64, of int, reference bool) float64 {
	highest := slices.Max(etas)
	if reference {
		highest = math.Max(highest, 0)
	}
	sum := 0.0
	for _, eta := range etas {
		sum += math.Exp(eta - highest)
	}
	if reference {
		sum += math.Exp(-highest)
	}
	return math.Exp(etas[of]-highest) / sum
}
