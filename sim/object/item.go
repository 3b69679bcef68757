package object

// Gives is what an item gives.
type Gives uint8

// The gifts.
const (
	GivesHealth Gives = iota // ItemKind.Heal points
	GivesAmmo                // every clip is full
)

// ItemKind is a kind of item: what it gives to the player that picks it up. Only the server needs
// to know.
type ItemKind struct {
	Gives         Gives
	Heal          int32   // points, up to what the hero spawns with
	Radius        float32 // metres from the feet to the item's foot
	RespawnMillis int32   // from a pickup until it is there again, at most MaxItemRespawn
}

// MaxItemRespawn is the longest time for which an item is gone, in milliseconds: clients see when it
// was taken by 16 bits of the tick.
const MaxItemRespawn = 240_000
