package basis_test

import (
	"context"
	"strings"
	"testing"

	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// A smooth that by leaves nothing of, a by without levels to tell apart, knots
// outside the data: errors, not terms without meaning.
func TestDegenerateSmooths(t *testing.T) {
	tab := data.NewTable(50)
	x, zero, one := make([]float64, 50), make([]float64, 50), make([]string, 50)
	for i := range x {
		x[i], one[i] = float64(i), "only"
	}
	for name, v := range map[string][]float64{"x": x, "zero": zero} {
		if err := tab.AddNumeric(name, v); err != nil {
			t.Fatal(err)
		}
	}
	if err := tab.AddTexts("one", one); err != nil {
		t.Fatal(err)
	}
	for formula, want := range map[string]string{
		`~ s(x, bs="ps", by=zero)`:                   `column "zero" is 0 in every row`,
		`~ s(x, bs="cr", by=one)`:                    `column "one" has one level only, "only"`,
		`~ s(x, bs="cr", k=4, knots=c(60,70,80,90))`: `column "x" goes from 0 to 49, and all knots lie outside, from 60 to 90`,
		`~ s(x, bs="cs", k=3, knots=c(-9,-5,0))`:     `all knots lie outside, from -9 to 0`,
	} {
		f, err := basis.Parse(formula, &basis.Options{Schema: tab.Schema()})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := decompose.Prepare(context.Background(), tab, f.Specs, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want an error with %q", formula, err, want)
		}
	}
}
