package httpapi_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"hubcli/api"
	"hubcli/httpapi"
	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
	"hubcli/supervisor"
)

// people are the users of a made-up machine: each connection is that of the client that made it.
type people struct {
	mu    sync.Mutex
	of    map[string]string // name by the client's end of a connection
	asked int
}

func (p *people) Status() hub.LocalUsers {
	return hub.LocalUsers{Told: "a test", Own: hub.LocalUser{ID: "1000", Name: "ann"}}
}

func (p *people) Peer(conn net.Conn) (hub.LocalUser, bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked++
	user, trusted, known := p.Find(p.of[conn.RemoteAddr().String()])
	if !known {
		return hub.LocalUser{Name: "nobody known"}, false, errors.New("its sender had left")
	}
	return user, trusted, nil
}

func (p *people) Find(name string) (user hub.LocalUser, trusted, found bool) {
	ids := map[string]string{"": "1000", "ann": "1000", "root": "0", "bob": "1001", "eve": "1002"}
	for n, id := range ids {
		if id == name {
			return hub.LocalUser{ID: id, Name: n}, id < "1001", true
		}
	}
	id, found := ids[name]
	return hub.LocalUser{ID: id, Name: name}, id < "1001", found
}

// as returns a client of that user.
func (p *people) as(t *testing.T, h *testhub.Hub, name string) *client {
	t.Helper()
	return dialing(t, h, func(ctx context.Context, network, addr string) (net.Conn, error) {
		p.mu.Lock() // the hub asks behind it
		defer p.mu.Unlock()
		conn, err := (&net.Dialer{}).DialContext(ctx, network, addr)
		if err == nil {
			p.of[conn.LocalAddr().String()] = name
		}
		return conn, err
	})
}

func dialing(t *testing.T, h *testhub.Hub, dial func(ctx context.Context, network, addr string) (net.Conn, error)) *client {
	t.Helper()
	transport := &http.Transport{DialContext: dial}
	t.Cleanup(transport.CloseIdleConnections)
	return &client{t: t, base: h.URL, http: &http.Client{Transport: checker.Transport(transport)}}
}

func startWithPeople(t *testing.T) (*testhub.Hub, *people) {
	t.Helper()
	p := &people{of: map[string]string{}}
	return testhub.Start(t, testhub.With(func(c *supervisor.Config) {
		c.HTTP = func(s *httpapi.Config) { s.Peers = p }
	})), p
}

// pathOf fills in what a path leaves open.
func pathOf(op *api.Operation) string {
	before, rest, found := strings.Cut(op.Path, "{")
	if !found {
		return op.Path
	}
	_, after, _ := strings.Cut(rest, "}")
	return before + "1" + after
}

// TestOtherUsersAreRefused: every call of another user of the machine is refused, but for the two
// that tell nothing. One who is let in may call all that is an agent's and about no folder and no process.
func TestOtherUsersAreRefused(t *testing.T) {
	h, p := startWithPeople(t)
	own, eve := p.as(t, h, "ann").with(api.HeaderOperator, h.Store.OperatorToken()), p.as(t, h, "eve")
	paths := []struct{ method, path string }{{"GET", "/"}, {"GET", "/no/such/path"}, {"PATCH", "/v1/messages"}, {"GET", "/assets/x"}}
	for _, c := range paths {
		eve.refused(hub.CodeOtherUser, c.method, c.path, "")
	}
	for i, op := range api.Operations() {
		if op.AnyUser {
			eve.ok(200, op.Method, pathOf(&op), "")
			continue
		}
		a := eve.call(op.Method, pathOf(&op), "")
		if a.Code != hub.CodeOtherUser || a.header.Get(api.HeaderInstance) == "" {
			t.Errorf("%s is answered %d %s to another user", op.ID, a.status, a.Code)
		}
		if text := a.Error; i == 3 && (!strings.Contains(text, "ann") || !strings.Contains(text, "eve")) {
			t.Errorf("the refusal says %q", text)
		}
	}
	own.ok(200, "POST", "/v1/users", `{"user":"bob"}`)
	bob := p.as(t, h, "bob")
	for _, op := range api.Operations() {
		if op.ID == "watch" || op.Plane != api.PlaneOperator && op.ID == "streamEvents" || op.ID == "listMessages" {
			continue // they wait; TestRefusedUsersAreCutOff has one
		}
		never := op.OwnUser != "" || op.Plane == api.PlaneOperator
		if a := bob.call(op.Method, pathOf(&op), ""); never != (a.Code == hub.CodeOtherUser) {
			t.Errorf("%s is answered %d %s to a user who is let in", op.ID, a.status, a.Code)
		}
	}
	// The operator's token is worth nothing in another user's hands.
	bob.with(api.HeaderOperator, h.Store.OperatorToken()).refused(hub.CodeOtherUser, "POST", "/v1/messages", `{"body":"x"}`)
	eve.with(api.HeaderOperator, h.Store.OperatorToken()).refused(hub.CodeOtherUser, "GET", "/v1/users", "")
	p.as(t, h, "root").with(api.HeaderOperator, h.Store.OperatorToken()).ok(200, "GET", "/v1/users", "")
	// Nor is a word that the hub cannot check.
	gone := p.as(t, h, "somebody who has left")
	gone.refused(hub.CodeOtherUser, "POST", "/v1/messages", `{"from_agent":"lead","body":"x"}`)
}

