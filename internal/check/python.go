package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
)

// requirements pins the tools for Python, exactly and with all that they need in
// turn.
const requirements = "python/requirements-dev.txt"

// pythonFolders hold the client and the programs that show it, with their tests.
// ruff finds its rules in them, the same as in an editor.
var pythonFolders = []string{"python", "examples"}

// python checks the form and the types of the Python code.
func python(ctx context.Context) error {
	exe, err := pythonTools(ctx)
	if err != nil {
		return err
	}
	return errors.Join(
		ruff(ctx, exe, "check"),
		ruff(ctx, exe, "format", "--check"),
		mypy(ctx, exe),
	)
}

// reformat rewrites the files as the steps format and python want them.
func reformat(ctx context.Context) error {
	folders, err := ourFolders()
	if err == nil {
		err = command(ctx, nil, "go", tool("gofumpt", append([]string{"-l", "-w"}, folders...)...)...)
	}
	exe, pythonErr := pythonTools(ctx)
	if pythonErr == nil {
		pythonErr = ruff(ctx, exe, "format")
	}
	return errors.Join(err, pythonErr)
}

// ruff runs one of ruff's commands on all pythonFolders. It is run as a
// module, as all tools are: their scripts name the folder in which they were
// installed, modules work wherever that was renamed to.
func ruff(ctx context.Context, exe, verb string, flags ...string) error {
	args := slices.Concat([]string{"-m", "ruff", verb, "--cache-dir=.cache/ruff", "--output-format=concise"}, flags, pythonFolders)
	if err := runPython(ctx, exe, nil, args...); err != nil {
		return fmt.Errorf("ruff %s: %w", verb, err)
	}
	return nil
}

// mypy checks the types of the client, from its source, and of the examples.
func mypy(ctx context.Context, exe string) error {
	err := runPython(ctx, exe, []string{"MYPYPATH=python/src"}, "-m", "mypy", "--strict",
		"--config-file=python/pyproject.toml", "--cache-dir=.cache/mypy", "python/src/hubclient", "examples")
	if err != nil {
		return fmt.Errorf("mypy: %w", err)
	}
	return nil
}

// runPython runs an interpreter so that it writes nothing beside the sources
// and reads nothing that the user installed for himself.
func runPython(ctx context.Context, exe string, env []string, args ...string) error {
	return command(ctx, append([]string{"PYTHONDONTWRITEBYTECODE=1", "PYTHONNOUSERSITE=1", "PYTHONPATH="}, env...), exe, args...)
}

// interpreter is a Python that was found on the machine.
type interpreter struct {
	Executable string `json:"executable"` // absolute
	Version    []int  `json:"version"`    // major, minor, micro
	Venv       bool   `json:"venv"`       // can make virtual environments with pip in them
}

// probe makes an interpreter describe itself; it is understood by every Python 3.
const probe = `
import json, sys
try:
    import ensurepip, venv
    ready = True
except ImportError:
    ready = False
print(json.dumps({"executable": sys.executable, "version": list(sys.version_info[:3]), "venv": ready}))
`

// findPython returns the interpreter that PYTHON names, or else python3.
func findPython(ctx context.Context) (interpreter, error) {
	name := os.Getenv("PYTHON")
	if name == "" {
		name = "python3"
	}
	var found interpreter
	out, err := exec.CommandContext(ctx, name, "-c", probe).Output()
	if err == nil {
		err = json.Unmarshal(out, &found)
	}
	if err != nil {
		return found, fmt.Errorf("%s does not run (%w); the Python client needs Python 3.9 or later: "+
			"install it (Debian: apt-get install python3 python3-venv) or name one with PYTHON=", name, err)
	}
	return found, found.suitable()
}

// suitable says what is missing for the checks, and how it is had.
func (i interpreter) suitable() error {
	if len(i.Version) != 3 || i.Version[0] != 3 || i.Version[1] < 9 {
		return fmt.Errorf("%s is Python %s, the client needs 3.9 or later; name another one with PYTHON=", i.Executable, i)
	}
	if !i.Venv {
		return fmt.Errorf("%s has no module venv or ensurepip, which the checks install their tools with "+
			"(Debian: apt-get install python3-venv)", i.Executable)
	}
	return nil
}

func (i interpreter) String() string {
	s := ""
	for n, part := range i.Version {
		if n > 0 {
			s += "."
		}
		s += fmt.Sprint(part)
	}
	return s
}

// pythonTools returns the interpreter of the virtual environment that holds the
// pinned tools. It is made once for each interpreter and list of requirements,
// beside its place and then renamed, so that what is there is whole and may be
// shared by checks that run at the same time. Nothing is installed into it later.
func pythonTools(ctx context.Context) (string, error) {
	base, err := findPython(ctx)
	if err != nil {
		return "", err
	}
	pins, err := os.ReadFile(requirements)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%v\n%s", base.Executable, base, pins))
	cache, err := filepath.Abs(".cache")
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "python-"+hex.EncodeToString(sum[:6]))
	exe := venvPython(dir)
	if err := exec.CommandContext(ctx, exe, "-c", "").Run(); err == nil {
		fmt.Fprintf(writer(ctx), "Python %v\n", base)
		return exe, nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s does not run (%w): remove the folder %s", exe, err, dir)
	}
	fmt.Fprintf(writer(ctx), "Python %v; installing the tools that %s names into .cache/%s, once\n", base, requirements, filepath.Base(dir))
	return exe, makeVenv(ctx, base, cache, dir)
}

// makeVenv makes the virtual environment dir below cache.
func makeVenv(ctx context.Context, base interpreter, cache, dir string) (err error) {
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return err
	}
	building, err := os.MkdirTemp(cache, filepath.Base(dir)+".")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(building)) }()
	if err := command(ctx, nil, base.Executable, "-m", "venv", building); err != nil {
		return fmt.Errorf("python -m venv: %w", err)
	}
	err = command(ctx, []string{"PYTHONNOUSERSITE=1"}, venvPython(building),
		"-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check", "--requirement", requirements)
	if err != nil {
		return fmt.Errorf("pip could not install what %s names; the first run needs the package index: %w", requirements, err)
	}
	if err := os.Rename(building, dir); err != nil && !isDir(dir) {
		return err
	}
	return nil // renamed, or another check was faster
}

func isDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// venvPython is the interpreter of a virtual environment.
func venvPython(dir string) string {
	if runtime.GOOS == "windows" {
		return filepath.Join(dir, "Scripts", "python.exe")
	}
	return filepath.Join(dir, "bin", "python")
}

// installPackage installs the Python client from its folder into dir, as a user
// would but without the network, and proves that it is found there.
func installPackage(ctx context.Context, exe, dir string) error {
	err := runPython(ctx, exe, nil, "-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check",
		"--no-deps", "--no-build-isolation", "--no-compile", "--target", dir, "./python")
	if err != nil {
		return fmt.Errorf("pip install ./python: %w", err)
	}
	cmd := exec.CommandContext(ctx, exe, "-c", "import hubclient; print(hubclient.__file__)")
	cmd.Env = append(os.Environ(), "PYTHONNOUSERSITE=1", "PYTHONDONTWRITEBYTECODE=1", "PYTHONPATH="+dir)
	cmd.Dir, cmd.Stderr = dir, writer(ctx)
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("the installed package cannot be imported: %w", err)
	}
	file := string(bytes.TrimSpace(out))
	if rel, err := filepath.Rel(dir, file); err != nil || !filepath.IsLocal(rel) {
		return fmt.Errorf("import hubclient finds %s, not what was installed into %s", file, dir)
	}
	return nil
}
