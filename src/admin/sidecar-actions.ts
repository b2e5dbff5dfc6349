import type { Pipeline } from '../pipeline/pipeline.js'
import type { PolicyWatcher } from '../policy/watcher.js'
import type { AdminActions } from './actions.js'

export interface ActionParts {
  readonly pipeline: Pick<Pipeline, 'switches' | 'forceBreaker' | 'resetBudget'>
  readonly watcher: Pick<PolicyWatcher, 'reload'>
  readonly listeners: { failures(): Promise<readonly string[]> }
  drain(): void
  quit(): void
}

/** The verbs, on a running sidecar. */
export function sidecarActions({ pipeline, watcher, listeners, drain, quit }: ActionParts): AdminActions {
  return {
    reload: async () => {
      const outcome = await watcher.reload('admin')
      return { ...outcome, messages: [...outcome.messages, ...(await listeners.failures())] }
    },
    drain,
    retriesOff: forMs => pipeline.switches.turnRetriesOff(forMs),
    retriesOn: () => pipeline.switches.turnRetriesOff(0),
    faultsOn: forMs => pipeline.switches.turnFaultsOn(forMs),
    faultsOff: () => pipeline.switches.turnFaultsOn(0),
    setBreaker: (upstream, setting) => pipeline.forceBreaker(upstream, setting),
    resetBudget: upstream => pipeline.resetBudget(upstream),
    quit,
  }
}
