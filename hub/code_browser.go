package hub

import "net/http"

// The codes of browsers, beside those in code.go.
var (
	// CodeBrowserMissing: no browser engine of this machine can be used.
	CodeBrowserMissing = define(CodeInfo{
		Code: "browser_missing", Status: http.StatusServiceUnavailable, Repeat: RepeatNever, Operator: true,
		CLI:   "install one: hubcli browser install; hubcli browser engines says what is there and why it is not used",
		Model: "ask your user to install a browser engine for the hub; until then go on without a browser",
	})
	// CodeBrowserBusy: another agent drives the page of the room, or too many pages are open.
	CodeBrowserBusy = define(CodeInfo{
		Code: "browser_busy", Status: http.StatusConflict, Repeat: RepeatNever,
		HTTP:  "wait until detail.expires_at, or ask detail.holder to close the page",
		Model: "another agent drives the page: ask it with hub_dm, or wait for it with hub_watch and claim-free:browser:<room_id>",
	})
	// CodeBrowserFailed: the browser engine does not start, or has ended.
	CodeBrowserFailed = define(CodeInfo{
		Code: "browser_failed", Status: http.StatusServiceUnavailable, Repeat: RepeatNever,
		Model: "try hub_browser_open once more, then go on without a browser and tell your user",
	})
	// CodePageFailed: the page does not load, or cannot do what a step asks of it.
	CodePageFailed = define(CodeInfo{
		Code: "page_failed", Status: http.StatusUnprocessableEntity, Repeat: RepeatNever,
		Model: "look at the page with hub_browser_snapshot, then do something else",
	})
	// CodePageTimeout: the page did not answer in time and was closed.
	CodePageTimeout = define(CodeInfo{
		Code: "page_timeout", Status: http.StatusGatewayTimeout, Repeat: RepeatNever,
		Model: "open the page again with hub_browser_open, or go on without it",
	})
	// CodeAddressRefused: a page wanted to reach what no page may reach.
	CodeAddressRefused = define(CodeInfo{
		Code: "address_refused", Status: http.StatusForbidden, Repeat: RepeatNever, Operator: true,
		HTTP:  "the operator allows the host: PUT /v1/rooms/{room_id}/hosts",
		CLI:   "allow it: hubcli room allow-host <room> <host:port>",
		Model: "ask your user to allow the host to the browser of the room, or go on without it",
	})
	// CodeStaleRef: the element of a ref is gone, or was on another page.
	CodeStaleRef = define(CodeInfo{
		Code: "stale_ref", Status: http.StatusConflict, Repeat: RepeatNever,
		HTTP: "take a snapshot, and name a ref of that", CLI: "take a snapshot, and name a ref of that",
		Model: "take a hub_browser_snapshot, and name a ref of that",
	})
	// CodeBrowserInstall: a browser engine could not be installed.
	CodeBrowserInstall = define(CodeInfo{Code: "browser_install", Local: true, Repeat: RepeatNever, Operator: true})
)
