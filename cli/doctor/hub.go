package doctor

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"hubcli/api"
	"hubcli/api/client"
	"hubcli/cli/daemon"
	"hubcli/hub"
	"hubcli/internal/hubfile"
)

// Of the room on the disk of a store, in MiB. Below the first one the hub takes no
// writes: see docs/operations.md.
const (
	fullMiB  = 88
	tightMiB = 500
)

// fixOf is the way out of an error, if it names one.
func fixOf(err error, otherwise string) string {
	var h *hub.Error
	if errors.As(err, &h) {
		if fix := h.FixFor(hub.ForCLI); fix != "" {
			return fix
		}
	}
	return otherwise
}

// address looks for the hub where it should be.
func (x *exam) address(ctx context.Context) {
	at := x.BaseURL
	if err := client.CheckBaseURL(at); err != nil {
		x.fail("hub", "the address "+at+" is none: "+err.Error(), fixOf(err, "set HUB_BASE_URL to http://<host>:<port>, or unset it"))
		return
	}
	found := daemon.Probe(ctx, at)
	if pid := (&daemon.Machine{Inspect: x.Inspect}).Earlier(at, x.Store, found); pid != 0 {
		text, fix := daemon.EarlierWords(pid)
		x.fail("hub", text, fix)
		return
	}
	switch found.Kind {
	case daemon.Hub:
		if found.Owner != "" && x.Named {
			x.ok("hub", "the hub at "+at+" is "+found.Owner+"'s, who has let you in")
			return
		}
		if found.Owner != "" {
			x.others(ctx, found.Owner)
			return
		}
		x.hub, x.proved = &found.Info, found.Proved
		x.running(ctx)
	case daemon.Impostor:
		x.fail("hub", found.Err.Error(), fixOf(found.Err, "see which program it is"))
	case daemon.Others:
		x.others(ctx, found.Owner)
	case daemon.Foreign, daemon.Dropped:
		x.fail("hub", "another program answers at "+at, "name the hub's address in HUB_BASE_URL or with --base-url, or start a hub on another port: hubcli ensure --port N")
	case daemon.Silent:
		x.fail("hub", "the program at "+at+" does not answer", "wait if a hub is starting; otherwise see which program it is")
	case daemon.Absent:
		x.absent(ctx)
	}
}

// others says whose hub answers at the address, and how to have one's own.
func (x *exam) others(ctx context.Context, owner string) {
	text := fmt.Sprintf("this hub is another user's: %s is %s's", x.BaseURL, owner)
	fix := "start a hub of your own, which gets a port of its own: hubcli ensure"
	info, err := x.Inspect(x.Store)
	if err == nil && info.Held {
		if url, ok := info.Holder.ServesAt(ctx, x.Store); ok {
			text += ", and the hub of your store serves at " + url
			fix = "let your data root remember its port: hubcli ensure"
		}
	}
	if x.Named {
		fix = "unset HUB_BASE_URL, or name your own hub with --base-url; hubcli ensure starts one"
	}
	x.warn("hub", text, fix)
}

// port looks at the port that the data root remembers.
func (x *exam) port(context.Context) {
	if _, err := hubfile.LookPort(x.DataRoot); err != nil {
		x.warn("port", "the port of your hub that the data root remembers cannot be used, so that programs look at "+hubfile.BaseURL("")+": "+err.Error(),
			"mend it: hubcli ensure")
	}
}

