package command

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pho-go/pho/data/files"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/durable"
	"github.com/pho-go/pho/internal/resultdir"
	"github.com/pho-go/pho/internal/revision"
	"github.com/pho-go/pho/internal/wiring"
	"github.com/pho-go/pho/nam"
	"github.com/pho-go/pho/penalty"
)

// decomposeFlags are the flags of pho decompose.
type decomposeFlags struct {
	models            []string
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
	labels            string
	id                string
	data              dataFlags
	network           networkFlags
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
			_, err := d.run(cmd.Context(), s, args)
			return err
		},
	}
	f := cmd.Flags()
	f.SortFlags = false // as defined here: what everybody needs first
	f.StringArrayVar(&d.models, "model", nil, "ONNX `FILE`; repeated, or a folder: several networks of one task, decomposed together")
	d.data.add(f)
	f.StringVar(&d.out, "out", "", "result `DIR`: absent, empty, or an earlier result, which is replaced")
	f.StringArrayVar(&d.inputs, "input", nil, "bind data columns to a network's input: `NAME=col,col`, NAME=x0..x9 or NAME=first..last, by the order of columns; NAME=@FILE.npy is an array of any shape, first axis the rows, joined to the data row by row (repeatable)")
	f.StringArrayVar(&d.formulas, "formula", nil, "structured `TERMS`, as '~ x1 + s(x2, bs=\"ps\")'; 'sigma = ~ x1' is for one predictor (repeatable)")
	f.StringVar(&d.response, "response", "", "`COLUMN` of the response, for importance")
	f.StringVar(&d.family, "family", "", "distribution of the response: "+familyHelp+" (default: what the network's head suggests)")
	f.StringVar(&d.event, "event", "", eventHelp)
	f.StringVar(&d.reference, "reference", "", "`CLASS` that predictors of classes are differences to (default: centred over the classes of every row)")
	f.StringVar(&d.weights, "weights", "", "`COLUMN` of row weights")
	f.StringVar(&d.offset, "offset", "", "`COLUMN` added to the first predictor in the likelihood")
	d.data.addFactors(f)
	f.StringVar(&d.method, "method", "", "pho or phogam (default: phogam if terms are penalised)")
	f.StringVar(&d.smoothing, "smoothing", "reml", "how to choose smoothing parameters: reml, ml, gcv, cv (with --groups), df or fixed")
	f.StringArrayVar(&d.sp, "sp", nil, "fix a term's smoothing parameters: `'s(x2)=0.3'` (repeatable)")
	f.StringArrayVar(&d.df, "df", nil, "ask for a term's effective degrees of freedom: `'s(x2)=5'` (repeatable)")
	f.StringVar(&d.interactions, "interactions", "0", "add the `N` pairs of columns that the remainder depends on most, or auto: those that take at least 0.5 % of the variance; none: do not ask what is left")
	f.StringVar(&d.groups, "groups", "", "`COLUMN` of groups that --smoothing cv leaves out one after the other")
	f.StringVar(&d.bands, "bands", "robust", "standard errors: robust (for a remainder that is a function of the features), projection (takes it for noise) or none")
	f.StringVar(&d.cluster, "cluster", "", "`COLUMN` of clusters whose rows may depend on each other, for robust bands")
	f.BoolVar(&d.selectTerms, "select", false, "let smoothing remove whole terms: penalise their null spaces too")
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
	f.BoolVar(&d.export, "export-onnx", false, "write adapted.onnx too: the network with its outputs as they are, and one more for each term, the intercept, the unstructured part and eta")
	f.IntVar(&d.workers, "workers", 0, "goroutines (default: one per processor; results do not depend on it)")
	f.StringVar(&d.zetaCache, "zeta-cache", "", "new `FILE` for those of the network's outputs that memory does not hold, removed afterwards; without it the network runs again for those rows")
	f.Uint64Var(&d.seed, "seed", 0, "seed of the rows and orders that the check of basis dimensions (k-check) draws")
	f.StringVar(&d.log, "log", "", "json: progress, warnings and errors as lines of JSON")
	addPrecision(f, &d.network.precision, wiring.Double, "")
	f.StringVar(&d.network.maxMemory, "max-memory", "", "refuse a run that would need more `MEMORY`, as 500MB or 2GiB (default: no bound; of a network's tensors 4GiB)")
	d.network.add(f)
	return cmd
}

