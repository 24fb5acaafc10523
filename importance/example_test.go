package importance_test

import (
	"fmt"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/importance"
)

// Under a penalty the parts may covary; the three shares add up to 1.
func ExampleExplainedVariance() {
	ev := importance.ExplainedVariance(decompose.Variance{Structured: 8.5, Unstructured: 2, TwiceCovariance: -0.5, Total: 10})
	fmt.Printf("structured %.2f, unstructured %.2f, twice covariance %.2f\n", ev.Structured, ev.Unstructured, ev.TwiceCovariance)
	// Output: structured 0.85, unstructured 0.20, twice covariance -0.05
}
