package online

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/pho-go/pho/serve"
	"github.com/pho-go/pho/serve/oip"
)

// object is one of JSON. Its fields are written in the order of their names.
type object = map[string]any

// openAPI describes what the server answers, by OpenAPI 3.1, with the columns of its models as they are now.
func (s *Server) openAPI() any {
	d := &description{s: s, taken: map[string]bool{}, schemas: object{
		"Error":        fields(object{"error": typed("string")}, "error"),
		"Parameters":   parametersSchema(),
		"Tensor":       tensorSchema(),
		"InferRequest": fields(object{"inputs": list(ref("Tensor")), "outputs": outputsSchema(), "parameters": ref("Parameters"), "id": typed("string")}, "inputs"),
		"InferResponse": fields(object{"model_name": typed("string"), "model_version": typed("string"), "id": typed("string"), "parameters": typed("object"),
			"outputs": list(ref("Tensor"))}, "model_name", "model_version", "outputs"),
		"Model": fields(object{"name": typed("string"), "versions": list(typed("string")), "platform": typed("string"),
			"inputs": list(ref("TensorKind")), "outputs": list(ref("TensorKind"))}, "name", "versions", "platform", "inputs", "outputs"),
		"TensorKind": fields(object{"name": typed("string"), "datatype": typed("string"), "shape": list(typed("integer"))}, "name", "datatype", "shape"),
		"Explanations": fields(object{"model_name": typed("string"), "model_version": typed("string"), "id": typed("string"),
			"rows": list(typed("object")), "unseen": list(typed("object"))}, "model_name", "model_version", "rows"),
	}}
	d.paths = object{
		"/":                d.get("page", "A page for people: a row is entered, and the parts of its prediction are drawn", "text/html", typed("string")),
		"/openapi.json":    d.get("openapi", "This description", "application/json", typed("object")),
		"/metrics":         d.get("metrics", "Metrics for Prometheus", "text/plain", typed("string")),
		"/v2":              d.get("server", "The server: name, version, extensions", "application/json", typed("object")),
		"/v2/health/live":  d.get("live", "Status 200", "", nil),
		"/v2/health/ready": d.get("ready", "Status 200", "", nil),
		"/v2/models":       d.get("models", "Names of the models, with their versions", "application/json", typed("object")),
	}
	for _, m := range s.models.all() {
		d.model(m)
	}
	out := object{
		"openapi":    "3.1.0",
		"info":       object{"title": "pho serve", "version": cmp.Or(s.o.Version, "unknown"), "description": "Predictions of models and the parts that they are made of: the Open Inference Protocol (V2), and plain rows."},
		"paths":      d.paths,
		"components": object{"schemas": d.schemas},
	}
	if s.o.Token != nil {
		out["components"].(object)["securitySchemes"] = object{"token": object{"type": "http", "scheme": "bearer"}}
		out["security"] = []any{object{"token": []any{}}}
	}
	return out
}

// description is an OpenAPI document while it is written.
type description struct {
	s              *Server
	paths, schemas object
	taken          map[string]bool // keys of models
}

// model adds the paths of a model, and the schemas of its rows and parts.
func (d *description) model(m *model) {
	g := m.now.Load()
	key := d.key(m.name)
	row, parts := key+".row", key+".parts"
	d.schemas[row], d.schemas[parts] = g.rowSchema(), g.partsSchema()
	at := "/v2/models/" + url.PathEscape(m.name)
	rows := object{"type": "array", "items": ref(row), "maxItems": d.s.o.MaxRows}
	plain := fields(object{"rows": rows, "outputs": outputsSchema(), "parameters": ref("Parameters"), "id": typed("string")}, "rows")
	either := object{"anyOf": []any{plain, ref("InferRequest")}}
	answer := fields(object{"model_name": typed("string"), "model_version": typed("string"), "id": typed("string"), "parameters": typed("object"), "rows": list(ref(parts))},
		"model_name", "model_version", "rows")
	d.paths[at] = d.get(key+".model", "Inputs and outputs", "application/json", ref("Model"))
	d.paths[at+"/ready"] = d.get(key+".ready", "Status 200", "", nil)
	d.paths[at+"/report"] = d.get(key+".report", "The result's report, a page", "text/html", typed("string"))
	d.paths[at+"/rows"] = d.post(key+".rows", "Plain rows, and their parts by name", either, answer)
	d.paths[at+"/infer"] = d.post(key+".infer", "Predictions and parts of rows as tensors, by the Open Inference Protocol", either, ref("InferResponse"))
	d.paths[at+"/explain"] = d.post(key+".explain", "Parts of rows with standard errors and reasons, for people", either, ref("Explanations"))
}

// key is the model's name in the characters that keys of schemas may have, unlike those of others.
func (d *description) key(name string) string {
	key := strings.Map(func(r rune) rune {
		if r < 128 && (r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z') {
			return r
		}
		return '_'
	}, name)
	own := key
	for i := 2; d.taken[own]; i++ {
		own = key + "_" + strconv.Itoa(i)
	}
	d.taken[own] = true
	return own
}

func (d *description) get(id, summary, media string, schema any) object {
	return object{"get": object{"operationId": id, "summary": summary, "responses": responses(media, schema)}}
}

