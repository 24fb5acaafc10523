package command

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"

	"github.com/pho-go/pho/adapters/native"
	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/data/files"
	"github.com/pho-go/pho/family"
	"github.com/pho-go/pho/internal/app/wiring"
	"github.com/pho-go/pho/internal/base/durable"
	"github.com/pho-go/pho/internal/base/revision"
)

// trained is a network, how it came about, and its file.
type trained struct {
	*native.Model
	*native.Fit
	online   bool   // it was orthogonalized online
	censored bool   // its times may be
	offset   string // column that was added to the first predictor; "": none
	double   bool   // the file holds float64
	file     native.Evaluation
}

// write writes the network and reads it back: the figures told of a network come from the
// predictions of its file. The file holds float32 unless that predicts something else.
func (t *trained) write(ctx context.Context, path string, src files.Source) error {
	const tolerance = 1e-4
	for _, t.double = range []bool{false, true} {
		if err := durable.WriteFile(path, func(f *os.File) error { return t.WriteONNX(f, &native.ExportOptions{Double: t.double}) }); err != nil {
			return err
		}
		read, err := t.readBack(ctx, path, src)
		if err != nil {
			return fmt.Errorf("the network that was written, read back: %w", err)
		}
		t.file = *read
		if math.Abs(read.Loss-t.Evaluation.Loss) <= tolerance*(1+math.Abs(t.Evaluation.Loss)) {
			return nil
		}
	}
	return fmt.Errorf("the network that was written has loss %.6g where the trained one has %.6g: nothing is saved; please report this", t.file.Loss, t.Evaluation.Loss)
}

func (t *trained) readBack(ctx context.Context, path string, src files.Source) (*native.Evaluation, error) {
	n, err := loadNetwork(path, "", nil, computing{})
	if err != nil {
		return nil, err
	}
	bind, err := onnx.Bind(n.Graph, wiring.CodedBy(src, t.Labels()).Schema(), nil)
	if err != nil {
		return nil, err
	}
	engine := onnx.GoEngine{Precision: onnx.Single} // as other runtimes compute float32
	if t.double {
		engine.Precision = onnx.Double
	}
	m, err := onnx.NewModel(n.Graph, bind, &onnx.Options{NoStructure: true, Engine: engine})
	if err != nil {
		return nil, err
	}
	return t.Evaluate(ctx, m)
}

