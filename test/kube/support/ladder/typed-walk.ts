// The package's front door also loads its HTTP client, which takes three times as long.
import * as models from '@kubernetes/client-node/dist/gen/models/all.js'
import { fields, type KubeObject } from './objects.js'

interface Attribute {
  readonly baseName: string
  readonly type: string
  readonly format: string
}
interface Model {
  getAttributeTypeMap(): readonly Attribute[]
}

const MODELS = models as unknown as Record<string, Model | undefined>

/** Fields that the types of the API do not have, and values of another type: what a strict decoder refuses. */
export function walkTyped(object: KubeObject): string[] {
  const name = modelName(object)
  return name === undefined ? [`${object.apiVersion} ${object.kind} is not a known type`] : walk(object, name, '')
}

function modelName({ apiVersion, kind }: KubeObject): string | undefined {
  const version = apiVersion.split('/').at(-1) ?? ''
  const names = [`${version[0]?.toUpperCase()}${version.slice(1)}${kind}`, ...renamed(apiVersion, kind)]
  return names.find(name => MODELS[name] !== undefined)
}

/** The client's types end at 1.34, where this kind was a beta with the fields it kept. */
function renamed(apiVersion: string, kind: string): string[] {
  const isAdmissionPolicy = kind.startsWith('MutatingAdmissionPolicy') && apiVersion.startsWith('admissionregistration')
  return isAdmissionPolicy ? [`V1beta1${kind}`] : []
}

/** Null is as good as absent, whatever the type. */
function walk(value: unknown, type: string, path: string): string[] {
  if (value === null) return []
  const many = /^Array<(.+)>$/.exec(type)?.[1]
  if (many !== undefined) return walkArray(value, many, path)
  const mapped = /^\{ \[key: string\]: (.+); \}$/.exec(type)?.[1]
  if (mapped !== undefined) return walkMap(value, mapped, path)
  const model = MODELS[type]
  if (model?.getAttributeTypeMap === undefined) return wrongScalar(value, type, path)
  return walkModel(value, model, path)
}

function walkArray(value: unknown, type: string, path: string): string[] {
  if (!Array.isArray(value)) return [`${path} is ${typeof value}, not a list`]
  return value.flatMap((item, index) => walk(item, type, `${path}[${index}]`))
}

function walkMap(value: unknown, type: string, path: string): string[] {
  if (typeof value !== 'object' || value === null) return [`${path} is ${typeof value}, not a mapping`]
  return Object.entries(value).flatMap(([key, item]) => walk(item, type, `${path}.${key}`))
}

function walkModel(value: unknown, model: Model, path: string): string[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [`${path} is not an object`]
  const attributes = new Map(model.getAttributeTypeMap().map(attribute => [attribute.baseName, attribute]))
  return Object.entries(fields(value)).flatMap(([key, item]) => {
    const attribute = attributes.get(key)
    if (attribute === undefined) return [`${path}.${key} is no field of this type`]
    return walk(item, attribute.type, `${path}.${key}`)
  })
}

function wrongScalar(value: unknown, type: string, path: string): string[] {
  if (type === 'any') return []
  const allowed = { IntOrString: ['number', 'string'], Date: ['string'] }[type] ?? [type]
  return allowed.includes(typeof value) ? [] : [`${path} is ${typeof value}, not ${type}`]
}
