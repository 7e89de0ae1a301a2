//go:build !linux

package chaos

import "errors"

func mount(string) (unmount func() error, err error) {
	return nil, errors.ErrUnsupported
}
