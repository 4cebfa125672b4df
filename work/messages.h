#ifndef HONE_WORK_MESSAGES_H_
#define HONE_WORK_MESSAGES_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "google/rpc/status.pb.h"

#include "hone/internal/work.pb.h"
#include "hone/v1/record.pb.h"
#include "space/trial.h"
#include "storage/record.h"
#include "tuning/search.h"

// Conversions between the types of a tuning and the messages of work.proto.
namespace hone::work {

void ToProto(const storage::CacheKey& key, v1::CacheKey& proto);
storage::CacheKey FromProto(const v1::CacheKey& proto);

void ToProto(const storage::Verification& verification,
             v1::Verification& proto);
storage::Verification FromProto(const v1::Verification& proto);

void ToProto(const space::Trial& trial, internal::Trial& proto);
space::Trial FromProto(const internal::Trial& proto);

void ToProto(const tuning::SearchJob& job, internal::Search& proto);
tuning::SearchJob FromProto(const internal::Search& proto);

void ToProto(const tuning::Progress& progress, internal::Progress& proto);
tuning::Progress FromProto(const internal::Progress& proto);

void ToProto(const tuning::Found& found, internal::Found& proto);
tuning::Found FromProto(const internal::Found& proto);

// Code and message; nothing for OK.
void ToProto(const absl::Status& status, google::rpc::Status& proto);
absl::Status FromProto(const google::rpc::Status& proto);

}  // namespace hone::work

#endif  // HONE_WORK_MESSAGES_H_
