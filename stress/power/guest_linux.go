package power

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"hubcli/internal/pause"
	"hubcli/stress/target"
	"hubcli/stress/wire"
)

// Where the machine has its disk. The folder is one that every system has; what the host
// has there is hidden from the machine, and the rest of the host is read-only for it.
const (
	guestRoot = "/mnt"
	guestDisk = guestRoot + "/disk"
	diskMajor = 98 // of ubd
)

// The agents of the machine. One core at the speed of a user-mode kernel has enough of them.
const (
	agents     = 8
	claimEvery = 20 // posts of an agent
	callWait   = 30 * time.Second
)

// Guest is the first process of a machine: it starts the hub at the path args[0] on the
// disk, says what is there, and lets agents work until the power is cut. args[1] is the
// number of the cut, which makes texts and keys different from those before. It does not
// return.
func Guest(args []string) {
	err := fmt.Errorf("the kernel has passed other arguments on: %q", args)
	if len(args) >= 2 { // the kernel adds one of its own
		err = guest(args[0], args[1])
	}
	if err != nil {
		say(lineFailed, strings.Join(strings.Fields(err.Error()), " "))
	}
	_ = unix.Reboot(unix.LINUX_REBOOT_CMD_POWER_OFF)
}

var saying sync.Mutex

// say writes a line for the ledger. A first process has the console as its standard output.
func say(words ...any) {
	saying.Lock()
	defer saying.Unlock()
	fmt.Fprint(os.Stdout, mark+strings.TrimSuffix(fmt.Sprintln(words...), "\n")+"\n")
}

func guest(hub, cut string) error {
	say(lineBooted)
	if err := furnish(); err != nil {
		return err
	}
	ctx := context.Background()
	p, err := target.Executable{Path: hub}.Start(ctx, guestDisk+"/store")
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		text := err.Error()
		text = text[max(0, strings.LastIndex(text, "hubcli: ")):] // not the warnings before it
		say(lineRefused, strings.Join(strings.Fields(text), " "))
		return nil
	}
	if err != nil {
		return err
	}
	if err := tell(ctx, p.Addr); err != nil {
		return err
	}
	failed := make(chan error, agents)
	for i := range agents {
		go func() { failed <- work(ctx, p.Addr, fmt.Sprintf("agent-%d", i), cut) }()
	}
	return <-failed
}

// furnish gives a bare kernel what the hub needs of a system.
func furnish() error {
	if err := errors.Join(
		mount("proc", "/proc", "proc"),
		mount("tmpfs", guestRoot, "tmpfs"),
		os.Mkdir(guestDisk, 0o700),
		os.Mkdir(guestRoot+"/tmp", 0o700),
		os.Setenv("TMPDIR", guestRoot+"/tmp"), os.Setenv("HOME", guestRoot),
		unix.Mknod(guestRoot+"/ubda", unix.S_IFBLK|0o600, int(unix.Mkdev(diskMajor, 0))),
	); err != nil {
		return err
	}
	return errors.Join(mount(guestRoot+"/ubda", guestDisk, "ext4"), loopbackUp())
}

func mount(what, where, kind string) error {
	if err := unix.Mount(what, where, kind, 0, ""); err != nil {
		return fmt.Errorf("mounting %s: %w", where, err)
	}
	return nil
}

func loopbackUp() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	req, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	req.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, req)
}

// tell says what the hub has.
func tell(ctx context.Context, addr string) error {
	c, err := wire.Dial(ctx, addr)
	if err != nil {
		return err
	}
	defer c.Close()
	out := bufio.NewWriter(os.Stdout)
	defer func() { _ = out.Flush() }() // before anything else is said
	since := int64(0)
	for {
		var page struct {
			Result []struct {
				ID   int64  `json:"id"`
				Body string `json:"body"`
			} `json:"result"`
		}
		if err := get(c, addr, fmt.Sprintf("/v1/messages?channel=general&limit=1000&since_id=%d", since), &page); err != nil {
			return err
		}
		for _, row := range page.Result {
			fmt.Fprintf(out, "%s%s %d %s\n", mark, lineRow, row.ID, row.Body)
			since = row.ID
		}
		if len(page.Result) == 0 {
			break
		}
	}
	var claims struct {
		Result []struct {
			Key   string `json:"claim_key"`
			Fence int64  `json:"fence"`
		} `json:"result"`
		Cursor string `json:"next_cursor"`
	}
	for path := "/v1/claims?active_only=1&limit=1000"; path != ""; {
		claims.Cursor = ""
		if err := get(c, addr, path, &claims); err != nil {
			return err
		}
		for _, row := range claims.Result {
			fmt.Fprintf(out, "%s%s %s %d\n", mark, lineHeld, row.Key, row.Fence)
		}
		path = ""
		if claims.Cursor != "" {
			path = "/v1/claims?active_only=1&limit=1000&cursor=" + claims.Cursor
		}
	}
	if since > 0 {
		if err := searches(ctx, c, addr); err != nil {
			return err
		}
	}
	fmt.Fprintln(out, mark+lineChecked)
	return out.Flush()
}

// searchWait is how long a search may find nothing after a start: an index that a cut has
// damaged is made anew.
const searchWait = 2 * time.Minute

// searches waits until a search finds messages of the agents.
func searches(ctx context.Context, c *wire.Conn, addr string) error {
	var found struct {
		Result []struct{} `json:"result"`
	}
	var err error
	for end := time.Now().Add(searchWait); time.Now().Before(end); pause.For(ctx, 100*time.Millisecond) {
		if err = get(c, addr, "/v1/search?q=agent&limit=1", &found); err == nil && len(found.Result) > 0 {
			return nil
		}
	}
	return fmt.Errorf("a search finds nothing within %v (%v)", searchWait, err)
}

func get(c *wire.Conn, addr, path string, into any) error {
	status, body, err := c.Within(callWait, wire.Get(addr, path).Bytes())
	if err == nil && status != 200 {
		err = fmt.Errorf("GET %s was answered %d %s", path, status, body)
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(body, into)
}

// work posts and claims without end, and says each answer.
func work(ctx context.Context, addr, name, cut string) error {
	c, err := wire.Dial(ctx, addr)
	if err != nil {
		return err
	}
	defer c.Close()
	for n := 1; ; n++ {
		text := fmt.Sprintf("%s/%s/%d", name, cut, n)
		claims := n%claimEvery == 0
		path, body := "/v1/messages", map[string]any{"from_agent": name, "channel": "general", "body": text}
		if claims {
			path, body = "/v1/claims", map[string]any{"owner_agent_id": name, "claim_key": text, "ttl_sec": 86_400}
		}
		request, err := wire.Post(addr, path, body)
		if err != nil {
			return err
		}
		status, answer, err := c.Within(callWait, request.Bytes())
		var net net.Error
		if errors.As(err, &net) && net.Timeout() {
			return fmt.Errorf("POST %s was not answered: %w", path, err)
		}
		if err != nil {
			return err
		}
		number, ok := wire.Int(answer, map[bool]string{false: "id", true: "fence"}[claims])
		switch {
		case status/100 != 2 || !ok:
			return fmt.Errorf("POST %s was answered %d %s", path, status, answer)
		case claims:
			say(lineGranted, text, number)
		default:
			say(linePosted, number, text)
		}
	}
}