// run does the main job end to end and returns the result it wrote to d.out.
func (d *decomposeFlags) run(ctx context.Context, s streams, further []string) (*decompose.Result, error) {
	log, err := newProgress(s, d.log)
	if err != nil {
		return nil, err
	}
	r, err := d.work(ctx, s, log, further)
	if err != nil {
		return nil, log.fail(err, status(ctx, err))
	}
	log.done(r, filepath.Join(d.out, resultdir.Report))
	return r, nil
}

func (d *decomposeFlags) work(ctx context.Context, s streams, log *progress, further []string) (*decompose.Result, error) {
	started := time.Now()
	o, reading, err := d.options(s)
	if err != nil {
		return nil, err
	}
	defer useProcessors(d.workers)()
	paths, err := d.data.files(further)
	if err != nil {
		return nil, err
	}
	labels, err := readLabels(d.labels)
	if err != nil {
		return nil, err
	}
	models, from, err := networkFiles(d.models, d.membersFrom)
	if err != nil {
		return nil, err
	}
	if err := d.oneNetwork(models); err != nil {
		return nil, err
	}
	tensors, inputs := tensorInputs(d.inputs)
	if err := d.spare(models, paths, tensors); err != nil {
		return nil, err
	}
	dir, err := durable.NewDir(s.unfinished(), resultdir.Files(), d.out)
	if err != nil {
		return nil, err
	}
	defer dir.Discard()

	networks, err := loadNetworks(models, d.network.maxMemory)
	if err != nil {
		return nil, err
	}
	network := networks[0]
	reading.Workers = o.Goroutines(0)
	reading.Texts = idText(d.id, slices.Concat(namedColumns(network.Graph, d.formulas, inputs, d.id), o.Columns.Names(), d.data.factors))
	opened, err := openRows(paths, reading, tensors, network.Graph)
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	columns, err := inputColumns(network.Graph, opened.Schema(), inputs)
	if err != nil {
		return nil, err
	}
	request := d.request(network, opened, columns, o)
	request.Others, request.From, request.Labels, request.ID = networks[1:], from, labels, d.id
	ready, err := request.Ready(ctx)
	if err != nil {
		return nil, err
	}
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1)) // as it was, after fitMemory
	o.Progress = log.report
	var added []string
	if request.Interactions != 0 && request.Interactions != wiring.NoInteractions {
		if err := d.fitMemory(log, ready.Model, ready, paths, o); err != nil {
			return nil, err
		}
		ready, added, err = request.AddPairs(ctx, ready)
		log.end()
		if err != nil {
			return nil, inFiles(err, paths)
		}
	}
	log.later(settled(ready, added, len(d.formulas) > 0)...)
	m, variant := ready.Model, nam.Variant(d.phonam)
	if variant == "" {
		variant = nam.Default(m, o.Method)
	}
	if variant != "" {
		var said []string
		if m, said, err = nam.Prepare(ctx, m, ready.Rows, variant, &nam.Options{Decompose: o}); err != nil {
			return nil, err
		}
		ready.Notes = append(ready.Notes, said...)
		if d.export {
			if err := ready.CheckExport(m); err != nil {
				return nil, err
			}
		}
	}

	if err := errors.Join(ready.CheckLabels(m), checkID(d.id, ready.Rows.Schema(), m)); err != nil {
		return nil, err
	}
	if err := d.fitMemory(log, m, ready, paths, o); err != nil {
		return nil, err
	}
	o.Visitors = ready.Ranking()
	r, err := decomposeInto(ctx, dir, m, ready.Rows, o, d.seed, d.contributions, d.id)
	log.end()
	if err != nil {
		return nil, inFiles(err, paths)
	}
	if variant != "" {
		r.PHONAM = string(variant)
		ready.Notes = append(ready.Notes, nam.NearCopies(r)...)
	}
	if err := ready.Complete(r, dir.Target(), droppedNote(ready.Rows), " with --input"); err != nil {
		return nil, err
	}
	r.CreatedBy = revision.Maker
	log.later(bareColumns(r, ready.Graph.Columns()))
	if err := resultdir.Write(ctx, dir, m, r); err != nil {
		return nil, err
	}
	if d.export {
		err := durable.WriteFile(dir.Path(resultdir.Adapted), func(f *os.File) error {
			return wiring.Export(f, network.Path, network.SHA256, ready.Graph, r)
		})
		if err != nil {
			return nil, err
		}
	}
	if err := writeRun(dir, started, o.Goroutines(0), s.args); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return r, dir.Commit()
}

