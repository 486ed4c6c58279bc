package credstore

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zalando/go-keyring"
)

func TestParseRef(t *testing.T) {
	long := strings.Repeat("a", maxName)
	for text, good := range map[string]bool{
		"os:license": true, "os:ab12/conn_1": true, "env:OPENAI_API_KEY": true, "env:_x": true, "os:" + long: true,
		"": false, "os": false, "os:": false, "env:": false, "env:A-B": false, "env:1A": false, "os:-w": false,
		"os:a b": false, "os:a\nb": false, "file:x": false, "OS:x": false, "os:" + long + "a": false, "os:a:b": false, "env:A\x00": false,
	} {
		r, err := ParseRef(text)
		if good && (err != nil || r.String() != text) || !good && KindOf(err) != BadRef {
			t.Errorf("%q: %v %v", text, r, err)
		}
	}
}

func TestVariable(t *testing.T) {
	env := map[string]string{"KEY": "  sk-1\n", "BLANK": " \n"}
	s := Store{LookupEnv: func(name string) (string, bool) { v, ok := env[name]; return v, ok }}
	if got, err := s.Get(t.Context(), Ref{Env, "KEY"}); err != nil || got != "sk-1" {
		t.Errorf("%q %v", got, err)
	}
	for _, name := range []string{"BLANK", "NONE"} {
		_, err := s.Get(t.Context(), Ref{Env, name})
		if KindOf(err) != NotFound || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := s.Set(t.Context(), Ref{Env, "KEY"}, "x"); KindOf(err) != ReadOnly {
		t.Errorf("a variable was set: %v", err)
	}
	if err := s.Delete(t.Context(), Ref{Env, "KEY"}); KindOf(err) != ReadOnly {
		t.Errorf("a variable was deleted: %v", err)
	}
	env["KEY"] = "sk-2" // a variable is read at every use
	if got, _ := s.Get(t.Context(), Ref{Env, "KEY"}); got != "sk-2" {
		t.Errorf("%q, want what the variable holds now", got)
	}
}

// machine is a system's store under the test's control.
type machine struct {
	none   string
	kept   map[string]string
	fails  error
	opens  chan struct{} // not nil: calls wait for it
	inside atomic.Int32
}

func (m *machine) missing() string { return m.none }

func (m *machine) classify(error) (Kind, string) { return Failed, "" }

func (m *machine) enter() error {
	m.inside.Add(1)
	defer m.inside.Add(-1)
	if m.opens != nil {
		<-m.opens
	}
	return m.fails
}

func (m *machine) get(_, name string) (string, error) {
	if err := m.enter(); err != nil {
		return "", err
	}
	if v, ok := m.kept[name]; ok {
		return v, nil
	}
	return "", keyring.ErrNotFound
}

func (m *machine) set(_, name, secret string) error {
	if err := m.enter(); err != nil {
		return err
	}
	m.kept[name] = secret
	return nil
}

func (m *machine) remove(_, name string) error {
	if _, ok := m.kept[name]; !ok {
		return keyring.ErrNotFound
	}
	delete(m.kept, name)
	return nil
}

// TestErrors: each failure is a sentence with a way out, and none holds the secret.
func TestErrors(t *testing.T) {
	const secret = "sk-planted"
	for _, c := range []struct {
		name string
		m    *machine
		ref  Ref
		text string
		want Kind
	}{
		{"no store", &machine{none: "there is no bus"}, Ref{OS, "a"}, secret, NoStore},
		{"another system", &machine{fails: keyring.ErrUnsupportedPlatform}, Ref{OS, "a"}, secret, NoStore},
		{"too long for the system", &machine{fails: keyring.ErrSetDataTooBig}, Ref{OS, "a"}, secret, TooLarge},
		{"too long", &machine{}, Ref{OS, "a"}, strings.Repeat("x", maxSecret+1), TooLarge},
		{"empty", &machine{}, Ref{OS, "a"}, "", Empty},
		{"a reference", &machine{}, Ref{OS, "-w"}, secret, BadRef},
		{"anything else", &machine{fails: errors.New("a broken pipe")}, Ref{OS, "a"}, secret, Failed},
	} {
		s := Store{system: c.m}
		err := s.Set(t.Context(), c.ref, c.text)
		var e *Error
		if !errors.As(err, &e) || e.Kind != c.want || e.Fix == "" || strings.Contains(e.Message+e.Fix, secret) {
			t.Errorf("%s: %#v, want %s", c.name, err, c.want)
		}
	}
	s := Store{system: &machine{}}
	if _, err := s.Get(t.Context(), Ref{OS, "a"}); KindOf(err) != NotFound {
		t.Errorf("nothing is kept: %v", err)
	}
	if err := s.Delete(t.Context(), Ref{OS, "a"}); err != nil {
		t.Errorf("to delete nothing is an error: %v", err)
	}
}

// TestATimeLimit: a store that waits for its password gets its time and no more. What it
// does later is taken back, and meanwhile no second call waits inside it.
func TestATimeLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &machine{kept: map[string]string{}, opens: make(chan struct{})}
		s := Store{system: m}
		begun := time.Now()
		if err := s.Set(t.Context(), Ref{OS, "a"}, "late"); KindOf(err) != Locked {
			t.Fatalf("%v, want locked", err)
		}
		if took := time.Since(begun); took != Timeout {
			t.Errorf("it took %s", took)
		}
		if _, err := s.Get(t.Context(), Ref{OS, "a"}); KindOf(err) != Locked {
			t.Errorf("the second call: %v, want locked", err)
		}
		if n := m.inside.Load(); n != 1 {
			t.Errorf("%d calls are inside the store", n)
		}
		close(m.opens)
		synctest.Wait()
		if len(m.kept) != 0 {
			t.Errorf("a call that has failed has kept %v", m.kept)
		}
		if err := s.Set(t.Context(), Ref{OS, "a"}, "now"); err != nil {
			t.Errorf("the store is open: %v", err)
		}
		if got, err := s.Get(t.Context(), Ref{OS, "a"}); got != "now" || err != nil {
			t.Errorf("%q %v", got, err)
		}
	})
}

// TestACallerThatLeaves gets its own reason back.
func TestACallerThatLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &machine{kept: map[string]string{}, opens: make(chan struct{})}
		s := Store{system: m}
		ctx, cancel := context.WithCancelCause(t.Context())
		reason := errors.New("the hub stops")
		time.AfterFunc(time.Second, func() { cancel(reason) })
		if err := s.Set(ctx, Ref{OS, "a"}, "x"); !errors.Is(err, reason) || KindOf(err) != "" {
			t.Errorf("%v", err)
		}
		close(m.opens)
		synctest.Wait()
		if len(m.kept) != 0 {
			t.Errorf("kept %v", m.kept)
		}
	})
}
