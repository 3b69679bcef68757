// Package predict plays a player's own commands ahead of the server. Commands and the server's
// owner rows go in; the state after the newest command, the actions of each command and the error
// that a picture has to hide come out. It opens no socket and reads no clock. One goroutine may
// call it, the client's own.
package predict
