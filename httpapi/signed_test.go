package httpapi_test

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"testing"

	"hubcli/api"
	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
)

// page is what a page in a browser does with its pass: it never sends it.
type page struct {
	*client
	id    hub.PassID
	token string
	key   []byte // of the run of the hub
	call  api.SignedCall
}

const someNonce = "0123456789abcdef"

// openPage exchanges a code and has the hub prove itself.
func openPage(t *testing.T, c, operator *client) *page {
	t.Helper()
	with, id := enter(t, c, operator)
	p := &page{client: c, id: hub.PassID(id), token: with.headers[api.HeaderOperator]}
	p.key = api.PassKey(p.token, p.proof(c).Run)
	p.call = api.SignedCall{Pass: p.id, Page: "page-0123456789abcdef"}
	return p
}

// proof asks for the proof.
func (p *page) proof(c *client) (got hub.PassProof) {
	p.t.Helper()
	require.NoError(p.t, json.Unmarshal(c.ok(200, "GET", "/v1/passes/"+string(p.id)+"/proof?nonce="+someNonce, "").Result, &got))
	return got
}

// signs returns a client whose next call, which has to be this one, is signed.
func (p *page) signs(method, target, body string) *client {
	s := p.call
	p.call.Counter++
	s.Counter, s.Method, s.Target, s.Body = p.call.Counter, method, target, sha256.Sum256([]byte(body))
	return p.with(api.HeaderOperator, s.Sign(p.key))
}

// TestHubProvesItselfToAPage: the proof is for the nonce, the address and the run, and says
// whether the pass has ended. Nobody who asks for it gets the pass, but the page that has
// signed the call.
func TestHubProvesItselfToAPage(t *testing.T) {
	h := testhub.Start(t)
	c := newClient(t, h)
	operator := c.with(api.HeaderOperator, h.Store.OperatorToken())
	p := openPage(t, c, operator)
	base, err := url.Parse(h.URL)
	require.NoError(t, err)
	path := "/v1/passes/" + string(p.id) + "/proof?nonce=" + someNonce

	got := p.proof(c)
	if got.Proof != api.ProvePass(p.key, someNonce, base.Host, got.Run, false) || got.Ended || got.Sealed != "" {
		t.Errorf("the proof is %+v", got)
	}
	for name, other := range map[string]string{
		"nonce":   api.ProvePass(p.key, "another-0123456789", base.Host, got.Run, false),
		"address": api.ProvePass(p.key, someNonce, "127.0.0.1:1", got.Run, false),
		"run":     api.ProvePass(p.key, someNonce, base.Host, "x", false),
		"end":     api.ProvePass(p.key, someNonce, base.Host, got.Run, true),
		"pass":    api.ProvePass(api.PassKey(p.token+"x", got.Run), someNonce, base.Host, got.Run, false),
	} {
		if got.Proof == other {
			t.Errorf("it is the same for another %s", name)
		}
	}
	for _, wrong := range []string{
		"/v1/passes/" + string(p.id) + "/proof", path + "%20", "/v1/passes/" + string(p.id) + "/proof?nonce=short", "/v1/passes/pass_X/proof?nonce=" + someNonce,
	} {
		c.refused(hub.CodeInvalid, "GET", wrong, "")
	}
	if a := c.with(api.HeaderOperator, p.token).ok(200, "GET", path, ""); a.row("sealed") != nil {
		t.Error("a caller that has not signed gets the pass")
	}
	other := openPage(t, c, operator)
	if a := other.signs("GET", path, "").ok(200, "GET", path, ""); a.row("sealed") != nil {
		t.Error("a page gets the pass of another")
	}
	var whole hub.PassProof
	require.NoError(t, json.Unmarshal(p.signs("GET", path, "").ok(200, "GET", path, "").Result, &whole))
	if token := unsealed(t, p.key, whole.Sealed); token != p.token {
		t.Errorf("the sealed pass is %q, want %q", token, p.token)
	}

	operator.ok(200, "POST", "/v1/passes/"+string(p.id)+"/end", "")
	if got = p.proof(c); !got.Ended || got.Proof != api.ProvePass(p.key, someNonce, base.Host, got.Run, true) {
		t.Errorf("after the end the proof is %+v", got)
	}
	p.signs("GET", "/v1/asks", "").refused(hub.CodeOperatorRequired, "GET", "/v1/asks", "")
}

func unsealed(t *testing.T, key []byte, sealed string) string {
	t.Helper()
	m := hmac.New(sha256.New, key)
	m.Write([]byte("hub-pass-seal-1"))
	block, err := aes.NewCipher(m.Sum(nil))
	require.NoError(t, err)
	gcm, err := cipher.NewGCM(block)
	require.NoError(t, err)
	b, err := base64.RawURLEncoding.DecodeString(sealed)
	require.NoError(t, err)
	plain, err := gcm.Open(nil, b[:gcm.NonceSize()], b[gcm.NonceSize():], nil)
	require.NoError(t, err)
	return string(plain)
}

