package export

import (
	"strings"
	"testing"

	"github.com/pho-go/pho/internal/base/onnxpb"
)

// A file larger than the format holds is refused.
func TestFits(t *testing.T) {
	b := onnxpb.NewBuilder(13)
	b.AddInit("w", []int{100}, make([]float64, 100)...)
	f := &file{model: b.Model()}
	if err := f.fits(maxFile); err != nil {
		t.Error(err)
	}
	if err := f.fits(400); err == nil || !strings.Contains(err.Error(), "and an ONNX file holds 400") {
		t.Errorf("larger than allowed: %v", err)
	}
}
