package cloud_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// A plan whose network, data, parts and result are objects comes to the bytes of one decompose
// on a disk.
func TestPlanInStore(t *testing.T) {
	network, table := readAll(t, "../testdata/golden/models/blackbox.onnx"), rows(9000)
	temp := t.TempDir()
	for name, content := range map[string][]byte{"net.onnx": network, "rows.csv": table} {
		if err := os.WriteFile(filepath.Join(temp, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	formula := []string{"--formula", "y ~ s(x1, k=6) + x2"}
	done(t, nil, append([]string{"decompose", "--model", temp + "/net.onnx", "--data", temp + "/rows.csv", "--out", temp + "/result"}, formula...)...)

	p := amazon(t)
	p.put(t, "net.onnx", network)
	p.put(t, "rows.csv", table)
	const shards = 3
	done(t, p.store, append([]string{"plan", "--model", p.url("net.onnx"), "--data", p.url("row*.csv"), "--shards", fmt.Sprint(shards), "--out", p.url("plan")}, formula...)...)
	pass := func(name string) string {
		merge := []string{"merge", "--out", p.url(name + ".pho")}
		for i := range shards {
			part := p.url(fmt.Sprintf("%s-%d.pho", name, i))
			done(t, p.store, "accumulate", "--plan", p.url("plan"), "--pass", name, "--shard", fmt.Sprint(i), "--data", p.url("row*.csv"), "--out", part)
			merge = append(merge, part)
		}
		done(t, p.store, merge...)
		return p.url(name + ".pho")
	}
	flags := map[string][]string{"scan": {"plan", "--scan"}, "fit": {"solve", "--statistics"}, "explain": {"solve", "--explain"}, "pairs": {"solve", "--pairs"}}
	made := map[string]int{}
	for range 10 {
		next := regexp.MustCompile(`next: pass ([a-z]+)`).FindStringSubmatch(done(t, p.store, "plan", "--plan", p.url("plan")).out)
		if next == nil {
			break
		}
		made[next[1]]++
		how := flags[next[1]]
		args := []string{how[0], "--plan", p.url("plan"), how[1], pass(next[1])}
		if how[0] == "solve" {
			args = append(args, "--out", p.url("result"))
		}
		done(t, p.store, args...)
	}
	if made["fit"] != 1 || made["explain"] < 1 {
		t.Error(made)
	}
	entries, err := os.ReadDir(temp + "/result")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() != "run.json" && e.Name() != "contributions.csv" && !bytes.Equal(p.get(t, "result/"+e.Name()), readAll(t, filepath.Join(temp, "result", e.Name()))) {
			t.Errorf("%s differs", e.Name())
		}
	}
}
