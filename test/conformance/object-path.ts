import { isJsonObject } from '@kubewright/base'

// Paths into JSON, such as a.b[0].c['x.y/z'][name=foo][*].

type Container = Record<string | number, unknown>
type Token =
  | { readonly key: string }
  | { readonly index: number }
  | { readonly every: true }
  | { readonly where: string; readonly is: string }

interface Hit {
  readonly parent: Container
  readonly key: string | number
  readonly value: unknown
}

const tokenPattern = /\.?([^.[]+)|\['(.*?)'\]|\[(-?\d+)\]|\[(\*)\]|\[([^=\]]+)=([^\]]*)\]/gy

function tokensOf(path: string): Token[] {
  return [...path.matchAll(tokenPattern)].map(([, name, quoted, index, star, where, is]): Token => {
    const key = name ?? quoted
    if (key !== undefined) return { key }
    if (index !== undefined) return { index: Number(index) }
    return star === undefined ? { where: where!, is: is! } : { every: true }
  })
}

function keysFor(container: object, token: Token): (string | number)[] {
  const list = Array.isArray(container) ? (container as unknown[]) : undefined
  if ('every' in token) return list ? [...list.keys()] : Object.keys(container)
  if ('key' in token) return !list && Object.hasOwn(container, token.key) ? [token.key] : []
  if (!list) return []
  if ('index' in token) {
    const at = token.index < 0 ? list.length + token.index : token.index
    return at in list ? [at] : []
  }
  return [...list.keys()].filter((i) => isJsonObject(list[i]) && String(valueAt(list[i], token.where)) === token.is)
}

function hits(root: unknown, tokens: readonly Token[]): Hit[] {
  const [first, ...rest] = tokens
  if (!first || typeof root !== 'object' || root === null) return []
  const parent = root as Container
  return keysFor(root, first).flatMap((key) =>
    rest.length === 0 ? [{ parent, key, value: parent[key] }] : hits(parent[key], rest),
  )
}

/** The first value at a path; undefined when there is none. */
export function valueAt(root: unknown, path: string): unknown {
  return path === '' ? root : hits(root, tokensOf(path))[0]?.value
}

/** All values at a path. */
export function valuesAt(root: unknown, path: string): unknown[] {
  return hits(root, tokensOf(path)).map(({ value }) => value)
}

/** Sets the value at a path and creates missing objects and lists. */
export function setAt(root: unknown, path: string, value: unknown): void {
  const steps = tokensOf(path).map((token) => ('key' in token ? token.key : 'index' in token ? token.index : 0))
  let at = root as Container
  steps.forEach((key, i) => {
    if (i === steps.length - 1) at[key] = value
    else at = (at[key] ??= typeof steps[i + 1] === 'number' ? [] : {}) as Container
  })
}

/** Removes every value at a path. */
export function removeAt(root: unknown, path: string): void {
  for (const { parent, key } of hits(root, tokensOf(path)).reverse()) {
    if (Array.isArray(parent)) parent.splice(Number(key), 1)
    else delete parent[key]
  }
}
