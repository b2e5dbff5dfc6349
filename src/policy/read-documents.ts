/** The documents of a set, each judged on its own. */
import { type JudgedDocument, judgeDocument } from './judge.js'
import { fileMessage, type PolicyMessage } from './messages.js'
import { fileLabel, type PolicySource } from './source.js'
import { parseYamlFile } from './yaml-file.js'

export interface DocumentSet {
  readonly judged: readonly JudgedDocument[]
  /** About files and documents; what lies between documents is not looked at yet. */
  readonly messages: readonly PolicyMessage[]
}

export function readDocuments(source: PolicySource): DocumentSet {
  const judged: JudgedDocument[] = []
  const messages: PolicyMessage[] = source.problem === null ? [] : [source.problem]
  for (const { name, text } of source.files) {
    const file = fileLabel(source, name)
    // A file that was cut to nothing must not pass for one without upstreams.
    if (text.trim() === '') messages.push(fileMessage('FB002', file, 'is empty: give it a document or remove it'))
    const parsed = parseYamlFile(file, text)
    messages.push(...parsed.messages)
    judged.push(...parsed.documents.map(judgeDocument))
  }
  messages.push(...judged.flatMap(one => one.messages))
  if (judged.length === 0 && messages.length === 0) {
    messages.push(fileMessage('FB002', source.dir, 'no policy documents, only comments'))
  }
  return { judged, messages }
}
