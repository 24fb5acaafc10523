package main

import (
	"context"
	"encoding/json"
	"fmt"

	batch "k8s.io/api/batch/v1"
)

// next is what `pho plan --json` says comes next.
type next struct {
	Next *struct {
		Pass  string `json:"pass"`
		Round string `json:"round"`
	} `json:"next"`
	Complete bool `json:"complete"`
}

// workflow plans, makes passes until none comes next, and applies: what run.sh does with kubectl.
func (c *cluster) workflow(ctx context.Context, jobs map[string]*batch.Job) error {
	run := func(name string) (string, error) {
		job := jobs[name]
		if job == nil {
			return "", fmt.Errorf("there is no manifest %s.yaml", name)
		}
		said, err := c.runJob(ctx, job)
		if err != nil {
			return "", fmt.Errorf("%s.yaml: %w", name, err)
		}
		return said, nil
	}
	said, err := run("plan")
	for err == nil {
		var at next
		if err := json.Unmarshal([]byte(said), &at); err != nil {
			return fmt.Errorf("what comes next is not JSON: %q: %w", said, err)
		}
		if at.Next == nil {
			if !at.Complete {
				return fmt.Errorf("the plan does not say what comes next: %s", said)
			}
			break
		}
		fmt.Fprintf(c.log, "pass %s %s\n", at.Next.Pass, at.Next.Round)
		if _, err := run(at.Next.Pass); err != nil {
			return err
		}
		said, err = run(at.Next.Pass + "-total")
	}
	if err != nil {
		return err
	}
	_, err = run("apply")
	return err
}
