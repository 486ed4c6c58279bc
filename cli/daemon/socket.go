package daemon

import (
	"fmt"
	"path/filepath"
	"strings"

	"hubcli/api/client"
)

// socketPath bounds the bytes of a socket's path on each system.
const socketPath = 103

// NoSocket says that the hub of this user at an address has no socket for its operator, why as
// far as known, and what to do; "": it has one, or is not noted in the data root.
func NoSocket(root, baseURL string, inspect func(dir string) (StoreInfo, error)) (sentence, fix string) {
	note, err := client.Noted(root, baseURL)
	if root == "" || err != nil || note.Socket != "" {
		return "", ""
	}
	sentence = "the hub at " + baseURL + " has no socket for its operator, so that hubcli stop and the other commands of the operator cannot reach it"
	name := filepath.Join("run", "op-"+strings.Repeat("0", 16)+".sock")
	if path := filepath.Join(root, name); len(path) > socketPath {
		sentence += fmt.Sprintf(": the path of the data root has %d bytes, and there is room for a socket with %d at most", len(root), socketPath-len(name)-1)
	}
	sentence += "; the log of the hub says what was tried"
	end := "end its process"
	if inspect != nil {
		if info, err := inspect(note.Store); err == nil && info.Held && info.Holder.PID != 0 {
			end = "end it with " + killCommand(info.Holder.PID)
		}
	}
	return sentence, end + ", and start it with a HUB_DATA_ROOT of a shorter path, or with XDG_RUNTIME_DIR set to a folder of yours"
}
