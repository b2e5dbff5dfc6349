import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
// The protocol library that the server itself speaks with.
const { createMessageConnection, StreamMessageReader, StreamMessageWriter } = createRequire(
  createRequire(import.meta.url).resolve('yaml-language-server'),
)('vscode-languageserver-protocol/node') as ProtocolLibrary

interface Connection {
  listen(): void
  sendRequest<T>(method: string, params: unknown): Promise<T>
  sendNotification(method: string, params?: unknown): Promise<void>
  onRequest(method: string, handler: (params: { items: { section: string }[] }) => unknown): void
  onNotification(method: string, handler: (params: Published) => void): void
  dispose(): void
}

interface ProtocolLibrary {
  createMessageConnection(reader: unknown, writer: unknown): Connection
  StreamMessageReader: new (stream: unknown) => unknown
  StreamMessageWriter: new (stream: unknown) => unknown
}

interface Published {
  readonly uri: string
  readonly diagnostics: readonly { readonly message: string; readonly range: { readonly start: { line: number } } }[]
}

export interface Complaint {
  /** 1-based. */
  readonly line: number
  readonly message: string
}

export interface Offer {
  readonly label: string
  readonly documentation: string
}

/** 0-based, as the protocol has it. */
export interface Position {
  readonly line: number
  readonly character: number
}

interface Item {
  readonly label: string
  readonly documentation?: string | { readonly value: string }
}

/** A real server as an editor starts it; it may fetch nothing from a network. */
export class LanguageServer {
  readonly #child: ChildProcess
  readonly #connection: Connection
  readonly #waiting = new Map<string, (complaints: Complaint[]) => void>()
  readonly #settings: object
  #documents = 0

  private constructor(schemas: Readonly<Record<string, string>>) {
    this.#settings = { schemas, schemaStore: { enable: false }, hover: true, completion: true, validate: true }
    const bin = fileURLToPath(
      new URL('../../../node_modules/yaml-language-server/bin/yaml-language-server', import.meta.url),
    )
    this.#child = spawn(process.execPath, [bin, '--stdio'], { stdio: ['pipe', 'pipe', 'inherit'] })
    this.#connection = createMessageConnection(
      new StreamMessageReader(this.#child.stdout),
      new StreamMessageWriter(this.#child.stdin),
    )
    this.#connection.onRequest('workspace/configuration', ({ items }) =>
      items.map(({ section }) => (section === 'yaml' ? this.#settings : null)),
    )
    this.#connection.onRequest('client/registerCapability', () => null)
    this.#connection.onNotification('textDocument/publishDiagnostics', ({ uri, diagnostics }) => {
      const complaints = diagnostics.map(({ message, range }) => ({ line: range.start.line + 1, message }))
      this.#waiting.get(uri)?.(complaints)
      this.#waiting.delete(uri)
    })
    this.#connection.listen()
  }

  /** @param schemas URL of a schema → glob of the files it is for, as in an editor's settings */
  static async start(schemas: Readonly<Record<string, string>> = {}): Promise<LanguageServer> {
    const server = new LanguageServer(schemas)
    await server.#connection.sendRequest('initialize', {
      processId: process.pid,
      rootUri: pathToFileURL(ROOT).href,
      capabilities: { textDocument: { hover: { contentFormat: ['markdown'] }, completion: {} } },
    })
    await server.#connection.sendNotification('initialized', {})
    await server.#connection.sendNotification('workspace/didChangeConfiguration', { settings: null })
    return server
  }

  /** Opens a text as `folder/<new>.yaml` of the repository, where nothing is written. */
  async open(text: string, folder = 'policies'): Promise<string> {
    this.#documents += 1
    const uri = pathToFileURL(`${ROOT}${folder}/editor-${this.#documents}.yaml`).href
    const textDocument = { uri, languageId: 'yaml', version: 1, text }
    await this.#connection.sendNotification('textDocument/didOpen', { textDocument })
    return uri
  }

  async complaints(text: string): Promise<Complaint[]> {
    const uri = await this.open(text)
    return new Promise(resolve => this.#waiting.set(uri, resolve))
  }

  async complete(uri: string, { line, character }: Position): Promise<Offer[]> {
    const params = { textDocument: { uri }, position: { line, character } }
    const { items } = await this.#connection.sendRequest<{ items: Item[] }>('textDocument/completion', params)
    return items.map(({ label, documentation = '' }) => ({
      label,
      documentation: typeof documentation === 'string' ? documentation : documentation.value,
    }))
  }

  async hover(uri: string, { line, character }: Position): Promise<string> {
    const params = { textDocument: { uri }, position: { line, character } }
    const hover = await this.#connection.sendRequest<{ contents: { value: string } } | null>(
      'textDocument/hover',
      params,
    )
    return hover?.contents.value ?? ''
  }

  async stop(): Promise<void> {
    const exited = once(this.#child, 'exit')
    await this.#connection.sendRequest('shutdown', null)
    await this.#connection.sendNotification('exit')
    await exited
    this.#connection.dispose()
  }
}
