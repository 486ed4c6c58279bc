package hub

// The codes of browsers, beside those in code.go.
var (
	// CodeBrowserMissing: no browser engine of this machine can be used.
	CodeBrowserMissing = define(CodeInfo{
		Code: "browser_missing", Local: true, Repeat: RepeatNever, Operator: true,
		CLI:   "install one: hubcli browser install; hubcli browser engines says what is there and why it is not used",
		Model: "ask your user to install a browser engine for the hub; until then go on without a browser",
	})
	// CodeBrowserInstall: a browser engine could not be installed.
	CodeBrowserInstall = define(CodeInfo{Code: "browser_install", Local: true, Repeat: RepeatNever, Operator: true})
)
