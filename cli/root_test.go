package cli

import (
	"maps"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/integrations/service"
	"hubcli/internal/require"
	"hubcli/internal/testcli"
	"hubcli/internal/testfeature"
)

var managerHere = string(service.KindOf(runtime.GOOS))

// specified is SPEC section 4.2 for the commands that there are: the default of
// every flag, and what was added to it (json, adopt, reply-to, body-file, all, stream, operator-by-hook, app debug,
// app receipt, app backup, app restore, app overview, app top, the lists of app, room and run of post). The defaults of --storage that
// lie in the data root are filled in when the command runs.
var specified = map[string]map[string]string{
	"hubcli": {
		"host": "127.0.0.1", "port": "6969", "storage": "hub.sqlite3", "allow-remote": "false", "quiet": "false",
		"spool-dir": ".hub-relay", "max-body-chars": "128000", "max-attachment-chars": "256000", "max-attachments": "32",
		"version": "false", "adopt": "false", "no-auto-rooms": "false",
	},
	"hubcli ensure": {
		"host": "127.0.0.1", "port": "6969", "storage": "", "spool-dir": ".hub-relay", "timeout": "60.0", "allow-remote": "false",
		"max-body-chars": "128000", "max-attachment-chars": "256000", "max-attachments": "32", "json": "false", "adopt": "false", "no-auto-rooms": "false",
	},
	"hubcli init": {
		"project": "", "room": "", "here": "false", "no-adapters": "false", "preview": "false", "yes": "false", "no-permissions": "false", "plugin": "false",
		"json": "false", "base-url": "http://127.0.0.1:6969",
	},
	"hubcli stop":  {"host": "127.0.0.1", "port": "6969", "storage": ""},
	"hubcli reset": {"host": "127.0.0.1", "port": "6969", "storage": "", "yes": "false"},
	"hubcli post": {
		"agent": "", "base-url": "http://127.0.0.1:6969", "channel": "general", "to": "", "new": "false", "kind": "chat", "thread-id": "",
		"reply-to": "0", "blocked-by": "[]", "run": "", "room": "", "force": "false", "body-file": "", "json": "false",
	},
	"hubcli poll": {
		"agent": "", "base-url": "http://127.0.0.1:6969", "channel": "", "thread-id": "", "timeout": "30.0", "since-id": "0",
		"include-self": "false", "json": "false",
	},
	"hubcli watch": {
		"agent": "", "base-url": "http://127.0.0.1:6969", "room": "", "path": "", "until": "[]", "timeout": "20m", "label": "",
		"verbose": "false", "stream": "false", "operator-by-hook": "false", "json": "false",
	},
	"hubcli run": {
		"as": "", "room": "", "task": "0", "prompt": "", "acp": "false", "continue": "false", "headless": "false", "once": "false",
		"background": "false", "resume": "false", "list": "false", "attach": "", "end": "", "json": "false", "base-url": "http://127.0.0.1:6969",
	},
	"hubcli whoami":  {"agent": "", "base-url": "http://127.0.0.1:6969", "json": "false"},
	"hubcli resolve": {"base-url": "http://127.0.0.1:6969", "json": "false", "timeout": "2.0"},
	"hubcli hook":    {"base-url": "http://127.0.0.1:6969"},
	"hubcli relay": {
		"base-url": "http://127.0.0.1:6969", "spool-dir": ".hub-relay", "poll-interval-sec": "0.25", "request-timeout-sec": "30.0",
	},
	"hubcli mcp": {
		"agent": "mcp-client", "base-url": "http://127.0.0.1:6969", "no-ensure": "false", "storage": "", "ensure-timeout": "30.0",
		"resume-key": "", "progressive-tools": "false", "full-tools": "false",
	},
	"hubcli smoke-agent": {
		"role": "", "transport": "", "base-url": "http://127.0.0.1:6969", "relay-dir": ".hub-relay", "channel": "smoke-room",
		"thread-id": "smoke-relay-001", "claim-key": "smoke-claim-001", "timeout-sec": "120.0", "poll-interval-sec": "1.0",
	},
	"hubcli decision": {},
	"hubcli decision add": {
		"room": "", "title": "", "note": "", "by": "", "metadata-json": "", "base-url": "http://127.0.0.1:6969", "json": "false",
	},
	"hubcli decision show": {"base-url": "http://127.0.0.1:6969", "json": "false"},
	"hubcli decision list": {"room": "", "limit": "0", "base-url": "http://127.0.0.1:6969", "json": "false"},
	"hubcli artifact":      {},
	"hubcli artifact add": {
		"room": "", "title": "", "kind": "", "by": "", "body": "", "file": "", "base-url": "http://127.0.0.1:6969", "json": "false",
	},
	"hubcli artifact list": {
		"room": "", "title": "", "kind": "", "latest": "false", "limit": "0", "base-url": "http://127.0.0.1:6969", "json": "false",
	},
	"hubcli artifact get": {
		"room": "", "title": "", "version": "0", "out": "", "force": "false", "base-url": "http://127.0.0.1:6969",
	},
	"hubcli invite": {},
	"hubcli invite create": {
		"project": "", "room": "", "role": "", "handle": "", "harness": "", "ttl-sec": "86400", "max-uses": "1",
		"base-url": "http://127.0.0.1:6969", "json": "false",
	},
	"hubcli invite preview": {"base-url": "http://127.0.0.1:6969", "json": "false"},
	"hubcli invite revoke":  {"base-url": "http://127.0.0.1:6969", "json": "false"},
	"hubcli invite list":    {"project": "", "room": "", "state": "", "limit": "0", "base-url": "http://127.0.0.1:6969", "json": "false"},
	"hubcli join": {
		"agent": "", "display-name": "", "harness": "", "base-url": "http://127.0.0.1:6969", "json": "false",
	},
	"hubcli adapter":        {},
	"hubcli adapter list":   {"base-url": "http://127.0.0.1:6969", "json": "false"},
	"hubcli adapter status": {"base-url": "http://127.0.0.1:6969", "json": "false"},
	"hubcli adapter verify": {"base-url": "http://127.0.0.1:6969", "json": "false"},
	"hubcli adapter preview": {
		"scope": "", "path": "", "no-permissions": "false", "plugin": "false", "base-url": "http://127.0.0.1:6969", "json": "false",
	},
	"hubcli adapter preview-uninstall": {
		"scope": "", "path": "", "base-url": "http://127.0.0.1:6969", "json": "false",
	},
	"hubcli adapter install": {
		"detected": "false", "no-permissions": "false", "plugin": "false", "scope": "", "path": "", "base-url": "http://127.0.0.1:6969", "yes": "false", "json": "false",
	},
	"hubcli adapter uninstall": {
		"all": "false", "scope": "", "path": "", "base-url": "http://127.0.0.1:6969", "yes": "false", "json": "false",
	},
	"hubcli adapter repair": {
		"no-permissions": "false", "plugin": "false", "scope": "", "path": "", "base-url": "http://127.0.0.1:6969", "yes": "false", "json": "false",
	},
	"hubcli data-root": {"json": "false"},
	"hubcli app":       {},
	"hubcli app start": {
		"host": "127.0.0.1", "port": "6969", "allow-remote": "false", "quiet": "false", "spool-dir": ".hub-relay",
		"auto-ensure-adapters": "false", "adopt": "false", "no-auto-rooms": "false",
	},
	"hubcli app receipt": {"agent": "", "base-url": "http://127.0.0.1:6969", "json": "false"},
	"hubcli app debug": {
		"base-url": "http://127.0.0.1:6969", "json": "false", "stacks": "false", "profile": "", "kind": "cpu", "seconds": "5",
		"force": "false",
	},
	"hubcli app service preview":    {"host": "127.0.0.1", "port": "6969", "storage": "", "spool-dir": ".hub-relay", "allow-remote": "false", "quiet": "false", "no-auto-rooms": "false", "manager": managerHere},
	"hubcli app service install":    {"host": "127.0.0.1", "port": "6969", "storage": "", "spool-dir": ".hub-relay", "allow-remote": "false", "quiet": "false", "no-auto-rooms": "false", "manager": managerHere, "yes": "false", "enable": "false"},
	"hubcli app service uninstall":  {"host": "127.0.0.1", "port": "6969", "storage": "", "spool-dir": ".hub-relay", "allow-remote": "false", "quiet": "false", "no-auto-rooms": "false", "manager": managerHere, "disable": "false"},
	"hubcli app service status":     {"host": "127.0.0.1", "port": "6969", "storage": "", "spool-dir": ".hub-relay", "allow-remote": "false", "quiet": "false", "no-auto-rooms": "false", "manager": managerHere, "json": "false"},
	"hubcli app service":            {},
	"hubcli app permissions":        {},
	"hubcli app permissions on":     {"wait": "30s", "base-url": "http://127.0.0.1:6969", "json": "false"},
	"hubcli app permissions off":    {"base-url": "http://127.0.0.1:6969", "json": "false"},
	"hubcli app permissions list":   {"base-url": "http://127.0.0.1:6969", "json": "false"},
	"hubcli app permissions move":   {"before": "0", "first": "false", "last": "false", "base-url": "http://127.0.0.1:6969", "json": "false"},
	"hubcli app permissions remove": {"base-url": "http://127.0.0.1:6969", "json": "false"},
	"hubcli app permissions allow":  {"path": "", "at": "0", "base-url": "http://127.0.0.1:6969", "json": "false"},
	"hubcli app permissions deny":   {"path": "", "at": "0", "base-url": "http://127.0.0.1:6969", "json": "false"},

	"hubcli app doctor":        {"base-url": "http://127.0.0.1:6969", "storage": "", "salvage": "", "adopt": "false", "json": "false"},
	"hubcli app backup":        {"base-url": "http://127.0.0.1:6969", "force": "false", "json": "false"},
	"hubcli app restore":       {"storage": "", "move-aside": "false", "check": "false", "adopt": "false", "json": "false"},
	"hubcli app agents":        identified("room", "", "prefix", "", "capability", ""),
	"hubcli app tasks":         identified("archived", "false", "room", "", "status", "active", "assignee", "", "ready", "false"),
	"hubcli app claims":        identified("room", "", "holder", "", "prefix", ""),
	"hubcli app locks":         identified("room", "", "holder", "", "prefix", ""),
	"hubcli app runs":          identified("archived", "false", "room", "", "status", "active"),
	"hubcli app search":        identified("room", "", "channel", "", "from", "", "kind", "", "type", "[]", "since", "", "direct", "false", "limit", "20"),
	"hubcli app channels":      identified("archived", "false", "prefix", ""),
	"hubcli app threads":       identified("limit", "0", "archived", "false"),
	"hubcli app memory":        identified("room", "", "key", "", "tag", "", "history", "false", "limit", "0"),
	"hubcli app decisions":     identified("room", "", "limit", "0", "archived", "false"),
	"hubcli app spawns":        identified("room", "", "status", "active"),
	"hubcli app spawns start":  {"room": "", "connection": "", "agent-id": "", "role": "", "title": "", "base-url": "http://127.0.0.1:6969", "json": "false"},
	"hubcli app spawns output": {"base-url": "http://127.0.0.1:6969"},
	"hubcli app spawns stop":   {"base-url": "http://127.0.0.1:6969"},
	"hubcli app spawns policy": {"set": "", "base-url": "http://127.0.0.1:6969"},
	"hubcli app config":        {"base-url": "http://127.0.0.1:6969", "json": "false"},
	"hubcli app logs":          {"base-url": "http://127.0.0.1:6969", "storage": "", "tail": "100", "all": "false", "follow": "false"},
	"hubcli app runs open":     {"room": "", "by": "", "base-url": "http://127.0.0.1:6969", "json": "false"},
	"hubcli app claim":         {"agent": "", "ttl-sec": "300", "wait": "0.0", "release": "false", "base-url": "http://127.0.0.1:6969", "json": "false"},
	"hubcli app lock":          {"agent": "", "ttl-sec": "300", "wait": "0.0", "release": "false", "base-url": "http://127.0.0.1:6969", "json": "false"},
	"hubcli app log": {
		"room": "", "channel": "", "thread-id": "", "agent": "", "direct": "false", "since": "", "at": "", "for": "10m", "tail": "100",
		"all": "false", "follow": "false", "full": "false", "json": "false", "color": "auto", "base-url": "http://127.0.0.1:6969",
	},
	"hubcli app overview":     listed("all", "false"),
	"hubcli app top":          {"base-url": "http://127.0.0.1:6969"},
	"hubcli app status":       {"base-url": "http://127.0.0.1:6969", "json": "false"},
	"hubcli app stop":         {"host": "127.0.0.1", "port": "6969", "storage": ""},
	"hubcli app users":        {},
	"hubcli app users list":   {"base-url": "http://127.0.0.1:6969", "color": "auto", "every": "2s", "json": "false", "watch": "false"},
	"hubcli app users allow":  {"base-url": "http://127.0.0.1:6969", "json": "false"},
	"hubcli app users refuse": {"base-url": "http://127.0.0.1:6969", "json": "false"},
	"hubcli app notify":       {"webhook": "", "host": "", "off": "false", "test": "false", "json": "false", "base-url": "http://127.0.0.1:6969"},
	"hubcli app demo":         {"port": "0", "every": "3s", "print": "false"},
	"hubcli app open":         {"print": "false", "for": "0", "list": "false", "end": "", "json": "false", "base-url": "http://127.0.0.1:6969"},
	"hubcli app ask": {
		"agent": "", "option": "[]", "default": "", "deadline": "0", "task": "0", "artifact": "", "room": "", "body-file": "", "json": "false",
		"base-url": "http://127.0.0.1:6969",
	},
	"hubcli app inbox":         identified("room", "", "from", "", "all", "false"),
	"hubcli app answer":        {"body-file": "", "as": "", "text": "false", "digest": "", "dismiss": "false", "take-back": "false", "reason": "", "json": "false", "base-url": "http://127.0.0.1:6969"},
	"hubcli app pause":         {"new": "false", "agent": "", "room": "", "all": "false", "base-url": "http://127.0.0.1:6969", "json": "false"},
	"hubcli app resume":        {"agent": "", "room": "", "all": "false", "base-url": "http://127.0.0.1:6969", "json": "false"},
	"hubcli app pauses":        listed(),
	"hubcli app mute":          {"new": "false", "room": "", "everybody": "false", "for": "0", "base-url": "http://127.0.0.1:6969", "json": "false"},
	"hubcli app unmute":        {"room": "", "everybody": "false", "base-url": "http://127.0.0.1:6969", "json": "false"},
	"hubcli app mutes":         listed(),
	"hubcli app budget":        {"room": "", "base-url": "http://127.0.0.1:6969", "json": "false"},
	"hubcli app budgets":       listed(),
	"hubcli app message":       {"agent": "", "base-url": "http://127.0.0.1:6969", "json": "false"},
	"hubcli app task":          {},
	"hubcli app task show":     {"base-url": "http://127.0.0.1:6969", "json": "false"},
	"hubcli app task create":   {"room": "", "to": "", "new": "false", "parent": "0", "after": "[]", "body-file": "", "quiet": "false", "base-url": "http://127.0.0.1:6969", "json": "false"},
	"hubcli app task assign":   {"new": "false", "base-url": "http://127.0.0.1:6969", "json": "false"},
	"hubcli app task complete": {"note": "", "force": "false", "release": "false", "base-url": "http://127.0.0.1:6969", "json": "false"},
	"hubcli app task cancel":   {"reason": "", "base-url": "http://127.0.0.1:6969", "json": "false"},
	"hubcli app task leases":   {"base-url": "http://127.0.0.1:6969", "json": "false"},
	"hubcli app release":       {"lock": "", "reason": "", "base-url": "http://127.0.0.1:6969", "json": "false"},
	"hubcli app end":           {"reason": "", "base-url": "http://127.0.0.1:6969", "json": "false"},
	"hubcli app undelivered":   listed(),
	"hubcli app attention":     listed("to", "", "from", "", "by-room", "false"),
	"hubcli app say": {
		"room": "", "to": "", "new": "false", "channel": "", "reply-to": "0", "body-file": "", "base-url": "http://127.0.0.1:6969", "json": "false",
	},

	"hubcli project":        {},
	"hubcli project create": {"name": "", "slug": "", "json": "false", "base-url": "http://127.0.0.1:6969"},
	"hubcli project list":   {"archived": "false", "json": "false", "base-url": "http://127.0.0.1:6969"},
	"hubcli project show":   {"json": "false", "base-url": "http://127.0.0.1:6969"},
	"hubcli room":           {},
	"hubcli room create": {
		"project": "", "name": "", "topic": "", "by": "", "force": "false", "force-reason": "", "json": "false",
		"base-url": "http://127.0.0.1:6969",
	},
	"hubcli capsule":         {},
	"hubcli capsule inspect": {"identity": "", "key": "[]", "json": "false", "base-url": "http://127.0.0.1:6969"},
	"hubcli capsule key":     {"create": "false", "json": "false"},
	"hubcli capsule export": {
		"out": "", "scope": "knowledge", "rooms": "", "privacy": "share_safe", "artifact": "[]", "git-mirror": "false", "sign": "false", "sign-key": "",
		"to": "[]", "yes": "false", "json": "false", "base-url": "http://127.0.0.1:6969",
	},
	"hubcli project rename": {"json": "false", "base-url": "http://127.0.0.1:6969"},
	"hubcli project export": {
		"out": "", "scope": "complete", "rooms": "", "privacy": "share_safe", "artifact": "[]", "yes": "false", "json": "false",
		"base-url": "http://127.0.0.1:6969",
	},
	"hubcli capsule import":    {"identity": "", "key": "[]", "yes": "false", "json": "false", "base-url": "http://127.0.0.1:6969"},
	"hubcli project archive":   {"json": "false", "base-url": "http://127.0.0.1:6969"},
	"hubcli project unarchive": {"json": "false", "base-url": "http://127.0.0.1:6969"},
	"hubcli app clear":         {"by": "", "unnamed": "false", "project": "", "room": "", "older": "0", "delete": "false", "reason": "", "yes": "false", "json": "false", "base-url": "http://127.0.0.1:6969"},
	"hubcli app retire":        {"idle": "0", "reason": "", "yes": "false", "json": "false", "base-url": "http://127.0.0.1:6969"},
	"hubcli app archive":       {"json": "false", "base-url": "http://127.0.0.1:6969"},
	"hubcli app unarchive":     {"json": "false", "base-url": "http://127.0.0.1:6969"},
	"hubcli room unarchive":    {"project": "", "json": "false", "base-url": "http://127.0.0.1:6969"},
	"hubcli room rename":       {"project": "", "json": "false", "base-url": "http://127.0.0.1:6969"},
	"hubcli room archive":      {"project": "", "undo": "false", "json": "false", "base-url": "http://127.0.0.1:6969"},
	"hubcli room list":         {"project": "", "all-projects": "false", "archived": "false", "json": "false", "base-url": "http://127.0.0.1:6969"},
	"hubcli room show":         {"project": "", "json": "false", "base-url": "http://127.0.0.1:6969"},
	"hubcli room status":       {"project": "", "agent": "", "all": "false", "json": "false", "base-url": "http://127.0.0.1:6969"},
	"hubcli room bind":         {"project": "", "yes": "false", "json": "false", "base-url": "http://127.0.0.1:6969"},
	"hubcli room locks":        {"project": "", "json": "false", "base-url": "http://127.0.0.1:6969"},
	"hubcli room unbind":       {"json": "false", "base-url": "http://127.0.0.1:6969"},
	"hubcli browser":           {},
	"hubcli browser engines":   {"data-root": "", "json": "false"},
	"hubcli browser install":   {"data-root": ""},
	"hubcli room allow-host":   {"project": "", "remove": "false", "json": "false", "base-url": "http://127.0.0.1:6969"},
	"hubcli room replay":       {"project": "", "out": "", "json": "false", "base-url": "http://127.0.0.1:6969"},
	"hubcli room guard":        {"project": "", "json": "false", "base-url": "http://127.0.0.1:6969"},

	"hubcli providers":         {"json": "false", "base-url": "http://127.0.0.1:6969"},
	"hubcli connection":        {},
	"hubcli connection list":   {"json": "false", "base-url": "http://127.0.0.1:6969"},
	"hubcli connection verify": {"json": "false", "base-url": "http://127.0.0.1:6969"},
	"hubcli connection models": {"json": "false", "base-url": "http://127.0.0.1:6969"},
	"hubcli connection create": {
		"provider": "", "label": "", "region": "", "endpoint": "", "env-credential": "false", "json": "false", "base-url": "http://127.0.0.1:6969",
		"key-variable": "", "key-stdin": "false", "no-key": "false", "param": "[]",
	},
	"hubcli connection key":    {"env-credential": "false", "key-variable": "", "key-stdin": "false", "no-key": "false", "json": "false", "base-url": "http://127.0.0.1:6969"},
	"hubcli connection move":   {"region": "", "endpoint": "", "json": "false", "base-url": "http://127.0.0.1:6969"},
	"hubcli connection rename": {"json": "false", "base-url": "http://127.0.0.1:6969"},
	"hubcli connection delete": {"yes": "false", "base-url": "http://127.0.0.1:6969"},

	"hubcli license":            {},
	"hubcli license show":       {"json": "false"},
	"hubcli license verify":     {"base-url": "http://127.0.0.1:6969", "json": "false"},
	"hubcli license activate":   {"yes": "false", "base-url": "http://127.0.0.1:6969"},
	"hubcli license deactivate": {"yes": "false", "base-url": "http://127.0.0.1:6969"},
}

