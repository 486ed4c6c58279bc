package httpapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hubcli/actors/gate"
	"hubcli/api"
	"hubcli/hub"
	"hubcli/integrations/provider"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
	"hubcli/supervisor"
)

// repetition is one write with a key, and what it was answered first.
type repetition struct {
	op           string
	by           *client // sends the key
	method, path string
	body         string
	first        answer
	// now says that a repetition shows the row as it is then, so that only the status is compared.
	now bool
}

// repeated is a hub of which every keyed write is called, and then called again.
type repeated struct {
	t        *testing.T
	c        *client
	operator *client
	dir      string
	calls    []repetition
}

// text returns one member of the result that is a text.
func (a answer) text(name string) string {
	text, _ := a.row(name).(string)
	return text
}

// do makes the first call of an operation, with a key of its own.
func (r *repeated) do(op string, by *client, path, body string) answer {
	r.t.Helper()
	o := api.OperationByID(op)
	keyed := by.with(api.HeaderIdempotency, fmt.Sprintf("%s-%d", op, len(r.calls)))
	a := keyed.call(o.Method, path, body)
	if a.status >= 300 {
		r.t.Errorf("%s: %s %s %s: %d %s %s", op, o.Method, path, body, a.status, a.Code, a.Error)
		return a
	}
	r.calls = append(r.calls, repetition{op: op, by: keyed, method: o.Method, path: path, body: body, first: a})
	return a
}

// nowOf makes the first call of an operation whose repetition shows the row as it is then.
func (r *repeated) nowOf(op string, by *client, path, body string) answer {
	r.t.Helper()
	a := r.do(op, by, path, body)
	if n := len(r.calls); n > 0 {
		r.calls[n-1].now = true
	}
	return a
}

// again makes all calls once more. after says what has changed.
func (r *repeated) again(after string) {
	r.t.Helper()
	for i := range r.calls {
		call := &r.calls[i]
		a := call.by.call(call.method, call.path, call.body)
		switch {
		case a.status != call.first.status:
			r.t.Errorf("%s, repeated after %s: first %d, then %d %s %s", call.op, after, call.first.status, a.status, a.Code, a.Error)
		case a.header.Get(api.HeaderReplayed) != "true" && !strings.Contains(" clear browse requestPermission ", " "+call.op+" "):
			r.t.Errorf("%s, repeated after %s: the answer does not say that it is one of before", call.op, after)
		case !call.now && string(a.Result) != string(call.first.Result):
			r.t.Errorf("%s, repeated after %s:\nfirst %s\nthen  %s", call.op, after, call.first.Result, a.Result)
		}
	}
}

// TestEveryRepetitionIsAnsweredAsBefore calls each write of the wire that keeps its answer with a key.
// Then the operator archives, pauses, mutes, ends and retires what the calls were about, their folders
// and plans go, and the hub is started again. Each repetition gets its first answer all the same. A
// write that is added to the table of operations fails here until it is called.
func TestEveryRepetitionIsAnsweredAsBefore(t *testing.T) {
	r := &repeated{t: t, dir: t.TempDir()}
	key := "k-repeat"
	url, down := vendor(t, key)
	k := newKeys(nil)
	begin := func() *testhub.Hub {
		return testhub.Start(t, testhub.With(func(c *supervisor.Config) {
			c.Storage, c.DataRoot = filepath.Join(r.dir, "store"), filepath.Join(r.dir, "data")
			c.Directory, c.Credentials, c.Browser = &provider.Client{}, k, refusingPage{}
			c.Adapters, c.Licenses = onlyAdapter{}, onlyLicense{}
			spawning(c)
		}))
	}
	h := begin()
	r.c = newClient(t, h)
	r.operator = r.c.with(api.HeaderOperator, h.Store.OperatorToken())
	room := r.everything(url, key)
	called := map[string]bool{}
	for _, call := range r.calls {
		called[call.op] = true
	}
	for _, row := range gate.Rows() {
		if row.Answer.Applies != called[row.Op] {
			t.Errorf("%s: it keeps its answer: %v; this test calls it: %v", row.Op, row.Answer.Applies, called[row.Op])
		}
	}
	r.again("nothing")

	operator := r.operator
	operator.ok(200, "PUT", "/v1/rooms/"+room+"/archived", `{"archived":true}`)
	operator.ok(200, "PUT", "/v1/projects/repeats/archived", `{"archived":true}`)
	r.again("the archive")
	operator.ok(200, "PUT", "/v1/projects/repeats/archived", `{"archived":false}`)
	operator.ok(200, "POST", "/v1/pauses", `{"all":true,"words":"stop"}`)
	operator.ok(200, "POST", "/v1/mutes", `{"agent_id":"dev"}`)
	r.again("a pause and a mute")
	down(500)
	k.lock(true)
	require.NoError(t, os.RemoveAll(filepath.Join(r.dir, "folder")))
	require.NoError(t, os.RemoveAll(filepath.Join(r.dir, "out")))
	r.again("the folder, the files and the provider were gone")

	address := strings.TrimPrefix(h.URL, "http://")
	require.NoError(t, h.Stop())
	testhub.Start(t, testhub.With(func(c *supervisor.Config) {
		_ = c.Listener.Close()
		l, err := net.Listen("tcp", address)
		require.NoError(t, err)
		c.Listener = l
		c.Storage, c.DataRoot = filepath.Join(r.dir, "store"), filepath.Join(r.dir, "data")
		c.Directory, c.Credentials, c.Browser = &provider.Client{}, k, refusingPage{}
		c.Adapters, c.Licenses = onlyAdapter{}, onlyLicense{}
		spawning(c)
	}))
	r.again("a start")
}

