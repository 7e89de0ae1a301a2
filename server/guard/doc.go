// Package guard stands between the bindings of A2A and the handler of its calls. It holds
// calls to what the card promises, catches panics, decides in one place which error texts a
// caller may see, and gives the files that tasks hand out the form for their caller: the
// platform of a workspace finds them by their path, all others get their bytes or a URL of
// ours. Whether a request makes sense is for the handler to say.
package guard
