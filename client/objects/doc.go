// Package objects shows everything on the map that is no player: projectiles, grenades, barrels,
// cubes, teleporters and zones. Sections of snapshots and the actions of own commands go in;
// objects at an instant and a queue of changes come out. Projectiles and grenades are computed from
// their launch with the server's code, own ones ahead of the server's rows. One goroutine may call
// it, the client's own.
package objects
