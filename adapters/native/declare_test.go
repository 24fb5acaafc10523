package native

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"google.golang.org/protobuf/proto"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/family"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// everyTerm is a network with all kinds of terms that can be written.
func everyTerm(t *testing.T) (*Model, *data.Table) {
	t.Helper()
	tab := simulated(t, 400, 8)
	m, _ := mustTrain(t, Config{
		Structured: Structured{Factors: []string{"d"}, Formulas: []string{
			`y ~ x1 + d + s(x2, bs="ps", k=9, sp=0.5) + s(x3, bs="cc", k=6) + s(x1, by=x2, k=5) + s(x3, by=d, bs="cr", k=5) + te(x1, x3, k=c(4,5)) + ti(x1, x2, bs="ps", k=5) + s(x1, bs="cp", k=7)`}},
		Deep: Deep{Columns: []string{"x1", "x2", "x3"}, Hidden: []int{8}}, Training: Training{Epochs: 2, Seed: 3},
	}, tab)
	return m, tab
}

// TestTermsComeBack: the terms of a saved network are those of its formula, with
// their specs, penalties, constraints and coefficients.
func TestTermsComeBack(t *testing.T) {
	m, tab := everyTerm(t)
	want := m.Blocks(0)
	for _, double := range []bool{false, true} {
		back := reopen(t, m, tab, &ExportOptions{Double: double})
		got := back.Blocks(0)
		slices.SortStableFunc(got, func(a, b decompose.Block) int {
			at := func(x decompose.Block) int {
				return slices.IndexFunc(want, func(w decompose.Block) bool { return w.Term.Name() == x.Term.Name() })
			}
			return at(a) - at(b)
		})
		if len(got) != len(want) {
			t.Fatalf("%d terms, want %d", len(got), len(want))
		}
		for i, w := range want {
			g, name := got[i], w.Term.Name()
			if g.Term.Name() != name || g.Term.Kind() != w.Term.Kind() || spec(t, g.Term) != spec(t, w.Term) {
				t.Errorf("term %q (%s): %s, want %s", name, g.Term.Name(), spec(t, g.Term), spec(t, w.Term))
			}
			if !g.Constraint.Equal(w.Constraint) || g.Select != w.Select || len(g.Base) != len(w.Base) || len(g.Coordinates.Norm()) != len(w.Coordinates.Norm()) || !slices.Equal(g.Penalty.SP, w.Penalty.SP) {
				t.Errorf("term %q: %+v, want %+v", name, g, w)
			}
			if len(g.Penalty.S) != len(w.Penalty.S) {
				t.Fatalf("term %q: %d penalties, want %d", name, len(g.Penalty.S), len(w.Penalty.S))
			}
			for j := range w.Penalty.S {
				if !mat.Equal(g.Penalty.S[j], w.Penalty.S[j]) {
					t.Errorf("term %q: penalty %d differs", name, j)
				}
			}
			if gm, wm := g.Coordinates.Map(), w.Coordinates.Map(); (gm == nil) != (wm == nil) || gm != nil && !mat.Equal(gm, wm) {
				t.Errorf("term %q: the map differs", name)
			}
			tolerance := 1e-6
			if double || w.Term.Kind() != decompose.Linear {
				tolerance = 0
			}
			for j, c := range w.Coef {
				if math.Abs(g.Coef[j]-c) > tolerance*math.Abs(c) {
					t.Errorf("term %q: coefficient %d is %v, want %v", name, j, g.Coef[j], c)
				}
			}
		}
		b := whole(t, tab)
		if miss := reconstruction(t, back, b); !(miss < 1e-11) {
			t.Errorf("double %v: terms and deep part miss eta by %g", double, miss)
		}
	}
}

