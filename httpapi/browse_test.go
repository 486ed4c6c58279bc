package httpapi_test

import (
	"context"
	"strings"
	"testing"

	"hubcli/api"
	"hubcli/hub"
	"hubcli/internal/testhub"
	"hubcli/supervisor"
)

// refusingPage stands in for the engine: it fails as the path of the URL says.
type refusingPage struct{}

func (refusingPage) Step(_ context.Context, room hub.RoomID, hosts []hub.AllowedHost, in *hub.BrowseInput) (hub.BrowsePage, *hub.Picture, error) {
	if _, code, ok := strings.Cut(in.URL, "/fail/"); ok {
		return hub.BrowsePage{}, nil, hub.NewError(hub.Code(code), "as the test wants it")
	}
	var picture *hub.Picture
	if in.Action == hub.BrowseScreenshot {
		picture = &hub.Picture{Data: []byte("\x89PNG"), ContentType: "image/png"}
	}
	notes := []string{}
	for _, h := range hosts {
		notes = append(notes, string(h))
	}
	return hub.BrowsePage{RoomID: room, Action: in.Action, URL: in.URL, Notes: notes}, picture, nil
}

func (refusingPage) Sweep() {}
func (refusingPage) Close() {}

// TestBrowse walks the wire of a room's page: each action, each refusal, and the hosts
// that the operator alone allows.
func TestBrowse(t *testing.T) {
	h := testhub.Start(t, testhub.With(func(c *supervisor.Config) { c.Browser = refusingPage{} }))
	c := newClient(t, h)
	operator := c.with(api.HeaderOperator, h.Store.OperatorToken())
	room := newRoom(c, "browsing", "Browsing")
	path, hosts := "/v1/rooms/"+room+"/browser", "/v1/rooms/"+room+"/hosts"
	for _, step := range []string{
		`"action":"open","url":"http://x/"`, `"action":"snapshot"`, `"action":"click","ref":"e1"`, `"action":"type","ref":"e1","text":"x","submit":true`,
		`"action":"press","key":"Enter"`, `"action":"select","ref":"e1","values":["a"]`, `"action":"screenshot","full":true`, `"action":"back"`, `"action":"close"`,
	} {
		c.ok(200, "POST", path, `{"agent_id":"ann",`+step+`}`)
	}
	for _, code := range []hub.Code{
		hub.CodeBrowserMissing, hub.CodeBrowserFailed, hub.CodePageFailed, hub.CodePageTimeout, hub.CodeAddressRefused, hub.CodeStaleRef,
	} {
		a := c.refused(code, "POST", path, `{"agent_id":"ann","action":"open","url":"http://x/fail/`+string(code)+`"}`)
		if a.status != hub.InfoOf(code).Status {
			t.Errorf("%s has the status %d", code, a.status)
		}
	}
	c.refused(hub.CodeBrowserBusy, "POST", path, `{"agent_id":"ben","action":"back"}`)
	c.refused(hub.CodeRoomNotFound, "POST", "/v1/rooms/r_zz/browser", `{"agent_id":"ann","action":"back"}`)
	for _, bad := range []string{
		`{"action":"back"}`, `{"agent_id":"ann","action":"evaluate"}`, `{"agent_id":"ann","action":"open"}`, `{"agent_id":"ann","action":"open","url":"file:///etc/passwd"}`,
		`{"agent_id":"ann","action":"open","url":"http://u:p@x/"}`, `{"agent_id":"ann","action":"back","ref":"e1"}`,
	} {
		c.refused(hub.CodeInvalid, "POST", path, bad)
	}

	c.refused(hub.CodeOperatorRequired, "PUT", hosts, `{"host":"localhost:3000"}`)
	operator.refused(hub.CodeInvalid, "PUT", hosts, `{"host":"http://localhost"}`)
	operator.refused(hub.CodeRoomNotFound, "PUT", "/v1/rooms/r_zz/hosts", `{"host":"localhost"}`)
	if a := operator.ok(200, "PUT", hosts, `{"host":"LOCALHOST:3000"}`); !strings.Contains(string(a.Result), `"allowed_hosts":["localhost:3000"]`) {
		t.Errorf("the room is %s", a.Result)
	}
	if a := c.ok(200, "POST", path, `{"agent_id":"ann","action":"snapshot"}`); !strings.Contains(string(a.Result), `"notes":["localhost:3000"]`) {
		t.Errorf("the page is told of %s", a.Result)
	}
	if a := c.ok(200, "GET", "/v1/rooms/"+room+"/status", ""); !strings.Contains(string(a.Result), `"key":"browser:`+room+`"`) {
		t.Errorf("the status is %s", a.Result)
	}
	if a := operator.ok(200, "PUT", hosts, `{"host":"localhost:3000","remove":true}`); strings.Contains(string(a.Result), "allowed_hosts") {
		t.Errorf("the room is %s", a.Result)
	}
	without := newClient(t, testhub.Start(t))
	without.refused(hub.CodeBrowserFailed, "POST", "/v1/rooms/"+newRoom(without, "pages", "Hall")+"/browser", `{"agent_id":"ann","action":"back"}`)
}

// withPage gives a hub a page that fails as a test wants it.
func withPage(c *supervisor.Config) { c.Browser = refusingPage{} }