// everything makes all calls and returns their room.
func (r *repeated) everything(url, key string) string {
	t, c := r.t, r.c
	require.NoError(t, os.MkdirAll(filepath.Join(r.dir, "folder"), 0o755))
	require.NoError(t, os.MkdirAll(filepath.Join(r.dir, "out"), 0o755))
	r.do("createProject", c, "/v1/projects", `{"name":"Repeats","created_by":"dev"}`)
	room := r.do("createRoom", c, "/v1/rooms", `{"project":"repeats","name":"Hall","created_by":"dev"}`).text("room_id")
	in := func(body string) string {
		return strings.NewReplacer("ROOM", room, "FOLDER", filepath.Join(r.dir, "folder"), "OUT", filepath.Join(r.dir, "out")).Replace(body)
	}
	r.do("createChannel", c, "/v1/channels", `{"name":"repeats","created_by":"dev"}`)
	r.do("bindRoom", c, in("/v1/rooms/ROOM/binding"), in(`{"path":"FOLDER","agent_id":"dev"}`))
	r.sessions()
	r.work(in)
	r.rulings(in, url, key)
	r.outside(in)
	r.do("unbindRoom", c, in("/v1/rooms/ROOM/binding"), in(`{"path":"FOLDER","agent_id":"dev"}`))
	return room
}

func (r *repeated) sessions() {
	c, operator := r.c, r.operator
	r.do("register", c, "/v1/sessions", `{"agent_id":"dev"}`)
	prior := c.ok(201, "POST", "/v1/sessions", `{"agent_id":"back"}`)
	r.do("resumeSession", c, "/v1/sessions/resume", fmt.Sprintf(`{"prior_session_id":%q,"resume_key":%q}`, prior.row("session_id"), prior.row("resume_key")))
	r.do("renameSession", c, "/v1/sessions/dev/rename", `{"display_name":"Dev"}`)
	gone := c.ok(201, "POST", "/v1/sessions", `{"agent_id":"gone"}`)
	r.do("closeSession", c, "/v1/sessions/"+gone.text("session_id"), "")
	c.ok(201, "POST", "/v1/sessions", `{"agent_id":"ended"}`)
	r.do("endSession", operator, "/v1/sessions/ended/end", `{"reason":"x"}`)
	c.ok(201, "POST", "/v1/messages", `{"from_agent":"dev","to_agent":"silent","body":"are you there?"}`)
	r.do("retireAgent", operator, "/v1/agents/silent/retire", `{}`)
}

