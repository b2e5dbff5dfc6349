import { describe, expect, it } from 'vitest'
import { knownAfter, loadDocuments } from '../../src/policy/load.js'
import { formatMessages } from '../../src/policy/messages.js'
import { readDocuments } from '../../src/policy/read-documents.js'
import { sourceOf, type Texts, upstream } from './set.js'

/** The messages of the last of several loads, each of which knows what the one before left it. */
function reloaded(...texts: Texts[]): string[] {
  let known = new Map() as ReturnType<typeof knownAfter>
  let lines: string[] = []
  for (const one of texts) {
    const source = sourceOf(one)
    const set = readDocuments(source, known)
    const { messages } = loadDocuments(source, set, { mode: 'valid-only', generation: 1 })
    lines = formatMessages(messages).split('\n')
    known = knownAfter(set)
  }
  return lines
}

describe('what two documents claim', () => {
  const [old, added] = ['listen: 127.0.0.1:1', 'listen: 127.0.0.1:1\n']
  const before = { 'b.yaml': upstream(old, 'b') }
  const both = { 'a.yaml': upstream(added, 'a'), ...before }
  const ofAdded = ['a.yaml:6:11  spec.listen  the port 1 is also claimed by the Upstream "b" at b.yaml:6 [FB041]']

  it('is told where the second one claims it when both are new', () => {
    expect(reloaded(both)).toEqual([
      'b.yaml:6:11  spec.listen  the port 1 is also claimed by the Upstream "a" at a.yaml:6 [FB041]',
    ])
  })

  it('is told where it was added, whatever the order of the files', () => {
    expect(reloaded(before, both)).toEqual(ofAdded)
  })

  it('is told there as long as it lasts', () => {
    expect(reloaded(before, both, { ...both, 'c.yaml': upstream('', 'c') })).toEqual(ofAdded)
  })

  it('is told there although the document that had it was edited, too', () => {
    expect(reloaded(before, { ...both, 'b.yaml': upstream(`${old}\nretry: { maxAttempts: 2 }`, 'b') })).toEqual(ofAdded)
  })

  it('is told of the copy of a document, not of the document', () => {
    expect(reloaded(before, { 'a.yaml': upstream('# a copy', 'b'), ...before })).toEqual([
      'a.yaml:3:19  metadata.name  the Upstream "b" is also at b.yaml:3: names are unique [FB040]',
    ])
  })
})
