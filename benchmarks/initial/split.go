package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"math/rand/v2"
	"os"
	"path/filepath"

	"gonum.org/v1/gonum/stat"

	"github.com/pho-go/pho/data"
)

// split is what both sides read: training, validation and test rows, columns and
// response standardised by the training rows and rounded to float32.
type split struct {
	Train part `json:"train"`
	Valid part `json:"valid"`
	Test  part `json:"test"`
	// Scale is the standard deviation of the training rows' response: errors times it
	// are in the response's units.
	Scale float64 `json:"scale"`
}

type part struct {
	X [][]float32 `json:"x"` // n x p
	Y []float32   `json:"y"`
}

// rowsAtMost of a set are drawn for a split: half of them train, an eighth decides when
// to stop, the rest is for the test.
const rowsAtMost = 4000

// newSplit draws the rows by the split's number alone.
func newSplit(t *table, number int) split {
	order := rand.New(rand.NewPCG(uint64(number), 0x5117)).Perm(len(t.y))
	n := min(len(order), rowsAtMost)
	train, valid, test := order[:n/2], order[n/2:n*5/8], order[n*5/8:n]
	p := len(t.x[0])
	mean, sd := make([]float64, p+1), make([]float64, p+1)
	for j := range p + 1 {
		var v []float64
		for _, i := range train {
			v = append(v, t.cell(i, j))
		}
		mean[j], sd[j] = stat.PopMeanStdDev(v, nil)
		if sd[j] == 0 {
			sd[j] = 1
		}
	}
	of := func(rows []int) (out part) {
		for _, i := range rows {
			var x []float32
			for j := range p + 1 {
				x = append(x, float32((t.cell(i, j)-mean[j])/sd[j]))
			}
			out.X, out.Y = append(out.X, x[:p]), append(out.Y, x[p])
		}
		return out
	}
	return split{Train: of(train), Valid: of(valid), Test: of(test), Scale: sd[p]}
}

// cell is column j of row i, the response being the last.
func (t *table) cell(i, j int) float64 {
	if j < len(t.x[i]) {
		return t.x[i][j]
	}
	return t.y[i]
}

// source has the columns x1, x2, ... and y.
func (p part) source() (*data.Table, error) {
	t := data.NewTable(len(p.Y))
	for j, name := range numbered(len(p.X[0])) {
		v := make([]float64, len(p.Y))
		for i := range v {
			v[i] = float64(p.X[i][j])
		}
		if err := t.AddNumeric(name, v); err != nil {
			return nil, err
		}
	}
	y := make([]float64, len(p.Y))
	for i := range y {
		y[i] = float64(p.Y[i])
	}
	return t, t.AddNumeric("y", y)
}

func splitPath(dir, set string, number int) string {
	return filepath.Join(dir, fmt.Sprintf("%s.%d.json", set, number))
}

// writeSplits writes the splits first to last of every data set with a file in from,
// except splits that exist already.
func writeSplits(ctx context.Context, from, dir string, first, last int) error {
	for _, s := range sets() {
		var t *table
		for number := first; number <= last; number++ {
			path := splitPath(dir, s.name, number)
			if _, err := os.Stat(path); err == nil {
				continue
			}
			if t == nil {
				var err error
				if t, err = s.read(ctx, from); errors.Is(err, fs.ErrNotExist) {
					log.Printf("%s is left out: %v", s.name, err)
					break
				} else if err != nil {
					return err
				}
			}
			text, err := json.Marshal(newSplit(t, number))
			if err != nil {
				return err
			}
			if err := os.WriteFile(path, text, 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

func readSplit(path string) (s split, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return s, err
	}
	return s, json.Unmarshal(text, &s)
}
