package report_test

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/pho-go/pho/decompose"
)

// TestDocsListFields: docs/report.md names every field of the stored rows.
func TestDocsListFields(t *testing.T) {
	page, err := os.ReadFile("../docs/report.md")
	must(t, err)
	for _, of := range []reflect.Type{reflect.TypeFor[decompose.Examples](), reflect.TypeFor[decompose.Example](), reflect.TypeFor[decompose.ExampleParts]()} {
		for i := range of.NumField() {
			name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
			if !strings.Contains(string(page), "`"+name+"`") {
				t.Errorf("%s of %s is not in docs/report.md", name, of.Name())
			}
		}
	}
}
