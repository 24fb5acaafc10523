package online

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/report"
	"github.com/pho-go/pho/serve"
	"github.com/pho-go/pho/serve/oip"
)

// desk is what one request is worked on with; they are used again.
type desk struct {
	body     []byte
	request  oip.Request
	response oip.Response
	asked    asked
	job      job
	reserved int64
}

var desks = sync.Pool{New: func() any { return &desk{job: job{rows: serve.NewRows(0), turn: make(chan bool, 1)}} }}

// mostKept is how large a buffer may be that is kept for other requests.
const mostKept = 1 << 20

// split answers infer, rows and explain.
func (s *Server) split(c *fasthttp.RequestCtx, m *model, o op, begun time.Time) error {
	length, err := headerLength(c)
	if err != nil {
		return err
	}
	d := desks.Get().(*desk)
	defer s.put(d)
	if err = s.body(c, d); err != nil {
		return err
	}
	g := m.now.Load()
	if err := s.compute(d, m, g, o, length, begun); err != nil {
		return err
	}
	j := &d.job
	if o == opExplain {
		return s.explained(c, d, g)
	}
	g.fill(&d.response, &d.request, &d.asked, j)
	if d.response.Parameters, err = unseenParameters(j.split.Unseen); err != nil {
		return err
	}
	var body []byte
	header := -1
	if o == opRows {
		body = d.response.AppendRows(d.body[:0], j.rows.Len()) // what was read is no longer needed
	} else {
		body, header = d.response.Append(d.body[:0])
	}
	c.Response.Header.SetContentType("application/json")
	if header >= 0 {
		c.Response.Header.SetContentType("application/octet-stream")
		c.Response.Header.Set("Inference-Header-Content-Length", strconv.Itoa(header))
	}
	d.body = c.Response.SwapBody(body) // nothing is copied
	return nil
}

// compute splits the rows of the body at the desk, of which length bytes are JSON.
func (s *Server) compute(d *desk, m *model, g *generation, o op, length int, begun time.Time) error {
	d.request.Reads = g.shape.reads
	if err := d.request.Parse(d.body, length); err != nil {
		return err
	}
	if err := d.asked.read(&d.request, o); err != nil {
		return err
	}
	j := &d.job
	j.g, j.how, j.deadline, j.split, j.err = g, serve.How{SE: d.asked.se, NA: d.asked.na, Unseen: g.Unseen()}, begun.Add(s.o.Timeout), serve.Split{}, nil
	if d.asked.unseen != nil {
		j.how.Unseen = *d.asked.unseen
	}
	if err := g.rows(j.rows, &d.request, s.o.MaxRows); err != nil {
		return g.suggesting(err, &d.request)
	}
	d.response = oip.Response{Model: m.name, Version: g.version, ID: d.request.ID, Outputs: d.response.Outputs[:0]}
	if o != opExplain {
		if err := g.outputs(&d.request, &d.asked, j); err != nil {
			return err
		}
	}
	if err := s.reserve(d, bodyTimes*int64(len(d.body))+24*int64(j.rows.Len())*int64(len(g.shape.partsSE))); err != nil {
		return err
	}
	if err := s.schedule.do(j); err != nil {
		return g.suggesting(err, &d.request)
	}
	m.counts.rows.Add(int64(j.rows.Len()))
	return nil
}

// suggesting lets an error of a column that is missing suggest those of the request that nothing reads: the others
// are what they are called.
func (g *generation) suggesting(err error, q *oip.Request) error {
	var missing *data.MissingColumnError
	if errors.As(err, &missing) {
		missing.Columns = slices.Clone(q.Passed)
		for i := range q.Inputs {
			if name := q.Inputs[i].Name; g.shape.inputs[name] == nil {
				missing.Columns = append(missing.Columns, name)
			}
		}
	}
	return err
}

// unseenParameters are the answer's; nil: training had all levels.
func unseenParameters(levels []data.UnseenLevel) ([]byte, error) {
	if levels == nil {
		return nil, nil
	}
	return json.Marshal(map[string]any{"unseen": levels})
}

// bodyTimes is how much larger than a body what is read from it may be.
const bodyTimes = 4

