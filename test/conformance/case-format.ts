// The format of the recorded cases in `cases/`. Strings may contain ${names}: `u` (unique to the run of the case),
// `ns`, `group`, `webhook` and `caBundle`, and values that earlier steps captured.

/** Recorded JSON. */
export type Json = unknown

/** A request of a case. */
export interface RequestSpec {
  readonly method?: string
  readonly path: string
  readonly query?: Readonly<Record<string, string | readonly string[]>>
  /** Replace the default headers; null removes one. */
  readonly headers?: Readonly<Record<string, string | null>>
  /** A string is sent unchanged, `{ $base64 }` is decoded, any other value is sent as JSON. */
  readonly body?: Json
  /** The identity to impersonate. */
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
  /** Whether a 429 response is part of the case instead of a reason to retry. */
  readonly noRetry?: boolean
  readonly timeoutMs?: number
}

/** How a response is reduced before it is compared. */
export interface Reduction {
  /** Paths to remove. */
  readonly ignore?: readonly string[]
  /** The only paths to compare. An error is compared completely unless `pickErrors` is set. */
  readonly pick?: readonly string[]
  readonly pickErrors?: boolean
  /** Ignores the order of the causes of an error. */
  readonly unorderedErrors?: boolean
}

/** A condition that a response must meet before the case continues. */
export interface Condition {
  readonly status?: number | readonly number[]
  readonly body?: Readonly<Record<string, Json>>
  readonly messageIncludes?: string
  /** A webhook that must have been called. */
  readonly called?: string
  readonly hook?: string
  readonly count?: number
  /** Milliseconds to wait after the condition is met. */
  readonly stable?: number
}

/** One step: a request, unless a member such as `wait`, `watch` or `crd` makes it another step. */
export interface Step extends Partial<RequestSpec>, Reduction {
  readonly expect?: Json
  /** The response is not compared; the request must only succeed. */
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
  /** Within `during`: waits until this many events have arrived. */
  readonly awaitEvents?: number
  readonly dropBookmarks?: boolean
  readonly initialBookmarkOnly?: boolean
  readonly collapseBookmarks?: boolean
  readonly sortEvents?: boolean
}

/** The part of a CustomResourceDefinition that a step needs to wait for it. */
export interface CrdSpec {
  readonly group: string
  readonly names: { readonly plural: string }
  readonly versions?: readonly { readonly name: string; readonly served?: boolean }[]
}

/** The response of a webhook of a case. */
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
  /** Members that replace those of the response of a conversion; the text `$absent` removes one. */
  readonly replace?: Readonly<Record<string, Json>>
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

/** A recorded case. Cases are independent of each other; a `serial` case must run alone. */
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
