package netcode

// Drop is the reason for which a datagram was refused: an error and an index of counters at once,
// so that every reason is counted. Zero is none.
type Drop uint8

// The reasons, in the order in which a datagram meets them.
const (
	DropNone          Drop = iota
	DropSize               // empty, too long, or shorter than its header and tag
	DropType               // a kind that is unknown or not for this end
	DropSequence           // a sequence of 0 or of 9 to 15 bytes
	DropReqSize            // a request that is not 1078 B
	DropReqVersion         // a request of another version
	DropReqProtocol        // a request of another protocol
	DropReqExpired         // its token has expired
	DropReqStart           // its token was issued before this server started
	DropReqLifetime        // its token lives longer than TokenLifetime
	DropReqPrefix          // too many requests from this network
	DropReqBudget          // too many requests in all
	DropReqDeferred        // too many requests, and the source is not verified
	DropReqToken           // its token is forged
	DropReqContent         // its token opens but cannot be read
	DropReqAddress         // its token is for another server
	DropReqConnected       // its source is connected
	DropReqClient          // its client is connected
	DropReqTokenUsed       // its token was used from another address or for another session
	DropTokenTable         // no room to remember its token
	DropPending            // no room to remember its keys
	DropFull               // denied: no free slot
	DropClosing            // denied: the server is closing
	DropUnknown            // sealed, from an address without session
	DropState              // a kind that is not expected now
	DropRespConnected      // a response from a source that is connected
	DropTooOld             // a sequence behind the replay window
	DropReplay             // a sequence received before
	DropAuth               // fails authentication
	DropBody               // authentic, but of a length that its kind cannot have
	DropRespToken          // a response whose challenge is forged or for another client
	DropRespClient         // a response for a client that is connected
	DropRate               // more datagrams than a session may send
	DropMigration          // a path datagram that does not move a session
	DropSource             // client: not from the server being dialled
	DropPing               // a ping too many or at a server that is closing; an answer to none of ours
	DropHandOver           // for another server of the group, which has no room for it
	NumDrops               // number of reasons, DropNone included
)

var drops = [NumDrops]struct{ name, text string }{
	DropNone:          {"none", "datagram accepted"},
	DropSize:          {"drop_size", "datagram: size not allowed"},
	DropType:          {"drop_type", "datagram: type not taken here"},
	DropSequence:      {"drop_sequence", "datagram: length of sequence not allowed"},
	DropReqSize:       {"drop_req_size", "request: not 1078 bytes, so no netcode request"},
	DropReqVersion:    {"drop_req_version", "request: another version"},
	DropReqProtocol:   {"drop_req_protocol", "request: another protocol"},
	DropReqExpired:    {"drop_req_expired", "request: connect token has expired"},
	DropReqStart:      {"drop_req_start", "request: connect token issued before the server started"},
	DropReqLifetime:   {"drop_req_lifetime", "request: connect token lives longer than allowed"},
	DropReqPrefix:     {"drop_req_prefix", "request: too many from one network"},
	DropReqBudget:     {"drop_req_budget", "request: too many"},
	DropReqDeferred:   {"req_deferred", "request: deferred under load"},
	DropReqToken:      {"drop_req_token", "request: connect token is forged"},
	DropReqContent:    {"drop_req_content", "request: connect token cannot be read"},
	DropReqAddress:    {"drop_req_address", "request: connect token is for another server"},
	DropReqConnected:  {"drop_req_connected", "request: address is connected"},
	DropReqClient:     {"drop_req_client", "request: client is connected"},
	DropReqTokenUsed:  {"drop_req_token_used", "request: connect token was used"},
	DropTokenTable:    {"drop_token_table_full", "request: table of used connect tokens is full"},
	DropPending:       {"drop_pending_full", "request: table of handshakes is full"},
	DropFull:          {"conn_denied_full", "denied: server full"},
	DropClosing:       {"conn_denied_closing", "denied: server is closing"},
	DropUnknown:       {"drop_unknown", "datagram: no session at this address"},
	DropState:         {"drop_state", "datagram: not expected now"},
	DropRespConnected: {"drop_resp_connected", "response: address is connected"},
	DropTooOld:        {"drop_too_old", "datagram: sequence behind the replay window"},
	DropReplay:        {"drop_replay", "datagram: sequence received before"},
	DropAuth:          {"drop_auth", "datagram: does not open"},
	DropBody:          {"drop_body", "datagram: length of body not allowed"},
	DropRespToken:     {"drop_resp_token", "response: challenge is not ours"},
	DropRespClient:    {"drop_resp_client", "response: client is connected"},
	DropRate:          {"drop_session_rate", "datagram: session sends too many"},
	DropMigration:     {"migrations_refused", "path: session stays where it is"},
	DropSource:        {"drop_source", "datagram: not from our server"},
	DropPing:          {"drop_ping", "ping: too many, or the server is closing; or an answer to none"},
	DropHandOver:      {"drop_hand_over", "datagram: no room on the way to the worker of its session"},
}

// String returns the name of the reason's counter.
func (d Drop) String() string {
	if d >= NumDrops {
		return "invalid"
	}
	return drops[d].name
}

// Error says in a few words what was wrong. It never quotes the datagram.
func (d Drop) Error() string {
	if d >= NumDrops {
		return "invalid drop reason"
	}
	return drops[d].text
}
