// sqlite3_db_config is variadic, and Swift cannot call variadic C functions.
#include <sqlite3.h>

/// https://www.sqlite.org/c3ref/c_dbconfig_defensive.html#sqlitedbconfigdefensive
static inline int sqlite_set_defensive(void *connection, int enabled) {
  return sqlite3_db_config((sqlite3 *)connection, SQLITE_DBCONFIG_DEFENSIVE, enabled, (int *)0);
}

/// Lets SQL neither name the tokenizers of FTS3 and FTS4 by their addresses, nor tell these:
/// https://www.sqlite.org/c3ref/c_dbconfig_defensive.html#sqlitedbconfigenablefts3tokenizer
static inline int sqlite_forbid_tokenizer_addresses(void *connection) {
  return sqlite3_db_config(
      (sqlite3 *)connection, SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0, (int *)0);
}
