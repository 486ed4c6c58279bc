package lazy_test

import (
	"sync"
	"testing"

	"hubcli/internal/lazy"
)

var (
	word  = lazy.Regexp{Pattern: `^([a-z]+)-\d$`}
	wrong = lazy.Regexp{Pattern: `(`}
)

func TestRegexpIsThatOfItsPattern(t *testing.T) {
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			if !word.MatchString("abc-1") || word.MatchString("abc") {
				t.Error("the expression matches something else than its pattern")
			}
		})
	}
	group.Wait()
	if got := word.FindStringSubmatch("abc-1"); len(got) != 2 || got[1] != "abc" {
		t.Errorf("the groups are %q", got)
	}
	if got := word.ReplaceAllString("abc-1", "$1"); got != "abc" {
		t.Errorf("the replaced text is %q", got)
	}
	if first, second := word.Get(), word.Get(); first != second {
		t.Error("the expression was compiled twice")
	}
}

func TestRegexpThatIsWrongPanicsAtItsUse(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a wrong pattern was taken")
		}
	}()
	wrong.MatchString("x")
}
