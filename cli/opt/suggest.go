package opt

import (
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"hubcli/internal/near"
)

// Expected lists words that people type because other programs have such commands,
// with the command lines that do it here. The words of a group stand below its path.
var Expected = sync.OnceValue(func() map[string]map[string]string {
	return map[string]map[string]string{
		"hubcli": {
			"ps": "hubcli app status or hubcli room status", "info": "hubcli app status",
			"who": "hubcli agents", "sessions": "hubcli agents", "agent": "hubcli agents", "seats": "hubcli room status",
			"start": "hubcli ensure", "up": "hubcli ensure", "serve": "hubcli ensure, or hubcli alone in the foreground",
			"server": "hubcli ensure, or hubcli alone in the foreground", "launch": "hubcli run",
			"daemon": "hubcli ensure, or hubcli alone in the foreground", "restart": "hubcli stop and then hubcli ensure",
			"down": "hubcli stop", "shutdown": "hubcli stop", "kill": "hubcli stop", "quit": "hubcli stop",
			"delete": "hubcli reset", "wipe": "hubcli reset", "clean": "hubcli reset",
			"version": "hubcli --version",
			"send":    "hubcli post", "message": "hubcli post", "msg": "hubcli post", "write": "hubcli post",
			"dm": "hubcli post --to AGENT", "tell": "hubcli app say --to AGENT",
			"messages": "hubcli log", "history": "hubcli log", "chat": "hubcli log", "read": "hubcli poll", "receive": "hubcli poll", "events": "hubcli poll",
			"listen": "hubcli log, or hubcli watch --stream", "tail": "hubcli log, or hubcli watch --stream",
			"find": "hubcli search", "grep": "hubcli search", "channel": "hubcli channels", "thread": "hubcli threads",
			"memories": "hubcli memory", "recall": "hubcli memory", "spawn": "hubcli spawns",
			"todo": "hubcli tasks", "release": "hubcli claim --release or hubcli lock --release", "unlock": "hubcli lock --release", "leases": "hubcli claims or hubcli locks",
			"wait": "hubcli watch", "sleep": "hubcli watch",
			"me": "hubcli whoami", "id": "hubcli whoami", "register": "hubcli whoami", "login": "hubcli whoami",
			"list":  "hubcli project list, hubcli room list or hubcli adapter list",
			"ls":    "hubcli project list, hubcli room list or hubcli adapter list",
			"rooms": "hubcli room list --project PROJECT", "projects": "hubcli project list", "invites": "hubcli invite list",
			"artifacts": "hubcli artifact list", "adapters": "hubcli adapter list", "harnesses": "hubcli adapter list",
			"create": "hubcli project create or hubcli room create", "new": "hubcli project create or hubcli room create",
			"bind": "hubcli room bind", "unbind": "hubcli room unbind", "accept": "hubcli join",
			"install": "hubcli init or hubcli adapter install", "setup": "hubcli init",
			"uninstall": "hubcli adapter uninstall", "bridge": "hubcli mcp", "debug": "hubcli app debug", "receipt": "hubcli app receipt",
			"console": "hubcli app open", "dashboard": "hubcli app open", "ui": "hubcli app open", "web": "hubcli app open",
			"question": "hubcli inbox", "questions": "hubcli inbox", "asks": "hubcli inbox", "mail": "hubcli inbox or hubcli poll",
			"approve": "hubcli answer", "deny": "hubcli answer", "reply": "hubcli answer or hubcli post", "allow": "hubcli app permissions",
			"plan": "hubcli tasks or hubcli task create", "assign": "hubcli task assign", "done": "hubcli task complete", "decide": "hubcli decision add",
			"update": "hubcli adapter repair", "upgrade": "hubcli adapter repair", "follow": "hubcli top, or hubcli log", "attach": "hubcli run",
			"begin": "hubcli init or hubcli ensure", "logout": "hubcli app end", "auth": "hubcli connection", "keys": "hubcli connection list",
			"models": "hubcli connection models", "settings": "hubcli config", "env": "hubcli config", "get": "hubcli config", "set": "hubcli config",
			"health": "hubcli app status or hubcli app doctor", "metrics": "hubcli app status",
			"export": "hubcli capsule export or hubcli project export", "import": "hubcli capsule import", "save": "hubcli app backup",
			"where": "hubcli data-root or hubcli resolve", "dir": "hubcli data-root",
			"archive": "hubcli room archive, hubcli project archive or hubcli app archive", "unarchive": "hubcli room unarchive, hubcli project unarchive or hubcli app unarchive",
		},
		"hubcli app": {
			"run": "hubcli app start", "up": "hubcli app start", "ensure": "hubcli ensure", "down": "hubcli app stop",
			"info": "hubcli app status", "ps": "hubcli app status", "reset": "hubcli reset", "version": "hubcli --version",
		},
		"hubcli app task":   {"list": "hubcli app tasks", "ls": "hubcli app tasks", "new": "hubcli app task create", "add": "hubcli app task create", "get": "hubcli app task show", "done": "hubcli app task complete", "close": "hubcli app task complete"},
		"hubcli task":       {"list": "hubcli tasks", "ls": "hubcli tasks", "new": "hubcli task create", "add": "hubcli task create", "get": "hubcli task show", "done": "hubcli task complete", "close": "hubcli task complete"},
		"hubcli app spawns": {"list": "hubcli app spawns", "ls": "hubcli app spawns", "show": "hubcli app spawns", "kill": "hubcli app spawns stop", "run": "hubcli app spawns start", "new": "hubcli app spawns start"},
		"hubcli spawns":     {"list": "hubcli spawns", "ls": "hubcli spawns", "show": "hubcli spawns", "kill": "hubcli spawns stop"},
		"hubcli project": {
			"ls": "hubcli project list", "new": "hubcli project create", "add": "hubcli project create",
			"get": "hubcli project show", "status": "hubcli project show", "rooms": "hubcli project show",
		},
		"hubcli room": {
			"ls": "hubcli room list", "new": "hubcli room create", "add": "hubcli room create", "get": "hubcli room show",
			"info": "hubcli room show", "lock": "hubcli room locks", "invite": "hubcli invite create", "join": "hubcli join",
			"resolve": "hubcli resolve",
		},
		"hubcli invite": {
			"ls": "hubcli invite list", "new": "hubcli invite create", "add": "hubcli invite create", "show": "hubcli invite preview",
			"get": "hubcli invite preview", "delete": "hubcli invite revoke", "remove": "hubcli invite revoke",
			"rm": "hubcli invite revoke", "accept": "hubcli join",
		},
		"hubcli decision": {
			"ls": "hubcli decision list", "show": "hubcli decision list", "new": "hubcli decision add",
			"create": "hubcli decision add", "record": "hubcli decision add",
		},
		"hubcli artifact": {
			"ls": "hubcli artifact list", "show": "hubcli artifact get", "cat": "hubcli artifact get",
			"download": "hubcli artifact get", "new": "hubcli artifact add", "create": "hubcli artifact add",
			"put": "hubcli artifact add", "upload": "hubcli artifact add",
		},
		"hubcli adapter": {
			"ls": "hubcli adapter list", "show": "hubcli adapter status", "add": "hubcli adapter install",
			"remove": "hubcli adapter uninstall", "rm": "hubcli adapter uninstall", "delete": "hubcli adapter uninstall",
			"check": "hubcli adapter verify", "test": "hubcli adapter verify", "fix": "hubcli adapter repair",
			"update": "hubcli adapter repair", "upgrade": "hubcli adapter repair", "diff": "hubcli adapter preview",
		},
	}
})

