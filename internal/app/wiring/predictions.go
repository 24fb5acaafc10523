package wiring

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/data/files"
	"github.com/pho-go/pho/decompose"
)

// Predictions is a model that is known by columns of the data, which hold what it predicts there.
type Predictions struct {
	Columns []string // one for each predictor; of classes the probability of each
	Link    string   // eta = link(prediction), one of onnx.PredictionLinks; "": identity
	Clip    float64  // probabilities are moved into [Clip, 1 - Clip]; 0: those of 0 and 1 are errors
}

// Predicted is such a model as the network that it is the same as.
func Predicted(p Predictions) (*Network, error) {
	if p.Link == "" {
		p.Link = "identity"
	}
	for i, name := range p.Columns {
		if name == "" || slices.Contains(p.Columns[:i], name) {
			return nil, optionError("predictions", fmt.Errorf("the column %q is named twice, or has no name: name each column of predictions once", name))
		}
	}
	names := p.Columns
	if len(names) == 1 {
		names = []string{"eta"}
	}
	g, err := onnx.Predictions(names, p.Link, p.Clip)
	if err != nil {
		return nil, optionError("predictions", err)
	}
	return &Network{Graph: g, Predictions: &p}, nil
}

// probabilities reports whether the columns hold probabilities.
func (p *Predictions) probabilities() bool {
	return slices.Contains([]string{"logit", "cloglog", "softmax"}, p.Link)
}

// bind binds the network to its columns.
func (p *Predictions) bind(schema data.Schema) (onnx.Binding, error) {
	if err := schema.Require("the data", p.Columns); err != nil {
		return nil, optionError("predictions", err)
	}
	for _, name := range p.Columns {
		if c, _ := schema.Lookup(name); !c.Numeric {
			return nil, optionError("predictions", fmt.Errorf("column %q %s: predictions are numbers, on the scale of the response", name, c.HoldsText()))
		}
	}
	return onnx.Binding{{Input: onnx.PredictionsInput, Columns: p.Columns}}, nil
}

// classes are what the classes are called whose probabilities the columns are: as the columns, without what
// all of these begin with up to a "_", a "." or a blank.
func (p *Predictions) classes() []string {
	names := slices.Clone(p.Columns)
	begin := names[0]
	for _, name := range names[1:] {
		for !strings.HasPrefix(name, begin) {
			begin = begin[:len(begin)-1]
		}
	}
	begin = begin[:strings.LastIndexAny(begin, "_. ")+1]
	for i, name := range names {
		names[i] = name[len(begin):]
		if names[i] == "" {
			return p.Columns
		}
	}
	return names
}

// bind is how the network takes the rows.
func (q *Request) bind(n *Network) (onnx.Binding, error) {
	if n.Predictions != nil {
		return n.Predictions.bind(q.Rows.Schema())
	}
	return onnx.Bind(n.Graph, q.Rows.Schema(), q.Inputs, q.notInputs()...)
}

// explaining are the columns that "." stands for: those that the model reads; of one that is known by its
// predictions all others of the data, but for those with a role.
func (q *Request) explaining(m decompose.Model) []string {
	if q.Network == nil || q.Network.Predictions == nil {
		return slices.Clone(m.Columns())
	}
	taken := q.notInputs()
	for _, n := range q.networks() {
		taken = append(taken, n.Predictions.Columns...)
	}
	var out []string
	for _, c := range q.Rows.Schema() {
		if !c.Refused && c.Width == 0 && !data.NamesRows(c.Name) && !slices.Contains(taken, c.Name) {
			out = append(out, c.Name)
		}
	}
	return out
}

// checkPredictions refuses what only a network's file could give, and makes the rows tell of predictions that
// have no link.
func (q *Request) checkPredictions() error {
	if q.Network.Predictions == nil {
		return nil
	}
	switch {
	case len(q.Inputs) > 0:
		return optionError("inputs", errors.New("the model is known by its predictions alone, and reads no other column"))
	case q.Export:
		return optionError("export-onnx", errNoFile)
	}
	for _, n := range q.networks() {
		q.Rows = predictedRows(q.Rows, n.Predictions)
	}
	return nil
}

// predictedRows are rows whose predictions are looked at as they are read.
func predictedRows(rows files.Source, p *Predictions) files.Source {
	if r, ok := rows.(*linkedRows); ok && r.has(p) {
		return rows
	}
	return &linkedRows{rows, p}
}

type linkedRows struct {
	files.Source
	of *Predictions
}

// has tells whether the rows look at these predictions already.
func (r *linkedRows) has(p *Predictions) bool {
	below, ok := r.Source.(*linkedRows)
	return r.of == p || ok && below.has(p)
}

// Len is the number of rows, -1 if it is not known.
func (r *linkedRows) Len() int64 { return Len(r.Source) }

// Estimate is about how many rows there are, 0 if nobody knows.
func (r *linkedRows) Estimate() int64 { return estimate(r.Source) }

// Batches reads the rows. Where predictions have no link, all rows are counted that have none.
func (r *linkedRows) Batches(ctx context.Context, columns []string) iter.Seq2[*data.Batch, error] {
	if !slices.ContainsFunc(r.of.Columns, func(c string) bool { return slices.Contains(columns, c) }) {
		return r.Source.Batches(ctx, columns)
	}
	return func(yield func(*data.Batch, error) bool) {
		var found unlinked
		for b, err := range r.Source.Batches(ctx, columns) {
			if err == nil {
				found.look(b, r.of)
			}
			if found.first == "" && (!yield(b, err) || err != nil) {
				return
			}
			if err != nil {
				break
			}
		}
		if found.first != "" {
			yield(nil, found.error(r.of))
		}
	}
}

