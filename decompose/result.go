package decompose

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"

	"github.com/pho-go/pho/decompose/internal/moments"
	"github.com/pho-go/pho/decompose/internal/projection"
	"github.com/pho-go/pho/family"
	"github.com/pho-go/pho/internal/base/linalg"
	"github.com/pho-go/pho/label"
	"gonum.org/v1/gonum/mat"
)

// Format names the artifact's version.
const Format = "pho.decomposition/1"

// Result is a decomposition: what moved where, and all that is needed to apply
// it to new rows. It is the artifact decomposition.json; fields hold no time,
// host or worker count, so equal work gives equal bytes.
type Result struct {
	Format     string          `json:"format"`
	CreatedBy  string          `json:"created_by,omitempty"`
	Title      string          `json:"title,omitempty"` // of the report: the caller's business
	Model      json.RawMessage `json:"model,omitempty"` // how to find the network again: the caller's business
	Rows       int64           `json:"rows"`            // rows with positive weight
	Method     Method          `json:"method"`
	Smoothing  string          `json:"smoothing,omitempty"` // reml, gcv, fixed; empty for PHO
	Formulas   []string        `json:"formulas,omitempty"`  // that terms were taken from, "." expanded: the caller's business
	PHONAM     string          `json:"phonam,omitempty"`    // learned or spline: which projection of a neural additive model (package nam)
	Refit      string          `json:"refit,omitempty"`     // total (Options.RefitTotal); empty: the increment
	Route      Route           `json:"route,omitempty"`     // qr; empty: gram
	Terms      Terms           `json:"terms,omitempty"`     // fitted; empty: hierarchical
	Bands      Bands           `json:"bands,omitempty"`     // what standard errors are: robust, none; empty: projection
	Cluster    string          `json:"cluster,omitempty"`   // column of the clusters that robust bands allow for
	Clusters   int64           `json:"clusters,omitempty"`  // of positive weight
	Weights    string          `json:"weights,omitempty"`
	Response   string          `json:"response,omitempty"`
	Event      string          `json:"event,omitempty"` // Options.Event
	Offset     string          `json:"offset,omitempty"`
	ID         string          `json:"id,omitempty"` // column that names rows: the first of contributions; "": none, the caller's business
	Family     string          `json:"family,omitempty"`
	Dispersion *float64        `json:"dispersion,omitempty"` // of the full model, response given its own predictions
	Prediction *Prediction     `json:"prediction,omitempty"` // of the response, by package importance
	Networks   *Networks       `json:"members,omitempty"`    // of which this is the mean; nil: one network
	Predictors []Predictor     `json:"predictors"`
	Sets       []PredictorSet  `json:"predictor_sets,omitempty"` // of Options.Shared
	Features   []Feature       `json:"features"`
	// DeepFeatures say what the terms tell of features of the deep parts (Options.DeepFeatures); nil: nobody asked.
	DeepFeatures []DeepFeatures  `json:"deep_features,omitempty"`
	Support      []Support       `json:"support,omitempty"` // where rows of terms lie, after the last pass
	Diagnostics  json.RawMessage `json:"diagnostics,omitempty"`
	Warnings     []string        `json:"warnings"`
	Examples     *Examples       `json:"examples,omitempty"` // some rows with their parts, by package report
	// Labels are what people call the names in this result, which keeps them (Labelled); nil:
	// they are shown as they are.
	Labels *label.Labels `json:"labels,omitempty"`
	// MomentsSHA256 is the hash of the file that EncodeMoments wrote.
	MomentsSHA256 string `json:"moments_sha256,omitempty"`
	// BandsSHA256 is the hash of the beginning of that file, which ReadBands reads.
	BandsSHA256 string `json:"bands_sha256,omitempty"`

	sum      *moments.Sum // nil: read without moments
	labelled bool         // by Labelled: names are for people, and nothing is applied by them
}

