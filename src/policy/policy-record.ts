import type { PolicyReloaded } from '../telemetry/events.js'
import type { SidecarStatus } from '../telemetry/status.js'

type Trouble = SidecarStatus['lastReloadError']

/** When the policies came into force, and what is wrong with those on disk. */
export class PolicyRecord {
  #loadedAt = new Date()
  #trouble: Trouble = null
  /** With the set in force itself, which is only a part of what is on disk. */
  #left: Trouble = null

  onReload({ result, messages }: PolicyReloaded): void {
    const at = new Date()
    const trouble = { at: at.toISOString(), messages }
    if (result === 'applied' || result === 'partial') {
      this.#loadedAt = at
      this.#left = result === 'partial' ? trouble : null
    }
    this.#trouble = result === 'rejected' ? trouble : this.#left
  }

  status(): Pick<SidecarStatus, 'loadedAt' | 'lastReloadError'> {
    return { loadedAt: this.#loadedAt.toISOString(), lastReloadError: this.#trouble }
  }
}