// walkUsers lets a user of the machine in and refuses them again.
func TestUsersAreLetIn(t *testing.T) {
	h, p := startWithPeople(t)
	own := p.as(t, h, "ann").with(api.HeaderOperator, h.Store.OperatorToken())
	own.refused(hub.CodeUserNotFound, "POST", "/v1/users", `{"user":"zoe"}`)
	own.refused(hub.CodeUserNotFound, "POST", "/v1/users/refuse", `{"user":"zoe"}`)
	own.refused(hub.CodeUserNotAllowed, "POST", "/v1/users/refuse", `{"user":"bob"}`)
	for _, body := range []string{`{}`, `{"user":""}`, `{"user":"ann"}`, `{"user":"root"}`, `{"user":"0"}`, `{"user":"` + strings.Repeat("x", hub.MaxUserChars+1) + `"}`, `{"user":"a\nb"}`} {
		own.refused(hub.CodeInvalid, "POST", "/v1/users", body)
	}
	pass, _ := enter(t, p.as(t, h, "ann"), own)
	pass.refused(hub.CodeOperatorRequired, "POST", "/v1/users", `{"user":"bob"}`)

	bob := p.as(t, h, "bob")
	bob.refused(hub.CodeOtherUser, "GET", "/v1/hub-info", "")
	a := own.ok(200, "GET", "/v1/users", "")
	if got := string(a.Result); !strings.Contains(got, `"refused":[{"id":"1001","name":"bob","connections":1`) || !strings.Contains(got, `"told":"a test"`) {
		t.Errorf("the users are %s", got)
	}
	first := own.ok(200, "POST", "/v1/users", `{"user":"bob"}`)
	if again := own.ok(200, "POST", "/v1/users", `{"user":"1001"}`); string(again.Result) != string(first.Result) {
		t.Errorf("a user who is let in already: %s, then %s", first.Result, again.Result)
	}
	for who, c := range map[string]*client{"bob": bob, "ann": own, "root": p.as(t, h, "root")} {
		if told := c.ok(200, "GET", "/v1/hub-info", "").row("hub_user"); (told == "ann") != (who == "bob") {
			t.Errorf("hub-info tells %s that the hub is %v's", who, told)
		}
	}
	if got := string(own.ok(200, "GET", "/v1/app/status", "").Result); !strings.Contains(got, `"allowed":[{"id":"1001","name":"bob"`) {
		t.Errorf("the status is %s", got)
	}

	bob.ok(201, "POST", "/v1/sessions", `{"agent_id":"dev"}`)
	posts := map[string]answer{
		"message":   bob.ok(201, "POST", "/v1/messages", `{"from_agent":"dev","to_agent":"lead","body":"hello"}`),
		"question":  bob.ok(201, "POST", "/v1/asks", `{"agent_id":"dev","question":"may I?"}`),
		"own":       own.ok(201, "POST", "/v1/messages", `{"body":"hello"}`),
		"ordinary":  p.as(t, h, "ann").ok(201, "POST", "/v1/messages", `{"from_agent":"dev","body":"hello"}`),
		"superuser": p.as(t, h, "root").ok(201, "POST", "/v1/messages", `{"from_agent":"dev","body":"hello"}`),
	}
	room := bobsRoom(bob)
	posts["decision"] = bob.ok(201, "POST", "/v1/decisions", `{"by":"dev","room_id":"`+room+`","title":"yes"}`)
	posts["memory"] = bob.ok(201, "POST", "/v1/memory", `{"by":"dev","room_id":"`+room+`","text":"remember"}`)
	posts["artifact"] = bob.ok(201, "POST", "/v1/artifacts", `{"by":"dev","room_id":"`+room+`","title":"t","kind":"note","body":"c"}`)
	posts["unread"] = own.ok(200, "GET", "/v1/attention?agent_id=lead", "")
	posts["asks"] = own.ok(200, "GET", "/v1/asks", "")
	for what, a := range posts {
		told := strings.Contains(string(a.Result), `"local_user":"bob"`)
		if want := what != "own" && what != "ordinary" && what != "superuser"; told != want {
			t.Errorf("the %s of a user who is let in is %s", what, a.Result)
		}
	}
	own.ok(200, "POST", "/v1/users/refuse", `{"user":"bob"}`)
	own.refused(hub.CodeUserNotAllowed, "POST", "/v1/users/refuse", `{"user":"1001"}`)
	bob.refused(hub.CodeOtherUser, "GET", "/v1/hub-info", "")
}

