package formula

import "errors"

func isName(s string) bool { return s != "" }

// Parse reads a formula.
func Parse(text string) (*Formula, error) { return nil, errors.New("formula: not read yet") }
