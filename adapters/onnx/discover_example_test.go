package onnx_test

import (
	"fmt"

	"github.com/pho-go/pho/adapters/onnx"
)

// What is additive in a network that PyTorch exported?
func ExampleDiscover() {
	g, err := onnx.LoadFile("../../testdata/golden/models/nam_deep_op13.onnx", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := onnx.Discover(g, onnx.Unbound(g), &onnx.Options{Deep: []string{"f(x[3])"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, t := range s.Predictors[0].Terms {
		fmt.Println(t.Name, t.Width, t.Reason)
	}
	fmt.Println("deep:", s.Predictors[0].Deep.Width)
	// Output:
	// f(x[0]) 5 a subnetwork that depends on "x[0]" alone
	// f(x[1]) 5 a subnetwork that depends on "x[1]" alone
	// f(x[2]) 5 a subnetwork that depends on "x[2]" alone
	// deep: 11
}
