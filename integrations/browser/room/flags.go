package room

import (
	"os"
	"runtime"
	"slices"
	"strings"
)

// switches are the same for every engine. Those of the second group make a whole browser do
// what a headless shell does: it has a window for each page, with pages of its own in it that
// cost three times as much as the room's and that nobody sees; it shows a page that it has
// kept when one goes back, and says neither that it loads nor that it has loaded; it lets
// pages wait whose window is behind another. Those of the third group keep an engine from the
// network; the gate would refuse what gets by.
var switches = []string{
	"--headless", "--remote-debugging-pipe", "--no-first-run", "--no-default-browser-check", "--no-startup-window",
	"--disable-gpu", "--disable-dev-shm-usage", "--mute-audio", "--hide-scrollbars", "--password-store=basic",
	"--use-mock-keychain", "--disable-extensions", "--disable-default-apps", "--disable-breakpad", "--disable-crash-reporter",
	"--deny-permission-prompts", "--disable-notifications", "--window-size=1280,800", "--force-color-profile=srgb",

	"--disable-back-forward-cache", "--disable-component-extensions-with-background-pages", "--disable-search-engine-choice-screen",
	"--disable-backgrounding-occluded-windows", "--disable-renderer-backgrounding",

	"--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-domain-reliability",
	"--disable-client-side-phishing-detection", "--metrics-recording-only", "--no-pings", "--disable-quic",
	"--dns-prefetch-disable", "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
	"--proxy-bypass-list=<-loopback>", "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
	"--disable-features=" + strings.Join([]string{
		"Translate", "OptimizationHints", "MediaRouter", "DialMediaRouteProvider", "AutofillServerCommunication",
		"CertificateTransparencyComponentUpdater", "AsyncDns", "DnsOverHttps", "DirectSockets", "WebTransport",
		"WebUIOmniboxPopup", "WebUIOmniboxAimPopup", "PreloadTopChromeWebUI",
	}, ","),
}

// flags returns the arguments of an engine.
func flags(gate, dir string, noSandbox bool) []string {
	all := slices.Concat(switches, []string{"--proxy-server=http://" + gate, "--user-data-dir=" + dir})
	if noSandbox {
		all = append(all, "--no-sandbox")
	}
	return all
}

// environment is that of an engine: none of the hub's secrets, and folders of its own.
func environment(dir string) []string {
	env := []string{"HOME=" + dir, "TMPDIR=" + dir, "XDG_CONFIG_HOME=" + dir, "XDG_CACHE_HOME=" + dir, "XDG_RUNTIME_DIR=" + dir}
	for _, name := range []string{"PATH", "LANG", "LC_ALL", "TZ", "FONTCONFIG_PATH", "FONTCONFIG_FILE"} {
		if value := os.Getenv(name); value != "" {
			env = append(env, name+"="+value)
		}
	}
	if runtime.GOOS == "darwin" {
		env = append(env, "__CF_USER_TEXT_ENCODING="+os.Getenv("__CF_USER_TEXT_ENCODING"))
	}
	return env
}
