
// ---- Header ----
function addTile(id, value, text, label, className = '') {
  const made = element('b', {id, className}, text);
  if (value !== null) made.dataset.value = value;
  $('tiles').append(element('div', {className: 'tile'}, made, element('span', {}, label)));
}
function fillHeader() {
  document.title = summary.name + ' on ' + summary.package + ' · Hone';
  $('name').textContent = summary.name;
  $('about').textContent = ['partition of ' + summary.subject, 'package ' + summary.package, 'objective ' + summary.objective,
    count(summary.nodes, 'node'), count(outputs.from.length, 'output') + ' between chips'].join(' · ');
  const bound = summary.lower_bound, ratio = summary.max_load / bound;
  addTile('max-load', summary.max_load, milliseconds(summary.max_load, 6), 'max load');
  addTile('lower-bound', bound, bound > 0 ? milliseconds(bound, 6) : 'none', 'lower bound of it');
  if (bound > 0) addTile('ratio', ratio, digits(ratio, 5) + ' ×', 'max load to the bound');
  addTile('default-cost', summary.default_cost, milliseconds(summary.default_cost, 6),
    (summary.default_is_greedy ? 'greedy default’s ' : 'default’s ') + summary.objective.replace('-', ' '));
  const change = summary.default_cost > 0 ? 1 - summary.best_cost / summary.default_cost : 0;
  addTile('change', change, percent(Math.abs(change)), change < 0 ? 'more than the default' : 'less than the default', change > 0 ? 'good' : '');
  if (fits) {
    addTile('interval', summary.interval, milliseconds(summary.interval, 6), 'interval, simulated');
    addTile('latency', summary.latency, milliseconds(summary.latency, 6), 'latency, simulated');
  } else {
    addTile('interval', null, 'none', 'out of memory in simulation', 'bad');
    const lacking = bytes(summary.excess_bytes);
    $('failure').textContent = `Chip ${summary.fullest_chip} runs out of memory in simulation: it lacks ${lacking} for outputs that must be there at once. `
      + 'Its interval and timeline mean nothing and are left out; --objective interval searches for a partition that fits.';
    $('failure').dataset.bytes = summary.excess_bytes;
    $('failure').hidden = false;
  }
  addTile('used', used, used + ' of ' + summary.chips, 'chips used');
}
