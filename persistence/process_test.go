package persistence

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testprogram"
	"hubcli/persistence/conformance"
)

// The tests of this file run the test binary again, as a child that uses a
// store as a hub does. They kill the child or make its system calls fail.
const (
	childVariable = "PERSISTENCE_TEST_CHILD" // what the child does
	childStore    = "PERSISTENCE_TEST_STORE"

	exitFailed  = 70
	exitRefused = 71
)

// children holds what else a child can do. A function gets the folder of a
// store and returns the exit code.
var children = map[string]func(dir string) int{}

// runChild does what childVariable names and exits. If it is empty, runChild
// returns.
func runChild() {
	if does, ok := children[os.Getenv(childVariable)]; ok {
		os.Exit(does(os.Getenv(childStore)))
	}
	switch os.Getenv(childVariable) {
	case "":
		return
	case "append":
		os.Exit(appendForEver(os.Getenv(childStore), 1<<30))
	case "append 60":
		os.Exit(appendForEver(os.Getenv(childStore), 60))
	case "open":
		s, err := Open(os.Getenv(childStore), Options{})
		if err != nil {
			fmt.Println(err)
			os.Exit(exitRefused)
		}
		_ = s.Close()
		os.Exit(0)
	}
}

// childGroup returns the group of records that the child appends after the
// writer's head. The head determines its content, so the parent knows what the
// store must hold.
func childGroup(w *conformance.Writer) *core.Group {
	g := &core.Group{}
	random := rand.New(rand.NewPCG(uint64(w.Head.Seq), 3))
	for range 1 + random.IntN(20) {
		body := fmt.Sprintf("message %d %s", w.Head.Message+1, strings.Repeat("x", random.IntN(900)))
		r := w.Post(hub.ChannelName(fmt.Sprintf("channel-%d", random.IntN(5))), "t", body)
		r.Rows = []core.Row{{Table: core.TableTask, Key: core.IDKey(r.FirstMessage), Value: []byte(body)}}
		g.Records = append(g.Records, r)
	}
	g.Rows = []core.Row{{Table: core.TableThread, Key: []byte("t"), Value: fmt.Append(nil, w.Head.Seq)}}
	return g
}

func appendForEver(dir string, groups int) int {
	s, err := Open(dir, Options{})
	if err != nil {
		fmt.Println("refused", err)
		return exitRefused
	}
	w := &conformance.Writer{Head: s.Head()}
	fmt.Println("open", w.Head.Seq)
	for i := range groups {
		if err := s.Append(childGroup(w)); err != nil {
			fmt.Println("failed", err)
			select {
			case <-s.Failed():
			default:
				return 1
			}
			return exitFailed
		}
		fmt.Println("ack", w.Head.Seq)
		if i%40 == 39 {
			if err := s.SaveCheckpoint(&core.Checkpoint{Head: w.Head, Sections: []core.Section{{Version: 1, Data: fmt.Append(nil, w.Head.Seq)}}}); err != nil {
				fmt.Println("checkpoint", err)
				return exitFailed
			}
		}
	}
	if err := s.Close(); err != nil {
		fmt.Println("close", err)
		return exitFailed
	}
	return 0
}

// child returns the command that runs this binary as a child.
func child(t testing.TB, does, dir string, before ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	args := append(before, self)
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), childVariable+"="+does, childStore+"="+dir)
	cmd.Stderr = os.Stderr
	return cmd
}

// acknowledged reads the child's lines until stop returns true. It returns the
// last acknowledged number.
func acknowledged(r io.Reader, stop func(acks int) bool) (last hub.Seq) {
	acks := 0
	for lines := bufio.NewScanner(r); lines.Scan(); {
		if number, ok := strings.CutPrefix(lines.Text(), "ack "); ok {
			n, _ := strconv.ParseUint(number, 10, 64)
			last = hub.Seq(n)
			if acks++; stop(acks) {
				return last
			}
		}
	}
	return last
}

// checkHistory checks that the store reaches at least to least, and that
// records and rows are as the child made them. A read may instead report
// damage.
func checkHistory(s *Store, least hub.Seq) error {
	end := s.Head().Seq
	if end < least {
		return fmt.Errorf("the journal ends at %d, but %d was acknowledged", end, least)
	}
	from := hub.Seq(0)
	point, err := s.Checkpoint()
	switch {
	case err == nil:
		if from = point.Head.Seq; string(point.Sections[0].Data) != fmt.Sprint(from) {
			return fmt.Errorf("the checkpoint at %d holds %q", from, point.Sections[0].Data)
		}
	case errors.Is(err, core.ErrNotFound):
	default:
		return expectDamage(err)
	}
	want := from + 1
	err = s.Records(from, func(r *core.Record) error {
		if r.Seq != want || r.FirstMessage != hub.MessageID(want) || r.HubMS != 7*int64(want) || len(r.Facts) != 1 {
			return fmt.Errorf("record %d: %+v", want, r)
		}
		want++
		return nil
	})
	if err != nil {
		return expectDamage(err)
	}
	if want != end+1 {
		return fmt.Errorf("records end at %d of %d", want-1, end)
	}
	return checkRowsOf(s, end)
}

