/** What {@link keepHeapSmall} needs to know about the process. */
interface HeapProcess {
  readonly execArgv: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly versions: { readonly node: string }
}

/** V8 reads these flags at each collection, so they take effect in a running process. */
const earlyCollection = ['--semi-space-growth-factor=1', '--heap-growing-percent=50']

/** The releases of Node in which the flags were tested. */
const testedReleases = new Set(['20', '22', '24'])

/** Flags by which a user decides how V8 uses memory. */
const ownChoice = /--(?:\w+[-_])*(?:semi[-_]space|heap[-_]growing|optimize[-_]for[-_]size|lite[-_]mode|gc[-_])/

/**
 * Makes V8 collect garbage before the heap grows much: the young generation keeps its initial size, and the old one grows by half between
 * collections. An operator allocates little that lives long, but V8 lets the garbage of a busy period grow to twice the memory of the rest
 * before it collects it, which exceeds the usual memory limit of 128 MiB (ADR 26).
 *
 * Does nothing if the command line or NODE_OPTIONS has a flag on this subject, or in an untested release of Node.
 */
export function keepHeapSmall(
  { execArgv, env, versions }: HeapProcess = process,
  setFlag: (flag: string) => void = setV8Flag,
): void {
  const [release = ''] = versions.node.split('.')
  if (!testedReleases.has(release)) return
  if ([...execArgv, env['NODE_OPTIONS'] ?? ''].some((text) => ownChoice.test(text))) return
  for (const flag of earlyCollection) setFlag(flag)
}

/** Loads the module when it is needed: tools import an operator without running it. */
const setV8Flag = (flag: string): void => process.getBuiltinModule('node:v8').setFlagsFromString(flag)
