import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { forbear } from '../../docs/shell.js'
import { list, objectsOf, templateOf } from '../support/ladder/objects.js'

const [, , deployment] = objectsOf(readFileSync('deploy/webhook/base/server.yaml', 'utf8'))
const container = list(deployment && templateOf(deployment)?.spec['containers'])[0] ?? {}
const { output: help } = forbear('webhook', '--help')
const chart = readFileSync('deploy/helm/templates/deployment.yaml', 'utf8')

describe('the server of the manifests and of the chart', () => {
  it('gets only flags and variables that the command has', () => {
    const args = container['args'] as string[]
    expect(args[0]).toBe('webhook')
    const flags = [...args, ...(chart.match(/args: \[.*\]/)?.[0].match(/--[a-z-]+/g) ?? [])].filter(arg =>
      arg.startsWith('--'),
    )
    expect(flags.filter(flag => !help.includes(`${flag} <`))).toEqual([])
    const variables = [...list(container['env']).map(({ name }) => name), ...(chart.match(/FORBEAR_[A-Z_]+/g) ?? [])]
    expect(
      variables.filter(name => !help.includes(`env: ${name}`) && !help.replace(/\s+/g, ' ').includes(`env: ${name}`)),
    ).toEqual([])
    expect(variables).toContain('FORBEAR_KUBE_VERSION')
  })

  it('listens on the ports that they name', () => {
    const ports = Object.fromEntries(list(container['ports']).map(({ name, containerPort }) => [name, containerPort]))
    expect(help.replace(/\s+/g, ' ')).toContain(`default: "0.0.0.0:${ports['webhook']}"`)
    expect(help.replace(/\s+/g, ' ')).toContain(`default: "0.0.0.0:${ports['forbear-health']}"`)
  })
})
