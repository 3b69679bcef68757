package server

// traffic is what one session's packages have come to.
type traffic struct {
	down, up        uint64 // bytes of UDP payload, sealed
	taken           uint64 // packages from it
	delivered, lost uint64 // packages to it, as far as that is known
}
