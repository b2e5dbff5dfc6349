import type { Clock } from '../clock/clock.js'
import type { MakeBreaker } from '../pipeline/upstream-state.js'
import { createBreaker } from './opossum-breaker.js'

/** Breakers for the pipeline. The clock must run with Node's timers. */
export function breakersOn(clock: Clock, random: () => number): MakeBreaker {
  return (settings, latency, onTransition) =>
    createBreaker(settings, {
      random,
      onTransition,
      nowMs: () => clock.nowMs(),
      p95Ms: () => latency.quantile(0.95, clock.nowMs()),
    })
}