// unlinked counts rows whose predictions have no link.
type unlinked struct {
	first            string // what is wrong with the first of them
	rows, ends, sums int64  // all; whose probabilities are 0 or 1; whose do not sum to 1
}

// farFromOne is how far the probabilities of all classes may be from 1 together: rounded to two digits, say.
const farFromOne = 0.02

// look counts the rows of b.
func (u *unlinked) look(b *data.Batch, p *Predictions) {
	var values [][]float64
	for _, name := range p.Columns {
		x, err := b.Numeric(name)
		if err != nil {
			return // it is not read here, or its reader says so
		}
		values = append(values, x)
	}
	for i := range b.Rows() {
		sum, why := 0.0, ""
		for j, x := range values {
			sum += x[i]
			if why == "" {
				if why = p.fault(x[i]); why != "" {
					why = fmt.Sprintf("column %q, data row %d: the prediction %v %s", p.Columns[j], b.Row(i)+1, x[i], why)
					if p.probabilities() && (x[i] == 0 || x[i] == 1) {
						u.ends++
					}
				}
			}
		}
		if why == "" && p.Link == "softmax" && math.Abs(sum-1) > farFromOne {
			why = fmt.Sprintf("data row %d: the probabilities %.300q sum to %v", b.Row(i)+1, p.Columns, sum)
			u.sums++
		}
		if why == "" {
			continue
		}
		u.rows++
		if u.first == "" {
			u.first = why
		}
	}
}

// fault says why v has no link; "" if it has one.
func (p *Predictions) fault(v float64) string {
	switch {
	case math.IsNaN(v):
		return "is missing"
	case math.IsInf(v, 0):
		return "is infinite"
	case p.probabilities() && (v < 0 || v > 1):
		return fmt.Sprintf("is no probability, as the link %s takes them", p.Link)
	case p.probabilities() && p.Clip == 0 && (v == 0 || v == 1):
		return fmt.Sprintf("is a probability without a %s", map[bool]string{true: "logarithm", false: p.Link}[p.Link == "softmax"])
	case (p.Link == "log" || p.Link == "softplus") && v <= 0:
		return fmt.Sprintf("is not above 0, as the link %s takes them", p.Link)
	}
	return ""
}

// error says how many rows there are, and what helps.
func (u *unlinked) error(p *Predictions) error {
	text := u.first
	if u.rows > 1 {
		text += fmt.Sprintf("; so it is in %d rows", u.rows)
	}
	switch {
	case u.ends > 0 && u.ends == u.rows:
		return &ClipError{errors.New(text)}
	case u.sums > 0:
		text += ": name one column for each class, and all classes; of one class's probability alone the link is logit"
	case p.probabilities():
		text += ": another link is for predictions that are no probabilities"
	default:
		text += ": have the model predict all rows, or leave such rows out"
	}
	return optionError("predictions", errors.New(text))
}

// ClipError is of probabilities of 0 and 1, which have no logit: Predictions.Clip moves them.
type ClipError struct{ Err error }

func (e *ClipError) Error() string { return "predictions: " + e.Err.Error() }
func (e *ClipError) Unwrap() error { return e.Err }

// columnsReference is what a result says of a model that is known by its predictions.
type columnsReference struct {
	Kind        string             `json:"kind"`
	Predictions []string           `json:"predictions,omitempty"`
	Link        string             `json:"link"`
	Clip        float64            `json:"clip,omitempty"`
	Factors     []string           `json:"factors,omitempty"`
	Classes     *ClassesReference  `json:"classes,omitempty"`
	Members     []predictedMembers `json:"members,omitempty"`
}

type predictedMembers struct {
	Name        string   `json:"name"`
	Predictions []string `json:"predictions"`
}

// columnsJSON is the reference to a model that is known by its predictions.
func (ref *Reference) columnsJSON() (json.RawMessage, error) {
	out := columnsReference{Kind: Columns, Predictions: ref.Predictions, Link: ref.Link, Clip: ref.Clip, Factors: ref.Factors, Classes: ref.Classes}
	for _, m := range ref.Members {
		out.Members = append(out.Members, predictedMembers{m.Name, m.Predictions})
	}
	return json.Marshal(out)
}

// predictions notes how the models of the request are known.
func (ref *Reference) predictions(networks []*Network) {
	p := networks[0].Predictions
	ref.Kind, ref.Link, ref.Clip = Columns, p.Link, p.Clip
	if len(networks) == 1 {
		ref.Predictions = p.Columns
		return
	}
	for i, name := range networkNames(networks) {
		ref.Members = append(ref.Members, MemberReference{Name: name, Predictions: networks[i].Predictions.Columns})
	}
}

// Predicted are the columns of predictions, by model, with commas between them; nil: of no model.
func (ref *Reference) Predicted() (models []string) {
	if ref.Kind != Columns {
		return nil
	}
	if len(ref.Members) == 0 {
		return []string{strings.Join(ref.Predictions, ",")}
	}
	for _, m := range ref.Members {
		models = append(models, strings.Join(m.Predictions, ","))
	}
	return models
}

// openedPredictions is the network of these columns as the reference has it.
func (ref *Reference) openedPredictions(columns []string, path, precision string) (*Opened, error) {
	if path != "" {
		return nil, fmt.Errorf("the decomposition is of a model that is known by its predictions, the columns %.300q of the data, and not of a file", columns)
	}
	n, err := Predicted(Predictions{columns, ref.Link, ref.Clip})
	if err != nil {
		return nil, err
	}
	own := *ref
	own.Inputs, own.NoStructure = map[string][]string{onnx.PredictionsInput: columns}, true
	return own.opened(n, precision)
}
