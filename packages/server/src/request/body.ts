import { newBadRequest, newRequestEntityTooLarge } from '@kubewright/api'
import { defineBudget } from '@kubewright/base'
import type { RequestContext } from './request-context.ts'

/** Limits of request bodies. */
export interface BodyLimits {
  /** Larger bodies are refused with 413. @default 3 MiB, as in kube-apiserver */
  readonly bytes?: number | undefined
  /** Bodies with more keys and list items, in all levels together, are refused with 413. @default 100,000 */
  readonly values?: number | undefined
  /** Bodies that are nested deeper are refused with 400. @default 2,000 levels of JSON, 1,000 of YAML and protobuf, which is the maximum */
  readonly depth?: number | undefined
}

const defaultBytes = defineBudget(3 * 1024 * 1024, {
  group: 'server',
  what: 'size of a request body',
  unit: 'bytes',
  shown: '{}; 64 MiB to extension servers, kubelets, pods and services',
  option: '`limits.body.bytes`, `up --max-body-mib`; none to extension servers',
  answer: '413',
  kubernetes: 'yes',
})
const defaultValues = defineBudget(100_000, {
  group: 'server',
  what: 'keys and list items of a request body, in all levels together',
  option: '`limits.body.values`, `up --max-body-values`',
  answer: '413',
  kubernetes: 'no limit',
})

/** Reads the body of a request. Rejects with 413 when it is too large. */
export function readBody({ request, bodyLimits = {} }: RequestContext): Promise<Uint8Array> {
  return request.body(bodyLimits.bytes ?? defaultBytes)
}

/**
 * Refuses JSON with more keys and items than the limit before it is parsed: parsing them takes longer than counting the commas. A smaller
 * number of commas says nothing, so {@link checkBody} counts again.
 */
export function checkCommas({ bodyLimits = {} }: RequestContext, json: Uint8Array): void {
  const { values = defaultValues } = bodyLimits
  if (json.length <= 2 * values) return
  let commas = 0
  let isText = false
  for (let i = 0; i < json.length; i++) {
    const code = json[i]
    if (code === backslash) i++
    else if (code === quote) isText = !isText
    else if (code === comma && !isText && ++commas > values) throw tooManyValues(values)
  }
}

const backslash = 0x5c
const quote = 0x22
const comma = 0x2c

const tooManyValues = (values: number): Error =>
  newRequestEntityTooLarge(`the body has more than ${values} keys and items`)

/**
 * Checks the number of keys and items and the depth of a parsed body, before the steps that cost more per value than parsing does. `size`
 * is the length of the body in bytes if each value takes at least two of them, as in JSON.
 */
export function checkBody({ bodyLimits = {} }: RequestContext, value: unknown, size?: number): void {
  const { values = defaultValues, depth = Number.POSITIVE_INFINITY } = bodyLimits
  // Most bodies are too short to exceed the limit.
  if (size !== undefined && size <= 2 * values && bodyLimits.depth === undefined) return
  let level = typeof value === 'object' && value !== null ? [value as unknown] : []
  let count = 0
  for (let deep = 1; level.length > 0; deep++) {
    if (deep > depth) throw newBadRequest(`the body is nested too deep: it may have at most ${depth} levels`)
    const next: unknown[] = []
    for (const parent of level) {
      for (const child of Object.values(parent as object)) {
        if (++count > values) throw tooManyValues(values)
        if (typeof child === 'object' && child !== null) next.push(child)
      }
    }
    level = next
  }
}

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