// request is what wiring makes ready.
func (d *decomposeFlags) request(n *wiring.Network, rows files.Source, inputs map[string][]string, o *decompose.Options) *wiring.Request {
	precision, _ := wiring.Precision(d.network.precision) // checked before
	pairs, _ := interactions(d.interactions)
	return &wiring.Request{
		Network: n, Rows: rows, Inputs: inputs, Open: d.network.options(), Precision: precision, Formulas: d.formulas, Factors: d.data.factors,
		Select: d.selectTerms, Family: d.family, Class: d.reference, Drops: d.data.drops(), Cache: d.cachedBeforehand(), Export: d.export, Options: o, Interactions: pairs,
	}
}

// oneNetwork refuses what is not done with several networks.
func (d *decomposeFlags) oneNetwork(models []string) error {
	switch {
	case len(models) == 1:
		return nil
	case d.export:
		return usagef("--export-onnx writes one network's file, and there are %d: leave it out, or name one network", len(models))
	case d.phonam != "":
		return usagef("--phonam takes one network, and there are %d: without it each is projected on the bases that it learned", len(models))
	}
	return nil
}

// spare refuses to write over what the run reads, or to lose what it keeps.
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

// options turns flags into options and reports wrong usage, as far as it can be
// told before any file is read.
func (d *decomposeFlags) options(s streams) (*decompose.Options, *files.Options, error) {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if len(d.models) == 0 || slices.Contains(d.models, "") {
		fault("--model is missing: name an ONNX file")
	}
	if from := decompose.MembersFrom(d.membersFrom); from != "" && from != decompose.Seeds && from != decompose.Resamples {
		fault("--members-from %q: it is resamples or seeds", d.membersFrom)
	}
	if d.out == "" {
		fault("--out is missing: name the result directory")
	}
	tensors, _ := tensorInputs(d.inputs)
	d.data.tensors = len(tensors) > 0
	reading, err := d.data.options(s)
	faults = append(faults, err)
	o := &decompose.Options{
		Projection: decompose.Projection{Method: decompose.Method(d.method), RankTolerance: d.rankTolerance, Route: decompose.Route(d.route), RefitTotal: d.refit == "total", Terms: terms(d.terms)},
		Columns:    decompose.Columns{Event: d.event, Weights: d.weights, Offset: d.offset, Groups: d.groups, Cluster: d.cluster},
		Bands:      decompose.Bands(d.bands),
		Resources:  decompose.Resources{Workers: d.workers, OutputFile: d.zetaCache},
		Smoothing:  decompose.Smoothing{SP: map[string][]float64{}, DF: map[string]float64{}},
		Orders:     d.orders,
	}
	switch nam.Variant(d.phonam) {
	case "", nam.Learned, nam.Spline:
		if d.phonam != "" && o.Method == decompose.PHO {
			fault("--phonam %s is penalised, as --method phogam is: leave out --method pho", d.phonam)
		}
	default:
		fault("--phonam %q: it is learned or spline", d.phonam)
	}
	if t := decompose.Terms(d.terms); t != "" && t != decompose.Hierarchical && t != decompose.Fitted {
		fault("--terms %q: they are hierarchical or fitted", d.terms)
	}
	if d.refit != "" && d.refit != "total" {
		fault("--refit %q: it is total or left out", d.refit)
	}
	if o.Route != "" && o.Route != decompose.Gram && o.Route != decompose.QR {
		fault("--route %q: it is gram or qr", d.route)
	}
	if (d.smoothing == "cv") != (d.groups != "") {
		fault("--smoothing cv and --groups COLUMN go together: the groups are left out one after the other")
	}
	if o.Method != "" && o.Method != decompose.PHO && o.Method != decompose.PHOGAM {
		fault("--method %q: it is pho or phogam", d.method)
	}
	switch o.Bands {
	case "", decompose.RobustBands:
	case decompose.ProjectionBands, decompose.NoBands:
		if d.cluster != "" {
			fault("--cluster %q is for --bands robust, not for --bands %s", d.cluster, d.bands)
		}
	default:
		fault("--bands %q: it is robust, projection or none", d.bands)
	}
	if !slices.Contains([]string{"csv", "parquet", noContributions}, d.contributions) {
		fault("--contributions %q: it is csv, parquet or none", d.contributions)
	}
	if _, err := interactions(d.interactions); err != nil {
		faults = append(faults, err)
	}
	if d.workers < 0 {
		fault("--workers %d is negative", d.workers)
	}
	if d.network.maxOrder < 0 {
		fault("--max-order %d is negative", d.network.maxOrder)
	}
	if !(d.gamma > 0) || math.IsInf(d.gamma, 1) {
		fault("--gamma %g: it is a number > 0, 1 by default", d.gamma)
	}
	if t := d.rankTolerance; t != 0 && !(t >= 1e-13 && t < 1) {
		fault("--rank-tolerance %g: it is at least 1e-13 (1e-6 with --route gram) and less than 1", t)
	}
	if d.smoothing != "cv" {
		if o.Smoothing.Selection.Criterion, err = penalty.ParseCriterion(d.smoothing); err != nil {
			fault("--smoothing: %w", err)
		}
	}
	o.Smoothing.Selection.Gamma = d.gamma
	for _, text := range d.sp {
		name, values, err := termNumbers("--sp", text)
		faults = append(faults, err)
		o.SP[name] = values
	}
	for _, text := range d.df {
		name, values, err := termNumbers("--df", text)
		if err == nil && len(values) != 1 {
			err = fmt.Errorf("--df %q: a term has one number of degrees of freedom", text)
		}
		faults = append(faults, err)
		if err == nil {
			o.DF[name] = values[0]
		}
	}
	faults = append(faults, checkPrecision(d.network.precision))
	faults = append(faults, d.syntax(o), d.checkFamily(o.Response))
	if err := errors.Join(faults...); err != nil {
		return nil, nil, usageError{err}
	}
	return o, reading, nil
}

// terms is the default for its own name too.
func terms(name string) decompose.Terms {
	if t := decompose.Terms(name); t != decompose.Hierarchical {
		return t
	}
	return ""
}

// termNumbers reads 's(x2)=0.3' or 'te(a,b)=0.3,1.2'.
func termNumbers(flag, text string) (name string, values []float64, err error) {
	at := strings.LastIndex(text, "=")
	if at < 0 {
		return "", nil, fmt.Errorf("%s %q: write 's(x2)=0.3'", flag, text)
	}
	for _, v := range strings.Split(text[at+1:], ",") {
		f, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
		if err != nil || !(f >= 0) {
			return "", nil, fmt.Errorf("%s %q: %q is not a number >= 0", flag, text, v)
		}
		values = append(values, f)
	}
	return strings.ReplaceAll(text[:at], " ", ""), values, nil
}
