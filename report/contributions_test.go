package report

import (
	"context"
	"math"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// TestContributionLines: the lines of a chunk are those that strconv forms of one number after the other, with and without names of
// rows, and with empty cells for standard errors that there are none of.
func TestContributionLines(t *testing.T) {
	const n = 300
	rows, names := data.NewTable(n), make([]string, n)
	terms, se := mat.NewDense(n, 3, nil), mat.NewDense(n, 3, nil)
	unstructured, eta := make([]float64, n), make([]float64, n)
	for i := range n {
		names[i] = "row " + strconv.Itoa(i)
		for j := range 3 {
			terms.Set(i, j, math.Sin(float64(3*i+j)))
			se.Set(i, j, math.Exp(float64(j-i)))
		}
		if i%7 < 3 {
			se.Set(i, i%7, math.NaN())
		}
		unstructured[i], eta[i] = float64(i)/8, -1/float64(i+1)
	}
	if err := rows.AddTexts("name", names); err != nil {
		t.Fatal(err)
	}
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	for _, id := range []string{"", "name"} {
		for _, errors := range []*mat.Dense{nil, se} {
			var want, got string
			for b, err := range rows.Batches(context.Background(), []string{"name"}) {
				if err != nil {
					t.Fatal(err)
				}
				parts := &decompose.Parts{Batch: b, Predictors: []decompose.PredictorParts{
					{Intercept: 0.1, Terms: terms, SE: errors, Unstructured: unstructured, Eta: eta},
					{Intercept: -2, Terms: terms, Unstructured: eta, Eta: unstructured},
				}}
				l, err := NewContributions(nil, nil).WithID(id).Map(parts)
				if err != nil {
					t.Fatal(err)
				}
				got += string(l.(*lines).text)
			}
			for i := range n {
				if id != "" {
					want += names[i] + ","
				}
				want += "0.1,"
				for j := range 3 {
					want += number(terms.At(i, j)) + ","
					if v := se.At(i, j); errors != nil && math.IsNaN(v) {
						want += ","
					} else if errors != nil {
						want += number(v) + ","
					}
				}
				want += number(unstructured[i]) + "," + number(eta[i]) + ",-2,"
				for j := range 3 {
					want += number(terms.At(i, j)) + ","
				}
				want += number(eta[i]) + "," + number(unstructured[i]) + "\n"
			}
			if got != want {
				t.Errorf("names %q, standard errors %t: %.300s, want %.300s", id, errors != nil, got, want)
			}
		}
	}
}
