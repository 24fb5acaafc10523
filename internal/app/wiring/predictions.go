package wiring

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/data/files"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/family"
)

// Predictions is a model that is known by columns of the data, which hold what it predicts there.
type Predictions struct {
	Columns []string // one for each predictor; of classes the probability of each
	Link    string   // eta = link(prediction), one of onnx.PredictionLinks; "": identity
	Clip    float64  // probabilities are moved into [Clip, 1 - Clip]; 0: those of 0 and 1 are errors
}

// Predicted are such models of one task, each with its columns, as the networks that they are the same as.
// Predictors are called as the columns of the first (Predictions.names).
func Predicted(models [][]string, link string, clip float64) ([]*Network, error) {
	link = cmp.Or(link, "identity")
	names := (&Predictions{Columns: models[0]}).names()
	switch {
	case link == "softmax":
		names = slices.Repeat([]string{"class"}, len(names))
	case len(names) == 1:
		names = []string{"eta"}
	}
	var out []*Network
	for i, columns := range models {
		if err := checkPredicted(models[:i], columns); err != nil {
			return nil, optionError("predictions", err)
		}
		g, err := onnx.Predictions(names, link, clip)
		if err != nil {
			return nil, optionError("predictions", err)
		}
		out = append(out, &Network{Graph: g, Predictions: &Predictions{columns, link, clip}})
	}
	return out, nil
}

// checkPredicted refuses columns that are no model's beside those of the others.
func checkPredicted(others [][]string, columns []string) error {
	for i, name := range columns {
		switch {
		case name == "":
			return fmt.Errorf("a column of %q has no name: name each column of predictions", columns)
		case slices.Contains(columns[:i], name):
			return fmt.Errorf("the column %q is named twice: name each column of predictions once", name)
		}
	}
	for _, other := range others {
		switch {
		case len(other) != len(columns):
			return fmt.Errorf("there are %d columns %.300q of one model and %d columns %.300q of another: models of one task have as many", len(other), other, len(columns), columns)
		case slices.Equal(other, columns):
			return fmt.Errorf("the columns %.300q are those of two models: name those of each model", columns)
		}
	}
	return nil
}

// probabilities reports whether the columns hold probabilities.
func (p *Predictions) probabilities() bool {
	return slices.Contains(onnx.ProbabilityLinks(), p.Link)
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
	return p.bound(), nil
}

// names are what several predictors or classes are called: as the columns, without what all of these begin
// with up to its first "_", "." or blank.
func (p *Predictions) names() []string { return withoutStart(p.Columns, strings.IndexAny) }

// spellings are further ways in which a response may write the classes, K each: as the columns, and without
// what all of these begin with up to its last "_", "." or blank.
func spellings(columns []string) []string {
	return append(slices.Clone(columns), withoutStart(columns, strings.LastIndexAny)...)
}

// withoutStart are the names without what all begin with, up to the separator that find finds there.
func withoutStart(names []string, find func(s, separators string) int) []string {
	start := names[0]
	for _, name := range names {
		for !strings.HasPrefix(name, start) {
			start = start[:len(start)-1]
		}
	}
	bare := strings.TrimLeft(start, "_. ")
	start = start[:len(start)-len(bare)+find(bare, "_. ")+1]
	var out []string
	for _, name := range names {
		if len(names) == 1 || name == start {
			return names
		}
		out = append(out, name[len(start):])
	}
	return out
}

// bind is how the network takes the rows.
func (q *Request) bind(n *Network) (onnx.Binding, error) {
	switch {
	case n.Asked != nil:
		return n.Predictions.bound(), nil
	case n.Predictions != nil:
		return n.Predictions.bind(q.Rows.Schema())
	}
	return onnx.Bind(n.Graph, q.Rows.Schema(), q.Inputs, q.notInputs()...)
}

