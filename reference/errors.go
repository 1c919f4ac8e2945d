package reference

// APIError is an error that an API server answers with.
type APIError string

// The errors.
const (
	NotFound      APIError = "NotFound"      // 404
	Conflict      APIError = "Conflict"      // 409
	InternalError APIError = "InternalError" // 500
	Timeout       APIError = "Timeout"       // 504
)
