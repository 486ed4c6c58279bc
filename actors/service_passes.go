package actors

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"strings"
	"sync"
	"time"

	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/actors/gate"
	"hubcli/hub"
)

// passCodes are the codes that were made and not exchanged yet. They live in memory: a
// code is good for moments, and a restart ends it.
type passCodes struct {
	mu   sync.Mutex
	made []passCode // the earliest first
}

type passCode struct {
	code    string
	expires hub.Time
	life    hub.Time // of the pass
}

// add keeps a code. Codes that are over leave, and the earliest if there are too many.
func (c *passCodes) add(code passCode, now hub.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clear(now)
	if len(c.made) >= hub.MaxPassCodes {
		c.made = c.made[1:]
	}
	c.made = append(c.made, code)
}

// take returns the code and removes it: it is good once. All codes are compared, each in
// constant time.
func (c *passCodes) take(typed string, now hub.Time) (taken passCode, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clear(now)
	at := -1
	for i := range c.made {
		if same(typed, c.made[i].code) {
			at = i
		}
	}
	if at < 0 {
		return passCode{}, false
	}
	taken = c.made[at]
	c.made = append(c.made[:at:at], c.made[at+1:]...)
	return taken, true
}

func (c *passCodes) clear(now hub.Time) {
	for len(c.made) > 0 && c.made[0].expires <= now {
		c.made = c.made[1:]
	}
}

// CreatePassCode makes a code of 128 random bits; see hub.Passes.
func (h *Hub) CreatePassCode(_ context.Context, in hub.PassCodeInput) (hub.PassCode, error) {
	var random [16]byte
	_, _ = rand.Read(random[:]) // it never fails: it ends the program instead
	life := hub.PassLife
	if in.TTLSec != 0 {
		life = time.Duration(in.TTLSec) * time.Second
	}
	now := h.engine.Clock.Now().Wall
	code := passCode{
		code: base64.RawURLEncoding.EncodeToString(random[:]), life: hub.Time(life.Milliseconds()),
		expires: now + hub.Time(hub.PassCodeLife.Milliseconds()),
	}
	h.codes.add(code, now)
	return hub.PassCode{Code: code.code, ExpiresAt: code.expires, TTLSec: int(life / time.Second)}, nil
}

// CreatePass exchanges a code; see hub.Passes. The code is taken within the decision, so
// that a call that is repeated with its idempotency key gets its answer again.
func (h *Hub) CreatePass(ctx context.Context, in hub.PassInput) (hub.Outcome[hub.IssuedPass], error) {
	reveal := func(row hub.Pass) hub.IssuedPass {
		return hub.IssuedPass{Pass: row, Token: h.secrets().pass(row.PassID)}
	}
	codec := engine.Codec[hub.IssuedPass]{
		Kind:   engine.EffectPass,
		Encode: func(p hub.IssuedPass) []byte { return engine.EncodeEffect(p.Pass) },
		Decode: func(_ context.Context, e *core.Effect) (hub.IssuedPass, error) {
			row, err := engine.DecodeEffect[hub.Pass](e)
			return reveal(row), err
		},
	}
	act := ruling("createPass")
	row, replayed, err := gate.Do(ctx, h.gate, &act, codec, func() (engine.Command[*core.Settings, hub.Pass, hub.IssuedPass], error) {
		return engine.Command[*core.Settings, hub.Pass, hub.IssuedPass]{
			Owner: core.SettingsOwner(), Size: len(in.Label),
			Decide: func(s *core.Settings, now core.Now) (core.Decision[hub.Pass], error) {
				code, ok := h.codes.take(in.Code, now.Wall)
				if !ok {
					return core.Decision[hub.Pass]{}, hub.NewError(hub.CodeOperatorRequired, "the code is unknown, was used before or is over").
						WithFix("make another with hubcli app open")
				}
				return s.IssuePass(in.Label, code.life, now), nil
			},
			Answer: func(row hub.Pass, _ *core.Record) hub.IssuedPass { return reveal(row) },
		}, nil
	})
	return hub.Outcome[hub.IssuedPass]{Row: row, Created: true, Replayed: replayed}, err
}

// Passes lists the passes in force; see hub.Passes.
func (h *Hub) Passes(context.Context) ([]hub.Pass, error) {
	return h.view.Passes(h.engine.Clock.Now().Wall), nil
}

// EndPass ends a pass; see hub.Passes.
func (h *Hub) EndPass(ctx context.Context, id hub.PassID) (hub.Outcome[hub.Pass], error) {
	return changeSettings(ctx, h, "endPass", engine.EffectPassEnded, 0, func(s *core.Settings, now core.Now) (core.Decision[hub.Pass], error) {
		return s.EndPass(id, now)
	})
}

// ProvePass checks the secret of a pass, and then whether the pass is in force. Errors:
// operator_required.
func (h *Hub) ProvePass(token string) (hub.PassID, error) {
	public, _, _ := strings.Cut(token, ".")
	id := hub.PassID(public)
	if !same(token, h.secrets().pass(id)) {
		return "", hub.NewError(hub.CodeOperatorRequired, "the operator token is wrong")
	}
	return id, h.PassHolds(id)
}

// PassToken returns the secret of a pass, whether there is the pass or not.
func (h *Hub) PassToken(id hub.PassID) string { return h.secrets().pass(id) }

// PassHolds returns an error unless the pass is in force. Errors: operator_required.
func (h *Hub) PassHolds(id hub.PassID) error {
	if !h.view.PassInForce(id, h.engine.Clock.Now().Wall) {
		return hub.NewError(hub.CodeOperatorRequired, "the pass has ended").With("pass_id", id).
			WithFix("open the console anew with hubcli app open")
	}
	return nil
}
