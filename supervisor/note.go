package supervisor

import (
	"net"

	"hubcli/internal/hubfile"
)

// note tells programs of this user how to know the hub at its address. Without the note they
// would believe the port, or an earlier hub's note, so that the log says why there is none;
// the hub serves all the same.
func (t *Tree) note() {
	at, ok := t.config.Listener.Addr().(*net.TCPAddr)
	if t.config.DataRoot == "" || !ok {
		return
	}
	n := hubfile.Note{
		Address: at.AddrPort(), Store: t.storeDir(), InstanceID: t.Store.InstanceID(),
		ProofKey: hubfile.ProofKey(t.Store.SecretKey()),
	}
	if t.operator != nil {
		n.Socket = t.operator.path
	}
	err := hubfile.Write(t.config.DataRoot, n)
	if err != nil {
		t.log.Warn("programs of this user cannot tell that this is their hub: it is not noted in the data root", "error", err)
	}
}
