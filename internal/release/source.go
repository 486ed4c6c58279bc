package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// executable is the package that is delivered.
const executable = "./cmd/hubcli"

// moduleRoot is the folder of go.mod, so that the command works from any folder of
// the module.
func moduleRoot(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("go env GOMOD: %w", err)
	}
	root, ok := strings.CutSuffix(strings.TrimSpace(string(out)), "go.mod")
	if !ok || root == "" {
		return "", errors.New("run it inside the module")
	}
	return filepath.Clean(root), nil
}

// source says which sources are built.
type source struct {
	version string    // of the release, such as 0.1.0
	commit  string    // 12 digits, with .dirty if files have changed; empty outside a repository
	time    time.Time // of the commit; every file in the archives has it
}

// sourceOf reads the number of the release, and asks git for the commit. Without a
// repository the time is the environment's SOURCE_DATE_EPOCH, or the earliest that a
// zip file can hold.
func sourceOf(ctx context.Context, root string) (source, error) {
	number, err := os.ReadFile(filepath.Join(root, "internal", "program", "VERSION"))
	if err != nil {
		return source{}, err
	}
	s := source{version: strings.TrimSpace(string(number)), time: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)}
	if epoch, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64); err == nil {
		s.time = time.Unix(epoch, 0).UTC()
	}
	head, err := git(ctx, root, "log", "-1", "--format=%H %ct")
	if err != nil {
		return s, nil // a source archive
	}
	hash, stamp, _ := strings.Cut(strings.TrimSpace(head), " ")
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil || len(hash) < 12 {
		return s, fmt.Errorf("git names the commit %q", head)
	}
	s.commit, s.time = hash[:12], time.Unix(seconds, 0).UTC()
	changed, err := git(ctx, root, "status", "--porcelain")
	if err != nil {
		return s, err
	}
	if changed != "" {
		s.commit += ".dirty"
	}
	return s, nil
}

func git(ctx context.Context, root string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = root
	out, err := cmd.Output()
	return string(out), err
}

// goCommand prepares a go command in root whose answer depends on nothing but the
// sources: flags and settings of the user do not reach it.
func goCommand(ctx context.Context, root, platform string, args ...string) *exec.Cmd {
	goos, goarch, _ := strings.Cut(platform, "/")
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0",
		"GOFLAGS=", "GOWORK=off", "GOEXPERIMENT=", "GOAMD64=v1", "GOARM64=v8.0")
	return cmd
}

// output runs cmd and puts what it complains of into the error.
func output(cmd *exec.Cmd) ([]byte, error) {
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, bytes.TrimSpace(complaint.Bytes()))
	}
	return out, nil
}
