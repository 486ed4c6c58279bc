package client_test

import (
	"net/url"
	"reflect"
	"testing"

	"hubcli/hub"
)

// TestListsGoOn calls every method that answers a page of a list: each sends
// the cursor and limit of its query, and returns the cursor of the answer.
func TestListsGoOn(t *testing.T) {
	service, cursor := reflect.TypeFor[hub.Service](), reflect.TypeFor[hub.Cursor]()
	lists := 0
	for i := range service.NumMethod() {
		m := service.Method(i)
		if m.Type.NumOut() != 3 || m.Type.Out(1) != cursor {
			continue
		}
		lists++
		t.Run(m.Name, func(t *testing.T) {
			h := newFakeHub(t, says(200, `{"ok":true,"result":[{}],"next_cursor":"behind"}`))
			h.noted(t) // some are for the operator alone
			q := reflect.New(m.Type.In(1)).Elem()
			q.FieldByName("Limit").SetInt(7)
			q = q.MethodByName("At").Call([]reflect.Value{reflect.ValueOf(hub.Cursor("begin_-"))})[0]
			got := reflect.ValueOf(h.client(t, nil)).MethodByName(m.Name).Call([]reflect.Value{reflect.ValueOf(t.Context()), q})
			if got[0].Len() != 1 || got[1].Interface() != hub.Cursor("behind") || !got[2].IsNil() {
				t.Errorf("got %v", got)
			}
			requests := h.requests()
			sent, err := url.Parse(requests[len(requests)-1].uri)
			if err != nil || sent.Query().Get("cursor") != "begin_-" || sent.Query().Get("limit") != "7" {
				t.Errorf("sent %v, %v", sent, err)
			}
		})
	}
	if lists < 14 {
		t.Errorf("the service has %d lists", lists)
	}
}
