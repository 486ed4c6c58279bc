package engine

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"strings"

	"hubcli/hub"
	"hubcli/internal/osfile"
)

// Ways out that several failures have.
const (
	useAnother = "or install chromium with your system's packages; " + EnvBrowser + " names an engine that hubcli browser engines does not find"
	tryLater   = "try again: what is here already is kept. If it goes on, set " + EnvMirror + " to a mirror, " + useAnother
)

func problem(fix, format string, args ...any) *hub.Error {
	return hub.Errorf(hub.CodeBrowserInstall, format, args...).WithFix(fix)
}

// host names the server of a download.
func (d *download) host() string {
	u, err := url.Parse(d.url)
	if err != nil {
		return "the server"
	}
	return u.Host
}

func wrongSum(d *download, got string) error {
	return problem("nothing was installed. Try again, or from another mirror with "+EnvMirror+"; if it happens again, do not trust that server, and report it",
		"the archive from %s is not the pinned one of version %s: its SHA-256 is %s and must be %s", d.host(), d.pin, got, d.pin.ArchiveSHA256)
}

func wrongSize(d *download, got int64) error {
	size := "more bytes than that"
	if got >= 0 {
		size = fmt.Sprintf("%d", got)
	}
	return problem("nothing was installed. Try again, or from another mirror with "+EnvMirror,
		"the archive from %s is not the pinned one of version %s: it must have %d bytes, and the server sends %s", d.host(), d.pin, d.pin.Bytes, size)
}

func refused(d *download, does string) error {
	return problem("set "+EnvMirror+" to a mirror that has the archive, "+useAnother, "%s %s", d.host(), does)
}

// status says what an answer without the archive means.
func (d *download) status(resp *http.Response) error {
	switch code := resp.StatusCode; {
	case code >= 300 && code < 400:
		where := "elsewhere"
		if to, err := resp.Location(); err == nil {
			where = "to " + to.Scheme + "://" + to.Host
		}
		return problem("if you trust that address, name it in "+EnvMirror+", as far as the folder of the version",
			"%s redirects the download %s, and redirects are not followed", d.host(), where)
	case code == http.StatusNotFound || code == http.StatusGone:
		return refused(d, "does not have the archive of version "+d.pin.String())
	case code == http.StatusRequestTimeout || code == http.StatusTooEarly || code == http.StatusTooManyRequests || code >= 500:
		return &broken{fmt.Errorf("it answers %s", resp.Status)}
	default:
		return refused(d, "refuses the download: it answers "+resp.Status)
	}
}

// transport says what the failure of a request means. After most of them it is worth to
// try again.
func (d *download) transport(ctx context.Context, err error) error {
	var request *url.Error
	if errors.As(err, &request) {
		err = request.Err
	}
	if cause := context.Cause(ctx); cause != nil {
		return &broken{cause}
	}
	var untrusted *tls.CertificateVerificationError
	var noSuch *net.DNSError
	switch {
	case errors.As(err, &untrusted):
		why := untrusted.Err
		var authority x509.UnknownAuthorityError
		if errors.As(why, &authority) {
			why = errors.New("this machine does not know who signed its certificate")
		}
		return problem("if a proxy of your company reads such traffic, its certificate must be among those that this machine trusts; no option turns the check off",
			"%s does not prove that it is the server: %v", d.host(), why)
	case errors.As(err, &noSuch) && noSuch.IsNotFound:
		return problem("connect this machine, or set HTTPS_PROXY if it has a proxy; "+useAnother, "there is no server %s, or no network", noSuch.Name)
	case strings.Contains(err.Error(), http.StatusText(http.StatusProxyAuthRequired)):
		return problem("set HTTPS_PROXY to http://name:password@host:port", "the proxy in HTTPS_PROXY wants a name and a password")
	}
	return &broken{err}
}

// unreachable is the failure of a download that breaks off again and again.
func unreachable(d *download, err error) error {
	return problem(tryLater, "the download from %s breaks off: %v (%d of %d bytes are here)", d.host(), err, d.size, d.pin.Bytes)
}

// noRoom is the failure of an install that the disk has no room for.
func noRoom(dir string, need, free int64) error {
	return problem("free some space there, or name a folder on another disk with --data-root", "the disk of %s has no room for the engine: it needs %s, and %s are free", dir, megabytes(need), megabytes(free))
}

// ended is failed, or why the context has ended.
func ended(ctx context.Context, dir string, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return failed(dir, err)
}

// failed gives every error of the system a sentence.
func failed(dir string, err error) error {
	var known *hub.Error
	switch {
	case errors.As(err, &known):
		return err
	case osfile.IsFull(err):
		return problem("free some space there and try again: what was downloaded is kept", "the disk of %s is full", dir)
	case errors.Is(err, fs.ErrPermission):
		return problem("name a folder that you may write to with --data-root", "the folder for engines cannot be written: %v", err)
	}
	return problem("see the cause in the message, and try again", "the engine cannot be installed: %v", err)
}

// megabytes rounds up.
func megabytes(n int64) string { return fmt.Sprintf("%d MB", (n+999_999)/1_000_000) }
