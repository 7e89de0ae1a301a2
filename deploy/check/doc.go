// Package check holds the tests of what stands in deploy: manifests against the types
// of Kubernetes and its restricted profile, compose files as compose reads them, and
// alarms as Prometheus reads them. It is a module of its own, so that what the tests
// need is nobody else's.
package check