func (s *Server) put(d *desk) {
	large := d.reserved > 8*mostKept || cap(d.body) > mostKept
	s.held.Add(-d.reserved)
	d.reserved = 0
	if large {
		return // so that idle memory stays small
	}
	d.job.rows.Reset(0)
	d.job.g, d.job.split, d.request.Reads = nil, serve.Split{}, nil
	d.response.Outputs = d.response.Outputs[:0]
	desks.Put(d)
}

// reserve sees to it that total bytes of memory are reserved for the request at the desk.
// Errors: that is more than there is (errBusy), or than there ever is.
func (s *Server) reserve(d *desk, total int64) error {
	more := total - d.reserved
	switch {
	case total <= mostKept || more <= 0:
		return nil
	case total > s.o.Memory:
		return faultf(413, "the request with its answer would take %d MiB, more than this server has for all: send fewer rows at a time", total>>20)
	case s.held.Add(more) > s.o.Memory:
		s.held.Add(-more)
		return errBusy
	}
	d.reserved = total
	return nil
}

// asked is what the parameters of a request ask for.
type asked struct {
	terms, se bool
	na        data.NAPolicy
	unseen    *data.UnseenPolicy // nil: as the server was told
	reasons   int
}

// passed are parameters that other servers and clients know, and that change nothing here.
var passed = []string{"sequence_id", "sequence_start", "sequence_end", "priority", "timeout", "content_type", "headers"}

func (a *asked) read(r *oip.Request, o op) error {
	*a = asked{se: o == opExplain, terms: o != opInfer, reasons: 3}
	for _, p := range r.Parameters {
		switch p.Name {
		case "terms", "se":
			yes, ok := p.Value.(bool)
			if !ok {
				return faultf(400, "the parameter %s is true or false", p.Name)
			}
			if p.Name == "se" {
				a.se = yes
			} else {
				a.terms = yes
			}
		case "reasons":
			v, ok := p.Value.(float64)
			if !ok || v < 0 || v != math.Trunc(v) || v > 1e6 {
				return faultf(400, "the parameter reasons is how many reasons are wanted, from 0 on")
			}
			a.reasons = int(v)
		case "na":
			switch p.Value {
			case "error":
				a.na = data.NAError
			case "drop":
				a.na = data.NADrop
			case "keep":
				a.na = data.NAKeep
			default:
				return faultf(400, "the parameter na is error, drop or keep")
			}
		case "unseen":
			name, _ := p.Value.(string)
			policy, ok := data.ParseUnseen(name)
			if !ok || name == "" {
				return faultf(400, "the parameter unseen is error, drop or zero")
			}
			a.unseen = &policy
		default:
			if !slices.Contains(passed, p.Name) && !strings.HasPrefix(p.Name, "triton_") {
				return faultf(400, "there is no parameter %.40q: a request has terms, se, reasons, na, unseen and binary_data_output", p.Name)
			}
		}
	}
	return nil
}

// rows fills rows with those of a request's tensors.
func (g *generation) rows(rows *serve.Rows, r *oip.Request, most int) error {
	n := r.Rows
	var first string
	for i := range r.Inputs {
		t := &r.Inputs[i]
		if len(t.Shape) == 0 {
			return faultf(400, "input %q has no dimension: the first is that of rows", t.Name)
		}
		if i == 0 {
			n, first = t.Shape[0], t.Name
		}
		if t.Shape[0] != n {
			return faultf(400, "input %q has %d rows, and %q has %d", t.Name, t.Shape[0], first, n)
		}
	}
	n = max(n, 0)
	if n > most {
		return faultf(413, "the request has %d rows; this server takes %d at a time", n, most)
	}
	rows.Reset(n)
	if r.Rows == 0 { // which names no columns
		return g.none(rows)
	}
	for i := range r.Inputs {
		if err := g.add(rows, &r.Inputs[i]); err != nil {
			return err
		}
	}
	return nil
}

// none adds the columns of no rows.
func (g *generation) none(rows *serve.Rows) error {
	for _, c := range g.shape.columns {
		if err := rows.AddTensor(c.Name, c.Shape, []float64{}); err != nil {
			return err
		}
	}
	return nil
}

