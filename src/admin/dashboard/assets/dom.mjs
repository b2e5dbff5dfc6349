/** Small things that all parts of the page use. Text is only ever set as text. */

export const byId = id => document.getElementById(id)

/** Writes only what has changed, so that selections and screen readers are left in peace. */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text
}

export function setAttribute(node, name, value) {
  if (node.getAttribute(name) !== value) node.setAttribute(name, value)
}

export function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value)
  node.append(...children)
  return node
}

/** One list item a text, kept where it stands. */
export function setItems(list, texts, wrap = text => text) {
  while (list.children.length > texts.length) list.lastElementChild.remove()
  texts.forEach((text, index) => {
    const item = list.children[index] ?? list.appendChild(element('li', {}, wrap('')))
    setText(item.firstElementChild ?? item, text)
  })
}

/** Rows of a table with a head; the first cell of each row names it. */
export function table(caption, [head, ...rows]) {
  const headCell = text => element('th', { scope: 'col' }, text)
  const cell = (text, index) => (index === 0 ? element('th', { scope: 'row' }, text) : element('td', {}, text))
  const made = element(
    'table',
    {},
    element('caption', { class: 'visually-hidden' }, caption),
    element('thead', {}, element('tr', {}, ...head.map(headCell))),
    element('tbody', {}, ...rows.map(row => element('tr', {}, ...row.map(cell)))),
  )
  return element('div', { class: 'scroll', role: 'region', 'aria-label': caption, tabindex: '0' }, made)
}

/** `12:34:56`, in the reader's own time zone. */
export function clockTime(iso) {
  return new Date(iso).toLocaleTimeString([], { hour12: false })
}

export function eventRows(body, events, withUpstream) {
  const rows = events.map(({ at, upstream, tone, text, count }) => {
    const what = element('td', {}, text)
    if (count > 1) what.append(' ', element('span', { class: 'count' }, `× ${count}`))
    const cells = [element('td', {}, element('time', { datetime: at }, clockTime(at)))]
    if (withUpstream) cells.push(element('td', {}, upstream))
    return element('tr', { 'data-tone': tone }, ...cells, what)
  })
  body.replaceChildren(...rows)
}
