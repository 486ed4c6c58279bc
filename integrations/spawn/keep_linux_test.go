package spawn

import (
	"testing"
)

// TestWhoLeavesTheGroupIsFound: a process that makes itself a session of its own and
// is left behind ends with the command all the same.
func TestWhoLeavesTheGroupIsFound(t *testing.T) {
	plan := script(t, `setsid sh -c 'trap "" TERM; echo $$ >$0/pid; while :; do sleep 600; done' $1 & while [ ! -s $1/pid ]; do sleep 0.01; done; exit 0`)
	plan.Env = []string{"PATH"}
	e := begin(t, testRunner(), plan).end()
	if pid := pidIn(t, plan.Dir+"/pid"); code(e) != 0 || alive(pid) {
		t.Errorf("the end is %+v, who left lives: %v", e, alive(pid))
	}
}
