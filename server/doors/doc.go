// Package doors decides who is let in: by the name that a request calls us by and the page
// that it comes from, and by the credentials that it shows. Wrong credentials wait, for all
// doors together.
package doors
