import { type Duration, defineFlags, parseDuration } from '@kubewright/base'
import { connectionFlags } from '../cluster/connection-flags.ts'
import { type Command, defineCommand } from '../command/command.ts'
import { outputFlag } from '../command/output-flag.ts'
import { entryArgument } from '../entry/entry-argument.ts'

/** The flags of `migrate`. */
export const migrateFlags = defineFlags({
  crd: {
    value: 'NAME',
    repeatable: true,
    help: 'Migrate the objects of this CRD instead of those of an operator; repeatable',
  },
  all: { default: false, help: 'Migrate the objects of all CRDs of the cluster' },
  method: {
    value: 'METHOD',
    choices: ['auto', 'server', 'client'],
    default: 'auto',
    help: 'Let the server migrate the objects (server), send one request per object (client), or use the server if it can (auto)',
  },
  timeout: {
    value: 'TIME',
    default: '30m',
    parse: (text: string): Duration => {
      parseDuration(text)
      // The parser has accepted it.
      return text as Duration
    },
    help: 'Wait this long for a migration by the server',
  },
  'dry-run': { default: false, help: 'Print the objects to migrate and change nothing' },
  ...connectionFlags,
  ...outputFlag,
})

/** `kubewright migrate`: rewrites stored objects in the storage version. */
export const migrateCommand: Command = defineCommand({
  name: 'migrate',
  summary: 'Rewrite stored objects in the storage version of their CRD',
  description: `
Rewrite the objects of an operator's CRDs that may be stored in an old version, then remove the old versions from
status.storedVersions of the CRD. Only then can a version be removed from the CRD. Deploy the CRD with the new storage
version first, and keep the conversion running. Objects keep their content and are not interrupted; repeating the command
is safe. Use a StorageVersionMigration if the cluster has them, else one empty patch per object. Exits with 1 if an
object cannot be rewritten; the old versions then stay in status.storedVersions.`,
  args: entryArgument,
  flags: migrateFlags,
  examples: ['migrate', 'migrate --crd homes.ajd.example.com --dry-run'],
  run: async (input, context) => (await import('./run-migrate.ts')).runMigrate(input, context),
})