// listed are the flags that all lists have, and more.
func listed(more ...string) map[string]string {
	flags := map[string]string{"base-url": "http://127.0.0.1:6969", "color": "auto", "json": "false", "watch": "false", "every": "2s"}
	for i := 0; i < len(more); i += 2 {
		flags[more[i]] = more[i+1]
	}
	return flags
}

// identified are the flags of a list whose rows have ids, and more.
func identified(more ...string) map[string]string { return listed(append(more, "quiet", "false")...) }

// TestEveryCommandIsInOneGroup: hubcli --help lists each command at the top once, the short names too.
func TestEveryCommandIsInOneGroup(t *testing.T) {
	testfeature.Need(t, testfeature.All()...)
	groups := map[string]int{}
	for _, g := range helpGroups {
		for _, name := range g.commands {
			groups[name]++
		}
	}
	help := runIn(t, testcli.World(t, nil), "--help").stdout
	for _, c := range newRoot(testcli.World(t, nil)).Commands() {
		if c.Hidden && c.Annotations[opt.ShortName] == "" {
			continue
		}
		if groups[c.Name()] != 1 {
			t.Errorf("%s is in %d groups", c.Name(), groups[c.Name()])
		}
		if !strings.Contains(help, "\n  "+c.Name()+" ") {
			t.Errorf("hubcli --help does not list %s", c.Name())
		}
		delete(groups, c.Name())
	}
	for name := range groups {
		t.Errorf("there is no command %s", name)
	}
}

