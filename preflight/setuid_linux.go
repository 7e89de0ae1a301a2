package preflight

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Setuid checks that no other user of this machine gets to what commands make in directories:
// codex's sandbox lets them make files that run as their owner, whoever starts them, and outside of
// any sandbox (seen on 0.169.0).
func Setuid(dirs ...string) []Check {
	return []Check{{"setuid", setuidProbe{dirs: dirs, owner: os.Geteuid, accounts: "/etc/passwd"}.run}}
}

// A setuidProbe is how this process learns who is there beside it.
type setuidProbe struct {
	dirs     []string
	owner    func() int // the user of commands
	accounts string
}

func (p setuidProbe) run(context.Context) Result {
	other := p.other()
	if other == "" {
		return ok("no other user logs in here")
	}
	for _, dir := range p.dirs {
		if !reached(dir) || barred(nearest(dir)) {
			continue
		}
		return warn(
			fmt.Sprintf("others of this machine, such as %s, get to %s, or would if a command opened it (its mode is the commands' to change): a file that a command makes there in codex's sandbox can be one that runs as user %d when another starts it", other, dir, p.owner()),
			"close a directory above it to others (chmod 700), mount it with nosuid, or start this where no such files can be made (RestrictSUIDSGID=yes of systemd)")
	}
	return ok("others of this machine cannot run what commands make")
}

// leastUser is the id from which users are people, and noUser that of nobody.
const (
	leastUser = 1000
	noUser    = 65534
)

// other is another user who logs in, as far as the file of accounts says.
func (p setuidProbe) other() string {
	f, err := os.Open(p.accounts)
	if err != nil {
		return "those of other accounts"
	}
	defer f.Close()
	lines := bufio.NewScanner(io.LimitReader(f, 1<<20))
	for lines.Scan() {
		fields := strings.Split(lines.Text(), ":")
		if len(fields) != 7 {
			continue
		}
		id, err := strconv.Atoi(fields[2])
		shell := filepath.Base(fields[6])
		if err == nil && id >= leastUser && id != noUser && id != p.owner() && shell != "nologin" && shell != "false" {
			return strconv.Quote(fields[0])
		}
	}
	return ""
}

// reached reports whether every user may go to a directory, as far as the modes of the folders
// above it say. Its own says nothing: commands can change it (seen on 0.169.0).
func reached(dir string) bool {
	there := nearest(dir)
	at, err := filepath.EvalSymlinks(there)
	if err != nil {
		return false
	}
	if there == dir {
		at = filepath.Dir(at)
	}
	for ; ; at = filepath.Dir(at) {
		info, err := os.Stat(at)
		if err != nil || info.Mode().Perm()&0o001 == 0 {
			return false
		}
		if at == filepath.Dir(at) {
			return true
		}
	}
}

// barred reports whether a file in a directory cannot be made to run as its owner, or would not.
func barred(dir string) bool {
	var s unix.Statfs_t
	if unix.Statfs(dir, &s) == nil && s.Flags&unix.ST_NOSUID != 0 {
		return true
	}
	f, err := unnamed(dir)
	if err != nil {
		return false
	}
	err = f.Chmod(0o600 | fs.ModeSetuid)
	info, failed := f.Stat()
	_ = f.Close()
	return errors.Is(err, unix.EPERM) || failed == nil && info.Mode()&fs.ModeSetuid == 0
}
