package decompose_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

const (
	sum        = decompose.Sum
	weak       = decompose.Weak
	convention = decompose.Convention
)

// instead writes the terms in another way that spans the same functions.
func instead(name, formula string) move {
	return move{name: name, to: func(m *restated) bool { m.formula = formula; return true }, others: true}
}

// TestVerdicts moves what must not matter: see problem.
func TestVerdicts(t *testing.T) {
	if testing.Short() {
		t.Skip("many decompositions, one after the other")
	}
	for _, p := range blackBoxes() {
		t.Run(p.name, p.check)
	}
	for _, p := range structuredNetworks() {
		p.options = asFitted
		t.Run(p.name, p.check)
	}
	for _, p := range hierarchical() {
		t.Run("hierarchical, "+p.name, p.check)
	}
}

// mixedRows are rows of correlated numbers x, z, a copy c of x, and factors g and h that depend
// on them.
func mixedRows(n int) *frame {
	r := rand.New(rand.NewPCG(3, 8))
	x, z, v, c := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	g, h := make([]string, n), make([]string, n)
	for i := range n {
		x[i] = r.NormFloat64()
		z[i] = 0.6*x[i] + 0.8*r.NormFloat64()
		v[i] = r.NormFloat64()
		c[i] = x[i] + 0.05*r.NormFloat64()
		g[i] = []string{"a", "b", "c"}[max(0, min(2, int(math.Round(1+0.7*x[i]+0.7*r.NormFloat64()))))]
		h[i] = []string{"p", "q"}[max(0, min(1, int(math.Round(0.5+0.5*z[i]+0.4*r.NormFloat64()))))]
	}
	return newFrame(n).with("x", x).with("z", z).with("v", v).with("c", c).withText("g", g).withText("h", h)
}

// boxed is a network without structure on the rows of mixedRows.
type boxed struct {
	names  []string
	common func(row) float64 // added to all predictors; nil: nothing
}

type row struct {
	x, z, v, c float64
	g, h       string
}

func (m *boxed) Predictors() []string         { return m.names }
func (m *boxed) Columns() []string            { return []string{"x", "z", "v", "c", "g", "h"} }
func (m *boxed) Intercept(int) float64        { return 0 }
func (m *boxed) Blocks(int) []decompose.Block { return nil }
func (m *boxed) Taps() map[string]int         { return nil }
func (m *boxed) Forward(ctx context.Context, dst *decompose.Outputs, b *data.Batch) error {
	var number [4][]float64
	for j := range number {
		var err error
		if number[j], err = b.Numeric(m.Columns()[j]); err != nil {
			return err
		}
	}
	g, err := b.Codes("g")
	if err != nil {
		return err
	}
	h, err := b.Codes("h")
	if err != nil {
		return err
	}
	for i := range b.Rows() {
		r := row{number[0][i], number[1][i], number[2][i], number[3][i], g.Levels[g.Index[i]], h.Levels[h.Index[i]]}
		for k := range m.names {
			eta := m.at(k, r)
			dst.Eta.Set(i, k, eta)
			dst.Zeta.Set(i, k, eta)
		}
	}
	return ctx.Err()
}

func (m *boxed) at(k int, r row) float64 {
	of := map[string]float64{"a": -0.5, "b": 0.2, "c": 0.9}[r.g]
	if r.h == "q" {
		of += 0.6 + 0.5*of + 0.4*r.x
	}
	eta := math.Sin(2*r.x) + 0.5*r.x*r.z + 0.3*r.z*r.z + of*(1+0.5*r.x) + 0.3*r.c + 0.2*math.Tanh(r.v)*r.x
	eta *= 1 + 0.5*math.Cos(float64(k))
	if m.common != nil {
		eta += m.common(r)
	}
	return eta
}

// box is a problem of a network without structure.
func box(name, formula string, want map[string]decompose.Verdict) *problem {
	return &problem{name: name, rows: mixedRows(900), model: &boxed{names: []string{"eta"}}, formula: formula, want: want, options: asFitted}
}

// asFitted are the options under which terms next to their margins stay as they are fitted.
var asFitted = decompose.Options{Projection: decompose.Projection{Terms: decompose.Fitted}}

