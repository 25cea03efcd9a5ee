import {
  type Append,
  type AppendAnswer,
  type Database,
  type DatabaseCall,
  Fenced,
  type Report,
  type Snapshot,
} from './database.ts'

// One that takes longer is as good as gone; the next look will tell.
const patienceMillis = 3000

/** Instances by HTTP. */
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
  post(url, 'append', append, { signal: AbortSignal.timeout(patienceMillis) }) as Promise<AppendAnswer>

/** Asks an instance. Answers have the format of `server.ts`. */
export async function post(url: string, what: string, body: unknown, { signal }: DatabaseCall): Promise<unknown> {
  const response = await fetch(new URL(what, url), {
    method: 'POST',
    body: JSON.stringify(body),
    signal: AbortSignal.any([signal, AbortSignal.timeout(patienceMillis)]),
  })
  const answer = (await response.json()) as { readonly message?: string }
  if (response.status === 409) throw new Fenced(answer.message)
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${answer.message}`)
  return answer
}
