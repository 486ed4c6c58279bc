package term

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// TestMeter: nothing is said in the first second; then a terminal gets one line that changes,
// and a log a line every ten seconds and one for each new part of the work.
func TestMeter(t *testing.T) {
	for _, tt := range []struct {
		terminal bool
		want     string
	}{
		{true, "\rcopy 1.1s\x1b[K\rcopy 1.3s\x1b[K\rpack 1.4s\x1b[K\rpack 12s\x1b[K\r\x1b[K"},
		{false, "hubcli: copy 1.1s\nhubcli: pack 1.4s\nhubcli: pack 12s\n"},
	} {
		var out bytes.Buffer
		now := time.Unix(0, 0)
		m := NewMeter(&Env{Stderr: &out, Now: func() time.Time { return now }, StderrTerminal: func() bool { return tt.terminal }})
		at := func(ms int, part string) {
			now = time.Unix(0, 0).Add(time.Duration(ms) * time.Millisecond)
			m.Show(part+" "+now.Sub(time.Unix(0, 0)).String(), part)
		}
		for _, ms := range []int{10, 900, 1100, 1200, 1300} {
			at(ms, "copy")
		}
		for _, ms := range []int{1400, 1450, 12_000} {
			at(ms, "pack")
		}
		m.End()
		if got := out.String(); got != tt.want {
			t.Errorf("on a terminal %v: wrote %q, want %q", tt.terminal, got, tt.want)
		}
	}
	var out bytes.Buffer
	m := NewMeter(&Env{Stderr: &out, Now: time.Now})
	if m.End(); strings.TrimSpace(out.String()) != "" {
		t.Errorf("a short command wrote %q", out.String())
	}
}
