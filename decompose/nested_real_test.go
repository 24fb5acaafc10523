package decompose_test

import (
	"context"
	"testing"

	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/decompose"
)

// On real data the columns that a tensor product shares with its margins are
// found by both routes, as many as mgcv finds (33 and 25 coefficients): ties and
// rounded values bring pivots nearer to each other than simulated data do.
func TestNestedOnBikes(t *testing.T) {
	src := realData(t, "bike_hour.csv.gz")
	ctx := context.Background()
	for formula, columns := range map[string]int{
		`~ s(temp)+te(temp,hum,k=5)`:             33,
		`~ s(temp,bs="cr")+te(temp,hum)`:         33,
		`~ s(temp,k=5,bs="cr")+te(temp,hum,k=5)`: 25,
	} {
		for _, route := range []decompose.Route{decompose.Gram, decompose.QR} {
			f, err := basis.Parse(formula, &basis.Options{Schema: src.Schema()})
			if err != nil {
				t.Fatal(err)
			}
			blocks, err := decompose.Prepare(ctx, src, f.Specs, []string{"cnt"})
			if err != nil {
				t.Fatal(err)
			}
			m, err := decompose.With(&responses{[]string{"eta"}, []string{"cnt"}}, map[string][]decompose.Block{"": blocks})
			if err != nil {
				t.Fatal(err)
			}
			r, err := decompose.Decompose(ctx, m, src, &decompose.Options{Projection: decompose.Projection{Route: route}})
			if err != nil {
				t.Fatal(err)
			}
			if p := r.Predictors[0]; p.Columns != columns || len(p.Entangled) != 0 {
				t.Errorf("%s by %s: %d columns, want %d; entangled: %v", formula, route, p.Columns, columns, p.Entangled)
			}
		}
	}
}
