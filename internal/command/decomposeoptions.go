package command

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/pho-go/pho/adapters/served"
	"github.com/pho-go/pho/data/files"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/nam"
	"github.com/pho-go/pho/penalty"
)

// options turns flags into options and reports wrong usage, as far as it can be
// told before any file is read.
func (d *decomposeFlags) options(s streams) (*decompose.Options, *files.Options, error) {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	switch {
	case len(d.predictions) > 0 && len(d.models) > 0:
		fault("--model and --predictions: give the network's file, or the columns that hold what the model predicts")
	case len(d.predictions) == 0 && d.link != "" && !d.asks():
		fault("--link is for --predictions, and for a model behind an address")
	case len(d.classes) > 0 && !d.asks():
		fault("--classes is for a model behind an address: a network's file names them, and so do the columns of --predictions")
	case d.asks() && len(d.models) > 1:
		fault("--model %q: a model behind an address is decomposed alone", d.models)
	case d.asks() && (d.network.maxOrder != 0 || len(d.network.deep)+len(d.network.learned)+len(d.network.constants) > 0 || d.phonam != ""):
		fault("--max-order, --deep, --learned, --constant and --phonam are for a network's file, and of a model behind an address nothing but its answers is known: leave them out")
	case d.asks() && d.network.single():
		fault("--engine and --precision are for what a network computes, and answers are taken as they are: leave them out")
	case len(d.predictions) > 0 && d.network.structured():
		fault("--max-order, --deep, --learned and --predictor say how to read a network's structure, and predictions have none: leave them out")
	case len(d.predictions) > 0 && d.phonam != "":
		fault("--phonam is for a neural additive model's file, and predictions have no learned terms: leave it out")
	case len(d.predictions) > 0 && d.network.single():
		fault("--engine and --precision are for what a network computes, and predictions are taken as they are: leave them out")
	case len(d.predictions) == 0 && (len(d.models) == 0 || slices.Contains(d.models, "")):
		fault("--model is missing: name an ONNX file; of a model of any other kind, columns of the data with its predictions: --predictions COLUMN")
	}
	if from := decompose.MembersFrom(d.membersFrom); from != "" && from != decompose.Seeds && from != decompose.Resamples {
		fault("--members-from %q: it is resamples or seeds", d.membersFrom)
	}
	if d.out == "" {
		fault("--out is missing: name the result directory")
	}
	tensors, bound := tensorInputs(d.inputs)
	if len(d.predictions) > 0 && len(bound) > 0 {
		fault("--input %s is for a network's inputs, and predictions have none: leave it out", bound[0])
	}
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
	case "", decompose.RobustBands, decompose.RowsBands:
	case decompose.ProjectionBands, decompose.NoBands:
		if d.cluster != "" {
			fault("--cluster %q is for --bands robust or rows, not for --bands %s", d.cluster, d.bands)
		}
	default:
		fault("--bands %q: it is robust, rows, projection or none", d.bands)
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
	faults = append(faults, d.network.computing.check())
	faults = append(faults, d.syntax(o), d.checkFamily(o.Response))
	if err := errors.Join(faults...); err != nil {
		return nil, nil, usageError{err}
	}
	return o, reading, nil
}

// asks tells whether a model is one behind an address.
func (d *decomposeFlags) asks() bool { return slices.ContainsFunc(d.models, served.IsAddress) }

// isAddress tells whether a flag names a model behind an address.
func isAddress(value pflag.Value) bool {
	if list, ok := value.(pflag.SliceValue); ok {
		return slices.ContainsFunc(list.GetSlice(), served.IsAddress)
	}
	return served.IsAddress(value.String())
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