// PredictorSet is predictors that belong together (Sharing): of one lambda for each
// penalty, and with one convention.
type PredictorSet struct {
	Predictors []string `json:"predictors"`
	Uniqueness
	// Variance and VarianceBefore are sums over the responses that Sharing.By makes, the
	// predictors themselves without: of classes, their centred predictors', whatever the
	// reference.
	Variance       Variance `json:"variance"`
	VarianceBefore Variance `json:"variance_before"`
}

// Prediction says how well the network, which a decomposition leaves as it is,
// predicts the response on these rows (weighted, offset included). nil: a figure that
// is not finite or does not exist.
type Prediction struct {
	// R2 is 1 - sum w (y - E y)^2 / sum w (y - ybar)^2, E y being the network's mean on
	// the scale of the response and ybar the mean of the rows; both less the offset if
	// that is on the scale of the response.
	R2   *float64 `json:"r2"`
	RMSE *float64 `json:"rmse"` // the root of the weighted mean of (y - E y)^2
	// Accuracy is the weighted share of rows whose class the network finds the most probable, and
	// Frequent the share of the most frequent class, which needs no network; nil of responses that
	// are no classes. R2 and RMSE are nil of those that are.
	Accuracy *float64 `json:"accuracy,omitempty"`
	Frequent *float64 `json:"most_frequent,omitempty"`
	// DevianceExplained is 1 - D/D0, D0 being the deviance of the mean, or of the
	// frequencies of classes, with an offset that of a constant beside it; nil for families
	// in which that is no figure of one predictor, and for gaussian, whose R2 it is.
	DevianceExplained *float64 `json:"deviance_explained,omitempty"`
	// LogLikGain is the mean gain in log-likelihood per row over predictors of 0 with a baseline of
	// their own (family.Cox), or over the best constant at the same scale (other families of
	// times of one predictor), if events are named. nil: no events, or another family.
	LogLikGain *float64 `json:"loglik_gain,omitempty"`
	// Concordance is Harrell's C, if events are named: of pairs of rows of which one is known to have its event first,
	// the share in which the network expects that one first; equal predictors count half, and guessing has 0.5. Of more
	// than 100,000 rows it is that of a sample. Beside it and LogLikGain there are no other figures. nil: no events, or no
	// such pair.
	Concordance *float64 `json:"concordance,omitempty"`
	// Worse: the mean of the response, or no predictor, predicts better than the network, by
	// deviance or LogLikGain if they are there, else by R2.
	Worse bool `json:"worse,omitempty"`
}

// Predictor is the decomposition of one additive predictor.
type Predictor struct {
	Name string `json:"name"`
	// Head is the function that the network applies to the predictor to make its output, as
	// inspect names it: "sigmoid", "exp", "softplus+0.1", "softmax"; "": none, or not known.
	// The caller's business.
	Head string `json:"head,omitempty"`
	// Link says how a parameter of the response hangs on the predictor (SetHeads); nil: not
	// known.
	Link *family.Link `json:"link,omitempty"`
	// Deep says what the deep part reads, if arrays are among it; nil: columns of numbers and texts alone, or not known. The
	// caller's business.
	Deep *Deep `json:"deep,omitempty"`
	// Intercept is the constant after all terms are centred; InterceptBefore the
	// same for the network's own coefficients.
	Intercept       float64  `json:"intercept"`
	InterceptBefore float64  `json:"intercept_before"`
	InterceptMoved  float64  `json:"intercept_moved"` // alpha_0: what the intercept column took from zeta
	Rank            int      `json:"rank"`            // of the projection (of X under PHO, of X'WX + S under PHOGAM), intercept counted
	Columns         int      `json:"columns"`         // after constraints, intercept counted
	RankTolerance   float64  `json:"rank_tolerance"`
	EDF             float64  `json:"edf"`             // of the projection, intercept counted
	Scale           float64  `json:"scale"`           // RSS_w / (n - edf); of several networks the mean of theirs
	Score           *float64 `json:"score,omitempty"` // smoothing criterion; nil for PHO
	Status          string   `json:"status,omitempty"`
	Iterations      int      `json:"iterations,omitempty"`
	// ReconstructionError is max |sum of parts - eta| / max |eta|, eta being the
	// network's own output; nil before the last pass.
	ReconstructionError *float64 `json:"reconstruction_error"`
	// Orthogonality is max_j |cor(x_j, unstructured)| over the columns; under
	// PHOGAM it is not zero.
	Orthogonality float64 `json:"orthogonality"`
	// Uniqueness is what makes the predictor itself unique.
	Uniqueness
	// Hierarchy says how unique the terms are where some have margins; nil: none has, or
	// they are as fitted (Result.Terms).
	Hierarchy *Hierarchy   `json:"hierarchy,omitempty"`
	Aliased   []string     `json:"aliased"` // columns that others span
	Terms     []TermResult `json:"terms"`
	// Entangled lists the groups of terms of which only the sum is identified.
	Entangled []Entanglement `json:"entangled"`
	// Concurvity lists pairs of terms of which one lies to a large part in the
	// span of the other.
	Concurvity     []PairConcurvity `json:"concurvity"`
	Variance       Variance         `json:"variance"`
	VarianceBefore Variance         `json:"variance_before"`
	Importance     []Importance     `json:"importance"`
	// Orders are the shares of orders of interaction, ascending, and OrdersRemainder that
	// of what no term can express; they add to 1. nil: not asked for (Options.Orders).
	Orders          []Order  `json:"orders,omitempty"`
	OrdersRemainder *float64 `json:"orders_remainder,omitempty"`
	// Remainder says what the unstructured part depends on; nil: nobody asked.
	Remainder *Remainder     `json:"remainder,omitempty"`
	Members   []MemberResult `json:"members,omitempty"` // by network; nil: there is one

	covariances
	fit *fitState // nil of a result that was read
}

