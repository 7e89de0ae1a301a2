package files

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
)

// LargestOffer is how large a file is that a reply hands out.
const LargestOffer = 25 << 20

// Bounds of what one reply hands out: what the platform takes as an upload.
const (
	mostOffered   = 10
	largestOffer  = LargestOffer
	largestOffers = 50 << 20
	mostLooked    = 500 // paths that are looked for on the disk: a list of a million files ends no turn late
)

// storedName matches the names of files in the folder.
var storedName = regexp.MustCompile(`^[0-9a-f]{32}-`)

// Named returns the files under the working directory that a reply names, where they
// stand. What is not there, too large or a secret is left out.
func (f *Folder) Named(reply Reply) []File {
	out, _ := asuser.Value(f.cfg.User, func() ([]File, error) { return f.named(reply), nil }) // who has run a turn may be
	return out
}

func (f *Folder) named(reply Reply) []File {
	var out []File
	seen, looked := map[string]bool{}, map[mention]bool{}
	left := int64(largestOffers)
	for _, m := range mentions(reply.Text) {
		if len(out) == mostOffered || len(looked) == mostLooked {
			break
		}
		m.at = 0 // the same elsewhere is the same
		if looked[m] || !m.relative && !f.ours(m.path) {
			continue
		}
		looked[m] = true
		file, ok := f.mentioned(m, reply)
		if !ok || seen[file.Path] || file.Size > largestOffer || file.Size > left {
			continue
		}
		seen[file.Path] = true
		left -= file.Size
		file.MediaType = mediaOf(file.Name)
		out = append(out, file)
	}
	return out
}

// called is what replies call a file.
func (f *Folder) called(path string) string {
	rel, err := filepath.Rel(f.cfg.Work, path)
	if f.cfg.As == "" || err != nil {
		return path
	}
	return filepath.Join(f.cfg.As, rel)
}

// Copy puts a copy of a file under the working directory into the folder: what codex
// does to its own afterwards does not reach the reader. The same content under the same
// name is the same copy, and what stands in the folder is its own. The copy is that of the
// task that has made it last.
func (f *Folder) Copy(file File, of Owner) (File, error) {
	if dir := filepath.Dir(file.Path); strings.HasSuffix(dir, place) && storedName.MatchString(filepath.Base(file.Path)) {
		return file, nil
	}
	return f.CopyOf(f, file, of)
}

// CopyOf is Copy for a file of another folder.
func (f *Folder) CopyOf(from *Folder, file File, of Owner) (File, error) {
	source, info, err := from.Open(file.Path)
	if err != nil {
		return File{}, err
	}
	defer source.Close()
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d %d", from.called(file.Path), info.Size(), info.ModTime().UnixNano()))
	name := hex.EncodeToString(sum[:16]) + "-" + sanitize(file.Name)
	if _, err := f.cfg.Quota.hold(name, of, true); err != nil { // before it is looked for
		return File{}, err
	}
	defer f.cfg.Quota.release(name)
	if copied, ok := f.staged(name, file.Name, file.MediaType); ok && copied.Size == info.Size() {
		return copied, f.cfg.Quota.note(name, of)
	}
	copied, err := f.put(name, file.Name, file.MediaType, source, largestOffer, of)
	copied.Digest = "" // as where it stood there already
	return copied, err
}
