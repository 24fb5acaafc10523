package command

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/data/files"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/app/resultdir"
	"github.com/pho-go/pho/internal/app/wiring"
)

// decomposeFlags are the flags of pho decompose.
type decomposeFlags struct {
	models            []string
	predictions       []string
	link              string
	classes           []string
	membersFrom       string
	out, log          string
	inputs, formulas  []string
	method, smoothing string
	sp, df            []string
	groups, refit     string
	bands, cluster    string
	route             string
	selectTerms       bool
	phonam            string
	orders            bool
	terms             string
	gamma             float64
	rankTolerance     float64
	weights, offset   string
	response, family  string
	event             string
	reference         string
	workers           int
	contributions     string
	interactions      string
	seed              uint64
	zetaCache         string
	export            bool
	labels, title     string
	id                string
	data              dataFlags
	network           networkFlags
	resume            bool
	every             time.Duration       // between checkpoints
	long              []string            // columns of numbers too long for float64 (longNumbers)
	given             map[string][]string // flags that were given, as a plan records them
	form              json.RawMessage     // what is asked of a model behind an address, as a plan has it; nil: that is found out
}

func newDecompose(s streams) *cobra.Command {
	var d decomposeFlags
	cmd := &cobra.Command{
		Use:   "decompose --model MODEL.onnx --data FILE... [--formula F]... --out DIR",
		Short: "Split a network's predictor over all rows of the data and write the result",
		Long: `Split a network's predictor over all rows of the data into structured terms and a
deep remainder that is orthogonal to them, and write the result to DIR: a report,
the contributions of every term to every row, effect curves, and the decomposition
that 'pho apply' needs for new rows.

Terms come from the graph (see 'pho inspect') and from --formula, in the syntax of
mgcv: a column, factor(column), s(column, bs="ps", k=20), s(column, by=group); a term
of that name in the graph is the same term. Columns of text are factors. A dot, as in
'~ . + te(lon, lat)', stands for terms of all other columns that the network reads, chosen
by what the columns hold; a network without structure has them without a formula, too.
A range temp..hum is all columns from temp to hum, in the order of the data; x0..x9 goes by
number.

A model that runs behind an address is asked what it predicts: --model http://HOST/v2/models/NAME
of the Open Inference Protocol, or http://HOST/invocations of MLflow, with --link for the scale
(docs/models.md). Any other model that is no ONNX file is decomposed by its predictions: let it predict the rows, and
name the column, as --predictions p --link logit. A dot then stands for all other columns of
the data (docs/models.md). Of classes name all, as --predictions p_a,p_b,p_c --link softmax: they
are called a, b and c, and a response may have these names or those of the columns.

Several networks of one task, named by --model repeated or by their folder, are decomposed
together: curves are those of their mean, with bands that hold what differs between
networks, and every term says how far they differ before and after (docs/members.md).`,
		Example: `  pho decompose --model ssn.onnx --data rows.csv --out result
  pho decompose --model nam.onnx --data 'part-*.csv.gz' --response y --out result
  pho decompose --model net.onnx --data rows.csv --input x=x0..x9 \
      --formula 'y ~ x1 + dow + s(x2, bs="ps", k=20)' --out result
  pho decompose --model two.onnx --data rows.csv \
      --formula 'mu = ~ s(x1, bs="cr")' --formula 'sigma = ~ x1' --out result`,
		RunE: func(cmd *cobra.Command, args []string) error {
			d.given = recorded(cmd.Flags())
			_, err := d.run(cmd.Context(), s, args)
			return err
		},
	}
	f := cmd.Flags()
	f.SortFlags = false // as defined: what everybody needs first
	d.add(f)
	return cmd
}

