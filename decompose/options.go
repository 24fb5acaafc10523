package decompose

import (
	"runtime"
	"slices"

	"github.com/pho-go/pho/decompose/internal/projection"
	"github.com/pho-go/pho/family"
	"github.com/pho-go/pho/penalty"
)

// Method is how the deep predictor is projected on the structured columns.
type Method string

const (
	// PHO is the orthogonal projection (paper, algorithm 2).
	PHO Method = "pho"
	// PHOGAM is the penalised projection (paper, equation adjpho).
	PHOGAM Method = "phogam"
)

// Route is what is accumulated of the rows.
type Route string

const (
	// Gram accumulates the products X'WX, in which condition numbers are squared:
	// ranks are decided for tolerances from 1e-6.
	Gram Route = "gram"
	// QR accumulates the triangular factor of [X, zeta] (TSQR): ranks are decided for
	// tolerances from 1e-13, and designs of condition 1e8 keep eight digits. It fills
	// up sparse columns, n rows costing 2 n p^2 operations for the p columns of all
	// predictors together: two to four times as long as the products of 200 dense or
	// spline columns, far longer than those of factors with many levels. Each worker
	// holds p^2 + 256 p numbers, and so does each of the merged chunks.
	QR Route = "qr"
)

// Options of a decomposition, by what they are about; the groups are embedded, so that
// o.Weights is o.Columns.Weights. The zero value, and nil, are sensible: PHO
// without penalised terms, PHOGAM with REML with them, no weights.
// A function that needs one group takes that one.
type Options struct {
	Projection
	Smoothing
	Columns
	Resources

	Family family.Family // of Response; nil: no likelihood
	// ReconstructionTolerance: parts that miss the network's own output by more,
	// relative to its largest value, are an error. 0: 1e-4 (float32 networks).
	ReconstructionTolerance float64

	// Orders asks for the shares of main effects, interactions of two columns, and so on:
	// Predictor.Orders. A term of several columns must then have one of each alone next to
	// it, or contain their functions (Subspace).
	Orders bool
	// DeepFeatures are taps of the model that no term reads, features U of deep parts: Result.DeepFeatures says what the
	// columns of all terms tell of each of them. They change no other figure.
	DeepFeatures []*Tap
	// Bands says what standard errors are. "": RobustBands, for which the last pass forms the
	// products of the columns once more; Solve alone gives ProjectionBands. Shards make the
	// last pass by Explaining.
	Bands Bands

	Progress func(Progress) // nil: silent; called from one goroutine
	Visitors []Visitor      // see every row's parts in the last pass
}

// Projection says how the deep predictor is projected on the structured columns.
type Projection struct {
	Method Method // "": PHOGAM if any term is penalised, else PHO
	// RefitTotal penalises the whole structured predictor beta + alpha instead of
	// what moves: the additive model of eta. Another estimator than the paper's
	// PHOGAM, though the same without penalties.
	RefitTotal bool
	// RankTolerance: directions of the standardised columns whose singular value
	// is at most RankTolerance times the largest are left out. 0: 1e-4 if any
	// basis is learned (float32 weights), else 1e-6. At least 1e-6 with products,
	// which hold no more digits, and 1e-13 with the factor.
	// A basis trained in float32 carries noise of 1e-7: with a smaller tolerance the projection
	// would follow it.
	RankTolerance float64
	// Route of the statistics. "": Gram, but QR for a RankTolerance below 1e-6; and
	// Decompose, if the products turn out to have lost digits (a direction whose
	// eigenvalue is below 1e-10 of the largest decides), reads the rows again by QR.
	// Solve warns then. Result.Route says what was used.
	Route Route
	// Terms says which functions terms are that can express a common part, as interactions
	// and main effects can. "": Hierarchical. It changes no sum of all terms.
	Terms Terms
	// WithoutIntercept names predictors whose projection has no intercept column
	// (`- 1`). The contribution named intercept remains.
	WithoutIntercept []string
}

// Smoothing says how strong penalties are, by term name on the reported scale.
type Smoothing struct {
	// Selection of what SP and DF do not give; zero: REML with estimated scale. Its rank
	// tolerance is Projection's. With Columns.Groups no criterion is used.
	Selection penalty.Options
	SP        map[string][]float64 // fixed smoothing parameters
	DF        map[string]float64   // effective degrees of freedom that are asked for
	Shared    []Sharing            // sets of predictors with one lambda for each penalty; a predictor is in one at most
}

