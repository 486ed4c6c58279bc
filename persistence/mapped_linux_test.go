package persistence

import (
	"bufio"
	"bytes"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"hubcli/actors/core"
)

// TestLargeValuesLeaveTheMemory: values in the value log are no memory of the process once
// they are written or read, and stay what they were.
func TestLargeValuesLeaveTheMemory(t *testing.T) {
	s, err := Open(t.TempDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	const rows, size = 600, 256 << 10 // 150 MiB: two files of values are full, one is being written
	value := func(i int) []byte { return bytes.Repeat([]byte{byte(i), byte(i >> 8)}, size/2) }
	for i := range rows {
		if err := s.PutRows([]core.Row{{Table: core.TableChannel, Key: []byte(strconv.Itoa(i)), Value: value(i)}}); err != nil {
			t.Fatal(err)
		}
	}
	const most = 8 << 20
	if got := residentFiles(t, s.mapped.dir, valueFiles); got > most {
		t.Errorf("%d KiB of written values are resident, at most %d may be", got>>10, most>>10)
	}
	read := func(n int) {
		for i := range n {
			if got, err := s.Row(core.TableChannel, []byte(strconv.Itoa(i))); err != nil || !bytes.Equal(got, value(i)) {
				t.Fatalf("row %d is not what was stored (%v)", i, err)
			}
		}
	}
	read(rows)
	s.mapped.wait()
	if got := residentFiles(t, s.mapped.dir, valueFiles); got > giveBackLooked+most {
		t.Errorf("%d KiB of values that were read are resident without a commit, at most %d may be", got>>10, (giveBackLooked+most)>>10)
	}
	s.mapped.looked.Store(0)
	read(giveBackLooked / size / 2)
	if residentFiles(t, s.mapped.dir, valueFiles) < most {
		t.Fatal("reading made no value resident, so the next check would prove nothing")
	}
	s.mapped.last = s.mapped.last.Add(-giveBackAfter)
	if err := s.PutRows([]core.Row{{Table: core.TableChannel, Key: []byte("k"), Value: []byte("v")}}); err != nil {
		t.Fatal(err)
	}
	if got := residentFiles(t, s.mapped.dir, valueFiles); got > most {
		t.Errorf("%d KiB of values are resident after they were read and a commit, at most %d may be", got>>10, most>>10)
	}
}

// TestTablesLeaveTheMemoryAtRest: when a store comes to rest, its tables are no memory of the
// process, whatever it has written and read, and nothing in them changes.
func TestTablesLeaveTheMemoryAtRest(t *testing.T) {
	s, err := Open(t.TempDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	const rows = 40_000
	key := func(i int) []byte { return []byte(strings.Repeat("k", 200) + strconv.Itoa(i)) }
	for i := 0; i < rows; i += 1000 {
		var group []core.Row
		for k := range 1000 {
			group = append(group, core.Row{Table: core.TableChannel, Key: key(i + k), Value: []byte("v")})
		}
		if err := s.PutRows(group); err != nil {
			t.Fatal(err)
		}
	}
	until := time.Now().Add(20 * time.Second)
	read := func() {
		for i := range rows {
			if _, err := s.Row(core.TableChannel, key(i)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for read(); residentFiles(t, s.mapped.dir, tableFiles) < 1<<20; read() {
		if time.Now().After(until) {
			t.Fatal("no table has become resident, so the next check would prove nothing")
		}
	}
	if err := s.PutRows([]core.Row{{Table: core.TableChannel, Key: []byte("k"), Value: []byte("v")}}); err != nil {
		t.Fatal(err)
	}
	for residentFiles(t, s.mapped.dir, tableFiles) > 256<<10 {
		if time.Now().After(until) {
			t.Fatalf("%d KiB of tables are resident at rest", residentFiles(t, s.mapped.dir, tableFiles)>>10)
		}
		time.Sleep(50 * time.Millisecond)
	}
	read()
}

// residentFiles returns how many bytes of the files in dir with this suffix are memory of the
// process.
func residentFiles(t *testing.T, dir, suffix string) (resident int64) {
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		t.Skip("needs /proc/self/smaps:", err)
	}
	defer f.Close()
	ours := false
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := lines.Text()
		if _, _, ok := strings.Cut(line, "-"); ok && strings.Count(line, " ") >= 4 && !strings.HasPrefix(line, "Rss") {
			ours = strings.Contains(line, dir) && strings.HasSuffix(line, suffix)
		} else if kb, ok := strings.CutPrefix(line, "Rss:"); ok && ours {
			n, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(kb), " kB"), 10, 64)
			resident += n << 10
		}
	}
	return resident
}
