package daemon

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"runtime"
	"strconv"

	"hubcli/api/client"
	"hubcli/internal/hubfile"
)

// Recognize looks once more at a hub that has not proved to be one of this user: whether it
// serves the store in a folder that the caller can read. Such a hub proves that it has the
// store's key. Then it is noted in the caller's data root, where another hub of this user did
// not note it: it was started with another. Recognize returns what was found in the end.
func (m *Machine) Recognize(ctx context.Context, baseURL, storage string, found Probed) Probed {
	root, err := m.Root()
	if err != nil || m.Inspect == nil || found.Proved || found.Kind != Hub && found.Kind != Impostor {
		return found
	}
	info, err := m.Inspect(storage)
	at, ok := addressOf(baseURL)
	if err != nil || !ok || !info.Held || len(info.ProofKey) == 0 {
		return found
	}
	note := hubfile.Note{Address: at, Store: storage, InstanceID: info.Instance, Socket: info.Socket, ProofKey: info.ProofKey}
	c := client.New(client.Config{BaseURL: baseURL, DataRoot: root, Known: &note, Timeout: ProbeTimeout})
	defer c.Close()
	got, err := c.Info(ctx)
	if err != nil || !c.Proved() || got.InstanceID != info.Instance {
		return found
	}
	if err := hubfile.Write(root, note); err != nil {
		m.Note("the hub at %s cannot be noted in the data root, so that the operator's commands do not find it: %v", baseURL, err)
	}
	return Probed{Kind: Hub, Info: got, Proved: true}
}

// Earlier returns the process of the hub at the address if it serves the store and is of an
// earlier version, which cannot prove itself; 0: it is not known to be that. The store says which
// process serves it, and where. A hub that proves itself leaves its socket in the store.
func (m *Machine) Earlier(baseURL, storage string, found Probed) int {
	if m.Inspect == nil || storage == "" || found.Proved || found.Kind != Hub && found.Kind != Impostor {
		return 0
	}
	info, err := m.Inspect(storage)
	if err != nil || !info.Held || info.Socket != "" || found.Kind == Hub && found.Info.InstanceID != info.Instance {
		return 0
	}
	at, ok := addressOf(baseURL)
	for _, url := range info.Holder.BaseURLs() {
		if there, known := addressOf(url); ok && known && there == at {
			return info.Holder.PID
		}
	}
	return 0
}

// EarlierWords say what to do about the process of a hub of an earlier version.
func EarlierWords(pid int) (sentence, fix string) {
	return fmt.Sprintf("the hub there (process %d) serves your store and is of an earlier version", pid),
		"end it with " + killCommand(pid) + ", then run hubcli ensure"
}

// killCommand is the command that ends a process.
func killCommand(pid int) string {
	if runtime.GOOS == "windows" {
		return "taskkill /PID " + strconv.Itoa(pid)
	}
	return "kill " + strconv.Itoa(pid)
}

// addressOf returns the address that a base address names by number.
func addressOf(baseURL string) (netip.AddrPort, bool) {
	u, err := url.Parse(baseURL)
	if err != nil {
		return netip.AddrPort{}, false
	}
	at, err := netip.ParseAddrPort(net.JoinHostPort(u.Hostname(), u.Port()))
	return at, err == nil
}
