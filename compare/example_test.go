package compare_test

import (
	"bytes"
	"context"
	"fmt"
	"log"

	"github.com/pho-go/pho/compare"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/report"
)

// A network was trained in winter and again in summer, when it was warmer: its predictions
// rose by 2.5, of which 0.5 is the weather and 2 another intercept.
func Example() {
	winter, summer := result("winter", 0, 1), result("summer", 1, 3)
	c, err := compare.New(winter, summer, compare.Rows{})
	if err != nil {
		log.Fatal(err)
	}
	mean := c.Predictors[0].Mean
	fmt.Printf("mean %.2f, then %.2f: %.2f by the rows, %.2f by functions and intercept\n", mean.A, mean.B, mean.Rows, mean.Rest)
	for _, t := range c.Predictors[0].Terms {
		fmt.Printf("%s moved by %.2f (beyond its uncertainty: %v)\n", t.Name, t.Curve.RMS, *t.Curve.Beyond)
	}
	// Output:
	// mean 1.00, then 3.50: 0.50 by the rows, 2.00 by functions and intercept
	// temp moved by 0.00 (beyond its uncertainty: false)
}

// season is a network: half the temperature, a constant, and what no term expresses.
type season struct{ constant float64 }

func (m season) Predictors() []string  { return []string{"eta"} }
func (m season) Columns() []string     { return []string{"temp", "other"} }
func (m season) Intercept(int) float64 { return m.constant }
func (m season) Blocks(int) []decompose.Block {
	return []decompose.Block{{Term: temp, Coef: []float64{0.5}}}
}
func (m season) Taps() map[string]int { return nil }
func (m season) Forward(_ context.Context, dst *decompose.Outputs, b *data.Batch) error {
	x, err := b.Numeric("temp")
	if err != nil {
		return err
	}
	other, err := b.Numeric("other")
	for i, v := range other {
		dst.Zeta.Set(i, 0, v)
		dst.Eta.Set(i, 0, m.constant+0.5*x[i]+v)
	}
	return err
}

var temp = &decompose.LinearTerm{Column: "temp"}

// result decomposes the season's network over temperatures from -2 to 2 about a mean.
func result(name string, mean, constant float64) compare.Side {
	x, other := make([]float64, 128), make([]float64, 128)
	for i := range x {
		x[i] = mean - 2 + 4*float64(i)/127
		other[i] = []float64{0.1, -0.1, -0.1, 0.1}[i%4]
	}
	rows := data.NewTable(len(x))
	for name, v := range map[string][]float64{"temp": x, "other": other} {
		if err := rows.AddNumeric(name, v); err != nil {
			log.Fatal(err)
		}
	}
	m := season{constant}
	r, err := decompose.Decompose(context.Background(), m, rows, nil)
	if err != nil {
		log.Fatal(err)
	}
	a, err := r.Applier(m)
	if err != nil {
		log.Fatal(err)
	}
	effects, err := report.Effects(context.Background(), r, a)
	if err != nil {
		log.Fatal(err)
	}
	var file bytes.Buffer
	if err := report.WriteEffects(&file, effects); err != nil {
		log.Fatal(err)
	}
	curves, err := compare.ReadCurves(&file)
	if err != nil {
		log.Fatal(err)
	}
	return compare.Side{Name: name, Result: r, Curves: curves}
}
