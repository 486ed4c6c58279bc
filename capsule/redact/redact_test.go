package redact

import (
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"strings"
	"testing"
)

func machine() Options {
	return Options{
		Salt:      []byte("0123456789abcdef"),
		Literals:  []string{"hub_S3ss10n-t0ken+/=x"},
		Homes:     []string{"/home/anna", `C:\Users\Anna Schmidt`, "/srv/people/jörg"},
		Users:     []string{"anna", "anna-schmidt7", "jörg"},
		Hosts:     []string{"anna-mbp", "forge"},
		Addresses: []string{"127.0.0.1", "192.168.17.4", "2001:db8:0:17::c0de", "::1", "fe80::1%eth0", "10.9.8.7/24"},
	}
}

// TestMachineIsNotNamed: what names the machine and its people goes, in every spelling, and
// what looks alike stays.
func TestMachineIsNotNamed(t *testing.T) {
	for text, want := range map[string]string{
		"see /home/anna/src/x.go:12":                      "see [home]/src/x.go:12",
		"file:///home/anna/a.txt":                         "file://[home]/a.txt",
		"%2Fhome%2Fanna%2Fa":                              "[home]%2Fa",
		"file%3A%2F%2F%2Fhome%2Fanna":                     "file%3A%2F%2F[home]",
		`{"cwd":"\/home\/anna\/src"}`:                     `{"cwd":"[home]\/src"}`,
		`C:\Users\Anna Schmidt\Documents`:                 `[home]\Documents`,
		`"C:\\Users\\Anna Schmidt\\x"`:                    `"[home]\\x"`,
		"file:///c:/Users/Anna%20Schmidt/x":               "file:///[home]/x",
		"/mnt/c/Users/Anna Schmidt/x":                     "/mnt/[home]/x",
		"/srv/people/jörg/x":                              "[home]/x",
		"/srv/people/j%C3%B6rg/x":                         "[home]/x",
		`/srv/people/j\u00f6rg/x`:                         "[home]/x",
		"~/.claude/projects/-home-anna-work-shop":         "~/.claude/projects/[home]-work-shop",
		"/home/bert/src and /home/carla.":                 "/home/[home-user]/src and /home/[home-user].",
		"/Users/bert/Library":                             "/Users/[home-user]/Library",
		`C:\Users\bert\x, D:\Users\carla meier\y`:         `C:\Users\[home-user]\x, D:\Users\[home-user]\y`,
		`C:\\Users\\bert\\x`:                              `C:\\Users\\[home-user]\\x`,
		`c:/users/bert/x`:                                 `c:/users/[home-user]/x`,
		"/var/home/bert/x":                                "/var/home/[home-user]/x",
		"%2FUsers%2Fbert%2Fx":                             "%2FUsers%2F[home-user]%2Fx",
		`a\n/home/bert/x`:                                 `a\n/home/[home-user]/x`,
		"/home/runner/work":                               "/home/runner/work",
		"https://x.org/home/bert":                         "https://x.org/home/bert",
		"https://x.org/data/home/bert":                    "https://x.org/data/home/bert",
		"src/home/index.ts, src/Users/List.tsx":           "src/home/index.ts, src/Users/List.tsx",
		"GET /users/42":                                   "GET /users/42",
		"anna@forge:~$ ls":                                "[user]@[host]:~$ ls",
		"-rw-r--r-- 1 anna staff 12 Jan 2 a":              "-rw-r--r-- 1 [user] staff 12 Jan 2 a",
		"USER=anna LOGNAME='anna'":                        "USER=[user] LOGNAME='[user]'",
		"uid=1000(anna)":                                  "uid=1000([user])",
		"/data/anna/x, ~anna, annabel, /annas":            "/data/[user]/x, ~[user], annabel, /annas",
		"ask anna-schmidt7 about it":                      "ask [user] about it",
		"Anna likes it":                                   "Anna likes it",
		"forge ahead":                                     "forge ahead",
		"http://forge:3000/x and forge.local":             "http://[host]:3000/x and [host].local",
		"on ANNA-MBP.fritz.box":                           "on [host].fritz.box",
		"mail max.mustermann+x@firma.de.":                 "mail [email].",
		"mailto:a%40firma.de":                             "mailto:[email]",
		"noreply@example.com, git@github.com:a/b":         "noreply@example.com, git@github.com:a/b",
		"pkg@v1.2.3 logo@2x.png @app.route":               "pkg@v1.2.3 logo@2x.png @app.route",
		"192.168.17.4:80, 192.168.17.40, v1.192.168.17.4": "[address]:80, 192.168.17.40, v1.192.168.17.4",
		"ip-192-168-17-4 is up":                           "ip-[address] is up",
		"10.9.8.7 and 127.0.0.1 and [::1]":                "[address] and 127.0.0.1 and [::1]",
		"[2001:db8:0:17::c0de]:80":                        "[[address]]:80",
		"2001:0DB8:0000:0017:0000:0000:0000:C0DE.":        "[address].",
		"2001:db8:0:17::c0df":                             "2001:db8:0:17::c0df",
		"fe80::1%eth0":                                    "[address]%eth0",
		"::ffff:192.168.17.4":                             "::ffff:[address]",
	} {
		got := plainTags(newRedactor(t, machine()).Text(text))
		if got != want {
			t.Errorf("%s\nbecame %s\nwanted %s", text, got, want)
		}
	}
}

