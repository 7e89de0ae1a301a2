package files

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
)

// write brings a file to the disk and then gives it its name, as the user. Before each piece
// it asks whether there is room for it, as ourselves; nil has.
func write(user *asuser.User, root *os.Root, stored string, content io.Reader, most int64, room func(int64) error) (digest string, info fs.FileInfo, err error) {
	temp := partial + randomHex()
	file, err := asuser.Value(user, func() (*os.File, error) {
		return root.OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY|syscall.O_NOFOLLOW, 0o600)
	})
	if err != nil {
		return "", nil, err
	}
	defer func() {
		if err != nil {
			_ = user.Do(func() error { return root.Remove(temp) }) // the sweep gets what this does not
		}
	}()
	digest, info, err = fill(file, content, most, room)
	if err != nil {
		return "", nil, err
	}
	err = user.Do(func() error {
		if err := root.Rename(temp, stored); err != nil {
			return err
		}
		return syncRoot(root)
	})
	return digest, info, err
}

// fill writes a file, brings it to the disk and closes it.
func fill(file *os.File, content io.Reader, most int64, room func(int64) error) (digest string, info fs.FileInfo, err error) {
	defer func() {
		if end := file.Close(); err == nil {
			err = end
		}
	}()
	if digest, _, err = copied(file, content, most, room); err != nil {
		return "", nil, err
	}
	if err = file.Sync(); err != nil {
		return "", nil, err
	}
	info, err = file.Stat()
	return digest, info, err
}

// A roomy reader reads what there is room for: what it has read is written at once. What is
// more than a file may have, by which that is found out, needs no room: it does not stay.
type roomy struct {
	io.Reader
	room func(bytes int64) error
	most int64
}

func (r *roomy) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if ask := min(int64(n), r.most); ask > 0 {
		r.most -= ask
		if full := r.room(ask); full != nil {
			return 0, full
		}
	}
	return n, err
}

// syncRoot brings the names in a directory to the disk.
func syncRoot(root *os.Root) error {
	dir, err := root.Open(".")
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
