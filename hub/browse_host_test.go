package hub

import "testing"

func TestParseHost(t *testing.T) {
	for in, want := range map[string]string{
		"localhost": "localhost", "LocalHost:3000": "localhost:3000", "dev.test.": "dev.test", "127.0.0.1:80": "127.0.0.1:80", "my_host": "my_host",
		"[::1]:8080": "[::1]:8080", "::1": "[::1]", "[::ffff:127.0.0.1]:1": "127.0.0.1:1", "xn--bcher-kva.test": "xn--bcher-kva.test",
		"": "", ":80": "", "host:": "", "host:0": "", "host:65536": "", "host:80x": "", "a b": "", "http://host": "", "host/path": "", "[host]": "",
		"[::1": "", "[::1]x": "", "[fe80::1%eth0]": "", "a..b": "", "*.test": "", "host:-1": "", "bücher.test": "", "user@host": "", "[::1]80": "",
	} {
		host, port, err := ParseHost(in)
		if got := HostPort(host, port); err == nil && got != want || (err != nil) != (want == "") {
			t.Errorf("ParseHost(%q) = %q, %d, %v, want %q", in, host, port, err, want)
			continue
		}
		if err == nil {
			if again, same, err := ParseHost(want); again != host || same != port || err != nil {
				t.Errorf("%q is read as %q, %d, %v, and not as itself", want, again, same, err)
			}
		}
	}
}
