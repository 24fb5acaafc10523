package decompose

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/pho-go/pho/decompose/internal/moments"
	"github.com/pho-go/pho/penalty"
)

// Memory is an estimate of the bytes that a run holds at its largest, by what
// holds them, so that a run which does not fit is not begun.
type Memory []MemoryPart

// MemoryPart is one holder of memory.
type MemoryPart struct {
	Name   string
	Bytes  int64
	Advice string // what makes it smaller; "": nothing
}

// What makes parts smaller.
const (
	FewerWorkers  = "fewer workers" // Resources.Workers
	FewerColumns  = "terms with fewer columns (a smaller k, levels put together)"
	OutputsInFile = "a file for the network's outputs" // Resources.OutputFile

	ProjectionErrors = "projection bands" // Options.Bands
)

// solveMatrices is how many p x p matrices Solve holds at its largest for one
// predictor, the statistics among them, as measured (benchmarks/solve.sh: 6.8 to 7.7);
// penalties that overlap add theirs.
const solveMatrices = 8

// levelMatrices is how many there are, where no term has most of all columns, of the products of levels of one term with each other, which no row has: their sums
// take no room, what is solved for does. As many are there for robust bands besides as levelBands (measured up to 10,000 levels).
const levelMatrices, levelBands = 4, 2

// hierarchyMatrices is how many more there are if terms have margins: products, the linear
// map and what it makes of the covariance.
const hierarchyMatrices = 6

// EstimateMemory estimates what Decompose holds for rows rows (0: not known, taken for as
// many as Resources.OutputMemory has place for): the moments of every worker and merged
// chunk, rows that wait, design columns, kept outputs, the matrices of Solve. What the
// model's Forward, the source and the visitors hold comes on top: Add them. With Groups,
// sums by group do too.
func EstimateMemory(m Model, rows int64, o *Options) (Memory, error) {
	o = o.orDefault()
	fitted := m
	if j, ok := m.(*Members); ok && !j.shared {
		fitted = j.members[0].Model // the networks are fitted one after the other
	}
	p, err := newPlan(fitted, o.DeepFeatures...)
	if err != nil {
		return nil, err
	}
	chunk, columns := int64(p.chunkRows()), int64(len(p.reading(m, o))+p.numbers)
	workers := int64(o.Goroutines((rows + chunk - 1) / chunk))
	levels := p.betweenLevels()
	square := 8*int64(p.p)*int64(p.p) - levels
	merged := int64(16)
	if rows > 0 {
		merged = int64(bits.Len64(uint64(rows/chunk))) + 1
		chunk = min(chunk, rows)
	}
	penalties, split, again := int64(0), int64(0), int64(0)
	for _, d := range p.predictors {
		if n := nesting(d.terms()); o.Terms != Fitted && n.Any() {
			split = hierarchyMatrices
			if s := splitsOf(d.terms(), n.Margins, int64(p.p)); o.bands() == RobustBands && s.counted() {
				again += 8 * (s.products()*(2*workers+merged+2) + s.forms()*(1+workers))
			}
		}
		penalties += penaltyBytes(d.blocks, int64(p.p))
	}
	if p.levelsApart(o) {
		levels = 0
	}
	fewer := FewerColumns + p.widest()
	gathered := workers * 8 * min(4096, chunk) * int64(p.p+p.layout.Responses)
	sums, solution, bands := square*(5*workers+2+merged), square*(solveMatrices+split)+levels*(levelMatrices+split)+penalties, o.bandMemory(square, levels, workers, merged)+again
	if p.crossed(o, rows) {
		sums, solution, bands = o.crossedMemory(square, levels, workers, o.method(p) == PHOGAM)
	}
	return Memory{
		{fmt.Sprintf("moments of %d columns", p.p), sums + gathered, FewerWorkers + ", or " + fewer},
		{"solution", solution, fewer},
		{"robust bands", bands, ProjectionErrors + ", or " + fewer},
		{"rows", 8 * (3*workers + 2) * chunk * columns, FewerWorkers},
		{"design columns", 8 * workers * 2 * evalRows * int64(p.p), FewerWorkers},
		{"outputs being formed", 3 * workers * chunk * rowBytes(m), FewerWorkers},
		{"kept outputs", o.keeps(m, rows), OutputsInFile},
	}, nil
}

