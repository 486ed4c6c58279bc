package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"hubcli/internal/testprogram"
)

// bareWord stands before the steps that run as on a machine that has what the README asks for
// and no more: see bare. Alone it runs what "make test" runs.
const bareWord = "bare"

// basePrograms are those that every Unix has, with the compilers that the README asks for. On a
// bare machine there is no other program.
const basePrograms = `[ awk bash basename cat chgrp chmod chown cksum cmp comm cp cut dash date dd df diff dirname du echo egrep env expr
	false fgrep find getconf grep groups gunzip gzip head hostname id install join kill ln ls losetup md5sum mkdir mkfifo mknod mktemp
	more mount mv nice nl nohup nproc od paste perl printf pwd readlink realpath rm rmdir sed seq setsid sh sha256sum sleep sort split
	stat stty sync tail tar tee test timeout touch tr true truncate tty umount uname uniq unlink users wc which xargs yes
	ar as cc gcc git ld make`

// bareVariables lead tests to programs that PATH does not have, or to a session of a desktop.
var bareVariables = []string{
	"DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR", "DISPLAY", "WAYLAND_DISPLAY", "CHROMIUM", "CHROME_PATH", "CHROME_BIN",
	"PUPPETEER_EXECUTABLE_PATH", "PLAYWRIGHT_BROWSERS_PATH", "PUPPETEER_CACHE_DIR",
}

// bare takes everything from this process that a bare machine lacks: PATH leads to a folder
// with links to the base programs, Go and Python alone, and browsers are looked for nowhere
// else. The returned function removes the folder.
func bare(ctx context.Context) (restore func() error, err error) {
	if runtime.GOOS == "windows" {
		return nil, errors.New("the step bare needs a Unix")
	}
	python, err := findPython(ctx)
	if err != nil {
		return nil, err
	}
	goroot, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("go env GOROOT: %w", err)
	}
	dir, err := os.MkdirTemp("", "hubcli-bare-")
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}()
	if err := fillBare(dir, strings.TrimSpace(string(goroot)), python.Executable); err != nil {
		return nil, err
	}
	for _, name := range bareVariables {
		if err := os.Unsetenv(name); err != nil {
			return nil, err
		}
	}
	// An engine that is named is the only one that is used, and browsers are looked for in
	// folders beside those of PATH.
	for name, value := range map[string]string{"PATH": dir, "PYTHON": python.Executable, "HUBCLI_BROWSER": filepath.Join(dir, "no-browser")} {
		if err := os.Setenv(name, value); err != nil {
			return nil, err
		}
	}
	return func() error { return os.RemoveAll(dir) }, nil
}

// fillBare puts the programs of a bare machine into a folder.
func fillBare(dir, goroot, python string) error {
	var problems []error
	for name := range strings.FieldsSeq(basePrograms) {
		if path, err := exec.LookPath(name); err == nil {
			path, err = filepath.Abs(path)
			problems = append(problems, err, os.Symlink(path, filepath.Join(dir, name)))
		}
	}
	for _, name := range []string{"go", "gofmt"} {
		problems = append(problems, os.Symlink(filepath.Join(goroot, "bin", name), filepath.Join(dir, name)))
	}
	// An interpreter that is started by a link would make environments that need the link.
	script := "#!/bin/sh\nexec '" + strings.ReplaceAll(python, "'", `'\''`) + "' \"$@\"\n"
	problems = append(problems, os.WriteFile(filepath.Join(dir, "python3"), []byte(script), 0o700))
	return errors.Join(problems...)
}

// bareProblems are what a run on a bare machine shows beside tests that failed: a test that was
// skipped without a reason, and a program that no test lacked, so that either nothing looks
// for it any more or the machine was not bare.
func bareProblems(skips []skip) error {
	byProgram, silent := wanted(skips)
	var problems []error
	for _, test := range silent {
		problems = append(problems, fmt.Errorf("%s was skipped and does not say what it needs", test))
	}
	for _, p := range testprogram.All() {
		if len(byProgram[p.Name]) == 0 {
			problems = append(problems, fmt.Errorf("no test was skipped for want of %s: nothing looks for it, or this machine was not bare", p.Name))
		}
	}
	return errors.Join(problems...)
}

// missingPackages are the packages of Debian with programs that tests look for and that are not
// installed here. Browser engines are not among them.
func missingPackages() []string {
	var packages []string
	seen := map[string]bool{}
	for _, p := range testprogram.All() {
		if _, err := exec.LookPath(p.Name); err != nil && p.Name != testprogram.Browser && !seen[p.Debian] {
			seen[p.Debian] = true
			packages = append(packages, p.Debian)
		}
	}
	return packages
}
