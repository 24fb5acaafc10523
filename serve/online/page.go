package online

import (
	"bytes"
	"encoding/json"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/pho-go/pho/report"
	"github.com/pho-go/pho/serve"
	"github.com/pho-go/pho/serve/oip"
)

// pageModel is the model of the page that is asked for: the one that the query names, or the first.
func (s *Server) pageModel(c *fasthttp.RequestCtx) (*model, op, error) {
	m := s.models.all()[0]
	if name := c.QueryArgs().Peek("model"); name != nil {
		if m = s.models.get(name); m == nil {
			return nil, opUnknown, faultf(404, "there is no model %.80q; GET /v2/models names them", name)
		}
	}
	return m, opPage, only(c, "GET", "POST")
}

// page answers with a form for a row and, once the row is complete, how its prediction comes about. An error in a row
// is shown on the page beside its input.
func (s *Server) page(c *fasthttp.RequestCtx, m *model, begun time.Time) error {
	g, d := m.now.Load(), desks.Get().(*desk)
	defer s.put(d)
	f := &report.Form{Result: g.Result(), Action: pageOf(m), Fields: g.fields()}
	var fault error
	if c.IsPost() {
		if err := s.body(c, d); err != nil {
			return err
		}
		enter(f.Fields, d.body)
		f.Row, fault = s.predicted(d, m, g, f.Fields, begun)
	} else if f.Typical = complete(f.Fields); f.Typical {
		f.Row, fault = s.predicted(d, m, g, f.Fields, begun)
	}
	if fault != nil {
		f.Fault = s.o.Message(fault)
		c.Response.SetStatusCode(statusOf(fault))
	}
	at := "/v2/models/" + url.PathEscape(m.name)
	f.Links = []report.Link{{Address: at + "/report", Text: "report"}, {Address: at, Text: "inputs and outputs"}, {Address: "/openapi.json", Text: "OpenAPI"}}
	for _, o := range s.models.all() {
		f.Models = append(f.Models, report.Link{Address: pageOf(o), Text: o.name, Here: o == m})
	}
	policy, err := report.FormPolicy()
	if err != nil {
		return err
	}
	var page bytes.Buffer
	if err := f.Write(&page); err != nil {
		return err
	}
	h := &c.Response.Header
	h.SetContentType("text/html; charset=utf-8")
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store") // it holds a row
	c.Response.SetBody(page.Bytes())
	return nil
}

// pageOf is the address of a model's page.
func pageOf(m *model) string { return "/?model=" + url.QueryEscape(m.name) }

// asPrediction says what a column is that holds the predictions of a model without a file.
const asPrediction = "the model's own prediction of this row, since the model is no file that is served"

// fields are those of a typical row.
func (g *generation) fields() []report.Field {
	labels := g.Result().Labels
	fields := make([]report.Field, len(g.shape.columns))
	for i, c := range g.shape.columns {
		known := g.Known(c.Name)
		f := report.Field{Name: "c:" + c.Name, Column: c.Name, Text: c.Text, Levels: known.Levels, Seen: known.Seen, Range: known.Range, Shape: c.Shape}
		if known.Prediction {
			f.Hint = asPrediction
		}
		switch v := known.Typical.(type) {
		case float64:
			f.Value = f.NumberValue(labels, v)
		case string:
			if f.Value = v; f.Levels != nil {
				f.Value = report.LevelValue(v)
			}
		}
		fields[i] = f
	}
	return fields
}

// complete tells whether all fields have a value.
func complete(fields []report.Field) bool {
	return !slices.ContainsFunc(fields, func(f report.Field) bool { return f.Value == "" })
}

// enter puts what a browser sends, application/x-www-form-urlencoded, into the fields; those that it does not send are
// empty.
func enter(fields []report.Field, body []byte) {
	var sent fasthttp.Args
	sent.ParseBytes(body)
	values := map[string]string{}
	for name, value := range sent.All() {
		values[lines(string(name))] = string(value)
	}
	for i := range fields {
		f := &fields[i]
		f.Value = values[lines(f.Name)]
		for _, level := range f.Levels { // as the data have it
			if lines(report.LevelValue(level)) == lines(f.Value) {
				f.Value = report.LevelValue(level)
			}
		}
	}
}

// lines is a text as forms that are sent have it, whose lines end otherwise.
func lines(text string) string {
	return strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
}

// predicted explains the row of the fields.
func (s *Server) predicted(d *desk, m *model, g *generation, fields []report.Field, begun time.Time) (*report.ExplainedRow, error) {
	d.body = append(d.body[:0], `{"rows":[{`...)
	for i := range fields {
		if i > 0 {
			d.body = append(d.body, ',')
		}
		d.body = append(oip.AppendText(d.body, fields[i].Column), ':')
		d.body = g.appendCell(d.body, g.shape.columns[i], &fields[i])
	}
	d.body = append(d.body, `}],"parameters":{"na":"keep","reasons":1000000}}`...)
	if err := s.compute(d, m, g, opExplain, -1, begun); err != nil {
		return nil, err
	}
	rows, err := g.explainRows(d)
	switch {
	case err != nil:
		return nil, err
	case rows[0].Dropped:
		return nil, faultf(400, "the model gives no number for this row: fill in what is missing")
	}
	return &rows[0], nil
}

// appendCell appends the cell of a plain row. What cannot be a number goes on as the text that it is, which is refused
// where it is for rows of any kind.
func (g *generation) appendCell(b []byte, c serve.Column, f *report.Field) []byte {
	level, isLevel := strings.CutPrefix(f.Value, report.LevelValue(""))
	switch {
	case f.Value == "":
		return append(b, "null"...)
	case c.Shape != nil && json.Valid([]byte(f.Value)):
		return append(b, f.Value...)
	case f.Levels != nil && isLevel && !c.Text && json.Valid([]byte(level)):
		return append(b, level...)
	case f.Levels != nil && isLevel:
		return oip.AppendText(b, level)
	case c.Text || c.Shape != nil:
		return oip.AppendText(b, f.Value)
	}
	v, err := strconv.ParseFloat(strings.TrimSpace(f.Value), 64)
	if err != nil {
		return oip.AppendText(b, f.Value)
	}
	if v = g.Result().Labels.Scale(c.Name).Value(v); math.IsNaN(v) || math.IsInf(v, 0) {
		return oip.AppendText(b, f.Value)
	}
	return oip.AppendNumber(b, v)
}
