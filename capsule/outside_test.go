package capsule

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"hubcli/internal/require"
	"hubcli/internal/testprogram"
)

// The capsule that the first version of the format has written. It is never written again:
// every later version reads it.
const (
	firstCapsule = "testdata/v1.hubpack"
	firstDigest  = "sha256:f376c5e0f9bb0d455089fcd5b215afbca79c683b6fa814d8f81241bc033cae08"
)

func TestTheFirstFormatIsRead(t *testing.T) {
	raw, err := os.ReadFile(firstCapsule)
	require.NoError(t, err)
	r := open(t, raw)
	if got := r.Manifest().ContentDigest; got != firstDigest {
		t.Errorf("the digest is %s, want %s", got, firstDigest)
	}
	now, _ := newSample().write(t, someManifest, deflateLevel)
	if got, want := read(t, r), read(t, open(t, now)); !reflect.DeepEqual(got, want) {
		t.Errorf("the capsule has %+v, want %+v", got, want)
	}
}

// other runs a program of other people, and skips the test where it is not installed.
func other(t *testing.T, stdin string, name string, args ...string) string {
	t.Helper()
	exe := name
	if name != "python3" { // which every test may rely on
		exe = testprogram.Need(t, name)[0]
	}
	cmd := exec.CommandContext(t.Context(), exe, args...)
	cmd.Stdin = strings.NewReader(stdin)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s%s", cmd, err, out.String(), errs.String())
	}
	return out.String()
}

// written writes the sample as a file.
func written(t *testing.T) string {
	t.Helper()
	raw, _ := newSample().write(t, someManifest, deflateLevel)
	path := filepath.Join(t.TempDir(), "sample.hubpack")
	require.NoError(t, os.WriteFile(path, raw, 0o600))
	return path
}

func TestZipinfoListsTheEntries(t *testing.T) {
	testprogram.Need(t, "zipinfo", "unzip")
	path := written(t)
	listed := other(t, "", "zipinfo", "-1", path)
	if !strings.HasPrefix(listed, "mimetype\nproject.json\n") || !strings.HasSuffix(listed, "README.md\nmanifest.json\n") {
		t.Errorf("zipinfo lists %s", listed)
	}
	if long := other(t, "", "zipinfo", "-l", path); strings.Count(long, "-rw-r--r--") != 15 || strings.Count(long, "80-Jan-01 00:00") != 15 {
		t.Errorf("zipinfo shows %s", long)
	}
	if tested := other(t, "", "unzip", "-t", path); !strings.Contains(tested, "No errors detected") {
		t.Errorf("unzip finds %s", tested)
	}
}

func TestJqReadsTheLines(t *testing.T) {
	raw, _ := newSample().write(t, someManifest, deflateLevel)
	if got := other(t, entry(t, raw, nameManifest), "jq", "-r", ".counts.messages, .schema.major"); got != "7\n1\n" {
		t.Errorf("jq says of the manifest %q", got)
	}
	if got := other(t, entry(t, raw, "messages/r1.ndjson"), "jq", "-r", ".from"); got != "ann\nann\nbob\nbob\n" {
		t.Errorf("jq says of the messages %q", got)
	}
}

func TestPythonExpandsTheEntries(t *testing.T) {
	path := written(t)
	program := `import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); print(z.testzip(), len(z.read("tasks.ndjson").splitlines()))`
	if got := other(t, "", "python3", "-c", program, path); got != "None 3\n" {
		t.Errorf("Python says %q", got)
	}
}
