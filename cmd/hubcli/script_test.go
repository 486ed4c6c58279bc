//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"hubcli/api/client"
	"hubcli/integrations/hook"
	"hubcli/internal/testfeature"
	"hubcli/internal/testport"
)

// TestMain builds the executable as it is delivered and puts it into PATH, where it is the
// only one, for the scripts. (The test binary itself could be the command, but under the
// race detector each of the hundreds of commands would take a second.)
//
// Hooks have the time of slowHooks instead of theirs where the environment has it.
func TestMain(m *testing.M) { os.Exit(runTests(m)) }

const (
	hookBudgetName = "HUBCLI_TEST_HOOK_BUDGET"

	browserPinsName = "HUBCLI_TEST_BROWSER_PINS"
	resumePauseName = "HUBCLI_TEST_RESUME_PAUSE"
	slowHooks       = hookBudgetName + "=1m"
	quickHooks      = hookBudgetName + "=" // as delivered

	// No hub of a test finds the keyring of the developer; a test that needs one starts
	// it (testkeyring). On macOS nothing keeps a command away from it.
	busName = "DBUS_SESSION_BUS_ADDRESS"
	noBus   = "unix:path=/nonexistent/bus-of-a-test"
)

func runTests(m *testing.M) int {
	if os.Getenv(fatalChild) != "" {
		return m.Run() // it needs no executable, and will not live to delete one
	}
	// A developer who runs the tests within a harness has these set, and no
	// test expects them.
	for _, name := range []string{hook.EnvBaseURL, hook.EnvAgent} {
		_ = os.Unsetenv(name)
	}
	_ = os.Setenv(busName, noBus)
	dir, err := os.MkdirTemp("", "hubcli-test")
	if err == nil {
		defer os.RemoveAll(dir)
		// A hub that a test kills leaves its note. In the home of the developer it would make
		// a later hub with the same port an impostor.
		_ = os.Setenv("HUB_DATA_ROOT", filepath.Join(dir, "root"))
		build := exec.Command("go", "build", "-tags="+testfeature.Tags(), "-ldflags", "-X main.hookBudget="+hookBudgetName+" -X main.browserPins="+browserPinsName+" -X main.resumePause="+resumePauseName, "-o", dir, ".")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		build.Stderr = os.Stderr
		err = build.Run()
	}
	path := ""
	if err == nil {
		path, err = withoutOthers(os.Getenv("PATH"), dir)
	}
	if err == nil {
		err = os.Setenv("PATH", dir+string(os.PathListSeparator)+path)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "building hubcli:", err)
		return 1
	}
	// Tests that run under nohup or in the background of a script ignore these
	// signals. The programs that they start must not, because scripts end them
	// by signals.
	for _, s := range []os.Signal{syscall.SIGHUP, syscall.SIGINT} {
		if signal.Ignored(s) {
			signal.Notify(make(chan os.Signal, 1), s)
		}
	}
	return m.Run()
}

// patience bounds what scripts wait for; all of it takes milliseconds on an idle
// machine.
const patience = 30 * time.Second

// TestScripts runs testdata/script. Each script has a data root and a home of
// its own, and $PORT and $PORT2, on which nothing listens; hubs that it leaves
// behind are ended. The commands beside testscript's own:
//
//	exits <code> <command...>                    run, check the exact exit code
//	ready <port>                                 wait until a hub answers
//	parked <port> <n>                            wait until n polls are parked
//	signalled <INT|TERM|HUP|QUIT> <code> <ready|parked> <port> <command...>
//	                                             run, send the signal then, check the exit code
//	race <n> <command...>                        run n at once, all exit 0; stdout is all of theirs
//	daemons <n>                                  n daemons of this script's are running (Linux)
//	crash <port>                                 kill the hub that answers with SIGKILL
//	foreign <port> <web|silent|drops|banner>     listen there as another program
//	foreign <port> impostor                      kill the hub there, and answer in its place as it would; what is
//	                                             sent is in the file heard
//	smalldisk <dir> <KiB>                        mount an empty disk of that size
//	fill <dir> <KiB>                             write to the disk until so much is left
//	readonly <dir>                               make dir read-only, for root too
//	appears <file> [regexp]                      wait until the file is there, and has a match
//	terminal <code> <size> <steps> <command...>  run on a terminal, type and look as the file of steps says (Linux)
//	mirror <usual|wrong|cut>                     serve the archive of a browser engine over TLS, and pin it; $MIRROR, $PROXY
//	engines <port> <path> <version>              the hub there prefers this browser engine
//	licenses <verb> …                            a license server: see cmdLicenses
//	vendor <verb> …                              a provider of models: see cmdVendor
//	other <code> <command...>                    run as another user of the machine, with a home of its own; needs [root]
//	room <port>                                  make a project and a room; $ROOM is its id, $CHANNEL its channel
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup:               setup,
		Condition:           condition,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":     cmdExits,
			"ready":     cmdReady,
			"parked":    cmdParked,
			"signalled": cmdSignalled,
			"race":      cmdRace,
			"daemons":   cmdDaemons,
			"crash":     cmdCrash,
			"foreign":   cmdForeign,
			"smalldisk": cmdSmallDisk,
			"fill":      cmdFill,
			"readonly":  cmdReadOnly,
			"appears":   cmdAppears,
			"room":      cmdRoom,
			"other":     cmdOther,
			"lock":      cmdLock,
			"licenses":  cmdLicenses,
			"vendor":    cmdVendor,
			"terminal":  cmdTerminal,
			"mirror":    cmdMirror,
			"engines":   cmdEngines,
		},
	})
}

