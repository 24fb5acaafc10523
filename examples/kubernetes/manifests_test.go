package main

import (
	"os"
	"strconv"
	"strings"
	"testing"

	batch "k8s.io/api/batch/v1"
)

// Every pass has a Job for its shards and one for its total; every Job is what the API takes and
// the work needs (check).
func TestManifests(t *testing.T) {
	jobs, err := readJobs("manifests")
	if err != nil {
		t.Fatal(err)
	}
	shards := shardsOf(t, jobs["plan"])
	for _, name := range []string{"scan", "fit", "explain", "pairs", "apply"} {
		job := jobs[name]
		if job == nil || !indexed(job) {
			t.Fatalf("%s.yaml is no Indexed Job", name)
		}
		if int(*job.Spec.Completions) != shards {
			t.Errorf("%s.yaml: %d completions of %d shards", name, *job.Spec.Completions, shards)
		}
		if name != "apply" && (jobs[name+"-total"] == nil || indexed(jobs[name+"-total"])) {
			t.Errorf("pass %s: no Job adds up its parts", name)
		}
	}
}

// shardsOf is the value of --shards.
func shardsOf(t *testing.T, job *batch.Job) int {
	t.Helper()
	for _, a := range job.Spec.Template.Spec.InitContainers[0].Args {
		if text, ok := strings.CutPrefix(a, "--shards="); ok {
			n, err := strconv.Atoi(text)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	t.Fatal("the plan does not say how many shards there are")
	return 0
}

// What is wrong with a manifest is said.
func TestCheck(t *testing.T) {
	raw, err := os.ReadFile("manifests/fit.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ old, new, want string }{
		{"completionMode", "completionmode", "unknown field"},
		{"restartPolicy: Never", "restartPolicy: OnFailure", "restartPolicy"},
		{"values: [2]", "values: [3]", "wrong usage"},
		{"completions: 16", "", "no completions"},
		{"backoffLimitPerIndex: 10", "backoffLimit: 10", "backoffLimitPerIndex"},
		{"--shard=$(JOB_COMPLETION_INDEX)", "--shard=0", ""}, // still in --out
		{"$(JOB_COMPLETION_INDEX)", "0", "JOB_COMPLETION_INDEX"},
		{"name: work, mountPath", "name: wrok, mountPath", "wrok"},
		{"limits: {memory: 4Gi}", "limits: {cpu: 1}", "memory"},
		{"completionMode: Indexed", "completionMode: NonIndexed", "not Indexed"},
		{"parallelism: 8", "parallelism: 8\n  parallelism: 9", "already"},
	} {
		if !strings.Contains(string(raw), c.old) {
			t.Fatalf("%q is not in the manifest", c.old)
		}
		_, err := readJob([]byte(strings.ReplaceAll(string(raw), c.old, c.new)))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%q for %q: %v, want %q", c.new, c.old, err, c.want)
		}
	}
}