// work calls what agents do in a room.
func (r *repeated) work(in func(string) string) {
	c := r.c
	task := func() string {
		a := c.ok(201, "POST", "/v1/messages", in(`{"from_agent":"lead","channel":"room-ROOM","kind":"task","body":"work"}`))
		return string(appendID(a.id()))
	}
	r.do("postMessage", c, "/v1/messages", in(`{"from_agent":"dev","channel":"room-ROOM","body":"hello"}`))
	r.do("postMessage", c, "/v1/messages", in(`{"from_agent":"dev","channel":"room-ROOM","kind":"task","body":"work"}`))
	r.do("postMessage", c, "/v1/messages", `{"from_agent":"dev","to_agent":"lead","body":"psst"}`)
	r.do("postMessage", c, "/v1/messages", `{"from_agent":"dev","to_agent":"operator","body":"may I?"}`)
	r.do("addDecision", c, "/v1/decisions", in(`{"room_id":"ROOM","by":"dev","title":"t"}`))
	r.do("addArtifact", c, "/v1/artifacts", in(`{"room_id":"ROOM","by":"dev","title":"t","kind":"doc","body":"x"}`))
	r.do("remember", c, "/v1/memory", in(`{"room_id":"ROOM","by":"dev","key":"k","text":"x"}`))
	r.nowOf("sit", c, in("/v1/rooms/ROOM/seats"), `{"agent_id":"sitter"}`)
	run := r.nowOf("createRun", c, "/v1/runs", in(`{"room_id":"ROOM","created_by":"dev","title":"run"}`)).text("run_id")
	r.nowOf("addRunTasks", c, "/v1/runs/"+run+"/tasks", `{"agent_id":"dev","task_ids":[`+task()+`]}`)
	r.do("updateTask", c, "/v1/tasks/"+task(), `{"agent_id":"dev","status":"working"}`)
	r.do("completeTask", c, "/v1/tasks/"+task()+"/complete", `{"agent_id":"dev","note":"done"}`)
	offered := task()
	c.ok(200, "POST", "/v1/tasks/"+offered, `{"agent_id":"dev","status":"working"}`)
	r.do("handoffTask", c, "/v1/tasks/"+offered+"/handoff", `{"agent_id":"dev","to_agent":"lead"}`)
	r.do("acceptTask", c, "/v1/tasks/"+offered+"/accept", `{"agent_id":"lead"}`)
	declined := task()
	c.ok(200, "POST", "/v1/tasks/"+declined, `{"agent_id":"dev","status":"working"}`)
	c.ok(200, "POST", "/v1/tasks/"+declined+"/handoff", `{"agent_id":"dev","to_agent":"lead"}`)
	r.do("declineTask", c, "/v1/tasks/"+declined+"/decline", `{"agent_id":"lead"}`)
	r.nowOf("claim", c, "/v1/claims", `{"owner_agent_id":"dev","claim_key":"k","ttl_sec":600}`)
	r.nowOf("refreshClaim", c, "/v1/claims/refresh", `{"owner_agent_id":"dev","claim_key":"k","ttl_sec":900}`)
	c.ok(201, "POST", "/v1/claims", `{"owner_agent_id":"dev","claim_key":"k2"}`)
	r.nowOf("releaseClaim", c, "/v1/claims/release", `{"agent_id":"dev","claim_key":"k2"}`)
	r.nowOf("lock", c, "/v1/locks", `{"agent_id":"dev","file_path":"/f","ttl_sec":600}`)
	r.nowOf("refreshLock", c, "/v1/locks/refresh", `{"agent_id":"dev","file_path":"/f","ttl_sec":900}`)
	c.ok(201, "POST", "/v1/locks", `{"agent_id":"dev","file_path":"/g"}`)
	r.nowOf("releaseLock", c, "/v1/locks/release", `{"agent_id":"dev","file_path":"/g"}`)
	first := r.nowOf("ask", c, "/v1/asks", in(`{"agent_id":"dev","room_id":"ROOM","question":"which?"}`))
	r.nowOf("answerAsk", r.operator, "/v1/asks/"+first.text("ask_id")+"/answer", `{"answer":"this"}`)
	r.nowOf("takeBackAnswer", r.operator, "/v1/asks/"+first.text("ask_id")+"/take-back", `{"by":"Eva"}`)
	second := c.ok(201, "POST", "/v1/asks", `{"agent_id":"dev","question":"and which?"}`)
	r.nowOf("withdrawAsk", c, "/v1/asks/"+second.text("ask_id")+"/withdraw", `{"agent_id":"dev"}`)
	r.do("requestPermission", c, "/v1/permissions/requests", `{"agent_id":"dev","tool":"Bash","command":"ls"}`)
	invite := r.do("createInvite", c, "/v1/invites", in(`{"project":"repeats","room":"ROOM","by":"dev"}`))
	r.nowOf("acceptInvite", c, "/v1/invites/"+invite.text("code")+"/accept", `{"agent_id":"guest"}`)
	other := c.ok(201, "POST", "/v1/invites", in(`{"project":"repeats","room":"ROOM","by":"dev"}`))
	r.do("revokeInvite", c, "/v1/invites/"+other.text("invite_id")+"/revoke", `{}`)
	r.do("browse", c, in("/v1/rooms/ROOM/browser"), `{"agent_id":"dev","action":"open","url":"http://x.example/"}`)
}

