package keygen

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"hubcli/internal/licenseserver"
	"hubcli/internal/require"
)

const (
	key         = "KEY-4711-SECRET"
	fingerprint = "1d6f7b17eb74b1ed"
)

// start starts a server with one license, and a client of it.
func start(t *testing.T) (*licenseserver.Server, *Client) {
	t.Helper()
	s := licenseserver.Start()
	t.Cleanup(s.Close)
	s.Add(licenseserver.License{Key: key, Max: 2})
	s.Add(licenseserver.License{Key: "ANOTHER", Max: 2})
	public, err := ParsePublicKey(s.PublicKey())
	require.NoError(t, err)
	server := Server{Base: s.URL, Account: licenseserver.Account, Product: licenseserver.Product, PublicKey: public}
	require.NoError(t, server.Check())
	c := New(server, time.Now)
	t.Cleanup(c.Close)
	return s, c
}

// honest makes all calls once and returns the error of the first that fails.
func honest(ctx context.Context, c *Client) error {
	said, err := c.Validate(ctx, key, fingerprint)
	if err != nil {
		return err
	}
	id, err := c.AddMachine(ctx, key, said.LicenseID, fingerprint, "linux/amd64")
	if err != nil {
		return err
	}
	if found, err := c.Machine(ctx, key, said.LicenseID, fingerprint); err != nil || found != id {
		return errors.Join(err, errors.New("found "+found))
	}
	text, err := c.CheckOut(ctx, key, id, time.Hour)
	if err != nil {
		return err
	}
	file, err := ReadFile(c.server.PublicKey, MachineFile, text)
	if err != nil {
		return err
	}
	says, err := file.Open(Secret(MachineFile, key, fingerprint))
	if err != nil {
		return err
	}
	if says.Machine != id || says.License != said.LicenseID || says.Product != licenseserver.Product || says.Fingerprint != fingerprint || says.Key != key || !says.HasLicense {
		return errors.New("the file says something else")
	}
	if err := c.RemoveMachine(ctx, key, fingerprint); err != nil {
		return err
	}
	return c.RemoveMachine(ctx, key, id) // it is gone
}

// TestCallsAreAsTheProtocolDescribes: a strict server has nothing to complain about.
func TestCallsAreAsTheProtocolDescribes(t *testing.T) {
	s, c := start(t)
	require.NoError(t, honest(t.Context(), c))
	if got := s.Complaints(); len(got) > 0 {
		t.Errorf("complaints: %q", got)
	}
	if len(s.Machines(key)) > 0 {
		t.Error("a machine is left")
	}
}

