package worktree

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/regular"
)

// A Left is a file that is not taken, and why.
type Left struct {
	Path string
	Why  error // [ErrTooLarge], one of rights, or one that says that git has no such names
}

// A FilesError says which files cannot be committed; 20 at most.
type FilesError struct{ Left []Left }

func (e *FilesError) Error() string {
	texts := make([]string, 0, len(e.Left))
	for _, left := range e.Left {
		texts = append(texts, fmt.Sprintf("%s: %v", brief.Named(left.Path), left.Why))
	}
	return "files cannot be committed: " + strings.Join(texts, "; ")
}

// Unwrap are the reasons.
func (e *FilesError) Unwrap() []error {
	all := make([]error, 0, len(e.Left))
	for _, left := range e.Left {
		all = append(all, left.Why)
	}
	return all
}

// A staging brings the files of a tree into an index, from which a commit is made.
type staging struct {
	tree  *Tree
	held  *hold
	index string
	env   []string // where the index and the objects go, if not to their own places

	take     []string // paths that are to be as they are in the folder
	gone     []string // paths that are not there any more
	nested   []string // folders that have repositories of their own
	submodul []string
	left     []Left
	listed   int // bytes of paths
}

// mostListed is how much of paths is kept, in bytes.
const mostListed = 32 << 20

var errMany = errors.New("too many files have changed: ignore what need not be kept (.gitignore), or commit some of them")

func (s *staging) call(args ...string) call {
	c := s.tree.call(s.held, args...)
	c.env = s.env
	return c
}

func (s *staging) git(ctx context.Context, c call) (string, error) {
	return s.tree.repo.text(ctx, c)
}

// run stages all, and returns the tree of it. Files that cannot be taken are an error, unless the others are wanted without
// them.
//
// Git's own "add" is not used: of a folder that has a repository of its own it would take no file, and it may start another
// git in there, which believes that repository's settings.
func (s *staging) run(ctx context.Context, partly bool) (tree string, err error) {
	if err := s.begin(ctx); err != nil {
		return "", err
	}
	if err := s.findChanged(ctx); err != nil {
		return "", err
	}
	if err := s.look(partly); err != nil {
		return "", err
	}
	if err := s.update(ctx, s.gone, "--force-remove"); err != nil { // a folder in the place of a file is seen after that
		return "", err
	}
	s.gone = nil
	seeds, err := s.findNew(ctx)
	if err != nil {
		return "", err
	}
	if err := s.look(partly); err != nil {
		return "", err
	}
	if err := s.update(ctx, s.take, "--add", "--remove", "--replace"); err != nil {
		return "", err
	}
	if err := s.update(ctx, append(seeds, s.gone...), "--force-remove"); err != nil {
		return "", err
	}
	if err := s.refuse(partly); err != nil {
		return "", err
	}
	return s.git(ctx, s.call("write-tree"))
}

// refuse is the error over files that cannot be taken.
func (s *staging) refuse(partly bool) error {
	if partly || len(s.left) == 0 {
		return nil
	}
	return &FilesError{Left: s.left[:min(len(s.left), mostNamed)]}
}

var badIndex = regexp.MustCompile(`index file (corrupt|smaller|open failed)|bad (index file|signature|index version)|unknown index entry|index uses`)

// begin reads the index. One that is gone or broken is made anew: it has nothing that is not in the files and the branch.
func (s *staging) begin(ctx context.Context) error {
	info, err := s.tree.repo.lstat(s.index)
	if err != nil {
		return err
	}
	if info != nil {
		err := s.findLinks(ctx)
		if !badIndex.MatchString(saidIn(err)) {
			return err
		}
		s.tree.repo.log.Warn("the index of a tree was broken, and is made anew", "path", s.index)
	}
	if err := s.tree.repo.removeFile(s.index); err != nil {
		return err
	}
	base, err := s.tree.base(ctx)
	if err != nil {
		return err
	}
	if _, err := s.git(ctx, s.call("read-tree", base)); err != nil {
		return err
	}
	return s.findLinks(ctx)
}

func (s *staging) list(path []byte) (string, error) {
	if s.listed += len(path) + 1; s.listed > mostListed {
		return "", errMany
	}
	return string(path), nil
}

// findChanged finds out which files are not as the index has them, by their times and sizes.
func (s *staging) findChanged(ctx context.Context) error {
	var status byte
	return s.tree.repo.list(ctx, s.call("diff-files", "--raw", "-z", "--no-renames", "--ignore-submodules=all"), func(record []byte) error {
		if status == 0 {
			if len(record) == 0 || record[0] != ':' {
				return fmt.Errorf("git diff-files says %.100q", record)
			}
			status = record[len(record)-1]
			return nil
		}
		path, err := s.list(record)
		if status == 'D' {
			s.gone = append(s.gone, path)
		} else {
			s.take = append(s.take, path)
		}
		status = 0
		return err
	})
}

// mostNesting is how deep repositories in one another are looked for.
const mostNesting = 20