// explainsItself says of formulas with terms of the predictions that these explain themselves; "" of others.
func (q *Request) explainsItself(formulas []*basis.Formula) string {
	for _, n := range q.networks() {
		if !n.inColumns() {
			break
		}
		for _, f := range formulas {
			for _, spec := range f.Specs {
				for _, c := range spec.Columns() {
					if slices.Contains(n.Predictions.Columns, c) {
						return fmt.Sprintf("a term of the formula reads column %q, which holds predictions: these explain themselves by it, and other terms are worth too little; leave it out of the formula", c)
					}
				}
			}
		}
	}
	return ""
}

// explaining are the columns that "." stands for: those that the model reads; of one that is known by its
// predictions all others of the data, but for those with a role.
func (q *Request) explaining(m decompose.Model) []string {
	if q.Network == nil || !q.Network.inColumns() {
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

// linked are the rows, which are errors where predictions of a network have no link.
func linked(rows files.Source, networks []*Network) files.Source {
	for _, n := range networks {
		if n.inColumns() {
			rows = &linkedRows{rows, n.Predictions}
		}
	}
	return rows
}

type linkedRows struct {
	files.Source
	of *Predictions
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
		found := unlinked{what: "column"}
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
			yield(nil, found.error(r.of, "predictions"))
		}
	}
}

// unlinked counts rows whose predictions have no link.
type unlinked struct {
	what    string // that holds a prediction
	first   string // what is wrong with the first of them
	rows    int64  // all
	missing int64  // whose predictions are missing or infinite
	ends    int64  // whose probabilities are 0 or 1
	sums    int64  // whose probabilities do not sum to 1
}

// farFromOne is how far the probabilities of k classes may be from 1 together: five times the standard deviation
// of what rounding each to two digits does.
func farFromOne(k int) float64 { return 5 * 0.01 * math.Sqrt(float64(k)/12) }

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
					why = fmt.Sprintf("%s %q, data row %d: the prediction %v %s", u.what, p.Columns[j], b.Row(i)+1, x[i], why)
					switch {
					case x[i]-x[i] != 0:
						u.missing++
					case p.probabilities() && (x[i] == 0 || x[i] == 1):
						u.ends++
					}
				}
			}
		}
		if why == "" && p.Link == "softmax" && math.Abs(sum-1) > farFromOne(len(values)) {
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
	case p.Link == "softmax" && p.Clip == 0 && (v == 0 || v == 1):
		return "is a probability without a logarithm"
	case p.probabilities() && p.Clip == 0 && (v == 0 || v == 1):
		return "is a probability without a " + p.Link
	case (p.Link == "log" || p.Link == "softplus") && v <= 0:
		return fmt.Sprintf("is not above 0, as the link %s takes them", p.Link)
	}
	return ""
}

// error says how many rows there are, and what helps. option is what names the predictions, or their link.
func (u *unlinked) error(p *Predictions, option string) error {
	text := u.first
	if u.rows > 1 {
		text += fmt.Sprintf("; so it is in %d rows", u.rows)
	}
	err := errors.New(text)
	switch {
	case u.ends > 0 && u.ends == u.rows:
		err = &ClipError{err}
	case u.sums > 0:
		err = fmt.Errorf("%w: name one column for each class, and all classes; of one class's probability alone the link is logit", err)
	case u.missing > 0:
		err = fmt.Errorf("%w: have the model predict all rows, or leave such rows out", err)
	default:
		err = fmt.Errorf("%w: name the link that the model has, or identity to decompose the predictions as they are", err)
	}
	return optionError(option, err)
}

// ClipError is of probabilities of 0 and 1, which have no logit: Predictions.Clip moves them.
type ClipError struct{ Err error }

// Error is where they are.
func (e *ClipError) Error() string { return e.Err.Error() }

// Unwrap is where they are.
func (e *ClipError) Unwrap() error { return e.Err }

