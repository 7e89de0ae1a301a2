package giveback

import (
	"bufio"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// Settle takes the pages of the program's own file out of this process: the start
// touches most of the file, and what follows little of it. They stay in the page
// cache, from where those that are wanted come back as they are touched.
func Settle() error {
	exe, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return err
	}
	maps, err := os.Open("/proc/self/smaps")
	if err != nil {
		return err
	}
	defer maps.Close()
	var clean []mapping
	var at mapping
	lines := bufio.NewScanner(maps)
	for lines.Scan() {
		if m, ok := mappingOf(lines.Text()); ok {
			at = m
			continue
		}
		// A page that was written is in no file, also where it can be written no more: the
		// linker of a program that runs at any address writes into pages like that.
		if strings.HasPrefix(lines.Text(), "Anonymous:") && strings.HasSuffix(lines.Text(), " 0 kB") &&
			strings.HasSuffix(at.text, exe) && !strings.Contains(at.rights, "w") {
			clean = append(clean, at)
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	for _, m := range clean {
		if _, _, errno := unix.Syscall(unix.SYS_MADVISE, m.from, m.to-m.from, unix.MADV_DONTNEED); errno != 0 {
			return fmt.Errorf("madvise: %w", errno)
		}
	}
	return nil
}

// A mapping is a range of addresses, as the kernel lists it.
type mapping struct {
	from, to uintptr
	rights   string
	text     string // the whole line; it ends in the file's name
}

// mappingOf reads a line that begins one. Others say something about it.
func mappingOf(line string) (m mapping, ok bool) {
	n, err := fmt.Sscanf(line, "%x-%x %s", &m.from, &m.to, &m.rights)
	m.text = line
	return m, err == nil && n == 3
}
