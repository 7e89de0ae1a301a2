package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// settle takes the pages of the program's own file out of this process: the start
// touches most of the file, and what follows little of it. They stay in the page
// cache, from where those that are wanted come back as they are touched.
func settle() error {
	exe, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return err
	}
	maps, err := os.Open("/proc/self/maps")
	if err != nil {
		return err
	}
	defer maps.Close()
	lines := bufio.NewScanner(maps)
	for lines.Scan() {
		var from, to uintptr
		var rights string
		if _, err := fmt.Sscanf(lines.Text(), "%x-%x %s", &from, &to, &rights); err != nil {
			return fmt.Errorf("/proc/self/maps: %w", err)
		}
		if !strings.HasSuffix(lines.Text(), exe) || strings.Contains(rights, "w") {
			continue // a page that may have been written is in no file
		}
		if _, _, errno := unix.Syscall(unix.SYS_MADVISE, from, to-from, unix.MADV_DONTNEED); errno != 0 {
			return fmt.Errorf("madvise: %w", errno)
		}
	}
	return lines.Err()
}
