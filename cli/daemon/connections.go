package daemon

import "hubcli/hub"

// filesOfStore is how many open files a hub leaves to its store and its index, or half of all
// where there are few.
const filesOfStore = 1024

// Connections returns how many connections a hub may have at a time that may open so many
// files; 0: any number. Clients can then not take the files that the store needs.
func Connections(files uint64) int {
	if files == 0 {
		return hub.MaxConnections
	}
	left := files - min(files/2, filesOfStore)
	return int(max(1, min(left, hub.MaxConnections)))
}
