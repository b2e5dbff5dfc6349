/** What `forbear explain` says of a poll. */
import type { JsonCondition, PollSettings } from '../core/poll.js'
import { durationText } from './duration-text.js'
import { listText } from './schema-words.js'

/** One line each. */
export function pollTexts({ until: { statuses, json }, backoff }: PollSettings, pollMs: number): string[] {
  const status = statuses === null ? 'the status is 2xx' : `the status is ${listText([...statuses].map(String))}`
  const condition = json === null ? status : `${status} and ${jsonText(json)}`
  const first = durationText(Math.min(backoff.baseMs, backoff.capMs))
  return [
    `repeated until ${condition}`,
    `after ${first} at first, ${durationText(backoff.capMs)} at most or as long as a Retry-After asks, for ${durationText(pollMs)}`,
    'each repeat is a call of its own with the attempts above; an empty budget makes it slower',
  ]
}

function jsonText({ keys, test }: JsonCondition): string {
  const pointer = keys.map(key => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
  const at = pointer === '' ? 'the document' : pointer
  if (test.kind === 'exists') return test.wanted ? `${at} is there` : `${at} is not there`
  return `${at} is ${listText(test.values.map(value => JSON.stringify(value)))}`
}
