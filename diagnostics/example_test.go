package diagnostics_test

import (
	"context"
	"fmt"
	"math"

	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/diagnostics"
)

// A spline of four columns is too stiff for a wave: what it leaves of the network is
// alike in neighbouring rows. With thirty there is no such sign.
func ExampleKCheck() {
	const n = 1000
	x, y := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i] = float64(i) / n
		y[i] = math.Sin(20*x[i]) + 0.1*math.Sin(12345*x[i]*x[i])
	}
	rows := data.NewTable(n)
	for name, v := range map[string][]float64{"x": x, "y": y} {
		if err := rows.AddNumeric(name, v); err != nil {
			fmt.Println(err)
			return
		}
	}
	ctx := context.Background()
	for _, k := range []int{4, 30} {
		f, err := basis.Parse(fmt.Sprintf(`~ s(x, bs="ps", k=%d)`, k), &basis.Options{Schema: rows.Schema()})
		if err != nil {
			fmt.Println(err)
			return
		}
		blocks, err := decompose.Prepare(ctx, rows, f.Specs, nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		m, err := decompose.With(column("y"), map[string][]decompose.Block{"": blocks})
		if err != nil {
			fmt.Println(err)
			return
		}
		r, err := decompose.Decompose(ctx, m, rows, &decompose.Options{Visitors: []decompose.Visitor{diagnostics.NewKCheck(1)}})
		if err != nil {
			fmt.Println(err)
			return
		}
		t := r.Predictors[0].Terms[0]
		fmt.Printf("k=%d: neighbours alike: %t\n", k, t.KCheck.Index < 0.5 && t.KCheck.P < 0.05)
	}
	// Output:
	// k=4: neighbours alike: true
	// k=30: neighbours alike: false
}