// TestShortNames: each list is found at the top too, where only the listing of the program shows it.
func TestShortNames(t *testing.T) {
	testfeature.Need(t, testfeature.All()...)
	root := newRoot(testcli.World(t, nil))
	app, _, err := root.Find([]string{"app"})
	require.NoError(t, err)
	for _, long := range forPeople(testcli.World(t, nil)) {
		short, rest, err := root.Find([]string{long.Name()})
		if err != nil || len(rest) > 0 || !short.Hidden || short.Short != long.Short {
			t.Errorf("hubcli %s is not the hidden short name of app %[1]s: %v", long.Name(), err)
		}
		if !strings.Contains(app.Long, long.Name()) {
			t.Errorf("the help of app does not tell of the short name %s", long.Name())
		}
	}
	if n := len(commands(root)) - len(specified); n != 0 {
		t.Errorf("%d commands more are listed than are specified", n)
	}
}

// commands lists what the listings show.
func commands(root *cobra.Command) []*cobra.Command {
	list := []*cobra.Command{root}
	for _, c := range root.Commands() {
		if !c.Hidden {
			list = append(list, commands(c)...)
		}
	}
	return list
}

func TestTreeEqualsTheSpecification(t *testing.T) {
	testfeature.Need(t, testfeature.All()...)
	var paths []string
	for _, c := range commands(newRoot(testcli.World(t, nil))) {
		paths = append(paths, c.CommandPath())
		got := map[string]string{}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && f.Name != "help" {
				got[f.Name] = f.DefValue
			}
		})
		if want := specified[c.CommandPath()]; !maps.Equal(got, want) {
			t.Errorf("%s has the flags\n%v, want\n%v", c.CommandPath(), got, want)
		}
	}
	want := slices.Sorted(maps.Keys(specified))
	if slices.Sort(paths); !slices.Equal(paths, want) {
		t.Errorf("commands = %q, want %q", paths, want)
	}
}

