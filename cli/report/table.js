
// ---- Tables ----
function fillTable(table, heads, rows) {
  const cell = (tag, value, head) => {
    const made = element(tag, {className: head.startsWith('#') ? 'number' : ''}, value);
    if (tag === 'td' && typeof value === 'string' && value.length > 30) Object.assign(made, {className: 'name', title: value});
    return made;
  };
  table.append(element('thead', {}, element('tr', {}, ...heads.map(head => cell('th', head.replace('#', ''), head)))),
    element('tbody', {}, ...rows.map(row => element('tr', {}, ...row.map((value, i) => cell('td', value, heads[i]))))));
}
function meter(share, hue) {
  const made = document.createElement('meter-bar'), fill = element('i', {});
  made.setAttribute('aria-hidden', 'true');
  fill.style.width = 100 * Math.min(1, share) + '%';
  swatches.push([fill, hue]);
  made.append(fill);
  return made;
}
