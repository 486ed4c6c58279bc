package engine

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"strings"
	"testing"

	"hubcli/internal/require"
)

// TestHostileArchivesAreRefused: an archive is checked as a whole before anything of it is
// written. The usual archive is taken, each of these is not.
func TestHostileArchivesAreRefused(t *testing.T) {
	const top = "chrome-headless-shell-linux64/"
	with := func(extra ...item) []byte { return archive(t, append(usual(), extra...)) }
	mode := func(m os.FileMode) func(*zip.FileHeader) {
		return func(h *zip.FileHeader) { h.SetMode(m) }
	}
	many := make([]item, mostEntries)
	for i := range many {
		many[i] = item{name: fmt.Sprintf("%sx/%d", top, i)}
	}
	for _, tt := range []struct {
		name string
		data []byte
		want string
	}{
		{"no zip", []byte("hello"), "it is no zip archive"},
		{"cut short", with()[:200_000], "it is no zip archive"},
		{"absolute", with(item{name: "/etc/cron.d/x"}), "has no plain relative name"},
		{"with a drive", with(item{name: "C:/x"}), "has a character in its name"},
		{"up and out", with(item{name: top + "../../x"}), "has no plain relative name"},
		{"up at the start", with(item{name: "../x"}), "leads out of its folder"},
		{"up with backslashes", with(item{name: top + `..\..\x`}), "has a character in its name"},
		{"a dot in the path", with(item{name: top + "./x"}), "has no plain relative name"},
		{"empty parts", with(item{name: top + "a//x"}), "has no plain relative name"},
		{"no name", with(item{name: "/"}), "has no plain relative name"},
		{"outside the folder", with(item{name: "other/x"}), "is not in the folder chrome-headless-shell-linux64"},
		{"the folder as a file", with(item{name: "chrome-headless-shell-linux64"}), "is not in the folder"},
		{"a folder of a longer name", with(item{name: "chrome-headless-shell-linux64x/x"}), "is not in the folder"},
		{"a control character", with(item{name: top + "a\x01"}), "has a character in its name"},
		{"a letter beyond ASCII", with(item{name: top + "ä"}), "has a character in its name"},
		{"a device of Windows", with(item{name: top + "nul.txt"}), "has a name that Windows reads as another"},
		{"a dot at the end", with(item{name: top + "about."}), "has a name that Windows reads as another"},
		{"a long name", with(item{name: top + strings.Repeat("a", 300)}), "has no plain relative name"},
		{"a link", with(item{name: top + "x", body: "/etc/passwd", change: mode(os.ModeSymlink | 0o777)}), "is neither a plain file nor a folder"},
		{"a device", with(item{name: top + "x", change: mode(os.ModeDevice | 0o600)}), "is neither a plain file nor a folder"},
		{"a pipe", with(item{name: top + "x", change: mode(os.ModeNamedPipe | 0o600)}), "is neither a plain file nor a folder"},
		{"encrypted", encrypted(t, with()), "is encrypted"},
		{"twice", with(item{name: top + "ABOUT"}), "is there twice"},
		{"twice but for the case", with(item{name: top + "about"}), "is there twice"},
		{"a file as a folder", with(item{name: top + "ABOUT/x"}), "is in a folder that is also a file"},
		{"a folder as a file", with(item{name: top + "Locales"}), "is there twice"},
		{"the hub's note", with(item{name: top + receiptName}), "has the name of the hub's own note"},
		{"an unknown method", method(t, with()), "is packed with the unknown method 99"},
		{"too many entries", with(many...), "more than 10000"},
		{"a bomb that says so", declaring(t, with(), mostExpanded+1), "makes the archive larger than 1024 MiB"},
		{"no program", archive(t, usual()[:1]), "it has no chrome-headless-shell-linux64/chrome-headless-shell"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := readBundle(bytes.NewReader(tt.data), int64(len(tt.data)), &Pin{Platform: "linux64"})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
	data := with()
	_, err := readBundle(bytes.NewReader(data), int64(len(data)), &Pin{Platform: "linux64"})
	require.NoError(t, err)
}

// TestEntriesAreAsLongAsTheyDeclare: an entry that holds more or less than it declares is
// not unpacked further than that.
func TestEntriesAreAsLongAsTheyDeclare(t *testing.T) {
	for _, size := range []uint32{1, 599, 601} {
		data := declaring(t, archive(t, usual()), size) // of the first entry, ABOUT, which has 600 bytes
		b, err := readBundle(bytes.NewReader(data), int64(len(data)), &Pin{Platform: "linux64"})
		require.NoError(t, err)
		root, err := os.OpenRoot(t.TempDir())
		require.NoError(t, err)
		defer root.Close()
		err = b.unpack(t.Context(), root, func(int64, int64) {})
		if err == nil || !strings.Contains(err.Error(), `its entry "ABOUT" cannot be unpacked`) {
			t.Errorf("declared %d bytes: got %v", size, err)
		}
		info, err := root.Stat("ABOUT")
		require.NoError(t, err)
		if info.Size() > int64(size)+1 {
			t.Errorf("declared %d bytes and %d were written", size, info.Size())
		}
	}
}

// directory returns where the record of the first entry in the zip's directory begins.
func directory(t *testing.T, data []byte) []byte {
	t.Helper()
	at := bytes.Index(data, []byte("PK\x01\x02"))
	if at < 0 {
		t.Fatal("the archive has no directory")
	}
	return data[at:]
}

func encrypted(t *testing.T, data []byte) []byte {
	directory(t, data)[8] |= 1
	return data
}

func method(t *testing.T, data []byte) []byte {
	binary.LittleEndian.PutUint16(directory(t, data)[10:], 99)
	return data
}

func declaring(t *testing.T, data []byte, size uint32) []byte {
	binary.LittleEndian.PutUint32(directory(t, data)[24:], size)
	return data
}
