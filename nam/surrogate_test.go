package nam_test

import (
	"context"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/adapters/native"
	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/nam"
)

// opaque is a black box of columns x0, x1, ...: any function of a row.
type opaque struct {
	features int
	f        func(x []float64) float64
}

func (o opaque) Predictors() []string         { return []string{"box"} }
func (o opaque) Intercept(int) float64        { return 0 }
func (o opaque) Blocks(int) []decompose.Block { return nil }
func (o opaque) Taps() map[string]int         { return nil }

func (o opaque) Columns() (names []string) {
	for j := range o.features {
		names = append(names, fmt.Sprintf("x%d", j))
	}
	return names
}

func (o opaque) Forward(_ context.Context, dst *decompose.Outputs, b *data.Batch) error {
	x := mat.NewDense(b.Rows(), o.features, nil)
	for j, name := range o.Columns() {
		v, err := b.Numeric(name)
		if err != nil {
			return err
		}
		x.SetCol(j, v)
	}
	for i := range b.Rows() {
		eta := o.f(x.RawRowView(i))
		dst.Zeta.Set(i, 0, eta)
		dst.Eta.Set(i, 0, eta)
	}
	return nil
}

// uniform rows on [-1, 1]^features.
func uniform(n, features int) *data.Table {
	random := rand.New(rand.NewPCG(3, 4))
	t := data.NewTable(n)
	for j := range features {
		x := make([]float64, n)
		for i := range x {
			x[i] = 2*random.Float64() - 1
		}
		if err := t.AddNumeric(fmt.Sprintf("x%d", j), x); err != nil {
			log.Fatal(err)
		}
	}
	return t
}

// A black box is imitated by a neural additive model with pairs; seen through the
// learned bases it falls apart into main effects, interactions and a rest: 47 %, 49 %
// and 4 % of the variance when x is uniform on the cube, a little else on a sample.
func ExampleSurrogate() {
	ctx := context.Background()
	rows := uniform(4000, 3)
	box := opaque{3, func(x []float64) float64 { return x[0] + x[1]*x[1] + 2*x[0]*x[1] + x[0]*x[1]*x[2] }}

	student, _, err := native.Distil(ctx, box, native.Config{
		Architecture: native.NAM,
		FeatureNetworks: native.FeatureNetworks{
			Columns: []string{"x0", "x1", "x2"}, Pairs: [][2]string{{"x0", "x1"}, {"x0", "x2"}, {"x1", "x2"}},
			Hidden: []int{16, 16}, Activation: native.Tanh,
		},
		Training: native.Training{Epochs: 40, LearningRate: 0.01, Schedule: native.Cosine, Seed: 1},
	}, rows)
	if err != nil {
		log.Fatal(err)
	}
	model, err := nam.Surrogate(box, student)
	if err != nil {
		log.Fatal(err)
	}
	r, err := decompose.Decompose(ctx, model, rows, &decompose.Options{Orders: true})
	if err != nil {
		log.Fatal(err)
	}
	eta := r.Predictors[0]
	for _, o := range eta.Orders {
		fmt.Printf("order %d: %.0f %%\n", o.Order, 100*o.Share)
	}
	fmt.Printf("the rest: %.0f %%\n", 100**eta.OrdersRemainder)
	// Output:
	// order 1: 46 %
	// order 2: 50 %
	// the rest: 4 %
}

// TestSurrogateIsTheBoxItself: whatever the terms are, predictions are the box's,
// and a projection on them is that of the box's eta.
func TestSurrogateIsTheBoxItself(t *testing.T) {
	ctx := context.Background()
	rows := uniform(700, 3)
	box := opaque{3, func(x []float64) float64 { return math.Exp(x[0]) * (1 + x[1]) * math.Cos(x[2]) }}
	terms := newNAM(3, 6, [2]int{0, 1})
	terms.line = true
	seen, err := nam.Surrogate(box, terms)
	if err != nil {
		t.Fatal(err)
	}
	if got := seen.Predictors(); len(got) != 1 || got[0] != "box" {
		t.Errorf("predictors %q", got)
	}
	r, err := decompose.Decompose(ctx, seen, rows, &decompose.Options{Projection: decompose.Projection{Method: decompose.PHO}})
	if err != nil {
		t.Fatal(err)
	}
	// The same terms without coefficients, and the box as deep part.
	bare, err := decompose.With(tapped{box, terms}, map[string][]decompose.Block{"": without(terms.Blocks(0))})
	if err != nil {
		t.Fatal(err)
	}
	want, err := decompose.Decompose(ctx, bare, rows, &decompose.Options{Projection: decompose.Projection{Method: decompose.PHO}})
	if err != nil {
		t.Fatal(err)
	}
	applied, err := r.Applier(seen)
	if err != nil {
		t.Fatal(err)
	}
	wanted, err := want.Applier(bare)
	if err != nil {
		t.Fatal(err)
	}
	for b, err := range rows.Batches(ctx, []string{"x0", "x1", "x2"}) {
		if err != nil {
			t.Fatal(err)
		}
		p, err := applied.Parts(ctx, b)
		if err != nil {
			t.Fatal(err)
		}
		q, err := wanted.Parts(ctx, b)
		if err != nil {
			t.Fatal(err)
		}
		out := &decompose.Outputs{Zeta: mat.NewDense(b.Rows(), 1, nil), Eta: mat.NewDense(b.Rows(), 1, nil)}
		if err := box.Forward(ctx, out, b); err != nil {
			t.Fatal(err)
		}
		for i := range b.Rows() {
			if d := math.Abs(p.Sum(0, i) - out.Eta.At(i, 0)); d > 1e-12*4 {
				t.Fatalf("row %d: the parts miss the box by %g", i, d)
			}
			// Directions below the rank tolerance keep the terms' own coefficients.
			if d := math.Abs(p.Predictors[0].Unstructured[i] - q.Predictors[0].Unstructured[i]); d > 1e-3 {
				t.Fatalf("row %d: the rest is off by %g", i, d)
			}
		}
	}
}