func spec(t *testing.T, term decompose.Term) string {
	t.Helper()
	raw, err := term.(json.Marshaler).MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// reconstruction is the largest |intercept + X beta + zeta - eta| of the first
// predictor, relative to the largest |eta|.
func reconstruction(t *testing.T, m decompose.Model, b *data.Batch) float64 {
	t.Helper()
	n, k := b.Rows(), len(m.Predictors())
	out := &decompose.Outputs{Zeta: mat.NewDense(n, k, nil), Eta: mat.NewDense(n, k, nil), Taps: map[string]*mat.Dense{}}
	for name, w := range m.Taps() {
		out.Taps[name] = mat.NewDense(n, w, nil)
	}
	if err := m.Forward(context.Background(), out, b); err != nil {
		t.Fatal(err)
	}
	sum := make([]float64, n)
	for i := range sum {
		sum[i] = m.Intercept(0) + out.Zeta.At(i, 0) - out.Eta.At(i, 0)
	}
	for _, block := range m.Blocks(0) {
		x := mat.NewDense(n, block.Term.Dim(), nil)
		if err := block.Term.Eval(x, b); err != nil {
			t.Fatal(err)
		}
		var f mat.VecDense
		f.MulVec(x, mat.NewVecDense(len(block.Coef), block.Coef))
		for i := range sum {
			sum[i] += f.AtVec(i)
		}
	}
	worst := 0.0
	for _, v := range sum {
		worst = math.Max(worst, math.Abs(v))
	}
	return worst / largest(out.Eta)
}

// TestDecomposeDeclared: smoothing parameters, degrees of freedom and effects of the
// saved network are those of the trained one.
func TestDecomposeDeclared(t *testing.T) {
	m, tab := everyTerm(t)
	var results []string
	for _, model := range []decompose.Model{m, reopen(t, m, tab, &ExportOptions{Double: true})} {
		r, err := decompose.Decompose(context.Background(), model, tab, nil)
		if err != nil {
			t.Fatal(err)
		}
		var lines []string
		for _, term := range r.Predictors[0].Terms {
			lines = append(lines, fmt.Sprintf("%s %.2f %.3f %.3f", term.Name, term.EDF, term.Before.Variance, term.After.Variance))
		}
		slices.Sort(lines)
		results = append(results, strings.Join(lines, "\n"))
	}
	if results[0] != results[1] {
		t.Errorf("trained:\n%s\nsaved:\n%s", results[0], results[1])
	}
}

// edited saves m, changes the file and discovers its structure.
func edited(t *testing.T, m *Model, change func(*onnxpb.ModelProto)) (*onnx.Structure, error) {
	t.Helper()
	var file bytes.Buffer
	if err := m.WriteONNX(&file, nil); err != nil {
		t.Fatal(err)
	}
	var p onnxpb.ModelProto
	if err := proto.Unmarshal(file.Bytes(), &p); err != nil {
		t.Fatal(err)
	}
	change(&p)
	raw, err := proto.Marshal(&p)
	if err != nil {
		t.Fatal(err)
	}
	g, err := onnx.Load(bytes.NewReader(raw), nil)
	if err != nil {
		t.Fatal(err)
	}
	return onnx.Discover(g, onnx.Unbound(g), &onnx.Options{Decode: basis.Decode})
}

func entry(p *onnxpb.ModelProto) *onnxpb.StringStringEntryProto { return p.MetadataProps[0] }

func splineNetwork(t *testing.T) *Model {
	t.Helper()
	m, _ := mustTrain(t, Config{Architecture: GAM, Structured: Structured{Factors: []string{"d"}, Formulas: []string{`y ~ s(x2, bs="ps", k=6) + d`}}}, simulated(t, 200, 4))
	return m
}

func names(s *onnx.Structure) string {
	var out []string
	for _, t := range s.Predictors[0].Terms {
		out = append(out, t.Name)
	}
	return strings.Join(out, " ")
}

// TestInspectTells: the structure names basis, size and penalty of a declared term.
func TestInspectTells(t *testing.T) {
	s, err := edited(t, splineNetwork(t), func(*onnxpb.ModelProto) {})
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := s.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`s(x2)  smooth, 6 basis columns of`, `is: s(x2, bs="ps", k=6); a quadratic penalty of rank 4; sum-to-zero`,
		`d  factor, 4 basis columns of`, `is: d; treatment`, "deep  none",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
}

// TestEditedFile: a declaration that the graph does not bear out is passed over,
// and said to be.
func TestEditedFile(t *testing.T) {
	m := splineNetwork(t)
	const passed = `the terms that the file declares (pho.structure) are passed over, and found in the graph instead: `
	for name, c := range map[string]struct {
		change func(*onnxpb.ModelProto)
		note   string
	}{
		"weights of the basis": {func(p *onnxpb.ModelProto) {
			for _, init := range p.Graph.Initializer {
				if init.Name == "s(x2).powers1" {
					init.RawData[8*8+6] ^= 0x08
				}
			}
		}, "column "},
		"levels": {func(p *onnxpb.ModelProto) {
			for _, init := range p.Graph.Initializer {
				if init.Name == "d.levels" {
					copy(init.RawData[8:], init.RawData[:4])
				}
			}
		}, `column 3 of term "d" is 0 at d = 0, tensor "d.basis" of the graph is 1 there`},
		"knots": {func(p *onnxpb.ModelProto) {
			entry(p).Value = strings.Replace(entry(p).Value, `"degree":3`, `"degree":2`, 1)
		}, `tensor "s(x2).basis" holds 6 numbers a row, term "s(x2)" has 7 columns`},
		"tensor": {func(p *onnxpb.ModelProto) {
			entry(p).Value = strings.Replace(entry(p).Value, `"s(x2).basis"`, `"s(x2).gone"`, 1)
		}, `the graph computes no tensor "s(x2).gone", the basis of term "s(x2)"`},
		"name of an input": {func(p *onnxpb.ModelProto) {
			p.Graph.Input[0].Name = "other"
			for _, n := range p.Graph.Node {
				for i, in := range n.Input {
					if in == "x2" {
						n.Input[i] = "other"
					}
				}
			}
		}, `term "s(x2)" is of column "x2", and the input of that name is not bound to it alone`},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := edited(t, m, c.change)
			switch {
			case err != nil && name == "knots": // the penalty does not fit either
				if !strings.Contains(err.Error(), "its penalty 1 is for 6 columns, want 7") {
					t.Error(err)
				}
			case err != nil:
				t.Fatal(err)
			case len(s.Notes) != 1 || !strings.HasPrefix(s.Notes[0], passed+c.note):
				t.Errorf("notes %q, want %s%s", s.Notes, passed, c.note)
			case strings.Contains(names(s), "s("):
				t.Errorf("terms %s", names(s))
			}
		})
	}
}

