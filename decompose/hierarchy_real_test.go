package decompose_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/family"
	"github.com/pho-go/pho/importance"
)

// claims are policies of car insurance (datacar): age group, area, exposure and claims,
// with the log rate of each age group in each area, shrunken to the mean, as predictor.
func claims(t *testing.T, rename func(column string, level int) string) *data.Table {
	t.Helper()
	src := realData(t, "datacar.csv.gz")
	columns := map[string][]float64{}
	for b, err := range src.Batches(t.Context(), []string{"agecat", "area", "exposure", "numclaims"}) {
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"agecat", "area", "exposure", "numclaims"} {
			v, err := b.Numeric(name)
			if err != nil {
				t.Fatal(err)
			}
			columns[name] = append(columns[name], v...)
		}
	}
	n := len(columns["area"])
	counts, exposures := map[[2]int]float64{}, map[[2]int]float64{}
	at := func(i int) [2]int { return [2]int{int(columns["agecat"][i]), int(columns["area"][i])} }
	all, whole := 0.0, 0.0
	for i := range n {
		counts[at(i)] += columns["numclaims"][i]
		exposures[at(i)] += columns["exposure"][i]
		all, whole = all+columns["numclaims"][i], whole+columns["exposure"][i]
	}
	eta, offset := make([]float64, n), make([]float64, n)
	age, area := make([]string, n), make([]string, n)
	for i := range n {
		eta[i] = math.Log((counts[at(i)] + 50*all/whole) / (exposures[at(i)] + 50))
		offset[i] = math.Log(columns["exposure"][i])
		age[i], area[i] = rename("age", at(i)[0]), rename("area", at(i)[1])
	}
	tab := data.NewTable(n)
	for name, v := range map[string][]float64{"eta": eta, "offset": offset, "claims": columns["numclaims"]} {
		if err := tab.AddNumeric(name, v); err != nil {
			t.Fatal(err)
		}
	}
	for name, v := range map[string][]string{"age": age, "area": area} {
		if err := tab.AddTexts(name, v); err != nil {
			t.Fatal(err)
		}
	}
	return tab
}

// TestPoissonLevelNames: which level of a factor is the first by its name changes no
// importance in a Poisson model with an interaction.
func TestPoissonLevelNames(t *testing.T) {
	names := func(column string, level int) string { return fmt.Sprintf("%s %d", column, level) }
	other := func(column string, level int) string { // the rarest first
		if column == "age" && level == 5 || column == "area" && level == 5 {
			return "a first " + column
		}
		return names(column, level)
	}
	measure := func(rename func(string, int) string, terms decompose.Terms) map[string]decompose.Importance {
		tab := claims(t, rename)
		m := responseAsNetwork(t, tab, "~ age + area + age:area", "eta")
		r, err := decompose.Decompose(t.Context(), m, tab, &decompose.Options{
			Projection: decompose.Projection{Terms: terms},
			Columns:    decompose.Columns{Response: "claims", Offset: "offset"},
			Family:     family.Poisson{}, Visitors: []decompose.Visitor{importance.New(family.Poisson{})},
		})
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]decompose.Importance{}
		for _, i := range r.Predictors[0].Importance {
			out[i.Feature+" "+fmt.Sprint(i.Terms)] = i
		}
		return out
	}
	for _, terms := range []decompose.Terms{decompose.Fitted, decompose.Hierarchical} {
		a, b := measure(names, terms), measure(other, terms)
		largest := 0.0
		for key, i := range a {
			far := math.Abs(i.VarianceShare - b[key].VarianceShare)
			largest = max(largest, far)
			t.Logf("%s, %s: share %.4f and %.4f, deviance R2 %.3e and %.3e", terms, key, i.VarianceShare, b[key].VarianceShare, *i.DevianceR2, *b[key].DevianceR2)
			if terms == decompose.Hierarchical && (far > 1e-10 || math.Abs(*i.DevianceR2-*b[key].DevianceR2) > 1e-12) {
				t.Errorf("%s: share %v under other names of levels, %v before", key, b[key].VarianceShare, i.VarianceShare)
			}
		}
		if terms == decompose.Fitted && largest < 0.02 {
			t.Errorf("as fitted no share changes by more than %g: the test shows nothing", largest)
		}
	}
}
