import { defineFlags } from '@kubewright/base'
import { kubebuilderFlags } from '../command/kubebuilder-flags.ts'
import { outputFlag } from '../command/output-flag.ts'

/** Flags of every command that writes the files of a project. */
export const scaffoldFlags = defineFlags({
  force: { default: false, help: 'Overwrite files that you changed' },
  'dry-run': { default: false, help: 'Print the changes as a diff and write nothing' },
  yes: { short: 'y', default: false, help: 'Take the defaults instead of asking' },
  ...outputFlag,
  ...kubebuilderFlags,
})

const section = 'Options for a kind that another project defines'

/** Flags that name a kind of another project. */
export const externalFlags = defineFlags({
  'external-api-path': {
    value: 'MODULE',
    complete: 'files',
    section,
    help: 'Import the kind from this file or package, such as a file that kubewright import wrote',
  },
  'external-api-domain': { value: 'DOMAIN', section, help: 'End the group of the kind with this domain' },
  'external-api-module': {
    value: 'PACKAGE',
    section,
    help: 'Add this package to package.json, given as NAME@VERSION',
  },
})

/** Splits a list that is separated by commas. */
export function listOf(text: string): readonly string[] {
  return text.split(',').map((part) => part.trim())
}
