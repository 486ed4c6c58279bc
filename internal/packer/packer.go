// Package packer builds hubcli as it is delivered: cmd/packed, which carries the whole program of cmd/hubcli. It runs
// the go command and keeps nothing but the file that it is asked for.
package packer

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// The packages that are built.
const (
	Whole   = "./cmd/hubcli"
	carrier = "./cmd/packed"
)

// Options say what is built.
type Options struct {
	Root     string   // of the module
	Platform string   // as GOOS/GOARCH
	Out      string   // the file that is written; its folder is made
	Link     []string // flags of the linker, for both programs
	Flags    []string // of go build, for both programs, such as -trimpath
	Commit   string   // 12 digits; empty: the go command finds out
	Date     string   // the day of the commit; empty: not known
	// Go prepares a go command in Root for the platform; nil: with the environment of this process.
	Go func(ctx context.Context, args ...string) *exec.Cmd
}

// Build writes the executable. On a system where a process cannot become another program it is the whole program
// alone.
func Build(ctx context.Context, o Options) (err error) {
	goos, goarch, ok := strings.Cut(o.Platform, "/")
	if !ok {
		return fmt.Errorf("%q is no platform", o.Platform)
	}
	if o.Go == nil {
		o.Go = func(ctx context.Context, args ...string) *exec.Cmd {
			cmd := exec.CommandContext(ctx, "go", args...)
			cmd.Dir = o.Root
			cmd.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0")
			return cmd
		}
	}
	module, err := o.Go(ctx, "list", "-m").Output()
	if err != nil {
		return fmt.Errorf("go list -m: %w", err)
	}
	variables := strings.TrimSpace(string(module)) + "/internal/program." // of the linker
	if o.Commit != "" {
		o.Link = append(o.Link, "-X "+variables+"commit="+o.Commit)
		if o.Date != "" {
			o.Link = append(o.Link, "-X "+variables+"date="+o.Date)
		}
	}
	out, err := filepath.Abs(o.Out)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
		return err
	}
	if goos == "windows" {
		return o.build(ctx, Whole, out, nil)
	}
	dir, err := os.MkdirTemp("", "hubcli-pack-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	whole := filepath.Join(dir, "whole")
	if err := o.build(ctx, Whole, whole, nil, "-X "+variables+"carried=1", "-s", "-w"); err != nil {
		return err
	}
	program, err := os.ReadFile(whole)
	if err != nil {
		return err
	}
	packed, err := compress(program)
	if err != nil {
		return err
	}
	overlay, err := o.overlay(dir, packed)
	if err != nil {
		return err
	}
	digest := fmt.Sprintf("-X main.digest=%x", sha256.Sum256(program))
	made := filepath.Join(dir, "packed")
	if err := o.build(ctx, carrier, made, []string{"-tags=carries", "-overlay=" + overlay}, digest); err != nil {
		return err
	}
	return place(made, out)
}

// pieceBytes is how much of the program is written at once. Linux keeps what is written in one call in one piece of
// memory, and maps it with one fault: pieces of a page, as a linker writes them, cost a hook a fifth of its
// processor time, and pieces of a MiB cost it half as much memory again.
const pieceBytes = 64 << 10

// place writes a program under its name, in one step for those that start it.
func place(made, out string) (err error) {
	from, err := os.Open(made)
	if err != nil {
		return err
	}
	defer from.Close()
	part := out + ".part"
	to, err := os.OpenFile(part, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o755)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(part)
		}
	}()
	_, err = io.CopyBuffer(struct{ io.Writer }{to}, struct{ io.Reader }{from}, make([]byte, pieceBytes)) // no shortcut of the system
	if err = errors.Join(err, to.Chmod(0o755), to.Close()); err != nil {
		return err
	}
	return os.Rename(part, out)
}

// build runs go build for a package.
func (o *Options) build(ctx context.Context, pkg, out string, flags []string, link ...string) error {
	args := append([]string{"build", "-trimpath"}, o.Flags...)
	args = append(append(args, flags...), "-ldflags="+strings.Join(append(link, o.Link...), " "), "-o", out, pkg)
	if said, err := o.Go(ctx, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("go build %s: %w\n%s", pkg, err, bytes.TrimSpace(said))
	}
	return nil
}

// overlay puts a file beside the sources of the carrier for one build, and returns what the go command is told
// of that: nothing is written among the sources.
func (o *Options) overlay(dir string, packed []byte) (string, error) {
	file, list := filepath.Join(dir, "whole.gz"), filepath.Join(dir, "overlay.json")
	root, err := filepath.Abs(o.Root)
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(map[string]map[string]string{"Replace": {filepath.Join(root, "cmd", "packed", "whole.gz"): file}})
	if err != nil {
		return "", err
	}
	return list, errors.Join(os.WriteFile(file, packed, 0o600), os.WriteFile(list, text, 0o600))
}

// compress packs a program. The result depends on nothing else.
func compress(program []byte) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := z.Write(program); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
