package main

import (
	"fmt"

	"github.com/pho-go/pho/adapters/onnx"
)

// trainedFamily is the family that the network's file names for the response, and a note
// that says so; "" if the file names none, or was trained on another column.
func trainedFamily(g *onnx.Graph, response string) (name, note string, err error) {
	if response == "" {
		return "", "", nil
	}
	r, err := g.Response()
	if err != nil || r == nil || r.Column != response {
		return "", "", err
	}
	return r.Family, fmt.Sprintf("family %s: that is what the network's file says it was trained for; --family takes another", r.Family), nil
}
