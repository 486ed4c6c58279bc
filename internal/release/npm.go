package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
)

//go:embed launcher.js
var launcher string

// npmManifest is package.json. There is no script in it: npm runs nothing when it installs.
type npmManifest struct {
	Name        string            `json:"name"`
	Version     string            `json:"version"`
	Description string            `json:"description"`
	License     string            `json:"license"`
	Bin         map[string]string `json:"bin,omitempty"`
	Engines     map[string]string `json:"engines,omitempty"`
	OS          []string          `json:"os,omitempty"`
	CPU         []string          `json:"cpu,omitempty"`
	Optional    map[string]string `json:"optionalDependencies,omitempty"`
}

// noLicense is what npm is told as long as the owner has chosen no license.
const noLicense = "UNLICENSED"

// npmNames are what Node.js calls a platform.
func npmNames(b built) (system, processor string) {
	system, processor = b.goos, b.goarch
	if system == "windows" {
		system = "win32"
	}
	if processor == "amd64" {
		processor = "x64"
	}
	return system, processor
}

func npmPackage(b built) string {
	system, processor := npmNames(b)
	return "hubcli-" + system + "-" + processor
}

// npmPlatform makes the package that has the executable of one platform. Others are not installed by npm.
func (r *release) npmPlatform(b built, shared []file) (string, []byte, error) {
	system, processor := npmNames(b)
	licenses, err := notice(shared)
	if err != nil {
		return "", nil, err
	}
	return r.npmPack(npmManifest{
		Name: npmPackage(b), Description: fmt.Sprintf("The executable of hubcli for %s on %s; install the package hubcli", system, processor),
		OS: []string{system}, CPU: []string{processor},
	}, file{path: b.program(), mode: 0o755, data: b.exe}, file{path: noticesFile, mode: 0o644, data: licenses})
}

// npmLauncher makes the package that users name. It starts the executable of the package that fits.
func (r *release) npmLauncher(builds []built) (string, []byte, error) {
	fitting := map[string]string{}
	for _, b := range builds {
		fitting[npmPackage(b)] = r.version
	}
	return r.npmPack(npmManifest{
		Name: "hubcli", Description: description, Bin: map[string]string{"hubcli": "launcher.js"}, Engines: map[string]string{"node": ">=16"}, Optional: fitting,
	}, file{path: "launcher.js", mode: 0o755, data: []byte(launcher)})
}

// npmPack packs a package as npm pack does: below one folder, whose name is package.
func (r *release) npmPack(m npmManifest, files ...file) (string, []byte, error) {
	m.Version, m.License = r.version, noLicense
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return "", nil, err
	}
	name := m.Name + "-" + r.version + ".tgz"
	data, err := pack(name, "package", append(files, file{path: "package.json", mode: 0o644, data: append(text, '\n')}), r.time)
	return name, data, err
}