// TestSignedCalls: a signed call acts with the pass, once, and no part of it can be changed.
func TestSignedCalls(t *testing.T) {
	h := testhub.Start(t)
	c := newClient(t, h)
	p := openPage(t, c, c.with(api.HeaderOperator, h.Store.OperatorToken()))
	const list, target = "/v1/passes", "/v1/messages"
	post := func(n int) string { return fmt.Sprintf(`{"channel":"general","body":"the human says %d"}`, n) }

	read := p.signs("GET", list, "")
	read.ok(200, "GET", list, "")
	read.refused(hub.CodePassSignature, "GET", list, "") // it was used
	if a := p.signs("POST", target, post(1)).ok(201, "POST", target, post(1)); a.row("authority") != "operator" {
		t.Errorf("a signed post is %s", a.Result)
	}
	// The calls of a page overtake each other.
	first, second := p.signs("GET", list, ""), p.signs("GET", list, "")
	second.ok(200, "GET", list, "")
	first.ok(200, "GET", list, "")
	first.refused(hub.CodePassSignature, "GET", list, "")

	p.signs("GET", list, "").refused(hub.CodePassSignature, "GET", list+"?x=y", "")
	p.signs("GET", list, "").refused(hub.CodePassSignature, "GET", "/v1/notify", "")
	p.signs("PUT", "/v1/notify", "").refused(hub.CodePassSignature, "GET", "/v1/notify", "")
	p.signs("GET", list, "x").refused(hub.CodePassSignature, "GET", list, "")
	p.signs("POST", target, post(2)).refused(hub.CodePassSignature, "POST", target, post(3))
	if a := c.ok(200, "GET", "/v1/messages?channel=general", ""); a.rows() != 1 {
		t.Errorf("the channel has %s", a.Result)
	}
	good := p.signs("GET", list, "").headers[api.HeaderOperator]
	for _, wrong := range []string{"signed ", good + "0", good + " x", good[:len(good)-2], "signed" + good[7:], good[:7] + "pass_zz" + good[7+len(p.id):]} {
		if a := c.with(api.HeaderOperator, wrong).call("GET", list, ""); a.status != 403 {
			t.Errorf("%q is answered %d", wrong, a.status)
		}
	}
	c.with(api.HeaderOperator, good).ok(200, "GET", list, "") // what was refused has not used it up
}

// TestSignaturesEndWithTheRun of the hub: what was sent to a program that had the port
// meanwhile is of no use at the next hub of the store, where the pass itself goes on.
func TestSignaturesEndWithTheRun(t *testing.T) {
	dir := t.TempDir()
	h := testhub.Start(t, testhub.Dir(dir))
	c := newClient(t, h)
	p := openPage(t, c, c.with(api.HeaderOperator, h.Store.OperatorToken()))
	run := p.proof(c).Run
	captured := p.signs("GET", "/v1/passes", "").headers[api.HeaderOperator]
	require.NoError(t, h.Stop())

	h = testhub.Start(t, testhub.Dir(dir))
	c = newClient(t, h)
	p.client = c
	c.with(api.HeaderOperator, captured).refused(hub.CodePassSignature, "GET", "/v1/passes", "")
	p.signs("GET", "/v1/passes", "").refused(hub.CodePassSignature, "GET", "/v1/passes", "")
	now := p.proof(c).Run
	if now == run {
		t.Fatal("both runs have the same name")
	}
	p.key = api.PassKey(p.token, now)
	p.signs("GET", "/v1/passes", "").ok(200, "GET", "/v1/passes", "")
}

// TestPassNamesNoProgram: a pass, signed or sent, cannot say which program the hub runs. It
// may take programs away and change the rest of these settings.
func TestPassNamesNoProgram(t *testing.T) {
	h := testhub.Start(t, spawning)
	c := newClient(t, h)
	operator := c.with(api.HeaderOperator, h.Store.OperatorToken())
	room := newRoom(c, "programs", "Nursery")
	operator.ok(200, "PUT", "/v1/notify", `{"version":0,"command":["/bin/true","{id}"]}`)
	allow(operator, room, 0, map[hub.Harness]string{hub.HarnessCodex: "true"})
	set := operator.ok(200, "GET", "/v1/spawn/policy", "")
	var policy hub.SpawnPolicyInput
	require.NoError(t, json.Unmarshal(set.Result, &policy))
	pass, _ := enter(t, c, operator)

	for _, body := range []string{`{"version":1,"command":["/bin/sh","-c","id"]}`, `{"version":1,"command":["/bin/true"]}`, `{"version":1,"command":["/bin/true","{id}","x"]}`} {
		pass.refused(hub.CodeOperatorRequired, "PUT", "/v1/notify", body)
	}
	pass.ok(200, "PUT", "/v1/notify", `{"version":1,"command":["/bin/true","{id}"],"webhook":"http://127.0.0.1:9/x"}`)
	pass.ok(200, "PUT", "/v1/notify", `{"version":2}`)
	pass.refused(hub.CodeOperatorRequired, "PUT", "/v1/notify", `{"version":3,"command":["/bin/true","{id}"]}`)

	change := func(f func(*hub.SpawnCommand)) string {
		other := policy
		other.Commands = []hub.SpawnCommand{policy.Commands[0]}
		f(&other.Commands[0])
		b, err := json.Marshal(other)
		require.NoError(t, err)
		return string(b)
	}
	for name, f := range map[string]func(*hub.SpawnCommand){
		"program": func(m *hub.SpawnCommand) { m.Args = []string{"/bin/sh"} }, "harness": func(m *hub.SpawnCommand) { m.Harness = hub.HarnessZed },
		"variables": func(m *hub.SpawnCommand) { m.Env = []string{"PATH"} }, "folder": func(m *hub.SpawnCommand) { m.Dir = "/tmp" },
	} {
		if a := pass.call("PUT", "/v1/spawn/policy", change(f)); a.Code != hub.CodeOperatorRequired {
			t.Errorf("another %s is answered %d %s", name, a.status, a.Result)
		}
	}
	policy.MaxRunning++
	a := pass.ok(200, "PUT", "/v1/spawn/policy", change(func(*hub.SpawnCommand) {}))
	pass.ok(200, "PUT", "/v1/spawn/policy", fmt.Sprintf(`{"version":%v}`, a.row("version")))
}