func blackBoxes() []*problem {
	all := []*problem{
		box("main effects", "~ x + s(z) + g + h", nil),
		box("a line and its spline", "~ x + s(x) + g", map[string]decompose.Verdict{"x": sum, "s(x)": sum}),
		box("two factors and their combinations", "~ g + h + g:h", map[string]decompose.Verdict{"g": convention, "h": weak, "g:h": convention}),
		box("a factor within another", "~ g + g:h", map[string]decompose.Verdict{"g": convention, "g:h": convention}),
		box("product of numbers", "~ x + z + x:z + g", map[string]decompose.Verdict{"x": convention, "z": convention, "x:z": convention}),
		box("product of a factor and a number", "~ g + x + g:x + h", map[string]decompose.Verdict{"g": convention, "x": convention, "g:x": convention}),
		box("curves by level", "~ g + s(x,by=g,k=6) + h", map[string]decompose.Verdict{"g": convention, "s(x):ga": convention, "s(x):gb": convention, "s(x):gc": convention}),
		box("curves by level alone", "~ s(x,by=g,k=6) + h", nil),
		box("curve and curves by number", "~ s(x,k=6) + s(x,by=z,k=6) + g", map[string]decompose.Verdict{"s(x)": convention, "s(x):z": convention}),
		box("interaction without margins", "~ s(x) + s(z) + ti(x,z,k=5)", map[string]decompose.Verdict{"s(x)": convention, "s(z)": convention, "ti(x,z)": convention}),
		box("surface beside a curve", "~ s(x,k=5,bs=\"cr\") + te(x,z,k=5) + g", map[string]decompose.Verdict{"s(x)": weak, "te(x,z)": convention}),
		box("surface alone", "~ te(x,z,k=5) + s(v) + g", nil),
		box("two curves of one column", "~ s(x,k=8,bs=\"cr\") + s(x,z,k=20) + g", map[string]decompose.Verdict{"s(x)": weak, "s(x,z)": weak}),
		box("surfaces with a column in common", "~ te(x,z,k=4) + te(z,v,k=4)", map[string]decompose.Verdict{"te(x,z)": convention, "te(z,v)": weak}),
		box("interactions with a column in common", "~ ti(x,z,k=4) + ti(z,v,k=4)", nil),
		box("near copies", "~ s(x,k=5) + s(c,k=5) + g", map[string]decompose.Verdict{"s(x)": weak, "s(c)": weak}),
		box("random intercepts", "~ s(x) + s(g,bs=\"re\")", nil),
		box("curves that are random effects", "~ s(x) + s(x,g,bs=\"fs\",k=5)", map[string]decompose.Verdict{"s(x)": convention, "s(x,g)": weak}),
	}
	for _, p := range all {
		switch p.name {
		case "two factors and their combinations":
			p.moving = []string{"g", "h", "g:h"}
			p.why = map[string]string{"g": "contrasts with the first level"}
		case "product of numbers":
			p.moving = []string{"x", "z"}
			p.why = map[string]string{"x": "its split with x:z depends on where"}
		case "product of a factor and a number":
			p.moving = []string{"x", "g", "g:x"}
		case "curves by level":
			p.moving = []string{"g", "s(x):ga"}
			p.why = map[string]string{"g": "centred over all rows"}
		case "curves by level alone":
			p.skip = []string{"contrasts"} // of other functions, without the levels' means among the terms
		case "curve and curves by number":
			p.moving = []string{"s(x)", "s(x):z"}
		case "interaction without margins":
			p.moves = []move{instead("the same surface", `~ s(x) + s(z) + te(x,z,k=5)`)}
			p.moving = []string{"s(x)", "s(z)"}
		case "a line and its spline":
			p.why = map[string]string{"x": "only x + s(x) is determined: s(x) contains the linear effect of x"}
		case "near copies":
			p.why = map[string]string{"s(x)": "can hardly be told from s(c)"}
		case "surfaces with a column in common":
			p.moving = []string{"te(x,z)", "te(z,v)"} // the order of terms does
			p.why = map[string]string{"te(x,z)": "its split with te(z,v) leaves to the earlier term"}
		case "surface beside a curve":
			p.why = map[string]string{"s(x)": "its split with te(x,z) leaves"}
		case "two curves of one column":
			p.skip = []string{"units"} // a truncated thin plate basis of two columns depends on them, here as in mgcv
		}
	}
	return append(all, softmax(true), softmax(false))
}