// covariances are what bands of a predictor are drawn by, in the raw coordinates of all terms, in
// order. moments.bin has them; the zero value: it was not read, or there are none.
type covariances struct {
	cov    mat.Symmetric     // of the projection; nil: not at hand
	robust *robustCovariance // by the last pass; nil: not at hand
	mean   []float64         // weighted means of the columns
	sumW   float64           // of the rows' weights
	split  *splitting        // of hierarchical terms, by the moments; nil: none, or no moments are at hand
	kept   *keptBands        // of ReadBands, in place of cov and robust; nil: they are at hand, or nothing is
}

// fitState is what the fit knows of a predictor and no file holds.
type fitState struct {
	sandwich *projection.Sandwich // by the A^-1 of cov; nil: there is no faster way than two products
	bias     projection.Scaled    // of cov, what smoothing adds to the sandwich
	// penalties are in place of bias, which is cov times them times cov
	penalties []linalg.Block
	lost      bool          // the products had too few digits
	judging   *judging      // what verdicts need; nil: they are other results'
	between   *mat.SymDense // covariances of hierarchical terms, after, over the rows; nil: none
}

// TermResult is a term's share. Coefficients are in raw basis coordinates,
// constraints applied, so evaluating needs none.
type TermResult struct {
	Name       string    `json:"name"`
	Kind       Kind      `json:"kind"`
	Features   []string  `json:"features"`
	Columns    int       `json:"columns"` // after the constraint
	EDF        float64   `json:"edf"`
	EDF1       *float64  `json:"edf1,omitempty"` // of 2F - FF, for tests (Wood 2017, 6.12); nil for PHO
	EDF2       *float64  `json:"edf2,omitempty"` // with the uncertainty of the smoothing parameters; nil above 500 columns
	SP         []float64 `json:"sp"`
	AtInfinity bool      `json:"at_infinity,omitempty"` // smoothing left only the penalty's null space
	// TakenOut: smoothing left nothing of the term, less than 0.01 degrees of freedom: it stays
	// as the network has it.
	TakenOut    bool     `json:"taken_out,omitempty"`
	Identified  bool     `json:"identified"`
	AliasedWith []string `json:"aliased_with"`
	// PinnedRows counts rows of leverage above 0.99 that owe a quarter of it or more to this
	// term: it passes through them, so that their remainder tells nothing of its error
	// (robust bands; the term rests on single rows, as a level that occurs once does).
	PinnedRows int64   `json:"pinned_rows,omitempty"`
	Verdict    Verdict `json:"verdict,omitempty"` // what the rows say of the term; "": not judged
	Why        string  `json:"why,omitempty"`     // of a verdict other than Identified, a clause: Because in words
	// Because are the reasons of the verdict: of a sum first that, then why; nil of an identified
	// term, and in files of versions that did not have it (Reasons).
	Because []Reason `json:"reasons,omitempty"`
	// Margins is what was moved from this term to others of some of its features, so that
	// it is orthogonal to them over the training rows: its values are Phi (beta + alpha) less the
	// margins', and theirs are larger by as much.
	Margins []Margin        `json:"margins,omitempty"`
	Spec    json.RawMessage `json:"spec"`
	Center  float64         `json:"center"`            // weighted mean of the term's values over training rows
	Beta    []float64       `json:"beta"`              // the network's own
	Alpha   []float64       `json:"alpha"`             // moved from the deep predictor
	KCheck  *KCheck         `json:"k_check,omitempty"` // of smooths, by package diagnostics
	// LackOfFit says what the remainder still has of the term's own column; nil: it was not looked into. By
	// package diagnostics, of smooths of one column.
	LackOfFit *LackOfFit `json:"lack_of_fit,omitempty"`
	// Concurvity is the term's with all others of the predictor.
	Concurvity Concurvity `json:"concurvity"`
	// BetweenSD says how far the term differs between networks; nil: there is one.
	BetweenSD *BetweenSD   `json:"between_sd,omitempty"`
	Members   []MemberTerm `json:"members,omitempty"` // by network
	Before    Moment       `json:"before"`
	After     Moment       `json:"after"`
	Moved     Moment       `json:"moved"` // of After less Before: how far the term moved, Phi alpha of terms that have and are no margins

	term Term
	rows *Support // of a copy by Labelled: where its rows lie
}

