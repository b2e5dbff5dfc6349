import { expect, it } from 'vitest'
import { addedLines, deployment, inject, job, uninject } from '../kube/inject/run.js'
import { messagesOf, snapshotOf, upstream } from '../policy/set.js'

it('F098: separators before, between and after documents are harmless, and so are documents of comments', () => {
  const text = `# A licence.\n---\n${upstream('', 'a')}\n---\n# nothing here\n---\n\n---\n${upstream('', 'b')}\n---\n`
  expect([...snapshotOf(text).upstreams.keys()]).toEqual(['a', 'b'])
  expect([...snapshotOf(`---\n${upstream('', 'a')}...\n`).upstreams.keys()]).toEqual(['a'])
  expect([...snapshotOf(`\ufeff${upstream('', 'a')}`).upstreams.keys()]).toEqual(['a'])
})

it('F098: a mistake in one document leaves the positions of the next ones right', () => {
  expect(messagesOf(`${upstream('x: 1', 'a')}\n---\n${upstream('y: 1', 'b')}`).map(line => line.slice(0, 12))).toEqual([
    'a.yaml:6:3  ',
    'a.yaml:13:3 ',
  ])
})

it('F098: inject keeps empty documents, comments between documents and every separator of a stream', async () => {
  const stream = `# A licence.\n---\n${deployment()}---\n# nothing here\n---\n\n--- # empty\n...\n---\n${job()}---\n`
  for (const text of [stream, stream.replaceAll('\n', '\r\n'), `\ufeff${stream}`, stream.replace(/\n---\n$/, '')]) {
    const { stdout, code } = await inject(text)
    expect(code).toBe(0)
    addedLines(text, stdout)
    expect((await uninject(stdout)).stdout).toBe(text)
  }
  for (const text of ['', '\n', '# only\n', '---\n---\n', '---']) expect((await inject(text)).stdout).toBe(text)
})
