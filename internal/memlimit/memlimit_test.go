package memlimit

import (
	"os"
	"path/filepath"
	"testing"
)

func TestOf(t *testing.T) {
	const groups = "proc/self/cgroup"
	for name, tt := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"no container":         {nil, 256 << 20},
		"no limit":             {map[string]string{groups: "0::/\n", "sys/fs/cgroup/memory.max": "max\n"}, 256 << 20},
		"version 2":            {map[string]string{groups: "0::/\n", "sys/fs/cgroup/memory.max": "536870912\n"}, 128 << 20},
		"large":                {map[string]string{groups: "0::/\n", "sys/fs/cgroup/memory.max": "17179869184\n"}, 256 << 20},
		"tiny":                 {map[string]string{groups: "0::/\n", "sys/fs/cgroup/memory.max": "67108864\n"}, 48 << 20},
		"of a group above":     {map[string]string{groups: "0::/a/b\n", "sys/fs/cgroup/a/memory.max": "536870912\n", "sys/fs/cgroup/a/b/memory.max": "max\n"}, 128 << 20},
		"version 1":            {map[string]string{groups: "5:cpu:/x\n4:hugetlb,memory:/x\n0::/x\n", "sys/fs/cgroup/memory/x/memory.limit_in_bytes": "536870912\n"}, 128 << 20},
		"version 1, none":      {map[string]string{groups: "4:memory:/\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n"}, 256 << 20},
		"the name outside":     {map[string]string{groups: "4:memory:/docker/abc\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "536870912\n"}, 128 << 20},
		"a name out of bounds": {map[string]string{groups: "0::/../../a\n", "sys/fs/cgroup/a/memory.max": "536870912\n"}, 128 << 20},
		"nonsense":             {map[string]string{groups: "0:\n\nx\n0::/\n", "sys/fs/cgroup/memory.max": "-1\n"}, 256 << 20},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			for path, text := range tt.files {
				path = filepath.Join(root, path)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if got := Of(root); got != tt.want {
				t.Errorf("%d MiB, want %d", got>>20, tt.want>>20)
			}
		})
	}
}
