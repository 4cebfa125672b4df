#ifndef HONE_HLO_REWRITE_TUPLES_ATTRIBUTES_H_
#define HONE_HLO_REWRITE_TUPLES_ATTRIBUTES_H_

#include <memory>

#include "hlo/rewrite/tuples/elements.h"

namespace hone::hlo {

// The attributes of `tuple`, an instruction of tuple shape, for the tuple with
// other elements:
//
//   sharding={{A}, {B}, {C}}      one per leaf; narrowed to 2 or more, refused
//                                 if elements are added; one for all stays
//   origin={(A, B, C)}            one per element; added ones get {};
//                                 {[synthetic_call]} stays
//   backend_config={… "tuple_index":"2" …} of a while: renumbered
//   parameter_replication         one per leaf; refused
//
// Null where one is refused, has a text of another form, or names an element
// that goes: the elements cannot be changed without losing it. All others stay.
std::shared_ptr<const Attributes> ChangedTupleAttributes(
    const Instruction& tuple, const ElementChange& change);

}  // namespace hone::hlo

#endif  // HONE_HLO_REWRITE_TUPLES_ATTRIBUTES_H_
