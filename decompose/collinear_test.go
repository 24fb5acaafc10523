package decompose_test

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// TestNearlyCollinearColumnsAreTold: two columns that differ by 1e-12 of themselves
// have, where the tolerance lets them, effects of 1e12 against each other. What is
// wrong then is not the network.
func TestNearlyCollinearColumnsAreTold(t *testing.T) {
	const n = 500
	r := rand.New(rand.NewPCG(5, 1))
	tab := data.NewTable(n)
	a, b, z := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range n {
		a[i] = r.NormFloat64()
		e := r.NormFloat64()
		b[i], z[i] = a[i]+3e-12*e, 100*e+a[i]
	}
	for name, v := range map[string][]float64{"a": a, "b": b, "z": z} {
		if err := tab.AddNumeric(name, v); err != nil {
			t.Fatal(err)
		}
	}
	blocks := map[string][]decompose.Block{"": {{Term: &decompose.LinearTerm{Column: "a"}}, {Term: &decompose.LinearTerm{Column: "b"}}}}
	m, err := decompose.With(&responses{[]string{"eta"}, []string{"z"}}, blocks)
	if err != nil {
		t.Fatal(err)
	}
	_, err = decompose.Decompose(context.Background(), m, tab, &decompose.Options{Projection: decompose.Projection{RankTolerance: 1e-13}, ReconstructionTolerance: 1e-12})
	if err == nil || !strings.Contains(err.Error(), "all but linearly dependent: leave one out, or raise the rank tolerance of 1e-13") || strings.Contains(err.Error(), "do not belong") {
		t.Errorf("error %v", err)
	}
	res, err := decompose.Decompose(context.Background(), m, tab, nil)
	if err != nil || res.Predictors[0].Rank != 2 || !strings.Contains(strings.Join(res.Warnings, " "), "only the sum") {
		t.Errorf("by default: %v", err)
	}
}
