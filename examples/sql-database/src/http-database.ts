import {
  type Append,
  type AppendAnswer,
  type Database,
  type DatabaseCall,
  Fenced,
  type Report,
  type Snapshot,
} from './database.ts'

// An instance that takes longer counts as unavailable; the next reconcile checks again.
const timeoutMillis = 3000

/** Accesses instances over HTTP. */
export function httpDatabase(): Database {
  return {
    report: (url, call) => post(url, 'report', {}, call) as Promise<Report>,
    promote: async (url, promotion, call) => void (await post(url, 'promote', promotion, call)),
    snapshot: (url, epoch, call) => post(url, 'snapshot', { epoch }, call) as Promise<Snapshot>,
    restore: async (url, restoration, call) => void (await post(url, 'restore', restoration, call)),
  }
}

/** Sends rows from one instance to another. */
export const sendAppend = (url: string, append: Append): Promise<AppendAnswer> =>
  post(url, 'append', append, { signal: AbortSignal.timeout(timeoutMillis) }) as Promise<AppendAnswer>

/** Sends a request to an instance. `server.ts` defines the format of responses. */
export async function post(url: string, what: string, body: unknown, { signal }: DatabaseCall): Promise<unknown> {
  const response = await fetch(new URL(what, url), {
    method: 'POST',
    body: JSON.stringify(body),
    signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMillis)]),
  })
  const answer = (await response.json()) as { readonly message?: string }
  if (response.status === 409) throw new Fenced(answer.message)
  if (!response.ok) throw new Error(`${url} responded with status ${response.status}: ${answer.message}`)
  return answer
}
