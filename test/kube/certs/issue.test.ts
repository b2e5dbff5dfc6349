import { createPrivateKey, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { connect, createServer } from 'node:tls'
import { describe, expect, it } from 'vitest'
import { caBundleOf, firstSet, nextSet } from '../../../src/kube/certs/bundle.js'
import { issueCertificates, serviceNames } from '../../../src/kube/certs/issue.js'

const DAY_MS = 86_400_000
const NOW_MS = Date.parse('2030-01-01T00:00:00Z')
const NAMES = serviceNames('forbear-webhook', 'forbear-system')
const PEM = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

const issue = (nowMs = NOW_MS, days = 365) => issueCertificates({ names: NAMES, days, nowMs })
const read = (pem: string) => new X509Certificate(pem)

describe('an issued certificate', () => {
  it('is for the Service under all its names, signed by the authority, for servers only', async () => {
    const { authority, cert, key } = await issue()
    const [root, leaf] = [read(authority), read(cert)]
    expect(leaf.checkIssued(root) && leaf.verify(root.publicKey)).toBe(true)
    expect(leaf.checkPrivateKey(createPrivateKey(key))).toBe(true)
    for (const name of NAMES) expect(leaf.checkHost(name, { subject: 'never' })).toBe(name)
    expect(NAMES).toContain('forbear-webhook.forbear-system.svc')
    expect(leaf.checkHost('forbear-webhook.default.svc')).toBeUndefined()
    expect([root.ca, leaf.ca]).toEqual([true, false])
    // serverAuth
    expect(leaf.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1'])
    expect(leaf.publicKey.asymmetricKeyDetails).toEqual({ namedCurve: 'prime256v1' })
  })

  it('begins a little before now and ends after its days', async () => {
    for (const one of Object.values(await issue(NOW_MS, 30))
      .slice(0, 2)
      .map(read)) {
      expect(NOW_MS - Date.parse(one.validFrom)).toBe(300_000)
      expect(Date.parse(one.validTo) - NOW_MS).toBe(30 * DAY_MS)
    }
  })

  it('shares neither serial nor name of the authority with another', async () => {
    const all = await Promise.all([issue(), issue(), issue()])
    const certificates = all.flatMap(({ authority, cert }) => [read(authority), read(cert)])
    expect(new Set(certificates.map(({ serialNumber }) => serialNumber)).size).toBe(6)
    expect(new Set(all.map(({ authority }) => read(authority).subject)).size).toBe(3)
    for (const { serialNumber } of certificates) expect(serialNumber).toMatch(/^[4-7][0-9A-F]{31}$/)
  })
})

describe('the next set', () => {
  it('is trusted by the bundle that trusts the one before', async () => {
    const first = firstSet(await issue())
    const second = await nextSet(first, { days: 365, nowMs: NOW_MS + 300 * DAY_MS })
    const trusted = second['ca.crt'].match(PEM) ?? []
    expect(trusted).toHaveLength(2)
    for (const pem of [first['tls.crt'], second['tls.crt']]) {
      expect(trusted.filter(one => read(pem).verify(read(one).publicKey))).toHaveLength(1)
    }
    expect(read(second['tls.crt']).subjectAltName).toBe(read(first['tls.crt']).subjectAltName)
    expect(second['tls.key']).not.toBe(first['tls.key'])
    expect(Buffer.from(caBundleOf(second), 'base64').toString()).toBe(second['ca.crt'])
  })

  it('after a second rotation trusts the last two, and never grows', async () => {
    let set = firstSet(await issue())
    for (let n = 1; n <= 4; n++) {
      const before = set
      set = await nextSet(set, { days: 365, nowMs: NOW_MS + n * DAY_MS })
      const trusted = (set['ca.crt'].match(PEM) ?? []).map(read)
      expect(trusted).toHaveLength(2)
      expect(trusted.some(one => read(before['tls.crt']).verify(one.publicKey))).toBe(true)
    }
  })

  it('forgets an authority that has ended', async () => {
    const first = firstSet(await issue(NOW_MS, 30))
    const second = await nextSet(first, { days: 30, nowMs: NOW_MS + 31 * DAY_MS })
    expect(second['ca.crt'].match(PEM)).toHaveLength(1)
  })

  it.each([
    ['no certificate', 'garbage', /tls\.crt holds no certificate/],
    [
      'one that cannot be read',
      '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n',
      /tls\.crt holds a certificate that cannot be read/,
    ],
  ])('is not made of %s', async (_what, cert, text) => {
    const set = { ...firstSet(await issue()), 'tls.crt': cert }
    await expect(nextSet(set, { days: 1, nowMs: NOW_MS })).rejects.toThrow(text)
  })

  it('is not made where the bundle does not belong to the certificate', async () => {
    const mixed = { ...firstSet(await issue()), 'ca.crt': (await issue()).authority }
    await expect(nextSet(mixed, { days: 1, nowMs: NOW_MS })).rejects.toThrow(
      'no certificate in ca.crt has signed tls.crt',
    )
  })
})

it('a bundle of old and new lets a client reach servers of both', async () => {
  const first = firstSet(await issue(Date.now(), 2))
  const second = await nextSet(first, { days: 2, nowMs: Date.now() })
  for (const set of [first, second]) {
    const server = createServer({ cert: set['tls.crt'], key: set['tls.key'] }, socket => socket.end())
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const socket = connect({ port, ca: second['ca.crt'], servername: 'forbear-webhook.forbear-system.svc' })
    await once(socket, 'secureConnect')
    expect(socket.authorized).toBe(true)
    socket.destroy()
    server.close()
  }
})
