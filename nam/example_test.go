package nam_test

import (
	"context"
	"fmt"
	"log"
	"math"
	"math/rand/v2"

	"github.com/pho-go/pho/adapters/native"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/nam"
)

// curves are n rows of y = sin(3 a) + b^2 + a b + noise.
func curves(n int) *data.Table {
	random := rand.New(rand.NewPCG(5, 6))
	a, b, y := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range n {
		a[i], b[i] = 2*random.Float64()-1, 2*random.Float64()-1
		y[i] = math.Sin(3*a[i]) + b[i]*b[i] + a[i]*b[i] + 0.2*random.NormFloat64()
	}
	rows := data.NewTable(n)
	for _, c := range []struct {
		name   string
		values []float64
	}{{"a", a}, {"b", b}, {"y", y}} {
		if err := rows.AddNumeric(c.name, c.values); err != nil {
			log.Fatal(err)
		}
	}
	return rows
}

// The deep part of a neural additive model could be the features' curves as well as their
// interaction. PHONAM moves to the curves what they can express; what is left is the
// interaction a b, which has variance 1/9.
func ExamplePHONAM() {
	ctx, rows := context.Background(), curves(1000)
	model, _, err := native.Train(ctx, native.Config{
		Architecture: native.NAM, Response: "y",
		FeatureNetworks: native.FeatureNetworks{Columns: []string{"a", "b"}, Hidden: []int{16, 8}, Activation: native.Tanh},
		Deep:            native.Deep{Columns: []string{"a", "b"}, Activation: native.Tanh},
		Training:        native.Training{Epochs: 60, LearningRate: 0.01, Schedule: native.Cosine, Seed: 1},
	}, rows)
	if err != nil {
		log.Fatal(err)
	}
	result, err := nam.PHONAM(ctx, model, rows, nam.Learned, nil)
	if err != nil {
		log.Fatal(err)
	}
	eta := result.Predictors[0]
	fmt.Println("variant:", result.PHONAM)
	for _, t := range eta.Terms {
		fmt.Printf("%s: variance %.2f, %.2f after\n", t.Name, t.Before.Variance, t.After.Variance)
	}
	fmt.Printf("deep part: variance %.2f, %.2f after\n", eta.VarianceBefore.Unstructured, eta.Variance.Unstructured)
	// Output:
	// variant: learned
	// f(a): variance 0.05, 0.50 after
	// f(b): variance 0.02, 0.08 after
	// deep part: variance 0.94, 0.10 after
}
