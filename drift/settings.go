package drift

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/pho-go/pho/decompose"
)

// Settings say how rows are counted. States of other settings do not merge.
type Settings struct {
	// Time is the column that says in which period a row is, By and Zone how (Clock); "": the
	// caller names the periods.
	Time string `json:"time,omitempty"`
	By   Unit   `json:"by,omitempty"`
	Zone string `json:"zone,omitempty"`
	// Weights is the column of the rows' weights; "": every row counts 1.
	Weights string `json:"weights,omitempty"`
	// Response is the column of the response, of which errors and losses are added (Rows); "":
	// there are none.
	Response string `json:"response,omitempty"`
	// Block and Cluster say which rows may depend on each other; at most one is given, and
	// without rows are independent. Block: so many consecutive rows of a period in a source.
	// Cluster: the rows that the caller gives one name (Rows.Clusters); what it is called here.
	Block   int    `json:"block,omitempty"`
	Cluster string `json:"cluster,omitempty"`
}

func (s *Settings) check() error {
	switch {
	case s.Block < 0:
		return fmt.Errorf("drift: blocks of %d rows: they have at least 1", s.Block)
	case s.Block > 0 && s.Cluster != "":
		return errors.New("drift: rows are in blocks or in clusters, not in both")
	case s.Time != "" || s.By != "":
		_, err := NewClock(s.By, s.Zone)
		return err
	}
	return nil
}

// Decomposition says of which decomposition a state is, and what its parts are.
type Decomposition struct {
	SHA256     string      `json:"sha256"`            // of its coefficients and centring
	Network    string      `json:"network,omitempty"` // the sum of the network's file
	Predictors []Predictor `json:"predictors"`
	Features   []Bins      `json:"features"` // histograms of the columns
}

// Predictor names the parts of a predictor. Sums are of the parts as they are, and of the predictor less
// Intercept, so that numbers stay small.
type Predictor struct {
	Name      string  `json:"name"`
	Intercept float64 `json:"intercept"`
	Terms     []Term  `json:"terms"`
}

// Term is a term's name and columns.
type Term struct {
	Name     string   `json:"name"`
	Features []string `json:"features"`
}

// Describe is what a state needs of r; network is the sum of its network's file, "" if that is
// not known.
func Describe(r *decompose.Result, network string) (Decomposition, error) {
	d := Decomposition{Network: network, Predictors: []Predictor{}, Features: []Bins{}}
	var err error
	if d.SHA256, err = identity(r); err != nil {
		return d, err
	}
	for _, p := range r.Predictors {
		own := Predictor{Name: p.Name, Intercept: p.Intercept, Terms: []Term{}}
		for _, t := range p.Terms {
			own.Terms = append(own.Terms, Term{t.Name, append([]string{}, t.Features...)})
		}
		d.Predictors = append(d.Predictors, own)
	}
	for i := range r.Features {
		if b, ok := newBins(&r.Features[i]); ok {
			d.Features = append(d.Features, b)
		}
	}
	return d, d.check()
}

// identity is the SHA-256 of what the parts of a row are computed by: the coefficients and the
// centring, in a form of its own, so that what is told beside them may change.
func identity(r *decompose.Result) (string, error) {
	type term struct {
		Name        string
		Features    []string
		Alpha, Beta []float64
		Center      float64
	}
	type predictor struct {
		Name              string
		Intercept, Before float64
		Terms             []term
	}
	var all []predictor
	for _, p := range r.Predictors {
		own := predictor{Name: p.Name, Intercept: p.Intercept, Before: p.InterceptBefore}
		for _, t := range p.Terms {
			own.Terms = append(own.Terms, term{t.Name, t.Features, t.Alpha, t.Beta, t.Center})
		}
		all = append(all, own)
	}
	raw, err := json.Marshal(all)
	if err != nil {
		return "", fmt.Errorf("drift: a coefficient of the decomposition is not finite: %w", err)
	}
	return digest(raw), nil
}

func (d *Decomposition) check() error {
	if len(d.Predictors) == 0 {
		return errors.New("drift: the decomposition has no predictors")
	}
	for _, p := range d.Predictors {
		if math.IsNaN(p.Intercept) || math.IsInf(p.Intercept, 0) {
			return fmt.Errorf("drift: the intercept of predictor %q is not finite", p.Name)
		}
	}
	for i := range d.Features {
		if err := d.Features[i].check(); err != nil {
			return err
		}
	}
	return nil
}
