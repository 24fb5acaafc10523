package plan_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pho-go/pho/internal/app/plan"
	"github.com/pho-go/pho/internal/base/durable"
)

// What a Create that was killed leaves is no obstacle; anything else in a directory is.
func TestCreateAgain(t *testing.T) {
	for _, c := range []struct {
		file    string
		refused bool
	}{
		{"", false},
		{filepath.Base(durable.TempName(plan.File)), false},
		{filepath.Base(durable.TempName("other")), true},
		{"totals/fit.pho", true},
		{plan.File, true}, // empty: not a plan
	} {
		dir := t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, "totals"), 0o777); err != nil {
			t.Fatal(err)
		}
		if c.file != "" {
			if err := os.WriteFile(filepath.Join(dir, c.file), nil, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		_, err := (&plan.Plan{}).Create(dir)
		if c.refused && (err == nil || !strings.Contains(err.Error(), "neither empty nor a plan")) || !c.refused && err != nil {
			t.Errorf("%q: %v", c.file, err)
		}
	}
}