// splitSizes say what standard errors that count the splits of terms from their margins take: the products of the margins' columns with
// all p columns, in every sum, and a form of all columns for each split.
type splitSizes struct{ p, splits, columns int64 }

func splitsOf(terms []Term, margins [][]int, p int64) splitSizes {
	s := splitSizes{p: p}
	for _, of := range margins {
		for _, m := range of {
			s.columns += int64(terms[m].Dim())
		}
		if len(of) > 0 {
			s.splits++
		}
	}
	return s
}

// splitSizes are those of d's splits.
func (d *Predictor) splitSizes() splitSizes {
	var terms []Term
	for j := range d.Terms {
		terms = append(terms, d.Terms[j].term)
	}
	return splitsOf(terms, nesting(terms).Margins, int64(len(d.mean)))
}

func (s splitSizes) products() int64 { return s.columns * (s.p + s.columns) }
func (s splitSizes) forms() int64    { return s.splits * s.p * s.p }

// maxSplitNumbers bounds the numbers that standard errors count splits by, for each of which a row costs an operation.
const maxSplitNumbers = 10_000_000

// counted tells whether robust standard errors count the splits: some hundreds of them are taken as known (Hierarchy.GivenRows).
func (s splitSizes) counted() bool { return s.products()+s.forms() <= maxSplitNumbers }

// widest names the terms with the most columns, which can be left out; "" if none has many.
func (p *plan) widest() string {
	const named, many = 3, 100
	order := make([]int, len(p.terms))
	for i := range order {
		order[i] = i
	}
	ends := append(slices.Clone(p.offset), p.p)
	columns := func(i int) int { return ends[i+1] - ends[i] }
	slices.SortStableFunc(order, func(a, b int) int { return columns(b) - columns(a) })
	var wide []string
	for _, i := range order[:min(named, len(order))] {
		if n := columns(i); n >= many {
			wide = append(wide, fmt.Sprintf("%s (%d columns)", p.terms[i].Name(), n))
		}
	}
	if len(wide) == 0 {
		return ""
	}
	return "; or leave terms out: the widest are " + strings.Join(wide, ", ")
}

// penaltyBytes is what penalties add to Solve: themselves and their roots, and for those
// that share a term products of all roots with the inverse and with each other.
func penaltyBytes(blocks []Block, p int64) int64 {
	own, rows, shared := int64(0), int64(0), false
	for _, b := range blocks {
		for _, s := range b.Penalty.S {
			d := int64(s.SymmetricDim())
			rows += d
			if !isDiagonal(s) {
				own += 2 * d * d
			}
		}
		shared = shared || len(b.Penalty.S) > 1
	}
	if shared {
		own += rows * (2*p + 4*rows)
	}
	return 8 * own
}

// bandMemory is what the last pass holds for robust bands: the sums of every worker, those
// that are merged, the inverse in each worker's order, and the covariances. The rows that it gathers
// take the place of those of the moments, which are gone by then.
func (o *Options) bandMemory(square, levels, workers, merged int64) int64 {
	if !o.bands().Robust() {
		return 0
	}
	if o.Cluster != "" { // as many clusters as there are bytes for are not known beforehand
		return (square + levels) * (workers + 6)
	}
	return square*(4*workers+merged+6) + levels*levelBands
}

// crossedMemory is what many columns, most of them of crossed factors, take: sums are held packed, without the products of levels of one factor, and
// what one step holds beyond those the next one takes over. A penalised solution holds four matrices, X'WX as it came and in the
// coordinates of three steps, another three; bands the covariance, what is about it, and their product, beside two sums.
func (o *Options) crossedMemory(square, levels, workers int64, penalised bool) (sums, solution, bands int64) {
	packed, whole := square/2, square+levels
	sums, solution = packed, 3*whole
	if penalised {
		solution = 4 * whole
	}
	solution = max(solution, (2*workers+1)*packed) // what workers held
	if o.bands().Robust() {
		bands = max(3*whole+2*packed-solution, 0)
	}
	return sums, solution, bands
}

