import { defineFlags } from '@kubewright/base'
import { connectionFlags } from '../cluster/connection-flags.ts'
import { defineArguments } from '../command/arguments.ts'
import { type Command, type CommandGroup, defineCommand } from '../command/command.ts'
import { outputFlag } from '../command/output-flag.ts'

/** The flags of `crd diff`. */
export const crdDiffFlags = defineFlags({
  'fail-on': {
    value: 'LEVEL',
    choices: ['breaking', 'warning', 'never'],
    default: 'breaking',
    help: 'Fail for changes of this severity or a higher one: breaking, warning or never',
  },
  all: { default: false, help: 'Also print safe changes' },
  operator: {
    value: 'ENTRY',
    complete: 'files',
    help: 'Also report the fields that the conversions of this operator lose; ENTRY is its module or project folder',
  },
  cluster: { default: false, help: 'Compare with the CRDs of a cluster' },
  ...connectionFlags,
  ...outputFlag,
})

/** The arguments of `crd diff`. */
export const crdDiffArguments = defineArguments({
  old: {
    label: 'OLD',
    complete: 'files',
    help: 'File or folder with the old CRDs, as YAML or JSON; - is the standard input. Omit it with --cluster',
    fix: 'name the old and the new CRDs',
  },
  new: { label: 'NEW', optional: true, complete: 'files', help: 'File or folder with the new CRDs' },
})

const crdDiffCommand: Command = defineCommand({
  name: 'crd diff',
  summary: 'Report changes of CRDs that break objects or clients',
  description: `
Compare CRDs and classify each change:
  breaking   objects or clients that work today fail: a version or field is
             removed, a field becomes required, a bound, pattern, enum or
             rule becomes stricter, a field is lost between versions
  warning    clients may see a difference: a default, the storage version or
             the merge strategy changes
  safe       objects and clients are not affected

Exits with 0 if no change is breaking, 1 if one is, and 2 for a mistake in the arguments.`,
  usage: ['OLD NEW [OPTIONS]', '--cluster NEW [OPTIONS]'],
  args: crdDiffArguments,
  flags: crdDiffFlags,
  run: async (input, context) => (await import('./run-crd-diff.ts')).runCrdDiff(input, context),
})

/** `kubewright crd`: works on CRDs. */
export const crdCommand: CommandGroup = {
  name: 'crd',
  summary: 'Report changes of CRDs that break objects or clients (diff)',
  commands: [crdDiffCommand],
}