// softmax is a network of three classes to which a function common to all can be added
// without a change of any probability; said tells whether the options know.
func softmax(said bool) *problem {
	p := box("classes", "~ x + s(z) + g", map[string]decompose.Verdict{"x": convention, "s(z)": convention, "g": convention})
	p.model = &boxed{names: []string{"A", "B", "C"}}
	if !said {
		p.name, p.want = "parameters", nil
		return p
	}
	common := "none, so that it is determined up to a function common to all classes"
	// By makes smoothing independent of what is common to all.
	p.options.Shared = []decompose.Sharing{{Predictors: []string{"A", "B", "C"}, Independent: 2, By: centring(3), Uniqueness: decompose.Uniqueness{Convention: common}}}
	p.why = map[string]string{"x": common}
	p.moving = []string{"x", "s(z)", "g"}
	p.moves = []move{{name: "a function common to all classes", to: func(m *restated) bool {
		m.model = &boxed{names: []string{"A", "B", "C"}, common: func(r row) float64 { return 3*r.x - r.z*r.z + float64(len(r.h+r.g)) + r.v }}
		return true
	}}}
	return p
}

// hierarchical are the black boxes again, with hierarchical terms: rewriting the same terms
// moves no term with the verdict "convention", either. Another convention does, as fitted
// terms are.
func hierarchical() []*problem {
	all := blackBoxes()
	for _, p := range all {
		p.options.Terms, p.moves, p.moving, p.why, p.still = "", nil, nil, nil, true
		why := "" // of all terms that p.want names
		switch p.name {
		case "two factors and their combinations", "a factor within another", "product of a factor and a number", "product of numbers",
			"curves by level", "interaction without margins", "surface beside a curve", "curves that are random effects", "two curves of one column":
			for name := range p.want {
				p.want[name] = convention
			}
			if p.name == "interaction without margins" {
				p.want["ti(x,z)"] = weak
			}
			why = "is hierarchical: an interaction is orthogonal to its margins as far as these rows tell"
		case "curve and curves by number": // a number has no margins: units move the terms
			why, p.still = "depends on where", false
		case "surfaces with a column in common": // neither is the other's margin: the order moves them
			why, p.still = "leaves to the earlier term", false
		}
		if why != "" {
			p.why = map[string]string{}
			for name := range p.want {
				p.moving, p.why[name] = append(p.moving, name), why
			}
		}
	}
	return all
}

// additive is a network with a learned function of x0, one of x1 and one of both, each the
// only column of its basis as in an explainable boosting machine, and perhaps a deep part.
type additive struct {
	pair, deep bool
	kept       bool
	width      int
	shift      float64 // of a function of x0 from the pair to f(x0)
	taps       []*decompose.Tap
}

func newAdditive(pair, deep bool, width int) *additive {
	m := &additive{pair: pair, deep: deep, width: width}
	m.taps = []*decompose.Tap{{Tensor: "h0", Features: []string{"x0"}, Width: width}, {Tensor: "h1", Features: []string{"x1"}, Width: width}}
	if pair {
		m.taps = append(m.taps, &decompose.Tap{Tensor: "h01", Features: []string{"x0", "x1"}, Width: width})
	}
	return m
}

func (m *additive) Predictors() []string  { return []string{"eta"} }
func (m *additive) Columns() []string     { return []string{"x0", "x1"} }
func (m *additive) Intercept(int) float64 { return 1 }

func (m *additive) Taps() map[string]int {
	taps := map[string]int{}
	for _, t := range m.taps {
		taps[t.Tensor] = t.Width
	}
	return taps
}

func (m *additive) Blocks(int) []decompose.Block {
	var blocks []decompose.Block
	for _, t := range m.taps {
		coef := make([]float64, t.Width)
		coef[0] = 1
		b := decompose.Block{Term: t, Coef: coef}
		if m.kept {
			b.Constraint = decompose.Kept()
		}
		blocks = append(blocks, b)
	}
	return blocks
}

