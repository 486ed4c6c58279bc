//go:build linux

package main

import (
	"archive/zip"
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"hubcli/api"
	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testfeature"
	"hubcli/internal/testkeyring"
	"hubcli/internal/testport"
)

// keysVariable says how many keys TestPlantedKeysAreNowhere plants.
const keysVariable = "HUBCLI_TEST_KEYS"

// plantedKeys are generated keys, and pieces of them by which a search finds them: as they
// are, and in base64 and hexadecimal digits.
type plantedKeys struct {
	keys   []string
	pieces map[string]int
}

const pieceLength = 16

// keptConnections is the number of the key from which on connections are deleted again.
const keptConnections = 64

func plantKeys(n int) *plantedKeys {
	p := &plantedKeys{pieces: map[string]int{}}
	for i := range n {
		b := make([]byte, 20)
		_, _ = rand.Read(b) // never fails
		key := "sk-" + base64.RawURLEncoding.EncodeToString(b)
		p.keys = append(p.keys, key)
		p.pieces[key[:pieceLength]], p.pieces[key[len(key)-pieceLength:]] = i, i
		p.pieces[hex.EncodeToString([]byte(key[4:12]))] = i
		for from := 3; from < 6; from++ { // a key may begin anywhere in a group of three bytes
			p.pieces[base64.StdEncoding.EncodeToString([]byte(key[from:from+12]))] = i
		}
	}
	return p
}

// in returns the number of a key that a text holds; false: it holds none.
func (p *plantedKeys) in(text []byte) (int, bool) {
	for i := 0; i+pieceLength <= len(text); i++ {
		if k, found := p.pieces[string(text[i:i+pieceLength])]; found {
			return k, true
		}
	}
	return 0, false
}

// plantedRig is a hub that runs as delivered, with every second key in its environment.
type plantedRig struct {
	t *testing.T
	*plantedKeys
	root, base, port, token string
	vendor                  *vendor
	stored                  bool // there is a credential store
	mu                      sync.Mutex
	where                   map[string]string // a place that has a key
}

// startPlanted starts the hub in a session with the bus of a credential store, or with one on
// which nobody answers.
func startPlanted(t *testing.T, n int, bus string) *plantedRig {
	t.Helper()
	port, err := testport.Take()
	require.NoError(t, err)
	r := &plantedRig{
		t: t, plantedKeys: plantKeys(n), root: t.TempDir(), port: strconv.Itoa(port), base: "http://127.0.0.1:" + strconv.Itoa(port),
		vendor: startVendor("another key"), stored: bus != noBus, where: map[string]string{},
	}
	t.Cleanup(r.vendor.Close)
	variables := []string{busName + "=" + bus}
	for i, key := range r.keys {
		variables = append(variables, fmt.Sprintf("PLANTED_%d=%s", i, key))
	}
	t.Cleanup(func() { crash(r.port) })
	r.run(variables, "ensure", "--port", r.port)
	token, err := os.ReadFile(filepath.Join(r.root, "data", "app.db", "operator.token"))
	require.NoError(t, err)
	r.token = strings.TrimSpace(string(token))
	return r
}

// run runs a command; what it prints is searched.
func (r *plantedRig) run(env []string, args ...string) {
	r.t.Helper()
	cmd := exec.Command("hubcli", args...)
	cmd.Env = append(append(os.Environ(), env...), "HUB_DATA_ROOT="+filepath.Join(r.root, "data"), "HOME="+r.root, "HUB_BASE_URL="+r.base)
	cmd.Dir = r.root
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("%q: %v: %s", args, err, out)
	}
	r.search(strings.Join(args, " "), out)
}

// search notes a place that has a key.
func (r *plantedRig) search(place string, text []byte) {
	if k, found := r.in(text); found {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.where[place] = r.keys[k]
	}
}

// call makes a call as the operator; its answer is searched.
func (r *plantedRig) call(method, path, body string, header ...string) (status int, answer []byte) {
	q, err := http.NewRequestWithContext(r.t.Context(), method, r.base+path, strings.NewReader(body))
	if err == nil {
		q.Header.Set(api.HeaderOperator, r.token)
		if method != http.MethodGet {
			q.Header.Set("Content-Type", "application/json")
		}
		for i := 0; i+1 < len(header); i += 2 {
			q.Header.Set(header[i], header[i+1])
		}
		var a *http.Response
		if a, err = http.DefaultClient.Do(q); err == nil {
			answer, err = io.ReadAll(a.Body)
			status = a.StatusCode
			_ = a.Body.Close()
			r.search("the headers of "+method+" "+path, fmt.Append(nil, a.Header))
		}
	}
	if err != nil {
		r.t.Errorf("%s %s: %v", method, path, err)
	}
	r.search("the answer to "+method+" "+path, answer)
	return status, answer
}

