import { type Duration, defineFlags, parseDuration } from '@kubewright/base'
import { connectionFlags } from '../cluster/connection-flags.ts'
import { kubebuilderFlags } from '../command/kubebuilder-flags.ts'
import { outputFlag } from '../command/output-flag.ts'

/** Flags of every command that changes objects of a cluster. */
export const changeFlags = defineFlags({
  'dry-run': { default: false, help: 'Print the changes and make none' },
  timeout: { value: 'TIME', default: '2m', parse: durationOf, help: 'Wait this long for each object' },
  wait: { default: true, negated: true, help: 'Do not wait until the changes take effect' },
  yes: { short: 'y', default: false, help: 'Delete without asking' },
  ...connectionFlags,
  ...outputFlag,
  ...kubebuilderFlags,
})

function durationOf(text: string): Duration {
  parseDuration(text)
  // The parser has accepted it.
  return text as Duration
}
