export type Jitter =
  | { readonly kind: 'none' | 'full' | 'equal' | 'decorrelated' }
  | { readonly kind: 'range'; readonly low: number; readonly high: number }

export interface BackoffSettings {
  readonly kind: 'exponential' | 'linear' | 'fixed'
  readonly baseMs: number
  readonly factor: number
  readonly capMs: number
  readonly jitter: Jitter
}
