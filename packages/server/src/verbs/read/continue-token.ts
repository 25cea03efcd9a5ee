import { newBadRequest, parseJson } from '@kubewright/api'

/** The position at which a paged list continues. */
export interface Continuation {
  /** The last key of the previous page. */
  readonly after: string
  readonly revision: number
}

const tokenVersion = 'meta.k8s.io/v1'

/** Encodes the position behind a key in the format of apiserver/pkg/storage/continue.go. */
export function encodeContinue(lastKey: string, prefix: string, revision: number): string {
  const token = { v: tokenVersion, rv: revision, start: `${lastKey.slice(prefix.length)}\u0000` }
  return Buffer.from(JSON.stringify(token)).toString('base64url')
}

/** Decodes a token. Throws a BadRequest when it is malformed or when its key lies outside the prefix. */
export function decodeContinue(text: string, prefix: string): Continuation {
  const refuse = (why: string): never => {
    throw newBadRequest(`invalid continue token: continue key is not valid${why}`)
  }
  const bad = /[^A-Za-z0-9_-]/.exec(text)
  if (bad) refuse(`: illegal base64 data at input byte ${bad.index}`)
  if (text.length % 4 === 1) refuse(`: illegal base64 data at input byte ${text.length - 1}`)
  let token: { v?: unknown; rv?: unknown; start?: unknown }
  try {
    token = parseJson(Buffer.from(text, 'base64url')) as typeof token
  } catch (error) {
    return refuse(`: ${(error as Error).message}`)
  }
  if (Array.isArray(token)) refuse(': json: cannot unmarshal array into Go value of type storage.continueToken')
  if (token?.v !== tokenVersion) refuse(`: server does not recognize this encoded version ${String(token?.v ?? '')}`)
  if (typeof token.rv === 'number' && !Number.isSafeInteger(token.rv)) {
    const shown = `number ${token.rv}`
    refuse(`: json: cannot unmarshal ${shown} into Go struct field continueToken.rv of type int64`)
  }
  if (typeof token.rv !== 'number' || token.rv === 0)
    refuse(`: incorrect encoded start resourceVersion (version ${tokenVersion})`)
  if (typeof token.start !== 'string' || token.start === '')
    refuse(`: encoded start key empty (version ${tokenVersion})`)
  const start = token.start as string
  const parts = (start.startsWith('/') ? start.slice(1) : start).split('/')
  if (parts.some((part) => part === '' || part === '.' || part === '..')) refuse(`: ${start}`)
  // The token contains the smallest key behind the last one: that key followed by NUL.
  return { after: prefix + start.replace(/\u0000$/, ''), revision: token.rv as number }
}
