package wiring

// OptionError is a fault of what was asked for.
type OptionError struct {
	Option string // its name in lower case, perhaps with the value: "weights"
	Err    error
}

// Error is the option and its fault.
func (e *OptionError) Error() string { return e.Option + ": " + e.Err.Error() }

// Unwrap is the fault.
func (e *OptionError) Unwrap() error { return e.Err }

func optionError(option string, err error) error {
	if err == nil {
		return nil
	}
	return &OptionError{option, err}
}

// MovedError is a network that is not, or not any more, where the result that was made
// of it says.
type MovedError struct{ Err error }

// Error is the fault of what is there.
func (e *MovedError) Error() string { return e.Err.Error() }

// Unwrap is the fault.
func (e *MovedError) Unwrap() error { return e.Err }

// RefusedError is of a network that cannot be run here, or is none: what it predicts elsewhere can still be
// decomposed (Predictions).
type RefusedError struct{ Err error }

// Error is why.
func (e *RefusedError) Error() string { return e.Err.Error() }

// Unwrap is why.
func (e *RefusedError) Unwrap() error { return e.Err }

// saidError says in words of its own what another error is about.
type saidError struct {
	text string
	err  error
}

func (e *saidError) Error() string { return e.text }
func (e *saidError) Unwrap() error { return e.err }
