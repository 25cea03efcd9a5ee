import { defineFlags, parseDuration, UsageError } from '@kubewright/base'
import { type Command, defineCommand } from '../command/command.ts'
import { kubernetesFlag } from '../command/kubernetes-flag.ts'
import { outputFlag } from '../command/output-flag.ts'
import { entryArgument } from '../entry/entry-argument.ts'

/** Parses a positive whole number. */
function count(text: string): number {
  const number = Number(text)
  if (!Number.isInteger(number) || number < 1) throw new UsageError(`must be a positive whole number: ${text}`)
  return number
}

/** The flags of `simulate`. */
export const simulateFlags = defineFlags({
  samples: {
    value: 'DIR',
    help: 'Read the objects to work with from this folder or file',
    defaultText: 'config/samples or samples, else generated objects',
    complete: 'folders',
  },
  schedules: {
    value: 'N',
    parse: count,
    help: 'Run this many schedules, in all processes together',
    defaultText: '500, or no limit with --for',
  },
  for: {
    value: 'DURATION',
    parse: (text: string) => {
      parseDuration(text)
      return text
    },
    help: 'Search for this long, such as 60s',
  },
  seed: { value: 'S', default: '1', help: 'Set the seed; the same seed gives the same schedules' },
  faults: {
    value: 'LIST',
    help: 'Inject only these classes of faults, separated by commas: crash, error, watch, stale, others, slow, server, webhooks, pods, leader, clock, quota, permissions, volumes',
    defaultText: 'all classes',
  },
  replay: { value: 'ID', help: 'Run only the schedule with this ID, which a failed simulation printed' },
  inspect: {
    help: 'Wait for a debugger, and stop in it right before each fault of the failing schedule',
    default: false,
  },
  regressions: {
    value: 'FILE',
    help: 'Run the failing schedules of this file first, and add new ones to it',
    complete: 'files',
  },
  report: { value: 'FILE', help: 'Write the report as an HTML page', complete: 'files' },
  recording: {
    value: 'FILE',
    help: 'Write the failure as a recording, which kubewright console FILE opens',
    complete: 'files',
  },
  ...kubernetesFlag,
  ...outputFlag,
  workers: { value: 'N', parse: count, default: '1', help: 'Share the work between this many processes' },
  part: { value: 'I/N', help: 'Explore one of several parts', hidden: true },
})

/** `kubewright simulate`: searches for bugs of an operator with simulated faults. */
export const simulateCommand: Command = defineCommand({
  name: 'simulate',
  summary: 'Search for bugs of an operator with simulated faults, in virtual time',
  description: `
Run an operator through seeded schedules of operations and faults on the embedded control plane, in virtual time. Check that reconciles succeed again
after faults, that the end state depends neither on faults nor on the order of changes, that deletions finish and leave no children, that the status
matches the children, and that the operator does not reconcile or write in a loop. Permissions, webhooks, conversions, data and objects of other
owners are checked too.

The first failure is shrunk and printed as a timeline, with the ID that replays it.

Calls of the operator to other systems are real, and happen in each schedule.

Exits with 0 if no failure was found, 1 if one was found or the simulation could not run, and 2 for a mistake in the arguments.`,
  args: entryArgument,
  flags: simulateFlags,
  run: async (input, context) => (await import('./run-simulate.ts')).runSimulate(input, context),
})
