// Package folds draws the test folds of the paper's benchmark again: what R 3.6 and
// later gives for set.seed(1); caret::createFolds(y, k), from its documentation and
// checked against the authors' folds.
package folds

import (
	"cmp"
	"math"
	"slices"
	"strconv"
)

// Create returns the fold, 1 to k, of each value of y: the values are cut at
// quartiles, and each class is spread evenly over the folds.
func Create(y []float64, k int, seed uint32) []int {
	r := newRNG(seed)
	fold := make([]int, len(y))
	for _, class := range classes(y, quantiles(y, min(max(len(y)/k, 2), 5))) {
		var numbers, all []int
		for f := range k {
			all = append(all, f+1)
		}
		for range len(class) / k {
			numbers = append(numbers, all...)
		}
		numbers = append(numbers, r.sample(all, len(class)%k)...)
		for i, f := range r.sample(numbers, len(numbers)) {
			fold[class[i]] = f
		}
	}
	return fold
}

// quantiles are the distinct ones of count equispaced shares from 0 to 1 (type 7).
func quantiles(y []float64, count int) []float64 {
	s := slices.Sorted(slices.Values(y))
	var q []float64
	for i := range count {
		at := float64(len(s)-1) * float64(i) / float64(count-1)
		low := int(math.Floor(at + 4*2.220446049250313e-16))
		v := s[low]
		if h := at - float64(low); h > 1e-12 {
			v = (1-h)*v + h*s[low+1]
		}
		q = append(q, v)
	}
	return slices.Compact(q)
}

// classes are the rows of each interval (b, b'], the first with its lower end, in
// the order in which R's factor() has the intervals' labels.
func classes(y, breaks []float64) [][]int {
	type class struct {
		label string
		rows  []int
	}
	out := make([]class, len(breaks)-1)
	text := labels(breaks)
	for i := range out {
		out[i].label = "(" + text[i] + "," + text[i+1] + "]"
		if i == 0 {
			out[i].label = "[" + out[i].label[1:]
		}
	}
	for row, v := range y {
		i, found := slices.BinarySearch(breaks, v)
		if !found || i > 0 {
			i--
		}
		out[i].rows = append(out[i].rows, row)
	}
	slices.SortStableFunc(out, func(a, b class) int { return cmp.Compare(a.label, b.label) })
	var rows [][]int
	for _, c := range out {
		if len(c.rows) > 0 {
			rows = append(rows, c.rows)
		}
	}
	return rows
}

// labels writes numbers with as few digits, three or more, as tell them apart.
func labels(v []float64) []string {
	for digits := 3; ; digits++ {
		var out []string
		for _, x := range v {
			out = append(out, strconv.FormatFloat(x, 'g', digits, 64))
		}
		if len(slices.Compact(slices.Sorted(slices.Values(out)))) == len(v) || digits == 12 {
			return out
		}
	}
}
