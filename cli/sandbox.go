package cli

import (
	"errors"

	"hubcli/hub"
)

// envSandboxed is set by Codex for the commands of its agent where its sandbox has no
// network, not even to this machine.
const envSandboxed = "CODEX_SANDBOX_NETWORK_DISABLED"

// sandboxed reports whether a hub that does not answer is only out of reach of this
// process.
func sandboxed(env *Env, err error) bool {
	var h *hub.Error
	return env.Getenv(envSandboxed) == "1" && errors.As(err, &h) && h.Code == hub.CodeUnreachable
}

// outsideSandbox gives an error of a process in such a sandbox another way out: a hub
// that was started there would be a second one, without a network.
func outsideSandbox(env *Env, err error) error {
	var h *hub.Error
	if !sandboxed(env, err) || !errors.As(err, &h) {
		return err
	}
	own := *h
	own.Message = h.Message + ": this sandbox has no network"
	return own.WithFix("use the tools of the hub instead; to wait for messages call hub_poll_messages with timeout_seconds, such as 240")
}
