// Package testkeyring runs a real credential store for tests: a message bus and a
// gnome-keyring, both of their own, with files in a temporary folder. It is for tests only.
//
// Start may be called by several tests at once. The package never touches the store of the
// user who runs the tests.
package testkeyring

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/godbus/dbus/v5"

	"hubcli/internal/testprogram"
)

// TB is the part of testing.TB that the package needs.
type TB interface {
	Helper()
	Skip(args ...any)
	Fatal(args ...any)
	Cleanup(func())
	TempDir() string
}

// patience is how long the programs may take to be ready on a busy machine.
const patience = 45 * time.Second

// variable names the address of a bus.
const variable = "DBUS_SESSION_BUS_ADDRESS"

// Keyring is a running credential store.
type Keyring struct {
	Address string // of its bus
	home    string
	daemon  *exec.Cmd
}

// programs are what Start needs; secret-tool looks from outside.
var programs = []string{"dbus-daemon", "gnome-keyring-daemon", "secret-tool"}

// Missing says why Start would skip; empty: it would not.
func Missing() string {
	if runtime.GOOS != "linux" {
		return "needs Linux: the test runs a gnome-keyring of its own"
	}
	var missing []string
	for _, program := range programs {
		if _, err := exec.LookPath(program); err != nil {
			missing = append(missing, program)
		}
	}
	if len(missing) == 0 {
		return ""
	}
	return testprogram.Missing(missing...)
}

// Start runs a bus and an open keyring until the test ends. It skips the test if a program
// is missing.
func Start(t TB) *Keyring {
	t.Helper()
	k := StartBus(t)
	k.Unlock(t)
	return k
}

// StartBus runs a bus alone. A program that asks it for secrets has the bus start a
// keyring, which is locked because no password was given.
func StartBus(t TB) *Keyring {
	t.Helper()
	if why := Missing(); why != "" {
		t.Skip(why)
	}
	k := &Keyring{home: t.TempDir()}
	for _, dir := range []string{"run", "data"} {
		if err := os.Mkdir(filepath.Join(k.home, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	// The name of a socket has a hundred letters at most, and the folder of a test may have more.
	sockets, err := os.MkdirTemp("/tmp", "bus-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(sockets) })
	bus := exec.Command("dbus-daemon", "--session", "--nofork", "--print-address", "--address=unix:dir="+sockets)
	bus.Env = k.environ()
	out, err := bus.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	start(t, bus)
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal("the bus tells no address: " + err.Error())
	}
	k.Address = strings.TrimSpace(line)
	t.Cleanup(func() { k.endActivated() })
	return k
}

// Unlock starts the keyring and opens its collection with the test's password.
func (k *Keyring) Unlock(t TB) {
	t.Helper()
	k.daemon = exec.Command("gnome-keyring-daemon", "--foreground", "--unlock", "--components=secrets")
	k.daemon.Env = k.Environ()
	k.daemon.Stdin = strings.NewReader("the password of the test")
	start(t, k.daemon)
	for deadline := time.Now().Add(patience); k.owner() == 0; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the keyring does not come")
		}
	}
}

// start runs a program until the test ends.
func start(t TB, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
}

// environ is the environment of the programs; nothing in it leads to the user's own files.
func (k *Keyring) environ() []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + k.home, "XDG_RUNTIME_DIR=" + filepath.Join(k.home, "run"),
		"XDG_DATA_HOME=" + filepath.Join(k.home, "data"), "LC_ALL=C.UTF-8",
	}
}

// Environ is the environment of a program that is to use this keyring.
func (k *Keyring) Environ() []string { return append(k.environ(), variable+"="+k.Address) }

// owner returns the process that answers for secrets on the bus; 0: none does.
func (k *Keyring) owner() uint32 {
	conn, err := dbus.Connect(k.Address)
	if err != nil {
		return 0
	}
	defer conn.Close()
	var pid uint32
	_ = conn.BusObject().Call("org.freedesktop.DBus.GetConnectionUnixProcessID", 0, "org.freedesktop.secrets").Store(&pid)
	return pid
}

// endActivated ends a keyring that the bus has started, which would outlive it.
func (k *Keyring) endActivated() {
	pid := int(k.owner())
	if pid == 0 || k.daemon != nil && k.daemon.Process.Pid == pid {
		return
	}
	if p, err := os.FindProcess(pid); err == nil {
		_ = p.Kill()
	}
}

// Lookup returns what another program finds in the keyring under a service and a name.
func (k *Keyring) Lookup(service, name string) (string, error) {
	cmd := exec.Command("secret-tool", "lookup", "service", service, "username", name)
	cmd.Env = k.Environ()
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("secret-tool finds nothing under %s: %w", name, err)
	}
	return string(out), nil
}

// Lock locks the collection, as a desktop does when its user leaves.
func (k *Keyring) Lock(t TB) {
	t.Helper()
	conn, err := dbus.Connect(k.Address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	var locked []dbus.ObjectPath
	var prompt dbus.ObjectPath
	err = conn.Object("org.freedesktop.secrets", "/org/freedesktop/secrets").
		Call("org.freedesktop.Secret.Service.Lock", 0, []dbus.ObjectPath{"/org/freedesktop/secrets/collection/login"}).Store(&locked, &prompt)
	if err != nil || len(locked) != 1 {
		t.Fatal(fmt.Sprintf("the collection is not locked: %v %v", locked, err))
	}
}
