"""The range of the integers that a module takes, from what it does with them.

Integers of a module are tokens, labels, rows of tables. If they were all small,
gathers would read few rows again and again, and if they were out of range, all
would read the same one. The range of a parameter is the number of rows that it
selects in a gather or scatter, or the number of classes that it is compared
with.
"""

import collections
import re

INSTRUCTION = re.compile(
    r"^\s+(ROOT )?%?(?P<name>\S+) = (?P<type>\w+)\[(?P<dims>[\d,]*)\]\S* "
    r"(?P<opcode>[\w-]+)\((?P<operands>[^)]*)\)(?P<attributes>.*)$")
COMPUTATION = re.compile(r"^(?P<entry>ENTRY )?%?(?P<name>[\w.-]+) .*\{$|"
                         r"^(?P<entry2>ENTRY )?%?(?P<name2>[\w.-]+) \{$")
# Instructions of which each element is one of an operand's, or near it.
PASSED_ON = ("add", "bitcast", "bitcast-convert", "broadcast", "clamp",
             "concatenate", "convert", "copy", "maximum", "minimum", "reshape",
             "select", "slice", "transpose")


Instruction = collections.namedtuple(
    "Instruction", "name dims opcode operands attributes computation")


def _numbers(text):
    return [int(n) for n in text.split(",") if n.strip()]


def _attribute(instruction, name):
    found = re.search(rf"\b{name}={{([\d,]*)}}", instruction.attributes)
    return _numbers(found[1]) if found else []


class _Module:
    def __init__(self, text):
        self.by_name, self.entry = {}, None
        self.callers = collections.defaultdict(list)
        computation = None
        for line in text.splitlines():
            header = COMPUTATION.match(line)
            if header:
                computation = header["name"] or header["name2"]
                if header["entry"] or header["entry2"]:
                    self.entry = computation
                continue
            found = INSTRUCTION.match(line)
            if found:
                self._add(found, computation)

    def _add(self, found, computation):
        operands = [o.split()[-1].lstrip("%")
                    for o in found["operands"].split(",") if o.strip()]
        instruction = Instruction(
            found["name"], _numbers(found["dims"]), found["opcode"], operands,
            found["attributes"], computation)
        self.by_name[instruction.name] = instruction
        if instruction.opcode == "call":
            called = re.search(r"to_apply=%?([\w.-]+)", found["attributes"])
            self.callers[called[1]].append(instruction)

    def sources(self, name, opcode):
        """Returns the instructions of `opcode` that the elements of `name` come
        from, through calls too: of parameters those of the entry."""
        found, seen, waiting = [], set(), [name]
        while waiting:
            name = waiting.pop()
            instruction = self.by_name.get(name)
            if instruction is None or name in seen:
                continue
            seen.add(name)
            at_entry = instruction.computation == self.entry
            if instruction.opcode == opcode and (
                    opcode != "parameter" or at_entry):
                found.append(instruction)
            elif instruction.opcode == "parameter":
                number = int(instruction.operands[0])
                waiting += [caller.operands[number] for caller in
                            self.callers[instruction.computation]]
            elif instruction.opcode == "select":
                waiting += instruction.operands[1:]
            elif instruction.opcode in PASSED_ON:
                waiting += instruction.operands
        return found


def index_bounds(text):
    """Returns {number of a parameter: the least bound of its elements that
    the module's text tells}; parameters without any are left out."""
    module = _Module(text)
    bounds = {}

    def limit(name, bound):
        for parameter in module.sources(name, "parameter"):
            number = int(parameter.operands[0])
            bounds[number] = min(bound, bounds.get(number, bound))

    for instruction in list(module.by_name.values()):
        if instruction.opcode in ("gather", "scatter"):
            table = module.by_name.get(instruction.operands[0])
            dims = (_attribute(instruction, "start_index_map") or
                    _attribute(instruction, "scatter_dims_to_operand_dims"))
            if table and dims and table.dims:
                limit(instruction.operands[1],
                      min(table.dims[d] for d in dims))
        elif (instruction.opcode == "compare" and
              "direction=EQ" in instruction.attributes):
            for one, other in (instruction.operands,
                               instruction.operands[::-1]):
                for iota in module.sources(other, "iota"):
                    along = re.search(r"iota_dimension=(\d+)",
                                      iota.attributes)
                    limit(one, iota.dims[int(along[1])])
    return bounds