// add defines the flags, those first that everybody needs.
func (d *decomposeFlags) add(f *pflag.FlagSet) {
	f.StringArrayVar(&d.models, "model", nil, "`FILE` of ONNX, or that XGBoost, LightGBM, CatBoost or InterpretML saved; repeated, or a folder: several networks of one task, decomposed together; or the address of a model that is served, as http://HOST/v2/models/NAME (Open Inference Protocol) or http://HOST/invocations (MLflow)")
	f.StringArrayVar(&d.predictions, "predictions", nil, "in place of --model: `COLUMNS` of the data (comma separated; names with commas in double quotes) that hold what a model of any kind predicts, on the scale of the response; of classes the probability of each (repeated: several models of one task)")
	f.StringVar(&d.link, "link", "", "`LINK` of --predictions, or of what a served model answers, whose value is decomposed: "+strings.Join(onnx.PredictionLinks(), ", ")+" (default identity)")
	f.StringSliceVar(&d.classes, "classes", nil, "`NAMES` of a served model's classes (comma separated), in the order of its probabilities, with --link softmax (default 0,1,...)")
	d.data.add(f)
	f.StringVar(&d.out, "out", "", "result `DIR`: absent, empty, or an earlier result, which is replaced")
	f.StringArrayVar(&d.inputs, "input", nil, "bind data columns to a network's input: `NAME=col,col`, NAME=x0..x9 or NAME=first..last, by the order of columns; NAME=@FILE.npy is an array of any shape, first axis the rows, joined to the data row by row; FILE.npy:nhwc has channels last; NAME=@FOLDER/{COLUMN} are PNG files that a column names, samples 0 to 1, with :255 behind it 0 to 255 (repeatable)")
	f.StringArrayVar(&d.formulas, "formula", nil, "structured `TERMS`, as '~ x1 + s(x2, bs=\"ps\")'; 'sigma = ~ x1' is for one predictor (repeatable)")
	f.StringVar(&d.response, "response", "", "`COLUMN` of the response, for importance")
	f.StringVar(&d.family, "family", "", "distribution of the response: "+familyHelp()+" (default: what the network's head suggests)")
	f.StringVar(&d.event, "event", "", eventHelp)
	f.StringVar(&d.reference, "reference", "", "`CLASS` that predictors of classes are differences to (default: centred over the classes of every row)")
	f.StringVar(&d.weights, "weights", "", "`COLUMN` of row weights")
	f.StringVar(&d.offset, "offset", "", "`COLUMN` added to the first predictor in the likelihood")
	d.data.addFactors(f)
	f.StringVar(&d.method, "method", "", "pho or phogam (default: phogam if terms are penalised)")
	f.StringVar(&d.smoothing, "smoothing", "reml", "how to choose smoothing parameters: reml, ml, gcv, cv (with --groups), df or fixed")
	f.StringArrayVar(&d.sp, "sp", nil, "fix a term's smoothing parameters: `'s(x2)=0.3'` (repeatable)")
	f.StringArrayVar(&d.df, "df", nil, "ask for a term's effective degrees of freedom: `'s(x2)=5'` (repeatable)")
	f.StringVar(&d.interactions, "interactions", "", "add the `N` pairs of columns that the remainder depends on most, or auto: those that take at least 0.5 % of the variance; none: do not ask what is left (default auto where pho chooses the terms for want of a formula, else 0)")
	f.StringVar(&d.groups, "groups", "", "`COLUMN` of groups that --smoothing cv leaves out one after the other")
	f.StringVar(&d.bands, "bands", "robust", "standard errors: robust (for a remainder that is a function of the features), rows (robust, given how these rows split interactions from their margins), projection (takes the remainder for noise) or none")
	f.StringVar(&d.cluster, "cluster", "", "`COLUMN` of clusters whose rows may depend on each other, for robust bands")
	f.BoolVar(&d.selectTerms, "select", false, "let smoothing take out whole terms: smooths, numbers and factors")
	f.StringVar(&d.phonam, "phonam", "", "project a neural additive model's deep part on its learned bases with ridges (learned, the default) or on splines of their features (spline); --method pho: on the bases without ridges")
	f.StringVar(&d.terms, "terms", "hierarchical", "hierarchical: interactions are orthogonal to their margins, over the rows; fitted: as the fit has them, factors with the formula's contrasts")
	f.BoolVar(&d.orders, "orders", false, "say what share of the variance is main effects, interactions of two columns, and so on")
	f.StringVar(&d.refit, "refit", "", "total: penalise the whole structured predictor, not what moves to it")
	f.StringVar(&d.route, "route", "", "gram or qr: accumulate products, or the triangular factor (slower, keeps twice the digits; default: as needed)")
	f.StringVar(&d.membersFrom, "members-from", "", "in what several networks differ: resamples (of the rows they were trained on) or seeds (default: what their folder says, else seeds)")
	f.Float64Var(&d.gamma, "gamma", 1, "count degrees of freedom this often; more is smoother")
	f.Float64Var(&d.rankTolerance, "rank-tolerance", 0, "smallest relative singular value to project on (default 1e-4 with learned terms, else 1e-6)")
	f.StringVar(&d.contributions, "contributions", "csv", "the contributions of every row: csv, parquet or none: no such file, and no values of single rows in the result")
	addID(f, &d.id)
	addLabels(f, &d.labels, ", for the report and what is printed; files that programs read keep names")
	addTitle(f, &d.title, "")
	f.BoolVar(&d.export, "export-onnx", false, "write adapted.onnx too: the network with its outputs as they are, and one more for each term, the intercept, the unstructured part and eta; of a booster its model as ONNX; of a model that is no file surrogate.onnx: its structured part alone")
	f.IntVar(&d.workers, "workers", 0, "goroutines (default: one per processor; results do not depend on it)")
	f.StringVar(&d.zetaCache, "zeta-cache", "", "new `FILE` for those of the network's outputs that memory does not hold, removed afterwards; without it the network runs again for those rows")
	f.Uint64Var(&d.seed, "seed", 0, "seed of the rows and orders that the check of basis dimensions (k-check) draws")
	f.BoolVar(&d.resume, "resume", false, "keep what is done beside --out, in DIR.resume, until the result is there; the same call goes on from it after a kill")
	f.DurationVar(&d.every, "checkpoint", defaultCheckpoint, "with --resume, keep a pass that is not done about once in this `TIME`; 0: never")
	f.StringVar(&d.log, "log", "", "json: progress, warnings and errors as lines of JSON")
	d.network.computing.add(f, "")
	f.StringVar(&d.network.maxMemory, "max-memory", "", "refuse a run that would need more `MEMORY`, as 500MB or 2GiB (default: that of the machine; of a network's tensors 4GiB)")
	d.network.add(f)
}