// Verdict says how far the rows determine a term.
// It is about the term's function. More rows would settle a weak term. None would settle a sum or a
// convention, which are found from the kinds of terms, not from numbers. Near copies go by the
// worst-case concurvity; the fitted curve's misses splits that another network chooses.
type Verdict string

// The verdicts, the first that applies in this order: Sum, Weak, Convention, Identified.
const (
	Identified Verdict = "identified" // the rows determine it
	Sum        Verdict = "sum"        // they determine only its sum with other terms
	Convention Verdict = "convention" // they determine it given a convention, which Why names
	Weak       Verdict = "weak"       // they determine it in principle, but hardly tell
)

// Margin is a part of a term that belongs to another one of the same predictor.
type Margin struct {
	Term string    `json:"term"`
	Coef []float64 `json:"coef"` // in the raw coordinates of that term
	// Before is what of the network's own part, Phi beta, belongs there; nil: zeros.
	Before []float64 `json:"before,omitempty"`
}

// KCheck says whether a smooth had enough basis functions: Index is the mean
// squared half difference of neighbours' residuals over their variance, below 1
// if neighbours are alike; P is the share of random orders with a smaller one.
type KCheck struct {
	Index float64 `json:"index"`
	P     float64 `json:"p"`
	Rows  int     `json:"rows"` // of the sample
}

// LackOfFit says how much of the remainder is a function of a smooth's own column: what the smooth,
// with more basis functions or with cuts, would have. A network's remainder is no noise, so that with
// rows enough any lack is beyond chance: whether it matters is a question of its size.
type LackOfFit struct {
	Share       float64 `json:"share"`        // of the variance of that function and the term together, less what chance gives
	OfPredictor float64 `json:"of_predictor"` // the same variance as a share of Var(eta)
	P           float64 `json:"p"`            // that chance gives as much, times the number of smooths that were tested
	Bins        int     `json:"bins"`         // of the column, in which the remainder was summed
}

