package structure_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pho-go/pho/adapters/onnx/internal/structure"
)

// TestOrdinalGraphs: spellings of ordered classes, and what is none.
func TestOrdinalGraphs(t *testing.T) {
	const cuts = "c = Concat(-1, 0, 2, axis=0)\n"
	for _, c := range []struct {
		name, outputs, lines string
		want                 string // heads by name, with thresholds
	}{
		{"sub", "y", cuts + "l = Sub(c, u)\ny = Sigmoid(l)", "eta:ordinal[-1 0 2]"},
		{"added, falling", "y", cuts + "n = Neg(c)\nl = Add(u, n)\ny = Sigmoid(l)", "eta:ordinal[-1 0 2]"},
		{"negated predictor", "y", cuts + "n = Neg(u)\nl = Add(n, c)\ny = Sigmoid(l)", "eta:ordinal[-1 0 2]"},
		{"rising", "y", cuts + "l = Add(u, c)\ny = Sigmoid(l)", "eta:ordinal[-2 0 1] descending"},
		{"P(above) as 1 less", "y", cuts + "l = Sub(c, u)\np = Sigmoid(l)\ny = Sub(1, p)", "eta:ordinal[-1 0 2]"},
		{"by hand", "y", cuts + "l = Sub(c, u)\nn = Neg(l)\ne = Exp(n)\nd = Add(1, e)\ny = Reciprocal(d)", "eta:ordinal[-1 0 2]"},
		{"guarded", "y", cuts + "l = Sub(c, u)\np = Sigmoid(l)\ny = Clip(p, 1e-7, 0.9999999)", "eta:ordinal[-1 0 2]"},
		{"probabilities of the classes", "y", "l = Sub(-1, u)\np = Sigmoid(l)\nm = Sub(1, u)\nq = Sigmoid(m)\nd = Sub(q, p)\nr = Sub(1, q)\ny = Concat(p, d, r, axis=1)", "eta:ordinal[-1 1]"},
		{"no probabilities", "y", "l = Sub(-1, u)\np = Tanh(l)\nm = Sub(1, u)\nq = Tanh(m)\nd = Sub(q, p)\nr = Sub(1, q)\ny = Concat(p, d, r, axis=1)", "y1: y2: y3:"},
		{"a sigmoid and an exponential", "y", "l = Sub(-1, u)\np = Sigmoid(l)\nm = Sub(1, u)\nq = Exp(m)\nd = Sub(q, p)\nr = Sub(1, q)\ny = Concat(p, d, r, axis=1)", "y1:sigmoid y2: y3:"},
		{"more than one", "y", "l = Sub(-1, u)\np = Sigmoid(l)\nm = Sub(1, u)\nq = Sigmoid(m)\nd = Sub(q, p)\nr = Sub(2, q)\ny = Concat(p, d, r, axis=1)", "y1:sigmoid y2: y3:"},
		{"two outputs", "m, y", cuts + "m = Add(u, 5)\nl = Sub(c, u)\ny = Sigmoid(l)", "eta:ordinal[-1 0 2]"},
		{"another output first", "m, y", cuts + "r = Relu(u)\nm = Add(r, 5)\nl = Sub(c, u)\ny = Sigmoid(l)", "m: y:ordinal[-1 0 2]"},
		{"twice", "y, z", cuts + "l = Sub(c, u)\ny = Sigmoid(l)\nm = Sub(u, c)\nz = Sigmoid(m)", "eta:ordinal[-1 0 2]"},
		{"the same column twice", "y", "s = Sigmoid(u)\ny = Concat(s, s, axis=1)", "eta:sigmoid"},
		{"both of two classes", "y", "s = Sigmoid(u)\nr = Sub(1, s)\ny = Concat(r, s, axis=1)", "eta:sigmoid"},
		{"opposites", "y", "s = Sigmoid(u)\nn = Neg(u)\nr = Sigmoid(n)\ny = Concat(r, s, axis=1)", "eta:sigmoid"},
		{"other slopes", "y", "v = Mul(u, 2)\ns = Sigmoid(u)\nr = Sigmoid(v)\ny = Concat(r, s, axis=1)", "y1:sigmoid y2:sigmoid"},
		{"no order", "y", "c = Concat(0, -1, 2, axis=0)\nl = Sub(c, u)\ny = Sigmoid(l)", "y1:sigmoid y2:sigmoid y3:sigmoid"},
		{"exponentials", "y", cuts + "l = Sub(c, u)\ny = Exp(l)", "y1:exp y2:exp y3:exp"},
	} {
		g := headModel(t, 1, strings.Split(c.outputs, ", "), c.lines)
		s := find(t, g, nil)
		var got []string
		for _, p := range s.Predictors {
			text := p.Name + ":" + p.Head
			if p.Ordinal != nil {
				text += fmt.Sprint(p.Ordinal.Thresholds)
				if p.Ordinal.Descending {
					text += " descending"
				}
			}
			got = append(got, text)
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s: %s, want %s (notes %q)", c.name, text, c.want, s.Notes)
		}
	}
	g := headModel(t, 1, []string{"y"}, cuts+"l = Sub(c, u)\ny = Sigmoid(l)")
	if s := find(t, g, &structure.Options{Predictor: []string{"u"}}); s.Predictors[0].Ordinal != nil {
		t.Errorf("%+v", s)
	}
}

// TestLabelsOfClasses: what classes are called is the one list of as many texts that the file has, but for numbers from 0.
func TestLabelsOfClasses(t *testing.T) {
	names, others, numbers := []string{"low", "mid", "high", "top"}, []string{"a", "b", "c", "d"}, []string{"0", "1", "2", "3"}
	for _, c := range []struct {
		name  string
		lists [][]string
		want  []string
	}{
		{"none", nil, nil},
		{"of another length", [][]string{names[:3]}, nil},
		{"one", [][]string{names[:3], names}, names},
		{"numbers alone", [][]string{numbers}, numbers},
		{"numbers first", [][]string{numbers, names}, names},
		{"numbers last", [][]string{names, numbers}, names},
		{"two", [][]string{names, others}, nil},
		{"two alike", [][]string{{"a", "b", "c", "a"}}, nil},
	} {
		g := headModel(t, 1, []string{"y"}, "c = Concat(-1, 0, 2, axis=0)\nl = Sub(c, u)\ny = Sigmoid(l)")
		g.ClassLabels = c.lists
		if got := find(t, g, nil).Predictors[0].Ordinal.Labels; !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
