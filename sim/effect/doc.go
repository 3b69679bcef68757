// Package effect says what a picture and the sound of a match present for a moment: shots,
// footsteps, explosions, impacts, damage. Two sources make one stream:
//
//	Tracker       replicated rows   -> effects that follow from them: they take no bytes
//	AppendTold    a match           -> effects that follow from no row: the server sends them
//	MatchTracker  a whole match     -> both, as a killcam shows them
//	Format        told effects      -> bits in a snapshot, and back
//
// A client and the server's live page run the same Tracker over the same rows. Marks keeps the
// marks that impacts leave under a budget. Nothing here changes a match.
package effect
