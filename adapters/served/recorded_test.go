package served

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/pho-go/pho/data"
)

// TestRecorded: requests to MLServer 1.7.1 (with its scikit-learn runtime), MLflow 3.17.2 and pho serve, and their answers in November
// 2026, byte by byte. make check-servers asks the servers themselves.
func TestRecorded(t *testing.T) {
	numbers := []Input{{Name: "input", Datatype: "FP64", Columns: []string{"x1", "x2", "k"}}}
	frame := []Input{{Name: "g", Datatype: "BYTES", Columns: []string{"g"}}, {Name: "x1", Datatype: "FP64", Columns: []string{"x1"}}, {Name: "x2", Datatype: "FP64", Columns: []string{"x2"}}, {Name: "k", Datatype: "INT64", Columns: []string{"k"}}}
	split := []Input{{Name: "dataframe_split", Columns: []string{"g", "x1", "x2", "k"}}}
	for _, c := range []struct {
		name, path, request, answer string
		status                      int
		form                        Form
		x1, x2, k                   []float64
		want                        string // the numbers, or a part of the error
	}{
		{
			"MLServer, inputs not named", "/v2/models/reg/infer",
			`{"inputs":[{"name":"input","datatype":"FP64","shape":[2,3],"data":[1,2,3,4,5,6]}]}`,
			`{"model_name":"reg","model_version":"v1","id":"b4fc80bc-fa56-4dda-967b-d29fa80cd9d7","parameters":{},"outputs":[{"name":"predict","shape":[2,1],"datatype":"FP64","parameters":{"content_type":"np"},"data":[2.241025570019284,0.91079365383931]}]}`,
			200, Form{Protocol: OIP, Inputs: numbers}, []float64{1, 4}, []float64{2, 5}, []float64{3, 6}, "2.241025570019284 0.91079365383931",
		},
		{
			"MLServer, probabilities", "/v2/models/clf/infer",
			`{"inputs":[{"name":"input","datatype":"FP64","shape":[2,3],"data":[1,2,3,4,5,6]}],"outputs":[{"name":"predict_proba"}]}`,
			`{"model_name":"clf","model_version":"v1","id":"9560c337-f4e4-48a8-b6e9-7bc3c3152c6d","parameters":{},"outputs":[{"name":"predict_proba","shape":[2,2],"datatype":"FP64","parameters":{"content_type":"np"},"data":[0.06942634909535424,0.9305736509046457,0.4717221662219125,0.5282778337780876]}]}`,
			200, Form{Protocol: OIP, Inputs: numbers, Outputs: []Output{{"predict_proba", 2}}}, []float64{1, 4}, []float64{2, 5}, []float64{3, 6},
			"0.06942634909535424 0.9305736509046457 0.4717221662219125 0.5282778337780876",
		},
		{
			"MLServer, labels", "/v2/models/mul/infer",
			`{"inputs":[{"name":"input","datatype":"FP64","shape":[2,3],"data":[1,2,3,4,5,6]}]}`,
			`{"model_name":"mul","model_version":"v1","id":"f14e5ed3-c22b-4dbc-bd38-5d32ddb9cef7","parameters":{},"outputs":[{"name":"predict","shape":[2,1],"datatype":"BYTES","parameters":{"content_type":"np"},"data":["hi","hi"]}]}`,
			200, Form{Protocol: OIP, Inputs: numbers}, []float64{1, 4}, []float64{2, 5}, []float64{3, 6}, "a label has no scale",
		},
		{
			"MLServer, columns of a frame", "/v2/models/pipe/infer",
			`{"parameters":{"content_type":"pd"},"inputs":[{"name":"g","datatype":"BYTES","shape":[2,1],"parameters":{"content_type":"str"},"data":["a","b"]},{"name":"x1","datatype":"FP64","shape":[2,1],"data":[1,2]},{"name":"x2","datatype":"FP64","shape":[2,1],"data":[1,2]},{"name":"k","datatype":"INT64","shape":[2,1],"data":[1,2]}]}`,
			`{"model_name":"pipe","model_version":"v1","id":"5232ecca-aafa-42da-a79d-4c38809c0dd9","parameters":{},"outputs":[{"name":"predict","shape":[2,1],"datatype":"FP64","parameters":{"content_type":"np"},"data":[1.9419075335664782,0.7862604854971109]}]}`,
			200, Form{Protocol: OIP, Inputs: frame, Frame: true}, []float64{1, 2}, []float64{1, 2}, []float64{1, 2}, "1.9419075335664782 0.7862604854971109",
		},
		{"MLServer, no such model", "/v2/models/nope/infer", `{"inputs":[{"name":"input","datatype":"FP64","shape":[2,3],"data":[1,2,3,4,5,6]}]}`, `{"error":"Model nope not found"}`,
			404, Form{Protocol: OIP, Inputs: numbers}, []float64{1, 4}, []float64{2, 5}, []float64{3, 6}, `says "Model nope not found"`},
		{"MLServer, a fault of the model", "/v2/models/reg/infer", `{"inputs":[{"name":"input","datatype":"FP64","shape":[2,3],"data":[1,2,3,4,5,6]}]}`, `Internal Server Error`,
			500, Form{Protocol: OIP, Inputs: numbers}, []float64{1, 4}, []float64{2, 5}, []float64{3, 6}, `it was given the columns ["x1" "x2" "k"]`},
		{
			"MLflow", "/invocations", `{"dataframe_split":{"columns":["g","x1","x2","k"],"data":[["a",1,2,3],["b",4,5,6]]}}`, `{"predictions": [1.9419075335664782, 0.9878021277244408]}`,
			200, Form{Protocol: MLflow, Inputs: split}, []float64{1, 4}, []float64{2, 5}, []float64{3, 6}, "1.9419075335664782 0.9878021277244408",
		},
		{
			"MLflow, probabilities", "/invocations", `{"dataframe_split":{"columns":["g","x1","x2","k"],"data":[["a",1,2,3],["b",4,5,6]]}}`, `{"predictions": [[0.06017902769606365, 0.9398209723039364], [4.2612778375472615e-05, 0.9999573872216245]]}`,
			200, Form{Protocol: MLflow, Inputs: split}, []float64{1, 4}, []float64{2, 5}, []float64{3, 6}, "0.06017902769606365 0.9398209723039364 4.2612778375472615e-05 0.9999573872216245",
		},
		{
			"MLflow, a column missing", "/invocations", `{"dataframe_split":{"columns":["g","x1","x2","k"],"data":[["a",1,2,3],["b",4,5,6]]}}`,
			`{"error_code": "INVALID_PARAMETER_VALUE", "message": "Failed to predict data '   g   x1   x2\n0  a  1.0  2.0'. \nError: Failed to enforce schema of data '   g   x1   x2\n0  a  1.0  2.0' with schema '['g': string (required), 'x1': double (required), 'x2': double (required), 'k': long (required)]'. Error: Model is missing inputs ['k'].", "sqlstate": "KAM01", "error_class": "SCHEMA_ENFORCEMENT_FAILED"}`,
			400, Form{Protocol: MLflow, Inputs: split}, []float64{1, 4}, []float64{2, 5}, []float64{3, 6}, "Model is missing inputs ['k']",
		},
		{
			"pho serve", "/v2/models/nam/infer", `{"inputs":[{"name":"x1","datatype":"FP64","shape":[2],"data":[1,4]},{"name":"x2","datatype":"FP64","shape":[2],"data":[2,5]}],"outputs":[{"name":"eta"}]}`,
			`{"model_name":"nam","model_version":"4e4c26806fd93c25","outputs":[{"name":"eta","datatype":"FP64","shape":[2],"data":[-0.547,2.3528]}]}`,
			200, Form{Protocol: OIP, Inputs: []Input{{Name: "x1", Datatype: "FP64", Flat: true, Columns: []string{"x1"}}, {Name: "x2", Datatype: "FP64", Flat: true, Columns: []string{"x2"}}}, Outputs: []Output{{"eta", 1}}},
			[]float64{1, 4}, []float64{2, 5}, []float64{3, 6}, "-0.547 2.3528",
		},
	} {
		url := serve(t, func(w http.ResponseWriter, r *http.Request) {
			raw, _ := io.ReadAll(r.Body)
			if got := string(raw); r.Header.Get("Content-Type") != "application/json" || r.URL.Path != c.path {
				t.Errorf("%s: %s of %q", c.name, r.URL.Path, r.Header.Get("Content-Type"))
			} else if got != c.request && strings.Contains(got, `[2`) { // further ones are of single rows
				t.Errorf("%s is asked\n%s, want\n%s", c.name, got, c.request)
			}
			w.WriteHeader(c.status)
			fmt.Fprint(w, c.answer)
		})
		b := data.NewBatch(2, 0)
		_, err := b.SetTexts("g", []string{"a", "b"}, nil)
		if err := errors.Join(err, b.SetNumeric("x1", c.x1), b.SetNumeric("x2", c.x2), b.SetNumeric("k", c.k)); err != nil {
			t.Fatal(err)
		}
		s := at(t, url+strings.TrimSuffix(c.path, "/infer"), quick())
		answer, err := s.ask(context.Background(), &c.form, b)
		got := ""
		if err == nil && c.form.Outputs == nil {
			c.form.Outputs, err = chosen(answer, nil)
		}
		if err == nil {
			var values []float64
			values, err = s.numbers(&c.form, answer, b)
			got = strings.Trim(fmt.Sprint(values), "[]")
		}
		if c.status >= 400 {
			_, err = s.Settle(context.Background(), c.form, b)
		}
		if err != nil {
			got = err.Error()
		}
		if got != c.want && (err == nil || !strings.Contains(got, c.want)) {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
