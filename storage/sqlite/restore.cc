#include "storage/sqlite/restore.h"

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include <sys/stat.h>
#include <unistd.h>

#include "base/status_macros.h"
#include "storage/sqlite/blob_files.h"
#include "storage/sqlite/directory.h"
#include "storage/sqlite/sqlite_store.h"
#include "storage/sqlite/status.h"

namespace hone::storage {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxName = 64;

std::string MarkerOf(const std::string& directory) {
  return directory + "/restoring";
}

absl::Status Rename(const std::string& from, const std::string& to) {
  if (std::rename(from.c_str(), to.c_str()) == 0 || errno == ENOENT) {
    return absl::OkStatus();
  }
  return sqlite::StatusOfErrno(errno, "rename to", to);
}

// Gives `path`, and all in it, to the owner of `directory`: root may restore
// the store of another user, who must then be able to write it.
absl::Status GiveToOwnerOf(const std::string& directory,
                           const std::string& path) {
  struct stat owner = {};
  if (stat(directory.c_str(), &owner) != 0) {
    return sqlite::StatusOfErrno(errno, "read", directory);
  }
  if (owner.st_uid == geteuid()) return absl::OkStatus();
  std::error_code error;
  std::vector<std::string> paths = {path};
  for (auto it = fs::recursive_directory_iterator(path, error);
       it != fs::recursive_directory_iterator(); it.increment(error)) {
    paths.push_back(it->path().string());
  }
  for (const std::string& one : paths) {
    if (lchown(one.c_str(), owner.st_uid, owner.st_gid) != 0) {
      return sqlite::StatusOfErrno(errno, "change the owner of", one);
    }
  }
  return absl::OkStatus();
}

// Copies the backup to `staged`: the database, and links to its blobs.
absl::Status Stage(const std::string& backup, const std::string& staged) {
  std::error_code error;
  fs::remove_all(staged, error);
  fs::create_directories(staged, error);
  if (error) {
    return sqlite::StatusOfErrno(error.value(), "create", staged);
  }
  fs::copy_file(backup + "/hone.db", staged + "/hone.db", error);
  if (!error && fs::exists(backup + "/blobs", error)) {
    fs::copy(backup + "/blobs", staged + "/blobs",
             fs::copy_options::recursive | fs::copy_options::create_hard_links,
             error);
  }
  if (error) {
    return sqlite::StatusOfErrno(error.value(), "copy", backup);
  }
  return sqlite::SyncFile(staged + "/hone.db");
}

// Returns the number of records of a store without anything corrupt.
absl::StatusOr<int64_t> Verify(const std::string& staged) {
  SqliteOptions options;
  options.quick_check_limit = absl::InfiniteDuration();
  options.reserve_bytes = 0;
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<SqliteStore> store,
                        SqliteStore::Create(staged, options));
  HONE_RETURN_IF_ERROR(store->Health());
  std::string token;
  do {
    HONE_ASSIGN_OR_RETURN(const CheckPage page, store->Check(token));
    if (!page.corrupt.empty()) {
      const CorruptItem& item = page.corrupt.front();
      return absl::DataLossError(absl::StrCat("corrupt: ", item.table, " ",
                                              item.key, ": ", item.what));
    }
    token = page.next_page_token;
  } while (!token.empty());
  HONE_ASSIGN_OR_RETURN(const StoreStats stats, store->Stats());
  return stats.records;
}

}  // namespace

absl::Status CheckBackupName(absl::string_view name) {
  bool is_plain = !name.empty() && name.size() <= kMaxName && name[0] != '.';
  for (char c : name) {
    is_plain &= absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
                c == '.' || c == '_' || c == '-';
  }
  if (is_plain) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "backup name '", name, "', expected 1 to ", kMaxName,
      " letters, digits, '.', '_' and '-', not beginning with '.'"));
}

absl::Status sqlite::CheckRestored(const std::string& directory) {
  if (!fs::exists(MarkerOf(directory))) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("the restoration of '", directory,
                   "' was interrupted; run hone admin restore again"));
}

absl::StatusOr<RestoreInfo> RestoreBackup(const std::string& directory,
                                          absl::string_view name) {
  HONE_RETURN_IF_ERROR(CheckBackupName(name));
  const std::string backup = absl::StrCat(directory, "/backups/", name);
  if (!fs::exists(backup + "/hone.db")) {
    return absl::NotFoundError(absl::StrCat("no backup '", backup, "'"));
  }
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<sqlite::Directory> lock,
                        sqlite::Directory::Lock(directory));
  RestoreInfo info;
  const std::string staged = directory + "/restore.tmp";
  auto unstage = absl::MakeCleanup([&staged] {
    std::error_code ignored;
    fs::remove_all(staged, ignored);
  });
  HONE_RETURN_IF_ERROR(Stage(backup, staged));
  const absl::StatusOr<int64_t> records = Verify(staged);
  if (!records.ok()) {
    return absl::Status(
        records.status().code(),
        absl::StrCat("backup '", name, "': ", records.status().message()));
  }
  info.records = *records;
  HONE_RETURN_IF_ERROR(GiveToOwnerOf(directory, staged));

  info.replaced = absl::StrCat(
      directory, "/replaced-",
      absl::FormatTime("%Y%m%dT%H%M%E6SZ", absl::Now(), absl::UTCTimeZone()));
  std::error_code error;
  fs::create_directory(info.replaced, error);
  if (error) {
    return sqlite::StatusOfErrno(error.value(), "create", info.replaced);
  }
  HONE_RETURN_IF_ERROR(GiveToOwnerOf(directory, info.replaced));
  // From here on an interrupted restoration is run again.
  std::move(unstage).Cancel();
  const std::string marker = MarkerOf(directory);
  std::ofstream(marker) << name << "\n";
  HONE_RETURN_IF_ERROR(sqlite::SyncFile(marker));
  HONE_RETURN_IF_ERROR(sqlite::SyncDirectory(directory));
  for (const char* part :
       {"/hone.db", "/hone.db-wal", "/hone.db-shm", "/blobs"}) {
    HONE_RETURN_IF_ERROR(Rename(directory + part, info.replaced + part));
  }
  for (const char* part : {"/hone.db", "/blobs"}) {
    HONE_RETURN_IF_ERROR(Rename(staged + part, directory + part));
  }
  HONE_RETURN_IF_ERROR(sqlite::SyncDirectory(info.replaced));
  HONE_RETURN_IF_ERROR(sqlite::SyncDirectory(directory));
  fs::remove_all(staged, error);
  fs::remove(marker, error);
  HONE_RETURN_IF_ERROR(sqlite::SyncDirectory(directory));
  return info;
}

}  // namespace hone::storage
