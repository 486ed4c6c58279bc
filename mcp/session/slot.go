package session

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"hubcli/hub"
	"hubcli/internal/identity"
	"hubcli/internal/lazy"
	"hubcli/internal/osfile"
)

// Of the folder of slots.
const (
	slotsFolder  = "slots"
	maxSlotBytes = 16 << 10
	keepSlots    = 30 * 24 * time.Hour
)

var slotName = lazy.Regexp{Pattern: `^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`}

// CheckSlot refuses a name that no slot can have.
func CheckSlot(name string) error {
	if !slotName.MatchString(name) {
		return hub.Invalid("resume_key", "a slot has a name of up to 64 letters, digits, dots, underscores and hyphens, and is no path").
			WithFix("name it after what it is for, for example codex-main")
	}
	return nil
}

// slotContent is what a slot remembers: enough to go on as the same agent.
type slotContent struct {
	BaseURL    string         `json:"base_url"`
	InstanceID hub.InstanceID `json:"instance_id"`
	AgentID    hub.AgentID    `json:"agent_id"`
	SessionID  hub.SessionID  `json:"session_id"` // full: a secret
	ResumeKey  string         `json:"resume_key"` // a secret
	// Joined: the agent was taken up by hub_join, not by a name of the start.
	Joined bool `json:"joined"`
	// Named is the agent that HUB_AGENT named; empty: none.
	Named hub.AgentID `json:"named,omitempty"`
	// RoomID is the room that the agent has joined; empty: none by an invite.
	RoomID hub.RoomID `json:"room_id,omitempty"`
	// Pending is a join under way: should the bridge end before the answer is
	// here, asking again with the same key gives the same answer.
	Pending *Pending `json:"pending,omitempty"`
}

// Pending is a join under way: what was asked for, and with which key.
type Pending struct {
	Code  string          `json:"code"`
	Input hub.AcceptInput `json:"input"`
	Key   string          `json:"key"` // idempotency key
}

// slot is a file that one bridge at a time keeps an identity in:
//
//	<data root>/slots/<name>.json   0600, renamed into place
//	<data root>/slots/<name>.lock   locked while the bridge runs
//	<data root>/slots/<name>.shared empty: bridges that nothing tells apart wanted it, and none has it
type slot struct {
	dir, name string
	lock      *os.File
}

// errSlotHeld: another bridge has the slot.
var errSlotHeld = errors.New("another bridge has the slot")

// OpenSlot takes the slot for this process. errSlotHeld.
func OpenSlot(dataRoot, name string) (*slot, error) {
	s := &slot{dir: filepath.Join(dataRoot, slotsFolder), name: name}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, s.unusable("its folder cannot be made: "+err.Error(), "set HUB_DATA_ROOT to a folder that you may write to")
	}
	if err := s.private(s.dir); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(s.dir, name+".lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, s.unusable("its lock cannot be opened: "+err.Error(), "set HUB_DATA_ROOT to a folder that you may write to")
	}
	got, err := osfile.TryLock(f)
	if err == nil && got {
		s.lock = f
		return s, nil
	}
	_ = f.Close()
	if err != nil {
		return nil, s.unusable("its lock cannot be taken: "+err.Error(), "keep the data root on a disk of this machine")
	}
	return nil, errSlotHeld
}

// Close lets another bridge have the slot.
func (s *slot) Close() {
	if s != nil {
		_ = s.lock.Close()
	}
}

func (s *slot) path() string { return filepath.Join(s.dir, s.name+".json") }

func sharedPath(dataRoot, name string) string {
	return filepath.Join(dataRoot, slotsFolder, name+".shared")
}

// share notes that several bridges want a slot at a time.
func share(dataRoot, name string) error {
	f, err := os.OpenFile(sharedPath(dataRoot, name), os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// shared reports whether share has noted the slot. What the slot holds is forgotten then.
func (s *slot) shared() bool {
	if _, err := os.Lstat(filepath.Join(s.dir, s.name+".shared")); err != nil {
		return false
	}
	_ = os.Remove(s.path()) // one that stays is not read
	return true
}

// private refuses a file that other users can read or own: a slot holds
// secrets.
func (s *slot) private(path string) error {
	err := identity.Trust(path, identity.Secret)
	var d *identity.Distrust
	switch {
	case err == nil:
		return nil
	case errors.As(err, &d):
		return s.unusable(d.Why, d.Fix)
	}
	return s.unusable(err.Error(), "see to "+path)
}

// Load returns the content of the slot, or nil if it is empty.
func (s *slot) Load() (*slotContent, error) {
	if _, err := os.Lstat(s.path()); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if info, err := os.Lstat(s.path()); err == nil && info.IsDir() {
		return nil, s.unusable(s.path()+" is a folder, where its file should be", "move the folder away")
	}
	if err := s.private(s.path()); err != nil {
		return nil, err
	}
	b, err := osfile.ReadSmall(s.path(), maxSlotBytes)
	if err != nil && !errors.Is(err, osfile.ErrTooLong) {
		return nil, s.unusable(err.Error(), "see to "+s.path())
	}
	var id slotContent
	if err == nil {
		err = json.Unmarshal(b, &id)
	}
	if err == nil {
		err = hub.CheckSender("agent_id", id.AgentID)
	}
	if err != nil || (id.SessionID == "") != (id.ResumeKey == "") {
		return nil, s.unusable("it is damaged", "remove "+s.path()+", which forgets which agent the bridge was, and join again with hub_join")
	}
	return &id, nil
}

// Store writes id into the slot. It is on the disk when Store returns.
func (s *slot) Store(id *slotContent) error {
	b, err := json.Marshal(id)
	if err != nil {
		return err
	}
	return osfile.Replace(osfile.Disk{}, s.path(), osfile.Content{Write: osfile.Bytes(append(b, '\n'))})
}

// sweep removes slots that were not used for long, and files that crashes left.
func (s *slot) sweep(now time.Time) {
	entries, _ := os.ReadDir(s.dir) // those that could be read
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		age := now.Sub(info.ModTime())
		old, _ := filepath.Match("auto-*", e.Name())
		left, _ := filepath.Match(osfile.DefaultPrefix+"*", e.Name())
		if old && age > keepSlots || left && age > time.Hour {
			_ = os.Remove(filepath.Join(s.dir, e.Name()))
		}
	}
}

func (s *slot) unusable(why, fix string) error {
	return hub.Errorf(hub.CodeInvalid, "the slot %s cannot be used: %s", s.name, why).With("slot", s.name).WithFix(fix)
}
