#include "storage/sqlite/schema_check.h"

#include <map>
#include <memory>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

#include "base/status_macros.h"
#include "storage/sqlite/migrations.h"

namespace hone::storage::sqlite {
namespace {

// Tables by their columns, since ALTER TABLE rewrites their text; the others by
// their text, which SQLite keeps as it was written.
constexpr absl::string_view kSchema =
    "SELECT 'table ' || m.name || ', column ' || c.cid,"
    "  quote(c.name) || c.type || ' ' || c.\"notnull\" || ' ' || c.pk || ' ' ||"
    "  quote(c.dflt_value)"
    " FROM sqlite_schema AS m JOIN pragma_table_xinfo(m.name) AS c"
    " WHERE m.type = 'table'"
    " UNION ALL SELECT type || ' ' || name, sql FROM sqlite_schema"
    " WHERE type <> 'table' AND sql IS NOT NULL";

absl::StatusOr<std::map<std::string, std::string>> SchemaOf(
    Database& database) {
  HONE_ASSIGN_OR_RETURN(Statement query, database.Prepare(kSchema));
  std::map<std::string, std::string> schema;
  while (true) {
    HONE_ASSIGN_OR_RETURN(const bool found, query.Step());
    if (!found) return schema;
    schema[query.Text(0)] = query.Text(1);
  }
}

absl::StatusOr<std::map<std::string, std::string>> ExpectedSchema() {
  Events events;
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<Database> database,
                        Database::Open(":memory:", Database::Mode::kReadWrite,
                                       absl::ZeroDuration(), &events));
  HONE_RETURN_IF_ERROR(Migrate(*database, ":memory:", Migrations()));
  return SchemaOf(*database);
}

}  // namespace

absl::Status CheckSchema(Database& database, const std::string& path) {
  HONE_ASSIGN_OR_RETURN(const auto expected, ExpectedSchema());
  HONE_ASSIGN_OR_RETURN(const auto schema, SchemaOf(database));
  for (const auto& [name, definition] : expected) {
    const auto found = schema.find(name);
    if (found != schema.end() && found->second == definition) continue;
    return absl::DataLossError(absl::StrCat(
        "store '", path, "' is corrupt: ", name, " is ",
        found == schema.end()
            ? "missing"
            : absl::StrCat("\"", absl::CEscape(found->second), "\""),
        ", expected \"", absl::CEscape(definition),
        "\"; restore a backup (hone admin restore)"));
  }
  return absl::OkStatus();
}

}  // namespace hone::storage::sqlite
