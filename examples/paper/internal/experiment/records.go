package experiment

import (
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// Records are rows of a CSV file of the results.
type Records struct {
	Header []string
	rows   [][]string
}

// ReadCSV reads a file of the results: figures are drawn from these files, so that they
// can be drawn again without running the experiment.
func (e *Experiment) ReadCSV(name string) (*Records, error) {
	f, err := os.Open(filepath.Join(e.Out, name))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	all, err := csv.NewReader(f).ReadAll()
	if err != nil || len(all) == 0 {
		return nil, fmt.Errorf("%s has no header: %w", name, err)
	}
	return &Records{all[0], all[1:]}, nil
}

// Numbers are the cells of a column; NaN where one is no number, or where there is no
// such column.
func (r *Records) Numbers(column string) []float64 {
	out := make([]float64, len(r.rows))
	for i := range r.rows {
		v, err := strconv.ParseFloat(r.text(i, column), 64)
		if err != nil {
			v = math.NaN()
		}
		out[i] = v
	}
	return out
}

// First is the first row's cell of a column; "" if there is none.
func (r *Records) First(column string) string {
	if len(r.rows) == 0 {
		return ""
	}
	return r.text(0, column)
}

func (r *Records) text(i int, column string) string {
	if j := slices.Index(r.Header, column); j >= 0 {
		return r.rows[i][j]
	}
	return ""
}

// With are the rows that have a value in a column.
func (r *Records) With(column, value string) *Records {
	out := &Records{Header: r.Header}
	for i, row := range r.rows {
		if r.text(i, column) == value {
			out.rows = append(out.rows, row)
		}
	}
	return out
}