// rulings calls what the operator decides.
func (r *repeated) rulings(in func(string) string, url, key string) {
	c, operator := r.c, r.operator
	project := c.ok(201, "POST", "/v1/projects", `{"name":"Attic"}`).text("project_id")
	box := c.ok(201, "POST", "/v1/rooms", `{"project":"attic","name":"Box"}`).text("room_id")
	c.ok(201, "POST", "/v1/channels", `{"name":"attic"}`)
	r.do("setRoomGuard", operator, "/v1/rooms/"+box+"/guard", `{"hops":50}`)
	r.do("setRoomLocks", operator, "/v1/rooms/"+box+"/locks", `{"locks":"refuse"}`)
	r.do("allowHost", operator, "/v1/rooms/"+box+"/hosts", `{"host":"localhost:3000"}`)
	r.do("renameRoom", operator, "/v1/rooms/"+box+"/name", `{"name":"Case"}`)
	r.do("renameProject", operator, "/v1/projects/"+project+"/name", `{"name":"Loft"}`)
	r.do("archiveRoom", operator, "/v1/rooms/"+box+"/archived", `{"archived":true}`)
	r.do("archiveProject", operator, "/v1/projects/"+project+"/archived", `{"archived":true}`)
	r.do("archiveChannel", operator, "/v1/channels/archived", `{"channel":"attic","archived":true}`)
	r.do("pause", operator, "/v1/pauses", `{"agent_id":"paul","words":"stop"}`)
	r.do("endPause", operator, "/v1/pauses/resume", `{"agent_id":"paul"}`)
	r.do("mute", operator, "/v1/mutes", `{"agent_id":"mary"}`)
	r.do("endMute", operator, "/v1/mutes/end", `{"agent_id":"mary"}`)
	r.do("setBudget", operator, "/v1/budgets", `{"agent_id":"paul","chars":100000}`)
	c.ok(201, "POST", "/v1/claims", `{"owner_agent_id":"paul","claim_key":"stuck"}`)
	c.ok(201, "POST", "/v1/locks", `{"agent_id":"paul","file_path":"/stuck"}`)
	r.nowOf("breakClaim", operator, "/v1/claims/break", `{"claim_key":"stuck","reason":"x"}`)
	r.nowOf("breakLock", operator, "/v1/locks/break", `{"file_path":"/stuck","reason":"x"}`)
	r.do("setToolSurface", operator, "/v1/tool-surface", `{"harness":"codex","surface":"full"}`)
	r.do("setNotify", operator, "/v1/notify", `{"version":0,"webhook":"http://127.0.0.1:1/"}`)
	r.do("testNotify", operator, "/v1/notify/test", "")
	r.do("setPermissions", operator, "/v1/permissions", `{"version":0,"rules":[]}`)
	r.do("allowUser", operator, "/v1/users", `{"user":"`+otherUser+`"}`)
	r.do("refuseUser", operator, "/v1/users/refuse", `{"user":"`+otherUser+`"}`)
	code := operator.ok(200, "POST", "/v1/passes/codes", `{}`).text("code")
	pass := r.do("createPass", c, "/v1/passes", `{"code":"`+code+`"}`).text("pass_id")
	r.do("endPass", operator, "/v1/passes/"+pass+"/end", `{}`)
	r.do("createConnection", operator, "/v1/connections", fmt.Sprintf(`{"label":"one","provider_id":"custom","endpoint":%q,"key":%q}`, url, key))
	r.do("updateConnection", operator, "/v1/connections/one", `{"label":"two"}`)
	r.do("setConnectionKey", operator, "/v1/connections/two/key", fmt.Sprintf(`{"key":%q}`, key))
	r.do("verifyConnection", operator, "/v1/connections/two/verify", "")
	r.do("deleteConnection", operator, "/v1/connections/two", "")
	plan := operator.ok(200, "POST", "/v1/clear/plan", `{"kind":"questions","by":"dev"}`)
	var planned hub.ClearPlan
	require.NoError(r.t, json.Unmarshal(plan.Result, &planned))
	confirm, err := json.Marshal(map[string]any{"kind": planned.Kind, "ids": idsOf(planned.Rows), "digest": planned.Digest})
	require.NoError(r.t, err)
	r.do("clear", operator, "/v1/clear", string(confirm))
	policy := hub.SpawnPolicyInput{Commands: []hub.SpawnCommand{{Harness: hub.HarnessCodex, Args: []string{"/bin/sh", "-c", "exec sleep 600", "--", "{prompt}"}}}}
	policy.Allow = []hub.SpawnAllowance{{RoomID: hub.RoomID(in("ROOM")), Harness: hub.HarnessCodex, MaxSeats: 1}}
	body, err := json.Marshal(policy)
	require.NoError(r.t, err)
	r.do("setSpawnPolicy", operator, "/v1/spawn/policy", string(body))
	spawned := r.nowOf("spawn", c, "/v1/spawn", in(`{"room_id":"ROOM","harness":"codex","by":"dev","prompt":"x"}`)).text("spawn_id")
	r.nowOf("stopSpawn", c, "/v1/spawn/"+spawned+"/stop", `{"agent_id":"dev"}`)
	endedSpawn(r.t, c, spawned)
}