// run does the main job end to end and returns the result it wrote to d.out.
func (d *decomposeFlags) run(ctx context.Context, s streams, further []string) (*decompose.Result, error) {
	log, err := newProgress(s, d.log)
	if err != nil {
		return nil, err
	}
	work := d.work
	if d.resume {
		work = d.resumed
	}
	r, err := work(ctx, s, log, further)
	if err != nil {
		return nil, log.fail(err, status(ctx, err))
	}
	log.done(r, filepath.Join(d.out, resultdir.Report))
	return r, nil
}

// request is what wiring makes ready.
func (d *decomposeFlags) request(n *wiring.Network, rows files.Source, inputs map[string][]string, o *decompose.Options) *wiring.Request {
	precision := onnx.Double
	if d.network.single() {
		precision = onnx.Single
	}
	pairs, _ := interactions(d.interactions)
	return &wiring.Request{
		Network: n, Rows: rows, Inputs: inputs, Open: d.network.options(), Precision: precision, Engine: d.network.engine, NoMatrixUnits: d.network.vectors, Formulas: d.formulas, Factors: d.data.factors,
		Select: d.selectTerms, Family: d.family, Class: d.reference, Drops: d.data.drops(), Cache: d.cachedBeforehand(), Export: d.export, Options: o, Interactions: pairs,
	}
}

// oneNetwork refuses what is not done with several networks.
func (d *decomposeFlags) oneNetwork(models []string) error {
	switch {
	case len(models)+len(d.predictions) == 1:
		return nil
	case d.export:
		return usagef("--export-onnx writes one network's file, and there are %d: leave it out, or name one network", len(models)+len(d.predictions))
	case d.phonam != "":
		return usagef("--phonam takes one network, and there are %d: without it each is projected on the bases that it learned", len(models)+len(d.predictions))
	}
	return nil
}

// spare refuses to write over files that the run reads, or to lose files that it keeps.
func (d *decomposeFlags) spare(models, paths []string, tensors []tensorInput) error {
	var in sources
	in.add("the model", models...)
	in.addData(paths, tensors, nil)
	in.add("the labels", d.labels)
	if err := in.spareDir("--out", d.out); err != nil {
		return err
	}
	return apart("--zeta-cache", d.zetaCache, "--out", d.out)
}
