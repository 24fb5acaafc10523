package oip_test

import (
	"fmt"

	"github.com/pho-go/pho/serve/oip"
)

// A request is read, and an answer written.
func Example() {
	var q oip.Request
	if err := q.Parse([]byte(`{"id": "7", "inputs": [{"name": "age", "datatype": "FP64", "shape": [2], "data": [41, null]}]}`), -1); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(q.Inputs[0].Name, q.Inputs[0].Numbers)
	a := oip.Response{Model: "m", Version: "1", ID: q.ID, Outputs: []oip.Result{{Name: "eta", Columns: [][]float64{{0.5, 2}}}}}
	text, _ := a.Append(nil)
	fmt.Println(string(text))
	// Output:
	// age [41 NaN]
	// {"model_name":"m","model_version":"1","id":"7","outputs":[{"name":"eta","datatype":"FP64","shape":[2],"data":[0.5,2]}]}
}
