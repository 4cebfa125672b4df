#include "daemon/services/open_uploads.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

#include "base/clock.h"
#include "daemon/errors.h"

namespace hone::daemon {

OpenUploads::OpenUploads(const LimitValues& limits, Metrics& metrics)
    : limits_(limits),
      used_(metrics.LimitUsed("max_uploads")),
      used_bytes_(metrics.LimitUsed("max_upload_bytes")),
      reaper_([this] { RunReaper(); }) {}

OpenUploads::~OpenUploads() {
  {
    absl::MutexLock lock(&mu_);
    stopping_ = true;
  }
  reaper_.join();
}

absl::StatusOr<std::unique_ptr<OpenUploads::Upload>> OpenUploads::Open(
    Ender end) {
  absl::MutexLock lock(&mu_);
  if (uploads_.size() >= static_cast<size_t>(limits_.max_uploads)) {
    return OverloadedAt("max_uploads",
                        absl::StrCat(uploads_.size(),
                                     " uploads are unfinished, expected fewer "
                                     "than ",
                                     limits_.max_uploads));
  }
  std::unique_ptr<Upload> upload(new Upload(*this, std::move(end)));
  upload->last_part_ = SystemClock().Monotonic();
  upload->place_ = uploads_.insert(uploads_.end(), upload.get());
  used_.Set(static_cast<double>(uploads_.size()));
  return upload;
}

OpenUploads::Upload::~Upload() {
  absl::MutexLock lock(&owner_.mu_);
  owner_.uploads_.erase(place_);
  owner_.bytes_ -= bytes_;
  owner_.used_.Set(static_cast<double>(owner_.uploads_.size()));
  owner_.used_bytes_.Set(static_cast<double>(owner_.bytes_));
}

absl::Status OpenUploads::Upload::Received(int64_t bytes) {
  absl::MutexLock lock(&owner_.mu_);
  last_part_ = SystemClock().Monotonic();
  if (owner_.bytes_ + bytes > owner_.limits_.max_upload_bytes) {
    return OverloadedAt(
        "max_upload_bytes",
        absl::StrCat("unfinished uploads hold ", owner_.bytes_,
                     " bytes, expected at most ",
                     owner_.limits_.max_upload_bytes, " with these ", bytes));
  }
  bytes_ += bytes;
  owner_.bytes_ += bytes;
  owner_.used_bytes_.Set(static_cast<double>(owner_.bytes_));
  return absl::OkStatus();
}

void OpenUploads::EndIdle() {
  absl::MutexLock lock(&mu_);
  const absl::Duration since = SystemClock().Monotonic() - limits_.upload_idle;
  for (const Upload* upload : uploads_) {
    if (upload->last_part_ > since) continue;
    upload->end_(AtLimit("upload_idle",
                         absl::StrCat("the upload has sent nothing for ",
                                      absl::FormatDuration(limits_.upload_idle),
                                      ", expected its next part sooner")));
  }
}

void OpenUploads::RunReaper() {
  const absl::Duration period =
      std::min(limits_.upload_idle / 4, absl::Seconds(5));
  while (true) {
    {
      absl::MutexLock lock(&mu_);
      if (mu_.AwaitWithTimeout(absl::Condition(&stopping_), period)) return;
    }
    EndIdle();
  }
}

}  // namespace hone::daemon
