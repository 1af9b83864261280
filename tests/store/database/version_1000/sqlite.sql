CREATE TABLE image ( "row" INTEGER NOT NULL, image TEXT NOT NULL, path TEXT NOT NULL, item TEXT NOT NULL, category TEXT NOT NULL, role TEXT NOT NULL, split TEXT NOT NULL, position INTEGER NOT NULL, digest TEXT NOT NULL, width INTEGER NOT NULL, height INTEGER NOT NULL, columns TEXT NOT NULL, duplicate INTEGER DEFAULT '-1' NOT NULL, PRIMARY KEY ("row"), UNIQUE (image) )
CREATE TABLE signature ( digest TEXT NOT NULL, signature BLOB NOT NULL, PRIMARY KEY (digest) )
CREATE TABLE left_out ( position INTEGER NOT NULL, image TEXT NOT NULL, path TEXT NOT NULL, reason TEXT NOT NULL, PRIMARY KEY (position) )
CREATE TABLE label ( id INTEGER NOT NULL, "query" TEXT NOT NULL, candidate TEXT NOT NULL, label INTEGER NOT NULL, source TEXT NOT NULL, PRIMARY KEY (id), UNIQUE ("query", candidate, label) )
CREATE TABLE pool ( id INTEGER NOT NULL, top INTEGER NOT NULL, generators TEXT NOT NULL, PRIMARY KEY (id) )
CREATE TABLE pool_query ( place INTEGER NOT NULL, "query" TEXT NOT NULL, PRIMARY KEY (place) )
CREATE TABLE pool_pair ( pair INTEGER NOT NULL, "query" TEXT NOT NULL, item TEXT NOT NULL, candidate TEXT NOT NULL, PRIMARY KEY (pair), UNIQUE ("query", item) )
CREATE TABLE random_pair ( place INTEGER NOT NULL, "query" TEXT NOT NULL, item TEXT NOT NULL, candidate TEXT NOT NULL, PRIMARY KEY (place), UNIQUE ("query", item) )
CREATE TABLE campaign ( name TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (name) )
CREATE TABLE annotator ( id INTEGER NOT NULL, name TEXT NOT NULL, folded TEXT NOT NULL, role TEXT NOT NULL, password TEXT DEFAULT '' NOT NULL, epoch INTEGER DEFAULT '0' NOT NULL, created BIGINT NOT NULL, removed BIGINT, answers INTEGER DEFAULT '0' NOT NULL, last BIGINT, PRIMARY KEY (id), UNIQUE (folded) )
CREATE TABLE question ( id INTEGER NOT NULL, place BIGINT NOT NULL, "query" TEXT NOT NULL, candidate TEXT NOT NULL, low TEXT NOT NULL, high TEXT NOT NULL, both INTEGER DEFAULT '0' NOT NULL, item TEXT NOT NULL, category TEXT DEFAULT '' NOT NULL, kind TEXT NOT NULL, needed INTEGER NOT NULL, free INTEGER NOT NULL, takers TEXT DEFAULT '' NOT NULL, state TEXT DEFAULT 'open' NOT NULL, label INTEGER, resolves_at BIGINT, changed BIGINT NOT NULL, PRIMARY KEY (id), UNIQUE (low, high) )
CREATE INDEX question_open ON question (place) WHERE free > 0
CREATE INDEX question_state ON question (state, changed)
CREATE INDEX question_takers ON question (takers, place) WHERE free > 0
CREATE INDEX question_due ON question (resolves_at) WHERE resolves_at IS NOT NULL
CREATE TABLE example ( id INTEGER NOT NULL, "query" TEXT NOT NULL, candidate TEXT NOT NULL, label INTEGER NOT NULL, note TEXT DEFAULT '' NOT NULL, place INTEGER DEFAULT '0' NOT NULL, PRIMARY KEY (id) )
CREATE TABLE tally ( category TEXT NOT NULL, pattern TEXT NOT NULL, questions INTEGER NOT NULL, PRIMARY KEY (category, pattern) )
CREATE TABLE progress ( kind TEXT NOT NULL, state TEXT NOT NULL, questions INTEGER NOT NULL, PRIMARY KEY (kind, state) )
CREATE TABLE pool_source ( id INTEGER NOT NULL, pair INTEGER NOT NULL, generator TEXT NOT NULL, rank INTEGER NOT NULL, score FLOAT NOT NULL, PRIMARY KEY (id), FOREIGN KEY(pair) REFERENCES pool_pair (pair) )
CREATE INDEX pool_source_pair ON pool_source (pair)
CREATE TABLE invite ( id INTEGER NOT NULL, digest TEXT NOT NULL, purpose TEXT NOT NULL, role TEXT NOT NULL, annotator INTEGER, "by" INTEGER, at BIGINT NOT NULL, until BIGINT NOT NULL, used BIGINT, PRIMARY KEY (id), UNIQUE (digest), FOREIGN KEY(annotator) REFERENCES annotator (id), FOREIGN KEY("by") REFERENCES annotator (id) )
CREATE TABLE api_token ( id INTEGER NOT NULL, annotator INTEGER NOT NULL, digest TEXT NOT NULL, name TEXT NOT NULL, at BIGINT NOT NULL, revoked BIGINT, PRIMARY KEY (id), FOREIGN KEY(annotator) REFERENCES annotator (id), UNIQUE (digest) )
CREATE TABLE audit ( id INTEGER NOT NULL, at BIGINT NOT NULL, annotator INTEGER, action TEXT NOT NULL, subject TEXT DEFAULT '' NOT NULL, address TEXT DEFAULT '' NOT NULL, PRIMARY KEY (id), FOREIGN KEY(annotator) REFERENCES annotator (id) )
CREATE INDEX audit_at ON audit (at)
CREATE TRIGGER audit_no_update BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'audit is append-only'); END
CREATE TRIGGER audit_no_delete BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'audit is append-only'); END
CREATE TABLE claim ( question INTEGER NOT NULL, annotator INTEGER NOT NULL, kind TEXT NOT NULL, answer TEXT DEFAULT '' NOT NULL, token TEXT NOT NULL, side INTEGER NOT NULL, since BIGINT NOT NULL, until BIGINT NOT NULL, PRIMARY KEY (question, annotator), FOREIGN KEY(question) REFERENCES question (id), FOREIGN KEY(annotator) REFERENCES annotator (id) )
CREATE INDEX claim_lease ON claim (until) WHERE kind = 'lease'
CREATE INDEX claim_mine ON claim (annotator, kind, since)
CREATE TABLE vote ( id INTEGER NOT NULL, question INTEGER NOT NULL, annotator INTEGER NOT NULL, answer TEXT NOT NULL, place INTEGER NOT NULL, side INTEGER NOT NULL, at BIGINT NOT NULL, took INTEGER DEFAULT '0' NOT NULL, token TEXT NOT NULL, PRIMARY KEY (id), FOREIGN KEY(question) REFERENCES question (id), FOREIGN KEY(annotator) REFERENCES annotator (id), UNIQUE (token) )
CREATE INDEX vote_on ON vote (question)
CREATE INDEX vote_of ON vote (annotator, id)
CREATE TRIGGER vote_no_update BEFORE UPDATE ON vote BEGIN SELECT RAISE(ABORT, 'vote is append-only'); END
CREATE TRIGGER vote_no_delete BEFORE DELETE ON vote BEGIN SELECT RAISE(ABORT, 'vote is append-only'); END
CREATE TABLE hidden_check ( id INTEGER NOT NULL, annotator INTEGER NOT NULL, question INTEGER NOT NULL, kind TEXT NOT NULL, turn INTEGER NOT NULL, due INTEGER NOT NULL, token TEXT, side INTEGER DEFAULT '0' NOT NULL, since BIGINT, answer TEXT DEFAULT '' NOT NULL, at BIGINT, took INTEGER DEFAULT '0' NOT NULL, PRIMARY KEY (id), UNIQUE (annotator, question, kind, turn), FOREIGN KEY(annotator) REFERENCES annotator (id), FOREIGN KEY(question) REFERENCES question (id), UNIQUE (token) )
CREATE INDEX check_due ON hidden_check (annotator, answer, due)
CREATE TABLE gold ( question INTEGER NOT NULL, answer TEXT NOT NULL, note TEXT DEFAULT '' NOT NULL, "by" INTEGER, at BIGINT NOT NULL, PRIMARY KEY (question), FOREIGN KEY(question) REFERENCES question (id), FOREIGN KEY("by") REFERENCES annotator (id) )
CREATE TABLE comment ( id INTEGER NOT NULL, question INTEGER NOT NULL, annotator INTEGER NOT NULL, text TEXT NOT NULL, at BIGINT NOT NULL, token TEXT NOT NULL, PRIMARY KEY (id), FOREIGN KEY(question) REFERENCES question (id), FOREIGN KEY(annotator) REFERENCES annotator (id), UNIQUE (token) )
CREATE INDEX comment_on ON comment (question)
CREATE TRIGGER comment_no_update BEFORE UPDATE ON comment BEGIN SELECT RAISE(ABORT, 'comment is append-only'); END
CREATE TRIGGER comment_no_delete BEFORE DELETE ON comment BEGIN SELECT RAISE(ABORT, 'comment is append-only'); END
CREATE TABLE verdict ( id INTEGER NOT NULL, question INTEGER NOT NULL, annotator INTEGER NOT NULL, kind TEXT NOT NULL, verdict TEXT NOT NULL, at BIGINT NOT NULL, PRIMARY KEY (id), FOREIGN KEY(question) REFERENCES question (id), FOREIGN KEY(annotator) REFERENCES annotator (id) )
CREATE INDEX verdict_on ON verdict (question)
CREATE TRIGGER verdict_no_update BEFORE UPDATE ON verdict BEGIN SELECT RAISE(ABORT, 'verdict is append-only'); END
CREATE TRIGGER verdict_no_delete BEFORE DELETE ON verdict BEGIN SELECT RAISE(ABORT, 'verdict is append-only'); END
CREATE TABLE guideline ( id INTEGER NOT NULL, text TEXT NOT NULL, annotator INTEGER, at BIGINT NOT NULL, PRIMARY KEY (id), FOREIGN KEY(annotator) REFERENCES annotator (id) )
CREATE TABLE pace ( annotator INTEGER NOT NULL, hour INTEGER NOT NULL, answers INTEGER NOT NULL, active INTEGER NOT NULL, PRIMARY KEY (annotator, hour), FOREIGN KEY(annotator) REFERENCES annotator (id) )
CREATE TABLE lease ( token TEXT NOT NULL, annotator INTEGER NOT NULL, question INTEGER NOT NULL, hidden_check INTEGER, side INTEGER NOT NULL, at BIGINT NOT NULL, PRIMARY KEY (token), FOREIGN KEY(annotator) REFERENCES annotator (id), FOREIGN KEY(question) REFERENCES question (id), FOREIGN KEY(hidden_check) REFERENCES hidden_check (id) ON DELETE CASCADE )
CREATE INDEX lease_check ON lease (hidden_check) WHERE hidden_check IS NOT NULL
CREATE TABLE alembic_version ( version_num VARCHAR(32) NOT NULL, CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num) )
INSERT INTO alembic_version VALUES ('1000')