// writeTraining writes how training went: no time or host, so that equal work
// gives equal bytes.
func writeTraining(w io.Writer, t *trained) error {
	m, fit := t.Model, t.Fit
	type epoch struct {
		Epoch      int      `json:"epoch"`
		Rate       float64  `json:"rate"`
		Train      float64  `json:"train"`
		Validation *float64 `json:"validation"`
	}
	type smooth struct {
		Predictor string    `json:"predictor"`
		Name      string    `json:"name"`
		EDF       float64   `json:"edf"`
		SP        []float64 `json:"sp"`
	}
	doc := struct {
		Format     string         `json:"format"`
		CreatedBy  string         `json:"created_by"`
		Family     string         `json:"family"`
		Predictors []string       `json:"predictors"`
		Status     string         `json:"status"`
		Seed       uint64         `json:"seed"`
		Rows       int            `json:"rows"`
		Held       int            `json:"validation_rows"`
		Best       int            `json:"best_epoch"` // 0: the additive model
		Score      map[string]any `json:"score"`
		Classes    []string       `json:"classes,omitempty"`
		Online     bool           `json:"orthogonalized_online,omitempty"`
		Double     bool           `json:"float64,omitempty"` // of the file
		Warnings   []string       `json:"warnings"`
		Terms      []smooth       `json:"terms"`
		Epochs     []epoch        `json:"epochs"`
	}{Format: "pho.training/1", CreatedBy: revision.Maker, Family: m.Family().Name(), Predictors: m.Predictors(), Status: string(fit.Status),
		Seed: fit.Seed, Rows: fit.Rows, Held: fit.Validation, Best: fit.Best, Score: t.figures(), Classes: fit.Classes, Online: t.online, Double: t.double,
		Warnings: append([]string{}, fit.Warnings...), Terms: []smooth{}, Epochs: []epoch{}}
	for k, r := range fit.Additive {
		if r == nil {
			continue
		}
		for _, t := range r.Predictors[0].Terms {
			doc.Terms = append(doc.Terms, smooth{Predictor: doc.Predictors[k], Name: t.Name, EDF: t.EDF, SP: t.SP})
		}
	}
	for _, e := range fit.Epochs {
		row := epoch{Epoch: e.Epoch, Rate: e.Rate, Train: e.Train}
		if !math.IsNaN(e.Validation) {
			row.Validation = &e.Validation
		}
		doc.Epochs = append(doc.Epochs, row)
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(doc)
}

// epoch reports after each epoch.
func (p *progress) epoch(at native.Progress) {
	switch {
	case p.json:
		fields := map[string]any{"epoch": at.Epoch.Epoch, "of": at.Of, "train": at.Train, "best": at.Best, "seconds_left": math.Ceil(at.Left.Seconds())}
		if !math.IsNaN(at.Validation) {
			fields["validation"] = at.Validation
		}
		p.event("epoch", fields)
	case p.terminal:
		p.pass = "training" // so that end clears the line
		p.clear()
		line := "epoch " + strconv.Itoa(at.Epoch.Epoch) + " of at most " + strconv.Itoa(at.Of) + fmt.Sprintf(": loss %.4g", at.Train)
		if !math.IsNaN(at.Validation) {
			line += fmt.Sprintf(", validation %.4g (best in epoch %d)", at.Validation, at.Best)
		}
		fmt.Fprintf(p.w, "%s, at most %.0f s left", line, math.Ceil(at.Left.Seconds()))
	}
}

// figures are those of the file, null where the family has none.
func (t *trained) figures() map[string]any {
	f := map[string]any{"on": t.scoredRows(), "rows": t.file.Rows}
	for name, v := range map[string]float64{
		"loss": t.file.Loss, "loss_of_additive_model": t.AdditiveLoss, "rmse": t.file.RMSE, "r2": t.file.R2, "deviance_explained": t.file.DevianceExplained,
	} {
		if f[name] = nil; v-v == 0 {
			f[name] = v
		}
	}
	if t.file.MostFrequent > 0 { // there are classes
		f["accuracy"], f["most_frequent"] = t.file.Accuracy, t.file.MostFrequent
	}
	return f
}

// scoredRows names the rows that the figures are of.
func (t *trained) scoredRows() string {
	if t.file.Held {
		return "validation rows"
	}
	return "training rows"
}

// quality is what people can judge: errors in the response's units, or the deviance
// explained where errors say little.
func (t *trained) quality() string {
	if t.file.MostFrequent > 0 {
		text := fmt.Sprintf("accuracy %.1f %% (always the most frequent class: %.1f %%)", 100*t.file.Accuracy, 100*t.file.MostFrequent)
		if d := t.file.DevianceExplained; !math.IsNaN(d) {
			text += fmt.Sprintf(", deviance explained %.1f %%", 100*d)
		}
		return text
	}
	if !family.TraitsOf(t.Family()).Location && !math.IsNaN(t.file.DevianceExplained) {
		return fmt.Sprintf("deviance explained %.1f %%", 100*t.file.DevianceExplained)
	}
	if t.censored {
		return "times are censored, which leaves the loss"
	}
	if math.IsNaN(t.file.RMSE) {
		return "the mean is not finite"
	}
	text := fmt.Sprintf("RMSE %.4g", t.file.RMSE)
	if !math.IsNaN(t.file.R2) {
		text += fmt.Sprintf(", R2 %.3f", math.Round(1000*t.file.R2)/1000+0) // no -0.000
	}
	return text
}

// notes say what the numbers of the file stand for.
func (t *trained) notes() (said []string) {
	for _, f := range t.Chosen {
		said = append(said, "terms chosen by the columns; to change them, copy the formula: --formula "+quoteFormula(f))
	}
	for _, left := range t.LeftOut {
		said = append(said, "without a term: "+left)
	}
	if c := t.Classes; c != nil && family.TraitsOf(t.Family()).Nominal {
		said = append(said, fmt.Sprintf("classes of the response: %.200q: the network gives their probabilities, the softmax of a predictor for each", c))
	} else if c != nil {
		said = append(said, fmt.Sprintf("classes of the response: %q is 0, %q is 1: the network gives the log-odds of %[2]q", c[0], c[1]))
	}
	if o, ok := t.Family().(family.Ordered); ok {
		said = append(said, fmt.Sprintf("levels of the response: %.6g, thresholds of the network's predictor: %.6g; the file holds the predictor alone, and decompose estimates its thresholds again", o.Levels(), o.Thresholds()))
	}
	if l := t.Labels(); l != nil && len(l.Columns) > 0 {
		said = append(said, fmt.Sprintf("text columns %q: the network reads the number of a level, from 0 in alphabetical order; the file says so (metadata %s) and pho decompose takes the texts as they are",
			slices.Sorted(maps.Keys(l.Columns)), onnx.MetadataLabels))
	}
	if t.offset != "" {
		said = append(said, fmt.Sprintf("the offset %q is not part of the network: add it to %s of new rows", t.offset, t.Predictors()[0]))
	}
	if t.online {
		said = append(said, "orthogonalized online: the file holds the projection over the training rows as X(beta - alpha) + zeta, so that a row's prediction needs no other rows; its terms before decomposition are beta - alpha")
	}
	if t.double {
		said = append(said, "the file holds float64: in float32 it would predict something else")
	}
	return said
}

// trained tells how training ended, how good the network is and what is next.
func (p *progress) trained(t *trained, path string) {
	warnings := make([]string, len(t.Warnings))
	for i, w := range t.Warnings {
		warnings[i] = trainingInFlags(w)
	}
	if p.json {
		for _, w := range warnings {
			p.event("warning", map[string]any{"message": w})
		}
		fields := map[string]any{"status": t.Status, "epochs": len(t.Epochs), "best": t.Best, "rows": t.Rows, "model": path, "score": t.figures()}
		if notes := t.notes(); notes != nil {
			fields["notes"] = notes
		}
		p.event("done", fields)
		return
	}
	fmt.Fprintf(p.w, "%d rows trained on, %d held out; %s", t.Rows, t.Validation, t.Status)
	if n := len(t.Epochs); n > 0 {
		fmt.Fprintf(p.w, " after %d epochs, the best is %d", n, t.Best)
	}
	fmt.Fprintf(p.w, "\n%s: %s (loss %.4g", t.scoredRows(), t.quality(), t.file.Loss)
	if t.Status != native.Solved {
		fmt.Fprintf(p.w, "; without networks %.4g", t.AdditiveLoss)
	}
	fmt.Fprintln(p.w, ")")
	for _, text := range t.notes() {
		fmt.Fprintln(p.w, text)
	}
	for _, w := range warnings {
		fmt.Fprintf(p.w, "warning: %s\n", w)
	}
	fmt.Fprintf(p.w, "model: %s; open it with pho decompose --model %[1]s\n", shown(path))
}
