/** The plots. Lines differ by dashes as well as by colour, and each plot says in words what it shows. */

import { element } from './dom.mjs'
import uPlot from './uplot.mjs'

const HEIGHT = 150
/** What is shown grows with what is known, s. */
const SHORTEST_S = 120
const LONGEST_S = 900
/** Below this, seconds are worth their room. */
const FINE_S = 300
const OPEN = 2
const DASHES = [[], [8, 4], [2, 3]]

const per = (column, history) =>
  history.columns[column].map((value, i) => (value === null ? null : value / history.seconds[i]))
const ratio = (over, under, history) =>
  history.columns[over].map((value, i) => (history.columns[under][i] > 0 ? value / history.columns[under][i] : null))

const CHARTS = [
  {
    title: 'Calls a second',
    unit: '/s',
    lines: history => [
      ['all', '--line-1', per('requests', history)],
      ['failed', '--line-bad', per('failed', history)],
    ],
  },
  {
    title: 'Retries and hedges against the budget, a second',
    unit: '/s',
    lines: history => [
      ['spent', '--line-1', history.columns.spentPerSec],
      ['budget', '--line-bad', history.columns.allowedPerSec],
    ],
  },
  {
    title: 'Attempts per call',
    unit: ' ×',
    lines: history => [['attempts per call', '--line-1', ratio('attempts', 'requests', history)]],
  },
  {
    title: 'Latency, ms',
    unit: ' ms',
    lines: history => [
      ['p50', '--line-1', history.columns.p50],
      ['p95', '--line-2', history.columns.p95],
      ['p99', '--line-bad', history.columns.p99],
    ],
  },
]

/** By list item: the plots in it. */
const drawn = new Map()

export function drawCharts(item, place, { name, history }) {
  if (history === null) {
    if (place.children.length === 0) place.append(element('p', { class: 'muted' }, 'No calls yet.'))
    return
  }
  if (!drawn.has(item)) {
    place.replaceChildren()
    drawn.set(
      item,
      CHARTS.map(chart => newChart(chart, place, name)),
    )
  }
  for (const chart of drawn.get(item)) update(chart, history)
}

export function dropCharts(item) {
  for (const { plot, sizes } of drawn.get(item) ?? []) {
    sizes.disconnect()
    plot?.destroy()
  }
  drawn.delete(item)
}

function newChart(chart, place, name) {
  const canvas = element('div', { role: 'img' })
  const legend = element('p', { class: 'legend', 'aria-hidden': 'true' })
  const figure = element('figure', {}, element('figcaption', {}, chart.title), canvas, legend)
  place.append(figure)
  const made = { ...chart, name, canvas, legend, plot: null, history: null, sizes: null }
  made.sizes = new ResizeObserver(() => resize(made))
  made.sizes.observe(canvas)
  return made
}

function resize({ plot, canvas }) {
  if (plot !== null && canvas.clientWidth > 0 && plot.width !== canvas.clientWidth) {
    plot.setSize({ width: canvas.clientWidth, height: HEIGHT })
  }
}

function update(chart, history) {
  chart.history = history
  const lines = chart.lines(history)
  chart.canvas.setAttribute('aria-label', inWords(chart, lines, history))
  const data = [history.at, ...lines.map(([, , values]) => values)]
  if (chart.plot === null) chart.plot = plotOf(chart, lines, data)
  else chart.plot.setData(data)
}

/** `Latency of payments: p50 now 12 ms, highest 40 ms; … The breaker was open for 35 s.` */
function inWords({ title, unit, name }, lines, history) {
  const said = lines.map(([label, , values]) => {
    const known = values.filter(value => value !== null)
    if (known.length === 0) return `${label} unknown`
    return `${label} now ${figure(known.at(-1), unit)}, highest ${figure(Math.max(...known), unit)}`
  })
  const openS = history.seconds.reduce(
    (sum, seconds, i) => sum + (history.columns.breaker[i] === OPEN ? seconds : 0),
    0,
  )
  const breaker = openS > 0 ? ` The breaker was open for ${Math.round(openS)} s.` : ''
  return `${title}, ${name}: ${said.join('; ')}.${breaker}`
}

function figure(value, unit) {
  const text = value >= 100 ? String(Math.round(value)) : value.toFixed(value < 10 ? 2 : 1).replace(/\.?0+$/, '')
  return text + unit
}

function plotOf(chart, lines, data) {
  const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim()
  const axis = {
    stroke: css('--muted'),
    grid: { stroke: css('--grid'), width: 1 },
    ticks: { show: false },
    font: `11px ${css('--font')}`,
  }
  const options = {
    width: Math.max(200, chart.canvas.clientWidth),
    height: HEIGHT,
    legend: { show: false },
    cursor: { show: false },
    scales: {
      x: { range: (_, min, max) => [max - Math.min(LONGEST_S, Math.max(SHORTEST_S, max - min)), max] },
      y: { range: (_, __, max) => [0, Math.max(0.1, (max ?? 0) * 1.1)] },
    },
    axes: [
      { ...axis, size: 24, space: 70, values: timesOf },
      { ...axis, size: 46, values: (_, ticks) => ticks.map(tick => (tick === null ? '' : figure(tick, ''))) },
    ],
    series: [
      {},
      ...lines.map(([label, colour], index) => ({
        label,
        stroke: css(colour),
        width: 2,
        dash: DASHES[index],
        points: { show: false },
      })),
    ],
    hooks: { drawClear: [plot => shadeOpen(plot, chart.history, css('--open'))] },
  }
  chart.legend.replaceChildren(...lines.map(([label, colour], index) => legendEntry(label, colour, index)))
  if (data[0].length > 0) chart.legend.append(legendShade(chart.history))
  return new uPlot(options, data, chart.canvas)
}

function timesOf(plot, ticks) {
  const { min, max } = plot.scales.x
  const seconds = max - min < FINE_S ? { second: '2-digit' } : {}
  const format = { hour: '2-digit', minute: '2-digit', ...seconds, hour12: false }
  return ticks.map(tick => new Date(tick * 1000).toLocaleTimeString([], format))
}

function legendEntry(label, colour, index) {
  return element('span', { class: 'key', 'data-line': colour.slice(2), 'data-dash': String(index) }, label)
}

function legendShade() {
  return element('span', { class: 'key', 'data-line': 'open' }, 'breaker open')
}

/** The time for which the breaker was open, behind the lines. */
function shadeOpen(plot, history, colour) {
  const { left, top, width, height } = plot.bbox
  const { ctx } = plot
  ctx.save()
  ctx.fillStyle = colour
  history.columns.breaker.forEach((state, i) => {
    if (state !== OPEN) return
    const end = plot.valToPos(history.at[i], 'x', true)
    const begin = plot.valToPos(history.at[i] - history.seconds[i], 'x', true)
    const x = Math.max(left, begin)
    ctx.fillRect(x, top, Math.min(left + width, end) - x, height)
  })
  ctx.restore()
}

// Colours are read when a plot is made.
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
  for (const charts of drawn.values()) {
    for (const chart of charts) {
      chart.plot?.destroy()
      chart.plot = null
      update(chart, chart.history)
    }
  }
})
