package hubfile

import (
	"os"
	"path/filepath"
	"testing"
)

func TestDataRoot(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		goos string
		vars map[string]string
		want string // empty: refused
	}{
		{"given", "linux", map[string]string{"HUB_DATA_ROOT": "/srv/hub", "HOME": "/h"}, "/srv/hub"},
		{"given, relative", "linux", map[string]string{"HUB_DATA_ROOT": "data"}, filepath.Join(here, "data")},
		{"linux", "linux", map[string]string{"HOME": "/h"}, "/h/.local/share/hubcli"},
		{"linux, XDG", "linux", map[string]string{"HOME": "/h", "XDG_DATA_HOME": "/x"}, "/x/hubcli"},
		{"linux, XDG without a home", "linux", map[string]string{"XDG_DATA_HOME": "/x"}, "/x/hubcli"},
		{"linux, relative XDG", "linux", map[string]string{"HOME": "/h", "XDG_DATA_HOME": "x"}, "/h/.local/share/hubcli"},
		{"darwin", "darwin", map[string]string{"HOME": "/h", "XDG_DATA_HOME": "/x"}, "/h/Library/Application Support/hubcli"},
		{"windows", "windows", map[string]string{"HOME": "/h", "LOCALAPPDATA": "/l"}, "/l/hubcli"},
		{"no home", "linux", nil, ""},
		{"no home on windows", "windows", map[string]string{"HOME": "/h"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := DataRoot(func(k string) string { return tt.vars[k] }, tt.goos)
			if got != tt.want || (err != nil) != (tt.want == "") {
				t.Errorf("DataRoot = %q, %v; want %q", got, err, tt.want)
			}
		})
	}
}
