package doctor

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"hubcli/hub"
	"hubcli/internal/osfile"
)

// Limits of the files that are read.
const (
	maxNote   = 16 << 10
	maxLedger = 16 << 20
	maxFiles  = 4096
)

// adaptersFolder is the folder of the ledger, in the data root.
const adaptersFolder = "adapters"

// kept is what the files of slots and bridges have in common.
type kept struct {
	BaseURL    string         `json:"base_url"`
	InstanceID hub.InstanceID `json:"instance_id"`
	AgentID    hub.AgentID    `json:"agent_id"`
}

// files reads the JSON files of a folder in the data root. Those that cannot be
// read are given without content.
func (x *exam) files(folder string) map[string]*kept {
	found := map[string]*kept{}
	if x.DataRoot == "" {
		return found
	}
	entries, _ := os.ReadDir(filepath.Join(x.DataRoot, folder)) // absent: none
	for _, e := range entries[:min(len(entries), maxFiles)] {
		if !strings.HasSuffix(e.Name(), ".json") {
			continue
		}
		path := filepath.Join(x.DataRoot, folder, e.Name())
		b, err := osfile.ReadSmall(path, maxNote)
		k := &kept{}
		if err != nil || json.Unmarshal(b, k) != nil {
			k = nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			found[path] = k
		}
	}
	return found
}

// usedAddresses are those that bridges have used, each once.
func (x *exam) usedAddresses() (urls []string) {
	for _, folder := range []string{"slots", "bridges"} {
		for _, k := range x.files(folder) {
			if k != nil && k.BaseURL != "" && !slices.Contains(urls, k.BaseURL) {
				urls = append(urls, k.BaseURL)
			}
		}
	}
	slices.Sort(urls)
	return urls
}

// slots looks for slots that no bridge can go on from, and for notes of processes
// that have ended.
func (x *exam) slots(context.Context) {
	var foreign, damaged []string
	for path, k := range x.files("slots") {
		switch {
		case k == nil:
			damaged = append(damaged, path)
		case x.hub != nil && k.BaseURL == x.BaseURL && k.InstanceID != "" && k.InstanceID != x.hub.InstanceID && !held(path):
			foreign = append(foreign, path)
		}
	}
	if len(damaged) > 0 {
		x.warn("slots", some(damaged, "slot", "slots")+" cannot be read", "remove the file: its bridge then registers under the name of its start")
	}
	if len(foreign) > 0 {
		x.warn("slots", some(foreign, "slot is", "slots are")+" of sessions in a store that the hub no longer serves", "remove the file, unless you go back to that store")
	}
	var dead []string
	for path := range x.files("bridges") {
		if !x.runs(filepath.Base(path)) {
			dead = append(dead, path)
		}
	}
	if len(dead) > 0 {
		x.ok("bridges", some(dead, "note is", "notes are")+" of processes that have ended; bridges remove them after an hour")
	}
}

// held reports whether a bridge runs that has the slot.
func held(slot string) bool {
	f, err := os.Open(strings.TrimSuffix(slot, ".json") + ".lock")
	if err != nil {
		return false
	}
	defer f.Close()
	free, err := osfile.TryLock(f)
	return err == nil && !free
}

// runs reports whether the process runs that a note is named after.
func (x *exam) runs(name string) bool {
	digits, rest, ok := strings.Cut(name, "-")
	began, _, also := strings.Cut(rest, ".")
	pid, err := strconv.Atoi(digits)
	if !ok || !also || err != nil || x.Look == nil {
		return true // it is none of the bridges': nothing is known of it
	}
	now, runs := x.Look(pid)
	return runs && now.Began == began
}

// some names the first of several paths.
func some(paths []string, one, many string) string {
	slices.Sort(paths)
	if len(paths) == 1 {
		return "1 " + one + " (" + paths[0] + ")"
	}
	return fmt.Sprintf("%d %s (the first: %s)", len(paths), many, paths[0])
}

// ledger checks the list of what the hub has written into other programs' files.
func (x *exam) ledger(context.Context) {
	if x.DataRoot == "" {
		return
	}
	dir := filepath.Join(x.DataRoot, adaptersFolder)
	path := filepath.Join(dir, "ledger.json")
	b, err := osfile.ReadSmall(path, maxLedger)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(filepath.Join(dir, "ledger.old")); err == nil {
			x.fail("adapters", "the ledger "+path+" is gone, and an earlier one is there", "put it back: copy ledger.old to ledger.json, then hubcli adapter list")
		}
		return
	}
	var l struct {
		Version int             `json:"version"`
		Sum     string          `json:"sum"`
		Files   json.RawMessage `json:"files"`
	}
	if err == nil {
		err = json.Unmarshal(b, &l)
	}
	var plain bytes.Buffer
	if err == nil {
		err = json.Compact(&plain, l.Files)
	}
	sum := sha256.Sum256(plain.Bytes())
	switch {
	case err != nil:
		x.fail("adapters", "the ledger "+path+" cannot be read: "+err.Error(), "copy the folder, then put ledger.old in the place of ledger.json")
	case l.Version != 1:
		x.fail("adapters", fmt.Sprintf("the ledger %s has version %d, which this hubcli does not know", path, l.Version), "use the newer hubcli that wrote it")
	case l.Sum != hex.EncodeToString(sum[:]):
		x.fail("adapters", "the ledger "+path+" fails its checksum", "copy the folder, then put ledger.old in the place of ledger.json")
	}
	if _, err := os.Lstat(filepath.Join(dir, "journal.json")); err == nil {
		x.warn("adapters", "an install or uninstall of an adapter was interrupted", "finish it: hubcli adapter list")
	}
}

// leftovers looks beside the store for what interrupted or earlier commands left.
func (x *exam) leftovers(context.Context) {
	dir := x.Store
	if x.proved && x.hub.StoragePath != "" {
		dir = x.hub.StoragePath
	}
	if dir == "" {
		return
	}
	entries, _ := os.ReadDir(filepath.Dir(dir)) // absent: none
	base := filepath.Base(dir)
	for _, e := range entries {
		path := filepath.Join(filepath.Dir(dir), e.Name())
		switch suffix, ok := strings.CutPrefix(e.Name(), base); {
		case !ok:
		case suffix == ".restoring":
			x.warn("store", path+" is left of a restore that was interrupted, or is still at work", "if none is at work, restore again, or remove that folder")
		case strings.HasPrefix(suffix, ".trash-"):
			if _, err := os.Lstat(filepath.Join(path, "FORMAT")); err == nil {
				x.warn("store", path+" is left of a reset that was interrupted, or is still at work", "if none is at work, remove that folder; a reset would delete a store that has been made since, too")
				continue
			}
			x.warn("store", path+" has files that were in a deleted store and were not the store's", "look at them, then remove that folder")
		case strings.HasPrefix(suffix, ".before-"):
			x.ok("store", path+" is the store that a restore has moved aside; remove it when you no longer need it")
		}
	}
}
