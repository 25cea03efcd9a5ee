/** The clients of the request fuzzer. */
export type FuzzUser = 'anonymous' | 'low' | 'admin'

/** A request of the fuzzer, complete enough to be stored and sent again. */
export interface FuzzRequest {
  readonly user: FuzzUser
  readonly protocol: 'http1' | 'http2'
  readonly method: string
  /** The path with its query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** Text, or bytes in base64. */
  readonly body?: string | { readonly base64: string }
  /** Whether the client ends the request as soon as the response begins. */
  readonly drop?: boolean
}

/** A response, or the reason why there is none. */
export interface FuzzResponse {
  /** 0 without a response. */
  readonly status: number
  readonly type: string
  readonly body: Buffer
  readonly error?: string
}
