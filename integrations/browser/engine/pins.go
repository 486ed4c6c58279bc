package engine

import (
	"bytes"
	_ "embed" // the pins
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"hubcli/internal/lazy"
)

//go:embed pins.json
var embedded []byte

// Embedded returns the pins of this version of the hub.
var Embedded = sync.OnceValue(func() *Pins {
	pins, err := ParsePins(embedded)
	if err != nil {
		panic("the embedded pins: " + err.Error())
	}
	return pins
})

// Pins say which engines the hub installs and takes for its own.
type Pins struct {
	// BaseURL is where the archives are: <base>/<version>/<platform>/<archive>.
	BaseURL string `json:"base_url"`
	// Versions begin with the one to install.
	Versions []Release `json:"versions"`
}

// Release is a version and its archives by platform.
type Release struct {
	Version  string          `json:"version"`
	Archives map[string]*Pin `json:"archives"`
}

// Pin says exactly which archive is an engine.
type Pin struct {
	Version  string `json:"-"`
	Platform string `json:"-"`

	Bytes         int64  `json:"bytes"`
	ArchiveSHA256 string `json:"archive_sha256"`
	// ExecutableSHA256 is empty if it is not known.
	ExecutableSHA256 string `json:"executable_sha256,omitempty"`
}

// mostArchive bounds the size of an archive, against a slip in the pins.
const mostArchive = 1 << 30

var (
	versionForm  = lazy.Regexp{Pattern: `^\d{1,4}(\.\d{1,5}){3}$`}
	platformForm = lazy.Regexp{Pattern: `^[a-z0-9-]{1,20}$`}
)

// ParsePins reads and checks pins.
func ParsePins(data []byte) (*Pins, error) {
	var pins Pins
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&pins); err != nil {
		return nil, err
	}
	if err := checkBase(pins.BaseURL); err != nil {
		return nil, err
	}
	if len(pins.Versions) == 0 {
		return nil, fmt.Errorf("there is no version")
	}
	for _, release := range pins.Versions {
		if !versionForm.MatchString(release.Version) {
			return nil, fmt.Errorf("%q is no version", release.Version)
		}
		for platform, pin := range release.Archives {
			if pin == nil || !platformForm.MatchString(platform) {
				return nil, fmt.Errorf("%s: %q is no platform with a pin", release.Version, platform)
			}
			pin.Version, pin.Platform = release.Version, platform
			if err := pin.check(); err != nil {
				return nil, fmt.Errorf("%s: %w", pin, err)
			}
		}
	}
	return &pins, nil
}

func (p *Pin) check() error {
	switch {
	case p.Bytes <= 0 || p.Bytes > mostArchive:
		return fmt.Errorf("%d is no size of an archive", p.Bytes)
	case !isSum(p.ArchiveSHA256):
		return fmt.Errorf("archive_sha256 is no SHA-256 in hexadecimal digits")
	case p.ExecutableSHA256 != "" && !isSum(p.ExecutableSHA256):
		return fmt.Errorf("executable_sha256 is no SHA-256 in hexadecimal digits")
	}
	return nil
}

func isSum(s string) bool {
	b, err := hex.DecodeString(s)
	return err == nil && len(b) == 32 && s == strings.ToLower(s)
}

// checkBase refuses a base address that is not plain https.
func checkBase(base string) error {
	u, err := url.Parse(base)
	switch {
	case err != nil:
		return fmt.Errorf("%q is no address", base)
	case u.Scheme != "https" || u.Host == "":
		return fmt.Errorf("%q is no https address", u.Redacted())
	case u.RawQuery != "" || u.Fragment != "":
		return fmt.Errorf("%q has more than a host and a path", u.Redacted())
	}
	return nil
}

// String names a pin for people.
func (p *Pin) String() string { return p.Version + " for " + p.Platform }

// top is the one folder of the archive.
func (p *Pin) top() string { return "chrome-headless-shell-" + p.Platform }

// file is the name of the executable in that folder.
func (p *Pin) file() string {
	if strings.HasPrefix(p.Platform, "win") {
		return "chrome-headless-shell.exe"
	}
	return "chrome-headless-shell"
}

// url returns where the archive is below a base address.
func (p *Pin) url(base string) string {
	return strings.TrimRight(base, "/") + "/" + path.Join(p.Version, p.Platform, p.top()+".zip")
}

// of returns the pins for a platform, the one to install first.
func (p *Pins) of(platform string) []*Pin {
	var all []*Pin
	for _, release := range p.Versions {
		if pin := release.Archives[platform]; pin != nil {
			all = append(all, pin)
		}
	}
	return all
}

// Platforms returns the platforms for which there is a pin.
func (p *Pins) Platforms() []string {
	all := map[string]bool{}
	for _, release := range p.Versions {
		for platform := range release.Archives {
			all[platform] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// platformOf returns the name of a platform in the pins; empty if there are no builds
// for it. Windows on ARM runs the builds for the other processors.
func platformOf(goos, goarch string) string {
	switch goos + "/" + goarch {
	case "linux/amd64":
		return "linux64"
	case "linux/arm64":
		return "linux-arm64"
	case "darwin/amd64":
		return "mac-x64"
	case "darwin/arm64":
		return "mac-arm64"
	case "windows/amd64", "windows/arm64":
		return "win64"
	case "windows/386":
		return "win32"
	}
	return ""
}

var digits = lazy.Regexp{Pattern: `\d+`}

// compareNumbers compares the numbers in two texts, one after the other, then the
// texts.
func compareNumbers(a, b string) int {
	as, bs := digits.Get().FindAllString(a, -1), digits.Get().FindAllString(b, -1)
	for i := range min(len(as), len(bs)) {
		x, errX := strconv.ParseUint(as[i], 10, 64)
		y, errY := strconv.ParseUint(bs[i], 10, 64)
		if errX == nil && errY == nil && x != y {
			if x < y {
				return -1
			}
			return 1
		}
	}
	return strings.Compare(a, b)
}
