package main

import (
	_ "embed"
	"fmt"
	"path"
	"slices"
	"strings"
)

// built is the delivered executable of a platform.
type built struct {
	goos, goarch string
	exe          []byte
}

// program is the executable's name on the platform.
func (b built) program() string {
	if b.goos == "windows" {
		return "hubcli.exe"
	}
	return "hubcli"
}

// folder is the only folder of the platform's archive, and archive the name of that.
func (b built) folder(version string) string {
	return fmt.Sprintf("hubcli-%s-%s-%s", version, b.goos, b.goarch)
}

func (b built) archive(version string) string {
	if b.goos == "windows" {
		return b.folder(version) + ".zip"
	}
	return b.folder(version) + ".tar.gz"
}

// description is what the indexes of packages show.
const description = "Hub through which AI coding agents on one machine work as a team"

// packages makes all that carries the executable of a platform.
func (r *release) packages(b built, shared []file) error {
	makers := []func(built, []file) (string, []byte, error){r.packArchive, r.npmPlatform, r.programWheel}
	if b.goos == "linux" {
		makers = append(makers, r.deb)
	}
	for _, made := range makers {
		name, data, err := made(b, shared)
		if err != nil {
			return err
		}
		r.say("    %s, %.1f MiB", name, float64(len(data))/(1<<20))
		if err := r.write(name, data); err != nil {
			return err
		}
	}
	return nil
}

func (r *release) packArchive(b built, shared []file) (string, []byte, error) {
	files := append(slices.Clone(shared), file{path: b.program(), mode: 0o755, data: b.exe})
	name := b.archive(r.version)
	data, err := pack(name, b.folder(r.version), files, r.time)
	return name, data, err
}

// notice is the file of licenses among the shared ones, which every package has.
func notice(shared []file) ([]byte, error) {
	for _, f := range shared {
		if f.path == noticesFile {
			return f.data, nil
		}
	}
	return nil, fmt.Errorf("there is no %s to pass on", noticesFile)
}

// manuals are the man pages among the shared files.
func manuals(shared []file) []file {
	return slices.DeleteFunc(slices.Clone(shared), func(f file) bool { return path.Dir(f.path) != "man/man1" })
}

//go:embed install.sh
var installScript string

//go:embed Containerfile
var containerFile string

// texts makes what is written once for all platforms: it names archives, which have been made.
func (r *release) texts(builds []built) error {
	filled := strings.NewReplacer("@VERSION@", r.version, "@SITE@", r.place.site, "@KEY@", r.place.key)
	texts := map[string]string{"install.sh": filled.Replace(installScript)}
	if slices.ContainsFunc(builds, func(b built) bool { return b.goos == "linux" }) {
		texts["Containerfile"] = filled.Replace(containerFile)
	}
	formula, err := r.formula(builds)
	if err != nil {
		return err
	}
	if formula != "" {
		texts["hubcli.rb"] = formula
	} else {
		r.say("no formula of Homebrew: that names addresses, which --site gives")
	}
	for name, text := range texts {
		if err := r.write(name, []byte(text)); err != nil {
			return err
		}
	}
	name, data, err := r.npmLauncher(builds)
	if err != nil {
		return err
	}
	return r.write(name, data)
}
