package online_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pho-go/pho/serve/online"
)

type object = map[string]any

// described is the server's OpenAPI document.
func described(t *testing.T, url string) (d struct {
	OpenAPI    string
	Info       struct{ Title, Version string }
	Paths      map[string]map[string]operation
	Components struct{ Schemas, SecuritySchemes object }
	Security   []object
}) {
	t.Helper()
	r, err := http.Get(url + "/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(text, &d)
	}
	if err != nil || r.Header.Get("Content-Type") != "application/json" {
		t.Fatalf("%v, %v: %s", err, r.Header, text)
	}
	return d
}

type operation struct {
	OperationID, Summary string
	RequestBody          object
	Responses            map[string]object
}

// at follows names, and numbers of elements, into a JSON value, and references to schemas.
func at(t *testing.T, schemas object, v any, path ...any) any {
	t.Helper()
	for _, step := range path {
		if o, ok := v.(object); ok && o["$ref"] != nil {
			v = schemas[strings.TrimPrefix(o["$ref"].(string), "#/components/schemas/")]
		}
		switch s := step.(type) {
		case string:
			v = v.(object)[s]
		case int:
			v = v.([]any)[s]
		}
	}
	return v
}

// TestOpenAPI: the document has what version 3.1 asks for, its references lead somewhere, and every path that it has
// answers by that method.
func TestOpenAPI(t *testing.T) {
	t.Parallel()
	a, b := two(t)
	url := started(t, &online.Options{Version: "1.2.3"}, a, `odd "{name}" <i>=`+b, "odd___name____i_="+b)
	d := described(t, url)
	if d.OpenAPI != "3.1.0" || d.Info.Title == "" || d.Info.Version != "1.2.3" || d.Security != nil {
		t.Errorf("%+v", d)
	}
	key, ids := regexp.MustCompile(`^[a-zA-Z0-9._-]+$`), map[string]bool{}
	for name := range d.Components.Schemas {
		if !key.MatchString(name) {
			t.Errorf("a schema is called %q", name)
		}
	}
	var refs func(v any)
	refs = func(v any) {
		switch v := v.(type) {
		case object:
			if to, ok := v["$ref"].(string); ok && d.Components.Schemas[strings.TrimPrefix(to, "#/components/schemas/")] == nil {
				t.Errorf("%q leads nowhere", to)
			}
			for _, own := range v {
				refs(own)
			}
		case []any:
			for _, own := range v {
				refs(own)
			}
		}
	}
	refs(d.Components.Schemas)
	for path, methods := range d.Paths {
		for method, o := range methods {
			if ids[o.OperationID] || !key.MatchString(o.OperationID) || o.Summary == "" || o.Responses["200"]["description"] == nil || o.Responses["default"] == nil {
				t.Errorf("%s %s: %+v", method, path, o)
			}
			ids[o.OperationID] = true
			refs(o.RequestBody)
			q, err := http.NewRequest(strings.ToUpper(method), url+path, strings.NewReader("{}"))
			if err != nil {
				t.Fatal(err)
			}
			r, err := http.DefaultClient.Do(q)
			if err != nil {
				t.Fatal(err)
			}
			r.Body.Close()
			if want := map[bool]int{true: 400, false: 200}[method == "post"]; r.StatusCode != want { // {} has no rows
				t.Errorf("%s %s: %d", method, path, r.StatusCode)
			}
		}
	}
	for _, name := range []string{"models", "openapi", "metrics", "a.rows", "a.infer", "a.explain", "a.report", "odd___name____i_.rows", "odd___name____i__2.rows"} {
		if !ids[name] {
			t.Errorf("no %q among %v", name, slices.Sorted(maps.Keys(ids)))
		}
	}
	if secret := described(t, started(t, &online.Options{}, a)); secret.Components.SecuritySchemes != nil {
		t.Errorf("%+v", secret.Components)
	}
}

// TestOpenAPIColumns: the schemas are of the model's own columns, and the row that they show is answered.
func TestOpenAPIColumns(t *testing.T) {
	t.Parallel()
	a, _ := two(t)
	pictures, _, _, _ := pictured(t, false)
	url := started(t, nil, a, "pictures="+pictures)
	d := described(t, url)
	body := d.Paths["/v2/models/a/rows"]["post"].RequestBody
	row := at(t, d.Components.Schemas, body, "content", "application/json", "schema", "anyOf", 0, "properties", "rows", "items")
	schema := func(path ...any) string { return fmt.Sprint(at(t, d.Components.Schemas, row, path...)) }
	if got := schema("properties", "x1", "type"); got != "[number null]" {
		t.Errorf("x1: %v", got)
	}
	if got := schema("properties", "g", "anyOf"); got != "[map[enum:[a b c]] map[type:[string number null]]]" {
		t.Errorf("g: %v", got)
	}
	if got := schema("properties", "day", "anyOf"); got != "[map[enum:[0 1 2 3 4 5 6]] map[type:[string number null]]]" {
		t.Errorf("day: %v", got)
	}
	if got := schema("properties", "x1", "description"); !strings.HasPrefix(got, "from -") || !strings.HasSuffix(got, " in training") {
		t.Errorf("x1: %q", got)
	}
	if got := schema("required"); len(strings.Fields(got)) != len(numeric)+1 {
		t.Errorf("required: %v", got)
	}
	example := at(t, d.Components.Schemas, row, "examples", 0)
	answer := postRows(t, url+"/v2/models/a/rows", object{"rows": []any{example}, "parameters": object{"se": true}})
	if answer.status != 200 || len(answer.Rows) != 1 {
		t.Fatalf("%+v is answered by %+v", example, answer)
	}
	parts := at(t, d.Components.Schemas, d.Paths["/v2/models/a/rows"]["post"].Responses["200"], "content", "application/json", "schema", "properties", "rows", "items")
	if got := at(t, d.Components.Schemas, parts, "properties").(object); len(got) != len(answer.Rows[0]) {
		t.Errorf("parts %v, answered %v", got, answer.Rows[0])
	}
	row = at(t, d.Components.Schemas, d.Paths["/v2/models/pictures/rows"]["post"].RequestBody, "content", "application/json", "schema", "anyOf", 0, "properties", "rows", "items")
	if got := schema("properties", "img"); got != "map[items:map[items:map[type:[number null]] maxItems:3 minItems:3 type:array] maxItems:2 minItems:2 type:array]" {
		t.Errorf("img: %v", got)
	}
}
