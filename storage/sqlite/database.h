#ifndef HONE_STORAGE_SQLITE_DATABASE_H_
#define HONE_STORAGE_SQLITE_DATABASE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/node_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

struct sqlite3;
struct sqlite3_stmt;

namespace hone::storage::sqlite {

// Counters shared by all connections of a store.
struct Events {
  std::atomic<int64_t> corrupt{0};
};

// A running statement with bound parameters. Returns to its connection's cache
// when destroyed.
//
// Threads: as its Database.
class Statement {
 public:
  Statement(Statement&& other) noexcept;
  Statement& operator=(Statement&&) = delete;
  ~Statement();

  // Binds ?1, ?2, … in order: integers, double (NaN becomes NULL), text,
  // std::optional of these. Copies the values. Step returns the errors.
  template <typename... Values>
  Statement& Bind(const Values&... values) {
    int index = 0;
    (BindOne(++index, values), ...);
    return *this;
  }
  // Binds ?`index` to bytes.
  Statement& BindBlob(int index, absl::string_view bytes);

  // Advances to the next row. Returns false at the end.
  absl::StatusOr<bool> Step();
  // Starts again with another ?1.
  void Restart(int64_t first);
  // Runs a statement that returns no rows.
  absl::Status Run();

  // Columns of the current row, from 0. NULL reads as 0, NaN and "".
  bool IsNull(int column) const;
  int64_t Int(int column) const;
  double Real(int column) const;
  std::string Text(int column) const;

  // Counts the current row as corrupt.
  void CountCorruptRow() const;
  // The same; returns DataLoss, naming `table`.
  absl::Status CorruptRow(absl::string_view table) const;

 private:
  friend class Database;
  Statement(class Database* database, absl::string_view sql,
            sqlite3_stmt* statement)
      : database_(database), sql_(sql), statement_(statement) {}

  void BindOne(int index, int64_t value);
  void BindOne(int index, double value);
  void BindOne(int index, absl::string_view value);
  template <typename T>
  void BindOne(int index, const std::optional<T>& value) {
    // A parameter that is not bound is NULL.
    if (value) BindOne(index, *value);
  }
  void Latch(int code);

  Database* database_;
  absl::string_view sql_;
  sqlite3_stmt* statement_;
  int bind_error_ = 0;
};

// A connection to a database file.
//
// Threads: one thread at a time.
class Database {
 public:
  enum class Mode {
    // Creates the file when missing; WAL, synchronous=FULL; checkpoints.
    kReadWrite,
    // Never changes the file, never checkpoints.
    kReadOnly,
  };

  // `events` outlives the connection.
  // Errors: DataLoss if the file is no database; Unavailable if it cannot be
  // opened.
  static absl::StatusOr<std::unique_ptr<Database>> Open(
      const std::string& path, Mode mode, absl::Duration busy_timeout,
      Events* events);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // Returns a statement ready to be bound. Prepared statements are kept, by
  // their `sql`, of which a program has a bounded number.
  absl::StatusOr<Statement> Prepare(absl::string_view sql);
  // Runs a script without parameters and without results.
  absl::Status Execute(const std::string& script);
  // Returns the first column of the first row of a query without parameters.
  absl::StatusOr<int64_t> QueryInt(absl::string_view sql);

  // The number of rows that the last INSERT, UPDATE or DELETE changed.
  int64_t changes() const;
  // Returns false after SQLite has rolled a transaction back by itself.
  bool in_transaction() const;

  // Copies the database, as it is at this moment, to a new file at `path`, and
  // syncs it. Others can write meanwhile, to a log that grows.
  absl::Status CopyTo(const std::string& path);

  // Runs PRAGMA integrity_check. Errors: DataLoss with the first finding.
  absl::Status IntegrityCheck();
  // Runs PRAGMA quick_check for at most `limit`; a timeout is OK. A value that
  // its column cannot have is counted as corrupt and is no error.
  // Errors: DataLoss with the first finding about the file's structure.
  absl::Status QuickCheck(absl::Duration limit);

 private:
  friend class Statement;
  Database(sqlite3* handle, Events* events)
      : handle_(handle), events_(events) {}

  absl::Status Configure(Mode mode, absl::Duration busy_timeout);
  // Returns the status of a failed call and counts it if it is corruption.
  absl::Status Error(int code, absl::string_view doing);
  void Recycle(absl::string_view sql, sqlite3_stmt* statement);

  sqlite3* handle_;
  Events* events_;
  // Statements not in use, by SQL. Keys stay where they are: a Statement holds
  // a view of its key.
  absl::node_hash_map<std::string, std::vector<sqlite3_stmt*>> idle_;
};

// BEGIN IMMEDIATE; rolls back unless committed.
class Transaction {
 public:
  static absl::StatusOr<Transaction> Begin(Database& database);
  Transaction(Transaction&& other) noexcept;
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();

  absl::Status Commit();

 private:
  explicit Transaction(Database& database) : database_(&database) {}

  Database* database_;  // null if there is nothing to roll back
};

}  // namespace hone::storage::sqlite

#endif  // HONE_STORAGE_SQLITE_DATABASE_H_
