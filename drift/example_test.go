package drift_test

import (
	"fmt"
	"log"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/drift"
)

// A service adds what it has seen in an hour, under an ID that no other hour has. The parts are
// those of decompose.Applier, which it computes anyhow.
func ExampleState_Begin() {
	of := drift.Decomposition{SHA256: "of the decomposition, see Describe", Predictors: []drift.Predictor{
		{Name: "eta", Intercept: 1, Terms: []drift.Term{{Name: "s(age)", Features: []string{"age"}}}}}}
	state, err := drift.New(of, drift.Settings{})
	if err != nil {
		log.Fatal(err)
	}
	for hour, age := range [][]float64{{-1, 0, 1, 0}, {1, 2, 3, 2}} {
		rest := []float64{0.1, -0.1, 0.1, -0.1}
		eta := make([]float64, len(age))
		for i := range age {
			eta[i] = 1 + age[i] + rest[i]
		}
		parts := &decompose.Parts{Batch: data.NewBatch(len(age), 0), Predictors: []decompose.PredictorParts{
			{Intercept: 1, Terms: mat.NewDense(len(age), 1, age), Unstructured: rest, Eta: eta}}}

		seen, err := state.Begin(drift.Source{ID: fmt.Sprintf("instance 7, hour %d", hour)})
		if err != nil {
			log.Fatal(err)
		}
		if err := seen.Add(parts, drift.Rows{Period: fmt.Sprintf("2026-01-31T%02d", hour)}); err != nil {
			log.Fatal(err)
		}
		if err := seen.End(); err != nil {
			log.Fatal(err)
		}
	}
	report, err := state.Report("")
	if err != nil {
		log.Fatal(err)
	}
	change := report.Changes[0]
	p := change.Predictors[0]
	fmt.Printf("%s against %s: the mean changed by %.1f\n", change.Period, change.Reference, *p.Mean.Change)
	for _, part := range p.Parts {
		fmt.Printf("  %s: %.1f, drift: %t\n", part.Name, *part.Mean.Change, part.Mean.Drift)
	}
	// Output:
	// 2026-01-31T01 against 2026-01-31T00: the mean changed by 2.0
	//   s(age): 2.0, drift: false
	//   unstructured: 0.0, drift: false
}