// checkRowsOf compares the stored messages and rows up to end with the child's
// records.
func checkRowsOf(s *Store, end hub.Seq) error {
	w := &conformance.Writer{}
	for w.Head.Seq < end {
		for _, r := range childGroup(w).Records {
			if r.Seq > end {
				break
			}
			want := r.Messages[0]
			got, err := s.Message(want.ID)
			if err == nil && string(got.JSON) != string(want.JSON) {
				return fmt.Errorf("message %d has changed", want.ID)
			}
			if err := expectDamage(err); err != nil {
				return fmt.Errorf("message %d: %w", want.ID, err)
			}
			value, err := s.Row(core.TableTask, core.IDKey(want.ID))
			if err == nil && string(value) != string(r.Rows[0].Value) {
				return fmt.Errorf("row %d has changed", want.ID)
			}
			if err := expectDamage(err); err != nil {
				return fmt.Errorf("row %d: %w", want.ID, err)
			}
		}
	}
	for _, scope := range []core.Scope{{Kind: core.ScopeAll}, {Kind: core.ScopeThread, Name: "t"}} {
		next := hub.MessageID(1)
		err := s.Messages(scope, 0, hub.MaxMessageID, false, func(m *core.StoredMessage) bool {
			if m.ID != next {
				return false
			}
			next++
			return true
		})
		if err == nil && next != hub.MessageID(end)+1 {
			return fmt.Errorf("scope %+v ends before message %d of %d", scope, next, end)
		}
		if err := expectDamage(err); err != nil {
			return err
		}
	}
	return nil
}

// expectDamage drops the error corrupt_record, the right answer of a damaged
// store.
func expectDamage(err error) error {
	if errors.Is(err, &hub.Error{Code: hub.CodeCorruptRecord}) {
		return nil
	}
	return err
}

// TestKillLosesNothing kills the child with SIGKILL at random moments, and
// expects everything that the child had acknowledged.
func TestKillLosesNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	total := 0
	for cycle := range 5 {
		cmd := child(t, "append", dir)
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		stop := 20 + rand.IntN(120)
		last := acknowledged(out, func(acks int) bool { total++; return acks == stop })
		_ = cmd.Process.Kill()
		if rest := acknowledged(out, func(int) bool { total++; return false }); rest > 0 {
			last = rest // the child wrote more lines before it died
		}
		_ = cmd.Wait()
		if last == 0 {
			t.Fatalf("cycle %d: nothing was acknowledged", cycle)
		}
		s := openStore(t, dir)
		if err := checkHistory(s, last); err != nil {
			t.Fatalf("cycle %d: %v", cycle, err)
		}
		_ = s.Close()
	}
	t.Logf("%d groups acknowledged, none lost", total)
}

func TestSecondProcessIsRefused(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	out, err := child(t, "open", dir).Output()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != exitRefused || !strings.Contains(string(out), "another hub") {
		t.Errorf("the second process: %v, %q", err, out)
	}
	_ = s.Close()
	if out, err := child(t, "open", dir).Output(); err != nil {
		t.Errorf("after Close: %v, %q", err, out)
	}
}

// TestFailedSyncEndsTheStore makes the k-th msync of the process fail with EIO.
// A commit whose sync failed must not be acknowledged, whatever Badger returns.
// Everything that was acknowledged before must survive.
func TestFailedSyncEndsTheStore(t *testing.T) {
	strace := testprogram.Need(t, "strace")[0]
	for k := 1; k <= 13; k++ {
		t.Run(fmt.Sprintf("msync %d", k), func(t *testing.T) {
			t.Parallel()
			base := t.TempDir()
			dir, trace := filepath.Join(base, "store"), filepath.Join(base, "trace")
			cmd := child(t, "append 60", dir, strace, "-f", "-qq", "-o", trace,
				"-e", "trace=msync,write", "-e", "inject=msync:error=EIO:when="+strconv.Itoa(k))
			out, err := cmd.Output()
			calls, _ := os.ReadFile(trace)
			_, afterwards, injected := strings.Cut(string(calls), "INJECTED")
			if !injected {
				t.Fatalf("nothing was injected: %v", err)
			}
			if strings.Contains(afterwards, `write(1, "ack`) {
				t.Errorf("a group was acknowledged after its sync had failed")
			}
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != exitFailed && exit.ExitCode() != exitRefused {
				t.Fatalf("the process ended with %v although a sync had failed: %s", err, out)
			}
			if exit.ExitCode() == exitFailed && !strings.Contains(string(out), "failed") {
				t.Errorf("no Append returned an error: %s", out)
			}
			last := acknowledged(strings.NewReader(string(out)), func(int) bool { return false })
			s := openStore(t, dir)
			if err := checkHistory(s, last); err != nil {
				t.Error(err)
			}
		})
	}
}
