package actors

import (
	"strings"

	"hubcli/actors/core"
	"hubcli/actors/view"
	"hubcli/hub"
)

// EachSecret calls fn with what agents have to prove themselves by, as the rows say: the
// secrets of the latest session of each agent and of the one whose key still resumes it,
// and the codes of invites that can be accepted. They are made anew; none is stored.
// Errors: corrupt_record.
func (h *Hub) EachSecret(rows core.Rows, fn func(string)) error {
	s := h.secrets()
	err := view.ReadRows(rows, core.TableAgent, nil, nil, false, func(_ []byte, a core.AgentRow) bool {
		for _, public := range []hub.SessionID{a.Session.SessionID.Public(), a.Prior.Public()} {
			if public != "" {
				_, secret, _ := strings.Cut(string(s.session(public)), ".")
				fn(secret)
				fn(s.mac("resume", public))
			}
		}
		return true
	})
	if err != nil {
		return err
	}
	return view.ReadRows(rows, core.TableInvite, nil, nil, false, func(_ []byte, i core.StoredInvite) bool {
		if i.State == hub.InviteActive {
			fn(s.code(i.RoomID, i.Nonce))
		}
		return true
	})
}
