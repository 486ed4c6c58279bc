package service

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// unit returns the unit of systemd, without the line with the checksum.
//
// A hub that was stopped ends with 0 and stays stopped. Bad input (2) and a port in
// use (3) do not get better by trying. KillMode is mixed, because the hub itself
// ends the processes that it has spawned.
func (s *Service) unit() string {
	var b strings.Builder
	b.WriteString(`[Unit]
Description=hubcli, a hub for AI coding agents
StartLimitIntervalSec=60
StartLimitBurst=5

[Service]
Type=exec
`)
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		b.WriteString("Environment=" + quoteUnit(name+"="+s.Env[name]) + "\n")
	}
	b.WriteString("ExecStart=" + quoteUnit(s.Exec[0]))
	for _, arg := range s.Exec[1:] {
		b.WriteString(" " + strings.ReplaceAll(quoteUnit(arg), "$", "$$"))
	}
	b.WriteString(`
Restart=on-failure
RestartSec=2
RestartPreventExitStatus=2 3
TimeoutStopSec=90
KillMode=mixed
UMask=0077

[Install]
WantedBy=default.target
`)
	return b.String()
}

// quoteUnit quotes a word of a unit. A percent sign begins a specifier also within
// quotes. A dollar sign means something in the arguments of ExecStart alone: not in
// the path of the executable, and not in Environment.
func quoteUnit(word string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, `%`, `%%`).Replace(word) + `"`
}

// agent returns the property list of launchd: what stands before and after the line
// with the checksum.
func (s *Service) agent() (before, after string) {
	var b strings.Builder
	b.WriteString(`<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
	<key>Label</key>
	<string>` + quoteXML(s.Name) + `</string>
	<key>ProgramArguments</key>
	<array>
`)
	for _, arg := range s.Exec {
		b.WriteString("\t\t<string>" + quoteXML(arg) + "</string>\n")
	}
	b.WriteString("\t</array>\n")
	if len(s.Env) > 0 {
		b.WriteString("\t<key>EnvironmentVariables</key>\n\t<dict>\n")
		for _, name := range slices.Sorted(maps.Keys(s.Env)) {
			b.WriteString("\t\t<key>" + quoteXML(name) + "</key>\n\t\t<string>" + quoteXML(s.Env[name]) + "</string>\n")
		}
		b.WriteString("\t</dict>\n")
	}
	b.WriteString(`	<key>RunAtLoad</key>
	<true/>
	<key>KeepAlive</key>
	<dict>
		<key>SuccessfulExit</key>
		<false/>
	</dict>
	<key>ThrottleInterval</key>
	<integer>10</integer>
	<key>ExitTimeOut</key>
	<integer>90</integer>
	<key>Umask</key>
	<integer>63</integer>
</dict>
</plist>
`)
	return `<?xml version="1.0" encoding="UTF-8"?>` + "\n", b.String()
}

// quoteXML makes a text fit for the content of an element. It is what encoding/xml does, whose
// package makes tables at each start of a program that links it.
func quoteXML(text string) string {
	text = strings.Map(func(r rune) rune {
		if r == utf8.RuneError || r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0xFFFE || r == 0xFFFF {
			return utf8.RuneError // XML has no such character
		}
		return r
	}, text)
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;", "\t", "&#x9;", "\n", "&#xA;", "\r", "&#xD;").Replace(text)
}
