package command

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/adapters/onnx/onnxruntime"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/app/wiring"
	"github.com/pho-go/pho/internal/base/durable"
)

// inFlags is the text of an error with the options of libraries, which know of no flags,
// called by the flags that set them, and with the flag that helps. Every message of the
// command comes through here (see message), so nothing else has to.
func inFlags(err error) string {
	text := err.Error()
	for _, e := range tree(err) {
		if own, said := e.Error(), flagText(e); said != own {
			text = strings.Replace(text, own, said, 1)
		}
	}
	return networkInFlags(text) + advice(err)
}

// tree is err and all errors that it wraps or joins, the outer before the inner.
func tree(err error) []error {
	all := []error{err}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		if next := e.Unwrap(); next != nil {
			all = append(all, tree(next)...)
		}
	case interface{ Unwrap() []error }:
		for _, next := range e.Unwrap() {
			all = append(all, tree(next)...)
		}
	}
	return all
}

// flagText is what the command says for err itself, whatever wraps it.
func flagText(err error) string {
	text := err.Error()
	switch e := err.(type) {
	case *wiring.OptionError:
		return "--" + text
	case *durable.DirError:
		return "--out " + text
	case *onnx.AmbiguousBindingError:
		if len(e.Open) == 1 {
			return strings.Replace(text, "name its columns", fmt.Sprintf("name them with --input %s=column,...", e.Open[0].Name), 1)
		}
		return strings.Replace(text, "name the columns of each", "use --input NAME=column,... for each", 1)
	}
	return text
}

// networkInFlags calls the fields of onnx.Options by the flags that set them.
func networkInFlags(text string) string {
	return strings.NewReplacer(
		"onnx.GoEngine", "--engine go",
		"Options.MaxOrder", "--max-order",
		"Options.Deep", "--deep",
		"Options.Learned", "--learned",
		"Options.Predictor", "--predictor",
		"Options.Clip", "--clip",
		"onnx: Clip is", "--clip",
		"LoadOptions.Constants", "--constant NAME=VALUES",
		"Constants names", "--constant names",
	).Replace(text)
}

// trainingInFlags calls the fields of native.Config by the flags of pho train that set
// them.
func trainingInFlags(text string) string {
	return strings.NewReplacer(
		"set Response or write", "give --response COLUMN or write",
		"train without Resume", "train without --resume",
		"smoothing parameters (SP)", "smoothing parameters (sp= in the formula)",
		"Deep.Columns", "--deep",
		"Deep.Dropout", "--dropout",
		"Deep.Orthogonalize", "--orthogonalize online",
		"Deep.Separate", "--separate",
		"Deep.EmbeddingWidth", "--embedding-dim",
		"one of FeatureNetworks.Pairs", "a pair of --features",
		"FeatureNetworks.Columns", "--features",
		"FeatureNetworks.Dropout", "--dropout",
		"FeatureNetworks.FeatureDropout", "--feature-dropout",
		"FeatureNetworks.OutputPenalty", "--output-penalty",
		"Training.LearningRate", "--learning-rate",
		"Training.ClipNorm", "--clip-norm",
		"Training.ValidationShare", "--validation",
		"Training.BatchSize", "--batch-size",
		"Training.Epochs", "--epochs",
	).Replace(text)
}

// trainingError is an error of package native in the words of the command. Errors of
// other packages do not go through these words, which a column could be named by.
type trainingError struct{ error }

func (e trainingError) Error() string { return trainingInFlags(e.error.Error()) }
func (e trainingError) Unwrap() error { return e.error }

// memoryInFlags says by flags what makes the parts of m smaller.
func memoryInFlags(m decompose.Memory) decompose.Memory {
	flags := strings.NewReplacer(decompose.FewerWorkers, "fewer --workers", decompose.OutputsInFile, "--zeta-cache FILE")
	m = slices.Clone(m)
	for i := range m {
		m[i].Advice = flags.Replace(m[i].Advice)
	}
	return m
}

// advice is the flag that helps, in the words that follow the error's own.
func advice(err error) string {
	var (
		delimiter *data.DelimiterError
		cell      *data.CellError
		moved     *wiring.MovedError
		clip      *wiring.ClipError
		refused   *wiring.RefusedError
		helper    *onnxruntime.HelperError
	)
	switch {
	case errors.As(err, &delimiter):
		mark := strconv.Quote(string(delimiter.Delimiter))
		if delimiter.Delimiter == '\t' {
			mark = "tab"
		}
		return ": try --delimiter " + mark
	case errors.Is(err, data.ErrMissingValue) && errors.As(err, &cell): // of a file that was not to keep them
		return " with --na drop; --na keep lets a model fill them in that can"
	case errors.Is(err, data.ErrMissingValue):
		return " with --na drop"
	case errors.Is(err, data.ErrText) && errors.As(err, &cell):
		return " with --factor " + quoteArg(cell.Column)
	case errors.Is(err, data.ErrRounded) && errors.As(err, &cell):
		return "; --text " + quoteArg(cell.Column) + " reads it to the digit"
	case errors.Is(err, decompose.ErrDigest):
		return "; if it was edited on purpose, pho verify DIR --sign accepts it"
	case errors.Is(err, onnx.ErrMemory):
		return "; --max-memory sets the bound"
	case errors.As(err, &clip):
		return ": pho decompose moves them that far from 0 and 1 with --clip 1e-6, or decomposes the probabilities as they are with --link identity"
	case errors.As(err, &moved):
		return "; if the network has moved, give its place with --model"
	case errors.As(err, &helper):
		return "; pho's own engine needs no helper: --engine go"
	case errors.As(err, &refused):
		return "; what the model predicts elsewhere can be decomposed: predict the rows there, and name the column (--predictions COLUMN in place of --model)"
	}
	return ""
}

// quoteArg writes a column's name as it can be typed after a flag.
func quoteArg(name string) string {
	plain := func(r rune) bool {
		return r == '_' || r == '.' || '0' <= r && r <= '9' || 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z'
	}
	if strings.ContainsFunc(name, func(r rune) bool { return !plain(r) }) {
		return strconv.Quote(name)
	}
	return name
}

// quoteFormula writes a formula as it can be typed in a shell.
func quoteFormula(f string) string { return "'" + strings.ReplaceAll(f, "'", `'\''`) + "'" }
