package decompose_test

import (
	"context"
	"encoding/json"
	"os"
	"testing"

	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// TestSandwichLikeR compares with R's matrices (testdata/golden/sandwich.R): HC3 and
// clusters, with and without weights, of a linear model and of a smooth at a given sp.
func TestSandwichLikeR(t *testing.T) {
	const tolerance = 1e-8 // of the largest: both sides invert X'WX of unscaled columns
	raw, err := os.ReadFile("../testdata/golden/sandwich.json")
	must(t, err)
	var golden struct {
		Columns map[string]json.RawMessage
		Cases   []struct {
			Formula, Weights, Cluster string
			SP, Scale, EDF            float64
			SE                        map[string][]float64
		}
	}
	must(t, json.Unmarshal(raw, &golden))
	tab := airQuality(t, golden.Columns)
	if len(golden.Cases) != 12 {
		t.Fatalf("%d cases", len(golden.Cases))
	}
	for _, c := range golden.Cases {
		for _, route := range []decompose.Route{decompose.Gram, decompose.QR} {
			f, err := basis.Parse(c.Formula, &basis.Options{Schema: tab.Schema()})
			must(t, err)
			blocks, err := decompose.Prepare(context.Background(), tab, f.Specs, nil)
			must(t, err)
			m, err := decompose.With(&responses{[]string{"eta"}, []string{"Ozone"}}, map[string][]decompose.Block{"": blocks})
			must(t, err)
			o := &decompose.Options{Columns: decompose.Columns{Weights: c.Weights, Cluster: c.Cluster}, Projection: decompose.Projection{Route: route}}
			if c.SP > 0 {
				o.SP = map[string][]float64{"s(Temp)": {c.SP}}
			}
			r := decomposed(t, m, tab, o)
			near(t, "scale", r.Predictors[0].Scale, c.Scale, 1e-9*c.Scale)
			near(t, "edf", r.Predictors[0].EDF, c.EDF, 1e-8)
			b := all(t, tab, tab.Rows())
			for j, term := range r.Predictors[0].Terms {
				want, ok := c.SE[term.Name]
				if !ok {
					t.Fatalf("R has no term %q", term.Name)
				}
				e, err := mustApplier(t, r, m).Effect(context.Background(), 0, j, b)
				must(t, err)
				if d := relative(e.SE, want); !(d <= tolerance) {
					t.Errorf("%s, weights %q, cluster %q, %s: standard error of %s differs by %g of its largest", c.Formula, c.Weights, c.Cluster, route, term.Name, d)
				}
			}
		}
	}
}

// airQuality has R's airquality as sandwich.json holds it.
func airQuality(t *testing.T, columns map[string]json.RawMessage) *data.Table {
	t.Helper()
	var months []string
	must(t, json.Unmarshal(columns["month"], &months))
	tab := data.NewTable(len(months))
	must(t, tab.AddTexts("month", months))
	for name, text := range columns {
		if name == "month" {
			continue
		}
		var v []float64
		must(t, json.Unmarshal(text, &v))
		must(t, tab.AddNumeric(name, v))
	}
	return tab
}
