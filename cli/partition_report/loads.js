
// ---- Loads of the chips ----
function memoryCell(chip) {
  const limit = summary.memory_bytes, held = chips.resident[chip];
  return element('span', {}, limit === null ? null : meter(held / limit, kCompute), bytes(held));
}
function lackCell(chip) {
  if (chips.excess[chip] > 0) return element('span', {className: 'bad'}, 'lacks ' + bytes(chips.excess[chip]));
  return chips.spilled[chip] > 0 ? bytes(chips.spilled[chip]) : '0';
}
function fillLoads() {
  const bound = summary.lower_bound, most = Math.max(summary.max_load, bound) * 1.05;
  fillBars($('loads'), usedChips.map(chip => ({
    label: String(chip), title: 'chip ' + chip,
    parts: [[kCompute, chips.compute[chip]], [kInbound, chips.inbound[chip]], [kOutbound, chips.outbound[chip]]],
    pairs: [['load', milliseconds(loadOf(chip), 6)], ['compute', milliseconds(chips.compute[chip], 6)], ['inbound', milliseconds(chips.inbound[chip], 6)],
      ['outbound', milliseconds(chips.outbound[chip], 6)], ['nodes', whole(chips.nodes[chip])], ['memory at start', bytes(chips.resident[chip])]]})),
  most, milliseconds, bound);
  fillKey($('loads-key'), [kCompute, kInbound, kOutbound]);
  if (bound > 0) $('loads-key').append(element('span', {}, element('i', {className: 'line'}), 'lower bound'));
  if (used < summary.chips) $('loads-note').textContent = count(summary.chips - used, 'chip') + ' unused';
  fillTable($('load-table'), ['Chip', '#Nodes', '#Load', '#Of bound', '#Compute', '#Inbound', '#Outbound', 'Memory at start' + (summary.memory_bytes === null ? '' : ', of ' + bytes(summary.memory_bytes)), '#Buffers', '#Spilled'],
    usedChips.map(chip => [String(chip), whole(chips.nodes[chip]), milliseconds(loadOf(chip)), bound > 0 ? percent(loadOf(chip) / bound) : '',
      milliseconds(chips.compute[chip]), milliseconds(chips.inbound[chip]), milliseconds(chips.outbound[chip]), memoryCell(chip),
      bytes(chips.buffers[chip]), lackCell(chip)]));
}