// TestBadDeclaration: a declaration that cannot be read is refused, and the message says
// how to mend it.
func TestBadDeclaration(t *testing.T) {
	m := splineNetwork(t)
	replace := func(from, to string) func(*onnxpb.ModelProto) {
		return func(p *onnxpb.ModelProto) {
			if !strings.Contains(entry(p).Value, from) {
				t.Fatalf("no %s in %s", from, entry(p).Value)
			}
			entry(p).Value = strings.Replace(entry(p).Value, from, to, 1)
		}
	}
	for want, change := range map[string]func(*onnxpb.ModelProto){
		`unexpected end of JSON input`:                                    func(p *onnxpb.ModelProto) { entry(p).Value = entry(p).Value[:100] },
		`its format is "pho.structure/2", this version reads`:             replace("pho.structure/1", "pho.structure/2"),
		`it is there 2 times`:                                             func(p *onnxpb.ModelProto) { p.MetadataProps = append(p.MetadataProps, entry(p)) },
		`it has 16777217 bytes, at most 16777216 are read`:                func(p *onnxpb.ModelProto) { entry(p).Value = strings.Repeat(" ", 16<<20+1) },
		`json: unknown field "more"`:                                      replace(`"columns":`, `"more":1,"columns":`),
		`the constraint "odd" is not known to this version`:               replace("sum-to-zero", "odd"),
		`terms of kind "cloud" are not known to this version`:             replace(`"kind":"smooth"`, `"kind":"cloud"`),
		`its penalty 1 is for 7 columns, want 6`:                          replace(`"dim":6`, `"dim":7`),
		`output "eta" has 2 blocks and 1 tensors`:                         replace(`"s(x2).basis",`, ``),
		`it refers to term 8 of 2`:                                        replace(`"term":0`, `"term":7`),
		`term "d" reads column "d", of which it does not say where its v`: replace(`"d":{`, `"e":{`),
		`invalid character '{' after top-level value`:                     func(p *onnxpb.ModelProto) { entry(p).Value += "{}" },
	} {
		_, err := edited(t, m, change)
		const before, after = `onnx: the metadata entry "pho.structure", which declares the structured terms, is damaged or of a later version: `,
			`; write the network again, or remove the entry to open it by its graph alone`
		if err == nil || !strings.HasPrefix(err.Error(), before) || !strings.Contains(err.Error(), want) || !strings.HasSuffix(err.Error(), after) {
			t.Errorf("%v\nwant %s", err, want)
		}
	}
}