// findNew finds the files that git does not know. It does not look into a folder that has a repository of its own, unless it
// knows a file in there: so it is told of one that is not there, a seed. The seeds are returned.
func (s *staging) findNew(ctx context.Context) (seeds []string, err error) {
	name := ".seed-" + rand.Text()
	for range mostNesting {
		var files, nested []string
		args := s.tree.untracked()
		err := s.tree.repo.list(ctx, s.call(args...), func(record []byte) error {
			path, err := s.list(record)
			if folder, ok := strings.CutSuffix(path, "/"); ok {
				nested = append(nested, folder)
			} else {
				files = append(files, path)
			}
			return err
		})
		if err != nil {
			return seeds, err
		}
		if len(nested) == 0 {
			s.take = append(s.take, files...)
			return seeds, nil
		}
		var info bytes.Buffer
		for _, folder := range nested {
			seeds = append(seeds, folder+"/"+name)
			fmt.Fprintf(&info, "100644 %s\t%s/%s\x00", emptyBlob, folder, name)
		}
		s.nested = append(s.nested, nested...)
		c := s.call("update-index", "--add", "-z", "--index-info")
		c.input = info.Bytes()
		if _, err := s.git(ctx, c); err != nil {
			return seeds, err
		}
	}
	return seeds, fmt.Errorf("repositories lie in one another, %d deep: remove some of them", mostNesting)
}

// emptyBlob is the name of an empty file's content.
const emptyBlob = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"

// look looks at the files that are to be taken, and keeps those that can be.
func (s *staging) look(partly bool) error {
	repo := s.tree.repo
	err := repo.user.Do(func() error {
		root, err := os.OpenRoot(s.tree.dir)
		if err != nil {
			return err
		}
		defer root.Close()
		slices.Sort(s.take)
		take := slices.Compact(s.take)
		s.take = take[:0]
		for _, path := range take {
			switch there, err := looked(root, path, repo.maxFile); {
			case err != nil:
				s.left = append(s.left, Left{path, err})
			case there:
				s.take = append(s.take, path)
			default:
				s.gone = append(s.gone, path)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return s.refuse(partly)
}

// looked reports whether a file is there, and why it cannot be taken.
func looked(root *os.Root, path string, most int64) (there bool, err error) {
	info, err := root.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR), err == nil && info.IsDir():
		return false, nil
	case err != nil:
		return true, reason(err)
	case info.Mode()&fs.ModeSymlink != 0:
		return true, nil
	case !info.Mode().IsRegular():
		return false, nil // a pipe in the place of a file
	case info.Size() > most:
		return true, fmt.Errorf("%w (%d bytes, and %d may be)", ErrTooLarge, info.Size(), most)
	}
	file, err := root.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return true, reason(err)
	}
	return true, file.Close()
}

// reason is an error without the path, which stands beside it.
func reason(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

// ignoring is what git says of a name that it does not take, and goes on.
var ignoring = regexp.MustCompile(`(?m)^Ignoring path (.+)$`)

var errName = errors.New("git has no files of such names")

// update tells the index of paths.
func (s *staging) update(ctx context.Context, paths []string, how ...string) error {
	if len(paths) == 0 {
		return nil
	}
	c := s.call(append(append([]string{"update-index"}, how...), "-z", "--stdin")...)
	c.input = []byte(strings.Join(paths, "\x00") + "\x00")
	said, err := s.tree.repo.remarks(ctx, c)
	for _, found := range ignoring.FindAllStringSubmatch(said, mostNamed) {
		s.left = append(s.left, Left{found[1], errName})
	}
	return err
}

// findLinks finds what the index has for submodules (gitlinks). One that the tree's own .gitmodules names is left as it is.
// Another one was made of a folder that has a repository of its own, by a git that a command has run: the folder's
// files are taken in its place.
func (s *staging) findLinks(ctx context.Context) error {
	var links []string
	err := s.tree.repo.list(ctx, s.call("ls-files", "-z", "--stage"), func(entry []byte) error {
		if !bytes.HasPrefix(entry, []byte("160000 ")) {
			return nil
		}
		_, name, _ := bytes.Cut(entry, []byte("\t"))
		path, err := s.list(name)
		links = append(links, path)
		return err
	})
	if err != nil || len(links) == 0 {
		return err
	}
	named, err := s.namedSubmodules(ctx)
	if err != nil {
		return err
	}
	var nested []string
	for _, path := range links {
		full, err := s.isFilled(path)
		switch {
		case err != nil:
			return err
		case !full:
		case slices.Contains(named, path):
			s.submodul = append(s.submodul, path)
		default:
			nested = append(nested, path)
		}
	}
	return s.update(ctx, nested, "--force-remove")
}

// isFilled reports whether a folder has a repository of its own, and files beside that.
func (s *staging) isFilled(path string) (bool, error) {
	dir := filepath.Join(s.tree.dir, path)
	if info, err := s.tree.repo.lstat(filepath.Join(dir, ".git")); err != nil || info == nil {
		if errors.Is(err, syscall.ENOTDIR) {
			err = nil
		}
		return false, err
	}
	names, err := asuser.Value(s.tree.repo.user, func() ([]string, error) {
		return regular.Names(dir, 1, func(name string) bool { return name != ".git" })
	})
	if errors.Is(err, regular.ErrMany) {
		err = nil
	}
	return len(names) > 0, err
}

// namedSubmodules returns the folders that .gitmodules names.
func (s *staging) namedSubmodules(ctx context.Context) ([]string, error) {
	path := filepath.Join(s.tree.dir, ".gitmodules")
	info, err := s.tree.repo.lstat(path)
	if err != nil || info == nil || !info.Mode().IsRegular() {
		return nil, err
	}
	said, err := s.git(ctx, call{args: []string{"config", "--file", path, "--no-includes", "-z", "--get-regexp", `^submodule\..*\.path$`}})
	if codeOf(err) > 0 {
		return nil, nil // it names none, or is none
	}
	var folders []string
	for record := range strings.SplitSeq(said, "\x00") {
		_, folder, _ := strings.Cut(record, "\n")
		folders = append(folders, strings.TrimSuffix(folder, "/"))
	}
	return folders, err
}
