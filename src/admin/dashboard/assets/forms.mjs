/** The buttons: sent without leaving the page, and what came of it is said. */
import { byId, setText } from './dom.mjs'

export function wireForms() {
  const toast = Object.assign(document.createElement('p'), { id: 'toast', hidden: true })
  toast.setAttribute('role', 'status')
  document.body.append(toast)
  document.addEventListener('submit', event => {
    const form = event.target
    if (form.method !== 'post') return
    event.preventDefault()
    void send(form)
  })
}

async function send(form) {
  const button = form.querySelector('button')
  button.setAttribute('aria-busy', 'true')
  try {
    const answer = await fetch(form.getAttribute('action'), { method: 'POST' })
    const body = await answer.json()
    say(answer.ok ? `Done: ${button.textContent.trim()}` : failure(body), answer.ok)
  } catch {
    say('Not done: the sidecar does not answer.', false)
  }
  button.removeAttribute('aria-busy')
}

function failure({ detail, messages }) {
  return `Not done: ${[detail, ...(messages ?? []).slice(0, 3)].join('\n')}`
}

let hiding = null
function say(text, ok) {
  const toast = byId('toast')
  toast.hidden = false
  toast.dataset.ok = String(ok)
  setText(toast, text)
  clearTimeout(hiding)
  hiding = setTimeout(() => (toast.hidden = true), ok ? 4000 : 10_000)
}