func TestHelpTeaches(t *testing.T) {
	for _, c := range commands(newRoot(testcli.World(t, nil))) {
		path := c.CommandPath()
		if c.Short == "" || !unicode.IsUpper(rune(c.Short[0])) || strings.HasSuffix(c.Short, ".") {
			t.Errorf("%s: Short = %q, want a capital verb and no full stop", path, c.Short)
		}
		if len(c.Long) <= len(c.Short) || !strings.HasSuffix(strings.TrimSpace(c.Long), ".") && path != "hubcli data-root" {
			t.Errorf("%s: Long says no more than Short, or is no sentence", path)
		}
		for line := range strings.Lines(c.Long + "\n" + c.Example) {
			if len(line) > 100 || strings.ContainsFunc(line, func(r rune) bool { return r > unicode.MaxASCII }) {
				t.Errorf("%s: the line %q is too long or not plain ASCII", path, line)
			}
		}
		if !strings.Contains(c.Example, path) && c.Parent() != nil || c.Example == "" {
			t.Errorf("%s: no example shows it", path)
		}
		if !strings.HasPrefix(c.UseLine(), path) {
			t.Errorf("usage %q does not begin with %q", c.UseLine(), path)
		}
		if !c.Runnable() {
			t.Errorf("%s does nothing", path)
		}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Hidden {
				return
			}
			if f.Usage == "" || unicode.IsUpper(rune(f.Usage[0])) || strings.HasSuffix(f.Usage, ".") {
				t.Errorf("%s --%s: usage %q", path, f.Name, f.Usage)
			}
		})
	}
}