// plant gives the hub a key in one of the ways in which people and programs do, rightly and
// wrongly.
func (r *plantedRig) plant(i int) {
	key, label := r.keys[i], fmt.Sprintf("c%d", i)
	status, want, stored := 0, http.StatusBadRequest, hub.InfoOf(hub.CodeCredentialStore).Status
	if r.stored {
		stored = http.StatusCreated
	}
	custom := fmt.Sprintf(`"provider_id":"custom","endpoint":%q,"label":%q`, r.vendor.URL, label)
	switch i % 8 {
	case 0, 1: // a variable, and a provider that repeats the key in its refusal
		if status, _ = r.call("POST", "/v1/connections", fmt.Sprintf(`{%s,"key_variable":"PLANTED_%d"}`, custom, i)); status != http.StatusCreated {
			r.t.Errorf("a connection is answered %d", status)
		}
		status, _ = r.call("POST", "/v1/connections/"+label+"/verify", "{}")
		want = http.StatusBadGateway
	case 2: // the credential store, twice by the same call, and then another key
		body := fmt.Sprintf(`{%s,"key":%q}`, custom, key)
		status, _ = r.call("POST", "/v1/connections", body, "Idempotency-Key", label)
		again, _ := r.call("POST", "/v1/connections", body, "Idempotency-Key", label)
		if want = stored; again != status {
			r.t.Errorf("the same call is answered %d, and then %d", status, again)
		}
		_, _ = r.call("PUT", "/v1/connections/"+label+"/key", fmt.Sprintf(`{"key":%q}`, key+"-new"))
	case 3: // two places for one key
		status, _ = r.call("POST", "/v1/connections", fmt.Sprintf(`{%s,"key":%q,"no_key":true}`, custom, key))
	case 4: // a member that there is not, which is not looked at
		want = http.StatusCreated
		status, _ = r.call("POST", "/v1/connections", fmt.Sprintf(`{%s,"api_key":%q}`, custom, key))
	case 5: // another type, and a text that is cut off
		_, _ = r.call("POST", "/v1/connections", fmt.Sprintf(`{%s,"key":%q`, custom, key))
		status, _ = r.call("POST", "/v1/connections", fmt.Sprintf(`{%s,"key":[%q]}`, custom, key))
	case 6: // the key in the place of the variable's name
		status, _ = r.call("POST", "/v1/connections", fmt.Sprintf(`{%s,"key_variable":%q}`, custom, key))
	case 7: // a key with a blank
		status, _ = r.call("POST", "/v1/connections", fmt.Sprintf(`{%s,"key":%q}`, custom, key+" and more"))
	}
	if (i%8 <= 2 || i%8 == 4) && i >= keptConnections { // a hub has 200 at most
		_, _ = r.call("DELETE", "/v1/connections/"+label, "")
	}
	if status != want {
		r.t.Errorf("way %d is answered %d, want %d", i%8, status, want)
	}
}

// spawn starts agents with keys, which print them.
func (r *plantedRig) spawn(n int) {
	_, answer := r.call("GET", "/v1/rooms?project=shop", "")
	var rooms struct{ Result []hub.Room }
	require.NoError(r.t, json.Unmarshal(answer, &rooms))
	room := rooms.Result[0].RoomID
	policy, err := json.Marshal(hub.SpawnPolicyInput{
		Commands: []hub.SpawnCommand{{Harness: hub.HarnessCodex, Args: []string{"/bin/sh", "-c", "env; env >&2"}, Dir: "/"}},
		Allow:    []hub.SpawnAllowance{{RoomID: room, Harness: hub.HarnessCodex, MaxSeats: hub.MaxSpawnRunning}}, MaxPerHour: hub.MaxSpawnsPerHour,
	})
	require.NoError(r.t, err)
	if status, _ := r.call("PUT", "/v1/spawn/policy", string(policy)); status != http.StatusOK {
		r.t.Fatalf("the policy is answered %d", status)
	}
	for i := range n {
		var row struct{ Result hub.Spawn }
		status, answer := r.call("POST", "/v1/spawn", fmt.Sprintf(`{"room_id":%q,"harness":"codex","connection":"c%d"}`, room, i*8))
		if err := json.Unmarshal(answer, &row); status != http.StatusCreated || err != nil {
			r.t.Fatalf("a spawn is answered %d: %s", status, answer)
		}
		require.NoError(r.t, until(func() bool {
			_, answer := r.call("GET", "/v1/spawn/"+string(row.Result.SpawnID), "")
			return json.Unmarshal(answer, &row) == nil && row.Result.Status.Terminal()
		}))
		if row.Result.ArtifactID == nil {
			r.t.Fatalf("the output is not kept: %+v", row.Result)
		}
		_, output := r.call("GET", "/v1/artifacts/"+string(*row.Result.ArtifactID)+"/content", "")
		if mark := fmt.Sprintf("[the value of PLANTED_%d]", i*8); strings.Count(string(output), mark) != 2 {
			r.t.Errorf("the child had no key: %s", output)
		}
	}
}

