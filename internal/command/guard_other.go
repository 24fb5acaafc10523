//go:build !unix

package command

import "runtime/debug"

// guard makes sure that a failure of the runtime cannot be taken for a wrong call, whose status it would have.
func guard() { debug.SetTraceback("crash") }
