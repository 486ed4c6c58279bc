package engine

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"hubcli/hub"
	"hubcli/internal/osfile"
)

// EnvMirror names the variable with an https address that has the archives, in place of
// the one in the pins. Sizes and checksums remain those of the pins.
const EnvMirror = "HUBCLI_BROWSER_MIRROR"

// Installer installs the managed engine.
type Installer struct {
	Options
	// RootCAs are the authorities to trust; nil: those of the machine.
	RootCAs *x509.CertPool
	// Progress is told what is going on, often. Nil: nobody wants to know.
	Progress func(Progress)

	step  func(string) // called before each step that changes something; tests set the following
	stall time.Duration
	backs time.Duration
}

// Stage is a part of an install.
type Stage string

// The stages, in their order.
const (
	Waiting     Stage = "waiting" // for another install
	Downloading Stage = "downloading"
	Unpacking   Stage = "unpacking"
)

// Progress says how far an install is.
type Progress struct {
	Stage       Stage
	Done, Total int64 // bytes; both are 0 while waiting
}

// Installed is the outcome of an install.
type Installed struct {
	Engine
	Fresh   bool     // it was not there before
	Removed []string // other versions that were removed
	Left    []string // other versions that could not be removed
}

// Install installs the pinned engine for this platform, unless it is there and whole. An
// install that breaks off at any point leaves nothing half under the engine's name, and
// the next one goes on with what was downloaded.
func (in *Installer) Install(ctx context.Context) (Installed, error) {
	in.settle()
	pin, base, err := in.plan()
	if err != nil {
		return Installed{}, err
	}
	dir := folderOf(in.DataRoot)
	if err := in.makeFolder(dir); err != nil {
		return Installed{}, failed(dir, err)
	}
	unlock, err := lockFolder(ctx, dir, func() { in.Progress(Progress{Stage: Waiting}) })
	if err != nil {
		return Installed{}, ended(ctx, dir, err)
	}
	defer unlock()
	done, err := in.locked(ctx, dir, base, pin)
	if err != nil {
		return Installed{}, ended(ctx, dir, err)
	}
	c := found{place: place{source: SourceManaged, kind: hub.BrowserHeadlessShell}, path: executable(in.DataRoot, pin), pin: pin}
	done.Engine = in.examine(ctx, c)
	if ctx.Err() != nil {
		return done, context.Cause(ctx)
	}
	return done, nil
}

func (in *Installer) settle() {
	in.Options.settle()
	if in.Progress == nil {
		in.Progress = func(Progress) {}
	}
	if in.step == nil {
		in.step = func(string) {}
	}
	if in.stall == 0 {
		in.stall = stall
	}
	if in.backs == 0 {
		in.backs = time.Second / 2
	}
}

// plan returns what to install and where it comes from.
func (in *Installer) plan() (*Pin, string, error) {
	platform := platformOf(in.GOOS, in.GOARCH)
	pins := in.Pins.of(platform)
	if len(pins) == 0 {
		return nil, "", problem("install chromium with your system's packages; "+EnvBrowser+" names an engine that hubcli browser engines does not find",
			"there is no engine to download for %s on %s", in.GOOS, in.GOARCH)
	}
	if loader := loaderOf(platform); loader != "" {
		if _, err := os.Stat(in.in(loader)); errors.Is(err, fs.ErrNotExist) {
			return nil, "", problem("install chromium with your system's packages; "+EnvBrowser+" names an engine that hubcli browser engines does not find",
				"the engine to download needs the GNU C library, and this system has none: there is no %s", loader)
		}
	}
	base := in.Pins.BaseURL
	if mirror := in.Getenv(EnvMirror); mirror != "" {
		if err := checkBase(mirror); err != nil {
			return nil, "", hub.Errorf(hub.CodeInvalid, "%s is no address of a mirror: %v", EnvMirror, err).
				WithFix("set it to https://host/path, below which the archives are as <version>/<platform>/<archive>")
		}
		base = mirror
	}
	return pins[0], base, nil
}

// loaderOf returns the file without which no program of a platform starts.
func loaderOf(platform string) string {
	switch platform {
	case "linux64":
		return "/lib64/ld-linux-x86-64.so.2"
	case "linux-arm64":
		return "/lib/ld-linux-aarch64.so.1"
	}
	return ""
}

// makeFolder makes the folder of engines, which is this user's alone.
func (in *Installer) makeFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for _, d := range []string{filepath.Dir(dir), dir} {
		info, err := os.Lstat(d)
		if err != nil {
			return err
		}
		if !info.IsDir() {
			return problem("remove it, or name another folder with --data-root", "%s is a link or a file, and engines are not installed through it", d)
		}
		if why := osfile.ForeignFolder(info); why != "" {
			return problem("take the rights away, or name another folder with --data-root", "%s %s, so others could change the engine", d, why)
		}
	}
	return nil
}

// locked is Install for the one that has the lock.
func (in *Installer) locked(ctx context.Context, dir, base string, pin *Pin) (Installed, error) {
	in.step("clean")
	if err := clean(dir, pin); err != nil {
		return Installed{}, err
	}
	var done Installed
	if err := verify(in.DataRoot, pin); err != nil {
		if err := in.fresh(ctx, dir, base, pin); err != nil {
			return Installed{}, err
		}
		done.Fresh = true
	}
	in.step("remove part")
	part := download{pin: pin, dir: dir}
	if err := part.remove(); err != nil {
		return Installed{}, err
	}
	in.step("remove others")
	var err error
	done.Removed, done.Left, err = removeOthers(dir, pin)
	return done, err
}

