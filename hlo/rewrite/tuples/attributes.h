#ifndef HONE_HLO_REWRITE_TUPLES_ATTRIBUTES_H_
#define HONE_HLO_REWRITE_TUPLES_ATTRIBUTES_H_

#include <memory>

#include "hlo/rewrite/tuples/elements.h"

namespace hone::hlo {

// The attributes of `tuple`, an instruction of tuple shape, for the tuple with
// other elements:
//
//   sharding={{A}, {B}, {C}}      one per leaf; narrowed, dropped if elements
//                                 are added; one sharding for all stays
//   origin={(A, B, C)}            one per element; added ones get {}
//   backend_config={… "tuple_index":"2" …} of a while: renumbered
//   parameter_replication         one per leaf; dropped
//
// An attribute whose text has another form, or that names an element that goes,
// is dropped; all others stay.
std::shared_ptr<const Attributes> ChangedTupleAttributes(
    const Instruction& tuple, const ElementChange& change);

}  // namespace hone::hlo

#endif  // HONE_HLO_REWRITE_TUPLES_ATTRIBUTES_H_