// suggested returns what somebody may have meant by a command that cmd does not have:
// the command for an expected word, else those with a similar name. It may be empty.
func suggested(cmd *cobra.Command, word string) string {
	if meant := Expected()[cmd.CommandPath()][strings.ToLower(word)]; meant != "" {
		return meant
	}
	meant := cmd.SuggestionsFor(word)
	if len(meant) == 0 { // the short names are hidden, and cobra suggests nothing hidden
		for _, c := range cmd.Commands() {
			if c.Annotations[ShortName] != "" && near.Distance(strings.ToLower(word), c.Name()) <= cmd.SuggestionsMinimumDistance {
				meant = append(meant, c.Name())
			}
		}
	}
	if len(meant) == 0 && !cmd.HasParent() { // it may be one of the operator, or begin as one
		meant = ofApp(cmd, strings.ToLower(word))
	}
	slices.Sort(meant)
	return strings.Join(meant, " or ")
}

// ofApp returns the command of app that a word names, else those that it nearly names.
func ofApp(root *cobra.Command, word string) (nearly []string) {
	for _, c := range root.Commands() {
		if c.Name() != "app" {
			continue
		}
		for _, own := range c.Commands() {
			if own.Name() == word {
				return []string{own.CommandPath()}
			}
			if len(word) > 4 && near.Distance(word, own.Name()) <= 1 {
				nearly = append(nearly, own.CommandPath())
			}
		}
	}
	return nearly
}

// ShortName marks the commands that are hidden because they have a longer name too.
const ShortName = "short"
