package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	core "k8s.io/api/core/v1"
)

// ended is how a container's process ended.
type ended struct {
	out     string
	said    string // on standard error
	status  int    // -1 if it was killed
	seconds float64
}

// runContainer runs a container's command as a process with the volumes' directories in place of
// where they are mounted. After the delay, if there is one, it is killed.
func (c *cluster) runContainer(ctx context.Context, container *core.Container, env map[string]string, delay time.Duration) (*ended, error) {
	args := make([]string, len(container.Args))
	for i, a := range container.Args {
		args[i] = c.mounted(container, expand(a, env))
	}
	if container.Command[0] != "pho" {
		return nil, fmt.Errorf("container %q runs %q: only pho can be run here", container.Name, container.Command)
	}
	cmd := exec.CommandContext(ctx, c.program, append(container.Command[1:len(container.Command):len(container.Command)], args...)...)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	cmd.Env = append(cmd.Environ(), "GOMAXPROCS=2")
	for name, value := range env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	begun := time.Now()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	if delay > 0 {
		killer := time.AfterFunc(delay, func() { _ = cmd.Process.Kill() })
		defer killer.Stop()
	}
	err := cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return &ended{out.String(), said.String(), cmd.ProcessState.ExitCode(), time.Since(begun).Seconds()}, nil
}

// mounted is an argument with the directory of a volume in place of its mount path.
func (c *cluster) mounted(container *core.Container, arg string) string {
	flag, path, isFlag := strings.Cut(arg, "=")
	if !isFlag {
		flag, path = "", arg
	}
	for _, m := range container.VolumeMounts {
		if dir, ok := c.volumes[m.Name]; ok && strings.HasPrefix(path+"/", m.MountPath+"/") {
			path = dir + strings.TrimPrefix(path, m.MountPath)
			break
		}
	}
	if isFlag {
		return flag + "=" + path
	}
	return path
}

// expand puts the values of variables in place of $(NAME), as the kubelet does; $(OTHER) stays.
func expand(text string, env map[string]string) string {
	for name, value := range env {
		text = strings.ReplaceAll(text, "$("+name+")", value)
	}
	return text
}

// environment is what a container's manifest sets, and the index of an Indexed Job's pod.
func environment(container *core.Container, index string) map[string]string {
	env := map[string]string{}
	for _, v := range container.Env {
		env[v.Name] = v.Value
	}
	if index != "" {
		env[indexVariable] = index
	}
	return env
}