func (m *additive) Forward(ctx context.Context, dst *decompose.Outputs, b *data.Batch) error {
	x0, err := b.Numeric("x0")
	if err != nil {
		return err
	}
	x1, err := b.Numeric("x1")
	if err != nil {
		return err
	}
	for i, a := range x0 {
		c := x1[i]
		eta := 1 + math.Sin(2*a) + 0.5*c*c
		first := []float64{math.Sin(2*a) + m.shift*a*a, 0.5 * c * c}
		if m.pair {
			eta += 0.7*a*c + 0.3*a*a
			first = append(first, 0.7*a*c+0.3*a*a-m.shift*a*a)
		}
		for j, t := range m.taps {
			in := [][]float64{{a}, {c}, {a, c}}[j]
			for l := range t.Width {
				h := first[j]
				if l > 0 {
					h = math.Tanh(float64(l)*in[0] - 0.4*float64(l))
					if len(in) > 1 {
						h *= math.Cos(float64(l) * in[1])
					}
				}
				dst.Taps[t.Tensor].Set(i, l, h)
			}
		}
		zeta := 0.0
		if m.deep {
			zeta = math.Cos(a+2*c) + 0.4*a
		}
		dst.Eta.Set(i, 0, eta+zeta)
		dst.Zeta.Set(i, 0, zeta)
	}
	return ctx.Err()
}

func pairRows(n int) *frame {
	r := rand.New(rand.NewPCG(9, 1))
	x0, x1 := make([]float64, n), make([]float64, n)
	for i := range n {
		x0[i] = r.NormFloat64()
		x1[i] = 0.5*x0[i] + r.NormFloat64()
	}
	return newFrame(n).with("x0", x0).with("x1", x1)
}

func structuredNetworks() []*problem {
	rows := pairRows(1000)
	spelt := func(m *additive) []move {
		other := *m
		other.shift = 0.8
		return []move{{name: "a main effect from the pair to its own term", to: func(m *restated) bool { m.model = &other; return true }}}
	}
	// Without a deep part, respelling makes one.
	respelling := []string{"a line from the deep part to the terms"}
	single, pair, learned := newAdditive(false, false, 1), newAdditive(true, false, 1), newAdditive(false, true, 5)
	kept := newAdditive(false, true, 3)
	kept.kept = true
	keptAlone := newAdditive(false, false, 1)
	keptAlone.kept = true
	both := newAdditive(true, true, 4)
	return []*problem{
		{name: "additive trees", rows: rows, model: single, skip: respelling},
		{name: "trees with pairs", rows: rows, model: pair, skip: respelling, moves: spelt(pair), moving: []string{"f(x0)", "f(x0,x1)"},
			want: map[string]decompose.Verdict{"f(x0)": convention, "f(x1)": convention, "f(x0,x1)": convention},
			why:  map[string]string{"f(x0)": "the model's own"}},
		{name: "learned bases beside a deep part", rows: rows, model: learned, tolerance: 1e-5},
		{name: "learned bases with a pair", rows: rows, model: both, tolerance: 1e-5,
			want: map[string]decompose.Verdict{"f(x0)": convention, "f(x1)": convention, "f(x0,x1)": convention}},
		{name: "kept beside a deep part", rows: rows, model: kept, moving: []string{"f(x0)", "f(x1)"},
			want: map[string]decompose.Verdict{"f(x0)": convention, "f(x1)": convention},
			why:  map[string]string{"f(x0)": "as the model has it"}},
		{name: "kept, nothing deep", rows: rows, model: keptAlone, skip: respelling},
		{name: "kept beside splines", rows: rows, model: kept, formula: "~ s(x0) + s(x1)", moving: []string{"f(x0)", "f(x1)", "s(x0)", "s(x1)"},
			want: map[string]decompose.Verdict{"f(x0)": sum, "f(x1)": sum, "s(x0)": sum, "s(x1)": sum},
			why:  map[string]string{"s(x0)": "only f(x0) + s(x0) is determined"}},
		{name: "a learned curve and a spline", rows: rows, model: learned, formula: "~ s(x0)",
			want: map[string]decompose.Verdict{"f(x0)": sum, "s(x0)": sum}},
	}
}
