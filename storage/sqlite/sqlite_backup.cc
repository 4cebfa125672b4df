// The part of SqliteStore that copies it.
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"

#include "base/status_macros.h"
#include "storage/sqlite/blob_files.h"
#include "storage/sqlite/database.h"
#include "storage/sqlite/directory.h"
#include "storage/sqlite/restore.h"
#include "storage/sqlite/sqlite_store.h"
#include "storage/sqlite/status.h"

namespace hone::storage {
namespace {

namespace fs = std::filesystem;
using sqlite::Database;
using sqlite::Statement;

absl::Status MakeFolder(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  return error ? sqlite::StatusOfErrno(error.value(), "create", path)
               : absl::OkStatus();
}

}  // namespace

absl::StatusOr<BackupInfo> SqliteStore::Backup(absl::string_view name) {
  HONE_RETURN_IF_ERROR(CheckBackupName(name));
  // Nothing that the copied database refers to is removed meanwhile.
  absl::MutexLock lock(&maintenance_mu_);
  const std::string backups = directory_->path() + "/backups";
  BackupInfo info;
  info.path = absl::StrCat(backups, "/", name);
  if (fs::exists(info.path)) {
    return absl::AlreadyExistsError(
        absl::StrCat("backup '", info.path, "' exists already"));
  }
  // Names of backups do not begin with a dot.
  const std::string temporary = backups + "/.tmp";
  std::error_code error;
  fs::remove_all(temporary, error);
  HONE_RETURN_IF_ERROR(MakeFolder(temporary));
  absl::Cleanup remover = [&] { fs::remove_all(temporary, error); };

  {
    HONE_ASSIGN_OR_RETURN(const std::unique_ptr<Database> source,
                          Connect(/*writes=*/false));
    HONE_RETURN_IF_ERROR(source->CopyTo(temporary + "/hone.db"));
  }
  {
    HONE_ASSIGN_OR_RETURN(
        const std::unique_ptr<Database> copy,
        Database::Open(temporary + "/hone.db", Database::Mode::kReadOnly,
                       busy_timeout_, events_.get()));
    HONE_RETURN_IF_ERROR(copy->IntegrityCheck());
    HONE_ASSIGN_OR_RETURN(info.records,
                          copy->QueryInt("SELECT records FROM total"));
    HONE_ASSIGN_OR_RETURN(info.bytes,
                          copy->QueryInt("SELECT file_bytes FROM total"));
    HONE_ASSIGN_OR_RETURN(
        Statement files,
        copy->Prepare("SELECT digest FROM blob WHERE data IS NULL"));
    while (true) {
      HONE_ASSIGN_OR_RETURN(const bool found, files.Step());
      if (!found) break;
      HONE_RETURN_IF_ERROR(
          CountCorrupt(blob_files_->Link(files.Text(0), temporary)));
    }
  }
  info.bytes +=
      static_cast<int64_t>(fs::file_size(temporary + "/hone.db", error));
  HONE_RETURN_IF_ERROR(sqlite::SyncDirectory(temporary));
  if (std::rename(temporary.c_str(), info.path.c_str()) != 0) {
    return sqlite::StatusOfErrno(errno, "rename to", info.path);
  }
  std::move(remover).Cancel();
  HONE_RETURN_IF_ERROR(sqlite::SyncDirectory(backups));
  return info;
}

}  // namespace hone::storage