// add adds a tensor's columns.
func (g *generation) add(rows *serve.Rows, t *oip.Tensor) error {
	fills, known := g.shape.inputs[t.Name]
	if !known {
		return nil // columns that nothing reads are welcome, as in files
	}
	first := g.shape.columns[fills[0]]
	if t.Absent > 0 {
		return &data.MissingColumnError{Column: t.Name, Where: fmt.Sprintf("data row %d", t.Absent)}
	}
	if first.Text && t.Datatype == oip.Bool {
		return faultf(400, "input %q takes texts, and has true and false: send its levels as text", t.Name)
	}
	if first.Shape != nil && t.Datatype != oip.Bytes {
		return rows.AddTensor(first.Name, slices.Clone(t.Shape[1:]), t.Numbers)
	}
	width := 1
	for _, d := range t.Shape[1:] {
		width *= d
	}
	if width != len(fills) && rows.Len() > 0 {
		return faultf(400, "input %q has %d values a row (shape %v), and takes %d", t.Name, width, t.Shape, len(fills))
	}
	if t.Codes != nil || t.Datatype == oip.Bytes {
		if len(fills) != 1 || first.Shape != nil {
			return faultf(400, "input %q takes numbers, and has texts", t.Name)
		}
		// Terms know levels again by the slice that holds them; the request's is used again.
		return rows.AddCodes(first.Name, data.Codes{Index: t.Codes, Levels: slices.Clone(t.Levels)})
	}
	if len(fills) == 1 {
		return rows.AddNumeric(first.Name, t.Numbers)
	}
	all := make([]float64, len(t.Numbers))
	n := rows.Len()
	for k, at := range fills {
		own := all[k*n : (k+1)*n]
		for i := range own {
			own[i] = t.Numbers[i*width+k]
		}
		if err := rows.AddNumeric(g.shape.columns[at].Name, own); err != nil {
			return err
		}
	}
	return nil
}

// contributions is the output that has all parts of a row beside each other.
const contributions = "contributions"

// outputs checks the names of the outputs that are asked for, and whether they need
// standard errors.
func (g *generation) outputs(r *oip.Request, a *asked, j *job) error {
	for _, o := range r.Outputs {
		if g.shape.isError(o.Name) {
			j.how.SE = true
		}
		if _, known := g.shape.atSE[o.Name]; !known && o.Name != contributions && !slices.Contains(g.shape.responses, o.Name) {
			return faultf(400, "there is no output %.80q: GET the model names them", o.Name)
		}
	}
	return nil
}

// fill puts the parts into the outputs.
func (g *generation) fill(to *oip.Response, r *oip.Request, a *asked, j *job) {
	at, names := g.shape.at, g.shape.parts
	if j.how.SE {
		at, names = g.shape.atSE, g.shape.partsSE
	}
	add := func(name string, binary bool) {
		var columns [][]float64
		switch place, part := at[name]; {
		case part:
			columns = j.split.Parts[place : place+1]
		case name == contributions:
			columns = j.split.Parts
		default:
			columns = [][]float64{g.response(j, at, slices.Index(g.shape.responses, name))}
		}
		to.Outputs = append(to.Outputs, oip.Result{Name: name, Columns: columns, Matrix: name == contributions, Binary: binary})
	}
	for _, o := range r.Outputs {
		add(o.Name, o.Binary == oip.Yes || o.Binary == oip.Default && r.BinaryOutput)
	}
	if len(r.Outputs) > 0 {
		return
	}
	if !a.terms && !a.se {
		names = g.shape.eta
	}
	for _, name := range names {
		add(name, r.BinaryOutput)
	}
	for _, name := range g.shape.responses {
		add(name, r.BinaryOutput)
	}
}

// response computes value k of the response of every row.
func (g *generation) response(j *job, at map[string]int, k int) []float64 {
	out := make([]float64, j.rows.Len())
	eta := make([]float64, len(g.shape.eta))
	for i := range out {
		for l, name := range g.shape.eta {
			eta[l] = j.split.Parts[at[name]][i]
		}
		out[i] = report.Responses(g.Result(), eta, nil)[k].Value
	}
	return out
}
