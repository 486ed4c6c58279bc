package hub

import (
	"maps"
	"sync"
)

// codes are the rows by their codes. A code that is defined twice is a mistake in a file of
// this package.
var codes = sync.OnceValue(func() map[Code]CodeInfo {
	byCode := make(map[Code]CodeInfo, rowCount)
	for _, info := range rows[:rowCount] {
		if _, ok := byCode[info.Code]; ok {
			panic("hub: the code " + info.Code + " is defined twice")
		}
		byCode[info.Code] = info
	}
	return byCode
})

// Codes returns every code that a hub may answer, with its usual HTTP status.
func Codes() map[Code]int {
	statuses := make(map[Code]int, len(codes()))
	for code, info := range codes() {
		if !info.Local {
			statuses[code] = info.Status
		}
	}
	return statuses
}

// CodeInfos returns the rows of all codes.
func CodeInfos() map[Code]CodeInfo { return maps.Clone(codes()) }

// InfoOf returns the row of a code. An unknown code comes from a newer hub: its
// row holds only the exit code.
func InfoOf(code Code) CodeInfo {
	for i := range rowCount {
		if rows[i].Code == code {
			return rows[i]
		}
	}
	return CodeInfo{Code: code, Exit: 1}
}
