/** The list of upstreams: the sickest first, filtered, each with its figures. */
import { closeDetail, openDetail, refreshDetail } from './detail.mjs'
import { byId, setAttribute, setText } from './dom.mjs'

/** By name. */
const cards = new Map()
let latest = null

export function showCards(frame) {
  latest = frame
  if (cards.size === 0) adopt()
  const names = new Set(frame.upstreams.map(({ name }) => name))
  for (const [name, item] of cards) {
    if (names.has(name)) continue
    // One that is taken away closes without a word.
    if (item.querySelector('details').open) closeDetail(item)
    item.remove()
    cards.delete(name)
  }
  for (const view of frame.upstreams) showCard(view, frame.step)
  order(frame.upstreams)
  filter()
}

/** What the server has rendered. */
function adopt() {
  for (const item of byId('list').children) wire(item.querySelector('article').dataset.name, item)
  byId('filter').addEventListener('input', filter)
}

function wire(name, item) {
  cards.set(name, item)
  const more = item.querySelector('details')
  more.addEventListener('toggle', () => (more.open ? openDetail(name, item) : closeDetail(item)))
}

function showCard(view, step) {
  const item = cards.get(view.name) ?? newCard(view.name)
  const article = item.querySelector('article')
  setAttribute(article, 'data-level', view.level)
  for (const name of ['badge', 'target', 'why']) setText(article.querySelector(`[data-f=${name}]`), view[name])
  for (const [name, text] of Object.entries(view.figures)) {
    setText(article.querySelector(`[data-f=${name}]`), text)
    article.querySelector(`[data-figure=${name}]`).hidden = text === ''
  }
  setAttribute(article.querySelector('[data-spent]'), 'width', String(view.spentRatio * 80))
  setAttribute(article.querySelector('.budget'), 'data-full', String(view.spentRatio >= 0.95))
  for (const button of article.querySelectorAll('[data-held]')) {
    setAttribute(button, 'aria-pressed', String(button.dataset.held === view.held))
  }
  refreshDetail(item, view, step)
}

function newCard(name) {
  const item = byId('card').content.firstElementChild.cloneNode(true)
  const walker = document.createTreeWalker(item, NodeFilter.SHOW_ELEMENT)
  for (let node = walker.currentNode; node !== null; node = walker.nextNode()) {
    for (const { name: attribute, value } of [...node.attributes]) {
      if (value.includes('NAME')) node.setAttribute(attribute, value.replace('NAME', name))
    }
  }
  setText(item.querySelector('h3'), name)
  setText(item.querySelector('summary .visually-hidden'), ` of ${name}`)
  byId('list').append(item)
  wire(name, item)
  return item
}

/** Nothing moves under the eyes of somebody who is in the list. */
function order(upstreams) {
  const list = byId('list')
  const wanted = upstreams.map(({ name }) => cards.get(name))
  if (wanted.every((item, index) => list.children[index] === item)) return
  if (list.contains(document.activeElement) || list.matches(':hover')) return
  list.append(...wanted)
}

function filter() {
  if (latest === null) return
  const words = byId('filter').value.trim().toLowerCase().split(/\s+/)
  let shown = 0
  for (const { name, target, badge, why } of latest.upstreams) {
    const text = `${name} ${target} ${badge} ${why}`.toLowerCase()
    const fits = words.every(word => text.includes(word))
    cards.get(name).hidden = !fits
    if (fits) shown++
  }
  const all = latest.upstreams.length
  setText(byId('count'), shown === all ? String(all) : `${shown} of ${all}`)
  byId('none').hidden = shown > 0 || all === 0
}
