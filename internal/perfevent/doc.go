// Package perfevent counts what threads do by the kernel's performance events: instructions, cycles,
// branch misses and misses of the last-level cache, in user space. Threads go in; counts come out,
// or an error that says in words why there are none: many virtual machines have no such counters.
// Events of the kernel itself, such as page faults, take the same path.
package perfevent
