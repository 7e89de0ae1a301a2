-- By these the rows are found that are too many, of other agents and of the user each. What
-- tells of a file is kept as long as messages may name it.
CREATE INDEX inbox_of_peers ON inbox (n) WHERE state IN ('done', 'dead', 'drained') AND peer <> '';
CREATE INDEX inbox_of_user ON inbox (n) WHERE state IN ('done', 'dead', 'drained') AND peer = '' AND uri = '';
CREATE INDEX inbox_replies_to_peers ON inbox_replies (n) WHERE state IN ('sent', 'dead') AND peer <> '';
CREATE INDEX inbox_replies_to_user ON inbox_replies (n) WHERE state IN ('sent', 'dead') AND peer = '';
