package hub

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func TestParseCondition(t *testing.T) {
	many := func(n int) string {
		ids := make([]string, n)
		for i := range ids {
			ids[i] = fmt.Sprint(i + 1)
		}
		return "tasks-complete:" + strings.Join(ids, ",")
	}
	for _, c := range []struct {
		text string
		want Condition // zero: refused
		why  string
	}{
		{"tasks-complete:1", Condition{Kind: UntilTasksComplete, Tasks: []TaskID{1}}, ""},
		{"tasks-complete:3,1,3", Condition{Kind: UntilTasksComplete, Tasks: []TaskID{3, 1}}, ""},
		{"tasks-complete:9007199254740991", Condition{Kind: UntilTasksComplete, Tasks: []TaskID{MaxMessageID}}, ""},
		{"tasks-complete:9007199254740992", Condition{}, "is no task id"},
		{"tasks-complete:", Condition{}, `""`},
		{"tasks-complete", Condition{}, `""`},
		{"tasks-complete:0", Condition{}, `"0"`},
		{"tasks-complete:01", Condition{}, `"01"`},
		{"tasks-complete:+1", Condition{}, `"+1"`},
		{"tasks-complete:-1", Condition{}, `"-1"`},
		{"tasks-complete:1,", Condition{}, `""`},
		{"tasks-complete:1, 2", Condition{}, `" 2"`},
		{"tasks-complete:0x1", Condition{}, `"0x1"`},
		{many(MaxWatchTasks + 1), Condition{}, "at most 100"},
		{"run-complete:run_9", Condition{Kind: UntilRunComplete, Run: "run_9"}, ""},
		{"run-complete:", Condition{}, "names no run"},
		{"run-complete:a\x00b", Condition{}, "names no run"},
		{"message-from:dev-a", Condition{Kind: UntilMessageFrom, Agent: "dev-a"}, ""},
		{"message-from:team:dev", Condition{Kind: UntilMessageFrom, Agent: "team:dev"}, ""},
		{"message-from:operator", Condition{Kind: UntilMessageFrom, Agent: AgentOperator}, ""},
		{"message-from:", Condition{}, "is no agent id"},
		{"message-from:a/b", Condition{}, `"a/b"`},
		{"message-from:a.watch", Condition{}, "a.watch"},
		{"seat-idle:dev-a", Condition{Kind: UntilSeatIdle, Agent: "dev-a"}, ""},
		{"seat-idle:operator", Condition{}, "no agent at work"},
		{"seat-idle:system", Condition{}, "no agent at work"},
		{"seat-idle:hub", Condition{}, "no agent at work"},
		{"seat-idle:a.watch", Condition{}, "no agent at work"},
		{"for-me", Condition{Kind: UntilForMe}, ""},
		{"for-me:", Condition{}, "stands alone"},
		{"for-me:lead", Condition{}, "stands alone"},
		{"task-ready", Condition{Kind: UntilTaskReady}, ""},
		{"task-ready:r_7", Condition{Kind: UntilTaskReady, Room: "r_7"}, ""},
		{"task-ready:", Condition{}, "names no room"},
		{"task-ready:a\x00b", Condition{}, "names no room"},
		{"answered:12", Condition{Kind: UntilAnswered, Message: 12}, ""},
		{"answered", Condition{}, `""`},
		{"answered:", Condition{}, `""`},
		{"answered:0", Condition{}, `"0"`},
		{"answered:1,2", Condition{}, "is no message id"},
		{"", Condition{}, `""`},
		{":1", Condition{}, "no condition"},
		{"Tasks-Complete:1", Condition{}, "no condition"},
		{" tasks-complete:1", Condition{}, "no condition"},
		{"soon", Condition{}, "no condition"},
	} {
		got, err := ParseCondition("--until", c.text)
		if c.want.Kind != "" {
			c.want.Text = c.text
			if err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("%q: %+v, %v", c.text, got, err)
			}
			continue
		}
		var e *Error
		if !errors.As(err, &e) || e.Code != CodeInvalid || e.Fix == "" || !strings.HasPrefix(e.Message, "--until ") || !strings.Contains(e.Message, c.why) {
			t.Errorf("%q: %+v, %v, want a refusal that says %q", c.text, got, err, c.why)
		}
	}
	if c, err := ParseCondition("until", many(MaxWatchTasks)); err != nil || len(c.Tasks) != MaxWatchTasks {
		t.Errorf("%d tasks: %v", len(c.Tasks), err)
	}
}
