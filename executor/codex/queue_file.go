package codex

import (
	"path/filepath"

	"golang.org/x/sys/unix"
)

// A queueMark is how the files of codex's own queue stand, which a write there changes. The zero mark is of
// files that cannot be looked at.
type queueMark [2]struct {
	device, inode uint64
	size          int64
	changed       unix.Timespec // which no program can set back
}

// markQueue looks at the queue in a home of codex (0.169.0).
func markQueue(home string) (mark queueMark) {
	for i, name := range []string{"queue_1.sqlite", "queue_1.sqlite-wal"} {
		var info unix.Stat_t
		if unix.Stat(filepath.Join(home, name), &info) != nil {
			return queueMark{}
		}
		at := &mark[i]
		at.device, at.inode, at.size, at.changed = uint64(info.Dev), info.Ino, info.Size, info.Ctim //nolint:unconvert // it is narrower elsewhere
	}
	return mark
}
