package main

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write testdata/neon.txt anew, by llvm-mc")

const wordsPath = "testdata/neon.txt"

// emitted are the instructions that files have as numbers, by their text.
func emitted(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	line := regexp.MustCompile(`^\tWORD \$0x([0-9a-f]{8}) // (.*)$`)
	for name, text := range files() {
		for l := range strings.Lines(string(text)) {
			m := line.FindStringSubmatch(strings.TrimSuffix(l, "\n"))
			if m == nil {
				if strings.Contains(l, "WORD") {
					t.Errorf("%s: %q says not what it is", name, l)
				}
				continue
			}
			if before, ok := out[m[2]]; ok && before != m[1] {
				t.Errorf("%s is %s and %s", m[2], before, m[1])
			}
			out[m[2]] = m[1]
		}
	}
	return out
}

// TestWords: instructions written as numbers are those that another assembler makes of their
// text. What it made is in testdata/neon.txt; where llvm-mc is, it is asked again.
func TestWords(t *testing.T) {
	got := emitted(t)
	if len(got) == 0 {
		t.Fatal("no instructions")
	}
	if *update {
		var text strings.Builder
		made := assembled(t, slices.Sorted(maps.Keys(got)))
		for _, k := range slices.Sorted(maps.Keys(made)) {
			fmt.Fprintln(&text, made[k], k)
		}
		if err := os.WriteFile(wordsPath, []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	committed, err := os.ReadFile(wordsPath)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for l := range strings.Lines(string(committed)) {
		code, text, _ := strings.Cut(strings.TrimSuffix(l, "\n"), " ")
		want[text] = code
	}
	compareWords(t, wordsPath, got, want)
	if _, err := exec.LookPath("llvm-mc"); err != nil {
		t.Log("llvm-mc is not here: SKIPPED asking it again")
		return
	}
	compareWords(t, "llvm-mc", got, assembled(t, slices.Sorted(maps.Keys(got))))
}

func compareWords(t *testing.T, judge string, got, want map[string]string) {
	t.Helper()
	for text, code := range got {
		if want[text] != code {
			t.Errorf("%s: %q is %s here, %q there", judge, text, code, want[text])
		}
	}
	if len(got) != len(want) {
		t.Errorf("%s: %d instructions here, %d there (go test ./internal/base/kernel/gen -update writes them)", judge, len(got), len(want))
	}
}

// assembled asks llvm-mc.
func assembled(t *testing.T, texts []string) map[string]string {
	t.Helper()
	cmd := exec.Command("llvm-mc", "--triple=aarch64", "--show-encoding")
	cmd.Stdin = strings.NewReader(strings.Join(texts, "\n") + "\n")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("llvm-mc: %v: %s", err, stderr.Bytes())
	}
	encoding := regexp.MustCompile(`// encoding: \[0x(..),0x(..),0x(..),0x(..)\]`)
	var codes []string
	for s := bufio.NewScanner(bytes.NewReader(out)); s.Scan(); {
		if m := encoding.FindStringSubmatch(s.Text()); m != nil {
			codes = append(codes, m[4]+m[3]+m[2]+m[1])
		}
	}
	if len(codes) != len(texts) {
		t.Fatalf("llvm-mc made %d instructions of %d", len(codes), len(texts))
	}
	made := map[string]string{}
	for i, text := range texts {
		made[text] = codes[i]
	}
	return made
}
