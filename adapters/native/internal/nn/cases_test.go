package nn

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/pho-go/pho/internal/base/kernel"
)

// layerCase is a layer with one choice of its options.
type layerCase[T kernel.Float] struct {
	name  string
	in, n int
	mode  Mode
	input bool // a gradient of the input is wanted
	// wholeBatch: the rows are not independent.
	wholeBatch bool
	// of is the type or function of the package that the case is about.
	of    any
	build func() Layer[T]
}

// Parameters may be trained, held or absent.
type kind int

const (
	trained kind = iota
	held
	absent
)

func (k kind) String() string { return [...]string{"trained", "held", "absent"}[k] }

// layerCases are all layers with all options, in an order of their own.
func layerCases[T kernel.Float]() []layerCase[T] {
	var cases []layerCase[T]
	add := func(c layerCase[T]) {
		build := c.build
		c.build = func() Layer[T] { return randomised(build()) }
		c.of = build()
		switch l := c.of.(type) { // adapters stand for what they adapt
		case *embedded[T]:
			c.of = l.Embedding
		case *product[T]:
			c.of = RowTensorGrad[T]
		}
		cases = append(cases, c)
	}
	denseCases(add)
	exuCases(add)
	embeddingCases(add)
	otherCases(add)
	return cases
}

// randomised gives the trained and the held parameters values that differ; scales stay
// away from 0, variances positive.
func randomised[T kernel.Float](l Layer[T]) Layer[T] {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, p := range l.Params() {
		for i := range p.Value {
			v := 0.4 * rng.NormFloat64()
			if strings.HasSuffix(p.Name, ".variance") {
				v *= v
			}
			p.Value[i] += T(float32(v))
		}
		p.Version++
	}
	return l
}

var training = Mode{Train: true, Step: 3, Workers: 2}

func denseCases[T kernel.Float](add func(layerCase[T])) {
	for _, shape := range [][3]int{{1, 4, 5}, {3, 2, 3}, {1, 3, 1}, {2, 1, 4}, {1, 2, 9}} {
		for _, bias := range []kind{trained, held, absent} {
			for _, weight := range []kind{trained, held} {
				for option := range 4 {
					relu, first := option&1 > 0, option&2 > 0
					g, in, out := shape[0], shape[1], shape[2]
					add(layerCase[T]{
						name: fmt.Sprintf("dense of %d groups %d-%d, bias %s, weights %s, relu %v, first %v", g, in, out, bias, weight, relu, first),
						in:   g * in, n: 7, mode: training, input: !first,
						build: func() Layer[T] {
							d := NewDense[T]("d", g, in, out, bias != absent)
							d.Relu, d.First = relu, first
							if bias == held {
								d.B.Grad = nil
							}
							if weight == held {
								d.W.Grad = nil
							}
							return d
						},
					})
				}
			}
		}
	}
}

func exuCases[T kernel.Float](add func(layerCase[T])) {
	for _, shape := range [][3]int{{1, 3, 5}, {3, 1, 4}, {2, 2, 3}} {
		for option := range 8 {
			first, heldW, heldC := option&1 > 0, option&2 > 0, option&4 > 0
			g, in, out := shape[0], shape[1], shape[2]
			add(layerCase[T]{
				name: fmt.Sprintf("exu of %d groups %d-%d, first %v, log weights held %v, centers held %v", g, in, out, first, heldW, heldC),
				in:   g * in, n: 6, mode: training, input: !first,
				build: func() Layer[T] {
					e := NewExU[T]("e", g, in, out)
					e.First = first
					if heldW {
						e.W.Grad = nil
					}
					if heldC {
						e.C.Grad = nil
					}
					return e
				},
			})
		}
	}
}

func embeddingCases[T kernel.Float](add func(layerCase[T])) {
	for _, shape := range [][2]int{{3, 2}, {5, 1}} {
		for _, table := range []kind{trained, held} {
			add(layerCase[T]{
				name: fmt.Sprintf("embedding of %d levels, width %d, %s", shape[0], shape[1], table), in: 1, n: 7, mode: training,
				build: func() Layer[T] {
					e := NewEmbedding[T]("e", shape[0], shape[1])
					if table == held {
						e.Table.Grad = nil
					}
					return &embedded[T]{Embedding: e}
				},
			})
		}
	}
}