// tapped is a box with the taps of another model.
type tapped struct {
	opaque
	taps decompose.Model
}

func (w tapped) Taps() map[string]int { return w.taps.Taps() }

func (w tapped) Forward(ctx context.Context, dst *decompose.Outputs, b *data.Batch) error {
	n := b.Rows()
	own := &decompose.Outputs{Zeta: mat.NewDense(n, 1, nil), Eta: mat.NewDense(n, 1, nil), Taps: dst.Taps}
	if err := w.taps.Forward(ctx, own, b); err != nil {
		return err
	}
	return w.opaque.Forward(ctx, dst, b)
}

func without(blocks []decompose.Block) (bare []decompose.Block) {
	for _, b := range blocks {
		b.Coef = nil
		bare = append(bare, b)
	}
	return bare
}

func TestSurrogateAndDistilRefuse(t *testing.T) {
	ctx := context.Background()
	rows := uniform(60, 3)
	box := opaque{3, func(x []float64) float64 { return x[0] }}
	for name, c := range map[string]struct {
		call func() error
		want string
	}{
		"two predictors": {func() error { _, err := nam.Surrogate(box, two{newNAM(2, 3)}); return err }, "one is needed for each"},
		"no terms":       {func() error { _, err := nam.Surrogate(box, box); return err }, "has no terms"},
		"two to learn": {func() error {
			_, _, err := native.Distil(ctx, two{newNAM(2, 3)}, native.Config{}, rows)
			return err
		}, "a student learns one"},
		"response": {func() error {
			_, _, err := native.Distil(ctx, box, native.Config{Response: "x1"}, rows)
			return err
		}, "the teacher's eta"},
		"taken": {func() error {
			tab := uniform(60, 3)
			if err := tab.AddNumeric("box", make([]float64, 60)); err != nil {
				return err
			}
			_, _, err := native.Distil(ctx, box, native.Config{}, tab)
			return err
		}, "rename the column"},
		"nothing varies": {func() error {
			_, _, err := native.Distil(ctx, opaque{3, func([]float64) float64 { return 2 }}, native.Config{Deep: native.Deep{Columns: []string{"x0"}}}, rows)
			return err
		}, "constant"},
		"missing column": {func() error {
			_, _, err := native.Distil(ctx, opaque{4, func([]float64) float64 { return 2 }}, native.Config{Deep: native.Deep{Columns: []string{"x0"}}}, rows)
			return err
		}, "x3"},
		"left side": {func() error {
			_, _, err := native.Distil(ctx, box, native.Config{Structured: native.Structured{Formulas: []string{"x1 ~ x0"}}}, rows)
			return err
		}, "x1"},
	} {
		if err := c.call(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	// A formula as student: the surrogate's spline terms with its coefficients.
	f, err := basis.Parse("~ x0 + x1", &basis.Options{Schema: rows.Schema()})
	if err != nil || len(f.Specs) != 2 {
		t.Fatal(err)
	}
	student, _, err := native.Distil(ctx, box, native.Config{Architecture: native.GAM, Structured: native.Structured{Formulas: []string{"~ x0 + x1"}}}, rows)
	if err != nil {
		t.Fatal(err)
	}
	if c := student.Blocks(0)[0].Coef[0]; math.Abs(c-1) > 1e-9 {
		t.Errorf("the line of x0 has slope %g", c)
	}
}

// two shows a model's predictor twice.
type two struct{ decompose.Model }

func (two) Predictors() []string { return []string{"mu", "sigma"} }
