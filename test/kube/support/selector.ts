interface Requirement {
  readonly key: string
  readonly operator: string
  readonly values?: readonly string[]
}
export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>
  readonly matchExpressions?: readonly Requirement[]
}
export type Labels = Readonly<Record<string, string>>

/** As an API server judges it: all must hold, an absent or empty selector takes everything. */
export function selects(selector: LabelSelector | undefined, labels: Labels): boolean {
  const equal = Object.entries(selector?.matchLabels ?? {}).every(([key, value]) => labels[key] === value)
  return equal && (selector?.matchExpressions ?? []).every(requirement => holds(requirement, labels))
}

/** `NotIn` holds for an absent label, too. */
function holds({ key, operator, values = [] }: Requirement, labels: Labels): boolean {
  const value = labels[key]
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value)
    case 'NotIn':
      return value === undefined || !values.includes(value)
    case 'Exists':
      return value !== undefined
    case 'DoesNotExist':
      return value === undefined
    default:
      throw new Error(`no operator: ${operator}`)
  }
}