// otherLink is err, of a family that the predictors do not fit, in terms of the link of predictions if it is that.
func (ref *Reference) otherLink(name string, predictors int, err error) error {
	f, other := family.Parse(name, make([]string, predictors))
	if other != nil {
		return err
	}
	return fmt.Errorf("the links of its predictors are %q, and the predictions have the link %s: name the family's link, or a family of that one", linksOf(f), ref.Link)
}

// takenAsPredictors says of predictions of link identity that the family takes them as predictors of other links, as
// which they may not be meant; "" where its links are the identity too.
func (ref *Reference) takenAsPredictors(f family.Family) string {
	if !ref.predicted() || ref.Link != "identity" || f == nil {
		return ""
	}
	links := linksOf(f)
	if !slices.ContainsFunc(links, func(l string) bool { return l != "identity" }) {
		return ""
	}
	return fmt.Sprintf("the predictions have the link identity, so family %s takes them as predictors of its links %q, and not as what it predicts of the response: if they are that, name the link", f.Name(), links)
}

// linksOf are the links of the family's predictors.
func linksOf(f family.Family) (links []string) {
	for k := range f.Predictors() {
		links = append(links, f.Link(k).String())
	}
	return slices.Compact(links)
}

// columnsReference is what a result says of a model that is known by its predictions.
type columnsReference struct {
	Kind        string             `json:"kind"`
	Predictions []string           `json:"predictions,omitempty"`
	Link        string             `json:"link"`
	Clip        float64            `json:"clip,omitempty"`
	Factors     []string           `json:"factors,omitempty"`
	Classes     *ClassesReference  `json:"classes,omitempty"`
	Members     []predictedMembers `json:"members,omitempty"`
	Columns     []string           `json:"columns,omitempty"`
	Checked     *Checked           `json:"checked,omitempty"`
}

type predictedMembers struct {
	Name        string   `json:"name"`
	Predictions []string `json:"predictions"`
}

// columnsJSON is the reference to a model that is known by its predictions.
func (ref *Reference) columnsJSON() (json.RawMessage, error) {
	out := columnsReference{Kind: Columns, Predictions: ref.Predictions, Link: ref.Link, Clip: ref.Clip, Factors: ref.Factors, Classes: ref.Classes, Columns: ref.Columns, Checked: ref.Checked}
	for _, m := range ref.Members {
		out.Members = append(out.Members, predictedMembers{m.Name, m.Predictions})
	}
	return json.Marshal(out)
}

// predictions notes how the models of the request are known.
func (ref *Reference) predictions(networks []*Network) {
	p := networks[0].Predictions
	ref.Kind, ref.Link, ref.Clip, ref.BoundBy = Columns, p.Link, p.Clip, nil
	if len(networks) == 1 {
		ref.Predictions = p.Columns
		return
	}
	for i, name := range networkNames(networks) {
		ref.Members = append(ref.Members, MemberReference{Name: name, Predictions: networks[i].Predictions.Columns})
	}
}

// Predicted are the columns of predictions, by model; nil: of no model.
func (ref *Reference) Predicted() (models [][]string) {
	if ref.Kind != Columns {
		return nil
	}
	if len(ref.Members) == 0 {
		return [][]string{ref.Predictions}
	}
	for _, m := range ref.Members {
		models = append(models, m.Predictions)
	}
	return models
}

// openedPredictions is the network of the i-th model's predictions as the reference has it.
func (ref *Reference) openedPredictions(i int, path string, by Computing) (*Opened, error) {
	columns := ref.Predicted()[i]
	if path != "" {
		return nil, fmt.Errorf("the decomposition is of a model that is known by its predictions, the columns %.300q of the data, and not of a file", columns)
	}
	networks, err := Predicted(ref.Predicted(), ref.Link, ref.Clip)
	if err != nil {
		return nil, err
	}
	own := *ref
	own.Inputs, own.NoStructure, own.Clip = map[string][]string{onnx.PredictionsInput: columns}, true, 0
	return own.openedBy(networks[i], by)
}
