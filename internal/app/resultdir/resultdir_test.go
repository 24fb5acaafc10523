package resultdir

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pho-go/pho/decompose"
)

// Moments that differ from those that were written are found by their digest.
func TestCheckMoments(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, Moments), []byte("abc"), 0o666); err != nil {
		t.Fatal(err)
	}
	r := &decompose.Result{MomentsSHA256: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"} // FIPS 180-2, B.1
	if err := checkMoments(dir, r); err != nil {
		t.Error(err)
	}
	r.MomentsSHA256 = strings.Repeat("0", 64)
	if err := checkMoments(dir, r); err == nil || !strings.Contains(err.Error(), Moments) {
		t.Errorf("other moments: %v", err)
	}
	if err := checkMoments(t.TempDir(), r); err == nil {
		t.Error("no moments: no error")
	}
}