// Matters tells whether the term misses something beyond chance, of 1 % of its variance or more (10 % of its
// standard deviation) and 0.05 % of the predictor's: such a term is weak.
func (l *LackOfFit) Matters() bool {
	return l != nil && l.P < 0.01 && l.Share >= 0.01 && l.OfPredictor >= 0.0005
}

// Moment is the weighted mean and variance of a term over training rows.
type Moment struct {
	Mean     float64 `json:"mean"`
	Variance float64 `json:"variance"`
}

// Concurvity says how much of a term lies in the span of others: 0 none, 1 all
// of it (Wood 2017, 5.5.6; the three measures of mgcv's concurvity). Worst is the
// largest share over all functions of the term, Observed that of the fitted
// (after) function, Estimate the average over the basis.
type Concurvity struct {
	Worst    float64 `json:"worst"`
	Observed float64 `json:"observed"`
	Estimate float64 `json:"estimate"`
}

// PairConcurvity is the concurvity of a term with one other.
type PairConcurvity struct {
	Term string `json:"term"`
	With string `json:"with"`
	Concurvity
}

// Variance splits Var(eta) (weighted, over training rows, link scale):
// structured + unstructured + twice_covariance = total.
type Variance struct {
	Structured      float64 `json:"structured"`
	Unstructured    float64 `json:"unstructured"`
	TwiceCovariance float64 `json:"twice_covariance"`
	Total           float64 `json:"total"`
}

// Importance is what the model loses when a feature's, or one term's, centred
// structured contributions are set to zero (math of package importance).
type Importance struct {
	Feature       string   `json:"feature,omitempty"`
	Terms         []string `json:"terms"`
	VarianceShare float64  `json:"variance_share"` // Cov(f, eta) / Var(eta)
	// OwnVariance is Var(f) / Var(eta), where terms are hierarchical: different from
	// VarianceShare as far as f covaries with the rest of eta. nil: not measured.
	OwnVariance       *float64 `json:"own_variance,omitempty"`
	McFadden          *float64 `json:"mcfadden"`
	McFaddenValid     bool     `json:"mcfadden_valid"`
	DeltaLogLikPerRow *float64 `json:"delta_loglik_per_row"` // by the sum of the weights
	DevianceR2        *float64 `json:"deviance_r2"`
}

// Feature summarises a data column that terms depend on, for plots and checks.
type Feature struct {
	Name   string   `json:"name"`
	Min    float64  `json:"min"`
	Max    float64  `json:"max"`
	Mean   float64  `json:"mean"`
	Levels []string `json:"levels,omitempty"` // of a categorical column, sorted
	Counts []int64  `json:"counts,omitempty"` // histogram over [min,max], or rows by level; after the last pass
	// Quantiles are 51 of a numeric column's own values, at 0, 2, ..., 100 % of the rows, of
	// all or of 2048 of them; the ends are Min and Max. After the last pass.
	Quantiles []float64 `json:"quantiles,omitempty"`
	// Sample are the column's values, or places in Levels, in at most 400 rows, which are
	// the same for all features that have one: those of terms of two features.
	Sample []float64 `json:"sample,omitempty"`
}

// Whole reports whether a numeric column holds whole numbers, by its quantiles; false if they are not known.
func (f *Feature) Whole() bool {
	fraction := func(v float64) bool { return v != math.Trunc(v) || math.Abs(v) > 1e9 }
	return f != nil && f.Levels == nil && len(f.Quantiles) > 0 && !slices.ContainsFunc(f.Quantiles, fraction)
}

// Position is the value that Sample has for a level: its place in Levels or, of a numeric
// column, its number; NaN of a level that is not there.
func (f *Feature) Position(level string) float64 {
	if f.Levels != nil {
		at, ok := slices.BinarySearch(f.Levels, level)
		if !ok { // in a copy by Labelled they are in the order of their names in the data
			at = slices.Index(f.Levels, level)
		}
		if at < 0 {
			return math.NaN()
		}
		return float64(at)
	}
	v, err := strconv.ParseFloat(level, 64)
	if err != nil {
		return math.NaN()
	}
	return v
}

// Term returns the term's basis.
func (t *TermResult) Term() Term { return t.term }
