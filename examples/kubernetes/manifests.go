package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// readJobs reads the Jobs of a directory, by name of the file without its ending. Other
// kinds are passed over; a field that the API does not have is an error.
func readJobs(dir string) (map[string]*batch.Job, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil || len(paths) == 0 {
		return nil, fmt.Errorf("%q has no manifests: %w", dir, errors.Join(err, os.ErrNotExist))
	}
	jobs := map[string]*batch.Job{}
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		for _, document := range bytes.Split(raw, []byte("\n---\n")) {
			job, err := readJob(document)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
			if job != nil {
				jobs[strings.TrimSuffix(filepath.Base(path), ".yaml")] = job
			}
		}
	}
	return jobs, nil
}

// readJob decodes a document strictly; nil if it is a claim of storage.
func readJob(document []byte) (*batch.Job, error) {
	var kind meta.TypeMeta
	if err := yaml.Unmarshal(document, &kind); err != nil {
		return nil, err
	}
	switch kind.APIVersion + " " + kind.Kind {
	case "v1 PersistentVolumeClaim":
		return nil, decode(document, new(core.PersistentVolumeClaim))
	case "batch/v1 Job":
		job := new(batch.Job)
		if err := decode(document, job); err != nil {
			return nil, err
		}
		return job, check(job)
	}
	return nil, fmt.Errorf("a %s of %s is not expected here", kind.Kind, kind.APIVersion)
}

// decode is as strict as the API server with fieldValidation: Strict: fields that v does not have,
// or in other case, or twice, are errors.
func decode(document []byte, v any) error {
	raw, err := yaml.YAMLToJSONStrict(document)
	if err != nil {
		return err
	}
	strict, err := json.UnmarshalStrict(raw, v)
	return errors.Join(append(strict, err)...)
}

const (
	indexVariable = "JOB_COMPLETION_INDEX"
	usageStatus   = 2 // of the program, for wrong usage
)

// check says what the API server, or the work, would make of the Job.
func check(job *batch.Job) error {
	var faults []error
	must := func(ok bool, format string, args ...any) {
		if !ok {
			faults = append(faults, fmt.Errorf(format, args...))
		}
	}
	pod := &job.Spec.Template.Spec
	must(job.Name != "", "it has no name")
	must(pod.RestartPolicy == core.RestartPolicyNever, "restartPolicy is %q: a podFailurePolicy needs Never", pod.RestartPolicy)
	must(usageFailsJob(job), "wrong usage, exit status %d, is tried again: it needs a rule of podFailurePolicy with FailJob", usageStatus)
	if indexed(job) {
		must(job.Spec.Completions != nil && *job.Spec.Completions > 0, "it is Indexed and has no completions")
		must(job.Spec.BackoffLimitPerIndex != nil, "it is Indexed and has no backoffLimitPerIndex: failures of all shards would share a limit")
		must(len(pod.Containers) == 1, "%d containers; a shard needs one", len(pod.Containers))
	} else {
		must(job.Spec.Completions == nil && job.Spec.Parallelism == nil, "it is not Indexed and has completions or parallelism")
		must(job.Spec.BackoffLimit != nil, "it has no backoffLimit")
	}
	for _, c := range slices.Concat(pod.InitContainers, pod.Containers) {
		faults = append(faults, checkContainer(pod, &c, indexed(job))...)
	}
	return errors.Join(faults...)
}

func checkContainer(pod *core.PodSpec, c *core.Container, indexed bool) (faults []error) {
	must := func(ok bool, format string, args ...any) {
		if !ok {
			faults = append(faults, fmt.Errorf("container %q: "+format, append([]any{c.Name}, args...)...))
		}
	}
	must(len(c.Command) > 0, "it has no command")
	must(!c.Resources.Requests.Memory().IsZero() && !c.Resources.Limits.Memory().IsZero(), "it asks for no memory, or has no limit")
	must(slices.ContainsFunc(c.Args, func(a string) bool { return strings.Contains(a, "$("+indexVariable+")") }) == indexed,
		"$(%s) is for the pods of an Indexed Job, and each needs it", indexVariable)
	for _, m := range c.VolumeMounts {
		must(slices.ContainsFunc(pod.Volumes, func(v core.Volume) bool { return v.Name == m.Name }), "volume %q is not one of the pod's", m.Name)
	}
	return faults
}

func indexed(job *batch.Job) bool {
	return job.Spec.CompletionMode != nil && *job.Spec.CompletionMode == batch.IndexedCompletion
}

// usageFailsJob reports whether the program's status for wrong usage ends the Job, from
// whichever container.
func usageFailsJob(job *batch.Job) bool {
	if job.Spec.PodFailurePolicy == nil {
		return false
	}
	for _, r := range job.Spec.PodFailurePolicy.Rules {
		e := r.OnExitCodes
		if r.Action == batch.PodFailurePolicyActionFailJob && e != nil && e.ContainerName == nil &&
			e.Operator == batch.PodFailurePolicyOnExitCodesOpIn && slices.Contains(e.Values, usageStatus) {
			return true
		}
	}
	return false
}
