import { defineFlags } from '@kubewright/base'
import { connectionFlags } from '../cluster/connection-flags.ts'
import { defineArguments } from '../command/arguments.ts'
import { type Command, defineCommand } from '../command/command.ts'
import { outputFlag } from '../command/output-flag.ts'

/** The flags of `import`. */
export const importFlags = defineFlags({
  out: { value: 'DIR', complete: 'folders', default: 'src/imported', help: 'Write the modules to this folder' },
  versions: {
    value: 'LIST',
    defaultText: 'all',
    parse: (text) => text.split(',').map((name) => name.trim()),
    help: 'Import these versions only, such as v1 or v1,v1beta1',
  },
  descriptions: { default: true, negated: true, help: 'Omit the descriptions of fields' },
  cluster: { default: false, help: 'Import from a cluster instead of files' },
  ...connectionFlags,
  'dry-run': { default: false, help: 'List the modules and write nothing' },
  force: { default: false, help: 'Overwrite files that import did not write' },
  ...outputFlag,
})

/** The arguments of `import`. */
export const importArguments = defineArguments({
  names: {
    label: 'FILE',
    many: true,
    optional: true,
    complete: 'files',
    help: 'File or folder of YAML or JSON; - is the standard input. With --cluster, the names of groups, kinds or CRDs, such as certificates.cert-manager.io (default: all)',
  },
})

/** `kubewright import`: writes TypeScript modules for kinds of other projects. */
export const importCommand: Command = defineCommand({
  name: 'import',
  summary: 'Write TypeScript modules for CRDs of files or a cluster',
  description: `
Write a TypeScript module for each kind, DIR/GROUP/KIND.ts, so that an operator can use kinds of other projects with types:
  src/imported/cert-manager.io/certificate.ts
Compare each module with its CRD and report parts of the CRD that the module cannot express. With --cluster, import the
kinds of extension API servers too.`,
  usage: ['FILE... [OPTIONS]', '--cluster [NAME...] [OPTIONS]'],
  args: importArguments,
  flags: importFlags,
  run: async (input, context) => (await import('./run-import.ts')).runImport(input, context),
})