// absent says where the hub is that does not answer at the address.
func (x *exam) absent(ctx context.Context) {
	info, err := x.Inspect(x.Store)
	if err == nil && info.Held {
		if url, ok := info.Holder.ServesAt(ctx, x.Store); ok {
			from := "unset HUB_BASE_URL, or set it to " + url
			if _, err := hubfile.LookPort(x.DataRoot); err != nil && !x.Named {
				from = "let your data root remember its port again: hubcli ensure"
			} else if !x.Named {
				from = "set HUB_BASE_URL to " + url
			}
			x.fail("hub", "no hub answers at "+x.BaseURL+", and the hub of your store serves at "+url, from)
			return
		}
		x.fail("hub", fmt.Sprintf("no hub answers at %s, and process %d holds your store and does not answer", x.BaseURL, info.Holder.PID),
			"wait if it is starting or stopping; otherwise end that process: nothing is lost")
		return
	}
	text := "no hub answers at " + x.BaseURL
	if x.Stopped != nil && x.Stopped(x.BaseURL) {
		text += ": somebody has stopped it, so bridges do not start it"
	}
	x.warn("hub", text, "start one: hubcli ensure")
}

// running looks at the hub that answers.
func (x *exam) running(ctx context.Context) {
	info := x.hub
	text := fmt.Sprintf("a hub with version %s answers at %s", info.ImplementationVersion, x.BaseURL)
	if info.ImplementationVersion == x.Version {
		x.ok("hub", text)
	} else {
		x.warn("hub", text+", and this hubcli is "+x.Version, "start the hub again: hubcli stop, then hubcli ensure")
	}
	if !x.proved && client.OnThisMachine(x.BaseURL) {
		x.warn("hub", "the hub at "+x.BaseURL+" has not proved to be yours: no hub of your data root has served there",
			"if it is yours, set HUB_DATA_ROOT as it was when the hub was started, or start the hub again; otherwise start your own: hubcli ensure --port N")
	}
	if x.proved {
		if text, fix := daemon.NoSocket(x.DataRoot, x.BaseURL, x.Inspect); text != "" {
			x.fail("hub", text, fix)
		}
	}
	if x.Stopped != nil && x.Stopped(x.BaseURL) {
		x.warn("hub", "a mark says that the hub at "+x.BaseURL+" was stopped, and it runs: bridges would not start it after a crash",
			"remove the mark: hubcli ensure")
	}
	c := client.New(client.Config{BaseURL: x.BaseURL, Timeout: 2 * daemon.ProbeTimeout})
	defer c.Close()
	status, err := c.AppStatus(ctx)
	if err != nil {
		x.fail("hub", "the hub does not say how it is: "+err.Error(), fixOf(err, "see its log"))
		return
	}
	if status.Journal.State != hub.JournalOK {
		x.fail("hub", fmt.Sprintf("the hub takes no writes: its journal is %s", status.Journal.State), "free some space on the store's disk; after a failure start the hub again")
	}
	for _, q := range status.Quarantined {
		x.fail("hub", fmt.Sprintf("%s is in quarantine at record %d", q.Owner, q.Seq), "copy the store and report the mistake with the hub's log")
	}
	x.users(&status.Users)
	for _, a := range status.Asleep {
		x.warn("agents", fmt.Sprintf("%s is asleep with %d unread messages", a.AgentID, a.Unread), "begin a turn of it, or see how its harness is woken: hubcli adapter list")
	}
}

// users says whose calls the hub takes on its own machine.
func (x *exam) users(users *hub.LocalUsers) {
	if users.Told == "" && users.Why != "" {
		x.warn("users", "this system does not tell whose a call is, so the hub takes the calls of all users of this machine: "+users.Why,
			"let nobody else use this machine, or run the hub where the system tells: Linux with its network tables, macOS or Windows")
		return
	}
	var names []string
	for i := range users.Allowed {
		names = append(names, users.Allowed[i].Name)
	}
	if len(names) > 0 {
		x.ok("users", "the hub takes calls of other users of this machine whom you have let in: "+strings.Join(names, ", "))
	}
}

func (x *exam) room(dir string, info daemon.StoreInfo) {
	free := info.Free >> 20
	switch {
	case info.Free < 0:
	case free < fullMiB:
		x.fail("disk", fmt.Sprintf("the disk of %s has %d MiB free, and the hub takes writes from %d MiB on", dir, free, fullMiB), "free some space on that disk")
	case free < tightMiB:
		x.warn("disk", fmt.Sprintf("the disk of %s has %d MiB free, and below %d MiB the hub takes no writes", dir, free, fullMiB), "free some space on that disk")
	default:
		x.ok("disk", fmt.Sprintf("the disk of the store has %d MiB free", free))
	}
}

