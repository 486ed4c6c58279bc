package hub

import (
	"regexp"
	"testing"
)

// TestFixFor: what a program says of an error itself counts before the row of the
// code, the row before what a hub has answered.
func TestFixFor(t *testing.T) {
	row := InfoOf(CodeRoomNotFound)
	if row.HTTP == "" || row.CLI == "" || row.Model == "" {
		t.Fatalf("the row has no words for somebody: %+v", row)
	}
	for who, want := range map[Audience]string{ForHTTP: row.HTTP, ForCLI: row.CLI, ForModel: row.Model} {
		if got := NewError(CodeRoomNotFound, "").FixFor(who); got != want {
			t.Errorf("nothing said, for %d: %q", who, got)
		}
		if got := NewError(CodeRoomNotFound, "").WithFix("own").FixFor(who); got != "own" {
			t.Errorf("the program's own words, for %d: %q", who, got)
		}
		answered := &Error{Code: CodeRoomNotFound, Fix: "of the hub", Answered: true}
		if got := answered.FixFor(who); got != want {
			t.Errorf("answered by a hub, for %d: %q", who, got)
		}
		if got := answered.WithFix("own").FixFor(who); got != "own" {
			t.Errorf("said anew after an answer, for %d: %q", who, got)
		}
		future := &Error{Code: "of_the_future", Fix: "of the hub", Answered: true}
		if got := future.FixFor(who); got != "of the hub" {
			t.Errorf("a code that is not known, for %d: %q", who, got)
		}
	}
}

// TestEveryCodeHasAStatus: what a hub answers has one, what a client finds need not.
func TestEveryCodeHasAStatus(t *testing.T) {
	for code, info := range CodeInfos() {
		if !info.Local && (info.Status < 400 || info.Status > 599) {
			t.Errorf("%s has the status %d", code, info.Status)
		}
		if info.Code != code {
			t.Errorf("%s is filed under %s", info.Code, code)
		}
	}
}

// TestPeopleReadOfNoHTTP: where a program that sends requests is told of a path or a
// header, a person at the command line is told of a command.
func TestPeopleReadOfNoHTTP(t *testing.T) {
	http := regexp.MustCompile(`/v1/|X-Hub-|[Hh]eader|Retry-After|Content-Type|\b(GET|POST|PUT|DELETE) |openapi`)
	told := 0
	for code, info := range CodeInfos() {
		if http.MatchString(info.HTTP) {
			told++
			if info.CLI == "" {
				t.Errorf("%s sends a person to %q", code, info.HTTP)
			}
		}
		if http.MatchString(info.CLI) {
			t.Errorf("%s tells a person %q", code, info.CLI)
		}
	}
	if told < 10 {
		t.Errorf("only %d codes name a path or a header", told)
	}
}
