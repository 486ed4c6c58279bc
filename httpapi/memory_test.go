package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
	"hubcli/internal/testrace"
	"hubcli/supervisor"
)

// newRoom makes a room and returns its id.
func newRoom(c *client, project, name string) string {
	c.call("POST", "/v1/projects", `{"name":"`+project+`"}`)
	return fmt.Sprint(c.ok(201, "POST", "/v1/rooms", `{"project":"`+project+`","name":"`+name+`"}`).row("room_id"))
}

func walkMemory(t *testing.T, c *client) {
	room := newRoom(c, "keeping", "Kitchen")
	say := func(body string) string { return strings.ReplaceAll(body, "R", room) }
	first := c.ok(201, "POST", "/v1/memory", say(`{"room_id":"R","text":"the oven is broken","key":"oven","tags":["kit"],"by":"lead"}`))
	if first.row("key") != "oven" || first.row("replaced_at") != nil || first.row("room_id") != room {
		t.Errorf("the memory is %s", first.Result)
	}
	c.ok(201, "POST", "/v1/memory", say(`{"room_id":"R","text":"the oven is repaired","key":"oven"}`))
	c.ok(201, "POST", "/v1/memory", say(`{"room_id":"R","text":"shared by all rooms","scope":"project"}`))
	for query, want := range map[string]int{
		"": 2, "&scope=room": 1, "&scope=project": 1, "&key=oven": 1, "&key=none": 0, "&history=yes": 3, "&key=oven&history=1": 2,
		"&tag=kit": 0, "&tag=kit&history=1": 1, "&limit=1": 1, "&memory_id=m_0": 0,
		"&memory_id=" + fmt.Sprint(first.row("memory_id")) + "&history=true": 1,
	} {
		if n := c.ok(200, "GET", "/v1/memory?room_id="+room+query, "").rows(); n != want {
			t.Errorf("%d memories for %q, want %d", n, query, want)
		}
	}
	var rows []hub.Memory
	require.NoError(t, json.Unmarshal(c.ok(200, "GET", "/v1/memory?max_chars=25&room_id="+room, "").Result, &rows))
	if rows[0].Text != "shared by all rooms" || rows[1].Text != "the ov" || rows[1].Truncated == nil || rows[1].Truncated.Chars != 20 {
		t.Errorf("within 25 characters there is %+v", rows)
	}
	whole := c.ok(200, "GET", strings.TrimPrefix(rows[1].Truncated.Fetch, "GET "), "")
	if !strings.Contains(string(whole.Result), "the oven is repaired") {
		t.Errorf("%s returns %s", rows[1].Truncated.Fetch, whole.Result)
	}
	forgotten := c.ok(201, "POST", "/v1/memory", say(`{"room_id":"R","key":"oven"}`))
	if forgotten.row("replaced_at") == nil {
		t.Errorf("what forgets is %s", forgotten.Result)
	}
	if n := c.ok(200, "GET", "/v1/memory?key=oven&room_id="+room, "").rows(); n != 0 {
		t.Errorf("%d memories of a key that was forgotten", n)
	}
	c.refused(hub.CodeMemoryNotFound, "POST", "/v1/memory", say(`{"room_id":"R","key":"oven"}`))
	c.refused(hub.CodeRoomNotFound, "POST", "/v1/memory", `{"room_id":"r_0","text":"x"}`)
	c.refused(hub.CodeRoomNotFound, "GET", "/v1/memory?room_id=r_0", "")
	c.refused(hub.CodeTextTooLarge, "POST", "/v1/memory", say(`{"room_id":"R","text":"`)+strings.Repeat("x", hub.MaxMemoryChars+1)+`"}`)
	for _, body := range []string{
		`{"text":"x"}`, `{"room_id":"R"}`, `{"room_id":"R","text":"  "}`, `{"room_id":"R","text":"x","scope":"world"}`,
		`{"room_id":"R","text":"x","tags":[""]}`, `{"room_id":"R","text":"x","key":"` + strings.Repeat("k", 201) + `"}`,
		`{"room_id":"R","text":"x","tags":[` + strings.Repeat(`"t",`, hub.MaxMemoryTags) + `"t"]}`,
	} {
		c.refused(hub.CodeInvalid, "POST", "/v1/memory", say(body))
	}
	for _, query := range []string{"", "?room_id=" + room + "&scope=x", "?room_id=" + room + "&limit=0", "?room_id=" + room + "&query=%22%22"} {
		c.refused(hub.CodeInvalid, "GET", "/v1/memory"+query, "")
	}
	walkSearch(t, c, room)
}

