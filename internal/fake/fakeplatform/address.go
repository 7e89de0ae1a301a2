package fakeplatform

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strconv"
)

// hosts knows the names that stand in this machine's own file and asks no server.
var hosts = &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
	return nil, errors.New("a double asks no name server")
}}

// badURL refuses what the platform would not call: it looks the host up itself. The
// oldest one does not say what is wrong.
func (k *world) badURL(raw, mode string) (status int, reason string) {
	if raw == "" && k.era >= JUN && mode == "poll" {
		return 0, ""
	}
	reason = urlFault(raw)
	switch {
	case reason == "":
		return 0, ""
	case k.era == APR:
		reason = invalidBody
	}
	return http.StatusBadRequest, reason
}

func urlFault(raw string) string {
	if raw == "" {
		return "url is required for push-mode workspaces"
	}
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return invalidBody
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return "url scheme must be http or https"
	}
	host := u.Hostname()
	if host == "localhost" { // passes by its name
		return ""
	}
	if ip := net.ParseIP(host); ip != nil {
		return ipFault(ip)
	}
	ips, err := hosts.LookupIP(context.Background(), "ip", host)
	if err != nil {
		return "hostname " + strconv.Quote(host) + " cannot be resolved (DNS error)"
	}
	for _, ip := range ips {
		if fault := ipFault(ip); fault != "" {
			return fault
		}
	}
	return ""
}

func ipFault(ip net.IP) string {
	switch {
	case ip.IsLoopback():
		return invalidBody
	case ip.IsPrivate():
		return "url targets a blocked address: RFC-1918 private address"
	}
	return ""
}

// moveLocked takes the address that the workspace has registered, unless the platform's own
// provisioner has put it elsewhere. Newer ones take every localhost with a port for
// such a place, be it the workspace that has said so.
func (k *world) moveLocked(ws *workspace, raw string) {
	if ws.provisioned != "" || k.era >= JUN && looksProvisioned(ws.url) {
		return
	}
	ws.url = raw
}

func looksProvisioned(raw string) bool {
	u, err := url.Parse(raw)
	if err != nil {
		return false
	}
	return (u.Hostname() == "localhost" || u.Hostname() == "127.0.0.1") && u.Port() != "" && u.Port() != "8000"
}
