import type { TlsMaterial } from '../transport/http-dial.ts'

/** Where a piece of PEM comes from. */
export type PemSource = () => Promise<string | undefined> | string | undefined

/** What {@link tlsSource} puts together. */
export interface TlsSources {
  readonly ca?: PemSource | undefined
  /** The client's certificate and its key, read together. */
  readonly identity?: (() => Promise<{ cert?: string | undefined; key?: string | undefined }>) | undefined
  readonly serverName?: string | undefined
  readonly insecure?: boolean | undefined
}

/** Certificates from sources that may change: the same object as long as they do not. */
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
