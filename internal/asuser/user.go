// Package asuser lets one process act as two users: its own, who keeps its state, and the
// one that codex and codex's commands run as. What touches files or processes that those
// can put something else in the place of is done as that other user, who cannot be led to
// anything that is the first one's alone.
//
// The kernel keeps a user for each thread. A thread that has become the other user is used
// for one thing, and ends with it. It keeps our real and saved user all the while, so that
// processes of the other user can neither signal nor trace it.
//
// On Linux a program that imports this package is a starter, too, where its first argument
// says so: it becomes the user and executes another program, before its main function runs.
package asuser

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"runtime"
	"strconv"
	"strings"
)

// A User is one that this process is not. A nil one stands for the process's own user:
// then everything is done as it would be without this package.
type User struct {
	Name   string // as it was asked for
	UID    uint32
	GID    uint32
	Groups []uint32 // beside GID
	Home   string   // empty if it is not known
}

// Lookup finds a user by a name, or a number, or two of them with a colon between, for the
// group. It returns nil for the user that this process runs as anyway.
func Lookup(name string) (*User, error) {
	u, err := lookup(name)
	if err != nil || u.UID == uint32(os.Getuid()) {
		return nil, err
	}
	if u.UID == 0 {
		return nil, errors.New("root can do all that this process can")
	}
	if lendsItself() {
		return nil, errors.New("the file of this program has capabilities, by which every user here who may run it could become another: " +
			"take them away (setcap -r), and give them to the service that starts it (AmbientCapabilities)")
	}
	return u, nil
}

func lookup(name string) (*User, error) {
	who, group, grouped := strings.Cut(name, ":")
	known, err := user.Lookup(who)
	if _, numeric := number(who); err != nil && numeric {
		known, err = user.LookupId(who)
		if _, unknown := errors.AsType[user.UnknownUserIdError](err); unknown && grouped {
			known, err = &user.User{Uid: who}, nil
		}
	}
	if err != nil {
		return nil, fmt.Errorf("there is no user %s here: give its number and its group's, as 1000:1000", who)
	}
	u := &User{Name: name, Home: known.HomeDir}
	u.UID, _ = number(known.Uid)
	if grouped {
		gid, ok := number(group)
		if !ok {
			return nil, fmt.Errorf("the group %q is no number", group)
		}
		u.GID = gid
		return u, nil
	}
	u.GID, _ = number(known.Gid)
	all, err := known.GroupIds()
	if err != nil {
		return nil, fmt.Errorf("the groups of user %s: %w", who, err)
	}
	for _, text := range all {
		if gid, ok := number(text); ok && gid != u.GID {
			u.Groups = append(u.Groups, gid)
		}
	}
	return u, nil
}

func number(text string) (uint32, bool) {
	n, err := strconv.ParseUint(text, 10, 32)
	return uint32(n), err == nil
}

// String names the user for people.
func (u *User) String() string {
	if u == nil {
		return fmt.Sprintf("user %d", os.Getuid())
	}
	if _, numeric := number(u.Name); numeric || strings.Contains(u.Name, ":") {
		return fmt.Sprintf("user %d", u.UID)
	}
	return fmt.Sprintf("%s (user %d)", u.Name, u.UID)
}

// HomeIn returns the home of a child that runs as the user. An environment that says who
// that is, such as that of the image, also says where that user's home is.
func (u *User) HomeIn(env func(name string) string) string {
	if u == nil || u.Home == "" || env("USER") == u.Name {
		return env("HOME")
	}
	return u.Home
}

// May tries to become the user, and says why that cannot be.
func (u *User) May() error { return u.Do(func() error { return nil }) }

// Do calls f as the user: for files, and for processes that it looks at or signals. f must
// do it on the goroutine that it is called on, and start no process.
func (u *User) Do(f func() error) error {
	if u == nil {
		return f()
	}
	return u.onThread(0, f)
}

// Value is [User.Do] for what has a result.
func Value[T any](u *User, f func() (T, error)) (result T, err error) {
	err = u.Do(func() (err error) {
		result, err = f()
		return err
	})
	return result, err
}

// Unread is an error of reading a file as the user. Where it is one of rights, it says what
// to do.
func (u *User) Unread(err error) error {
	switch {
	case !errors.Is(err, fs.ErrPermission):
		return err
	case u == nil:
		return fmt.Errorf("%w (let %v read it)", err, u)
	}
	return fmt.Errorf("%w (let %v read it, whom codex runs as, unless a command has made it a link to something else)", err, u)
}

// Start starts a command as the user, which then has no privilege of ours.
func (u *User) Start(cmd *exec.Cmd) error {
	if u == nil {
		return cmd.Start()
	}
	return u.onThread(takes(cmd), func() error { return u.start(cmd) })
}

// onThread calls f on a thread that becomes the user, with the capabilities that it keeps.
// The thread ends with it: it is not unlocked.
func (u *User) onThread(keeps uint32, f func() error) error {
	done := make(chan error, 1)
	go func() {
		defer close(done) // also if f ends the goroutine
		runtime.LockOSThread()
		if err := u.become(keeps); err != nil {
			done <- fmt.Errorf("become %v: %w", u, err)
			return
		}
		done <- f()
	}()
	return <-done
}

// StartHere is [User.Start] on the thread of the calling goroutine, for a child that is
// told to die with the thread that started it: the kernel asks whether that thread may
// signal it. The goroutine must be locked to its thread and, if u is not nil, never be
// unlocked.
func (u *User) StartHere(cmd *exec.Cmd) error {
	if u == nil {
		return cmd.Start()
	}
	if err := u.become(takes(cmd)); err != nil {
		return fmt.Errorf("become %v: %w", u, err)
	}
	return u.start(cmd)
}
