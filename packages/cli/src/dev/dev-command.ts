import { defineFlags, integerFrom } from '@kubewright/base'
import { type Command, defineCommand } from '../command/command.ts'
import { consoleFlags } from '../console/console-flags.ts'
import { programArgument } from '../entry/entry-argument.ts'
import { planeFlags } from '../up/plane-flags.ts'

const plane = planeFlags({ port: '0', portText: 'a free port', nodes: '1', storage: 'in memory' })

/** The flags of `dev`. */
export const devFlags = defineFlags({
  ...plane,
  // The default, so there is nothing to list; scripts of `up` may name it.
  memory: { ...plane.memory, hidden: true },
  watch: {
    value: 'DIR',
    repeatable: true,
    complete: 'folders',
    help: 'Also reload when code in this folder changes; may be repeated',
  },
  rights: {
    value: 'WHICH',
    choices: ['roles', 'all'],
    default: 'roles',
    help: 'Run the operator with the permissions of its generated roles (roles), or with all permissions (all)',
  },
  inspect: {
    value: 'PORT',
    bare: '9229',
    defaultText: 'off',
    parse: integerFrom(0, 65_535),
    help: 'Let a debugger attach to the operator at this port of 127.0.0.1; without PORT, at 9229. A reload keeps the port',
  },
  server: {
    value: 'SERVER',
    complete: 'files',
    defaultText: 'a control plane of its own',
    help: 'Use a running control plane, given by its kubeconfig, or by its URL if a kubeconfig in .kubewright or $KUBECONFIG contains it',
  },
  ...consoleFlags,
  once: { default: false, help: 'Exit when the operator has no work left' },
})

/** `kubewright dev`: runs an operator on a control plane of its own, and reloads it when its code changes. */
export const devCommand: Command = defineCommand({
  name: 'dev',
  summary: 'Run an operator on its own control plane, and reload it on save',
  description: `
Start a control plane on this machine, install the kinds of an operator, and run the operator with its webhooks. Reload the
operator when a file of its project changes; objects are kept. Print each reconcile with its cause, and each error with
its place in the source. Print a link to the web console.

The operator has the permissions that its generated roles would grant in a cluster. With --server, several operators share
one control plane; the flags that configure a control plane then have no effect.

TypeScript needs tsx in the project, or Node 22.18.`,
  args: programArgument,
  flags: devFlags,
  forwards: {
    label: 'FLAGS',
    help: 'Flags of the operator, such as --log-level=debug; kubewright run -- --help lists them',
    from: 'dashes',
    flags: async () => (await import('@kubewright/runtime')).operatorFlags,
  },
  endsInOrder: true,
  run: async (input, context) => (await import('./run-dev.ts')).runDev(input, context),
})