func idsOf(rows []hub.Clearable) []string {
	ids := []string{}
	for _, row := range rows {
		ids = append(ids, row.ID)
	}
	return ids
}

// outside calls what changes files and programs.
func (r *repeated) outside(in func(string) string) {
	t, operator := r.t, r.operator
	for _, op := range []string{"install", "repair", "uninstall"} {
		r.do(op+"Adapter", operator, "/v1/adapters/codex/"+op, `{}`)
	}
	r.do("activateLicense", operator, "/v1/license/activate", `{"key":"K-1"}`)
	r.do("deactivateLicense", operator, "/v1/license/deactivate", `{}`)
	const exports, imports = "/v1/capsules/export", "/v1/capsules/import"
	digest := func(path, id string) string {
		a := operator.ok(200, "GET", path+"/"+id, "").text("plan_digest")
		return `{"confirm":"` + a + `"}`
	}
	given := awaitPlan(t, operator, operator.ok(200, "POST", exports, in(`{"project":"repeats","out":"OUT/given.hubpack"}`)))
	r.do("cancelExport", operator, exports+"/"+given, "")
	id := awaitPlan(t, operator, operator.ok(200, "POST", exports, in(`{"project":"repeats","out":"OUT/p.hubpack"}`)))
	r.do("confirmExport", operator, exports+"/"+id+"/confirm", digest(exports, id))
	operator.ok(200, "DELETE", exports+"/"+id, "")
	body := in(`{"path":"OUT/p.hubpack"}`)
	given = awaitImport(t, operator, operator.ok(200, "POST", imports, body), "ready")
	r.do("cancelImport", operator, imports+"/"+given, "")
	id = awaitImport(t, operator, operator.ok(200, "POST", imports, body), "ready")
	awaitImport(t, operator, r.nowOf("confirmImport", operator, imports+"/"+id+"/confirm", digest(imports, id)), "done")
	operator.ok(200, "DELETE", imports+"/"+id, "")
}

// otherUser is a user of every system.
const otherUser = "nobody"

// onlyAdapter stands in for a harness that is set up at each call.
type onlyAdapter struct{ adapterSet }

type adapterSet = supervisor.Adapters

func (onlyAdapter) Installed() []string { return nil }

func (onlyAdapter) ChangeAdapter(context.Context, hub.Harness, hub.AdapterAction, hub.AdapterInput) (hub.AdapterResult, error) {
	return hub.AdapterResult{
		Changed: true, Files: []hub.AdapterFile{}, Backups: []string{}, FollowUps: []string{},
		Place: hub.AdapterPlace{Scope: hub.AdapterGlobal, Parts: []hub.AdapterPart{}},
	}, nil
}

// onlyLicense stands in for a license that no server proves.
type onlyLicense struct{ hub.Licenses }

func (onlyLicense) ActivateLicense(context.Context, hub.LicenseActivateInput) (hub.License, error) {
	return hub.License{State: hub.LicenseNone, Why: "activated"}, nil
}

func (onlyLicense) DeactivateLicense(context.Context, hub.LicenseDeactivateInput) (hub.License, error) {
	return hub.License{State: hub.LicenseNone, Why: "deactivated"}, nil
}
