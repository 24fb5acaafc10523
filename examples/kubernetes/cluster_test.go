package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The Jobs' processes are started in any order, some twice at a time, killed at a hundred moments and
// repeated: the result has the bytes of one pho decompose.
func TestSameBytes(t *testing.T) {
	if testing.Short() {
		t.Skip("a hundred killed processes take long")
	}
	dir := t.TempDir()
	program := build(t, dir)
	data, work := filepath.Join(dir, "data"), filepath.Join(dir, "work")
	table(t, program, dir, data)
	if err := os.Mkdir(work, 0o777); err != nil {
		t.Fatal(err)
	}
	jobs, err := readJobs("manifests")
	if err != nil {
		t.Fatal(err)
	}
	c := &cluster{program: program, volumes: map[string]string{"data": data, "work": work}, random: rand.New(rand.NewPCG(uint64(os.Getpid()), 2)), log: t.Output()}
	c.unkind(100)
	if err := c.workflow(t.Context(), jobs); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d processes, %d killed, %d started twice", c.started, c.killed, c.twice)
	if c.killed < 100 || c.twice == 0 {
		t.Errorf("%d processes were killed and %d started twice: too few", c.killed, c.twice)
	}
	direct := filepath.Join(work, "direct")
	run1(t, program, "decompose", "--model="+filepath.Join(data, "ssn.onnx"), "--data="+filepath.Join(data, "data.csv"), "--response=y", "--out="+direct)
	same(t, filepath.Join(work, "result"), direct)
	var all []byte
	for i := range *jobs["apply"].Spec.Completions {
		all = append(all, read(t, filepath.Join(work, fmt.Sprintf("contributions-%d.csv", i)))...)
	}
	if !bytes.Equal(all, read(t, filepath.Join(direct, "contributions.csv"))) {
		t.Error("the contributions of the shards are not contributions.csv")
	}
}

// Wrong usage is not tried again.
func TestUsageEndsTheJob(t *testing.T) {
	jobs, err := readJobs("manifests")
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "pho")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho no such flag >&2; exit 2\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	c := &cluster{program: program, random: rand.New(rand.NewPCG(1, 2)), log: t.Output()}
	if _, err := c.runJob(t.Context(), jobs["fit-total"]); err == nil || !strings.Contains(err.Error(), "no such flag") || c.started != 1 {
		t.Errorf("%d processes, %v", c.started, err)
	}
}

func build(t *testing.T, dir string) string {
	t.Helper()
	program := filepath.Join(dir, "pho")
	cmd := exec.Command("go", "build", "-C", "../..", "-o", program, "./cmd/pho")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return program
}

// table leaves the network of pho demo, and its rows a dozen times, in data.
func table(t *testing.T, program, dir, data string) {
	t.Helper()
	demo := filepath.Join(dir, "demo")
	run1(t, program, "demo", "--out="+demo)
	header, rows, _ := bytes.Cut(read(t, filepath.Join(demo, "data.csv")), []byte("\n"))
	if err := os.Mkdir(data, 0o777); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(data, "data.csv"), append(append(header, '\n'), bytes.Repeat(rows, 12)...))
	write(t, filepath.Join(data, "ssn.onnx"), read(t, filepath.Join(demo, "ssn.onnx")))
}

func run1(t *testing.T, program string, args ...string) {
	t.Helper()
	if out, err := exec.Command(program, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", args[0], err, out)
	}
}

// same compares two results, but for how they were run and the contributions.
func same(t *testing.T, got, want string) {
	t.Helper()
	entries, err := os.ReadDir(want)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() == "run.json" || e.Name() == "contributions.csv" {
			continue
		}
		if !bytes.Equal(read(t, filepath.Join(got, e.Name())), read(t, filepath.Join(want, e.Name()))) {
			t.Errorf("%s differs", e.Name())
		}
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Error(err)
	}
	return raw
}

func write(t *testing.T, path string, raw []byte) {
	t.Helper()
	if err := os.WriteFile(path, raw, 0o666); err != nil {
		t.Fatal(err)
	}
}