// partsOf are the parts of the hub that scripts need, by how their names begin.
var partsOf = map[string][]string{
	"app_notify": {"notify"}, "app_service": {"service"}, "browser": {"browser"}, "capsule": {"capsule"},
	"connection": {"provider"}, "git_mirror": {"capsule"}, "license": {"license"}, "project_export": {"capsule"},
}

func setup(env *testscript.Env) error {
	name := strings.TrimPrefix(filepath.Base(env.WorkDir), "script-")
	for begins, parts := range partsOf {
		if strings.HasPrefix(name, begins) && slices.ContainsFunc(parts, testfeature.Omitted) {
			env.T().Skip("needs a build with ", parts)
		}
	}
	// As root a hub starts engines as another user, who has to enter the folder of the script.
	for _, dir := range []string{env.WorkDir, filepath.Dir(env.WorkDir)} {
		if err := os.Chmod(dir, 0o755); err != nil {
			return err
		}
	}
	env.Setenv("HUB_DATA_ROOT", filepath.Join(env.WorkDir, "data"))
	env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
	env.Setenv(hookBudgetName, "1m")
	env.Setenv(resumePauseName, "100ms")
	env.Setenv(busName, noBus)
	env.Setenv("ADDRESS", testport.Interface())
	for _, name := range []string{"PORT", "PORT2", "PORT3", "PORT4"} {
		port, err := freePort()
		if err != nil {
			return err
		}
		env.Setenv(name, port)
		env.Setenv(strings.Replace(name, "PORT", "URL", 1), "http://127.0.0.1:"+port)
		env.Defer(func() { end(port, env.WorkDir) })
	}
	return nil
}

// freePort returns a port on which nothing listens, and on which nothing of
// another test will: see testport.
func freePort() (string, error) {
	port, err := testport.Take()
	return strconv.Itoa(port), err
}

// end kills the hub that a script has left at port, if its store is the script's.
func end(port, work string) {
	status, err := at(port).AppStatus(context.Background())
	if err != nil && testport.Interface() != "" {
		c := client.New(client.Config{BaseURL: "http://" + net.JoinHostPort(testport.Interface(), port), Timeout: patience / 3})
		defer c.Close()
		status, err = c.AppStatus(context.Background())
	}
	if err == nil && strings.HasPrefix(status.StoragePath, work) {
		_ = syscall.Kill(status.PID, syscall.SIGKILL)
		_ = until(func() bool { return !runs(status.PID) })
	}
}

func at(port string) *client.Client { return atOf(port, "") }

// atOf is a client of the hub at a port that is noted in a data root.
func atOf(port, dataRoot string) *client.Client {
	return client.New(client.Config{
		BaseURL: "http://127.0.0.1:" + port, DataRoot: dataRoot, Timeout: patience / 3,
		Transport: &http.Transport{DisableKeepAlives: true},
	})
}

func alive(pid int) bool { return syscall.Kill(pid, 0) == nil }

// until looks for a condition of other processes until patience is over.
func until(holds func() bool) error {
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			return fmt.Errorf("it did not come within %s", patience)
		}
	}
	return nil
}

func need(ts *testscript.TestScript, neg bool, args []string, n int, usage string) {
	if neg || len(args) < n {
		ts.Fatalf("usage: %s", usage)
	}
}

func number(ts *testscript.TestScript, s string) int {
	n, err := strconv.Atoi(s)
	ts.Check(err)
	return n
}

// exitCode is that of a process that has ended; a signal is -1.
func exitCode(err error) int {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.ExitCode()
	}
	return -2
}
