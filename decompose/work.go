package decompose

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// Work is an estimate of the seconds of one processor that a run takes besides the model, by what takes them, so that one that
// will take long can be told so before it begins.
type Work []WorkPart

// WorkPart is one of them.
type WorkPart struct {
	Name    string
	Seconds float64
}

// Seconds of one Zen 5 processor with AVX-512 (benchmarks/large.sh): of a row's number, read, evaluated and checked; of the
// product of two of a row's numbers where most are 0, and where none is; of a multiplication in factors and inverses; and of an
// entry of p x p that is written. REML factors and inverts evaluations times.
const (
	numberSeconds = 1e-7
	entrySeconds  = 3e-10
	denseSeconds  = 4e-11
	solveSeconds  = 3e-11
	squareSeconds = 2e-7

	evaluations        = 25
	crossedEvaluations = 4 // of crossed factors, where the search begins near its end
)

// EstimateWork estimates what Decompose takes of rows rows where nothing else waits for the processors: within a factor of 3 on the
// processor of the constants, and others differ from that by as much.
func EstimateWork(m Model, rows int64, o *Options) (Work, error) {
	o = o.orDefault()
	p, err := newPlan(m)
	if err != nil {
		return nil, err
	}
	n, passes := float64(rows), 1.0
	if o.bands().Robust() { // leverages and the sandwich
		passes = 3
	}
	var products, solution, squares float64
	var seen [][]int
	for _, d := range p.predictors {
		own, few, dense, columns, eliminated := passes-1, 0.0, 0.0, 0.0, 0.0
		if !slices.ContainsFunc(seen, func(at []int) bool { return slices.Equal(at, d.at) }) {
			seen, own = append(seen, d.at), passes
		}
		times := 2.0
		for _, b := range d.blocks {
			width := float64(b.Term.Dim())
			columns += width
			switch {
			case filled(b.Term):
				dense += width
			case coded(b.Term):
				few++
				eliminated = math.Max(eliminated, width)
			default:
				few += math.Min(width, math.Pow(4, float64(len(b.Term.Columns()))))
			}
			if len(b.Penalty.S) > 0 && len(b.Penalty.SP) == 0 {
				times = evaluations
			}
		}
		products += own * n * (few*(few/2+dense)*entrySeconds + dense*dense/2*denseSeconds)
		if p.crossed(o, rows) {
			times, eliminated = min(times, crossedEvaluations), 0
		}
		left := columns - eliminated
		solution += times * solveSeconds * (math.Pow(math.Min(left, n), 2)*left + eliminated*left*left)
		held := columns // numbers of each column
		if o.Cluster == "" && p.levelsApart(o) {
			held = left + 1
		}
		squares += columns * held * squareSeconds
	}
	return Work{
		{"rows", n * float64(len(p.reading(m, o))) * numberSeconds},
		{fmt.Sprintf("products of %d columns", p.p), products},
		{"solution", solution},
		{"covariances", squares},
	}, nil
}

// coded tells whether few columns of a term, or of those that it is one of, are not 0 in a row: levels, and smooths by a level.
func coded(t Term) bool {
	_, levels := t.(leveled)
	return levels || byLevel(&TermResult{term: t}) != ""
}

// Total is the sum of the parts.
func (w Work) Total() (seconds float64) {
	for _, p := range w {
		seconds += p.Seconds
	}
	return seconds
}

// String lists the parts of a second or more, largest first.
func (w Work) String() string {
	parts := slices.Clone(w)
	slices.SortStableFunc(parts, func(a, b WorkPart) int { return int(math.Copysign(1, b.Seconds-a.Seconds)) })
	var texts []string
	for _, p := range parts {
		if p.Seconds >= 1 {
			texts = append(texts, fmt.Sprintf("%s %s", p.Name, Duration(p.Seconds)))
		}
	}
	return strings.Join(texts, ", ")
}

// Duration writes seconds as 1m30s.
func Duration(seconds float64) string {
	return time.Duration(seconds * float64(time.Second)).Round(time.Second).String()
}
