package term

import "hubcli/internal/hubfile"

// DefaultPort is the port of a hub that nobody gave one.
const DefaultPort = 6969

// OwnPort is the port at which programs of this user expect their hub. The error says why what
// the data root remembers cannot be used. Run looks once for all its commands.
func (e *Env) OwnPort() (int, error) {
	if e.Port != 0 {
		return e.Port, e.PortUnusable
	}
	root, err := e.DataRoot()
	if err != nil {
		return DefaultPort, nil
	}
	return hubfile.LookPort(root)
}
