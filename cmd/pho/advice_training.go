package main

import "strings"

// trainingInFlags writes the fields of native.Config, which messages of that package name, as the
// flags of pho train.
func trainingInFlags(text string) string {
	return strings.NewReplacer(
		"set Response or write", "give --response COLUMN or write",
		"train without Resume", "train without --resume",
		"smoothing parameters (SP)", "smoothing parameters (sp= in the formula)",
		"Deep.Columns", "--deep",
		"Deep.Dropout", "--dropout",
		"Deep.Orthogonalize", "--orthogonalize online",
		"FeatureNetworks.Columns", "--features",
		"Training.LearningRate", "--learning-rate",
		"Training.ClipNorm", "--clip-norm",
		"Training.ValidationShare", "--validation",
		"Training.BatchSize", "--batch-size",
		"Training.Epochs", "--epochs",
	).Replace(text)
}

// trainingError is an error of package native in the words of the command.
type trainingError struct{ error }

func (e trainingError) Error() string { return trainingInFlags(e.error.Error()) }
func (e trainingError) Unwrap() error { return e.error }
