package agent

import (
	"io"
	"testing"
	"time"

	"hubcli/integrations/hook"
	"hubcli/internal/testcli"
)

func TestHookKeepsToItsBudget(t *testing.T) {
	if HookConnect > 300*time.Millisecond || HookStdin >= HookCalls || HookCalls >= HookLimit || HookLimit > 1800*time.Millisecond {
		t.Error("two seconds are all there is, and the process has to start and end")
	}
	if got := budgetOfHook(testcli.World(t, nil)); got != (hookBudget{HookStdin, HookCalls, HookLimit, HookConnect}) {
		t.Errorf("as delivered a hook has %+v", got)
	}
}

// TestWholePayloadIsNotWaitedFor: the time is the hub's where the stream stays
// open and all has come, in however many parts.
func TestWholePayloadIsNotWaitedFor(t *testing.T) {
	r, w := io.Pipe()
	defer w.Close()
	in := newIntake(r)
	go func() {
		for _, part := range []string{testcli.StopPayload[:1], testcli.StopPayload[1:20], testcli.StopPayload[20:], "\n"} {
			_, _ = io.WriteString(w, part)
		}
	}()
	if !in.wait(t.Context(), time.Hour) || hook.Parse(in.taken()).Damaged {
		t.Errorf("what has come is %q", in.taken())
	}
}
