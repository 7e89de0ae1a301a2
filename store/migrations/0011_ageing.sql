-- How old what is kept has grown: at is the time by which it is as old as it is, and wall what the clock
-- said when that was noted.
CREATE TABLE ageing (
  one  INTEGER PRIMARY KEY CHECK (one = 1),
  wall INTEGER NOT NULL,
  at   INTEGER NOT NULL
);
