// ---- Tooltip ----
function showTip(event, title, pairs) {
  const list = element('dl', {});
  for (const [term, value] of pairs) if (value !== '') list.append(element('dt', {}, term), element('dd', {}, value));
  $('tip').replaceChildren(element('b', {}, title), list);
  $('tip').style.display = 'block';
  const box = $('tip').getBoundingClientRect();
  $('tip').style.left = Math.max(4, Math.min(event.clientX + 14, innerWidth - box.width - 8)) + 'px';
  $('tip').style.top = Math.max(4, event.clientY + 18 + box.height > innerHeight ? event.clientY - box.height - 10 : event.clientY + 18) + 'px';
}
const hideTip = () => { $('tip').style.display = 'none'; };
