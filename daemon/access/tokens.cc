#include "daemon/access/tokens.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include <sys/stat.h>

#include "base/excerpt.h"
#include "base/hash.h"

namespace hone::daemon {
namespace {

constexpr size_t kDigestLength = 64;

bool IsDigest(absl::string_view text) {
  return text.size() == kDigestLength &&
         std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return absl::ascii_isxdigit(c); });
}

// `a` and `b` are of the same length.
bool EqualInConstantTime(absl::string_view a, absl::string_view b) {
  unsigned difference = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    difference |= static_cast<unsigned char>(a[i] ^ b[i]);
  }
  return difference == 0;
}

}  // namespace

absl::StatusOr<TokenTable> TokenTable::Parse(absl::string_view text,
                                             absl::string_view file_name) {
  TokenTable table;
  int number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    line = absl::StripAsciiWhitespace(line);
    if (line.empty() || line.front() == '#') continue;
    const auto error = [&](absl::string_view what) {
      return absl::InvalidArgumentError(
          absl::StrCat(file_name, ":", number, ": ", what));
    };
    const std::vector<absl::string_view> words =
        absl::StrSplit(line, absl::ByAnyChar(" \t"), absl::SkipEmpty());
    if (words.size() != 3) {
      return error(absl::StrCat(words.size(),
                                " words, expected NAME ROLE[,ROLE] SHA256"));
    }
    Entry entry;
    entry.client.name = std::string(words[0]);
    for (absl::string_view name : absl::StrSplit(words[1], ',')) {
      const std::vector<std::string> names = RoleNames();
      const auto known = std::find(names.begin(), names.end(), name);
      if (known == names.end()) {
        return error(
            absl::StrCat("unknown role \"", Excerpt(name),
                         "\", expected one of: ", absl::StrJoin(names, ", ")));
      }
      entry.client.roles.Add(
          static_cast<Role>(1 << std::distance(names.begin(), known)));
    }
    // The text may be a token that was put there by mistake: it is not shown.
    if (!IsDigest(words[2])) {
      return error(
          "the third word is no digest, expected 64 hexadecimal "
          "digits, the SHA-256 of the token");
    }
    entry.digest = absl::AsciiStrToLower(words[2]);
    table.entries_.push_back(std::move(entry));
  }
  return table;
}

absl::StatusOr<TokenTable> TokenTable::Read(const std::string& path) {
  struct stat status = {};
  std::ifstream file(path, std::ios::binary);
  if (!file || stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) {
    return absl::NotFoundError(
        absl::StrCat(path, ": cannot be read, expected a file of tokens"));
  }
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(path,
                     ": its group or others may write to it, expected a file "
                     "of mode 0600 or 0644"));
  }
  return Parse(std::string((std::istreambuf_iterator<char>(file)), {}), path);
}

const TokenTable::Client* TokenTable::Find(absl::string_view token) const {
  const std::string digest = Sha256Hex(token);
  const Client* found = nullptr;
  for (const Entry& entry : entries_) {
    if (EqualInConstantTime(entry.digest, digest)) found = &entry.client;
  }
  return found;
}

}  // namespace hone::daemon
