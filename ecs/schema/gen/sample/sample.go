// Package sample holds components that use every option of a net tag, with the code that structgen
// writes for them: to read, and for the tests that hold that code to the reflective twin.
package sample

import "github.com/tickrate/tickrate/ecs/geom"

//go:generate go run ../structgen

// Action is what a character does; it is sent as a whole number.
type Action uint8

// Metres is a named float.
type Metres float32

// Swing is a struct with tags of its own; the options of the field that holds it are where its own
// begin.
type Swing struct {
	Phase  float32 `net:",quant=1000,wrap=1,interp=angle,often=60"`
	Weight float32 `net:",quant=100,min=0,max=1,interp=linear"`
	Note   string  `net:"-"`
}

// Character has all three sections: what everyone is told, what only its owner is, and what only
// the others are.
type Character struct {
	_ struct{} `net:"character"`

	Hero   Action  `net:",max=11,often=1"`
	Health int16   `net:",min=0,max=1000,predict=hold"`
	Team   uint8   `net:"bits,bits=2"`
	Sprint bool    `net:"bits,bits=1"`
	Keys   [3]bool `net:"bits,inline,bits=1"`
	Dead   bool    `net:",derive=IsDead"`

	Pos   geom.Vec3  `net:",others,quant=128,min=-2048,max=2048,interp=linear,predict=best,often=70/20/70"`
	Yaw   geom.Angle `net:",others,step=16,wrap=65536,interp=angle"`
	Swing Swing      `net:",others"`

	Exact geom.Vec3 `net:"at,owner,quant=4096,min=-2048,max=2048"`
	Ammo  [2]uint8  `net:",owner"`
}

// IsDead is what the receiver derives Dead from.
func (c *Character) IsDead() bool { return c.Health <= 0 }

// Flag is a named bool.
type Flag bool

// Edges has every kind of number at the edge of what it can be.
type Edges struct {
	_ struct{} `net:"edges,single"`

	Byte    uint8      `net:""`
	Signed  int8       `net:",step=16"`
	Turns   uint16     `net:",wrap=65536"`
	Grid    geom.Angle `net:",step=16,wrap=65536,interp=angle"`
	Pitch   geom.Angle `net:",step=16,signed,min=-16384,max=16384,interp=linear"`
	Odd     uint16     `net:",wrap=359,interp=angle"`
	Three   int        `net:",step=3,wrap=9,interp=angle,predict=quadratic"`
	Count   uint32     `net:",max=100000"`
	Whole   uint32     `net:",signed"`
	Long    uint64     `net:",step=3,wrap=3000"`
	Far     uint64     `net:",step=1048576,max=1048576000000"`
	Big     int64      `net:",step=1048576,min=-1048576000000000,max=1048576000000000,interp=linear"`
	All     int32      `net:",predict=linear"`
	Two     uint       `net:",min=1,max=2"`
	Degrees float32    `net:",quant=10,wrap=360,interp=angle"`
	Tiny    float32    `net:",quant=16777216,wrap=1"`
	Wide    float32    `net:",quant=3,min=-700000000,max=700000000,interp=linear"`
	Above   float32    `net:",quant=4,min=2,max=3"`
	Below   Metres     `net:",quant=100,min=-5,max=-0.5,interp=linear"`
	Units   Metres     `net:",quant=1,min=-9,max=9"`
	Flag    Flag       `net:""`
	Packed  Action     `net:"packed,bits=5"`
	Flags   [2]Flag    `net:"packed,inline,bits=1"`
	Rest    uint64     `net:"packed,bits=7"`
	Top     uint16     `net:"packed,bits=16"`
	Steps   [2]int16   `net:",step=5,min=-100,max=100,interp=linear,often=20/30"`
}
