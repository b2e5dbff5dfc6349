/** What was read from a manifest or an AdmissionReview: nothing of it is known but what is checked. */
export type Fields = Readonly<Record<string, unknown>>

/** `spec` of a pod or of a pod template, as written; fields that this version does not know included. */
export type PodSpec = Fields

/** `metadata` of the same pod or template. */
export type PodMeta = Fields

export type NativeChoice = 'auto' | 'true' | 'false'

/** `native`: an init container that restarts (Kubernetes 1.29). `classic`: the first of the ordinary containers. */
export type SidecarForm = 'native' | 'classic'

export type SidecarPosition = 'first' | 'last'

/** What a pod does not say itself by annotation. Everything but `image` has a default. */
export interface InjectOptions {
  readonly image: string
  readonly policyConfigMap?: string
  /** As in the annotation: `payments=9101,ledger`. */
  readonly upstreams?: string
  readonly native?: NativeChoice
  /** Of the cluster, such as `1.29`; unknown, it is taken to be able to run native sidecars. */
  readonly kubeVersion?: string
  readonly httpProxy?: boolean
  readonly position?: SidecarPosition
  readonly allowHostNetwork?: boolean
  /** A pod that is to end takes the classic form: its app promises to call `/quitquitquit`. */
  readonly quitEndpoint?: boolean
  /** A pod that the command has injected, with flags that the webhook cannot know, is left as it is by the webhook. */
  readonly by?: 'webhook'
  /** Of the object that holds the template, `Pod` for a pod itself. */
  readonly kind?: string
  /** Names of the volume claim templates of a StatefulSet, which become volumes of its pods. */
  readonly claims?: readonly string[]
  /** How collections that are null are written, by their path (`spec/volumes`), so that `uninject` can write them again. */
  readonly nulls?: ReadonlyMap<string, string>
}

export type Path = readonly (string | number)[]

/**
 * One change to one collection of `{ metadata, spec }`. An object and its text are changed by the same list, whose
 * paths and indexes are those before any of it was applied.
 */
export type Edit =
  | { readonly op: 'add-items'; readonly path: Path; readonly at: SidecarPosition; readonly items: readonly unknown[] }
  | { readonly op: 'add-entries'; readonly path: Path; readonly entries: Fields }
  /** Null becomes a value. */
  | { readonly op: 'fill'; readonly path: Path; readonly value: unknown }
  | { readonly op: 'remove-items'; readonly path: Path; readonly indexes: readonly number[] }
  | { readonly op: 'remove-entries'; readonly path: Path; readonly keys: readonly string[] }
  /** A value becomes null, in this spelling. */
  | { readonly op: 'empty'; readonly path: Path; readonly text: string }

export interface Problem {
  /** In `{ metadata, spec }`, as near as it can be said. */
  readonly path: Path
  readonly reason: string
  readonly suggestion: string
}

export interface Report {
  /** `refused`: the pod came back as it was, because of `problems`. `skipped`: its label says so. */
  readonly outcome: 'injected' | 'unchanged' | 'skipped' | 'refused'
  readonly form?: SidecarForm
  /** One phrase each, such as `env FORBEAR_URL in web`. */
  readonly added: readonly string[]
  readonly problems: readonly Problem[]
  readonly warnings: readonly string[]
}

export interface InjectResult {
  readonly podSpec: PodSpec
  readonly meta: PodMeta
  /** Two lists where an older injection is replaced, one after the other; else one or none. */
  readonly edits: readonly (readonly Edit[])[]
  readonly report: Report
}

export interface UninjectResult {
  readonly podSpec: PodSpec
  /** Absent if it was made by the injection. */
  readonly meta: PodMeta | null | undefined
  readonly edits: readonly Edit[]
  /** One phrase each. */
  readonly removed: readonly string[]
  readonly problems: readonly Problem[]
}
