import { defineFlags, integerFrom, UsageError } from '@kubewright/base'
import { connectionFlags } from '../cluster/connection-flags.ts'
import { defineArguments } from '../command/arguments.ts'
import { type Command, defineCommand } from '../command/command.ts'
import { consoleFlags } from './console-flags.ts'

/** The flags of `console`. */
export const consoleCommandFlags = defineFlags({
  ...connectionFlags,
  'read-only': { default: false, help: 'Refuse everything that would change the cluster' },
  levers: {
    default: false,
    help: 'Let the page pause, step and resume the controllers of the operators; for development only',
  },
  operator: {
    value: 'URL',
    repeatable: true,
    parse: debugUrl,
    help: 'Show the operator that serves its state at this debug address, such as http://127.0.0.1:6060; repeatable',
  },
  port: {
    value: 'N',
    default: '0',
    defaultText: 'a free port',
    parse: integerFrom(0, 65_535),
    help: 'Listen on this port of 127.0.0.1',
  },
  ...consoleFlags,
})

/** The arguments of `console`. */
export const consoleArguments = defineArguments({
  file: { label: 'FILE', help: 'A recording that the page exported', optional: true, complete: 'files' },
})

/** `kubewright console`: serves the web console of a cluster. */
export const consoleCommand: Command = defineCommand({
  name: 'console',
  summary: 'Show a cluster and its operators in the web browser',
  description: `
Serve a web page on 127.0.0.1 that shows the objects of a cluster as they change, with their fields, owners and Events, and
the queues and reconciles of operators. The page has the permissions of the kubeconfig. Print a link that opens the page
once; the browser keeps the session until the command ends.

An operator serves its state if it runs with --debug-bind-address.

The page records all changes from the moment it is opened and can show the cluster at any of them. With FILE, show a recording
that was exported there instead of a cluster.`,
  flags: consoleCommandFlags,
  args: consoleArguments,
  examples: [
    'console --open',
    'console --context prod --read-only',
    'console --operator http://127.0.0.1:6060',
    'console bug.recording',
  ],
  endsInOrder: true,
  run: async (input, context) => (await import('./run-console.ts')).runConsole(input, context),
})

function debugUrl(text: string): string {
  if (/^https?:\/\/[^/]+\/?$/.test(text)) return text.replace(/\/$/, '')
  throw new UsageError(`--operator must be a URL such as http://127.0.0.1:6060, not "${text}"`)
}
