/** One upstream: how it is, its figures, and what can be done about it. */
import { type Html, html, NOTHING } from './html.js'
import { FIGURES, type FigureName, type UpstreamView } from './views.js'

/** The right end of the bar is more than the budget, so that its line can be seen. */
const LINE_AT = 80

export function upstreamCard(view: UpstreamView): Html {
  const { name, target, level, badge, why } = view
  return html`<li><article class="card" data-name="${name}" data-level="${level}" aria-labelledby="u-${name}">
<div class="title"><h3 id="u-${name}">${name}</h3> <span class="badge" data-f="badge">${badge}</span> <span class="target" data-f="target">${target}</span></div>
<p class="why" data-f="why">${why}</p>
<dl class="figures">${(Object.keys(FIGURES) as FigureName[]).map(figure => figureOf(view, figure))}</dl>
<details class="more"><summary>History, policy and switches<span class="visually-hidden"> of ${name}</span></summary>
<div class="body">
<div class="detail"><p class="muted"><a href="/upstreams/${name}/policy">Effective policy</a> · <a href="/upstreams/${name}/detail">history as JSON</a></p></div>
<div class="actions" role="group" aria-label="Switches of ${name}">
<span class="label">Breaker</span>
${breakerButton(view, 'open', 'Hold open')}
${breakerButton(view, 'closed', 'Hold closed')}
${breakerButton(view, 'auto', 'Auto')}
<form method="post" action="/upstreams/${name}/budget?reset"><button>Reset budget</button></form>
</div>
</div></details>
</article></li>`
}

/** For upstreams that come later. */
export function emptyCard(): Html {
  const figures = Object.fromEntries(Object.keys(FIGURES).map(name => [name, ''])) as UpstreamView['figures']
  return upstreamCard({
    name: 'NAME',
    target: '',
    level: 'ok',
    badge: '',
    why: '',
    held: 'auto',
    figures,
    spentRatio: 0,
    happenings: 0,
  })
}

function figureOf({ figures, spentRatio }: UpstreamView, name: FigureName): Html {
  const text = figures[name]
  const bar = name === 'retries' ? budgetBar(spentRatio) : NOTHING
  return html`<div data-figure="${name}"${text === '' ? html` hidden` : NOTHING}><dt>${FIGURES[name]}</dt><dd><span data-f="${name}">${text}</span>${bar}</dd></div>`
}

/** What was spent, up to the line of the budget. The figures beside it say the same. */
function budgetBar(spentRatio: number): Html {
  return html`<svg class="budget" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true" focusable="false"><rect class="room" width="100" height="6" y="2"/><rect class="spent" data-spent width="${spentRatio * LINE_AT}" height="6" y="2"/><rect class="line" x="${LINE_AT}" width="1.5" height="10"/></svg>`
}

function breakerButton({ name, held }: UpstreamView, setting: UpstreamView['held'], label: string): Html {
  return html`<form method="post" action="/upstreams/${name}/breaker?set=${setting}"><button data-held="${setting}" aria-pressed="${String(held === setting)}">${label}</button></form>`
}
