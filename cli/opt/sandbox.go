package opt

import (
	"errors"

	"hubcli/cli/term"
	"hubcli/hub"
)

// envSandboxed is set by Codex for the commands of its agent where its sandbox has no
// network, not even to this machine.
const envSandboxed = "CODEX_SANDBOX_NETWORK_DISABLED"

// Sandboxed reports whether a hub that does not answer is only out of reach of this
// process.
func Sandboxed(env *term.Env, err error) bool {
	var h *hub.Error
	return env.Getenv(envSandboxed) == "1" && errors.As(err, &h) && h.Code == hub.CodeUnreachable
}

// OutsideSandbox gives an error of a process in such a sandbox another way out: a hub
// that was started there would be a second one, without a network.
func OutsideSandbox(env *term.Env, err error) error {
	var h *hub.Error
	if !Sandboxed(env, err) || !errors.As(err, &h) {
		return err
	}
	own := *h
	own.Message = h.Message + ": this sandbox has no network"
	return own.WithFix("use the tools of the hub instead; to wait for messages call hub_poll_messages with timeout_seconds, such as 240")
}
