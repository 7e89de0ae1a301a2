// Package deploy holds files that run the runtime as a service; its tests hold them to
// what the service needs.
package deploy
