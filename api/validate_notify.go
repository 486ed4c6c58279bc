package api

import (
	"net/netip"
	"net/url"
	"path/filepath"
	"strings"

	"hubcli/hub"
)

// ValidateNotify checks how the operator is told of questions. Questions are private, so
// a webhook is on this machine, unless the operator allows another one, with TLS.
func ValidateNotify(in *hub.NotifyInput) error {
	if in.Version < 0 {
		return hub.Invalid("version", "version must be that of the setting that was read")
	}
	if err := checkNotifyCommand(in.Command); err != nil {
		return err
	}
	if in.Webhook == "" {
		return nil
	}
	return checkWebhook(in.Webhook, in.Remote)
}

func checkNotifyCommand(args []string) error {
	if len(args) == 0 {
		return nil
	}
	if len(args) > hub.MaxNotifyArgs {
		return hub.Invalid("command", "the command has too many arguments").With("limit", hub.MaxNotifyArgs).With("size", len(args))
	}
	for _, arg := range args {
		switch {
		case len(arg) > hub.MaxNotifyArgBytes:
			return hub.Invalid("command", "an argument is too long").With("limit", hub.MaxNotifyArgBytes).With("size", len(arg))
		case strings.ContainsRune(arg, 0):
			return hub.Invalid("command", "an argument holds a NUL character, which no argument can")
		}
	}
	if !filepath.IsAbs(args[0]) {
		return hub.Invalid("command", "the command does not begin with the absolute path of an executable").
			WithFix("give the whole path, such as /usr/bin/notify-send")
	}
	return nil
}

func checkWebhook(text string, remote bool) error {
	if len(text) > hub.MaxWebhookBytes {
		return hub.Invalid("webhook", "webhook is too long").With("limit", hub.MaxWebhookBytes).With("size", len(text))
	}
	u, err := url.Parse(text)
	switch {
	case err != nil, u.Scheme != "http" && u.Scheme != "https", u.Hostname() == "":
		return hub.Invalid("webhook", "webhook is no http or https URL").WithFix("give one such as http://127.0.0.1:8080/ask")
	case u.User != nil:
		return hub.Invalid("webhook", "webhook holds a user or a password, which would be kept and shown").
			WithFix("let the receiver know the hub by its path, or use a command")
	case Loopback(u.Hostname()):
		return nil
	case !remote:
		return hub.Invalid("webhook", "webhook is on another machine, and questions are private").
			WithFix("use a receiver on this machine, or allow this host by name")
	case u.Scheme != "https":
		return hub.Invalid("webhook", "a webhook on another machine needs https").WithFix("use https")
	}
	return nil
}

// Loopback reports whether a host is this machine: localhost or a loopback address.
func Loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}
