// Package image tests the container image as its platform runs it: its root, started by
// its own entrypoint, in namespaces of its own, with the volumes, users and capabilities
// that a container gets, on a network that has nothing on it but the scripted model and
// the platform's double.
//
// make image-test builds the image and hands its root to these tests; without one they
// are skipped.
package image
