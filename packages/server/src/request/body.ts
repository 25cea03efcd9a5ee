import type { RequestContext } from './request-context.ts'

/** The largest request body in bytes, as in kube-apiserver. */
export const maxBodyBytes: number = 3 * 1024 * 1024

/** The media type of the request body without its parameters; JSON when the client sends no Content-Type. */
export function mediaTypeOf(context: RequestContext): string {
  const header = context.request.headers['content-type'] ?? ''
  const type = header.split(';', 1)[0]!.trim().toLowerCase()
  return type === '' ? 'application/json' : type
}

const utf8 = new TextDecoder()

/** Decodes a request body as UTF-8; invalid bytes become replacement characters. */
export function textOf(body: Uint8Array): string {
  return utf8.decode(body)
}
