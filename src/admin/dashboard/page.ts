/** The page at `/`: complete without a script, with the figures of now; the script keeps them up to date. */
import { type Html, html, NOTHING } from './html.js'
import { emptyCard, upstreamCard } from './upstream-card.js'
import type { EventView, Frame } from './views.js'

export interface PageParts {
  readonly frame: Frame
  readonly parked: Html
  /** Paths to read, and what may be posted. */
  readonly pages: readonly string[]
  readonly verbs: readonly string[]
}

export function page({ frame, parked, pages, verbs }: PageParts): string {
  const { verdict, upstreams } = frame
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${verdict.headline} · forbear</title>
<link rel="icon" href="/dashboard/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/dashboard/uplot.css">
<link rel="stylesheet" href="/dashboard/dashboard.css">
<script type="module" src="/dashboard/dashboard.mjs"></script>
</head>
<body data-level="${verdict.level}">
<a class="skip" href="#upstreams">Skip to the upstreams</a>
<header>
<p class="brand"><span class="mark" aria-hidden="true"></span>forbear <span class="live" id="live">as of ${clock(new Date())}, reload for newer figures</span></p>
<h1 id="headline">${verdict.headline}</h1>
<ul id="reasons" class="reasons">${verdict.reasons.map(text => html`<li>${text}</li>`)}</ul>
<p class="visually-hidden" role="status" id="announcer"></p>
${policyLine(frame)}
</header>
<main>
${reloadError(frame)}
<section aria-labelledby="upstreams">
<div class="bar"><h2 id="upstreams" tabindex="-1">Upstreams <span class="count" id="count">${upstreams.length}</span></h2>
<label class="filter js-only">Filter <input id="filter" type="search" autocomplete="off" spellcheck="false" placeholder="name or state"></label></div>
<ol id="list" class="cards">
${upstreams.map(upstreamCard)}
</ol>
<p id="none" class="muted" hidden>No upstream matches.</p>
<template id="card">${emptyCard()}</template>
</section>
<section aria-labelledby="events-title">
<h2 id="events-title">What happened last</h2>
${eventTable(frame.events)}
</section>
${parked}
${switches(frame)}
</main>
<footer>
<nav aria-label="Pages for tools"><ul>${pages.map(path => html`<li><a href="${path}">${path}</a></li>`)}</ul></nav>
<details><summary>What can be posted</summary><ul>${verbs.map(path => html`<li><code>POST ${path}</code></li>`)}</ul></details>
</footer>
</body>
</html>
`.text
}

function policyLine({ policy, retries, draining }: Frame): Html {
  return html`<dl class="policy">
<div><dt>Policy generation</dt><dd id="generation">${policy.generation}</dd></div>
<div><dt>Hash</dt><dd><code id="hash">${policy.hash.slice(0, 12)}</code></dd></div>
<div><dt>Loaded</dt><dd><time id="loaded" datetime="${policy.loadedAt}">${moment(policy.loadedAt)}</time></dd></div>
<div><dt>Retries</dt><dd id="retries">${retries}</dd></div>
<div><dt>Readiness</dt><dd id="readiness">${draining ? 'red, draining' : 'green'}</dd></div>
</dl>`
}

function reloadError({ policy }: Frame): Html {
  const { error } = policy
  return html`<section id="reload" class="alert" aria-labelledby="reload-title"${error === null ? html` hidden` : NOTHING}>
<h2 id="reload-title">The latest policies were rejected</h2>
<p>Since <time id="reload-at">${error === null ? '' : moment(error.at)}</time>. What is in force stays until these are mended:</p>
<div class="messages" role="region" aria-label="Messages" tabindex="0"><ol id="messages">${(error?.messages ?? []).map(text => html`<li><code>${text}</code></li>`)}</ol></div>
</section>`
}

function eventTable(events: readonly EventView[]): Html {
  return html`<table class="events"><caption class="visually-hidden">Latest events, the newest first</caption>
<thead><tr><th scope="col">When</th><th scope="col">Upstream</th><th scope="col">What</th></tr></thead>
<tbody id="events">${events.map(eventRow)}</tbody></table>
<p id="no-events" class="muted"${events.length > 0 ? html` hidden` : NOTHING}>Nothing yet.</p>`
}

function eventRow({ at, upstream, tone, text, count }: EventView): Html {
  const times = count > 1 ? html` <span class="count">× ${count}</span>` : NOTHING
  return html`<tr data-tone="${tone}"><td><time datetime="${at}">${at.slice(11, 19)}</time></td><td>${upstream}</td><td>${text}${times}</td></tr>`
}

function switches({ retries, draining }: Frame): Html {
  return html`<section aria-labelledby="switches-title">
<h2 id="switches-title">Switches of this sidecar</h2>
<div class="actions">
${post('/reload', 'Read the policies again')}
<span id="retries-off"${retries === 'off' ? html` hidden` : NOTHING}>${post('/retries/off?for=10m', 'Retries off for 10 min')}</span>
<span id="retries-on"${retries === 'on' ? html` hidden` : NOTHING}>${post('/retries/on', 'Retries on again')}</span>
<details class="confirm" id="drain"${draining ? html` hidden` : NOTHING}><summary>Drain …</summary>
<div><p>Readiness goes red and stays red; calls are still served. It cannot be undone, only by a restart.</p>
${post('/drain', 'Drain now')}</div></details>
</div>
</section>`
}

/** A button that works without a script, too. */
export function post(path: string, label: string): Html {
  return html`<form method="post" action="${path}"><button>${label}</button></form>`
}

function moment(iso: string): string {
  return `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`
}

function clock(now: Date): string {
  return `${now.toISOString().slice(11, 19)} UTC`
}