func walkSearch(t *testing.T, c *client, room string) {
	testhub.AwaitSearch(t, c.base)
	c.ok(201, "POST", "/v1/memory", `{"room_id":"`+room+`","text":"zebras sleep standing","key":"zebra"}`)
	c.ok(201, "POST", "/v1/messages", `{"from_agent":"dev","channel":"room-`+room+`","body":"a zebra asked for parseInt in pkg/zoo_keeper.go"}`)
	c.ok(201, "POST", "/v1/messages", `{"from_agent":"dev","to_agent":"lead","body":"a secret zebra"}`)
	for query, want := range map[string]int{
		"q=zebra": 2, "q=zebra&agent_id=lead": 3, "q=zebra&agent_id=other": 2, "q=zebra&type=memory": 1, "q=zebra&type=memory&type=message": 2,
		"q=zebra&room_id=" + room: 2, "q=zebra&channel=room-" + room: 1, "q=zebra&from_agent=dev": 1, "q=zebra&kind=chat": 1, "q=zebra&limit=1": 1,
		"q=parseint": 1, "q=parse": 1, "q=zoo_keeper": 1, "q=%22zebra+asked%22": 1, "q=%22asked+zebra%22": 0, "q=zebra+-parseInt": 1,
		"q=zebra&since=2999-01-01T00:00:00Z": 0, "q=nowhere": 0,
	} {
		found := c.ok(200, "GET", "/v1/search?"+query, "")
		if found.rows() != want || found.Behind == nil || *found.Behind != 0 {
			t.Errorf("%s finds %s, want %d", query, found.Result, want)
		}
	}
	best := c.ok(200, "GET", "/v1/memory?query=standing+zebra&room_id="+room, "")
	if best.rows() != 1 || !strings.Contains(string(best.Result), "zebras sleep standing") {
		t.Errorf("the memory of zebras is %s", best.Result)
	}
	c.refused(hub.CodeRoomNotFound, "GET", "/v1/search?q=zebra&room_id=r_0", "")
	c.refused(hub.CodeChannelNotFound, "GET", "/v1/search?q=zebra&channel=none", "")
	for _, query := range []string{"", "?q=+", "?q=-zebra", "?q=%22%22", "?q=x&type=y", "?q=x&since=now", "?q=" + strings.Repeat("x", hub.MaxQueryChars+1)} {
		c.refused(hub.CodeInvalid, "GET", "/v1/search"+query, "")
	}
	c.refused(hub.CodeOperatorRequired, "GET", "/v1/search?q=x&agent_id=operator", "")
}

// TestWithoutIndex: a hub that cannot search says so and does everything else.
func TestWithoutIndex(t *testing.T) {
	c := newClient(t, testhub.Start(t, testhub.With(func(c *supervisor.Config) { c.WithoutSearch = true })))
	room := newRoom(c, "keeping", "Kitchen")
	c.ok(201, "POST", "/v1/memory", `{"room_id":"`+room+`","text":"x"}`)
	c.ok(200, "GET", "/v1/memory?room_id="+room, "")
	c.refused(hub.CodeSearchUnavailable, "GET", "/v1/search?q=x", "")
	c.refused(hub.CodeSearchUnavailable, "GET", "/v1/memory?query=x&room_id="+room, "")
	if info := c.ok(200, "GET", "/v1/hub-info", ""); strings.Contains(string(info.Result), string(hub.FeatureSearch)) {
		t.Error("the hub says that it can search")
	}
}

// TestThereIsALimitOfMemories: a memory beyond the limit is refused, replacing
// one is allowed, and forgetting one makes room.
func TestThereIsALimitOfMemories(t *testing.T) {
	testrace.Avoid(t, "one goroutine fills a limit")
	c := newClient(t, testhub.Start(t, testhub.With(func(c *supervisor.Config) { c.WithoutSearch = true })))
	room := newRoom(c, "keeping", "Kitchen")
	remember := func(key any, text string) string {
		return fmt.Sprintf(`{"room_id":"%s","key":"k%v","text":"%s"}`, room, key, text)
	}
	const workers = 50
	var wg sync.WaitGroup
	for worker := range workers {
		wg.Go(func() {
			for i := worker; i < hub.MaxKeptMemories; i += workers {
				c.call(http.MethodPost, "/v1/memory", remember(i, "x"))
			}
		})
	}
	wg.Wait()
	c.refused(hub.CodeRoomFull, "POST", "/v1/memory", remember("more", "x"))
	c.ok(201, "POST", "/v1/memory", remember(7, "y"))
	c.ok(201, "POST", "/v1/memory", remember(8, ""))
	c.ok(201, "POST", "/v1/memory", remember("more", "x"))
	c.refused(hub.CodeRoomFull, "POST", "/v1/memory", remember("and more", "x"))
}
