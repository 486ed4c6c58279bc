package session

import "hubcli/hub"

// A window is what a bridge is told again by after a restart, where its harness gives it no id of
// a session: the process of the harness, or of a client that is not known its name, and the folder
// in which it works. Windows may come back in any order. Bridges that nothing tells apart are new
// agents each time they start: else one would read the mail of another.

// window returns a text that is the same for bridges of one window alone, as far as can be known.
func (l *Link) window() string {
	who := l.process()
	if l.Harness() == hub.HarnessGeneric {
		l.mu.Lock()
		who = "client " + l.client
		l.mu.Unlock()
	}
	return who + "\x00" + l.project()
}

// unlike returns a text that no other bridge has.
func (l *Link) unlike() string {
	return "bridge " + l.nonce
}

// standing returns the text after which a bridge is named that nobody has named: its window if it
// can be told again by it, else one of its own.
func (l *Link) standing() string {
	switch {
	case l.slot == nil:
		return l.unlike()
	case l.ResumeKey != "":
		return "slot " + l.ResumeKey
	}
	return l.window()
}
