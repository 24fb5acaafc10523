package importance_test

import (
	"context"
	"fmt"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/family"
	"github.com/pho-go/pho/importance"
)

// Under a penalty the parts may covary; the three shares add up to 1.
func ExampleExplainedVariance() {
	ev := importance.ExplainedVariance(decompose.Variance{Structured: 8.5, Unstructured: 2, TwiceCovariance: -0.5, Total: 10})
	fmt.Printf("structured %.2f, unstructured %.2f, twice covariance %.2f\n", ev.Structured, ev.Unstructured, ev.TwiceCovariance)
	// Output: structured 0.85, unstructured 0.20, twice covariance -0.05
}

// line is a network of two linear terms: eta = 3 a + b.
type line struct{ a, b decompose.LinearTerm }

func (m *line) Predictors() []string  { return []string{"eta"} }
func (m *line) Columns() []string     { return []string{"a", "b"} }
func (m *line) Intercept(int) float64 { return 0 }
func (m *line) Taps() map[string]int  { return nil }

func (m *line) Blocks(int) []decompose.Block {
	return []decompose.Block{{Term: &m.a, Coef: []float64{3}}, {Term: &m.b, Coef: []float64{1}}}
}

func (m *line) Forward(_ context.Context, dst *decompose.Outputs, rows *data.Batch) error {
	a, err := rows.Numeric("a")
	if err != nil {
		return err
	}
	b, err := rows.Numeric("b")
	if err != nil {
		return err
	}
	for i := range a {
		dst.Zeta.Set(i, 0, 0)
		dst.Eta.Set(i, 0, 3*a[i]+b[i])
	}
	return nil
}

// A visitor of the last pass measures what the network would lose without a feature.
func ExampleVisitor() {
	rows := data.NewTable(4)
	for _, c := range []struct {
		name   string
		values []float64
	}{{"a", []float64{0, 0, 1, 1}}, {"b", []float64{0, 1, 0, 1}}, {"y", []float64{0.1, 1, 2.9, 4}}} {
		if err := rows.AddNumeric(c.name, c.values); err != nil {
			fmt.Println(err)
			return
		}
	}
	fam := family.Gaussian{}
	m := &line{decompose.LinearTerm{Column: "a"}, decompose.LinearTerm{Column: "b"}}
	r, err := decompose.Decompose(context.Background(), m, rows, &decompose.Options{
		Columns: decompose.Columns{Response: "y"}, Family: fam,
		Visitors: []decompose.Visitor{importance.New(fam)},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, v := range r.Predictors[0].Importance {
		fmt.Printf("%s: share of the variance %.2f, deviance R2 %.3f\n", v.Feature, v.VarianceShare, *v.DevianceR2)
	}
	fmt.Printf("R2 of the network %.3f\n", *r.Prediction.R2)
	// Output:
	// a: share of the variance 0.90, deviance R2 0.998
	// b: share of the variance 0.10, deviance R2 0.980
	// R2 of the network 0.998
}
