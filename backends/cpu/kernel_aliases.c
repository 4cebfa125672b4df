#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "backends/cpu/kernel_call.h"

/* The bytes of a result. */
typedef struct Range {
  uintptr_t begin;
  uintptr_t end;
  int32_t result;
} Range;

/* Results that are sorted without other memory than the stack's. */
enum { kFew = 32 };

static int CompareRanges(const void* a, const void* b) {
  const uintptr_t first = ((const Range*)a)->begin;
  const uintptr_t second = ((const Range*)b)->begin;
  return first < second ? -1 : first > second;
}

static int CompareAliases(const void* a, const void* b) {
  const hone_alias* const first = a;
  const hone_alias* const second = b;
  if (first->argument != second->argument) {
    return first->argument < second->argument ? -1 : 1;
  }
  return first->result < second->result ? -1 : first->result > second->result;
}

static int IsAllowed(const hone_info* info, int32_t argument, int32_t result) {
  const hone_alias alias = {argument, result};
  return info->num_aliases > 0 &&
         bsearch(&alias, info->aliases, (size_t)info->num_aliases,
                 sizeof(alias), CompareAliases) != NULL;
}

/* Returns the first of the disjoint ranges that ends behind `begin`. */
static int32_t FirstBehind(const Range* ranges, int32_t count,
                           uintptr_t begin) {
  int32_t low = 0;
  int32_t high = count;
  while (low < high) {
    const int32_t middle = low + (high - low) / 2;
    if (ranges[middle].end > begin) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

static int32_t CheckArgument(const hone_info* info, int32_t argument,
                             uintptr_t begin, const Range* ranges,
                             int32_t count) {
  const uintptr_t end = begin + (uintptr_t)info->arguments[argument].bytes;
  for (int32_t i = FirstBehind(ranges, count, begin);
       i < count && ranges[i].begin < end; ++i) {
    if (ranges[i].begin == begin && ranges[i].end == end &&
        IsAllowed(info, argument, ranges[i].result)) {
      continue;
    }
    return hone_kernel_error(HONE_ERROR_ALIAS,
                             "results[%d] overlaps arguments[%d]",
                             ranges[i].result, argument);
  }
  return HONE_OK;
}

static int32_t Check(const hone_info* info, const void* const* arguments,
                     void* const* results, uintptr_t workspace,
                     int64_t workspace_bytes, Range* ranges) {
  int32_t count = 0;
  int sorted = 1;
  for (int32_t i = 0; i < info->num_results; ++i) {
    if (info->results[i].bytes == 0) continue;
    const uintptr_t begin = (uintptr_t)results[i];
    ranges[count++] =
        (Range){begin, begin + (uintptr_t)info->results[i].bytes, i};
    if (count > 1 && begin < ranges[count - 2].begin) sorted = 0;
  }
  if (!sorted) qsort(ranges, (size_t)count, sizeof(Range), CompareRanges);
  for (int32_t i = 1; i < count; ++i) {
    if (ranges[i].begin < ranges[i - 1].end) {
      return hone_kernel_error(HONE_ERROR_ALIAS,
                               "results[%d] overlaps results[%d]",
                               ranges[i].result, ranges[i - 1].result);
    }
  }
  for (int32_t i = 0; i < info->num_arguments; ++i) {
    const uintptr_t begin = (uintptr_t)arguments[i];
    if (info->arguments[i].bytes == 0) continue;
    const int32_t error = CheckArgument(info, i, begin, ranges, count);
    if (error != HONE_OK) return error;
    if (begin < workspace + (uintptr_t)workspace_bytes &&
        workspace < begin + (uintptr_t)info->arguments[i].bytes) {
      return hone_kernel_error(HONE_ERROR_ALIAS,
                               "the workspace overlaps arguments[%d]", i);
    }
  }
  const int32_t i = FirstBehind(ranges, count, workspace);
  if (workspace_bytes > 0 && i < count &&
      ranges[i].begin < workspace + (uintptr_t)workspace_bytes) {
    return hone_kernel_error(HONE_ERROR_ALIAS,
                             "the workspace overlaps results[%d]",
                             ranges[i].result);
  }
  return HONE_OK;
}

int32_t hone_kernel_check_aliases(const hone_info* info,
                                  const void* const* arguments,
                                  void* const* results, const void* workspace,
                                  int64_t workspace_bytes) {
  Range few[kFew];
  Range* ranges = few;
  if (info->num_results > kFew) {
    ranges =
        hone_kernel_allocate_block(info->num_results * (int64_t)sizeof(Range));
    if (ranges == NULL) {
      return hone_kernel_error(HONE_ERROR_OUT_OF_MEMORY,
                               "no memory to check the results");
    }
  }
  const int32_t error = Check(info, arguments, results, (uintptr_t)workspace,
                              workspace_bytes, ranges);
  if (ranges != few) hone_kernel_free_block(ranges);
  return error;
}
