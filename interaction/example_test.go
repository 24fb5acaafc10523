package interaction_test

import (
	"context"
	"fmt"
	"math"

	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/interaction"
)

// network is a black box of three columns, two of which act together.
type network struct{}

func (network) Predictors() []string         { return []string{"eta"} }
func (network) Columns() []string            { return []string{"a", "b", "c"} }
func (network) Intercept(int) float64        { return 0 }
func (network) Blocks(int) []decompose.Block { return nil }
func (network) Taps() map[string]int         { return nil }
func (network) Forward(_ context.Context, dst *decompose.Outputs, rows *data.Batch) error {
	var x [3][]float64
	for j, name := range []string{"a", "b", "c"} {
		var err error
		if x[j], err = rows.Numeric(name); err != nil {
			return err
		}
	}
	for i := range rows.Rows() {
		v := x[0][i] + math.Sin(3*x[1][i]) + x[2][i] + 0.5*x[0][i]*x[2][i]
		dst.Zeta.Set(i, 0, v)
		dst.Eta.Set(i, 0, v)
	}
	return nil
}

// Curves of single columns leave what two columns do together.
func ExampleRanking() {
	const n = 2000
	rows := data.NewTable(n)
	for j, name := range []string{"a", "b", "c"} {
		x := make([]float64, n)
		for i := range x {
			_, x[i] = math.Modf(float64(i+1) * []float64{0.618034, 0.414214, 0.732051}[j])
			x[i] = 2*x[i] - 1
		}
		if err := rows.AddNumeric(name, x); err != nil {
			fmt.Println(err)
			return
		}
	}
	ctx := context.Background()
	f, err := basis.Parse("~ s(a) + s(b) + s(c)", &basis.Options{Schema: rows.Schema()})
	if err != nil {
		fmt.Println(err)
		return
	}
	sample := interaction.NewSample([]string{"a", "b", "c"}, "")
	blocks, err := decompose.Prepare(ctx, rows, append(f.Specs, sample), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	m, err := decompose.With(network{}, map[string][]decompose.Block{"": blocks})
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := decompose.Decompose(ctx, m, rows, &decompose.Options{Visitors: []decompose.Visitor{interaction.NewRanking(sample)}})
	if err != nil {
		fmt.Println(err)
		return
	}
	left := r.Predictors[0].Remainder
	fmt.Printf("left: %.3f of the variance\n", left.Share)
	for _, p := range left.Pairs {
		fmt.Printf("%s takes %.3f\n", p.Term, p.Gain)
	}
	// Output:
	// left: 0.023 of the variance
	// ti(a, c) takes 0.022
}