// fresh downloads, checks, unpacks and publishes an engine.
func (in *Installer) fresh(ctx context.Context, dir, base string, pin *Pin) error {
	d := &download{
		pin: pin, dir: dir, url: pin.url(base), client: in.client(), stall: in.stall, backs: in.backs,
		report: func(done, total int64) { in.Progress(Progress{Downloading, done, total}) },
	}
	in.step("download")
	if err := d.openPart(); err != nil {
		return err
	}
	defer d.file.Close()
	if err := in.room(dir, d); err != nil {
		return err
	}
	err := d.fetch(ctx)
	d.client.CloseIdleConnections()
	if err != nil {
		if d.size == 0 { // nothing to go on with
			err = errors.Join(err, d.remove())
		}
		return err
	}
	b, err := readBundle(d.file, pin.Bytes, pin)
	if err != nil {
		return problem("report it: the pinned archive itself cannot be used. Until then, "+useAnother, "the archive of version %s is not used: %v", pin, err)
	}
	in.step("unpack")
	if err := in.stage(ctx, dir, pin, b); err != nil {
		return err
	}
	return in.publish(dir, pin)
}

// expands is how much larger engines are than their archives, at least, in tenths.
const expands = 24

// room refuses a download for which there is no room.
func (in *Installer) room(dir string, d *download) error {
	info, err := d.file.Stat()
	if err != nil {
		return err
	}
	need := max(0, d.pin.Bytes-info.Size()) + d.pin.Bytes/10*expands
	free, err := osfile.Free(dir)
	if err == nil && free < need {
		return noRoom(dir, need, free)
	}
	return nil // where nobody can tell, the writes will
}

// client returns a client that trusts what the machine trusts, goes through the proxy of
// the environment and follows no redirect.
func (in *Installer) client() *http.Client {
	return &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			Proxy:                 http.ProxyFromEnvironment,
			DialContext:           (&net.Dialer{Timeout: 15 * time.Second}).DialContext,
			TLSClientConfig:       &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: in.RootCAs},
			TLSHandshakeTimeout:   15 * time.Second,
			ResponseHeaderTimeout: in.stall,
			DisableCompression:    true,
			ForceAttemptHTTP2:     true,
		},
	}
}

// stage unpacks an archive beside its later place, with a receipt.
func (in *Installer) stage(ctx context.Context, dir string, pin *Pin, b *bundle) error {
	free, err := osfile.Free(dir)
	if err == nil && free < b.size {
		return noRoom(dir, b.size, free)
	}
	stage := filepath.Join(dir, stageName)
	if err := os.RemoveAll(stage); err != nil {
		return err
	}
	if err := os.Mkdir(stage, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(stage)
	if err != nil {
		return err
	}
	defer root.Close()
	err = b.unpack(ctx, root, func(done, total int64) { in.Progress(Progress{Unpacking, done, total}) })
	if err == nil {
		err = in.note(stage, root, pin, b)
	}
	if err != nil {
		_ = root.Close()
		return errors.Join(err, os.RemoveAll(stage))
	}
	return nil
}

// note checks the unpacked program, writes the receipt and makes the folder durable.
func (in *Installer) note(stage string, root *os.Root, pin *Pin, b *bundle) error {
	in.step("check")
	if err := root.Chmod(pin.file(), 0o700); err != nil {
		return err
	}
	sum, err := sumOf(filepath.Join(stage, pin.file()))
	if err != nil {
		return err
	}
	if pin.ExecutableSHA256 != "" && sum != pin.ExecutableSHA256 {
		return problem("nothing was installed. Try again; if it happens again, report it, "+useAnother,
			"the program in the archive of version %s is not the pinned one: its SHA-256 is %s and must be %s", pin, sum, pin.ExecutableSHA256)
	}
	r := receipt{Version: pin.Version, Platform: pin.Platform, ArchiveSHA256: pin.ArchiveSHA256, ExecutableSHA256: sum, Files: map[string]int64{}}
	for _, e := range b.files {
		r.Files[e.name] = int64(e.file.UncompressedSize64)
	}
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := osfile.Replace(osfile.In{Root: root}, receiptName, osfile.Content{Write: osfile.Bytes(append(data, '\n'))}); err != nil {
		return err
	}
	for _, dir := range b.dirs {
		if err := osfile.SyncDirIn(root, dir); err != nil {
			return err
		}
	}
	return osfile.SyncDirIn(root, ".")
}

// publish gives a staged engine its name. An engine that is damaged loses it first.
func (in *Installer) publish(dir string, pin *Pin) error {
	in.step("publish")
	final := filepath.Join(dir, pin.name())
	if _, err := os.Lstat(final); err == nil {
		if err := discard(dir, pin.name()); err != nil {
			return fmt.Errorf("the damaged engine cannot be replaced: %w", err)
		}
		in.step("publish again")
	}
	if err := os.Rename(filepath.Join(dir, stageName), final); err != nil {
		return err
	}
	in.step("published")
	return osfile.SyncDir(dir)
}
