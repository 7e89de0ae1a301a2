package platform

import "strconv"

// WorkspaceURL is what a workspace registers as its address: what the platform gave
// it, else its own name, which in a container is one that others reach it by. A
// loopback address would be refused, and no platform could call it.
func WorkspaceURL(given, hostname string, port int) string {
	if given != "" {
		return given
	}
	if hostname == "" {
		hostname = "localhost"
	}
	return "http://" + hostname + ":" + strconv.Itoa(port)
}