// crossed tells whether most columns of the only predictor are levels of several terms, so many that none of them is eliminated from
// the others (penalty.Select). No more rows than columns leave combinations of columns open, for which there are eigenvectors of all.
func (p *plan) crossed(o *Options, rows int64) bool {
	const many = 1000
	if rows > 0 && rows <= int64(p.p) {
		return false
	}
	criterion := o.Smoothing.Selection.Criterion
	if len(p.predictors) > 1 || p.joined != nil || p.p <= many || o.factor() || o.Groups != "" || o.Cluster != "" || criterion == penalty.ML || criterion == penalty.GCV {
		return false
	}
	d := p.predictors[0]
	if o.Terms != Fitted && nesting(d.terms()).Any() {
		return false
	}
	most, levels := 0, 0
	for _, b := range d.blocks {
		if b.Coordinates.toRaw != nil {
			return false
		}
		_, factor := b.Term.(interface{ Levels() []string })
		if observed, _ := cells(b.Term); factor || observed > 0 {
			most, levels = max(most, b.Term.Dim()), levels+b.Term.Dim()
		}
	}
	return 3*most < p.p && 5*levels >= 4*p.p
}

// betweenLevels are the bytes of the products of columns of which no row has two: those of levels of one term.
func (p *plan) betweenLevels() (bytes int64) {
	for _, t := range p.terms {
		_, factor := t.(interface{ Levels() []string })
		observed, _ := cells(t)
		if d := int64(t.Dim()); factor || observed > 0 {
			bytes += 8 * d * (d - 1)
		}
	}
	return bytes
}

// manyLevels tells whether each predictor has a term with most of its columns, of which no row has two, with a coefficient of its
// own for each: nothing is held then of these with each other (moments.View).
func (p *plan) manyLevels() bool {
	for _, d := range p.predictors {
		most, all := 0, 0
		for _, b := range d.blocks {
			all += b.Term.Dim()
			_, factor := b.Term.(interface{ Levels() []string })
			free := b.Coordinates.toRaw == nil && (b.Constraint.kind == unconstrained || b.Constraint.kind == treatment)
			if observed, _ := cells(b.Term); free && (factor || observed > 0) {
				most = max(most, b.Term.Dim())
			}
		}
		if !moments.Structured(most, all) {
			return false
		}
	}
	return true
}

// levelsApart tells whether that is so in all of a run: a triangular factor, sums by group, criteria other than REML and splits of
// terms from their margins take all columns with each other.
func (p *plan) levelsApart(o *Options) bool {
	criterion := o.Smoothing.Selection.Criterion
	return p.manyLevels() && !o.factor() && o.Groups == "" && criterion != penalty.ML && criterion != penalty.GCV &&
		(o.Terms == Fitted || !slices.ContainsFunc(p.predictors, func(d planned) bool { return nesting(d.terms()).Any() }))
}

// keeps is how many bytes of outputs stay in memory.
func (o *Options) keeps(m Model, rows int64) int64 {
	limit := o.OutputMemory
	if limit == 0 {
		limit = defaultOutputMemory
	}
	if limit = max(limit, 0); rows > 0 {
		limit = min(limit, rows*rowBytes(m))
	}
	return limit
}

// Add returns m with a further part.
func (m Memory) Add(name string, bytes int64, advice string) Memory {
	return append(m[:len(m):len(m)], MemoryPart{name, bytes, advice})
}

// Total is the sum of the parts.
func (m Memory) Total() int64 {
	var sum int64
	for _, p := range m {
		sum += p.Bytes
	}
	return sum
}

// Check returns nil if the total is at most limit, else a *MemoryError.
func (m Memory) Check(limit int64) error {
	if m.Total() <= limit {
		return nil
	}
	return &MemoryError{Need: m, Limit: limit}
}

// String lists the parts, largest first.
func (m Memory) String() string {
	parts := slices.Clone(m)
	slices.SortStableFunc(parts, func(a, b MemoryPart) int { return int(min(max(b.Bytes-a.Bytes, -1), 1)) })
	var texts []string
	for _, p := range parts {
		if p.Bytes > 0 {
			texts = append(texts, fmt.Sprintf("%s %s", p.Name, Size(p.Bytes)))
		}
	}
	return strings.Join(texts, ", ")
}

// Size writes a number of bytes as 1.5 GiB.
func Size(bytes int64) string {
	v, unit := float64(bytes), "B"
	for _, next := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if v < 1024 {
			break
		}
		v, unit = v/1024, next
	}
	if v < 10 && unit != "B" {
		return fmt.Sprintf("%.1f %s", v, unit)
	}
	return fmt.Sprintf("%.0f %s", v, unit)
}
