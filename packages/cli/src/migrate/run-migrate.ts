import { isNotFound } from '@kubewright/api'
import { type FlagValues, KubewrightError, UsageError } from '@kubewright/base'
import type { ApiClient } from '@kubewright/client'
import { CustomResourceDefinition } from '@kubewright/k8s/apiextensions/v1'
import { connectCluster } from '../cluster/connect-cluster.ts'
import type { CommandInput } from '../command/command.ts'
import type { CommandContext } from '../command/command-context.ts'
import type { entryArgument } from '../entry/entry-argument.ts'
import { describeProject } from '../manifests/describe-project.ts'
import { noTerminal } from '../terminal/terminal.ts'
import { plural } from '../text/plural.ts'
import type { migrateFlags } from './migrate-command.ts'
import { listObjects, type RewriteFailure, rewriteObjects, rewriteOne } from './rewrite-objects.ts'
import { migrateOnServer, migrationKind } from './server-migration.ts'
import { dropOldVersions, type StoredDefinition, storedDefinition } from './stored-definition.ts'

type Flags = FlagValues<typeof migrateFlags>

/** The result for one CRD, as `--output json` prints it. */
interface Migration {
  readonly crd: string
  readonly storageVersion: string
  /** The versions in which objects may have been stored before. */
  readonly oldVersions: readonly string[]
  /** `none` if there was nothing to migrate, and on a dry run. */
  readonly method: 'none' | 'server' | 'client'
  readonly objects: number
  /** Absent if the server migrated the objects, which does not count them. */
  readonly rewritten?: number | undefined
  readonly failures: readonly RewriteFailure[]
}

const shownFailures = 10
// Without a terminal, a line of progress is printed no more often than this.
const noteMillis = 10_000

/** Rewrites the stored objects of CRDs in their storage versions. */
export async function runMigrate(
  { flags, args }: CommandInput<typeof migrateFlags, typeof entryArgument>,
  context: CommandContext,
): Promise<number> {
  if (args.entry !== undefined && (flags.all || flags.crd.length > 0))
    throw new UsageError(`unexpected argument "${args.entry}": --crd and --all select CRDs without an operator`)
  if (flags.all && flags.crd.length > 0) throw new UsageError('--all includes every --crd: give one of them')
  const names = flags.all || flags.crd.length > 0 ? flags.crd : await ownDefinitions(args.entry, context)
  if (names.length === 0 && !flags.all) {
    context.note('Nothing to do: the operator defines no resources')
    return 0
  }
  const client = await connectCluster(flags, context)
  try {
    const migrations: Migration[] = []
    for (const definition of await definitions(client, names, context.signal)) {
      const migration = await migrate(definition, client, flags, context)
      migrations.push(migration)
      context.terminal?.progress?.clear()
      if (flags.output !== 'json') print(migration, flags['dry-run'], context)
    }
    if (flags.output === 'json') context.out(JSON.stringify({ dryRun: flags['dry-run'], migrations }, undefined, 2))
    if (flags.all && migrations.every(({ oldVersions }) => oldVersions.length === 0))
      context.note('All objects are stored in the storage versions of their CRDs')
    return migrations.some(({ failures }) => failures.length > 0) ? 1 : 0
  } finally {
    await client[Symbol.asyncDispose]()
  }
}

async function ownDefinitions(entry: string | undefined, context: CommandContext): Promise<string[]> {
  const { operator } = await describeProject(entry, context)
  return operator.resources.map(({ crd }) => crd.metadata.name)
}

/** The CRDs with these names; all CRDs that have old versions if there are no names. */
async function definitions(
  client: ApiClient,
  names: readonly string[],
  signal: AbortSignal,
): Promise<StoredDefinition[]> {
  if (names.length === 0) {
    const crds = await client.list(CustomResourceDefinition, { signal })
    return crds.filter(({ status }) => (status?.storedVersions ?? []).length > 1).map(storedDefinition)
  }
  return Promise.all(
    names.map(async (name) => {
      try {
        return storedDefinition(await client.get(CustomResourceDefinition, name, { signal }))
      } catch (error) {
        if (!isNotFound(error)) throw error
        throw new KubewrightError(
          'KW_MIGRATE',
          `The cluster has no CRD ${name}: install it with kubewright deploy, or check the context`,
          {
            cause: error,
          },
        )
      }
    }),
  )
}

