package main

import (
	"fmt"
	"regexp"
	"strings"
)

// place says where users get the release, and by which key they know it. The owner decides both; the zero value
// names neither.
type place struct {
	site string // the https address of the folder with the files; {version} in it stands for the release's number
	key  string // of minisign, which signs the list of checksums
}

// versionMark stands in a site for the number of a release.
const versionMark = "{version}"

var (
	siteForm = regexp.MustCompile(`^https://[A-Za-z0-9.-]+(:[0-9]+)?(/[A-Za-z0-9._~{}-]+)*$`)
	keyForm  = regexp.MustCompile(`^RW[A-Za-z0-9+/]{54}$`)
)

// newPlace checks what the owner has given. Both go into scripts, where only these letters are harmless.
func newPlace(site, key string) (place, error) {
	site = strings.TrimSuffix(site, "/")
	if site != "" && !siteForm.MatchString(site) {
		return place{}, fmt.Errorf("%q is no site; give the https address of a folder, such as https://example.org/hubcli/%s", site, versionMark)
	}
	if key != "" && !keyForm.MatchString(key) {
		return place{}, fmt.Errorf("%q is no public key of minisign; give the second line of its file, which begins with RW", key)
	}
	return place{site: site, key: key}, nil
}

// url is the address of a file of a release.
func (p place) url(version, name string) string {
	return strings.ReplaceAll(p.site, versionMark, version) + "/" + name
}