// Columns names the data columns that have a role of their own; "": there is none.
type Columns struct {
	Weights  string // ones without
	Response string // needed for importance and for a Family
	// Event says of a Response that is a time whether the event was seen then, 1, or not
	// until then, 0 (right censored); "": it was in every row. It needs a Family of times.
	Event  string
	Offset string // enters the likelihood only
	// Groups holds groups of rows (text or numbers). Smoothing parameters are then chosen
	// by leaving out one group after the other: for a deep predictor that is no noise
	// REML grows with the rows, and prediction to new groups may be what matters.
	Groups string
	// Cluster holds clusters of rows (text or numbers) that may depend on each other, for
	// RobustBands; the rows of one may be anywhere.
	Cluster string
}

// Names are the columns that have a role.
func (c Columns) Names() []string {
	return slices.DeleteFunc([]string{c.Weights, c.Response, c.Event, c.Offset, c.Groups, c.Cluster}, func(name string) bool { return name == "" })
}

// Resources are what the passes may take. No result depends on them, but for FirstChunk,
// FirstRow and Chunks, which say where the rows of a shard are among those of all.
//
// A row belongs to chunk FirstChunk + (its number - FirstRow)/ChunkRows, its number being the
// source's (data.Batch.Row). So rows that a source leaves out, for missing cells say, leave
// shorter chunks or none, and a shard need not know which rows others have left out. A row is
// counted as the next one if its number is not larger than the number before (data.Chunks):
// sources that do not number rows through are cut by counting. Sources whose first ChunkRows
// rows have fewer than one of 64 numbers are cut by counting, too, where no shard is named:
// these are names of rows.
type Resources struct {
	// Workers is how many goroutines take chunks of rows in the passes. 0: GOMAXPROCS.
	// No more than there are chunks begin, and no more than four for each processor (or
	// 16). The matrix products of Solve and of visitors are spread over GOMAXPROCS
	// processors.
	Workers    int
	FirstChunk int   // number of the chunk that row FirstRow begins: for shards
	FirstRow   int64 // of the shard by the source's numbers, from which it has rows; 0: the source numbers its own rows from 0
	// Chunks is how many chunks the rows of the shard fill, those that the source leaves out
	// counted. 0: up to that of the last row at hand, which leaves a gap before the next shard
	// if a whole chunk of rows was left out at the end. It may be 0 for no rows.
	Chunks int
	// OutputMemory is how many bytes of the network's outputs (2K + taps float64 a row)
	// stay in memory between the passes; for the rows beyond them the network runs
	// again. 0: 256 MiB; negative: none.
	OutputMemory int64
	// OutputFile names a file for the outputs beyond OutputMemory, so that the network
	// runs once for every row. It must not exist; it is removed in any case. "": none.
	OutputFile string
	// Kept keeps the outputs beyond the call, for a further one; nil: they are let go.
	Kept *KeptOutputs
}

// Progress reports rows done in a pass.
type Progress struct {
	Pass string // "moments" or "contributions"
	Rows int64
}

// Visitor receives the parts of all rows in the last pass.
type Visitor interface {
	// Begin is called once with the solved result, before any rows.
	Begin(r *Result) error
	// Columns names further data columns that Map reads.
	Columns() []string
	// Map turns a chunk of rows into something to be added up; chunks run
	// concurrently. The numbers of p are valid until Map returns, when their memory
	// takes other rows: what is needed later must be copied (Parts.Clone). p.Batch may be kept.
	Map(p *Parts) (any, error)
	// Reduce takes the outcomes of Map in row order, one at a time.
	Reduce(part any) error
	// End is called once after the last row; it may write into the result.
	End(r *Result) error
}

// The smallest rank tolerances of the routes.
const (
	minGramTolerance   = projection.MinProductTolerance
	minFactorTolerance = 1e-13
)

// factor tells whether the statistics are to hold the triangular factor.
func (o *Options) factor() bool {
	return o.Route == QR || o.Route == "" && o.RankTolerance > 0 && o.RankTolerance < minGramTolerance
}

func (o *Options) orDefault() *Options {
	if o == nil {
		return &Options{}
	}
	return o
}

func (o *Options) workers() int {
	processors := runtime.GOMAXPROCS(0)
	if o.Workers > 0 {
		return min(o.Workers, max(16, 4*processors))
	}
	return processors
}

// Goroutines is how many goroutines take chunks of rows in a pass over that many
// chunks (0: not known).
func (o *Options) Goroutines(chunks int64) int {
	workers := o.orDefault().workers()
	if chunks > 0 {
		return int(min(int64(workers), chunks))
	}
	return workers
}

func (o *Options) withoutIntercept(predictor string) bool {
	for _, p := range o.WithoutIntercept {
		if p == predictor {
			return true
		}
	}
	return false
}
