package command

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pho-go/pho/internal/app/plan"
	"github.com/pho-go/pho/internal/app/resultdir"
)

// Checkpoints after every chunk change nothing, a pass that is killed at any moment goes on, and what is there is left.
func TestAccumulateKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("processes that are killed")
	}
	t.Parallel()
	h := shards{temp: t.TempDir(), n: 1, random: rand.New(rand.NewPCG(1, 1))}
	data := h.place("rows.csv")
	write(t, data, rows(60_000))
	done(t, "plan", "--model", golden("ssn_op13"), "--data", data, "--input", "x=x0..x4", "--formula", "~ factor(g):x3", "--interactions", "none", "--shards", "1", "--out", h.place("plan"))
	done(t, "plan", "--plan", h.place("plan"), "--scan", h.total(t, "scan"))
	whole := read(t, h.part(t, "fit", 0))
	out := h.place("part.pho")
	args := []string{"accumulate", "--plan", h.place("plan"), "--pass", "fit", "--shard", "0", "--out", out, "--checkpoint", "1ns", "--workers", "1"}
	began := time.Now()
	cmd, _ := process(args...)
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	took := time.Since(began)
	if read(t, out) != whole {
		t.Error("a part with checkpoints is another")
	}
	if o := done(t, args...); !strings.Contains(o.out, "already") {
		t.Errorf("a part that is there: %q", o.out)
	}
	wentOn := 0
	rounds := 2
	if long() {
		rounds = 10
	}
	for range rounds {
		if err := os.Remove(out); err != nil {
			t.Fatal(err)
		}
		for kill := 0; !exists(out); kill++ {
			cmd, _ := process(args...)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if kill < 4 {
				time.Sleep(time.Duration((0.3 + 0.7*h.random.Float64()) * float64(took)))
				_ = cmd.Process.Kill()
			}
			_ = cmd.Wait()
			if exists(out + checkpointMark) {
				wentOn++
			}
		}
		if read(t, out) != whole {
			t.Error("a part of a pass that was killed is another")
		}
		if exists(out + checkpointMark) {
			done(t, args...)
		}
	}
	t.Logf("%d checkpoints were left by kills", wentOn)
	write(t, out, whole[:len(whole)-1])
	write(t, out+checkpointMark, "damaged")
	done(t, args...)
	if read(t, out) != whole {
		t.Error("a damaged part is left")
	}
}

// A decomposition that is killed at any moment goes on when it is called again, to the same bytes; another
// call is refused.
func TestResume(t *testing.T) {
	if testing.Short() {
		t.Skip("processes that are killed")
	}
	t.Parallel()
	temp := t.TempDir()
	data, whole, dir := filepath.Join(temp, "rows.csv"), filepath.Join(temp, "whole"), filepath.Join(temp, "result")
	write(t, data, rows(30_000))
	args := []string{"decompose", "--model", golden("ssn_op13"), "--data", data, "--input", "x=x0..x4", "--formula", "y ~ s(x3)", "--out"}
	done(t, append(args[:10:10], whole)...)
	resume := append(args[:10:10], dir, "--resume", "--checkpoint", "1ns")
	began := time.Now()
	cmd, _ := process(resume...)
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	took := time.Since(began)
	same := func() {
		t.Helper()
		equalResults(t, dir, whole)
		if read(t, dir, resultdir.Contributions) != read(t, whole, resultdir.Contributions) {
			t.Error("other contributions")
		}
		if exists(dir + resumeMark) {
			t.Error("what was kept is still there")
		}
	}
	same()
	random := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 0))
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	progress := map[int]int{}
	for kill := 0; !exists(dir); kill++ {
		cmd, stderr := process(resume...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if kill < 12 {
			time.Sleep(time.Duration((0.1 + 0.3*random.Float64()) * float64(took)))
			_ = cmd.Process.Kill()
		}
		if err := cmd.Wait(); err != nil && kill >= 12 {
			t.Fatalf("%v\n%s", err, stderr)
		}
		if doc, err := plan.Open(dir + resumeMark); err == nil {
			progress[len(doc.Done)]++
			if kill == 5 {
				o := call(t, append(args[:8:8], "y ~ s(x4)", "--out", dir, "--resume")...)
				if o.status != exitFailed || !strings.Contains(o.err, "--formula") {
					t.Errorf("another call: status %d, %s", o.status, o.err)
				}
			}
		}
	}
	t.Logf("passes that were done at kills: %v", progress)
	if exists(dir + resumeMark) { // killed between the result and the end
		done(t, resume...)
	}
	same()
}