async function migrate(
  definition: StoredDefinition,
  client: ApiClient,
  flags: Flags,
  context: CommandContext,
): Promise<Migration> {
  const { name: crd, storageVersion, oldVersions } = definition
  const { signal, clock, terminal = noTerminal } = context
  const idle = { crd, storageVersion, oldVersions, method: 'none', objects: 0, failures: [] } as const
  if (oldVersions.length === 0) return idle
  if (flags['dry-run']) return { ...idle, objects: (await listObjects(definition, client, signal)).length }
  const kind = flags.method === 'client' ? undefined : await migrationKind(client, signal)
  if (kind === undefined && flags.method === 'server') {
    throw new KubewrightError(
      'KW_MIGRATE',
      'The cluster serves no StorageVersionMigration of storagemigration.k8s.io: enable it, or use --method client',
    )
  }
  if (kind !== undefined) {
    const { length: objects } = await listObjects(definition, client, signal)
    const waiting = `${crd}: waiting for the server to rewrite ${plural(objects, 'object')}`
    if (terminal.progress === undefined) context.note(waiting)
    else terminal.progress.show(waiting)
    const nudge = (): Promise<void> => rewriteOne(definition, client, signal)
    const options = { client, clock, timeout: flags.timeout, signal, nudge }
    const problem = await migrateOnServer(definition, kind, options)
    if (problem === undefined) {
      await dropOldVersions(client, definition, signal)
      return { ...idle, method: 'server', objects }
    }
    if (flags.method === 'server')
      throw new KubewrightError('KW_MIGRATE', `${crd} was not migrated: ${problem}; try --method client`)
    context.note(`${crd}: ${problem}; sending one request per object instead`)
  }
  const onProgress = progressOf(crd, context)
  const result = await rewriteObjects(definition, { client, signal, onProgress })
  if (result.failures.length === 0) await dropOldVersions(client, definition, signal)
  return { ...idle, method: 'client', ...result }
}

/** Shows progress on the terminal, or as lines that are some seconds apart. */
function progressOf(crd: string, context: CommandContext): (done: number, objects: number) => void {
  const { terminal = noTerminal, clock, note } = context
  let notedAt = clock.monotonic()
  return (done, objects) => {
    const text = `${crd}: ${done} of ${plural(objects, 'object')} (${Math.floor((done / objects) * 100)} %)`
    if (terminal.progress !== undefined) terminal.progress.show(text)
    else if (clock.monotonic() - notedAt >= noteMillis) {
      notedAt = clock.monotonic()
      note(text)
    }
  }
}

function print(migration: Migration, isDryRun: boolean, { out, note }: CommandContext): void {
  const { crd, failures } = migration
  for (const { namespace, name, message } of failures.slice(0, shownFailures))
    note(`${crd}: ${namespace === undefined ? '' : `${namespace}/`}${name} cannot be rewritten: ${message}`)
  if (failures.length > shownFailures) note(`${crd}: ${failures.length - shownFailures} more cannot be rewritten`)
  out(`${crd}: ${resultText(migration, isDryRun)}`)
}

function resultText(migration: Migration, isDryRun: boolean): string {
  const { storageVersion, oldVersions, objects, rewritten = objects, failures } = migration
  const old = oldVersions.join(', ')
  if (oldVersions.length === 0) return `all objects are stored in ${storageVersion}`
  if (isDryRun) {
    return `${plural(objects, 'object')} may be stored in ${old} and would be rewritten in ${storageVersion} (dry run)`
  }
  if (failures.length > 0) {
    return `${failures.length} of ${plural(objects, 'object')} cannot be rewritten in ${storageVersion}: fix them and run the command again; ${old} stays in status.storedVersions`
  }
  const rest = objects - rewritten
  const others = rest === 0 ? '' : `, ${rest} ${rest === 1 ? 'was' : 'were'} stored in it already`
  return `rewrote ${plural(rewritten, 'object')} in ${storageVersion}${others}; removed ${old} from status.storedVersions`
}
