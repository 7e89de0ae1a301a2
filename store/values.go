package store

import (
	"fmt"
	"math"
	"time"

	"zombiezen.com/go/sqlite"
)

// bind gives a statement one of its values, which are counted from 1.
func bind(stmt *sqlite.Stmt, n int, value any) error {
	switch v := value.(type) {
	case nil:
		stmt.BindNull(n)
	case int:
		stmt.BindInt64(n, int64(v))
	case int64:
		stmt.BindInt64(n, v)
	case float64:
		stmt.BindFloat(n, v)
	case bool:
		stmt.BindBool(n, v)
	case string:
		stmt.BindText(n, v)
	case []byte:
		if v == nil {
			stmt.BindNull(n)
		} else {
			stmt.BindBytes(n, v)
		}
	default:
		return fmt.Errorf("value %d is a %T, which the store does not know", n, value)
	}
	return nil
}

// A scanner is a row.
type scanner interface{ Scan(dest ...any) error }

// A row is the one that its statement stands on.
type row struct{ stmt *sqlite.Stmt }

// Scan reads the columns from the first on. What is NULL becomes the zero value, and an empty blob nil.
func (r row) Scan(dest ...any) error {
	if n := r.stmt.ColumnCount(); n != len(dest) {
		return fmt.Errorf("a row of %d columns is read into %d values", n, len(dest))
	}
	for i, d := range dest {
		switch d := d.(type) {
		case *int:
			*d = r.stmt.ColumnInt(i)
		case *int64:
			*d = r.stmt.ColumnInt64(i)
		case *bool:
			*d = r.stmt.ColumnBool(i)
		case *string:
			*d = r.stmt.ColumnText(i)
		case *[]byte:
			*d = nil
			if size := r.stmt.ColumnLen(i); size > 0 {
				*d = make([]byte, size)
				r.stmt.ColumnBytes(i, *d)
			}
		case *any:
			*d = r.any(i)
		default:
			return fmt.Errorf("column %d is read into a %T, which the store does not know", i, d)
		}
	}
	return nil
}

// any is a column as it is.
func (r row) any(i int) (value any) {
	switch r.stmt.ColumnType(i) {
	case sqlite.TypeNull:
	case sqlite.TypeInteger:
		return r.stmt.ColumnInt64(i)
	case sqlite.TypeFloat:
		return r.stmt.ColumnFloat(i)
	case sqlite.TypeText:
		return r.stmt.ColumnText(i)
	case sqlite.TypeBlob:
		body := make([]byte, r.stmt.ColumnLen(i))
		r.stmt.ColumnBytes(i, body)
		return body
	}
	return nil
}

// only scans a row of one column.
func only[T any](row scanner, v *T) error { return row.Scan(v) }

// list is a list of values to bind, for the calls that take one.
func list(args ...any) []any { return args }

// nanos is how times are kept. What a caller asks for may lie in any of ten thousand years,
// and nanoseconds have some six hundred.
func nanos(t time.Time) int64 {
	switch {
	case t.IsZero():
		return 0
	case t.Before(time.Unix(0, math.MinInt64)):
		return math.MinInt64
	case t.After(time.Unix(0, math.MaxInt64)):
		return math.MaxInt64
	}
	return t.UnixNano()
}

func instant(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}

// mostAhead is more than the longest pause between two tries of anything.
const mostAhead = 15 * time.Minute

// due is when something is to be tried. What lies further ahead than any pause was put off by a clock
// that has been put back since, and is due now.
func (s *Store) due(n int64) time.Time {
	at := instant(n)
	if now := s.now(); at.Sub(now) > mostAhead {
		return now
	}
	return at
}

// blob makes nothing an empty value: SQLite would take a nil slice for NULL.
func blob(body []byte) []byte {
	if body == nil {
		return []byte{}
	}
	return body
}
