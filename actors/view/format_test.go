package view

import (
	"flag"
	"fmt"
	"testing"

	"hubcli/actors/core"
	"hubcli/internal/formatlist"
)

var updateFormat = flag.Bool("update", false, "add what has a number of the store's format to the list")

// TestStoredThingsHaveNumbers holds the rows that the views make and their section of the
// checkpoints; see the test of this name in package core.
func TestStoredThingsHaveNumbers(t *testing.T) {
	members := func(under string, of core.FormatMember, v any) []formatlist.Thing {
		return formatlist.Members(under, v, func(path []string) int { return core.StoreFormats().MemberNumber(of, path) })
	}
	things := members("section sessions", core.FormatMember{Section: core.DirectoryOwner().Kind}, directoryState{})
	for version := uint16(1); version <= directoryVersion; version++ {
		things = append(things, formatlist.Thing{
			Name: fmt.Sprintf("section sessions version %d", version), Number: core.StoreFormats().SectionNumber(core.FormatSection{Kind: core.DirectoryOwner().Kind, Version: version}),
		})
	}
	for _, table := range []core.Table{core.TableThread, core.TableThreadAgent} {
		things = append(things, members(fmt.Sprintf("table %d", table), core.FormatMember{Table: table}, ThreadPart{})...)
	}
	formatlist.Check(t, "testdata/format.txt", things, *updateFormat)
}
