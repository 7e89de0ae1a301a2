package files

import (
	"os"
	"strconv"
)

func pathOf(fd uintptr) string {
	path, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(int(fd)))
	if err != nil { // without /proc
		return ""
	}
	return path
}
