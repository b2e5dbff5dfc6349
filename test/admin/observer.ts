import { Observer, type ObserverDeps } from '../../src/admin/dashboard/observer.js'
import { VirtualClock } from '../../src/clock/virtual-clock.js'
import { sidecarStatus } from '../telemetry/status.js'

export function observerOf(over: Partial<ObserverDeps> = {}): Observer {
  return new Observer({ clock: new VirtualClock(), status: () => sidecarStatus(), tallies: new Map(), ...over })
}
