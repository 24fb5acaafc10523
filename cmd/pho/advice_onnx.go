package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/pho-go/pho/adapters/onnx"
)

// optionFlag is the flag that sets a field of onnx.Options.
func optionFlag(option string) string {
	switch option {
	case "MaxOrder":
		return "--max-order"
	case "Deep":
		return "--deep"
	case "Learned":
		return "--learned"
	case "Predictor":
		return "--predictor"
	}
	return "Options." + option
}

// flagWords calls the fields of onnx.Options in a text by the flags that set them.
func flagWords(text string) string {
	for _, option := range []string{"MaxOrder", "Deep", "Learned", "Predictor"} {
		text = strings.ReplaceAll(text, "Options."+option, optionFlag(option))
	}
	return text
}

// networkFlagged says of an error of package onnx which flag helps.
func networkFlagged(err error) error {
	if err == nil {
		return nil
	}
	var option *onnx.OptionError
	var binding *onnx.AmbiguousBindingError
	switch {
	case errors.As(err, &binding):
		advice, which := "name them with", "name its columns"
		flag := "--input NAME=column,... for each"
		if len(binding.Open) == 1 {
			flag = fmt.Sprintf("--input %s=column,...", binding.Open[0].Name)
		} else {
			advice, which = "use", "name the columns of each"
		}
		return said{strings.Replace(err.Error(), which, advice+" "+flag, 1), err}
	case errors.As(err, &option):
		return said{strings.Replace(err.Error(), fmt.Sprintf("Options.%s %q%s", option.Option, option.Value, option.Reason),
			fmt.Sprintf("%s %q%s", optionFlag(option.Option), option.Value, flagWords(option.Reason)), 1), err}
	}
	return said{flagWords(err.Error()), err}
}

// said is an error in other words.
type said struct {
	text string
	error
}

func (s said) Error() string { return s.text }

func (s said) Unwrap() error { return s.error }