func (d *description) post(id, summary string, request, answer any) object {
	return object{"post": object{"operationId": id, "summary": summary, "responses": responses("application/json", answer),
		"requestBody": object{"required": true, "content": object{"application/json": object{"schema": request}}}}}
}

// responses are an answer of that kind, or what is wrong. schema nil: the answer has no body.
func responses(media string, schema any) object {
	good := object{"description": "The answer"}
	if schema != nil {
		good["content"] = object{media: object{"schema": schema}}
	}
	return object{"200": good, "default": object{"description": "What is wrong, and in which row", "content": object{"application/json": object{"schema": ref("Error")}}}}
}

func ref(name string) object       { return object{"$ref": "#/components/schemas/" + name} }
func typed(names ...string) object { return object{"type": one(names)} }
func list(of any) object           { return object{"type": "array", "items": of} }

// one is the only one of some, or all.
func one[T any](all []T) any {
	if len(all) == 1 {
		return all[0]
	}
	return all
}

// fields are an object's, of which it has at least the required ones.
func fields(properties object, required ...string) object {
	out := object{"type": "object", "properties": properties}
	if len(required) > 0 {
		out["required"] = required
	}
	return out
}

func described(schema object, text string) object {
	schema["description"] = text
	return schema
}

func parametersSchema() object {
	return fields(object{
		"terms":              described(typed("boolean"), "all parts"),
		"se":                 described(typed("boolean"), "all parts, with standard errors"),
		"na":                 described(object{"enum": []any{"error", "drop", "keep"}}, "of rows with missing values"),
		"unseen":             described(object{"enum": []any{"error", "drop", "zero"}}, "of levels that training did not have"),
		"reasons":            described(object{"type": "integer", "minimum": 0}, "of explain: how many"),
		"binary_data_output": described(typed("boolean"), "outputs as binary data"),
	})
}

func outputsSchema() object {
	return described(list(fields(object{"name": typed("string")}, "name")), "parts that are wanted; without it as the parameters say")
}

func tensorSchema() object {
	kinds := []any{}
	for _, k := range []oip.Datatype{oip.Bool, oip.Uint8, oip.Uint16, oip.Uint32, oip.Uint64, oip.Int8, oip.Int16, oip.Int32, oip.Int64, oip.FP16, oip.FP32, oip.FP64, oip.Bytes} {
		kinds = append(kinds, k)
	}
	return fields(object{
		"name": typed("string"), "datatype": object{"enum": kinds}, "shape": list(object{"type": "integer", "minimum": 0}),
		"data": described(typed("array"), "elements in row-major order, flat or nested"), "parameters": typed("object"),
	}, "name", "datatype", "shape")
}

// rowSchema is that of a plain row.
func (g *generation) rowSchema() object {
	properties, required := object{}, []string{}
	for _, c := range g.shape.columns {
		properties[c.Name], required = g.columnSchema(c), append(required, c.Name)
	}
	out := fields(properties, required...)
	out["title"] = "a row"
	if row := g.typicalRow(); row != nil {
		out["examples"] = []any{row}
	}
	return out
}

// typicalRow has the typical value of every column; nil: of one it is not known.
func (g *generation) typicalRow() object {
	row := object{}
	for _, c := range g.shape.columns {
		known := g.Known(c.Name)
		v := known.Typical
		if v == nil {
			return nil
		}
		if level, ok := v.(string); ok && !c.Text {
			v = levelValue(level)
		}
		row[c.Name] = v
	}
	return row
}

func (g *generation) columnSchema(c serve.Column) object {
	known, labels := g.Known(c.Name), g.Result().Labels
	var out object
	switch {
	case c.Shape != nil:
		out = typed("number", "null")
		for i := len(c.Shape) - 1; i >= 0; i-- {
			out = object{"type": "array", "items": out, "minItems": c.Shape[i], "maxItems": c.Shape[i]}
		}
		return out
	case c.Text:
		out = typed("string", "number", "null") // a number is its text
	default:
		out = typed("number", "null")
	}
	var told []string
	if name := labels.Axis(c.Name); name != c.Name {
		told = append(told, name)
	}
	if known.Prediction {
		told = append(told, asPrediction)
	}
	if known.Range != nil {
		told = append(told, fmt.Sprintf("from %v to %v in training", known.Range[0], known.Range[1]))
	}
	if len(known.Levels) > 0 {
		levels := []any{}
		for _, l := range known.Levels {
			if c.Text {
				levels = append(levels, l)
			} else {
				levels = append(levels, levelValue(l))
			}
		}
		out = object{"anyOf": []any{object{"enum": levels}, out}}
		told = append(told, "the levels of training; of others the parameter unseen decides")
	}
	if len(told) > 0 {
		out["description"] = strings.Join(told, ": ")
	}
	return out
}

// levelValue is a level of a column of numbers.
func levelValue(level string) any {
	if json.Valid([]byte(level)) {
		return json.RawMessage(level)
	}
	return level
}

// partsSchema is that of the parts of a row.
func (g *generation) partsSchema() object {
	properties := object{}
	for _, name := range g.shape.partsSE {
		properties[name] = typed("number", "null")
	}
	for _, name := range g.shape.responses {
		properties[name] = typed("number", "null")
	}
	out := fields(properties)
	out["title"] = "the parts of a row"
	return out
}
