package daemon

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strconv"

	"hubcli/api/client"
	"hubcli/hub"
)

// ErrNoStore says that there is nothing at the path of a store.
var ErrNoStore = errors.New("there is no store")

// StoreInfo describes a store without opening it.
type StoreInfo struct {
	Instance hub.InstanceID
	ProofKey []byte // of a hub that serves it; empty: it cannot be read
	Socket   string // of the operator, by the hub that serves it or served it last; empty: it is not known
	Format   int    // the least format that a program must know to understand it
	Messages int64  // rows stored; -1 if unknown
	Free     int64  // bytes free on its disk; -1 if unknown
	Held     bool   // a process has it open now
	Holder   Holder
	Salvaged *hub.Salvage // what it lacks; nil: it was not brought up from a damaged one
	Rest     bool         // a reset that was interrupted has left files; it is said of a folder without a store
}

// Examined says how whole a store is that no hub serves.
type Examined struct {
	Refused  error // why a start would refuse it; nil: it starts
	Damaged  []hub.StoreDamage
	Messages int64 // that are whole
}

// Salvaged is a store that was brought up from a damaged one.
type Salvaged struct {
	Instance hub.InstanceID `json:"instance_id"`
	hub.Salvage
}

// Backup is what a backup of a store holds.
type Backup struct {
	Instance hub.InstanceID `json:"instance_id"` // of the store that it was made of
	Made     hub.Time       `json:"made_at"`
	Seq      hub.Seq        `json:"record"`
	Message  hub.MessageID  `json:"message"`
	Entries  int64          `json:"entries"`
	Bytes    int64          `json:"bytes"`
}

// Origin says which stores and backups count as this user's own.
type Origin struct {
	DataRoot string // whose hubs are this user's; empty: there is none
	Adopt    bool   // take over what others have made
}

// Restored is a store that was made of a backup.
type Restored struct {
	Backup   Backup         `json:"backup"`
	Instance hub.InstanceID `json:"instance_id"`
	Aside    string         `json:"moved_aside,omitempty"` // where the store is that was in the place
}

// Holder names the process that has a store open. It is a hint from the lock file;
// unknown fields are zero.
type Holder struct {
	PID     int
	Address string // address of the hub, as host:port
}

// HeldError says that another process has the store open.
type HeldError struct{ Holder Holder }

func (e *HeldError) Error() string { return "the store is in use" }

// BaseURLs are where the holder says that it serves: none if it does not say so, or
// names another machine. A hub on all addresses is reached over loopback, of both
// kinds mostly.
func (h Holder) BaseURLs() []string {
	host, digits, err := net.SplitHostPort(h.Address)
	port, perr := strconv.Atoi(digits)
	if err != nil || perr != nil {
		return nil
	}
	hosts := []string{host}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		hosts = []string{"127.0.0.1", "::1"}
	}
	var urls []string
	for _, host := range hosts {
		if url := BaseURL(host, port); client.OnThisMachine(url) {
			urls = append(urls, url)
		}
	}
	return urls
}

// ServesAt asks the hub that the holder of the store says to be, and returns its
// address if it is that store's: the lock file alone proves nothing.
func (h Holder) ServesAt(ctx context.Context, dir string) (url string, ok bool) {
	for _, url := range h.BaseURLs() {
		found := Probe(ctx, url)
		if found.Kind != Hub {
			continue
		}
		if instance, err := client.StoreInstance(dir); err == nil && instance == found.Info.InstanceID {
			return url, true
		}
	}
	return "", false
}

// BaseURL is how a client on this machine reaches a hub that listens on a host and
// port: a hub that listens everywhere is reached over loopback.
func BaseURL(host string, port int) string {
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
		if ip.To4() == nil {
			host = "::1"
		}
	}
	return "http://" + net.JoinHostPort(host, strconv.Itoa(port))
}

// SameStore compares folders, not spellings.
func SameStore(a, b string) bool {
	if a == b {
		return true
	}
	if sa, err := os.Stat(a); err == nil {
		if sb, err := os.Stat(b); err == nil {
			return os.SameFile(sa, sb)
		}
	}
	return filepath.Clean(a) == filepath.Clean(b)
}

// LogPath is the log of the daemon that serves a store.
func LogPath(storage string) string { return filepath.Join(storage, "hub.log") }
