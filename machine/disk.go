package machine

import "fmt"

// leastDisk is how much room the disks of a machine need: codex's sandbox does not start on a full one, so that commands could
// not even make room.
const leastDisk = 64 << 20

// lacksRoom says why the disks of the machine cannot be used, and what to do; empty where they can.
func (h *healer) lacksRoom() string {
	for _, dir := range []string{h.cfg.Root, h.cfg.State} {
		if why := look(dir).lacks(); why != "" {
			return "the disk of " + dir + " " + why
		}
	}
	return ""
}

// lacks says what is wrong with a disk.
func (f facts) lacks() string {
	switch {
	case !f.disk:
		return ""
	case f.readOnly:
		return "is mounted read-only: mount it for writing"
	case f.freeDisk < leastDisk:
		return fmt.Sprintf("has %d MiB left, and needs %d: make room there", f.freeDisk>>20, leastDisk>>20)
	}
	return ""
}
