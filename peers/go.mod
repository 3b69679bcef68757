module github.com/tickrate/tickrate/peers

go 1.26.0

replace github.com/tickrate/tickrate => ../

require github.com/tickrate/tickrate v0.0.0-00010101000000-000000000000

require golang.org/x/sys v0.50.0 // indirect
