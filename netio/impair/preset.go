package impair

import "time"

// Preset is a profile with a name.
type Preset struct {
	Name    string
	Profile Profile
	About   string
}

// Presets returns the named profiles, from good to bad, each for one direction.
func Presets() []Preset {
	const ms = time.Millisecond
	return []Preset{
		{"clean", Profile{}, "a perfect line"},
		{"wifi", Profile{Loss: 0.02, Delay: 5 * ms, Jitter: 10 * ms}, "a busy access point nearby"},
		{"mobile", Profile{
			Loss: 0.05, Delay: 80 * ms, Jitter: 30 * ms, Duplicate: 0.01, Reorder: 0.02, Corrupt: 0.001,
		}, "a moving phone"},
		{"bad", Profile{Loss: 0.15, Delay: 150 * ms, Jitter: 60 * ms}, "what players complain about"},
		{"hell", Profile{ // at 60 Hz: bursts of 9.6 datagrams on average, 30 % loss
			Loss: 0.25, Burst: 0.0075, BurstLength: 10, BurstMax: 500 * ms,
			Jitter: 80 * ms, Duplicate: 0.1, Reorder: 0.2, Corrupt: 0.05,
		}, "30 % loss, a part of it in bursts to 500 ms"},
	}
}