// TestHelpOfEveryCommand: each of the ways to ask prints the help to stdout.
func TestHelpOfEveryCommand(t *testing.T) {
	for _, c := range commands(newRoot(testcli.World(t, nil))) {
		path := strings.Fields(c.CommandPath())[1:]
		for _, args := range [][]string{
			append(slices.Clone(path), "--help"), append(slices.Clone(path), "-h"), append([]string{"help"}, path...),
		} {
			got := runIn(t, testcli.World(t, nil), args...)
			if got.exit != 0 || got.stderr != "" || !strings.HasPrefix(got.stdout, c.Long) || !strings.HasSuffix(got.stdout, "\n") {
				t.Errorf("%q: exit %d, stderr %q, stdout %q", args, got.exit, got.stderr, got.stdout)
			}
			for _, hidden := range []string{"completion", "\n  help ", "log-file", "accept-truncated", "--harness"} {
				shown := strings.TrimLeft(hidden, "-") // another command may have a flag of that name that is not hidden
				if f := c.LocalFlags().Lookup(shown); strings.Contains(got.stdout, hidden) && (f == nil || f.Hidden) {
					t.Errorf("%q shows %q", args, hidden)
				}
			}
		}
	}
}

// TestEveryTimeIsADuration: no flag that takes a time reads it in a way of its own.
func TestEveryTimeIsADuration(t *testing.T) {
	times := regexp.MustCompile(`timeout|ttl|seconds|interval|-sec$|since$|^for$|^within$`)
	found := 0
	for _, c := range commands(newRoot(testcli.World(t, nil))) {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			v, ok := f.Value.(term.DurationValue)
			if _, past := f.Value.(*term.MomentValue); times.MatchString(f.Name) && !ok && !past {
				t.Errorf("%s --%s is a %T", c.CommandPath(), f.Name, f.Value)
			}
			if !ok {
				return
			}
			found++
			if least := min(v.Max, max(v.Min, 2*time.Second)); f.Value.Set(least.String()) != nil || f.Value.Set(term.SecondsText(least)) != nil {
				t.Errorf("%s --%s does not take %s with and without a unit", c.CommandPath(), f.Name, least)
			}
			if name, _ := pflag.UnquoteUsage(f); name != "time" || !strings.Contains(f.Usage, "such as ") {
				t.Errorf("%s --%s does not tell how a time is written: %s", c.CommandPath(), f.Name, f.Usage)
			}
		})
	}
	if found < 10 {
		t.Errorf("only %d flags take a time", found)
	}
}
