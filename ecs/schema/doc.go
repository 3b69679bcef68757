// Package schema describes the fields of a replicated row and codes their numbers. A list of fields
// with their ranges goes in; a Model comes out: one code for the fields that changed and one code
// per field for the size of the change. It is pure computation, for encoders and decoders at either
// end.
//
// Rows are int32, already quantised. The package knows nothing of entities, frames or baselines: a
// Coder codes one value against another. Schemas and models have hashes, which two ends compare in
// a handshake; if they differ, Set.Match names the field.
//
// # Schemas from structs
//
// A replicated component is a Go struct whose fields have net tags. Reflect reads them and returns
// a ReflectCodec, which turns components into rows and back by reflection; structgen (package
// schema/gen) writes the same as plain code, by a line in a file of the component's package:
//
//	//go:generate go run github.com/tickrate/tickrate/ecs/schema/gen/structgen
//
// A tag is a name, by default the field's in lower case,
// and options:
//
//	Pos geom.Vec3 `net:",inline,quant=128,min=-2048,max=2048,interp=linear,often=70/20/70"`
//
//	option    on         value                means
//	quant     float32    1 to 2^24            steps a unit; every float needs it
//	step      integers   1 to 2^20            units a step; default 1
//	min, max  numbers    units, whole steps   the range; floats need it; default what the type
//	                                          holds, if 32 bits do
//	wrap      numbers    units, 2 to 2^30     the modulus, in place of a range: 360 for degrees,
//	                     steps                65536 for geom.Angle
//	signed    unsigned                        read as two's complement: a pitch in a geom.Angle
//	bits      unsigned,  1 to 31              bits of a field that neighbours of the same name
//	          bool                            share, the first in the lowest bits; larger values
//	                                          are cut to the greatest
//	everyone  any                             sent to all: the default
//	owner     any                             sent only to the entity's own player, in a row of
//	                                          its own
//	others    any                             sent to all but the entity's own player, in a row
//	                                          of its own
//	interp    numbers    none, linear, angle  what lies between two rows; none keeps the older
//	                                          value until the newer row is the older one; angle
//	                                          takes the shorter way
//	predict   numbers    hold, linear,        how the field is predicted, by default hold: see
//	                     quadratic, best      Coder.Predict
//	derive    any        a method of the      not sent: the receiver calls the method,
//	                     component            func (*T) M() F, once the rest is restored
//	often     any        percent, or p/q/r    how often it changes, for models without training;
//	                                          one for all numbers of the field, or one each
//	inline    struct                          its fields take no name from it
//	          array                           its elements share one field; with bits
//	single    field _                         there is one row and it is always there
//
// A tag "-" leaves a field out; no tag at all is an error, so that none is forgotten. A tag on a
// field called _ names the schema, by default as the type in lower case, and its options hold for
// all fields that do not say otherwise. Fields of nested structs have dotted names, elements of
// arrays are numbered: "pos.x", "hits.0". A nested struct without tags takes the options of the
// field that holds it. Sections have their own schemas: of a component that has more than one,
// those of owner and others are called player.owner and player.others. An owner's row is always
// single.
//
// Types are bool, integers, float32 and named types, arrays and structs of them: no strings, no
// float64. A row of entities has at most MaxFields fields, one that is single MaxSingleFields. A number is
// rounded to the nearest step, halves upwards, and then brought into range: clamped, or round the
// circle. NaN counts as 0, or as what is nearest to it in range; infinities clamp; where a field
// wraps all three are 0. So what comes back is at most half a step away from any value in range,
// besides the rounding of a float32.
package schema
