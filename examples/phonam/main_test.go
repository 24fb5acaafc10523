package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFile(t *testing.T) {
	golden := filepath.Join("..", "..", "testdata", "golden", "models", "nam_pair")
	raw, err := os.ReadFile(golden + ".json")
	if err != nil {
		t.Fatal(err)
	}
	var doc struct{ X [][]float64 }
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	text := "x0,x1,x2,x3\n"
	for _, row := range doc.X {
		text += strings.Trim(strings.ReplaceAll(fmt.Sprint(row), " ", ","), "[]") + "\n"
	}
	rows := filepath.Join(t.TempDir(), "rows.csv")
	if err := os.WriteFile(rows, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := runFile(t.Context(), &out, golden+".onnx", "x=x0,x1,x2,x3", rows); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"PHONAM learned: ", "PHONAM spline: ", "f(x1,x3) + ti(x1,x3)", "order 2"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}

func TestTrained(t *testing.T) {
	var out strings.Builder
	if err := runTrained(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"PHONAM learned: ", "PHONAM spline: ", "f(x0,x1)", "order 2"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}
