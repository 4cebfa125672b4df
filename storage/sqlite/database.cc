#include "storage/sqlite/database.h"

#include <cerrno>
#include <limits>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include <sqlite3.h>

#include "base/status_macros.h"
#include "storage/sqlite/blob_files.h"
#include "storage/sqlite/status.h"

namespace hone::storage::sqlite {
namespace {

// 3.40.1 is what Debian 12 has; STRICT tables need 3.37.
constexpr int kMinVersion = 3037000;

constexpr char kWriterSetup[] =
    "PRAGMA journal_mode = WAL;"
    "PRAGMA synchronous = FULL;"
    "PRAGMA foreign_keys = ON;"
    "PRAGMA trusted_schema = OFF;"
    "PRAGMA mmap_size = 0;"
    // A log that one long reader made large does not stay so.
    "PRAGMA journal_size_limit = 67108864;";
constexpr char kReaderSetup[] =
    "PRAGMA query_only = ON;"
    "PRAGMA wal_autocheckpoint = 0;"
    "PRAGMA trusted_schema = OFF;"
    "PRAGMA mmap_size = 0;";

}  // namespace

// ---- Statement

Statement::Statement(Statement&& other) noexcept
    : database_(other.database_),
      sql_(other.sql_),
      statement_(std::exchange(other.statement_, nullptr)),
      bind_error_(other.bind_error_) {}

Statement::~Statement() {
  if (statement_ != nullptr) database_->Recycle(sql_, statement_);
}

void Statement::Latch(int code) {
  if (code != SQLITE_OK && bind_error_ == SQLITE_OK) bind_error_ = code;
}

void Statement::BindOne(int index, int64_t value) {
  Latch(sqlite3_bind_int64(statement_, index, value));
}

void Statement::BindOne(int index, double value) {
  Latch(sqlite3_bind_double(statement_, index, value));
}

void Statement::BindOne(int index, absl::string_view value) {
  Latch(sqlite3_bind_text64(statement_, index,
                            value.data() == nullptr ? "" : value.data(),
                            value.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
}

Statement& Statement::BindBlob(int index, absl::string_view bytes) {
  Latch(sqlite3_bind_blob64(statement_, index,
                            bytes.data() == nullptr ? "" : bytes.data(),
                            bytes.size(), SQLITE_TRANSIENT));
  return *this;
}

absl::StatusOr<bool> Statement::Step() {
  if (bind_error_ != SQLITE_OK) return database_->Error(bind_error_, "bind");
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return database_->Error(code, "run");
}

void Statement::Restart(int64_t first) {
  sqlite3_reset(statement_);
  BindOne(1, first);
}

absl::Status Statement::Run() { return Step().status(); }

bool Statement::IsNull(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

int64_t Statement::Int(int column) const {
  return sqlite3_column_int64(statement_, column);
}

double Statement::Real(int column) const {
  return IsNull(column) ? std::numeric_limits<double>::quiet_NaN()
                        : sqlite3_column_double(statement_, column);
}

std::string Statement::Text(int column) const {
  const auto* bytes =
      static_cast<const char*>(sqlite3_column_blob(statement_, column));
  if (bytes == nullptr) return "";
  return {bytes, static_cast<size_t>(sqlite3_column_bytes(statement_, column))};
}

void Statement::CountCorruptRow() const { ++database_->events_->corrupt; }

absl::Status Statement::CorruptRow(absl::string_view table) const {
  CountCorruptRow();
  return absl::DataLossError(
      absl::StrCat("database: corrupt row of table ", table));
}

// ---- Database

absl::StatusOr<std::unique_ptr<Database>> Database::Open(
    const std::string& path, Mode mode, absl::Duration busy_timeout,
    Events* events) {
  if (sqlite3_libversion_number() < kMinVersion || sqlite3_threadsafe() == 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("SQLite ", sqlite3_libversion(),
                     ", expected 3.37 or later, built thread-safe"));
  }
  sqlite3* handle = nullptr;
  const int flags =
      (mode == Mode::kReadWrite ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
                                : SQLITE_OPEN_READONLY) |
      SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  const int code = sqlite3_open_v2(path.c_str(), &handle, flags, nullptr);
  if (handle == nullptr) {
    return absl::ResourceExhaustedError("no memory for a connection");
  }
  std::unique_ptr<Database> database(new Database(handle, events));
  if (code != SQLITE_OK) {
    return database->Error(code, absl::StrCat("open '", path, "'"));
  }
  // SQLite then opens it for reading, and the first change would fail.
  if (mode == Mode::kReadWrite && sqlite3_db_readonly(handle, "main") == 1) {
    return absl::UnavailableError(absl::StrCat(
        "'", path, "' cannot be written, expected a file of this user"));
  }
  HONE_RETURN_IF_ERROR(database->Configure(mode, busy_timeout));
  return database;
}

absl::Status Database::Configure(Mode mode, absl::Duration busy_timeout) {
  sqlite3_busy_timeout(
      handle_, static_cast<int>(absl::ToInt64Milliseconds(busy_timeout)));
  if (mode == Mode::kReadWrite) return Execute(kWriterSetup);
  const int code =
      sqlite3_db_config(handle_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  if (code != SQLITE_OK) return Error(code, "configure");
  return Execute(kReaderSetup);
}

Database::~Database() {
  for (auto& [_, statements] : idle_) {
    for (sqlite3_stmt* statement : statements) sqlite3_finalize(statement);
  }
  sqlite3_close_v2(handle_);
}

absl::Status Database::Error(int code, absl::string_view doing) {
  // SQLite does not note the reason of every failed write (not that of a
  // commit); errno is then what the failed call left.
  const int last_error = errno;
  const int noted_error = sqlite3_system_errno(handle_);
  const bool is_io = (code & 0xff) == SQLITE_IOERR;
  absl::Status status = StatusOfCode(
      code,
      noted_error != 0 ? noted_error
      : is_io          ? last_error
                       : 0,
      absl::StrCat("database: cannot ", doing, ": ", sqlite3_errmsg(handle_)));
  if (absl::IsDataLoss(status)) ++events_->corrupt;
  return status;
}

absl::StatusOr<Statement> Database::Prepare(absl::string_view sql) {
  // An own copy of the text: a query that is put together is gone before its
  // statement is.
  auto& [key, idle] = *idle_.try_emplace(sql).first;
  if (!idle.empty()) {
    sqlite3_stmt* statement = idle.back();
    idle.pop_back();
    return Statement(this, key, statement);
  }
  sqlite3_stmt* statement = nullptr;
  const int code =
      sqlite3_prepare_v3(handle_, sql.data(), static_cast<int>(sql.size()),
                         SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (code != SQLITE_OK) return Error(code, "prepare");
  return Statement(this, key, statement);
}

void Database::Recycle(absl::string_view sql, sqlite3_stmt* statement) {
  sqlite3_reset(statement);
  sqlite3_clear_bindings(statement);
  idle_[sql].push_back(statement);
}

absl::Status Database::Execute(const std::string& script) {
  const int code =
      sqlite3_exec(handle_, script.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return Error(code, "run");
  return absl::OkStatus();
}

absl::StatusOr<int64_t> Database::QueryInt(absl::string_view sql) {
  HONE_ASSIGN_OR_RETURN(Statement statement, Prepare(sql));
  HONE_ASSIGN_OR_RETURN(const bool found, statement.Step());
  return found ? statement.Int(0) : 0;
}

int64_t Database::changes() const { return sqlite3_changes64(handle_); }

bool Database::in_transaction() const {
  return sqlite3_get_autocommit(handle_) == 0;
}

absl::Status Database::CopyTo(const std::string& path) {
  sqlite3* handle = nullptr;
  const int opened =
      sqlite3_open_v2(path.c_str(), &handle,
                      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE |
                          SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE,
                      nullptr);
  if (handle == nullptr) {
    return absl::ResourceExhaustedError("no memory for a connection");
  }
  Database copy(handle, events_);
  if (opened != SQLITE_OK) {
    return copy.Error(opened, absl::StrCat("open '", path, "'"));
  }
  // Synced as a whole, below.
  HONE_RETURN_IF_ERROR(copy.Execute("PRAGMA synchronous = OFF"));
  // A transaction, so that all steps copy from one snapshot.
  HONE_RETURN_IF_ERROR(Execute("BEGIN"));
  const auto end =
      absl::MakeCleanup([this] { Execute("ROLLBACK").IgnoreError(); });
  HONE_RETURN_IF_ERROR(QueryInt("SELECT COUNT(*) FROM sqlite_schema").status());
  sqlite3_backup* backup = sqlite3_backup_init(handle, "main", handle_, "main");
  if (backup == nullptr) return copy.Error(sqlite3_errcode(handle), "copy");
  constexpr int kPages = 256;
  int code = SQLITE_OK;
  while (code == SQLITE_OK) code = sqlite3_backup_step(backup, kPages);
  const int finished = sqlite3_backup_finish(backup);
  if (code != SQLITE_DONE) return copy.Error(code, "copy");
  if (finished != SQLITE_OK) return copy.Error(finished, "copy");
  // One file, without a log of its own.
  HONE_RETURN_IF_ERROR(copy.Execute("PRAGMA journal_mode = DELETE"));
  return SyncFile(path);
}

absl::Status Database::IntegrityCheck() {
  HONE_ASSIGN_OR_RETURN(Statement statement,
                        Prepare("PRAGMA integrity_check(1)"));
  HONE_ASSIGN_OR_RETURN(const bool found, statement.Step());
  const std::string finding = found ? statement.Text(0) : "no result";
  if (finding == "ok") return absl::OkStatus();
  ++events_->corrupt;
  return absl::DataLossError(absl::StrCat(
      "database is corrupt: ", absl::StrReplaceAll(finding, {{"\n", " "}})));
}

absl::Status Database::QuickCheck(absl::Duration limit) {
  absl::Time deadline = absl::Now() + limit;
  // Each may read a page from a slow disk.
  constexpr int kInstructionsBetweenLooks = 1000;
  sqlite3_progress_handler(
      handle_, kInstructionsBetweenLooks,
      [](void* argument) {
        return absl::Now() > *static_cast<absl::Time*>(argument) ? 1 : 0;
      },
      &deadline);
  const auto check = [&]() -> absl::Status {
    HONE_ASSIGN_OR_RETURN(Statement statement,
                          Prepare("PRAGMA quick_check(1)"));
    HONE_ASSIGN_OR_RETURN(const bool found, statement.Step());
    if (const std::string finding = found ? statement.Text(0) : "ok";
        finding != "ok") {
      ++events_->corrupt;
      // Findings about the structure come first.
      if (!absl::StartsWith(finding, "***")) return absl::OkStatus();
      return absl::DataLossError(
          absl::StrCat("database is corrupt: ",
                       absl::StrReplaceAll(finding, {{"\n", " "}})));
    }
    return absl::OkStatus();
  };
  absl::Status status = check();
  sqlite3_progress_handler(handle_, 0, nullptr, nullptr);
  if (absl::IsDeadlineExceeded(status)) return absl::OkStatus();
  return status;
}

// ---- Transaction

absl::StatusOr<Transaction> Transaction::Begin(Database& database) {
  HONE_ASSIGN_OR_RETURN(Statement begin, database.Prepare("BEGIN IMMEDIATE"));
  HONE_RETURN_IF_ERROR(begin.Run());
  return Transaction(database);
}

Transaction::Transaction(Transaction&& other) noexcept
    : database_(std::exchange(other.database_, nullptr)) {}

Transaction::~Transaction() {
  // Some errors have rolled back already.
  if (database_ != nullptr && database_->in_transaction()) {
    database_->Execute("ROLLBACK").IgnoreError();
  }
}

absl::Status Transaction::Commit() {
  HONE_ASSIGN_OR_RETURN(Statement commit, database_->Prepare("COMMIT"));
  HONE_RETURN_IF_ERROR(commit.Run());
  database_ = nullptr;
  return absl::OkStatus();
}

}  // namespace hone::storage::sqlite
