import { createRequire } from 'node:module'
import type { KubeObject } from './objects.js'

interface Model {
  new (data: object): { validate(): void }
}

const require = createRequire(import.meta.url)

/** What the JSON schemas of the API say: required fields, types, quantities. Kinds that have none there pass. */
export function checkModel(object: KubeObject): string[] {
  const model = modelOf(object)
  if (model === undefined) return []
  try {
    new model(object).validate()
    return []
  } catch (error) {
    return [`schema: ${(error as Error).message}`]
  }
}

function modelOf({ apiVersion, kind }: KubeObject): Model | undefined {
  try {
    return (require(`kubernetes-models/${apiVersion}/${kind}`) as Record<string, Model>)[kind]
  } catch {
    return undefined
  }
}