func otherCases[T kernel.Float](add func(layerCase[T])) {
	for _, f := range Functions() {
		for _, top := range []float64{1, 0.5} {
			add(layerCase[T]{name: fmt.Sprintf("%s, N = %g", f, top), in: 2 + int(2*top), n: 9, mode: training, input: true,
				build: func() Layer[T] { return &Activation[T]{Width: 2 + int(2*top), F: f, N: top} }})
		}
	}
	for i, p := range []float64{0, 0.4, 0.7} {
		for _, m := range []Mode{training, {Train: true, Step: 8, Row: 5, Workers: 1}, {Workers: 1}} {
			add(layerCase[T]{name: fmt.Sprintf("dropout of %g, training %v from row %d", p, m.Train, m.Row), in: 6 * (i + 1), n: 9, mode: m, input: true,
				build: func() Layer[T] { return &Dropout[T]{Width: 6 * (i + 1), Run: i + 1, P: p, Seed: uint64(5 + i)} }})
		}
	}
	for option := range 8 {
		m, scale, shift := Mode{Train: option&1 > 0, Workers: 1}, option&2 > 0, option&4 > 0
		width := 2 + option%3
		add(layerCase[T]{name: fmt.Sprintf("batch norm, training %v, scale held %v, shift held %v", m.Train, scale, shift), in: width, n: 9, mode: m, input: true, wholeBatch: m.Train,
			build: func() Layer[T] {
				b := NewBatchNorm[T]("b", width)
				b.Eps, b.Momentum = 1e-5*float64(1+option), 0.1*float64(1+option%2)
				if scale {
					b.Scale.Grad = nil
				}
				if shift {
					b.Shift.Grad = nil
				}
				return b
			}})
	}
	add(layerCase[T]{name: "chain of nothing", in: 3, n: 4, mode: training, input: true, build: func() Layer[T] { return &Chain[T]{Width: 3} }})
	add(layerCase[T]{name: "chain", in: 5, n: 8, mode: training, input: true, wholeBatch: true, build: func() Layer[T] {
		fused := NewDense[T]("f", 1, 6, 6, true)
		fused.Relu, fused.B.Grad = true, nil
		return &Chain[T]{Width: 5, Layers: []Layer[T]{
			NewDense[T]("a", 1, 5, 6, true), NewBatchNorm[T]("n", 6), &Activation[T]{Width: 6, F: Tanh},
			&Dropout[T]{Width: 6, Run: 1, P: 0.3}, fused, NewDense[T]("b", 2, 3, 2, true),
		}}
	}})
	add(layerCase[T]{name: "chain of independent rows", in: 4, n: 8, mode: training, input: true, build: func() Layer[T] {
		fused := NewDense[T]("f", 1, 6, 70, true)
		fused.Relu = true
		return &Chain[T]{Width: 4, Layers: []Layer[T]{
			NewDense[T]("a", 2, 2, 3, true), &Activation[T]{Width: 6, F: Softplus},
			fused, &Dropout[T]{Width: 70, Run: 1, P: 0.3}, NewDense[T]("b", 2, 35, 2, false),
		}}
	}})
	add(layerCase[T]{name: "chain of groups", in: 2, n: 8, mode: training, input: false, build: func() Layer[T] {
		first, fused := NewDense[T]("a", 2, 1, 6, true), NewDense[T]("b", 2, 6, 4, true)
		first.Relu, first.First, fused.Relu = true, true, true
		return &Chain[T]{Width: 2, Layers: []Layer[T]{
			first, &Dropout[T]{Width: 12, Run: 1, P: 0.3}, fused, &Activation[T]{Width: 8, F: Tanh}, NewDense[T]("c", 2, 4, 2, false),
		}}
	}})
	add(layerCase[T]{name: "row-wise tensor product", in: 5, n: 4, mode: training, input: true, build: func() Layer[T] { return &product[T]{p: 3, q: 2} }})
}

// embedded is an Embedding as a layer that does not look at its input.
type embedded[T kernel.Float] struct{ *Embedding[T] }

func (e *embedded[T]) Out() int            { return e.Width }
func (e *embedded[T]) Params() []*Param[T] { return []*Param[T]{e.Table} }
func (e *embedded[T]) Replica() Layer[T]   { return &embedded[T]{Embedding: e.Embedding.Replica()} }

func (e *embedded[T]) Forward(_ []T, n int, m Mode) []T {
	codes, x := make([]int32, n), kernel.Units[T](nil, e.Width, n)
	for i := range codes {
		codes[i] = int32((i + m.Row) * 2 % e.Levels)
	}
	e.Embedding.Forward(x, codes)
	return x
}

func (e *embedded[T]) Backward(dy []T, _ int) []T {
	e.Embedding.Backward(dy)
	return nil
}

// product is RowTensor as a layer: of the first p and the last q columns.
type product[T kernel.Float] struct {
	p, q int
	x    []T
}

