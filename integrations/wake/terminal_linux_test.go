package wake

import (
	"net"
	"os"
	"path/filepath"
	"testing"

	"hubcli/internal/require"
)

// TestPeersOfAProcess: the processes at the other end of a named socket are found, with their folder. A
// process without a named socket tells nothing.
func TestPeersOfAProcess(t *testing.T) {
	if _, ok := unixSockets(); !ok {
		t.Skip("needs the kernel's list of sockets, which this system does not give")
	}
	path := filepath.Join(t.TempDir(), "s")
	listener, err := net.Listen("unix", path)
	require.NoError(t, err)
	defer listener.Close()
	self := os.Getpid()
	all, _ := unixSockets()
	own, ok := sockets(self)
	if !ok || len(own) == 0 {
		t.Fatal("the sockets of this process are not known")
	}
	listening := 0
	for _, s := range all {
		if own[s.inode] && s.named && s.peer == 0 {
			listening++
		}
	}
	if listening == 0 {
		t.Error("the socket that listens is not in the list")
	}
	client, err := net.Dial("unix", path)
	require.NoError(t, err)
	defer client.Close()
	server, err := listener.Accept()
	require.NoError(t, err)
	defer server.Close()
	found := map[uint32]bool{}
	all, _ = unixSockets()
	own, _ = sockets(self)
	for _, s := range all {
		if own[s.inode] && s.named && s.peer != 0 && own[s.peer] {
			found[s.peer] = true
		}
	}
	if len(found) == 0 {
		t.Error("the connection is not in the list")
	}
	mine := owners(0, found)
	dir, err := os.Getwd()
	require.NoError(t, err)
	if len(mine) != 1 || mine[0].dir != dir || len(mine[0].args) == 0 {
		t.Errorf("the owner of the connection is %+v, want this process in %s", mine, dir)
	}
}

// TestFollows: which clients of Codex's daemon may follow a session.
func TestFollows(t *testing.T) {
	for name, c := range map[string]struct {
		peer peer
		want bool
	}{
		"a terminal in the folder":       {peer{exe: "/bin/codex", args: []string{"codex"}, dir: "/p", terminal: true}, true},
		"a terminal elsewhere":           {peer{exe: "/bin/codex", args: []string{"codex"}, dir: "/q", terminal: true}, false},
		"one that resumes a session":     {peer{exe: "/bin/codex", args: []string{"codex", "resume", "--last"}, dir: "/q", terminal: true}, true},
		"one that names the session":     {peer{exe: "/bin/codex", args: []string{"codex", "t1"}, dir: "/q", terminal: true}, true},
		"one that names a folder":        {peer{exe: "/bin/codex", args: []string{"codex", "--cd=/p"}, dir: "/q", terminal: true}, true},
		"a command of Codex":             {peer{exe: "/bin/codex", args: []string{"codex", "queue"}, dir: "/p"}, false},
		"a client that is not Codex":     {peer{exe: "/bin/node", args: []string{"node"}, dir: "/q"}, true},
		"one of another version, in use": {peer{exe: "/bin/codex-x86_64", args: []string{"codex"}, dir: "/p", terminal: true}, true},
	} {
		if got := c.peer.follows("t1", "/p"); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