// TestLiesOfTheServer: nothing that a server does wrong passes for an answer, at any call, and
// no error holds the key.
func TestLiesOfTheServer(t *testing.T) {
	want := map[string]Kind{
		"unsigned": NotGenuine, "wrong-signature": NotGenuine, "other-signer": NotGenuine, "wrong-digest": NotGenuine,
		"old-date": NotGenuine, "other-license": NotGenuine, "huge": Broken, "slow": Unreachable, "redirect": Broken,
		"failing": Broken, "page": Broken, "cut": Unreachable, "nonsense": Broken, "busy": Limited, "other-file": Broken,
	}
	for _, lie := range licenseserver.Lies() {
		for _, at := range []string{"validate-key", "machines", "check-out"} {
			if lie == "other-license" && at == "check-out" {
				continue // the file itself says whose it is
			}
			s, c := start(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if lie == "slow" {
				c.http.Timeout = 50 * time.Millisecond
			}
			s.Lie(at, lie)
			err := honest(ctx, c)
			var e *Error
			kind := want[lie]
			if lie == "other-file" && at == "check-out" {
				kind = "" // not a fault of the answer: the caller looks at the file
				if err == nil || strings.Contains(err.Error(), key) {
					t.Errorf("%s at %s: %v", lie, at, err)
				}
			}
			if kind != "" && (!errors.As(err, &e) || e.Kind != kind) {
				t.Errorf("%s at %s: %v, want %s", lie, at, err, kind)
			}
			if err != nil && strings.Contains(err.Error(), key) {
				t.Errorf("%s at %s: the error holds the key: %v", lie, at, err)
			}
			if lie == "redirect" && slices.ContainsFunc(s.Calls(), func(call string) bool { return strings.Contains(call, "elsewhere") }) {
				t.Error("a redirect was followed")
			}
			if lie == "busy" && (e == nil || e.After != 17) {
				t.Errorf("%s at %s: %+v", lie, at, e)
			}
		}
	}
}

// TestNoAnswer: a server that is not there, or that has a certificate nobody knows.
func TestNoAnswer(t *testing.T) {
	s, c := start(t)
	s.Close()
	var e *Error
	if err := honest(t.Context(), c); !errors.As(err, &e) || e.Kind != Unreachable || e.Why != "it takes no connection" {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("the caller has gone")
	cancel(gone)
	if err := honest(ctx, c); !errors.Is(err, gone) {
		t.Errorf("%v, want that the caller has gone", err)
	}
}

// TestRefusalsHaveTheirCode: each code of the server comes through, and nothing else of its text.
func TestRefusalsHaveTheirCode(t *testing.T) {
	s, c := start(t)
	ctx := t.Context()
	said, err := c.Validate(ctx, key, fingerprint)
	require.NoError(t, err)
	s.Occupy(key, 2)
	var e *Error
	if _, err := c.AddMachine(ctx, key, said.LicenseID, fingerprint, "x"); !errors.As(err, &e) || e.Code != CodeMachineLimit || e.Status != http.StatusUnprocessableEntity {
		t.Errorf("%v %+v", err, e)
	}
	s.Add(licenseserver.License{Key: key, Max: 2, Status: "SUSPENDED"})
	if _, err := c.AddMachine(ctx, key, said.LicenseID, fingerprint, "x"); !errors.As(err, &e) || e.Code != CodeLicenseSuspended {
		t.Errorf("%v %+v", err, e)
	}
	s.Revoke(key)
	if said, err := c.Validate(ctx, key, fingerprint); err != nil || said.Valid || said.Code != CodeNotFound {
		t.Errorf("%+v, %v", said, err)
	}
	for text, want := range map[string]string{"MACHINE_LIMIT": "MACHINE_LIMIT", "": "", "\x1b[31m": "UNKNOWN", strings.Repeat("A", 65): "UNKNOWN", "lower": "UNKNOWN"} {
		if got := plainCode(text); got != want {
			t.Errorf("code %q is shown as %q, want %q", text, got, want)
		}
	}
}

// TestServersThatAreNotCalled: without TLS a key goes to no other machine, whatever its name.
func TestServersThatAreNotCalled(t *testing.T) {
	public := make([]byte, 32)
	good := Server{Base: "https://api.keygen.sh", Account: "acme", Product: "p-1", PublicKey: public}
	require.NoError(t, good.Check())
	for _, base := range []string{
		"", "api.keygen.sh", "http://api.keygen.sh", "http://localhost:1", "ftp://127.0.0.1", "https://", "https://user:pw@host",
		"https://host/v1", "https://host?x=1", "https://host#x", "http://127.0.0.1.example.org", "http://10.0.0.1", "://",
	} {
		s := good
		s.Base = base
		if s.Check() == nil {
			t.Errorf("%q is called", base)
		}
	}
	for _, base := range []string{"http://127.0.0.1:8080", "http://[::1]:8080/", "https://licenses.example.org:8443"} {
		s := good
		s.Base = base
		if err := s.Check(); err != nil {
			t.Errorf("%q: %v", base, err)
		}
	}
	for _, change := range []func(*Server){
		func(s *Server) { s.Account = "a/b" }, func(s *Server) { s.Account = ".." }, func(s *Server) { s.Product = "" },
		func(s *Server) { s.Product = strings.Repeat("x", 129) }, func(s *Server) { s.PublicKey = public[1:] },
	} {
		s := good
		change(&s)
		if s.Check() == nil {
			t.Errorf("%+v is called", s)
		}
	}
}
