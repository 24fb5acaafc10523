package online

import (
	"github.com/pho-go/pho/report"
	"github.com/pho-go/pho/serve"
)

// shape is what a decomposition takes and gives, found once.
type shape struct {
	inputs    map[string][]int // columns that a tensor of that name fills
	columns   []serve.Column
	arrays    bool     // there are some among them
	parts     []string // of a row, without and with standard errors
	partsSE   []string
	at, atSE  map[string]int
	eta       []string // names of the predictors among parts
	responses []string
	groups    [][]group // of each predictor
}

func shapeOf(e *serve.Explainer) shape {
	s := shape{
		inputs: map[string][]int{}, columns: e.Columns(), parts: e.Parts(false), partsSE: e.Parts(true),
		at: map[string]int{}, atSE: map[string]int{},
	}
	place := map[string]int{}
	for i, c := range s.columns {
		place[c.Name] = i
		s.arrays = s.arrays || c.Shape != nil
	}
	for _, in := range e.Inputs() {
		var columns []int
		for _, c := range in.Columns {
			columns = append(columns, place[c])
		}
		s.inputs[in.Name] = columns
	}
	for i, c := range s.columns {
		if len(s.inputs[c.Name]) <= 1 {
			s.inputs[c.Name] = []int{i}
		}
	}
	for i, name := range s.parts {
		s.at[name] = i
	}
	for i, name := range s.partsSE {
		s.atSE[name] = i
	}
	several := len(e.Predictors()) > 1
	for _, p := range e.Predictors() {
		name := "eta"
		if several {
			name = p + ".eta"
		}
		s.eta = append(s.eta, name)
	}
	for k := range e.Result().Predictors {
		s.groups = append(s.groups, groupsOf(e.Result(), k))
	}
	for _, v := range report.Responses(e.Result(), make([]float64, len(s.eta)), nil) {
		s.responses = append(s.responses, v.Name)
	}
	return s
}

// reads tells whether a column of that name is read.
func (s *shape) reads(column []byte) bool { return s.inputs[string(column)] != nil }

// isError tells whether a part is a standard error.
func (s *shape) isError(name string) bool {
	_, plain := s.at[name]
	_, with := s.atSE[name]
	return with && !plain
}
