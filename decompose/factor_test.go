package decompose_test

import (
	"testing"

	"github.com/pho-go/pho/decompose"
)

// byRoute runs a test on the products and on the triangular factor.
func byRoute(t *testing.T, test func(*testing.T, decompose.Route)) {
	for _, route := range []decompose.Route{decompose.Gram, decompose.QR} {
		t.Run(string(route), func(t *testing.T) { test(t, route) })
	}
}
