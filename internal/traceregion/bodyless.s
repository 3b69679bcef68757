// An assembly file lets a Go function of this package have no body.
