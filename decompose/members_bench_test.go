package decompose_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// BenchmarkMembers compares one network with twenty: next to nothing is spent on running
// them.
func BenchmarkMembers(b *testing.B) {
	const rows, features, networks = 50000, 8, 20
	rng := rand.New(rand.NewPCG(1, 2))
	tab := data.NewTable(rows)
	column := func(name string) {
		v := make([]float64, rows)
		for i := range v {
			v[i] = rng.NormFloat64()
		}
		if err := tab.AddNumeric(name, v); err != nil {
			b.Fatal(err)
		}
	}
	formula := "~ "
	for j := range features {
		column(fmt.Sprintf("x%d", j))
		if j > 0 {
			formula += " + "
		}
		formula += fmt.Sprintf(`s(x%d, bs="ps", k=20)`, j)
	}
	f, err := basis.Parse(formula, &basis.Options{Schema: tab.Schema()})
	if err != nil {
		b.Fatal(err)
	}
	blocks, err := decompose.Prepare(context.Background(), tab, f.Specs, nil)
	if err != nil {
		b.Fatal(err)
	}
	var members []decompose.Member
	for m := range networks {
		with, err := decompose.With(&columnNetwork{m}, map[string][]decompose.Block{"": blocks})
		if err != nil {
			b.Fatal(err)
		}
		members = append(members, decompose.Member{Name: fmt.Sprint(m), Model: with})
	}
	joined, err := decompose.Join(members, decompose.Resamples)
	if err != nil {
		b.Fatal(err)
	}
	for name, m := range map[string]decompose.Model{"one": members[0].Model, "twenty": joined} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := decompose.Decompose(context.Background(), m, tab, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// columnNetwork is a "network" that costs nothing to run.
type columnNetwork struct{ m int }

func (c *columnNetwork) Predictors() []string         { return []string{"eta"} }
func (c *columnNetwork) Columns() []string            { return []string{"x0"} }
func (c *columnNetwork) Intercept(int) float64        { return 0 }
func (c *columnNetwork) Blocks(int) []decompose.Block { return nil }
func (c *columnNetwork) Taps() map[string]int         { return nil }
func (c *columnNetwork) Forward(ctx context.Context, dst *decompose.Outputs, b *data.Batch) error {
	x, err := b.Numeric("x0")
	if err != nil {
		return err
	}
	for i := range b.Rows() {
		v := x[i]*x[i] + float64((b.Row(i)*int64(2*c.m+7))%101)/50 // another "network" for each m
		dst.Zeta.Set(i, 0, v)
		dst.Eta.Set(i, 0, v)
	}
	return ctx.Err()
}
