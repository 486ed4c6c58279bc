package transfer_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"hubcli/capsule/seal"
	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testprogram"
)

// signedVariable is the folder of the process that TestKilledBetweenSignatureAndCapsule kills.
const signedVariable = "HUBCLI_TEST_SIGNED_FOLDER"

// TestSignedExportChild is that process: a hub that exports a signed capsule.
func TestSignedExportChild(t *testing.T) {
	base := os.Getenv(signedVariable)
	if base == "" {
		t.Skip("needs TestKilledBetweenSignatureAndCapsule, which runs it")
	}
	require.NoError(t, os.MkdirAll(filepath.Join(base, "out"), 0o700))
	r := killRig(t, base)
	p, err := r.Hub.Hub.CreateProject(r.ctx, hub.ProjectInput{Name: "Shop"})
	require.NoError(t, err)
	room, err := r.Hub.Hub.CreateRoom(r.ctx, hub.RoomInput{Project: p.Row.Slug, Name: "Till"})
	require.NoError(t, err)
	r.room = room.Row
	r.post(t, "hello")
	secret, _, err := seal.NewKey()
	require.NoError(t, err)
	in := r.input("signed.hubpack")
	in.SignKey = filepath.Join(base, "key")
	require.NoError(t, os.WriteFile(in.SignKey, secret, 0o600))
	plan := r.plan(t, in)
	_, _ = r.confirm(&plan)
	t.Error("the process was to be killed")
}

// TestKilledBetweenSignatureAndCapsule kills a hub when it gives a capsule its name: the
// signature has its own already. The next start leaves neither.
func TestKilledBetweenSignatureAndCapsule(t *testing.T) {
	strace := testprogram.Need(t, "strace")[0]
	base, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	out := filepath.Join(base, "out")
	// strace counts the calls of each thread, so the call is named by its path.
	cmd := exec.Command(strace, "-f", "-qq", "-o", filepath.Join(base, "trace"), "-P", filepath.Join(out, "signed.hubpack"),
		"-e", "trace=linkat", "-e", "inject=linkat:signal=SIGKILL:error=EPERM:when=1",
		os.Args[0], "-test.run=^TestSignedExportChild$")
	cmd.Env = append(os.Environ(), signedVariable+"="+base, "GOTMPDIR="+t.TempDir()) // a killed process deletes nothing
	said, _ := cmd.CombinedOutput()
	signature := filepath.Join(out, "signed.hubpack"+seal.SignatureSuffix)
	if _, err := os.Stat(signature); err != nil {
		t.Fatalf("the process was not killed between the two: %v\n%s", err, said)
	}
	if _, err := os.Stat(filepath.Join(out, "signed.hubpack")); err == nil {
		t.Fatal("the capsule has its name")
	}
	_ = killRig(t, base)
	if left := names(t, out); len(left) > 0 {
		t.Errorf("after the next start there is %v", left)
	}
	if left := names(t, filepath.Join(base, "store", "plans")); len(left) > 0 {
		t.Errorf("after the next start the folder of the plans has %v", left)
	}
}