func bobsRoom(c *client) string {
	project, _ := c.ok(201, "POST", "/v1/projects", `{"created_by":"dev","name":"shop"}`).row("project_id").(string)
	room, _ := c.ok(201, "POST", "/v1/rooms", `{"created_by":"dev","project":"`+project+`","name":"desk"}`).row("room_id").(string)
	return room
}

// TestRefusedUsersAreCutOff: a call that waits ends when its user is let in no longer.
func TestRefusedUsersAreCutOff(t *testing.T) {
	h, p := startWithPeople(t)
	own := p.as(t, h, "ann").with(api.HeaderOperator, h.Store.OperatorToken())
	own.ok(200, "POST", "/v1/users", `{"user":"bob"}`)
	bob := p.as(t, h, "bob")
	ended := make(chan error, 1)
	go func() {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, h.URL+"/v1/events?agent_id=dev&timeout=60", nil)
		if err != nil {
			ended <- err
			return
		}
		resp, err := bob.http.Do(r)
		if err == nil {
			_ = resp.Body.Close()
		}
		ended <- err
	}()
	require.Eventually(t, "the call waits", func() bool { return h.Hub.Counts().ParkedPolls == 1 })
	own.ok(200, "POST", "/v1/users/refuse", `{"user":"bob"}`)
	if err := <-ended; err == nil {
		t.Error("the call of a user who is let in no longer was answered")
	}
}

// TestUserIsAskedOnceAConnection: the calls of one connection are those of one user.
func TestUserIsAskedOnceAConnection(t *testing.T) {
	h, p := startWithPeople(t)
	c := p.as(t, h, "ann")
	for range 5 {
		c.ok(200, "GET", "/v1/hub-info", "")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.asked != 1 {
		t.Errorf("the system was asked %d times for one connection", p.asked)
	}
}

// TestSocketOfAnotherUser has a real socket of another user, as the system tells of it.
func TestSocketOfAnotherUser(t *testing.T) {
	other := testhub.DialAs(t, testhub.OtherUser)
	h := testhub.Start(t)
	c := dialing(t, h, other)
	a := c.refused(hub.CodeOtherUser, "POST", "/v1/messages", `{"from_agent":"lead","to_agent":"dev","body":"x"}`)
	if !strings.Contains(a.Error, "belongs to root") {
		t.Errorf("the refusal says %q", a.Error)
	}
	own := newClient(t, h)
	own.ok(201, "POST", "/v1/messages", `{"from_agent":"lead","to_agent":"dev","body":"x"}`)
	operator := own.with(api.HeaderOperator, h.Store.OperatorToken())
	operator.ok(200, "POST", "/v1/users", `{"user":"65534"}`)
	if a := c.ok(201, "POST", "/v1/messages", `{"from_agent":"lead","to_agent":"dev","body":"x"}`); a.row("local_user") == nil {
		t.Errorf("the message of another user is %s", a.Result)
	}
	c.refused(hub.CodeOtherUser, "GET", "/v1/resolve?path=/root", "")
}
