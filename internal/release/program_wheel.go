package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"
)

// wheelTags say on which platforms pip installs the executable. It is static, so that it needs no library of C on
// Linux; its version of Go needs macOS 12.
var wheelTags = map[string]string{
	"linux/amd64":   "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64",
	"linux/arm64":   "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64",
	"darwin/amd64":  "macosx_12_0_x86_64",
	"darwin/arm64":  "macosx_12_0_arm64",
	"windows/amd64": "win_amd64",
	"windows/arm64": "win_arm64",
}

// programWheel makes the wheel that has the executable, which pip puts beside the interpreter: no Python starts when
// it is used. The wheel of the Python client is another one.
func (r *release) programWheel(b built, shared []file) (string, []byte, error) {
	tags, ok := wheelTags[b.goos+"/"+b.goarch]
	if !ok {
		return "", nil, fmt.Errorf("no tag of a wheel is known for %s/%s", b.goos, b.goarch)
	}
	licenses, err := notice(shared)
	if err != nil {
		return "", nil, err
	}
	var wheel strings.Builder
	wheel.WriteString("Wheel-Version: 1.0\nGenerator: hubcli\nRoot-Is-Purelib: false\n")
	for tag := range strings.SplitSeq(tags, ".") {
		fmt.Fprintf(&wheel, "Tag: py3-none-%s\n", tag)
	}
	base := "hubcli-" + r.version
	info := base + ".dist-info/"
	metadata := fmt.Sprintf("Metadata-Version: 2.1\nName: hubcli\nVersion: %s\nSummary: %s\nRequires-Python: >=3.9\n", r.version, description)
	files := []file{
		{path: base + ".data/scripts/" + b.program(), mode: 0o755, data: b.exe},
		{path: info + "METADATA", mode: 0o644, data: []byte(metadata)},
		{path: info + "WHEEL", mode: 0o644, data: []byte(wheel.String())},
		{path: info + noticesFile, mode: 0o644, data: licenses},
	}
	var record bytes.Buffer
	for _, f := range files {
		sum := sha256.Sum256(f.data)
		fmt.Fprintf(&record, "%s,sha256=%s,%d\n", f.path, base64.RawURLEncoding.EncodeToString(sum[:]), len(f.data))
	}
	fmt.Fprintf(&record, "%sRECORD,,\n", info)
	files = append(files, file{path: info + "RECORD", mode: 0o644, data: record.Bytes()}) // the last, as wheels have it
	data, err := packZip(files, r.time)
	return fmt.Sprintf("%s-py3-none-%s.whl", base, tags), data, err
}
