// The form of the recorded cases in `cases/`. Texts may contain ${names}: `u` (unique to the run of the case), `ns`, `group`,
// `webhook` and `caBundle`, and what earlier steps captured.

/** JSON, as recorded. */
export type Json = unknown

/** A request of a case. */
export interface RequestSpec {
  readonly method?: string
  readonly path: string
  readonly query?: Readonly<Record<string, string | readonly string[]>>
  /** Replace the usual ones; null removes one. */
  readonly headers?: Readonly<Record<string, string | null>>
  /** A string is sent as it is, `{ $base64 }` decoded, everything else as JSON. */
  readonly body?: Json
  /** Whom to impersonate. */
  readonly as?: {
    readonly user: string
    readonly groups?: readonly string[]
    readonly uid?: string
    readonly extra?: Readonly<Record<string, readonly string[]>>
  }
  /** Credentials other than the administrator's. */
  readonly auth?:
    | 'none'
    | { readonly token: string }
    | { readonly header: string }
    | { readonly cert: { readonly cn: string; readonly o?: readonly string[] } }
  /** Whether an answer of 429 is part of the case rather than a reason to wait. */
  readonly noRetry?: boolean
  readonly timeoutMs?: number
}

/** How an answer is reduced before it is compared. */
export interface Reduction {
  /** Paths that are removed. */
  readonly ignore?: readonly string[]
  /** Only these paths are compared; an error is compared whole unless `pickErrors` is set. */
  readonly pick?: readonly string[]
  readonly pickErrors?: boolean
  /** The order of the causes of an error does not count. */
  readonly unorderedErrors?: boolean
}

/** Something that an answer must become before the case goes on. */
export interface Condition {
  readonly status?: number | readonly number[]
  readonly body?: Readonly<Record<string, Json>>
  readonly messageIncludes?: string
  /** A webhook that must have been called. */
  readonly called?: string
  readonly hook?: string
  readonly count?: number
  /** Milliseconds to wait after the condition held. */
  readonly stable?: number
}

/** One step: a request unless another member says what else it is. */
export interface Step extends Partial<RequestSpec>, Reduction {
  readonly expect?: Json
  /** Only has to succeed. */
  readonly setup?: boolean
  readonly status?: number | readonly number[]
  readonly capture?: Readonly<Record<string, string>>
  readonly match?: Readonly<Record<string, string>>
  readonly statusOnly?: boolean
  readonly crd?: { readonly metadata: { readonly name: string }; readonly spec: CrdSpec }
  readonly wait?: 'calls' | RequestSpec
  readonly until?: Condition | number | 'end'
  readonly everyMs?: number
  readonly thenClear?: string | readonly string[]
  readonly sleepMs?: number
  /** The webhook whose calls are compared. */
  readonly calls?: string
  readonly clearCalls?: string | readonly string[]
  readonly unique?: true | Readonly<Record<string, Json>>
  readonly countOnly?: boolean
  /** The path of a watch. */
  readonly watch?: string
  readonly during?: readonly Step[]
  /** Within `during`: waits until so many events have come. */
  readonly awaitEvents?: number
  readonly dropBookmarks?: boolean
  readonly initialBookmarkOnly?: boolean
  readonly collapseBookmarks?: boolean
  readonly sortEvents?: boolean
}

/** What a step needs to know of a definition to wait for it. */
export interface CrdSpec {
  readonly group: string
  readonly names: { readonly plural: string }
  readonly versions?: readonly { readonly name: string; readonly served?: boolean }[]
}

/** What a webhook of a case answers. */
export interface WebhookAnswer {
  readonly delayMs?: number
  readonly destroy?: boolean
  readonly rawBody?: string
  readonly contentType?: string
  readonly httpStatus?: number
  readonly result?: { readonly status?: string }
  readonly convertAnyway?: boolean
  readonly convert?: WebhookSpec['convert']
  readonly dropOne?: boolean
  readonly after?: readonly Edit[]
  readonly uid?: string
  readonly apiVersion?: string
  readonly kind?: string
  readonly allowed?: boolean
  readonly patch?: Json
  readonly patchRaw?: string
  readonly patchType?: string | null
  readonly status?: Json
  readonly warnings?: Json
  readonly auditAnnotations?: Json
}

/** An edit that a conversion webhook makes. */
export interface Edit {
  readonly move?: readonly [string, string]
  readonly set?: readonly [string, Json]
  readonly delete?: string
}

/** A webhook of a case. */
export interface WebhookSpec {
  readonly type?: string
  readonly rules?: readonly { readonly when?: Readonly<Record<string, Json>>; readonly respond?: WebhookAnswer }[]
  readonly respond?: WebhookAnswer
  /** Edits by `from->to`. */
  readonly convert?: Readonly<Record<string, readonly Edit[]>>
}

/** A recorded case: independent of all others, unless it is `serial`, which wants to be alone. */
export interface Case extends Reduction {
  readonly id: string
  readonly title: string
  readonly needs?: readonly string[]
  readonly tags?: readonly string[]
  readonly ns?: boolean
  /** Whether the namespace needs its default service account. */
  readonly sa?: boolean
  readonly rv?: 'loose'
  readonly serial?: boolean
  readonly timeoutS?: number
  readonly cacheSync?: boolean
  /** Replacements by regular expression. */
  readonly subs?: readonly (readonly [string, string])[]
  readonly webhooks?: Readonly<Record<string, WebhookSpec>>
  readonly steps: readonly Step[]
}

/** A file of `cases/`. */
export interface CaseFile {
  readonly area: string
  readonly cases: readonly Case[]
}