// TestDeclaredOptions: overrides go before the declaration, and without a decoder,
// or without structure, it is not read.
func TestDeclaredOptions(t *testing.T) {
	m, tab := everyTerm(t)
	var file bytes.Buffer
	if err := m.WriteONNX(&file, nil); err != nil {
		t.Fatal(err)
	}
	g, err := onnx.Load(&file, nil)
	if err != nil {
		t.Fatal(err)
	}
	bind, err := onnx.Bind(g, tab.Schema(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		o             onnx.Options
		with, without string
	}{
		{onnx.Options{Decode: basis.Decode}, "s(x2)", "f("},
		{onnx.Options{Decode: basis.Decode, Deep: []string{"s(x2)"}}, "s(x3)", "s(x2)"},
		{onnx.Options{Decode: basis.Decode, Learned: []string{"s(x2)"}}, "f(x2)", "s(x2)"},
		{onnx.Options{Decode: basis.Decode, NoStructure: true}, "", "s("},
		{onnx.Options{}, "f(x2)", "s("},
	} {
		model, err := onnx.NewModel(g, bind, &c.o)
		if err != nil {
			t.Fatal(err)
		}
		all := names(model.Structure())
		if !strings.Contains(all, c.with) || slices.Contains(strings.Fields(all), c.without) || strings.HasSuffix(c.without, "(") && strings.Contains(all, c.without) {
			t.Errorf("%+v: terms %s", c.o, all)
		}
		if miss := reconstructionOf(t, model, tab); !(miss < 1e-11) {
			t.Errorf("%+v: terms and deep part miss eta by %g", c.o, miss)
		}
	}
}

// reconstructionOf is reconstruction with taps put into the batch.
func reconstructionOf(t *testing.T, m decompose.Model, tab *data.Table) float64 {
	t.Helper()
	r, err := decompose.Decompose(context.Background(), m, tab, nil)
	if err != nil {
		t.Fatal(err)
	}
	return *r.Predictors[0].ReconstructionError
}

// TestSharedTerms: a term of two predictors comes back as one value.
func TestSharedTerms(t *testing.T) {
	tab := simulated(t, 300, 9)
	m, _ := mustTrain(t, Config{Family: family.GaussianLS{}, Structured: Structured{Formulas: []string{`h ~ s(x2, bs="ps", k=6)`}},
		Deep: Deep{Columns: []string{"x1", "x2", "x3"}}, Training: Training{Epochs: 2}}, tab)
	back := reopen(t, m, tab, nil)
	if a, b := back.Blocks(0)[0].Term, back.Blocks(1)[0].Term; a != b || a.Name() != "s(x2)" {
		t.Errorf("%v and %v", a.Name(), b.Name())
	}
}
