export interface BudgetSettings {
  readonly ratio: number
  readonly windowMs: number
  readonly minPerSecond: number
}
