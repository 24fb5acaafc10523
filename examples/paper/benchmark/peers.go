package main

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pho-go/pho/examples/paper/internal/experiment"
)

//go:embed peers.csv
var peersCSV string

// bestPeer is the tree ensemble with the lowest mean error on the first folds of a
// set, and its errors; "" if there is none.
func bestPeer(set string, folds int) (name string, errors []float64, err error) {
	records, err := csv.NewReader(strings.NewReader(peersCSV)).ReadAll()
	if err != nil {
		return "", nil, fmt.Errorf("peers.csv: %w", err)
	}
	var names []string
	of := map[string][]float64{}
	for _, r := range records[1:] {
		if r[0] != set {
			continue
		}
		v, err := strconv.ParseFloat(r[3], 64)
		if err != nil {
			return "", nil, fmt.Errorf("peers.csv: %w", err)
		}
		if !slices.Contains(names, r[1]) {
			names = append(names, r[1])
		}
		of[r[1]] = append(of[r[1]], v)
	}
	for _, n := range names {
		v := of[n][:folds]
		if name == "" || meanOf(v) < meanOf(errors) {
			name, errors = n, v
		}
	}
	return name, errors, nil
}

// meanOf is the mean of the values that are there; NaN if there are none.
func meanOf(v []float64) float64 {
	mean, _ := experiment.Mean(present(v))
	return mean
}
