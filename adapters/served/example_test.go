package served_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/pho-go/pho/adapters/served"
	"github.com/pho-go/pho/data"
)

// A model behind an address is asked what it predicts for the rows of a batch: here by a data frame, as MLflow takes it.
func Example() {
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, `{"predictions": [0.25, 0.75]}`)
	}))
	defer model.Close()

	rows := data.NewBatch(2, 0)
	if err := rows.SetNumeric("age", []float64{31, 64}); err != nil {
		fmt.Println(err)
		return
	}
	s, err := served.At(model.URL+"/invocations", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	form := &served.Form{
		Protocol: s.Protocol(),
		Inputs:   []served.Input{{Name: "dataframe_split", Columns: []string{"age"}}},
		Outputs:  []served.Output{{Name: "predictions", Width: 1}},
	}
	answers := make([]float64, 2)
	err = s.Predict(context.Background(), answers, form, rows)
	fmt.Println(answers, err)
	// Output: [0.25 0.75] <nil>
}