// otherHubs looks for hubs at the other addresses that bridges have used. Agents
// at two hubs do not see each other.
func (x *exam) otherHubs(ctx context.Context) {
	hubs := map[hub.InstanceID]string{}
	if x.hub != nil {
		hubs[x.hub.InstanceID] = x.BaseURL
	}
	for _, url := range x.usedAddresses() {
		if url == x.BaseURL || client.CheckBaseURL(url) != nil {
			continue
		}
		if found := daemon.Probe(ctx, url); found.Kind == daemon.Hub && hubs[found.Info.InstanceID] == "" {
			hubs[found.Info.InstanceID] = url
		}
	}
	if len(hubs) > 1 {
		x.warn("hub", fmt.Sprintf("%d hubs run: %s; agents at one do not see those at the other", len(hubs), strings.Join(slices.Sorted(maps.Values(hubs)), ", ")),
			"if you want one team, stop the others: hubcli stop --port N, and repair the adapters that name them")
	}
}

// adapters asks the hub how it is set up in harnesses.
func (x *exam) adapters(ctx context.Context) {
	if x.hub == nil {
		return
	}
	// The hub makes the folder of its ledger when it is asked, and an examination
	// must change nothing. Without the folder nothing was ever installed.
	if _, err := os.Lstat(filepath.Join(x.DataRoot, adaptersFolder)); err != nil {
		x.ok("adapters", "no adapter is installed; hubcli adapter list shows the harnesses of this machine")
		return
	}
	c := client.New(client.Config{BaseURL: x.BaseURL})
	defer c.Close()
	rows, err := c.Adapters(ctx, hub.AdapterQuery{SearchPath: api.SearchPath(x.Getenv("PATH"))})
	if err != nil {
		x.fail("adapters", "the hub cannot say what is installed in harnesses: "+err.Error(), fixOf(err, "see docs/adapters.md"))
		return
	}
	installed, bad := 0, len(x.found)
	for i := range rows {
		for _, place := range rows[i].Places {
			x.place(&rows[i], &place, &installed)
		}
	}
	if len(x.found) == bad {
		x.ok("adapters", fmt.Sprintf("all installed adapters, %d, are as the hub wrote them", installed))
	}
}

func (x *exam) place(row *hub.Adapter, place *hub.AdapterPlace, installed *int) {
	name, at := string(row.Harness), ""
	if place.Path != "" {
		at = " --scope project --path " + place.Path
	}
	any, outdated := false, false
	for _, part := range place.Parts {
		what := fmt.Sprintf("the %s of %s", part.Part, name)
		if place.Path != "" {
			what += " in " + place.Path
		}
		switch part.State {
		case hub.AdapterInstalled:
			any, outdated = true, outdated || part.Outdated
		case hub.AdapterDrifted:
			x.warn("adapters", what+" was changed by somebody: "+part.Reason, "see what it would be, then repair it: hubcli adapter repair "+name+at)
		case hub.AdapterConflict:
			x.warn("adapters", what+" has a second entry of the same name: "+part.Reason, "remove the entry that is not the hub's from "+strings.Join(part.Files, ", "))
		case hub.AdapterUnreadable:
			if row.Detected { // the files of a harness that is not here concern nobody
				x.warn("adapters", what+" cannot be read: "+part.Reason, "correct "+strings.Join(part.Files, ", "))
			}
		case hub.AdapterAbsent, hub.AdapterUnsupported:
		}
	}
	if any {
		*installed++
	}
	switch {
	case place.Gone && any:
		x.warn("adapters", name+" is installed in "+place.Path+", and that folder is gone", "forget it: hubcli adapter uninstall "+name+at)
	case outdated:
		x.warn("adapters", name+" starts an executable or an address that has moved", "correct it: hubcli adapter repair "+name+at)
	}
}