// plainTags shortens tags to their rules.
func plainTags(text string) string {
	return tagPattern.ReplaceAllStringFunc(text, func(tag string) string {
		return "[" + strings.Split(tag, ":")[1] + "]"
	})
}

// TestKnownSecrets are formats as their providers show them, and settings as people write
// them. Nothing of a secret stays.
func TestKnownSecrets(t *testing.T) {
	for text, secret := range map[string]string{
		"AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE":                                           "AKIAIOSFODNN7EXAMPLE",
		"aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY":                 "K7MDENG",
		"ghp_16C7e42F292c6912E7710c838347Ae178B4a":                                         "16C7e42F",
		"xoxb-17653672481-19874698323-pdFZKVeTuE8sk7oOcHrzqqgy":                            "pdFZKVeTuE8sk7oOcHrzqqgy",
		"sk-ant-api03-abcDEF_123-456ghijklmnop":                                            "123-456",
		"OPENAI_API_KEY=sk-proj-abcdEFGH1234_5678-ijkl":                                    "5678",
		"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9": "dozjgNryP4J3jVmNHl0w5N_XgL0n3I9",
		"postgres://app:s3cr3t@db:5432/x":                                                  "s3cr3t",
		"postgres://app:p@ss:word@db/x":                                                    "ss:word",
		"Authorization: Basic YWxhZGRpbjpvcGVuc2VzYW1l":                                    "YWxhZGRpbjpvcGVuc2VzYW1l",
		"authorization: bearer abc123def456":                                               "abc123def456",
		`{\"password\": \"hunter2x\"}`:                                                     "hunter2x",
		"password = 'correct horse battery'":                                               "horse",
		"the password is hunter22, keep it":                                                "hunter22",
		"Das Passwort lautet hunter22.":                                                    "hunter22",
		"密码是 hunter22":                                                                     "hunter22",
		"mysql --password=hunter22 -u x":                                                   "hunter22",
		"x --db-password hunter22":                                                         "hunter22",
		"x --api-key hunter2222":                                                           "hunter2222",
		"tool -token hunter2222":                                                           "hunter2222",
		"curl -u admin:hunter22 https://x":                                                 "hunter22",
		`curl --user "{acd3c08b-74e8}":"{ZqL5kVrX1n8tA2}" https://x.org`:                   "ZqL5kVrX1n8tA2",
		`{"facebook access_token":"911602140448729|AY-lRJZq9BoDLobvAiP25L7RcMg"}`:          "AY-lRJZq9BoDLobvAiP25L7RcMg",
		"sourcegraph: 6d2FabeB6ADd229Bc199FabA28fD3efb57dF0bD3":                            "6d2FabeB6ADd",
		"machine x.org login me password hunter22":                                         "hunter22",
		"//registry.npmjs.org/:_authToken=a1b2c3d4-e5f6":                                   "e5f6",
		"https://x.org/a?access_token=a1b2c3d4e5f6&b=1":                                    "a1b2c3d4e5f6",
		"AccountKey=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZ==": "Eby8vdM02x",
		"-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nIBAAKCAQEA":                              "IBAAKCAQEA",
		`"-----BEGIN PRIVATE KEY-----\nMIIEvQ\nIBADANBg\n-----END PRIVATE KEY-----\n"`:     "IBADANBg",
		"my_ghp_16C7e42F292c6912E7710c838347Ae178B4aXYZ.txt":                               "XYZ",
		"xghp_16C7e42F292c6912E7710c838347Ae178B4a":                                        "16C7e42F",
	} {
		if got := newRedactor(t, Options{}).Text(text); strings.Contains(got, secret) || !tagPattern.MatchString(got) {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// TestLiterals: a value that the caller names is found in every form, and all its forms have
// one tag.
func TestLiterals(t *testing.T) {
	value := `hub_S3ss10n-t0ken+/=x"y`
	r := newRedactor(t, Options{Literals: []string{value}})
	want := r.tag(ruleLiteral, value)
	for name, text := range map[string]string{
		"plain":                value,
		"JSON":                 `hub_S3ss10n-t0ken+/=x\"y`,
		"base64":               base64.StdEncoding.EncodeToString([]byte(value)),
		"base64 of a pair":     base64.StdEncoding.EncodeToString([]byte("user:" + value + "\n")),
		"base64, third place":  base64.RawURLEncoding.EncodeToString([]byte("ab" + value + "c")),
		"base64 for addresses": base64.URLEncoding.EncodeToString([]byte(value)),
		"URL":                  url.QueryEscape(value),
		"path":                 url.PathEscape(value),
		"hexadecimal":          hex.EncodeToString([]byte(value)),
		"HEXADECIMAL":          strings.ToUpper(hex.EncodeToString([]byte(value))),
	} {
		if got := r.Text("a " + text + " b"); got != "a "+want+" b" {
			t.Errorf("%s: %q", name, got)
		}
	}
	if _, err := New(Options{Salt: []byte("0123456789abcdef"), Literals: []string{"abc"}}); err == nil {
		t.Error("a short literal is taken")
	}
	if _, err := New(Options{}); err == nil {
		t.Error("an export without salt is made")
	}
	if _, err := New(Options{Salt: []byte("0123456789abcdef"), Addresses: []string{"x"}}); err == nil {
		t.Error("an address that is none is taken")
	}
}

// TestTags: equal values get equal tags, another salt gives others, and counts have no value.
func TestTags(t *testing.T) {
	a, b := "ghp_16C7e42F292c6912E7710c838347Ae178B4a", "ghp_26C7e42F292c6912E7710c838347Ae178B4a"
	r := newRedactor(t, Options{})
	tags := tagPattern.FindAllString(r.Text(a+" "+b+"\n"+a), -1)
	if len(tags) != 3 || tags[0] != tags[2] || tags[0] == tags[1] {
		t.Errorf("the tags are %q", tags)
	}
	if r.Counts()["github-pat"] != 3 || len(r.Counts()) != 1 {
		t.Errorf("the counts are %v", r.Counts())
	}
	if other := newRedactor(t, Options{Salt: []byte("another salt of 16 bytes")}); strings.Contains(other.Text(a), tags[0]) {
		t.Error("another salt gives the same tag")
	}
	// What looks like a tag hides nothing.
	for _, text := range []string{"[redacted:" + a + ":01234567]", "[redacted:github-pat:" + a + "]", "[redacted:github-pat:0123456" + a + "]"} {
		if got := r.Text(text); strings.Contains(got, a[8:]) {
			t.Errorf("%q became %q", text, got)
		}
	}
	if got := r.Text(tags[0] + " password=" + tags[1]); got != tags[0]+" password="+tags[1] {
		t.Errorf("tags became %q", got)
	}
}

// TestOverlaps: of places that overlap nothing stays, and the first names the rule.
func TestOverlaps(t *testing.T) {
	for text, want := range map[string]string{
		"token=ghp_16C7e42F292c6912E7710c838347Ae178B4a":                    "token=[github-pat]",
		"https://x:ghp_16C7e42F292c6912E7710c838347Ae178B4a@github.com/a/b": "https://x:[email]/a/b",
		"/home/anna.old/x": "[home]/x",
	} {
		if got := plainTags(newRedactor(t, machine()).Text(text)); got != want {
			t.Errorf("%q became %q", text, got)
		}
	}
	if got := merge([]span{{start: 4, end: 9, rule: "c"}, {start: 0, end: 5, rule: "a"}, {start: 0, end: 6, rule: "b"}}); len(got) != 1 || got[0] != (span{start: 0, end: 9, rule: "b"}) {
		t.Errorf("merged to %+v", got)
	}
}

// TestNoSecretsStay: what has the form of a secret and says nothing stays as it is.
func TestNoSecretsStay(t *testing.T) {
	for _, text := range []string{
		`password: "string"`,
		`"password": "your password"`,
		"token=your-token-2026-here",
		"--token TOKEN --password <password>",
		"postgres://user:$PASSWORD@db/x and postgres://user:<password>@db/x",
		"token := base64.RawURLEncoding.EncodeToString(random)",
		"secret_file=/etc/hub/secret-17.txt",
	} {
		if got := newRedactor(t, machine()).Text(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}