func (l *product[T]) Out() int            { return l.p * l.q }
func (l *product[T]) Params() []*Param[T] { return nil }
func (l *product[T]) Replica() Layer[T]   { return &product[T]{p: l.p, q: l.q} }

func (l *product[T]) Forward(x []T, n int, _ Mode) []T {
	l.x = x
	y := kernel.Units[T](nil, l.Out(), n)
	RowTensor(y, x, l.p, x[l.p*kernel.UnitStride[T](n):], l.q, n)
	return y
}

func (l *product[T]) Backward(dy []T, n int) []T {
	at := l.p * kernel.UnitStride[T](n)
	dx := kernel.Units[T](nil, l.p+l.q, n)
	RowTensorGrad(dx, dx[at:], dy, l.x, l.p, l.x[at:], l.q, n)
	return dx
}

// TestEveryLayer: layerCases has every type of the package with a method Backward,
// every function whose name ends in Grad, and every value of their options.
func TestEveryLayer(t *testing.T) {
	types, functions, optional := declared(t)
	if len(types) < 7 || len(functions) < 1 {
		t.Fatalf("the package's text shows %v and %v only", types, functions)
	}
	seen := map[string][]reflect.Value{}
	for _, c := range layerCases[float64]() {
		name := "RowTensorGrad"
		if v := reflect.ValueOf(c.of); v.Kind() == reflect.Pointer {
			name, _, _ = strings.Cut(v.Elem().Type().Name(), "[")
			seen[name] = append(seen[name], v.Elem())
			continue
		}
		seen[name] = append(seen[name], reflect.Value{})
	}
	for _, name := range slices.Concat(types, functions) {
		if len(seen[name]) == 0 {
			t.Errorf("no gradient of %s is checked: add cases to layerCases", name)
		}
	}
	for _, name := range types {
		if len(seen[name]) == 0 {
			continue
		}
		typ := seen[name][0].Type()
		for i := range typ.NumField() {
			if f := typ.Field(i); f.IsExported() {
				var values []reflect.Value
				for _, v := range seen[name] {
					values = append(values, v.Field(i))
				}
				if lacking := lacks(values, optional[name+"."+f.Name]); lacking != "" {
					t.Errorf("no case with %s.%s %s: add one to layerCases", name, f.Name, lacking)
				}
			}
		}
	}
}

// lacks says which value of an option no case has; "": none. What a comment calls
// optional ("nil: ...") has to be nil once.
func lacks(values []reflect.Value, optional bool) string {
	has := func(f func(reflect.Value) bool) bool { return slices.ContainsFunc(values, f) }
	switch v := values[0].Interface().(type) {
	case Function:
		for _, f := range Functions() {
			if !has(func(v reflect.Value) bool { return v.String() == string(f) }) {
				return string(f)
			}
		}
		return ""
	case *Param[float64]:
		param := func(v reflect.Value) *Param[float64] { return v.Interface().(*Param[float64]) }
		if !has(func(v reflect.Value) bool { return param(v) != nil && param(v).Grad == nil }) {
			return "held"
		}
		if optional && !has(func(v reflect.Value) bool { return param(v) == nil }) {
			return "absent"
		}
		return ""
	default:
		_ = v
	}
	if values[0].Kind() == reflect.Slice {
		if !has(func(v reflect.Value) bool { return v.Len() == 0 }) || !has(func(v reflect.Value) bool { return v.Len() > 1 }) {
			return "empty, or of several"
		}
		return ""
	}
	if !has(func(v reflect.Value) bool { return v.Interface() != values[0].Interface() }) {
		return fmt.Sprintf("other than %v", values[0])
	}
	return ""
}

// declared reads the package's own text: types with a method Backward, functions named
// ...Grad, and fields with a comment about nil.
func declared(t *testing.T) (types, functions []string, optional map[string]bool) {
	t.Helper()
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	optional = map[string]bool{}
	set := token.NewFileSet()
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(set, f.Name(), nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				switch {
				case n.Recv == nil && strings.HasSuffix(n.Name.Name, "Grad"):
					functions = append(functions, n.Name.Name)
				case n.Recv != nil && n.Name.Name == "Backward":
					types = append(types, receiver(n.Recv.List[0].Type))
				}
			case *ast.TypeSpec:
				if s, ok := n.Type.(*ast.StructType); ok {
					for _, field := range s.Fields.List {
						for _, name := range field.Names {
							text := field.Doc.Text() + field.Comment.Text()
							optional[n.Name.Name+"."+name.Name] = strings.Contains(text, "nil:")
						}
					}
				}
			}
			return true
		})
	}
	return types, functions, optional
}

// receiver is the name of a receiver's type, without pointer and parameters.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return fmt.Sprintf("%T", e)
}
