import { textOf } from './fields.js'
import { type Annotated, type Complain, choice } from './settings.js'
import type { InjectOptions, PodSpec, Problem, SidecarForm } from './types.js'

/** Since then the API server and the kubelets keep `restartPolicy` of an init container. */
export const NATIVE_SINCE = '1.29'

const KINDS_THAT_END = ['Job', 'CronJob']

export interface ChosenForm {
  readonly form: SidecarForm
  readonly problems: readonly Problem[]
}

/** There is no form between the two: an older server drops half of the native one, and the pod would never start. */
export function chooseForm(
  podSpec: PodSpec,
  annotated: Annotated,
  options: InjectOptions,
  complain: Complain,
): ChosenForm {
  const wanted = choice(annotated, 'native', ['auto', 'true', 'false'], complain) ?? options.native ?? 'auto'
  const able = options.kubeVersion === undefined || isAtLeast(options.kubeVersion, NATIVE_SINCE)
  if (wanted === 'true' && !able) return { form: 'native', problems: [tooOld(options.kubeVersion)] }
  const form = wanted === 'false' || (wanted === 'auto' && !able) ? 'classic' : 'native'
  const refused = form === 'classic' && options.quitEndpoint !== true && ends(podSpec, options)
  return { form, problems: refused ? [neverEnds(options, able)] : [] }
}

/** A pod that is done when its containers are: one more container that runs on keeps it for ever. */
export function ends(podSpec: PodSpec, { kind }: InjectOptions): boolean {
  const policy = textOf(podSpec.restartPolicy)
  return KINDS_THAT_END.includes(kind ?? '') || policy === 'Never' || policy === 'OnFailure'
}

/** `1.27`, `v1.29.3-gke.100`; `null` when it is none. */
export function parseKubeVersion(text: string): readonly [number, number] | null {
  const [, major, minor] = /^v?(\d{1,3})\.(\d{1,3})(?:$|[.+-])/.exec(text.trim()) ?? []
  return major === undefined ? null : [Number(major), Number(minor)]
}

function isAtLeast(text: string, floor: string): boolean {
  const [major, minor] = parseKubeVersion(text) ?? [0, 0]
  const [floorMajor, floorMinor] = parseKubeVersion(floor) ?? [0, 0]
  return major !== floorMajor ? major > floorMajor : minor >= floorMinor
}

function tooOld(version: string | undefined): Problem {
  return {
    path: ['spec'],
    reason: `native sidecars need Kubernetes ${NATIVE_SINCE}, and the cluster is ${version}: it would drop restartPolicy of the init container, and the pod would never start`,
    suggestion: 'leave native at auto, which takes the classic form here',
  }
}

function neverEnds({ kubeVersion, kind }: InjectOptions, able: boolean): Problem {
  const cause = able ? 'native is false' : `Kubernetes ${kubeVersion} has no native sidecars (${NATIVE_SINCE} has)`
  const what = kind === undefined || kind === 'Pod' ? 'a pod that is to end' : `a ${kind}`
  return {
    path: ['spec'],
    reason: `${cause}, and ${what} never completes beside an ordinary container that goes on running`,
    suggestion:
      'use native sidecars; or give --quit-endpoint and let the app say POST $FORBEAR_QUIT_URL as the last thing it does',
  }
}
