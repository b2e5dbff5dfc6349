import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { formatMessages } from '../../src/policy/messages.js'
import { readPolicyFiles } from '../../src/policy/source.js'
import { messagesOf, upstream } from './set.js'

const toml =
  'not a document of forbear: it looks like TOML or an INI file; policies are YAML, with a colon between key and value [FB020]'
const properties =
  'not a document of forbear: it looks like a .properties or .env file; policies are YAML, with a colon between key and value [FB020]'
const cr = 'a line ends in CR alone, as on old Macs: save the file with LF line ends [FB017]'

describe('a file that is no YAML gets one message', () => {
  it.each([
    ['TOML with a table', '# a\n[spec.retry]\nmaxAttempts = 3\n', `a.yaml:2:1  ${toml}`],
    ['TOML with a list of tables', '[[upstreams]]\nname = "a"\n', `a.yaml:1:1  ${toml}`],
    ['TOML without tables', 'kind = "Upstream"\nnames = ["a"]\n', `a.yaml:1:1  ${toml}`],
    ['properties', '! a\n# b\nspec.target=http://h:1\nspec.retry=3\n', `a.yaml:3:1  ${properties}`],
    ['an environment file', 'export FORBEAR_LISTEN=127.0.0.1:1\n', `a.yaml:1:1  ${properties}`],
    ['line ends of old Macs', upstream().replaceAll('\n', '\r'), `a.yaml:1:33  ${cr}`],
    ['one line end of an old Mac', upstream('retry:\r    maxAttempts: 3'), `a.yaml:6:9  ${cr}`],
    [
      'JSON without a comma',
      '{"apiVersion": "forbear.dev/v1alpha1"\n"kind": "Upstream"}\n',
      'a.yaml:2:1  a comma is missing before "kind" [FB010]',
    ],
    [
      'tabs below a key',
      'apiVersion: x\nmetadata:\n\tname: a\n',
      'a.yaml:3:1  a tab where spaces belong: YAML is indented with spaces only [FB010]',
    ],
  ])('of %s', (_, text, message) => {
    expect(messagesOf(text)).toEqual([message])
  })

  it.each([
    ['little-endian UTF-16', Buffer.from(`\ufeff${upstream()} `, 'utf16le'), 'is UTF-16 text: save it as UTF-8'],
    ['big-endian UTF-16', Buffer.from(`\ufeff${upstream()} `, 'utf16le').swap16(), 'is UTF-16 text: save it as UTF-8'],
    ['UTF-16 without a mark', Buffer.from(upstream(), 'utf16le'), 'is UTF-16 text: save it as UTF-8'],
    ['NUL bytes', Buffer.from(`${upstream()}\0`), 'is not text: it has NUL bytes'],
  ])('of %s', (_, bytes, text) => {
    const dir = mkdtempSync(join(tmpdir(), 'forbear-bytes-'))
    const path = join(dir, 'a.yaml')
    writeFileSync(path, bytes)
    expect(formatMessages(readPolicyFiles([path]).problems)).toBe(`${path}  ${text} [FB003]`)
    rmSync(dir, { recursive: true })
  })
})

it('JSON with tabs and a last comma, CRLF and a mapping that begins in brackets are YAML', () => {
  const json =
    '{\n\t"apiVersion": "forbear.dev/v1alpha1",\n\t"kind": "Upstream",\n\t"metadata": {"name": "a"},\n\t"spec": {"target": "http://h:1",},\n}\n'
  expect(messagesOf(json)).toEqual([])
  expect(messagesOf(upstream('# a = b\nretry: { maxAttempts: 2 }').replaceAll('\n', '\r\n'))).toEqual([])
})
