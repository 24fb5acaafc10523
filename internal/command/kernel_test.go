package command

import (
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/cpu"

	"github.com/pho-go/pho/internal/app/plan"
	"github.com/pho-go/pho/internal/app/resultdir"
	"github.com/pho-go/pho/internal/base/kernel"
)

// A machine without the plan's kernels refuses; told to go on, it comes to results that agree,
// though its own terms would be others in their last digits.
func TestOtherKernel(t *testing.T) {
	if runtime.GOARCH != "amd64" || !cpu.X86.HasAVX2 || !cpu.X86.HasFMA {
		t.Skip("this machine has no vector instructions to do without")
	}
	if testing.Short() {
		t.Skip("processes with other instructions")
	}
	for precision, most := range map[string]float64{"float64": 1e-11, "float32": 1e-6} {
		t.Run(precision, func(t *testing.T) {
			t.Parallel()
			off := otherKernel(t, precision)
			t.Logf("curves are off by %.1e", off)
			if !(off < most) {
				t.Errorf("curves are off by %.1e", off)
			}
		})
	}
}

// otherKernel is how far curves are off if one of two shards is read without vector instructions.
func otherKernel(t *testing.T, precision string) float64 {
	h := shards{temp: t.TempDir(), n: 2, random: rand.New(rand.NewPCG(1, 1))}
	data := h.place("rows.csv")
	write(t, data, rows(9000))
	args := []string{"--model", golden("ssn_op13"), "--data", data, "--input", "x=x0..x4", "--formula", "~ s(x3)", "--interactions", "none", "--precision", precision}
	done(t, append([]string{"decompose", "--out", h.place("whole")}, args...)...)
	done(t, append([]string{"plan", "--shards", "2", "--out", h.place("plan")}, args...)...)
	plain := func(args ...string) (string, error) {
		cmd, stderr := process(args...)
		cmd.Env = append(cmd.Env, "GODEBUG=cpu.avx2=off")
		err := cmd.Run()
		return stderr.String(), err
	}
	for pass := h.next(t); pass != ""; pass = h.next(t) {
		here, there, total := h.part(t, pass, 0), h.place(pass+"-there"), h.place(pass+"-total")
		shard := []string{"accumulate", "--plan", h.place("plan"), "--pass", pass, "--shard", "1", "--out", there}
		if said, err := plain(shard...); err == nil || !strings.Contains(said, "plain/amd64") || exists(there) {
			t.Fatalf("%s without the plan's kernels: %v\n%s", pass, err, said)
		}
		if said, err := plain(append(shard, "--any-kernel")...); err != nil {
			t.Fatalf("%s: %v\n%s", pass, err, said)
		}
		done(t, "merge", here, there, "--out", total)
		if part, err := plan.ReadPart(total); err != nil || part.Kernel != "mixed" {
			t.Errorf("%s: the sum is of kernels %q, %v", pass, part.Kernel, err)
		}
		switch pass {
		case plan.Scan:
			done(t, "plan", "--plan", h.place("plan"), "--scan", total)
		case plan.Fit:
			done(t, "solve", "--plan", h.place("plan"), "--statistics", total, "--out", h.place("result"))
		default:
			done(t, "solve", "--plan", h.place("plan"), "--"+pass, total, "--out", h.place("result"))
		}
	}
	return effectsOff(t, h.place("result"), h.place("whole"))
}

// A plan in float32 made on matrix units is for processors that have them; one made without goes on
// everywhere, without. In float64 there is no difference.
func TestMatrixUnitsKernel(t *testing.T) {
	h := shards{temp: t.TempDir(), n: 1, random: rand.New(rand.NewPCG(1, 1))}
	data := h.place("rows.csv")
	write(t, data, rows(200))
	args := []string{"plan", "--shards", "1", "--model", golden("ssn_op13"), "--data", data, "--input", "x=x0..x4", "--formula", "~ s(x3)", "--interactions", "none"}
	done(t, append(args, "--out", h.place("double"))...)
	done(t, append(args, "--precision", "float32", "--out", h.place("single"))...)
	double, single := kernelOf(t, h.place("double")), kernelOf(t, h.place("single"))
	units, without := kernel.Family(true), kernel.Family(false)
	if double != without || single != kernel.Family(kernel.MatrixUnits()) {
		t.Errorf("plans are of kernels %q and %q", double, single)
	}
	if !kernel.MatrixUnits() {
		path := filepath.Join(h.place("single"), plan.File)
		write(t, path, strings.Replace(read(t, h.place("single"), plan.File), without, units, 1))
		out := call(t, "accumulate", "--plan", h.place("single"), "--pass", plan.Scan, "--shard", "0", "--out", h.place("part"))
		if out.status == exitDone || !strings.Contains(out.err, fmt.Sprintf("%q, and this machine has %q", units, without)) {
			t.Errorf("a plan of kernels %q: status %d\n%s", units, out.status, out.err)
		}
		return
	}
	elsewhere, stderr := process(append(args, "--precision", "float32", "--out", h.place("elsewhere"))...)
	elsewhere.Env = append(elsewhere.Env, "GODEBUG=cpu.amxtile=off")
	if err := elsewhere.Run(); err != nil {
		t.Fatalf("a plan without units: %v\n%s", err, stderr)
	}
	for dir, family := range map[string]string{"single": units, "elsewhere": without} {
		part := h.place("part-" + dir)
		done(t, "accumulate", "--plan", h.place(dir), "--pass", plan.Scan, "--shard", "0", "--out", part)
		if p, err := plan.ReadPart(part); err != nil || p.Kernel != family {
			t.Errorf("a part of kernels %q, want %q (%v)", p.Kernel, family, err)
		}
	}
}

func kernelOf(t *testing.T, dir string) string {
	t.Helper()
	p, err := plan.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return p.Kernel
}

// effectsOff is how far the values and errors of effects.csv are apart, relative to the largest.
func effectsOff(t *testing.T, a, b string) float64 {
	t.Helper()
	x, y := effectNumbers(t, a), effectNumbers(t, b)
	if len(x) != len(y) {
		t.Fatalf("%d and %d numbers", len(x), len(y))
	}
	worst, size := 0.0, 0.0
	for i := range x {
		worst, size = math.Max(worst, math.Abs(x[i]-y[i])), math.Max(size, math.Abs(y[i]))
	}
	return worst / size
}

func effectNumbers(t *testing.T, dir string) (all []float64) {
	t.Helper()
	lines, err := csv.NewReader(strings.NewReader(read(t, dir, resultdir.Effects))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, cells := range lines[1:] {
		for _, cell := range cells {
			if v, err := strconv.ParseFloat(cell, 64); err == nil {
				all = append(all, v)
			}
		}
	}
	if len(all) == 0 {
		t.Fatal(fmt.Errorf("%s has no numbers", dir))
	}
	return all
}
