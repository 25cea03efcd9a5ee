import type { TlsMaterial } from '../transport/http-dial.ts'

/** A source of PEM text. */
export type PemSource = () => Promise<string | undefined> | string | undefined

/** The sources that {@link tlsSource} combines. */
export interface TlsSources {
  readonly ca?: PemSource | undefined
  /** The client certificate and its key, read together. */
  readonly identity?: (() => Promise<{ cert?: string | undefined; key?: string | undefined }>) | undefined
  readonly serverName?: string | undefined
  readonly insecure?: boolean | undefined
}

/** Combines sources that may change. Returns the same object while nothing has changed. */
export function tlsSource({ ca, identity, serverName, insecure }: TlsSources): () => Promise<TlsMaterial> {
  let last: TlsMaterial | undefined
  return async () => {
    const [authority, own = {}] = await Promise.all([ca?.(), identity?.()])
    if (last === undefined || last.ca !== authority || last.cert !== own.cert || last.key !== own.key) {
      last = { ca: authority, cert: own.cert, key: own.key, serverName, insecure }
    }
    return last
  }
}