// look searches what the hub tells, writes and leaves.
func (r *plantedRig) look() {
	for _, path := range []string{
		"/metrics", "/healthz", "/v1/app/status", "/v1/hub-info", "/v1/providers", "/v1/connections", "/v1/overview", "/v1/spawn", "/v1/spawn/policy", "/v1/openapi.json",
		"/v1/connections/c0/models", "/v1/rooms?project=shop", "/v1/projects/shop/export", "/v1/passes", "/v1/license", "/v1/browser/engines",
	} {
		_, _ = r.call("GET", path, "")
	}
	for _, args := range []string{
		"app status --json", "app overview --json", "connection list", "connection list --json", "app spawns --status any --json", "app logs --all", "app doctor --json",
		"app backup all.backup", "app debug", "project export shop --out pages --yes",
		"capsule export shop --out full.hubpack --scope complete --privacy full_history --yes", "capsule export shop --out safe.hubpack --scope complete --privacy share_safe --yes",
	} {
		r.run(nil, strings.Fields(args)...)
	}
	files := 0
	require.NoError(r.t, filepath.WalkDir(r.root, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		files++
		text, err := os.ReadFile(path)
		if r.search(path, text); err == nil && strings.HasSuffix(path, ".hubpack") {
			r.unpack(path, text)
		}
		return err
	}))
	if files < 10 {
		r.t.Errorf("only %d files were searched", files)
	}
	status, err := at(r.port).AppStatus(r.t.Context())
	require.NoError(r.t, err)
	environs, _ := filepath.Glob("/proc/[0-9]*/environ")
	arguments, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, page := range append(environs, arguments...) {
		// The hub's own variables are where the operator has put the keys.
		if text, err := os.ReadFile(page); err == nil && page != fmt.Sprintf("/proc/%d/environ", status.PID) {
			r.search(page, text)
		}
	}
}

// unpack searches what is in a capsule.
func (r *plantedRig) unpack(path string, text []byte) {
	z, err := zip.NewReader(bytes.NewReader(text), int64(len(text)))
	require.NoError(r.t, err)
	for _, f := range z.File {
		in, err := f.Open()
		require.NoError(r.t, err)
		content, err := io.ReadAll(in)
		require.NoError(r.t, err)
		r.search(path+" "+f.Name, content)
	}
}

// TestPlantedKeysAreNowhere gives a hub keys in many ways, right and wrong, and searches
// everything that it tells, writes and starts; once on a machine without a credential store
// and once with one. HUBCLI_TEST_KEYS says how many keys; the
// usual number is smaller than the 10,000 with which the promise was measured.
func TestPlantedKeysAreNowhere(t *testing.T) {
	testfeature.Need(t, "capsule", "provider")
	n := 48
	if text := os.Getenv(keysVariable); text != "" {
		var err error
		n, err = strconv.Atoi(text)
		require.NoError(t, err)
	}
	t.Run("without a credential store", func(t *testing.T) { plantedKeysAreNowhere(t, startPlanted(t, n, noBus), n) })
	t.Run("with a credential store", func(t *testing.T) {
		plantedKeysAreNowhere(t, startPlanted(t, n, testkeyring.Start(t).Address), n)
	})
}

func plantedKeysAreNowhere(t *testing.T, r *plantedRig, n int) {
	t.Helper()
	for i, key := range r.keys { // the search finds what is there
		for _, text := range []string{"x" + key, hex.EncodeToString([]byte(key)), base64.StdEncoding.EncodeToString([]byte("Bearer " + key))} {
			if k, found := r.in([]byte(text)); !found || k != i {
				t.Fatalf("%s is not found", text)
			}
		}
	}
	r.run(nil, "project", "create", "--name", "Shop")
	r.run(nil, "room", "create", "--project", "shop", "--name", "Till")
	var wait sync.WaitGroup
	for worker := range 8 {
		wait.Go(func() {
			for i := worker; i < n; i += 8 {
				r.plant(i)
			}
		})
	}
	wait.Wait()
	r.spawn(min(n, keptConnections) / 8)
	r.look()
	for place, key := range r.where {
		t.Errorf("%s is in %s", key, place)
	}
	r.vendor.mu.Lock()
	defer r.vendor.mu.Unlock()
	t.Logf("%d keys, %d of them sent to a provider; found in %d places; a credential store: %v", n, r.vendor.calls, len(r.where), r.stored)
	if len(r.vendor.complaints) > 0 || r.vendor.calls < n/4 {
		t.Errorf("%d keys were sent; complaints: %q", r.vendor.calls, r.vendor.complaints)
	}
}
