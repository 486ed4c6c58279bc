package main

import (
	"context"
	"log/slog"
	"net"
	"strconv"

	"hubcli/api/client"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/persistence"
	"hubcli/relay/forwarder"
)

// serveSpool forwards what agents write to the daemon's spool until the returned
// function is called, which waits for the calls under way. A spool that the operator
// has not named is not made; it is served if this hub has served it before.
func serveSpool(cfg *term.DaemonConfig, made *persistence.Maker, instance hub.InstanceID, log *slog.Logger) (stop func()) {
	base, ok := loopbackURL(cfg.Listener.Addr())
	if !ok {
		base = "http://" + cfg.Listener.Addr().String()
		if c := client.New(client.Config{BaseURL: base}); !c.Local() {
			if cfg.SpoolGiven {
				log.Warn("the spool is not served: the hub does not listen on loopback, and this system lets no call from there reach it",
					"spool", cfg.SpoolDir)
			}
			return func() {}
		}
	}
	f, err := forwarder.New(forwarder.Config{
		Dir: cfg.SpoolDir, Create: cfg.SpoolGiven, Owner: true,
		Accept:  &forwarder.Acceptance{Key: made.Key, Server: "hub " + string(instance), Named: cfg.SpoolGiven},
		BaseURL: base, DataRoot: cfg.NotedIn, Notify: true, Logger: log,
		Ready: func() { log.Info("the spool is served", "spool", cfg.SpoolDir) },
	})
	if err != nil {
		log.Warn("the spool is not served", "spool", cfg.SpoolDir, "error", err)
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		f.Run(ctx)
	}()
	return func() {
		cancel()
		<-done
	}
}

// loopbackURL is how this process reaches its own listener over loopback.
func loopbackURL(addr net.Addr) (url string, ok bool) {
	tcp, ok := addr.(*net.TCPAddr)
	if !ok {
		return "", false
	}
	ip := tcp.IP
	switch {
	case ip.IsLoopback():
	case ip.IsUnspecified() && ip.To4() != nil:
		ip = net.IPv4(127, 0, 0, 1)
	case ip.IsUnspecified():
		ip = net.IPv6loopback
	default:
		return "", false
	}
	return "http://" + net.JoinHostPort(ip.String(), strconv.Itoa(tcp.Port)), true
}
