import { readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { EsbuildMetafile } from './esbuild.ts'

/** The packages of the embedded control plane. */
const serverPackages = new Set(['@kubewright/server', '@kubewright/controlplane'])

/**
 * The shortest chain of imports from the program to the embedded control plane, as paths relative to the project. Undefined if the file
 * contains none of its code.
 */
export function serverImport({ inputs, outputs }: EsbuildMetafile, project: string): string[] | undefined {
  const [output] = Object.values(outputs).filter(({ entryPoint }) => entryPoint !== undefined)
  const used = new Set(Object.keys(output?.inputs ?? {}).filter((path) => output!.inputs[path]!.bytesInOutput > 0))
  const names = new Map<string, string | undefined>()
  const isServer = (path: string): boolean =>
    used.has(path) && serverPackages.has(packageOf(dirname(resolve(project, path)), names) ?? '')
  const start = output?.entryPoint ?? ''
  const cameFrom = new Map<string, string | undefined>([[start, undefined]])
  for (const path of cameFrom.keys()) {
    if (isServer(path)) return chainTo(path, cameFrom)
    // Modules that are found during the iteration are visited after all earlier ones.
    for (const { path: next } of inputs[path]?.imports ?? []) if (!cameFrom.has(next)) cameFrom.set(next, path)
  }
  return undefined
}

function chainTo(path: string, cameFrom: ReadonlyMap<string, string | undefined>): string[] {
  const chain: string[] = []
  for (let at: string | undefined = path; at !== undefined; at = cameFrom.get(at)) chain.unshift(at)
  return chain
}

/** The name of the package that a folder belongs to. */
function packageOf(folder: string, known: Map<string, string | undefined>): string | undefined {
  if (known.has(folder)) return known.get(folder)
  let name: string | undefined
  try {
    name = (JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { name?: string | undefined }).name
  } catch {
    // Not the root of a package.
  }
  name ??= dirname(folder) === folder ? undefined : packageOf(dirname(folder), known)
  known.set(folder, name)
  return name
}
